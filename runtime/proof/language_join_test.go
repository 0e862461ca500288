package proof

import (
	"fmt"
	"path/filepath"

	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// joinCases prove what docs/language.md says of `from A then B by K`.
var joinCases = []vm.Case{
	on("pairing", eprobes, provePairing),
	on("pairing-of-probes", eprobes, provePairingOfProbes),
	on("pairing-by-thread", eprobes, provePairingByThread),
	on("pairing-by-two-keys", eprobes, provePairingByTwoKeys),
	on("pairing-carries-nothing", eprobes, provePairingCarriesNothing),
	on("pairing-of-derived-events", eprobes, provePairingOfDerived),
	on("let", eprobes, proveLet),
}

// table returns the fields of the records of an event as text, one a row.
func table(list []record, event string, names ...string) []string {
	var out []string
	for _, r := range of(list, event, 0) {
		row := ""
		for i, n := range names {
			if i > 0 {
				row += " "
			}
			v, ok := r.value[n]
			if !ok {
				v = "(none)"
			}
			row += v
		}
		out = append(out, row)
	}
	return out
}

// expect compares rows of a table.
func (b *bench) expect(list []record, got []string, want ...string) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.Errorf("got %q, want %q\n%s", got, want, show(list))
	}
}

// provePairing: B pairs with the latest earlier A, once. A B that its where
// refuses uses nothing up, an A that its where refuses is no A, and a record that
// having refuses uses up. The conditions are such as the kernel tests on the
// events themselves: on the results of calls, that are what we ask for.
func provePairing(b *bench) {
	list := b.run(`
event pair
  from syscall lseek.exit as a where $ret < 1000
  then syscall dup3.exit as b where $ret < 300 by $tid
  having first < 500
{ first = a.$ret, second = b.$ret }
trace pair`, func() error {
		fd, err := scratch(b)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		first := func(n int) { _, err = unix.Seek(fd, int64(n), 0) }
		second := func(n int) {
			if err == nil {
				err = unix.Dup3(fd, n, unix.O_CLOEXEC)
			}
			if err == nil {
				err = unix.Close(n)
			}
		}
		pairing(first, second, func(n int) int { return n + 100 })
		return err
	})
	b.expect(list, table(list, "pair", "first", "second"), pairs(func(n int) int { return n + 100 })...)
}

// provePairingOfProbes: the same where the kernel's events do not hold the
// values as they are meant: an argument of 32 bits lies in 64.
func provePairingOfProbes(b *bench) {
	list := b.run(`
event pair
  from syscall getpgid.enter as a where pid < 1000
  then syscall getsid.enter as b where pid < 300 by $tid
  having first < 500
{ first = a.pid, second = b.pid }
trace pair`, func() error {
		pairing(getpgid, getsid, func(n int) int { return -n })
		return nil
	})
	b.expect(list, table(list, "pair", "first", "second"), pairs(func(n int) int { return -n })...)
}

// pairing is a story of As and Bs; b makes of a number that of a B.
func pairing(first, second func(int), b func(int) int) {
	second(b(1)) // no A yet
	first(1)
	first(2)
	second(b(2)) // pairs with 2
	second(b(3)) // 2 is used up
	first(3)
	second(500)  // refused by where: 3 is not used up
	second(b(4)) // pairs with 3
	first(4)
	first(2000)  // refused by where: 4 stays the latest
	second(b(5)) // pairs with 4
	first(600)
	second(b(6)) // refused by having: 600 is used up
	second(b(7))
}

// pairs are those of the story.
func pairs(b func(int) int) []string {
	return []string{fmt.Sprint(2, b(2)), fmt.Sprint(3, b(4)), fmt.Sprint(4, b(5))}
}

// provePairingByThread: an A of another thread is none.
func provePairingByThread(b *bench) {
	p := b.compile("proof.ep", `
event pair from syscall getpgid.enter as a then syscall getsid.enter as b by $tid
{ first = a.pid, second = b.pid, took = b.$time - a.$time }
trace pair`)
	a := b.apply(p)
	defer a.undo()
	turn := make(chan struct{})
	other := b.start(func() error {
		getpgid(50)
		turn <- struct{}{}
		<-turn
		getsid(51)
		return nil
	})
	mark := b.marker()
	tid := b.onThread(func() error {
		<-turn
		getsid(52)
		mark.put("begin")
		getpgid(53)
		getsid(54)
		mark.put("end")
		turn <- struct{}{}
		return nil
	})
	other.wait()
	list := b.records("")
	b.expect(list, table(of(list, "pair", tid), "pair", "first", "second"), "53 54")
	b.expect(list, table(of(list, "pair", other.tid), "pair", "first", "second"), "50 51")
	most := b.between(list, tid, "begin", "end") + resolution
	for _, r := range of(list, "pair", tid) {
		if took, err := r.number("took"); err != nil || took <= 0 || took > most {
			b.Errorf("took %d ns (%v), want more than 0 and at most %d", took, err, most)
		}
	}
}

// provePairingByTwoKeys: both must be equal, also below zero.
func provePairingByTwoKeys(b *bench) {
	list := b.run(`
event pair from syscall getpgid.enter as a then syscall getsid.enter as b by $tid, a.pid == b.pid
{ first = a.pid, second = b.pid }
trace pair`, func() error {
		getpgid(7)
		getpgid(-8)
		getsid(6)
		getsid(7)
		getsid(-8)
		getsid(7)
		return nil
	})
	b.expect(list, table(list, "pair", "first", "second"), "7 7", "-8 -8")
}

// provePairingCarriesNothing: A is used up though nothing of it is wanted.
func provePairingCarriesNothing(b *bench) {
	list := b.run(`
event pair from syscall getpgid.enter as a then syscall getsid.enter as b by $tid { second = b.pid }
trace pair`, func() error {
		getsid(1)
		getpgid(1)
		getsid(2)
		getsid(3)
		getpgid(1)
		getsid(4)
		return nil
	})
	b.expect(list, table(list, "pair", "second"), "2", "4")
}

// provePairingOfDerived: what a where or having leaves out is left out of all
// that is derived of it.
func provePairingOfDerived(b *bench) {
	list := b.run(`
event low from syscall getpgid.enter where pid < 100 { pid }
event lower from low where pid < 50 { p = pid }
event pair from low as a then syscall getsid.enter as b by $tid having second < 50 { first = a.pid, second = b.pid }
event copy from pair { second }
event later from pair as x then syscall umask.enter as y by $tid { second = x.second, mask = y.mask }
trace low, lower, copy, later`, func() error {
		getpgid(10)
		getpgid(60)
		getpgid(500)
		getsid(20) // pairs with 60, the latest low one
		old := unix.Umask(0o22)
		unix.Umask(old) // pairs with nothing: the pair is used up
		getpgid(30)
		getsid(70) // refused by having
		unix.Umask(old)
		return nil
	})
	b.expect(list, table(list, "low", "pid"), "10", "60", "30")
	b.expect(list, table(list, "lower", "p"), "10", "30")
	b.expect(list, table(list, "copy", "second"), "20")
	b.expect(list, table(list, "later", "second", "mask"), "20 18")
}

// proveLet: a let is read at its stage, a field at the last.
func proveLet(b *bench) {
	dir := b.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	list := b.run(`
event seen
  from syscall openat.enter as o let then_path = str(filename)
  then syscall getsid.enter as s by $tid
{ then_path = o.then_path, now_path = str(o.filename), pid = s.pid }
trace seen`, func() error {
		text := append([]byte(one), 0)
		openatBytes(text)
		copy(text, two)
		getsid(3)
		return nil
	})
	b.expect(list, table(list, "seen", "then_path", "now_path", "pid"), one+" "+two+" 3")
}
