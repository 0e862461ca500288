package check

import (
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// key checks one key of a join: `a.f == b.g`, or a name that both sides have.
func (c *checker) key(ev *ir.Event, sc *scope, st *ir.Stage, k *syntax.Key) {
	var left, right ir.Expr
	switch e := syntax.Unparen(k.Value).(type) {
	case *syntax.Ident:
		left, right = c.sharedKey(sc, st, e.Span(), e.Text(), func(v *stageView) ir.Expr {
			return sc.field(v, e.Text(), e.Span())
		})
	case *syntax.Context:
		left, right = c.sharedKey(sc, st, e.Span(), "$"+e.Name, func(v *stageView) ir.Expr {
			return sc.context(e, v, e.Span())
		})
	case *syntax.Binary:
		if e.Op != "==" {
			c.keyForm(e.Span())
			return
		}
		left, right = c.expr(e.X, sc), c.expr(e.Y, sc)
		if stageOf(left) == st.Index && stageOf(right) != st.Index {
			left, right = right, left
		}
	case *syntax.BadExpr:
		return
	default:
		c.keyForm(k.Span())
		return
	}
	if left == nil || right == nil || types.IsInvalid(left.Type()) || types.IsInvalid(right.Type()) {
		return
	}
	l, r := stageOf(left), stageOf(right)
	if l < 0 || l >= st.Index || r != st.Index {
		c.keyOfLater(k.Span())
		return
	}
	if c.keysMatch(k.Span(), left, right) {
		st.Keys = append(st.Keys, ir.Key{Left: left, Right: right, Span: k.Span()})
	}
}

// sharedKey resolves a key that is one name: of the stage before and of this.
func (c *checker) sharedKey(sc *scope, st *ir.Stage, sp source.Span, name string, get func(*stageView) ir.Expr) (left, right ir.Expr) {
	views := sc.stages[st.Index-1 : st.Index+1]
	out := make([]ir.Expr, 2)
	for i, v := range views {
		if v.stage.Source == nil {
			return nil, nil
		}
		out[i] = get(v)
		if out[i] == nil {
			c.keyNotThere(sp, name, v)
			return nil, nil
		}
	}
	return out[0], out[1]
}

// stageOf returns the one stage that x is of; -1 if it is of none or several.
func stageOf(x ir.Expr) int {
	stage := -1
	several := false
	ir.Visit(x, func(x ir.Expr) bool {
		at := -1
		switch x := x.(type) {
		case *ir.FieldRef:
			at = x.Stage
		case *ir.Context:
			at = x.Stage
		}
		if at >= 0 {
			several = several || stage >= 0 && stage != at
			stage = at
		}
		return true
	})
	if several {
		return -1
	}
	return stage
}

// keysMatch reports keys that can never be equal. The kernel compares integers
// of any width as 64 bits with their sign.
func (c *checker) keysMatch(sp source.Span, x, y ir.Expr) bool {
	_, textX := x.Type().(types.String)
	_, textY := y.Type().(types.String)
	switch {
	case textX && textY:
		return true // the lowering gives both the same room
	case textX != textY:
		c.keysNeverMatch(sp, x, y, "one is a text, the other a number")
		return false
	case !types.Scalar(x.Type()) || !types.Scalar(y.Type()):
		c.keysNeverMatch(sp, x, y, "a key is a number or a text")
		return false
	}
	px, ptrX := x.Type().(types.Pointer)
	py, ptrY := y.Type().(types.Pointer)
	_, durX := x.Type().(types.Duration)
	_, durY := y.Type().(types.Duration)
	switch {
	case ptrX && ptrY && px.User != py.User:
		c.keysNeverMatch(sp, x, y, "one is an address of the kernel's, the other of user space")
		return false
	case !types.SameBytes(x.Type(), y.Type()):
		c.keysNeverMatch(sp, x, y, "the bytes of one are in network order")
		return false
	case durX != durY:
		c.keysNeverMatch(sp, x, y, "one is a time, the other a number")
		return false
	}
	if types.Signed(x.Type()) != types.Signed(y.Type()) && mayBeNegative(x) != mayBeNegative(y) && !keepsAll(x.Type(), y.Type()) {
		c.signedKeys(sp, x, y)
	}
	return true
}

// keepsAll reports whether the signed of the two has each value of the other: what
// is below zero then equals none of them in anybody's eyes.
func keepsAll(a, b types.Type) bool {
	if types.Signed(b) {
		a, b = b, a
	}
	return types.Size(a) > types.Size(b)
}

// mayBeNegative reports whether x has a sign that matters. A 64-bit value
// matches whatever its sign.
func mayBeNegative(x ir.Expr) bool { return types.Signed(x.Type()) && types.Size(x.Type()) < 8 }
