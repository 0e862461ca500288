package joinproof

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/big"
)

// input is the value of each name of an expression.
type input map[string]*big.Int

// floor is a/n, rounded down, for n above zero.
func floor(a, n int64) int64 { return (a - ((a%n)+n)%n) / n }

// evaluate is an expression's exact value, in the 64 bits that a record has;
// ep's operators are Go's. It is not known if a divisor is 0, or if an operand
// of a division does not fit its type: an unsigned difference below zero, a
// product that is too great.
func evaluate(text string, in input) (value uint64, known bool, err error) {
	x, err := parser.ParseExpr(text)
	if err != nil {
		return 0, false, err
	}
	v, ok := exact(x, in)
	if !ok {
		return 0, false, nil
	}
	return v.And(v, new(big.Int).SetUint64(math.MaxUint64)).Uint64(), true, nil
}

func exact(x ast.Expr, in input) (*big.Int, bool) {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return exact(x.X, in)
	case *ast.Ident:
		return new(big.Int).Set(in[x.Name]), true
	case *ast.BasicLit:
		return new(big.Int).SetString(x.Value, 0)
	case *ast.UnaryExpr:
		v, ok := exact(x.X, in)
		if !ok {
			return nil, false
		}
		return v.Neg(v), true
	case *ast.BinaryExpr:
		a, okA := exact(x.X, in)
		b, okB := exact(x.Y, in)
		if !okA || !okB {
			return nil, false
		}
		switch x.Op {
		case token.ADD:
			return a.Add(a, b), true
		case token.SUB:
			return a.Sub(a, b), true
		case token.MUL:
			return a.Mul(a, b), true
		case token.QUO:
			if b.Sign() <= 0 || !fits(x.X, a) || !fits(x.Y, b) {
				return nil, false
			}
			q, _ := a.DivMod(a, b, new(big.Int)) // down, for a divisor above zero
			return q, true
		}
	}
	panic("internal error: an expression of the table is of another kind")
}

// fits reports whether v is in the range of x's type of 64 bits, which is signed
// if a part of x is.
func fits(x ast.Expr, v *big.Int) bool {
	signed := false
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			signed = signed || n.Name == "offset" || n.Name == "behavior"
		case *ast.UnaryExpr:
			signed = true
		}
		return true
	})
	if signed {
		return v.IsInt64()
	}
	return v.IsUint64()
}
