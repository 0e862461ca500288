package lower

import (
	"go/constant"

	"github.com/eptrace/ep/compiler/ir"
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

// reduceSpan reduces an event whose source is a call's span.
func (l *lowerer) reduceSpan(rec *recipe, call *ir.Syscall) *recipe {
	st := rec.ev.Stages[0]
	rec.having = append(ir.Conjuncts(st.Where), rec.having...)
	tid := func(stage int) ir.Expr {
		return &ir.Context{At: ir.At{T: types.Int{Size: 4, Signed: true}, Sp: st.Span}, Stage: stage, Kind: ir.Tid}
	}
	enter := step{span: st.Span, alias: "enter"}
	exit := step{span: st.Span, alias: "exit", keys: []ir.Key{{Left: tid(0), Right: tid(1), Span: st.Span}}}
	rec.rewrite(func(x ir.Expr) ir.Expr { return spanValue(x, false) })
	if !usesEntry(rec) {
		return l.exitAlone(rec, call, exit)
	}
	rec.steps = []step{enter, exit}
	in, out := *call, *call
	in.End, out.End = ir.EndEnter, ir.EndExit
	if !l.reduceCall(rec, 0, &in) || !l.reduceCall(rec, 1, &out) {
		return nil
	}
	return rec
}

// exitAlone reduces a span that says nothing of the entry: the exit is enough.
func (l *lowerer) exitAlone(rec *recipe, call *ir.Syscall, exit step) *recipe {
	exit.keys = nil
	exit.where = rec.having
	rec.having = nil
	rec.steps = []step{exit}
	rec.rewrite(func(x ir.Expr) ir.Expr { return moveStage(x, 1, 0) })
	out := *call
	out.End = ir.EndExit
	if !l.reduceCall(rec, 0, &out) {
		return nil
	}
	return rec
}

// usesEntry reports whether a span's recipe has a value of the entry.
func usesEntry(rec *recipe) bool {
	used := false
	rec.exprs(func(x ir.Expr) {
		ir.Visit(x, func(x ir.Expr) bool {
			switch x := x.(type) {
			case *ir.FieldRef:
				used = used || x.Stage == 0
			case *ir.Context:
				used = used || x.Stage == 0
			}
			return !used
		})
	})
	return used
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
	case *ir.Early:
		return &ir.Early{At: x.At, Stage: 0, X: spanValue(x.X, true)}
	case *ir.Context:
		c := *x
		if !early {
			c.Stage = 1
		}
		if x.Kind != ir.Elapsed {
			return &c
		}
		return &ir.Binary{At: x.At, Op: "-", X: timeOf(1, x.Sp), Y: timeOf(0, x.Sp)}
	case *ir.Str:
		return &ir.Str{At: x.At, X: spanValue(x.X, early), Max: x.Max}
	case *ir.Load:
		return &ir.Load{At: x.At, X: spanValue(x.X, early), Off: x.Off}
	case *ir.Unary:
		return &ir.Unary{At: x.At, Op: x.Op, X: spanValue(x.X, early)}
	case *ir.Binary:
		return &ir.Binary{At: x.At, Op: x.Op, X: spanValue(x.X, early), Y: spanValue(x.Y, early)}
	case *ir.In:
		return &ir.In{At: x.At, X: spanValue(x.X, early), Set: x.Set}
	case *ir.Cast:
		return &ir.Cast{At: x.At, X: spanValue(x.X, early)}
	case *ir.Bits:
		return &ir.Bits{At: x.At, X: spanValue(x.X, early), Offset: x.Offset, Width: x.Width}
	}
	return x
}

func timeOf(stage int, sp source.Span) ir.Expr {
	return &ir.Context{At: ir.At{T: types.Duration{Unit: types.NS, Size: 8}, Sp: sp}, Stage: stage, Kind: ir.Time}
}

func numberOf(n int64, t types.Type, sp source.Span) *ir.Const {
	return &ir.Const{At: ir.At{T: t, Sp: sp}, Value: constant.MakeInt64(n)}
}
