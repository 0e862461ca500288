package joinproof

import (
	"fmt"
	"math/rand/v2"

	"golang.org/x/sys/unix"

	"github.com/eptrace/ep/runtime/vm"
)

var pairingCases = []vm.Case{newCase("pairing", provePairing)}

// pairingScript joins what pairingStep does: A is lseek, B is fcntl or, where an
// event is joined with itself, lseek again, and C is dup, of one fd. Each event
// is lowered another way.
const pairingScript = `
event by_param
  from syscall lseek.enter as a where $tid == %[1]d && whence == 1000
  then syscall fcntl.enter as b where $tid == %[1]d && cmd != 99 by fd
  having first != 13
{ first = a.offset, second = b.arg }
event by_difference
  from syscall lseek.enter as a where $tid == %[1]d && whence == 1000
  then syscall fcntl.enter as b where $tid == %[1]d && cmd != 99 by fd
  having first != 13
{ first = a.offset, second = b.arg, took = b.$time - a.$time }
event by_rounds
  from syscall lseek.enter as a where $tid == %[1]d && whence == 1000
  then syscall fcntl.enter as b where $tid == %[1]d && cmd != 99 by fd
  having first != 13
{ first = a.offset, second = b.arg, us = (b.$time - a.$time) as us, mixed = (a.offset * 3 + 1) / 7 }
event by_nothing
  from syscall lseek.enter as a where $tid == %[1]d && whence == 1000
  then syscall fcntl.enter as b where $tid == %[1]d && cmd != 99 by fd
{ second = b.arg }
event by_thread
  from syscall lseek.enter as a where $tid == %[1]d && whence == 1000
  then syscall fcntl.enter as b where $tid == %[1]d && cmd != 99 by fd, $tid
  having first != 13
{ first = a.offset, second = b.arg, took = b.$time - a.$time }
event by_itself
  from syscall lseek.enter as a where $tid == %[1]d && whence == 1000
  then syscall lseek.enter as b where $tid == %[1]d && whence == 2000 by fd
  having first != 13
{ first = a.offset, second = b.offset }
event by_chain
  from syscall lseek.enter as a where $tid == %[1]d && whence == 1000
  then syscall fcntl.enter as b where $tid == %[1]d && cmd != 99 by fd
  then syscall dup.enter as c where $tid == %[1]d by b.fd == c.fildes
{ first = a.offset, second = b.arg, took = c.$time - a.$time }
event by_spans
  from syscall lseek as a where $tid == %[1]d && whence == 1000
  then syscall fcntl as b where $tid == %[1]d && cmd != 99 by fd
  having first != 13
{ first = a.offset, second = b.arg, took = b.$time - a.$time, failed = a.$ret }
event by_span_itself
  from syscall lseek as a where $tid == %[1]d && whence == 1000
  then syscall lseek as b where $tid == %[1]d && whence == 2000 by fd
  having first != 13
{ first = a.offset, second = b.offset, one = a.$elapsed, two = b.$elapsed }
trace by_param, by_difference, by_rounds, by_nothing, by_thread, by_itself, by_chain, by_spans, by_span_itself`

// provePairing: "B pairs with the latest earlier A of equal keys, once; A is then
// used up. A B that its where refuses uses nothing up; a record that having
// refuses does." The same must come of every lowering, for whatever sequence.
func provePairing(m *machine) {
	random := rand.New(rand.NewPCG(3, 4))
	type pair struct{ first, second uint64 }
	var two, three []pair
	var all []uint64
	waiting, joined := map[uintptr]uint64{}, map[uintptr]pair{}
	inThread(func(tid int) {
		rec := m.run(fmt.Sprintf(pairingScript, tid), func() {
			for id := range uint64(300) {
				fd := uintptr(1<<20 + random.IntN(3))
				if id%20 == 13 {
					id = 13
				}
				switch random.IntN(5) {
				case 0, 1:
					_, _, _ = unix.RawSyscall(unix.SYS_LSEEK, fd, uintptr(id), 1000)
					waiting[fd] = id + 1
				case 2:
					_, _, _ = unix.RawSyscall(unix.SYS_FCNTL, fd, 99, uintptr(id))
					_, _, _ = unix.RawSyscall(unix.SYS_LSEEK, fd, uintptr(id), 2099)
				case 3:
					_, _, _ = unix.RawSyscall(unix.SYS_FCNTL, fd, 7, uintptr(id))
					_, _, _ = unix.RawSyscall(unix.SYS_LSEEK, fd, uintptr(id), 2000)
					a := waiting[fd]
					if a == 0 {
						break
					}
					waiting[fd] = 0
					all = append(all, id)
					joined[fd] = pair{a - 1, id}
					if a-1 != 13 {
						two = append(two, pair{a - 1, id})
					}
				case 4:
					_, _, _ = unix.RawSyscall(unix.SYS_DUP, fd, 0, 0)
					if p, ok := joined[fd]; ok {
						delete(joined, fd)
						three = append(three, p)
					}
				}
			}
		})
		split := func(pairs []pair) (first, second []uint64) {
			for _, p := range pairs {
				first, second = append(first, p.first), append(second, p.second)
			}
			return first, second
		}
		first, second := split(two)
		for _, name := range []string{"by_param", "by_difference", "by_rounds", "by_thread", "by_itself", "by_spans", "by_span_itself"} {
			m.sameNumbers(name, rec.rows[name], "first", first)
			m.sameNumbers(name, rec.rows[name], "second", second)
		}
		m.sameNumbers("by_nothing", rec.rows["by_nothing"], "second", all)
		first, second = split(three)
		m.sameNumbers("by_chain", rec.rows["by_chain"], "first", first)
		m.sameNumbers("by_chain", rec.rows["by_chain"], "second", second)
		for _, r := range rec.rows["by_rounds"] {
			if r.num("mixed") != floor(r.num("first")*3+1, 7) {
				m.g.Errorf("got %v", r.numbers)
			}
		}
		if len(two) < 20 || len(three) < 10 {
			m.g.Errorf("got %d and %d pairs: too few to tell", len(two), len(three))
		}
	})
}
