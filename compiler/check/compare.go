package check

import (
	"go/constant"
	"go/token"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// compare checks x == y and the like.
func (c *checker) compare(e *syntax.Binary, x, y ir.Expr) ir.Expr {
	sp := e.Span()
	kx, constX := x.(*ir.Const)
	ky, constY := y.(*ir.Const)
	ok := true
	switch {
	case constX && constY:
		return c.foldCompare(e, kx, ky)
	case constY:
		c.likelyErrno(e.Y, x)
		y, ok = c.fit(ky, x, e)
	case constX:
		c.likelyErrno(e.X, y)
		x, ok = c.fit(kx, y, e)
	default:
		ok = comparable(x.Type(), y.Type())
		if !ok {
			c.mismatched(e.OpSpan, x, y)
		}
	}
	if !ok {
		return c.invalid(sp)
	}
	if constX || constY {
		if v, known := c.decided(string(e.Op), x, y); known {
			c.decidedComparison(sp, v)
			return boolConst(v, sp)
		}
	}
	if _, text := x.Type().(types.String); text && e.Op != "==" && e.Op != "!=" {
		c.orderOfStrings(e.OpSpan, string(e.Op))
		return c.invalid(sp)
	}
	return &ir.Binary{At: ir.At{T: types.Bool{}, Sp: sp}, Op: string(e.Op), X: x, Y: y}
}

// comparable reports whether values of a and b can be held against each other.
func comparable(a, b types.Type) bool {
	switch a := a.(type) {
	case types.Int:
		switch b.(type) {
		case types.Int:
			return types.SameBytes(a, b)
		case types.Untyped:
			return true
		}
	case types.Untyped:
		switch b.(type) {
		case types.Int, types.Untyped:
			return true
		}
	case types.Bool:
		return b == types.Bool{}
	case types.Duration:
		_, ok := b.(types.Duration)
		return ok
	case types.String:
		_, ok := b.(types.String)
		return ok
	case types.Pointer:
		p, ok := b.(types.Pointer)
		return ok && p.User == a.User
	}
	return false
}

// glob checks `s ~ "pattern"`.
func (c *checker) glob(e *syntax.Binary, x, y ir.Expr) ir.Expr {
	pattern, ok := constString(y)
	if _, text := x.Type().(types.String); !text {
		c.notAString(x, "'~'")
		return c.invalid(e.Span())
	}
	if !ok {
		c.patternNotConstant(y)
		return c.invalid(e.Span())
	}
	if !c.filterText(y.Span(), pattern) {
		return c.invalid(e.Span())
	}
	return &ir.Binary{At: ir.At{T: types.Bool{}, Sp: e.Span()}, Op: "~", X: x, Y: y}
}

// in checks `x in { … }`.
func (c *checker) in(e *syntax.In, sc *scope) ir.Expr {
	x := c.expr(e.X, sc)
	sc = sc.with(c.opposite(x))
	out := &ir.In{At: ir.At{T: types.Bool{}, Sp: e.Span()}, X: x}
	ok := !types.IsInvalid(x.Type())
	for _, r := range e.Set {
		lo, good := c.member1(r.Lo, x, sc)
		m := ir.Range{Lo: lo}
		if r.Hi != nil {
			hi, goodHi := c.member1(r.Hi, x, sc)
			good = good && goodHi
			m.Hi = hi
			if good && !c.rangeInOrder(r, x, lo, hi) {
				good = false
			}
		}
		ok = ok && good
		out.Set = append(out.Set, m)
	}
	if len(e.Set) == 0 {
		c.emptySet(e.Span())
		ok = false
	}
	if !ok {
		return c.invalid(e.Span())
	}
	return out
}

// member1 checks one constant of a set.
func (c *checker) member1(e syntax.Expr, x ir.Expr, sc *scope) (*ir.Const, bool) {
	v := c.expr(e, sc)
	k, ok := v.(*ir.Const)
	if !ok {
		c.notConstant(v)
		return nil, false
	}
	if types.IsInvalid(k.T) || types.IsInvalid(x.Type()) {
		return nil, false
	}
	fitted, ok := c.fit(k, x, nil)
	return fitted, ok
}

// decided tells of a comparison with a constant whether it holds for all values
// of the other side, or for none.
func (c *checker) decided(op string, x, y ir.Expr) (holds, known bool) {
	k, ok := y.(*ir.Const)
	if !ok {
		k, ok = x.(*ir.Const)
		x, op = y, map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
	}
	if _, number := x.Type().(types.Int); !ok || !number || k.Value.Kind() != constant.Int {
		return false, false
	}
	least, greatest := types.Bounds(x.Type())
	atLeast := constant.Compare(k.Value, token.EQL, constant.MakeInt64(least))
	atMost := constant.Compare(k.Value, token.EQL, constant.MakeUint64(greatest))
	switch {
	case atLeast && op == "<", atMost && op == ">":
		return false, true
	case atLeast && op == ">=", atMost && op == "<=":
		return true, true
	}
	return false, false
}
