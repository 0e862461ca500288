package lower

import (
	"go/constant"
	"go/token"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/types"
)

// foldCondition computes a condition on constants, which come from composing
// an event with another whose field is one. Its parts are folded already.
func foldCondition(x ir.Expr) ir.Expr {
	switch x := x.(type) {
	case *ir.Unary:
		if k, ok := x.X.(*ir.Const); ok && x.Op == "!" {
			return truth(x, !constant.BoolVal(k.Value))
		}
	case *ir.In:
		if k, ok := constOf(x.X); ok {
			return truth(x, inConstants(k, x.Set))
		}
	case *ir.Binary:
		switch x.Op {
		case "&&", "||":
			return foldLogic(x)
		case "==", "!=", "<", "<=", ">", ">=":
			a, okA := constOf(x.X)
			b, okB := constOf(x.Y)
			if okA && okB && a.Kind() == b.Kind() {
				return truth(x, constant.Compare(a, compareTokens[x.Op], b))
			}
		case "~":
			a, okA := constOf(x.X)
			b, okB := constOf(x.Y)
			if okA && okB && a.Kind() == constant.String && b.Kind() == constant.String {
				if v, known := globMatches(constant.StringVal(b), constant.StringVal(a)); known {
					return truth(x, v)
				}
			}
		}
	}
	return x
}

func foldLogic(x *ir.Binary) ir.Expr {
	for _, p := range [][2]ir.Expr{{x.X, x.Y}, {x.Y, x.X}} {
		k, ok := p[0].(*ir.Const)
		if !ok {
			continue
		}
		if v := constant.BoolVal(k.Value); v == (x.Op == "||") {
			return truth(x, v)
		}
		return p[1]
	}
	return x
}

func truth(x ir.Expr, v bool) ir.Expr {
	return &ir.Const{At: ir.At{T: types.Bool{}, Sp: x.Span()}, Value: constant.MakeBool(v)}
}

var compareTokens = map[string]token.Token{
	"==": token.EQL, "!=": token.NEQ, "<": token.LSS, "<=": token.LEQ, ">": token.GTR, ">=": token.GEQ,
}

// constOf returns the value of a constant, of a cast of one, or of the bits of
// one that a mask leaves.
func constOf(x ir.Expr) (constant.Value, bool) {
	switch x := x.(type) {
	case *ir.Const:
		return x.Value, true
	case *ir.Early:
		return constOf(x.X)
	case *ir.Cast:
		v, ok := constOf(x.X)
		if !ok || v.Kind() != constant.Int {
			return v, ok
		}
		return cut(ir.SwapBytes(v, x.X.Type(), x.T), x.T), true
	case *ir.Binary:
		a, okA := constOf(x.X)
		b, okB := constOf(x.Y)
		if x.Op == "&" && okA && okB && a.Kind() == constant.Int && b.Kind() == constant.Int {
			return constant.BinaryOp(a, token.AND, b), true
		}
	}
	return nil, false
}

// cut is a whole number as type t keeps it: its low bits, with t's sign.
// Durations are in nanoseconds whatever their unit.
func cut(v constant.Value, t types.Type) constant.Value {
	size := types.Size(t)
	if _, isInt := t.(types.Int); !isInt || size == 0 {
		return v
	}
	n := bitsOf(v) << (64 - size*8)
	if types.Signed(t) {
		return constant.MakeInt64(int64(n) >> (64 - size*8))
	}
	return constant.MakeUint64(n >> (64 - size*8))
}

func inConstants(v constant.Value, set []ir.Range) bool {
	for _, r := range set {
		switch {
		case r.Lo.Value.Kind() != v.Kind():
		case r.Hi == nil && constant.Compare(v, token.EQL, r.Lo.Value),
			r.Hi != nil && constant.Compare(v, token.GEQ, r.Lo.Value) && constant.Compare(v, token.LEQ, r.Hi.Value):
			return true
		}
	}
	return false
}
