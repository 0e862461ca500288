package joinproof

import (
	"fmt"
	"math"
	"strings"

	"github.com/eptrace/ep/runtime/vm"
)

// What is computed has a sign, and 64 bits that the kernel takes for a number
// without one: an order, a maximum and a change are the script's all the same.

var signedCases = []vm.Case{
	newCase("signed-times", proveSignedTimes),
	newCase("signed-order", proveSignedOrder),
	newCase("signed-max", proveSignedMax),
	newCase("change-first", proveFirstChange),
}

// proveSignedTimes: the difference of two stages' times the wrong way round is
// below zero, as much as the right one is above.
func proveSignedTimes(m *machine) {
	const calls = 20
	inThread(func(tid int) {
		var most []int64 // that each call's difference may be
		rec := m.run(fmt.Sprintf(`
event pair
  from syscall lseek.enter as a where $tid == %[1]d
  then syscall getppid.enter as b where $tid == %[1]d by $tid
{ right = b.$time - a.$time, wrong = a.$time - b.$time, third = (a.$time - b.$time) / 3, us: us = a.$time - b.$time }
event longer from pair where wrong > 1us
event below from pair where wrong <= -1ms && !(wrong > 0ns)
event late
  from syscall lseek.enter as a where $tid == %[1]d
  then syscall getppid.enter as b where $tid == %[1]d by $tid
  having wrong > 1us
{ wrong = a.$time - b.$time }
event shortest from pair emit on max(wrong) { wrong }
trace pair, longer, below, late, shortest`, tid), func() {
			for i := range int64(calls) {
				start := now()
				badSeek(i, 1000)
				nap((calls - i) * ms / 4)
				getppid()
				most = append(most, now()-start)
			}
		})
		pairs := rec.rows["pair"]
		if len(pairs) != calls || len(rec.rows["longer"]) != 0 || len(rec.rows["late"]) != 0 {
			m.g.Errorf("got %d, %d and %d records, want %d, 0 and 0", len(pairs), len(rec.rows["longer"]), len(rec.rows["late"]), calls)
			return
		}
		var below, shortest []uint64
		top := int64(math.MinInt64)
		for i, r := range pairs {
			right, wrong := r.num("right"), r.num("wrong")
			if right != -wrong || right <= 0 || right > most[i] {
				m.g.Errorf("got %d and %d, want opposites of at most %d", right, wrong, most[i])
			}
			if r.num("third") != floor(wrong, 3) || r.num("us") != floor(wrong, 1000) {
				m.g.Errorf("got %d and %d of %d", r.num("third"), r.num("us"), wrong)
			}
			if wrong <= -ms {
				below = append(below, uint64(wrong))
			}
			if wrong > top {
				top = wrong
				shortest = append(shortest, uint64(wrong))
			}
		}
		m.sameNumbers("below", rec.rows["below"], "wrong", below)
		m.sameNumbers("shortest", rec.rows["shortest"], "wrong", shortest)
	})
}

// proveSignedOrder: what is computed is compared as Go compares it, on both sides
// of zero and at the limits.
func proveSignedOrder(m *machine) {
	values := []int64{math.MinInt64 / 2, -1 << 40, -101, -100, -99, -1, 0, 1, 99, 100, 101, 1 << 40, math.MaxInt64 / 2}
	constants := []int64{math.MinInt64 / 2, -100, -1, 0, 1, 100, math.MaxInt64 / 2}
	tests := map[string]func(a, b int64) bool{
		"==": func(a, b int64) bool { return a == b }, "!=": func(a, b int64) bool { return a != b },
		"<": func(a, b int64) bool { return a < b }, "<=": func(a, b int64) bool { return a <= b },
		">": func(a, b int64) bool { return a > b }, ">=": func(a, b int64) bool { return a >= b },
	}
	inThread(func(tid int) {
		for op, holds := range tests {
			var script strings.Builder
			fmt.Fprintf(&script, "event moved from syscall lseek.enter where $tid == %d { value = offset - 1 + 1 }\n", tid)
			for i, k := range constants {
				fmt.Fprintf(&script, "event v%d from moved having value %s %d { value }\ntrace v%[1]d\n", i, op, k)
			}
			fmt.Fprintf(&script, "hist sets from moved where value in { -100..-1, 7, 100 } by value { total = sum(value) }\n")
			rec := m.run(script.String(), func() {
				for _, v := range values {
					badSeek(v, 1000)
				}
			})
			for i, k := range constants {
				var want []uint64
				for _, v := range values {
					if holds(v, k) {
						want = append(want, uint64(v))
					}
				}
				m.sameNumbers(fmt.Sprintf("value %s %d", op, k), rec.rows[fmt.Sprintf("v%d", i)], "value", want)
			}
			if got := len(rec.tables["sets"]); got != 4 { // -100, -99, -1 and 100
				m.g.Errorf("got %d rows of a set: %v", got, rec.tables["sets"])
			}
		}
	})
}

// proveSignedMax: a maximum of numbers with a sign, of every width, is Go's; also
// where all are below zero.
func proveSignedMax(m *machine) {
	offsets := []int64{-1 << 50, -1 << 40, -1 << 45, -7, -8, -1, -1, 0, -5, 3, 2, 1 << 50}
	inThread(func(tid int) {
		rec := m.run(fmt.Sprintf(`
event wide from syscall lseek.enter where $tid == %[1]d emit on max(offset) { offset }
event wide_per from syscall lseek.enter where $tid == %[1]d emit on max(offset) per whence { offset }
event narrow from syscall madvise.enter where $tid == %[1]d emit on max(behavior) { behavior }
event computed from syscall madvise.enter where $tid == %[1]d emit on max(0 - behavior) { behavior }
trace wide, wide_per, narrow, computed`, tid), func() {
			for i, o := range offsets {
				badSeek(o, 1000+uint32(i&1))
				badAdvice(1, 1, int32(o>>20)|1000)
			}
		})
		var wide, per, narrow, computed []uint64
		top, lowest := int64(math.MinInt64), int64(math.MaxInt64)
		tops, most := [2]int64{math.MinInt64, math.MinInt64}, int64(math.MinInt64)
		for i, o := range offsets {
			if o > top {
				top = o
				wide = append(wide, uint64(o))
			}
			if o > tops[i&1] {
				tops[i&1] = o
				per = append(per, uint64(o))
			}
			b := int64(int32(o>>20) | 1000)
			if b > most {
				most = b
				narrow = append(narrow, uint64(b))
			}
			if b < lowest {
				lowest = b
				computed = append(computed, uint64(b))
			}
		}
		m.sameNumbers("wide", rec.rows["wide"], "offset", wide)
		m.sameNumbers("wide_per", rec.rows["wide_per"], "offset", per)
		m.sameNumbers("narrow", rec.rows["narrow"], "behavior", narrow)
		m.sameNumbers("computed", rec.rows["computed"], "behavior", computed)
	})
}

// proveFirstChange: the first value of all is a change, whatever it is.
func proveFirstChange(m *machine) {
	firsts := []uint64{0, 1, math.MaxUint64, math.MaxUint64 - 1, 1 << 63, 1<<63 - 1, 1 << 32}
	inThread(func(tid int) {
		rec := m.run(fmt.Sprintf(`
event each from syscall madvise.enter where $tid == %[1]d emit on change(start) per len_in { start }
event signed from syscall madvise.enter where $tid == %[1]d emit on change(start as s64) per len_in { start }
trace each, signed`, tid), func() {
			for i, v := range firsts {
				badAdvice(v, uint64(i), 1000)
				badAdvice(v, uint64(i), 1000)
			}
		})
		m.sameNumbers("each", rec.rows["each"], "start", firsts)
		// The least number is the one that is nobody's first.
		m.sameNumbers("signed", rec.rows["signed"], "start", append(append([]uint64{}, firsts[:4]...), firsts[5:]...))
	})
}
