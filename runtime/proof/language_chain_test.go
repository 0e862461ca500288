package proof

import (
	"fmt"

	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// chainCases prove what is made by several events behind each other.
var chainCases = []vm.Case{
	on("three-stages", eprobes, proveThreeStages),
	on("event-with-itself", eprobes, proveEventWithItself),
	on("arithmetic", eprobes, proveArithmetic),
}

// proveThreeStages: A then B then C, each pair used up once.
func proveThreeStages(b *bench) {
	list := b.run(`
event three
  from syscall getpgid.enter as a
  then syscall getsid.enter as b by $tid
  then syscall umask.enter as c by $tid
{ first = a.pid, second = b.pid, third = c.mask }
trace three`, func() error {
		old := unix.Umask(0o22)
		getpgid(1)
		unix.Umask(1) // no B yet
		getsid(2)
		unix.Umask(3)
		unix.Umask(4) // used up
		getsid(5)     // no A
		unix.Umask(6)
		getpgid(7)
		getpgid(8)
		getsid(9)
		unix.Umask(old)
		return nil
	})
	b.expect(list, table(list, "three", "first", "second", "third"), "1 2 3", "8 9 18")
}

// proveEventWithItself: the time from each call to the next of its kind.
func proveEventWithItself(b *bench) {
	list := b.run(`
event next from syscall getpgid.enter as a then syscall getpgid.enter as b by $tid
{ first = a.pid, second = b.pid }
trace next`, func() error {
		for n := range 4 {
			getpgid(n + 1)
		}
		return nil
	})
	b.expect(list, table(list, "next", "first", "second"), "1 2", "2 3", "3 4")
}

// proveArithmetic: the four operators, below zero, and with precedence.
func proveArithmetic(b *bench) {
	values := []int64{0, 1, 5, 10, 1000, 1 << 33}
	list := b.run(`
event calc from syscall lseek.exit where $ret >= 0 {
  n = $ret, more = $ret + 7, less = $ret - 7, times = $ret * 3, mixed = 2 + $ret * 5 - 1, third = ($ret as u64) / 3, half = ($ret as u64) / 2
}
trace calc`, func() error {
		fd, err := scratch(b)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		for _, n := range values {
			if _, err := unix.Seek(fd, n, 0); err != nil {
				return err
			}
		}
		return nil
	})
	var want []string
	for _, n := range values {
		want = append(want, fmt.Sprint(n, n+7, n-7, n*3, 2+n*5-1, n/3, n/2))
	}
	b.expect(list, table(list, "calc", "n", "more", "less", "times", "mixed", "third", "half"), want...)
}
