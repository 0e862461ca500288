package randomproof

import (
	"testing"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// TestValues: what the model says of numbers is what the reference says.
func TestValues(t *testing.T) {
	us := types.Duration{Unit: types.US, Size: 8}
	be16 := types.Int{Size: 2, Form: types.BE}
	for _, c := range []struct {
		what string
		got  value
		want string
	}{
		{"a division rounds down", arithmetic("/", number(s64, -7), number(u64, 2), s64), "-4"},
		{"a difference without a sign is large", arithmetic("-", number(u64, 1), number(u64, 2), u64), "18446744073709551615"},
		{"a difference with a sign is below zero", arithmetic("-", number(s64, 1), number(u64, 2), s64), "-1"},
		{"a widened number keeps its sign", number(s32, -100).convert(s64), "-100"},
		{"a narrowed number keeps its low bits", number(s64, 0x1ff).convert(u8), "255"},
		{"a duration rounds down", number(ns, 1999).convert(us), "1"},
		{"bytes in the other order", number(types.Int{Size: 2}, 0x0102).convert(be16), "513"},
		{"a range is added to", arithmetic("+", between(ns, 5, 9), number(ns, 1), ns), "6..10"},
		{"what cannot be read stays so", arithmetic("+", value{fault: true}, number(u64, 1), u64), "a fault"},
	} {
		if got := c.got.String(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.what, got, c.want)
		}
	}
	if compare("<", value{fault: true}, number(u64, 5)) != never || compare("<", between(ns, 1, 9), number(ns, 5)) != maybe {
		t.Error("a comparison of what is not known")
	}
}

// TestPair: each B is paired with the latest earlier A of equal keys, once.
func TestPair(t *testing.T) {
	s := &stage{keys: []pairKey{{left: &ref{form: "%k", t: u32}, right: &ref{form: "%k", t: u32}}}}
	at := func(seq int, k int64) passed {
		o := &occurrence{seq: seq, vals: map[string]value{"k": number(u32, k)}, sure: always}
		return passed{env: env{stages: []staged{{of: o}}}, seq: seq, sure: always}
	}
	list, open := pair([]passed{at(1, 7), at(2, 7), at(3, 8), at(6, 7)}, []passed{at(4, 7), at(5, 7), at(6, 7), at(9, 8)}, s)
	var got [][2]int
	for _, p := range list {
		got = append(got, [2]int{p.env.stages[0].of.seq, p.env.stages[1].of.seq})
	}
	// At 6 both happen: the B finds no earlier A, and the A waits.
	if open || len(got) != 2 || got[0] != [2]int{2, 4} || got[1] != [2]int{3, 9} {
		t.Errorf("got %v", got)
	}
}

// TestSlots: powers of two and ranges, as docs/output.md has them.
func TestSlots(t *testing.T) {
	x := &ref{form: "%x", t: u32}
	for _, c := range []struct {
		k    tableKey
		n    int64
		want string
	}{
		{tableKey{x: x, slot: "log2"}, 0, "0..1"}, {tableKey{x: x, slot: "log2"}, 2, "2..2"},
		{tableKey{x: x, slot: "log2"}, 5, "5..8"}, {tableKey{x: x, slot: "log2"}, 8, "5..8"},
		{tableKey{x: x, slot: "bucket", width: 10}, 19, "10..19"},
	} {
		if got, ok := c.k.slotOf(number(u32, c.n)); !ok || got.key() != c.want {
			t.Errorf("%s of %d: got %s, want %s", c.k.slot, c.n, got.key(), c.want)
		}
	}
}

// TestEditsMakeLess: each way to cut a script down can be done, and makes it
// less.
func TestEditsMakeLess(t *testing.T) {
	on, err := target.Embedded("6.17-x86_64")
	if err != nil {
		t.Fatal(err)
	}
	for n := range int64(40) {
		whole := generate(on, n)
		for i := range whole.edits() {
			s := (&failure{seed: n, edits: []int{i}}).script(on)
			if s.weight() > whole.weight() {
				t.Errorf("script %d, edit %d: %d is more than %d", n, i, s.weight(), whole.weight())
			}
		}
	}
}
