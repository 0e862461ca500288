package lower

import (
	"fmt"
	"slices"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// mostLog2 is the greatest number that the kernel's log2 groups. It shifts by 64
// for 0 and for what is greater (kernel/trace/trace_events_hist.c, hist_field_log2),
// which C leaves undefined: the greatest numbers are counted as 1, and a kernel with
// UBSAN reports it.
const mostLog2 = 1 << 63

// beyondLog2 is the modifier that tells 0 from those numbers: the kernel divides
// exactly. It shows a width of 2^63 with a sign, so half of that is taken.
const beyondLog2 = "buckets=4611686018427387904"

// apart keeps what log2 cannot group from it: c counts the rest, and a further
// histogram for each such key counts 0 and the numbers above mostLog2, which a
// reader adds to the table.
func (l *lowerer) apart(c *command.Hist, h *ir.Hist, o *observed) []*command.Hist {
	out := []*command.Hist{c}
	for i, k := range h.Keys {
		if k.Slot != ir.Log2 || !l.t.Has(target.HistBuckets) {
			continue
		}
		f := c.Keys[i].(command.HistField)
		col := o.on.column(f.Name)
		if col == nil || col.size < 8 || col.signed || types.Signed(k.Type) {
			continue // no such number, or one below zero, all of which log2 counts as 1
		}
		is := func(op string, n uint64) command.Cond {
			return &command.Pred{Field: f.Name, Op: op, Value: command.Value{Text: fmt.Sprint(n), Span: k.Span}, Span: k.Span}
		}
		f.Modifier = beyondLog2
		for _, c := range slices.Clone(out) {
			beyond := *c
			beyond.Keys = slices.Clone(c.Keys)
			beyond.Keys[i] = f
			if c.Name != "" {
				beyond.Name = fmt.Sprintf("%s_beyond%d", c.Name, i)
			}
			beyond.If = and(c.If, &command.Or{List: []command.Cond{is("==", 0), is(">", mostLog2)}})
			c.If = and(c.If, &command.And{List: []command.Cond{is(">", 0), is("<=", mostLog2)}})
			out = append(out, &beyond)
		}
	}
	return out
}
