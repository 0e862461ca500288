package joinproof

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/eptrace/ep/runtime/vm"
)

var computeCases = []vm.Case{
	newCase("arithmetic", proveArithmetic),
	newCase("arithmetic-wide", proveWideArithmetic),
	newCase("arithmetic-units", proveUnits),
	newCase("arithmetic-joined", proveJoinedArithmetic),
}

// seekExpressions are over offset, which is signed and of 64 bits, and whence
// and fd, which are not and have 32.
var seekExpressions = []string{
	"offset + 1", "offset - 1", "1 + offset", "1 - offset", "0 - offset", "-offset",
	"offset * 3", "3 * offset", "offset * offset", "offset * -3",
	"offset / 1", "offset / 2", "offset / 3", "offset / 7", "offset / 10", "offset / 512", "offset / 1000", "offset / 1000000", "offset / 4096",
	"whence / 3", "whence / 10", "whence / 2", "whence / 1000", "whence * 1000 / 3", "1000000 / (whence + 1)", "fd / (whence + 1)", "fd / 7",
	"whence + 1", "1 + whence", "whence - 1", "whence + fd", "whence * fd", "fd - whence", "whence - fd", "fd * fd",
	"offset + whence", "whence + offset", "offset - whence", "whence - offset", "offset * whence", "whence * offset",
	"(offset + 1) * 2", "2 * (offset + 1)", "(offset + whence) * (offset - whence)", "offset - (whence - 1)", "offset - (whence - (offset - 1))",
	"offset + whence + fd + 1 + 2 + offset", "offset * 2 + whence * 3 + fd * 5 + 7", "((offset + 1) * 2 + 3) * 4 + 5",
	"(offset + 10) / 3 + 1", "(offset / 3) * 3", "offset - offset / 10 * 10", "(offset / 3 + whence / 3) / 5", "offset / 3 / 5", "offset / 6 + offset / 7 + offset / 9",
	"(whence + fd) / (whence + 1)", "(fd - whence) / 3 + offset", "whence / (fd / 1000000000)",
}

var seekOffsets = []int64{0, 1, 2, 3, 9, 10, 11, 999, 1000, 1001, 1<<20 - 1, 1 << 20, 1<<20 + 1, 2000000, 1 << 31, 1 << 32, 1<<40 + 12345,
	-1, -2, -3, -9, -10, -11, -1000, -1001, -(1 << 20), -(1 << 20) - 1, -(1 << 40) - 7}

var whences = []uint32{0, 1, 2, 10, 1000, 1<<20 - 1, math.MaxUint32}

// proveArithmetic compares what histograms compute with Go's numbers without
// bounds: divisions round down, and a result has 64 bits.
func proveArithmetic(m *machine) {
	var inputs []input
	for i, o := range seekOffsets {
		inputs = append(inputs, input{"offset": big.NewInt(o), "whence": big.NewInt(int64(whences[i%len(whences)])), "fd": big.NewInt(math.MaxUint32)})
	}
	proveExpressions(m, "lseek", seekExpressions, inputs, func(in input) {
		badSeek(in["offset"].Int64(), uint32(in["whence"].Uint64()))
	})
}

// adviceExpressions are over start and len_in, unsigned and of 64 bits, and
// behavior, signed and of 32.
var adviceExpressions = []string{
	"start + 1", "start - 1", "start + len_in", "start - len_in", "len_in - start", "start * 2",
	"start / 2", "start / 3", "start / 10", "start / 1000000", "start / 4096", "start / 9223372036854775808", "start / 18446744073709551615",
	"start / len_in", "len_in / start", "start / 3 / 5", "len_in / 1000 * 1000", "len_in - len_in / 7 * 7",
	"behavior + 1", "1 + behavior", "behavior * behavior", "-behavior", "behavior * 1000000", "behavior / 2", "behavior / 3", "behavior / 10", "behavior / 1000",
	"start + behavior", "behavior + start", "start - behavior", "behavior * 2 - start",
}

var starts = []uint64{1, 2, 3, 10, 1<<20 - 1, 1 << 20, 1<<32 - 1, 1 << 32, 1<<52 - 3, 1<<63 - 1, 1 << 63, 1<<63 + 1, math.MaxUint64 - 1, math.MaxUint64}

// proveWideArithmetic does the same at the limits of 64 bits, and with a signed
// number of 32.
func proveWideArithmetic(m *machine) {
	lens := []uint64{7, 1, 1 << 20, math.MaxUint64, 3}
	behaviors := []int32{1000, -1, -1000, math.MaxInt32, math.MinInt32, 1001, -7}
	var inputs []input
	for i, s := range starts {
		inputs = append(inputs, input{"start": new(big.Int).SetUint64(s), "len_in": new(big.Int).SetUint64(lens[i%len(lens)]), "behavior": big.NewInt(int64(behaviors[i%len(behaviors)]))})
	}
	proveExpressions(m, "madvise", adviceExpressions, inputs, func(in input) {
		badAdvice(in["start"].Uint64(), in["len_in"].Uint64(), int32(in["behavior"].Int64()))
	})
	inputs = nil
	for _, o := range []int64{math.MaxInt64, math.MaxInt64 - 1, 1 << 62, 1<<62 + 1, -(1 << 62), -(1 << 62) - 1, math.MinInt64 + 1000000, math.MinInt64 + 1000, -1 << 40} {
		inputs = append(inputs, input{"offset": big.NewInt(o)})
	}
	proveExpressions(m, "lseek", []string{"offset + 1", "offset / 2", "offset / 3", "offset / 10", "offset / 1000", "offset / 4096", "-offset", "offset - 1"}, inputs,
		func(in input) { badSeek(in["offset"].Int64(), 1000) })
}

// proveExpressions makes an event of each expression over the arguments of a
// call, and calls with each input.
func proveExpressions(m *machine, call string, exprs []string, inputs []input, do func(input)) {
	inThread(func(tid int) {
		// A few at a time: each has up to six histograms on the call's entry.
		for len(exprs) > 0 {
			n := min(len(exprs), 20)
			var script strings.Builder
			for i, x := range exprs[:n] {
				fmt.Fprintf(&script, "event value_%d from syscall %s.enter where $tid == %d { value = %s }\ntrace value_%[1]d\n", i, call, tid, x)
			}
			rec := m.run(script.String(), func() {
				for _, in := range inputs {
					do(in)
				}
			})
			for i, x := range exprs[:n] {
				m.compareValues(x, inputs, rec.rows[fmt.Sprintf("value_%d", i)])
			}
			exprs = exprs[n:]
		}
	})
}

func (m *machine) compareValues(text string, inputs []input, rows []row) {
	if len(rows) != len(inputs) {
		m.g.Errorf("%s: got %d records of %d calls", text, len(rows), len(inputs))
		return
	}
	for i, in := range inputs {
		want, known, err := evaluate(text, in)
		if err != nil {
			m.g.Fatalf("%s: %v", text, err)
		}
		if got := rows[i].numbers["value"]; known && got != want {
			m.g.Errorf("%s of %v: got %d (%d), want %d (%d)", text, in, got, int64(got), want, int64(want))
		}
	}
}

// proveUnits converts durations between all units: of plain numbers that are
// marked as such.
func proveUnits(m *machine) {
	in := []uint64{0, 1, 9, 10, 999, 1000, 1001, 999999, 1000000, 1000001, 1<<20 - 1, 1 << 20, 123456789, 1999999999, 1 << 40}
	table := []struct {
		expr string
		want func(n uint64) uint64
	}{
		{"(start as ns) as us", func(n uint64) uint64 { return n / 1000 }},
		{"(start as ns) as ms", func(n uint64) uint64 { return n / 1000000 }},
		{"(start as ns) as s", func(n uint64) uint64 { return n / 1000000000 }},
		{"(start as us) as ns", func(n uint64) uint64 { return n * 1000 }},
		{"(start as us) as ms", func(n uint64) uint64 { return n / 1000 }},
		{"(start as ms) as ns", func(n uint64) uint64 { return n * 1000000 }},
		{"(start as s) as ms", func(n uint64) uint64 { return n * 1000 }},
		{"start as ns + 1us", func(n uint64) uint64 { return n + 1000 }},
		{"start as us + start as ns", func(n uint64) uint64 { return 1001 * n }},
		{"(start as us + start as ns) as us", func(n uint64) uint64 { return 1001 * n / 1000 }},
		{"(start as us) / 1us", func(n uint64) uint64 { return n }},
		{"(start as ns) / 1us", func(n uint64) uint64 { return n / 1000 }},
		{"(start as ns) / 3", func(n uint64) uint64 { return n / 3 }},
		{"(start as ns) * 3", func(n uint64) uint64 { return n * 3 }},
	}
	inThread(func(tid int) {
		var script strings.Builder
		for i, e := range table {
			fmt.Fprintf(&script, "event unit_%d from syscall madvise.enter where $tid == %d { value = %s }\ntrace unit_%[1]d\n", i, tid, e.expr)
		}
		rec := m.run(script.String(), func() {
			for _, n := range in {
				badAdvice(n, 0, 1000)
			}
		})
		for i, e := range table {
			var want []uint64
			for _, n := range in {
				want = append(want, e.want(n))
			}
			m.sameNumbers(e.expr, rec.rows[fmt.Sprintf("unit_%d", i)], "value", want)
		}
	})
}

// proveJoinedArithmetic computes with values of two and three stages, which come
// in one record with what they were computed from.
func proveJoinedArithmetic(m *machine) {
	inThread(func(tid int) {
		rec := m.run(fmt.Sprintf(`
event two
  from syscall lseek.enter as a where $tid == %[1]d
  then syscall madvise.enter as b by $tid
{
  first  = a.offset
  second = b.len_in
  sum    = a.offset + b.len_in
  mixed  = (a.offset * 3 + b.behavior) / 7
  nested = (a.offset - (b.behavior - (a.whence - 1))) * 2
  long   = a.offset + b.behavior + a.whence + b.behavior + a.offset + 5
  whence = a.whence
}
event three
  from syscall lseek.enter as a where $tid == %[1]d
  then syscall madvise.enter as b by $tid
  then syscall getppid.enter as c by $tid
{
  first  = a.offset
  second = b.behavior
  mixed  = (a.offset * 3 + b.behavior) / 7
  total  = c.$time - a.$time
  early  = b.$time - a.$time
  late   = c.$time - b.$time
  us     = (c.$time - a.$time) as us
}
trace two, three`, tid), func() {
			for i := range int64(20) {
				badSeek(i*1000-5000, uint32(i))
				badAdvice(1, uint64(i), int32(1000-i*100))
				getppid()
			}
		})
		two, three := rec.rows["two"], rec.rows["three"]
		if len(two) != 20 || len(three) != 20 {
			m.g.Fatalf("got %d and %d records of 20", len(two), len(three))
		}
		for i := range int64(20) {
			o, w, b := i*1000-5000, i, 1000-i*100
			check := func(r row, want map[string]int64) {
				for name, v := range want {
					if r.num(name) != v {
						m.g.Errorf("round %d: %s: got %d, want %d", i, name, r.num(name), v)
					}
				}
			}
			check(two[i], map[string]int64{"first": o, "second": i, "sum": o + i, "mixed": floor(o*3+b, 7), "nested": (o - (b - (w - 1))) * 2, "long": 2*o + 2*b + w + 5, "whence": w})
			r := three[i]
			check(r, map[string]int64{"first": o, "second": b, "mixed": floor(o*3+b, 7), "us": r.num("total") / 1000, "total": r.num("early") + r.num("late")})
			if r.num("early") <= 0 || r.num("late") <= 0 {
				m.g.Errorf("got %v: want times in order", r.numbers)
			}
		}
	})
}
