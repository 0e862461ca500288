package lower

import (
	"go/constant"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/types"
)

// A probe that cannot read memory leaves the field as it was: with bytes of an
// earlier record, which look like a value. So an event keeps, besides what is read,
// what tells whether that could be read, in hidden fields that values share:
//
//	a pointer of the kernel    no address is in the first or the last page, where
//	                           NULL and the kernel's error pointers are
//	a text                     it has length 0, or the kernel takes the next text for
//	                           it: a constant, plan.Unread, is put behind it
//	a number in user memory    a text at its last byte, as above
//	a number behind a pointer  a text at its last byte, as above
//	that the script made
//
// Conditions on the value are false without these, histograms do not count it, and
// a reader shows it as (fault).

// guards adds to every event what tells whether its values could be read, and to
// every condition that they could.
func (l *lowerer) guards() {
	for _, ev := range l.prog.Events {
		l.guard(ev)
	}
	for _, tr := range l.prog.Traces {
		if tr.Inline != nil {
			l.guard(tr.Inline)
		}
		if tr.Where != nil && tr.Event != nil {
			tr.Where = l.guarded(tr.Where, []*ir.Stage{{Source: &ir.Derived{Event: tr.Event}}})
		}
	}
}

func (l *lowerer) guard(ev *ir.Event) {
	members := ev.Union
	if len(members) == 0 {
		members = []*ir.Event{ev}
	}
	fields := ev.Fields
	byKey := map[string]*ir.Field{} // of a sole member
	labels := labels{}
	for _, f := range fields {
		labels[f.Name] = true
		if len(members) == 1 && types.Size(f.Type) == types.Size(f.Value.Type()) {
			byKey[uncast(f.Value).String()] = f
		}
	}
	hidden := make([][]*ir.Field, len(members))
	for i, f := range fields {
		lists, most := make([][]ir.Expr, len(members)), 0
		for m, member := range members {
			lists[m] = l.through(member.Fields[i].Value, member.Stages)
			most = max(most, len(lists[m]))
		}
		for n := range most {
			if len(members) == 1 {
				if old := byKey[lists[0][n].String()]; old != nil {
					f.Through = append(f.Through, old)
					continue
				}
			}
			name := labels.unique("at_" + argLabel(lists[longest(lists)][n]))
			for m := range members {
				var x ir.Expr = numberOf(firstPage, types.Int{Size: 8}, f.Span) // a source that reads no memory here
				if n < len(lists[m]) {
					x = lists[m][n]
				}
				h := &ir.Field{Name: name, Span: x.Span(), Type: x.Type(), Value: x, Hidden: true}
				hidden[m] = append(hidden[m], h)
				if m == 0 {
					f.Through = append(f.Through, h)
					byKey[x.String()] = h
				}
			}
		}
	}
	for m, member := range members {
		member.Stages = l.guardStages(member.Stages)
		l.guardOutcome(member)
		member.Fields = append(member.Fields[:len(fields):len(fields)], hidden[m]...)
	}
	if len(ev.Union) > 0 {
		ev.Fields = append(ev.Fields[:len(fields):len(fields)], hidden[0]...)
	}
}

func longest(lists [][]ir.Expr) int {
	at := 0
	for i, l := range lists {
		if len(l) > len(lists[at]) {
			at = i
		}
	}
	return at
}

// guardStages returns the stages with conditions that hold only for what could be
// read, and without happenings whose keys could not.
func (l *lowerer) guardStages(stages []*ir.Stage) []*ir.Stage {
	out := make([]*ir.Stage, len(stages))
	for i, st := range stages {
		c := *st
		c.Where = l.guarded(st.Where, stages)
		out[i] = &c
	}
	for _, st := range stages {
		for _, k := range st.Keys {
			for _, side := range []struct {
				x     ir.Expr
				stage int
			}{{k.Left, stageOf(k.Left)}, {k.Right, st.Index}} {
				if side.stage < len(out) {
					out[side.stage].Where = once(ir.And(out[side.stage].Where, l.readable(side.x, stages)))
				}
			}
		}
	}
	return out
}

// guardOutcome does the same for what an event says of its own fields.
func (l *lowerer) guardOutcome(ev *ir.Event) {
	if ev.Having != nil {
		ev.Having = l.guarded(withFields(ev.Having), ev.Stages)
	}
	if ev.Emit != nil {
		for _, x := range append([]ir.Expr{ev.Emit.Value}, ev.Emit.Per...) {
			ev.Having = once(ir.And(ev.Having, l.readable(withFields(x), ev.Stages)))
		}
	}
}

// guarded returns a condition that is w where all that w tests could be read. A test
// of what could not be read is false, and so is its negation.
func (l *lowerer) guarded(w ir.Expr, stages []*ir.Stage) ir.Expr {
	if w == nil || len(l.through(w, stages)) == 0 {
		return w
	}
	return once(l.guardedAs(w, false, stages))
}

// once returns a condition each of whose conjuncts is said once.
func once(w ir.Expr) ir.Expr {
	var list []ir.Expr
	for _, c := range ir.Conjuncts(w) {
		if !contains(list, c) {
			list = append(list, c)
		}
	}
	return ir.And(list...)
}

func (l *lowerer) guardedAs(w ir.Expr, negated bool, stages []*ir.Stage) ir.Expr {
	switch x := w.(type) {
	case *ir.Unary:
		if x.Op == "!" {
			return l.guardedAs(x.X, !negated, stages)
		}
	case *ir.Binary:
		if x.Op == "&&" || x.Op == "||" {
			op := x.Op
			if negated {
				op = map[string]string{"&&": "||", "||": "&&"}[op]
			}
			return &ir.Binary{At: x.At, Op: op, X: l.guardedAs(x.X, negated, stages), Y: l.guardedAs(x.Y, negated, stages)}
		}
	}
	test := w
	if negated {
		test = &ir.Unary{At: ir.At{T: types.Bool{}, Sp: w.Span()}, Op: "!", X: w}
	}
	if !negated && namesText(w) {
		return test // none is the constant that is behind
	}
	return ir.And(l.readable(w, stages), test)
}

// namesText reports whether w holds only for some texts.
func namesText(w ir.Expr) bool {
	switch x := w.(type) {
	case *ir.In:
		_, ok := textRead(x.X)
		return ok
	case *ir.Binary:
		if x.Op == "==" {
			_, left := textRead(x.X)
			_, right := textRead(x.Y)
			return left || right
		}
	}
	return false
}

// firstPage ends the addresses at which nothing is mapped, from both ends.
const firstPage = 4096

// readable returns the condition that x could be read, nil if it always can.
func (l *lowerer) readable(x ir.Expr, stages []*ir.Stage) ir.Expr {
	var all ir.Expr
	for _, g := range l.through(x, stages) {
		test := func(op string, k constant.Value) ir.Expr {
			return &ir.Binary{At: ir.At{T: types.Bool{}, Sp: x.Span()}, Op: op, X: g, Y: &ir.Const{At: ir.At{T: g.Type(), Sp: x.Span()}, Value: k}}
		}
		if isText(g) {
			all = ir.And(all, test("!=", constant.MakeString(plan.Unread)))
			continue
		}
		all = ir.And(all, test(">=", constant.MakeUint64(firstPage)), test("<", constant.MakeUint64(1<<64-firstPage)))
	}
	return all
}
