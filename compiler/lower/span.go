package lower

import (
	"go/constant"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// A span is a join of a call's entry and its exit by thread. Its fields are the
// entry's, $ret and $elapsed are of the exit, and all else of the context is as
// it is at the exit, save within enter().
//
// All conditions of a span are about its outcome: were the entry's put on the
// entry, a call that fails them would leave the thread's last good entry in the
// table, and a condition on the exit could pair it with that.

// Where the exit alone has all that is wanted, no join is made: a call's result,
// or, since v6.9, a function's arguments too, which a return probe then keeps
// from the entry.

// reduceSpan reduces an event whose source is the span of a call or a function.
func (l *lowerer) reduceSpan(rec *recipe) *recipe {
	st := rec.ev.Stages[0]
	rec.having = append(ir.Conjuncts(st.Where), rec.having...)
	rec.rewrite(func(x ir.Expr) ir.Expr { return spanValue(x, false) })
	_, isProbe := st.Source.(*ir.Probe)
	if !usesEntry(rec) || isProbe && l.t.Has(target.ReturnArgs) && !usesOf(rec, entryMoment) {
		return l.exitAlone(rec, st.Source)
	}
	tid := func(stage int) ir.Expr {
		return &ir.Context{At: ir.At{T: types.Int{Size: 4, Signed: true}, Sp: st.Span}, Stage: stage, Kind: ir.Tid}
	}
	rec.steps = []step{
		{span: st.Span, alias: "enter"},
		{span: st.Span, alias: "exit", keys: []ir.Key{{Left: tid(0), Right: tid(1), Span: st.Span}}},
	}
	if isProbe {
		// Each CPU's idle thread has the number 0: it cannot be followed.
		for i := range rec.steps {
			rec.steps[i].where = []ir.Expr{&ir.Binary{At: ir.At{T: types.Bool{}, Sp: st.Span}, Op: "!=", X: tid(i), Y: numberOf(0, tid(i).Type(), st.Span)}}
		}
	}
	if !l.reduceEnd(rec, 0, st.Source, ir.EndEnter) || !l.reduceEnd(rec, 1, st.Source, ir.EndExit) {
		return nil
	}
	return rec
}

// reduceEnd makes step i one end of a call or a function.
func (l *lowerer) reduceEnd(rec *recipe, i int, src ir.Source, end ir.End) bool {
	switch src := src.(type) {
	case *ir.Syscall:
		call := *src
		call.End = end
		return l.reduceCall(rec, i, &call)
	case *ir.Probe:
		p := *src
		p.End = end
		rec.steps[i].probe = &p
		return true
	}
	panic("internal error: a span of something that has no ends")
}

// exitAlone reduces a span to its exit.
func (l *lowerer) exitAlone(rec *recipe, src ir.Source) *recipe {
	rec.steps = []step{{span: rec.ev.Stages[0].Span, alias: "exit", where: rec.having}}
	rec.having = nil
	rec.rewrite(func(x ir.Expr) ir.Expr { return moveStage(x, 1, 0) })
	if !l.reduceEnd(rec, 0, src, ir.EndExit) {
		return nil
	}
	return rec
}

// usesOf reports whether a value of the recipe has a part that is found.
func usesOf(rec *recipe, found func(ir.Expr) bool) bool {
	used := false
	rec.exprs(func(x ir.Expr) {
		ir.Visit(x, func(x ir.Expr) bool {
			used = used || found(x)
			return !used
		})
	})
	return used
}

// entryMoment reports whether x is known at the entry only: its time or another
// value of its context, or what is read then.
func entryMoment(x ir.Expr) bool {
	switch x := x.(type) {
	case *ir.Early:
		return true
	case *ir.Context:
		return x.Stage == 0
	}
	return false
}

// usesEntry reports whether a span's recipe has a value of the entry.
func usesEntry(rec *recipe) bool {
	return usesOf(rec, func(x ir.Expr) bool {
		ref, ok := x.(*ir.FieldRef)
		return ok && ref.Stage == 0 || entryMoment(x)
	})
}

// moveStage renames a stage in x.
func moveStage(x ir.Expr, from, to int) ir.Expr {
	return ir.Rewrite(x, func(x ir.Expr) ir.Expr {
		switch x := x.(type) {
		case *ir.FieldRef:
			if x.Stage == from {
				return &ir.FieldRef{At: x.At, Stage: to, Name: x.Name}
			}
		case *ir.Context:
			if x.Stage == from {
				c := *x
				c.Stage = to
				return &c
			}
		case *ir.Early:
			if x.Stage == from {
				return &ir.Early{At: x.At, Stage: to, X: x.X}
			}
		}
		return x
	})
}

// spanValue turns a value of a span into one of its two steps. early says that
// it is within enter().
func spanValue(x ir.Expr, early bool) ir.Expr {
	switch x := x.(type) {
	case nil:
		return nil
	case *ir.Early:
		return &ir.Early{At: x.At, Stage: 0, X: spanValue(x.X, true)}
	case *ir.Context:
		if x.Kind == ir.Elapsed {
			return &ir.Binary{At: x.At, Op: "-", X: timeOf(1, x.Sp), Y: timeOf(0, x.Sp)}
		}
		c := *x
		if !early {
			c.Stage = 1
		}
		if early && x.Kind == ir.IP {
			c.Reg = "__probe_ip"
		}
		return &c
	}
	return ir.Parts(x, func(x ir.Expr) ir.Expr { return spanValue(x, early) })
}

func timeOf(stage int, sp source.Span) ir.Expr {
	return &ir.Context{At: ir.At{T: types.Duration{Unit: types.NS, Size: 8}, Sp: sp}, Stage: stage, Kind: ir.Time}
}

func numberOf(n int64, t types.Type, sp source.Span) *ir.Const {
	return &ir.Const{At: ir.At{T: t, Sp: sp}, Value: constant.MakeInt64(n)}
}
