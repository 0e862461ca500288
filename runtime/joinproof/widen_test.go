package joinproof

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/eptrace/ep/runtime/vm"
)

var widenCases = []vm.Case{
	newCase("widened-arguments", proveWidenedArguments),
	newCase("two-values", proveTwoValues),
	newCase("pointer-as-number", provePointerAsNumber),
}

// above is what a program may leave above an int in the register that passes it:
// a system call looks at the int, its event keeps all of the register.
const above = 0x5a5a_5a5a << 32

// proveWidenedArguments: an argument that is taken as a wider type is the int that
// the call got, whatever lies above it.
func proveWidenedArguments(m *machine) {
	advice, whences := []int32{1000, -1, -7, -1 << 31, 1001}, []uint32{1000, 1<<32 - 1, 1 << 31, 1001, 1002}
	inThread(func(tid int) {
		rec := m.run(fmt.Sprintf(`
event entry from syscall madvise.enter where $tid == %[1]d { behavior, s = behavior as s64, u = behavior as u64, x = behavior as x64 }
event typed from syscall madvise.enter where $tid == %[1]d { f: s64 = behavior, more = (behavior as s64) + 1 }
event span from syscall madvise where $tid == %[1]d { s = behavior as s64, u: u64 = behavior, $ret }
event one from syscall madvise.enter where $tid == %[1]d && (behavior as s64) == -7 { behavior }
event plain from syscall lseek.enter where $tid == %[1]d { w = whence as u64, x: x64 = whence, again = (whence as x32) as u64 }
event joined
  from syscall madvise.enter as a where $tid == %[1]d
  then syscall lseek.enter as b where $tid == %[1]d by a.behavior as s64 == b.offset
{ s = a.behavior as s64, w = b.whence as u64 }
trace entry, typed, span, one, plain, joined
hist by_advice from syscall madvise.enter where $tid == %[1]d by s = behavior as s64`, tid), func() {
			for i, a := range advice {
				_, _, _ = unix.RawSyscall(unix.SYS_MADVISE, 1, 1, above|uintptr(uint32(a)))
				_, _, _ = unix.RawSyscall(unix.SYS_LSEEK, above|0xffff_ffff, uintptr(int64(a)), above|uintptr(whences[i]))
			}
		})
		var signed, one, wide, more []uint64
		for i, a := range advice {
			signed, more, wide = append(signed, uint64(int64(a))), append(more, uint64(int64(a)+1)), append(wide, uint64(whences[i]))
			if a == -7 {
				one = append(one, uint64(int64(a)))
			}
		}
		for event, fields := range map[string]map[string][]uint64{
			"entry":  {"behavior": signed, "s": signed, "u": signed, "x": signed},
			"typed":  {"f": signed, "more": more},
			"span":   {"s": signed, "u": signed},
			"one":    {"behavior": one},
			"plain":  {"w": wide, "x": wide, "again": wide},
			"joined": {"s": signed, "w": wide},
		} {
			for field, want := range fields {
				m.sameNumbers(event+"."+field, rec.rows[event], field, want)
			}
		}
		if got := len(rec.tables["by_advice"]); got != len(advice) {
			m.g.Errorf("got %d rows by advice, want %d: %v", got, len(advice), rec.tables["by_advice"])
		}
	})
}

// proveTwoValues: two values of an event are held against each other wherever a
// condition may be.
func proveTwoValues(m *machine) {
	inThread(func(tid int) {
		rec := m.run(fmt.Sprintf(`
hist same from syscall lseek.enter where $tid == %[1]d && fd == whence by fd
hist less from syscalls.sys_enter_lseek where $tid == %[1]d && fd < whence by whence
trace syscall lseek.enter where $tid == %[1]d && fd == whence { fd, whence }`, tid), func() {
			for i := range uintptr(40) {
				_, _, _ = unix.RawSyscall(unix.SYS_LSEEK, above|(1000+i%4), 0, 1000+i%5)
			}
		})
		same, less := 0, 0
		for i := range 40 {
			if i%4 == i%5 {
				same++
			}
			if i%4 < i%5 {
				less++
			}
		}
		for name, want := range map[string]int{"same": same, "less": less} {
			got := 0
			for _, g := range rec.tables[name] {
				got += int(g.num("hitcount"))
			}
			if got != want {
				m.g.Errorf("%s: got %d, want %d", name, got, want)
			}
		}
	})
}

// provePointerAsNumber: the address of a text is a number, which may be 0.
func provePointerAsNumber(m *machine) {
	inThread(func(tid int) {
		rec := m.run(fmt.Sprintf(`
event none from syscalls.sys_enter_chdir where $tid == %[1]d && filename == 0 { filename }
event some from syscall chdir.enter where $tid == %[1]d && filename != 0 { filename }
trace none, some
hist nulls from syscalls.sys_enter_chdir where $tid == %[1]d && filename == 0 by $tid`, tid), func() {
			for _, p := range []uintptr{0, 1, 2, 0, 3} {
				_, _, _ = unix.RawSyscall(unix.SYS_CHDIR, p, 0, 0)
			}
		})
		m.sameNumbers("none", rec.rows["none"], "filename", []uint64{0, 0})
		m.sameNumbers("some", rec.rows["some"], "filename", []uint64{1, 2, 3})
		if t := rec.tables["nulls"]; len(t) != 1 || t[0].num("hitcount") != 2 {
			m.g.Errorf("got %v, want one row of 2", t)
		}
	})
}
