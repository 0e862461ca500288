package check

import (
	"go/constant"
	"go/token"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// invalid is the expression that stands for one already reported.
func (c *checker) invalid(sp source.Span) ir.Expr {
	return &ir.Const{At: ir.At{T: types.Invalid{}, Sp: sp}, Value: constant.MakeUnknown()}
}

func intConst(v int64, sp source.Span) *ir.Const { return typedInt(v, types.Untyped{}, sp) }

func typedInt(v int64, t types.Type, sp source.Span) *ir.Const {
	return &ir.Const{At: ir.At{T: t, Sp: sp}, Value: constant.MakeInt64(v)}
}

func boolConst(v bool, sp source.Span) *ir.Const {
	return &ir.Const{At: ir.At{T: types.Bool{}, Sp: sp}, Value: constant.MakeBool(v)}
}

// namedConst is a value that the type t has a name for; v has its bits, extended
// with the sign.
func namedConst(t types.Int, v uint64, sp source.Span) *ir.Const {
	value := constant.MakeInt64(int64(v))
	if !t.Signed {
		value = constant.MakeUint64(v << (64 - t.Size*8) >> (64 - t.Size*8))
	}
	return &ir.Const{At: ir.At{T: types.Untyped{}, Sp: sp}, Value: value}
}

// constInt returns a whole constant's value if it fits an int64.
func constInt(x ir.Expr) (int64, bool) {
	k, ok := x.(*ir.Const)
	if !ok || k.Value.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(k.Value)
}

func constString(x ir.Expr) (string, bool) {
	k, ok := x.(*ir.Const)
	if !ok || k.Value.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(k.Value), true
}

func constBool(x ir.Expr) (value, ok bool) {
	k, ok := x.(*ir.Const)
	if !ok || k.Value.Kind() != constant.Bool {
		return false, false
	}
	return constant.BoolVal(k.Value), true
}

// number checks a literal. A duration is kept in nanoseconds.
func (c *checker) number(n *syntax.Number) ir.Expr {
	v, unit, err := n.Value()
	if err != nil {
		c.badNumber(n.Span(), n.Raw, err.Error())
		return c.invalid(n.Span())
	}
	value := constant.MakeUint64(v)
	if unit == "" {
		return &ir.Const{At: ir.At{T: types.Untyped{}, Sp: n.Span()}, Value: value}
	}
	t, _ := types.Basic(unit)
	d := t.(types.Duration)
	value = constant.BinaryOp(value, token.MUL, constant.MakeUint64(d.Unit.NS()))
	if _, fits := constant.Uint64Val(value); !fits {
		c.badNumber(n.Span(), n.Raw, "a duration of less than 585 years")
		return c.invalid(n.Span())
	}
	return &ir.Const{At: ir.At{T: d, Sp: n.Span()}, Value: value}
}

// text checks a quoted string, which may be the name of a value of what stands
// opposite.
func (c *checker) text(s *syntax.String, sc *scope) ir.Expr {
	v, err := s.Value()
	if err != nil {
		c.badNumber(s.Span(), s.Raw, err.Error())
		return c.invalid(s.Span())
	}
	if k := sc.valueName(v, s.Span()); k != nil {
		return k
	}
	return &ir.Const{At: ir.At{T: types.String{}, Sp: s.Span()}, Value: constant.MakeString(v)}
}

func negConst(k *ir.Const, sp source.Span) ir.Expr {
	t := k.T
	if d, ok := t.(types.Duration); ok {
		d.Signed = true
		t = d
	}
	return &ir.Const{At: ir.At{T: t, Sp: sp}, Value: constant.UnaryOp(token.SUB, k.Value, 0)}
}

// foldLogic joins two conditions, taking out those that are known.
func foldLogic(op string, x, y ir.Expr, sp source.Span) ir.Expr {
	for _, p := range [][2]ir.Expr{{x, y}, {y, x}} {
		if v, ok := constBool(p[0]); ok {
			if v == (op == "||") {
				return boolConst(v, sp)
			}
			return p[1]
		}
	}
	return &ir.Binary{At: ir.At{T: types.Bool{}, Sp: sp}, Op: op, X: x, Y: y}
}

var tokens = map[string]token.Token{
	"==": token.EQL, "!=": token.NEQ, "<": token.LSS, "<=": token.LEQ, ">": token.GTR, ">=": token.GEQ,
	"+": token.ADD, "-": token.SUB, "*": token.MUL, "/": token.QUO_ASSIGN /* whole */, "&": token.AND, "|": token.OR,
}

func (c *checker) foldCompare(e *syntax.Binary, x, y *ir.Const) ir.Expr {
	if x.Value.Kind() != y.Value.Kind() || x.Value.Kind() == constant.Unknown || !comparable(x.T, y.T) {
		c.mismatched(e.OpSpan, x, y)
		return c.invalid(e.Span())
	}
	if x.Value.Kind() == constant.Bool && e.Op != "==" && e.Op != "!=" {
		c.notANumber(x, "'"+string(e.Op)+"'")
		return c.invalid(e.Span())
	}
	return boolConst(constant.Compare(x.Value, tokens[string(e.Op)], y.Value), e.Span())
}

// foldInts computes with two constants.
func (c *checker) foldInts(e *syntax.Binary, x, y *ir.Const) ir.Expr {
	t := types.Type(types.Untyped{})
	switch e.Op {
	case "&", "|":
		for _, k := range []*ir.Const{x, y} {
			if !plainNumber(k) {
				c.notANumber(k, "'"+string(e.Op)+"'")
				return c.invalid(e.Span())
			}
		}
	default:
		rt := c.arithmeticType(e, x, y)
		switch rt.(type) {
		case types.Invalid:
			return c.invalid(e.Span())
		case types.Duration:
			t = rt
		}
	}
	if e.Op == "/" && constant.Sign(y.Value) == 0 {
		c.divisionByZero(y.Span())
		return c.invalid(e.Span())
	}
	v := constant.BinaryOp(x.Value, tokens[string(e.Op)], y.Value)
	if constant.BitLen(v) > 64 {
		c.badNumber(e.Span(), "the result", "a number of at most 64 bits")
		return c.invalid(e.Span())
	}
	return &ir.Const{At: ir.At{T: t, Sp: e.Span()}, Value: v}
}

// fit gives a constant the type of the value x that it stands opposite, or
// reports that it has no such value. e is nil outside a comparison.
func (c *checker) fit(k *ir.Const, x ir.Expr, e *syntax.Binary) (*ir.Const, bool) {
	at := ir.At{T: x.Type(), Sp: k.Sp}
	switch t := x.Type().(type) {
	case types.Int:
		if s, isText := constString(k); isText {
			return c.fitName(k, s, x, t)
		}
		if _, ok := k.T.(types.Untyped); !ok {
			if _, ok := k.T.(types.Int); !ok {
				break
			}
		}
		if !c.inBounds(k, x) {
			return nil, false
		}
		return &ir.Const{At: at, Value: k.Value}, true
	case types.Pointer:
		if _, isText := constString(k); isText {
			c.stringOfPointer(k.Sp, x)
			return nil, false
		}
		if plainNumber(k) {
			if constant.Sign(k.Value) < 0 {
				c.outOfRange(k, x)
				return nil, false
			}
			return &ir.Const{At: at, Value: k.Value}, true
		}
	case types.Duration:
		if plainNumber(k) && constant.Sign(k.Value) != 0 {
			c.numberForDuration(k, x)
			return nil, false
		}
		if _, ok := k.T.(types.Duration); ok || plainNumber(k) {
			if !c.durationInBounds(k, x, t) {
				return nil, false
			}
			if equality := e == nil || e.Op == "==" || e.Op == "!="; equality && !plainNumber(k) && !constant.Compare(wholeUnits(k.Value, t.Unit), token.EQL, k.Value) {
				c.inexactDuration(k, x, t.Unit)
				return nil, false
			}
			return &ir.Const{At: at, Value: k.Value}, true
		}
	case types.Bool:
		if k.Value.Kind() == constant.Bool {
			return k, true
		}
		if n, ok := constInt(k); ok && (n == 0 || n == 1) && plainNumber(k) {
			return boolConst(n == 1, k.Sp), true
		}
	case types.String:
		s, isText := constString(k)
		if !isText {
			break
		}
		if !c.filterText(k.Sp, s) {
			return nil, false
		}
		return &ir.Const{At: at, Value: k.Value}, true
	case types.Array:
		c.arrayCompared(x, t)
		return nil, false
	}
	sp := k.Sp
	if e != nil {
		sp = e.OpSpan
	}
	c.mismatched(sp, x, k)
	return nil, false
}

// fitName resolves a quoted name of one of x's values.
func (c *checker) fitName(k *ir.Const, name string, x ir.Expr, t types.Int) (*ir.Const, bool) {
	if t.Form == types.Ksym && t.Size == 8 && plainSymbol(name) {
		return k, true // an address within that function
	}
	if t.Names == nil {
		if t.Form == types.Char && len(name) == 1 {
			return typedInt(int64(name[0]), t, k.Sp), true
		}
		c.mismatched(k.Sp, x, k)
		return nil, false
	}
	v, ok := t.Names.Value(name)
	if !ok {
		c.unknownValueName(k.Sp, name, x, t.Names)
		return nil, false
	}
	named := namedConst(t, v, k.Sp)
	named.T = t
	return named, true
}

// inBounds reports a whole constant that x can never be.
func (c *checker) inBounds(k *ir.Const, x ir.Expr) bool {
	least, greatest := types.Bounds(x.Type())
	if constant.Compare(k.Value, token.LSS, constant.MakeInt64(least)) ||
		constant.Compare(k.Value, token.GTR, constant.MakeUint64(greatest)) {
		c.outOfRange(k, x)
		return false
	}
	return true
}

// durationInBounds reports a constant duration that x, which is kept as a whole
// number of its unit, can never be.
func (c *checker) durationInBounds(k *ir.Const, x ir.Expr, t types.Duration) bool {
	least, greatest := types.Bounds(t)
	unit := constant.MakeUint64(t.Unit.NS())
	if constant.Compare(k.Value, token.LSS, constant.BinaryOp(constant.MakeInt64(least), token.MUL, unit)) ||
		constant.Compare(k.Value, token.GTR, constant.BinaryOp(constant.MakeUint64(greatest), token.MUL, unit)) {
		c.durationOutOfRange(k, x, t, greatest)
		return false
	}
	return true
}

// fitBits gives a mask the type of x; all its bits must be x's.
func (c *checker) fitBits(k *ir.Const, x ir.Expr) (*ir.Const, bool) {
	if s, isText := constString(k); isText {
		return c.fitName(k, s, x, x.Type().(types.Int))
	}
	if !plainNumber(k) {
		c.notANumber(k, "'&'")
		return nil, false
	}
	bits := uint64(1)<<(types.Size(x.Type())*8-1)<<1 - 1
	if constant.Sign(k.Value) >= 0 && constant.Compare(k.Value, token.LEQ, constant.MakeUint64(bits)) {
		return &ir.Const{At: ir.At{T: x.Type(), Sp: k.Sp}, Value: k.Value}, true
	}
	if !c.inBounds(k, x) {
		return nil, false
	}
	return &ir.Const{At: ir.At{T: x.Type(), Sp: k.Sp}, Value: k.Value}, true
}

// textConst is a text that the command line gives without quotes.
func textConst(s string, sp source.Span) *ir.Const {
	return &ir.Const{At: ir.At{T: types.String{}, Sp: sp}, Value: constant.MakeString(s)}
}
