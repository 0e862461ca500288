package check

import (
	"fmt"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// expr checks an expression and gives it its type. A wrong one is reported and
// has the invalid type.
func (c *checker) expr(e syntax.Expr, sc *scope) ir.Expr {
	switch e := e.(type) {
	case nil, *syntax.BadExpr:
		return c.invalid(source.NoSpan)
	case *syntax.Ident:
		return sc.name(e)
	case *syntax.Context:
		return sc.context(e, sc.bare(), e.Span())
	case *syntax.Number:
		return c.number(e)
	case *syntax.String:
		return c.text(e, sc)
	case *syntax.Char:
		v, err := e.Value()
		if err != nil {
			c.badNumber(e.Span(), e.Raw, "a character")
			return c.invalid(e.Span())
		}
		return intConst(int64(v), e.Span())
	case *syntax.Selector:
		return c.member(e, sc)
	case *syntax.Index:
		return c.index(e, sc)
	case *syntax.Call:
		return c.call(e, sc)
	case *syntax.Unary:
		return c.unary(e, sc)
	case *syntax.Binary:
		return c.binary(e, sc)
	case *syntax.In:
		return c.in(e, sc)
	case *syntax.Cast:
		t := c.typeOf(e.Type)
		x := c.expr(e.X, sc)
		if types.IsInvalid(t) || types.IsInvalid(x.Type()) {
			return c.invalid(e.Span())
		}
		if to, ok := t.(types.Pointer); ok && to.User && sc.untold(x) {
			x = c.convert(x, types.Int{Size: 8, Form: types.Hex}, x.Span(), e.Type.Span())
		}
		return c.convert(x, t, e.Span(), e.Type.Span())
	case *syntax.Paren:
		return c.expr(e.X, sc)
	}
	panic(fmt.Sprintf("internal error: expression %T", e))
}

// condition checks an expression that must be true or false. `f & M` means
// that one of the bits is set.
func (c *checker) condition(e syntax.Expr, sc *scope) ir.Expr {
	x := c.expr(e, sc)
	return c.truth(x)
}

func (c *checker) truth(x ir.Expr) ir.Expr {
	switch t := x.Type().(type) {
	case types.Bool, types.Invalid:
		return x
	case types.Int:
		if b, ok := x.(*ir.Binary); ok && b.Op == "&" {
			c.likelyMask(b)
			return &ir.Binary{At: ir.At{T: types.Bool{}, Sp: x.Span()}, Op: "!=", X: x, Y: typedInt(0, t, x.Span())}
		}
	}
	c.notACondition(x)
	return c.invalid(x.Span())
}

// index checks `X[I]`: an element of an array, or the I-th value behind a
// pointer. I is a constant: a probe has fixed offsets.
func (c *checker) index(e *syntax.Index, sc *scope) ir.Expr {
	x, i := c.expr(e.X, sc), c.expr(e.I, sc)
	if types.IsInvalid(x.Type()) || types.IsInvalid(i.Type()) {
		return c.invalid(e.Span())
	}
	n, ok := constInt(i)
	if !ok {
		c.indexNotConstant(i)
		return c.invalid(e.Span())
	}
	switch t := x.Type().(type) {
	case types.Array:
		if n < 0 || t.Len > 0 && n >= int64(t.Len) {
			c.indexOutOfRange(i.Span(), n, x, t)
			return c.invalid(e.Span())
		}
		if l, ok := x.(*ir.Load); ok { // an array in memory, not in the record
			off := l.Off + n*int64(types.Size(t.Elem))
			return &ir.Load{At: ir.At{T: behindUser(l.X, t.Elem), Sp: e.Span()}, X: l.X, Off: off}
		}
		return c.load(x, t.Elem, n, e.Span())
	case types.Pointer:
		return c.load(x, t.Elem, n, e.Span())
	case types.String:
		// Of a text whose length differs by record, only the first byte is its own for
		// sure: the next may be behind its end.
		if n >= 0 && n < int64(max(t.Cap, 1)) {
			char := types.Int{Size: 1, Form: types.Char}
			if l, ok := x.(*ir.Load); ok { // a text in memory, not in the record
				return &ir.Load{At: ir.At{T: char, Sp: e.Span()}, X: l.X, Off: l.Off + n}
			}
			return c.load(x, char, n, e.Span())
		}
		if t.Cap > 0 {
			c.indexOutOfRange(i.Span(), n, x, types.Array{Elem: types.Int{Size: 1, Form: types.Char}, Len: t.Cap})
		} else {
			c.behindText(i.Span(), x)
		}
		return c.invalid(e.Span())
	}
	c.notAnArray(x)
	return c.invalid(e.Span())
}

// load makes the value of type elem that is the n-th behind x.
func (c *checker) load(x ir.Expr, elem types.Type, n int64, sp source.Span) ir.Expr {
	if s, ok := elem.(types.Struct); ok && s.Size == 0 {
		if full, err := c.t.Struct(s.Name); err == nil {
			elem = full
		}
	}
	size := types.Size(elem)
	if size == 0 {
		c.unknownPointee(sp, x)
		return c.invalid(sp)
	}
	if n > maxOffset/int64(size) || n < -maxOffset/int64(size) {
		c.indexOutOfRange(sp, n, x, types.Array{Elem: elem})
		return c.invalid(sp)
	}
	return &ir.Load{At: ir.At{T: behindUser(x, elem), Sp: sp}, X: x, Off: n * int64(size)}
}

// maxOffset keeps offsets within what any object has; the kernel itself takes
// a long.
const maxOffset = 1 << 30

func (c *checker) unary(e *syntax.Unary, sc *scope) ir.Expr {
	switch e.Op {
	case "!":
		x := c.condition(e.X, sc)
		if types.IsInvalid(x.Type()) {
			return x
		}
		if k, ok := constBool(x); ok {
			return boolConst(!k, e.Span())
		}
		return &ir.Unary{At: ir.At{T: types.Bool{}, Sp: e.Span()}, Op: "!", X: x}
	case "*":
		x := c.expr(e.X, sc)
		switch t := x.Type().(type) {
		case types.Invalid:
			return x
		case types.Pointer:
			return c.load(x, t.Elem, 0, e.Span())
		}
		if cast, ok := e.X.(*syntax.Cast); ok {
			c.castBeforeStar(e.X.Span(), x, cast)
			return c.invalid(e.Span())
		}
		c.notAPointer(e.X.Span(), x, "'*'")
		return c.invalid(e.Span())
	case "-":
		x := c.expr(e.X, sc)
		if types.IsInvalid(x.Type()) {
			return x
		}
		if !types.Numeric(x.Type()) {
			c.notANumber(x, "'-'")
			return c.invalid(e.Span())
		}
		if k, ok := x.(*ir.Const); ok {
			return negConst(k, e.Span())
		}
		if types.BigEndian(x.Type()) {
			c.networkOrder(x, "'-'")
			return c.invalid(e.Span())
		}
		return &ir.Unary{At: ir.At{T: signedResult(x.Type()), Sp: e.Span()}, Op: "-", X: x}
	}
	panic("internal error: unary " + string(e.Op))
}

// signedResult is the type of -x and of differences: 64 bits, signed.
func signedResult(t types.Type) types.Type {
	if d, ok := t.(types.Duration); ok {
		return types.Duration{Unit: d.Unit, Size: 8, Signed: true}
	}
	return types.Int{Size: 8, Signed: true}
}

func (c *checker) binary(e *syntax.Binary, sc *scope) ir.Expr {
	switch e.Op {
	case "&&", "||":
		x, y := c.condition(e.X, sc), c.condition(e.Y, sc)
		if types.IsInvalid(x.Type()) || types.IsInvalid(y.Type()) {
			return c.invalid(e.Span())
		}
		return foldLogic(string(e.Op), x, y, e.Span())
	}
	x, y := c.sides(e.X, e.Y, sc)
	if types.IsInvalid(x.Type()) || types.IsInvalid(y.Type()) {
		return c.invalid(e.Span())
	}
	if isCPUSet(x.Type()) || isCPUSet(y.Type()) {
		return c.cpuSet(e, x, y)
	}
	switch e.Op {
	case "==", "!=", "<", "<=", ">", ">=":
		return c.compare(e, x, y)
	case "~":
		return c.glob(e, x, y)
	case "&", "|":
		return c.bitwise(e, x, y)
	}
	return c.arithmetic(e, x, y)
}

// sides checks both operands. One that can only be a constant is looked at
// last, with the names of the other's values in view.
func (c *checker) sides(a, b syntax.Expr, sc *scope) (x, y ir.Expr) {
	if c.constantLike(a, sc) && !c.constantLike(b, sc) {
		y = c.expr(b, sc)
		x = c.expr(a, sc.with(c.opposite(y)))
		return x, y
	}
	x = c.expr(a, sc)
	y = c.expr(b, sc.with(c.opposite(x)))
	return x, y
}

// opposite makes x what stands opposite; nil for a constant, which has no names.
func (c *checker) opposite(x ir.Expr) *opposite {
	if _, ok := x.(*ir.Const); ok {
		return nil
	}
	return &opposite{x.Type(), x.Span()}
}

// constantLike reports whether e is made of literals and of names that are no
// fields here.
func (c *checker) constantLike(e syntax.Expr, sc *scope) bool {
	switch e := e.(type) {
	case *syntax.Number, *syntax.String, *syntax.Char:
		return true
	case *syntax.Ident:
		if sc.own != nil {
			return sc.own.Field(e.Text()) == nil
		}
		v := sc.bare()
		if v == nil {
			return true
		}
		if _, isLet := v.lets[e.Text()]; isLet {
			return false
		}
		_, isField := v.lookup(e.Text())
		return !isField
	case *syntax.Paren:
		return c.constantLike(e.X, sc)
	case *syntax.Cast:
		return c.constantLike(e.X, sc)
	case *syntax.Unary:
		return e.Op == "-" && c.constantLike(e.X, sc)
	case *syntax.Binary:
		return c.constantLike(e.X, sc) && c.constantLike(e.Y, sc)
	}
	return false
}

// bitwise checks `x & m` and `a | b`.
func (c *checker) bitwise(e *syntax.Binary, x, y ir.Expr) ir.Expr {
	kx, constX := x.(*ir.Const)
	ky, constY := y.(*ir.Const)
	switch {
	case constX && constY:
		return c.foldInts(e, kx, ky)
	case e.Op == "|":
		c.orOfValues(e, x)
		return c.invalid(e.Span())
	}
	if constX { // m & x is x & m
		x, y, ky, constY = y, x, kx, true
	}
	if _, ok := x.Type().(types.Int); !ok {
		c.notANumber(x, "'&'")
		return c.invalid(e.Span())
	}
	if constY {
		m, ok := c.fitBits(ky, x)
		if !ok {
			return c.invalid(e.Span())
		}
		y = m
	} else if _, ok := y.Type().(types.Int); !ok {
		c.notANumber(y, "'&'")
		return c.invalid(e.Span())
	}
	return &ir.Binary{At: ir.At{T: x.Type(), Sp: e.Span()}, Op: "&", X: x, Y: y}
}

// arithmetic checks + - * /.
func (c *checker) arithmetic(e *syntax.Binary, x, y ir.Expr) ir.Expr {
	kx, constX := x.(*ir.Const)
	ky, constY := y.(*ir.Const)
	if constX && constY {
		return c.foldInts(e, kx, ky)
	}
	for _, v := range []ir.Expr{x, y} {
		if types.BigEndian(v.Type()) {
			c.networkOrder(v, "'"+string(e.Op)+"'")
			return c.invalid(e.Span())
		}
	}
	t := c.arithmeticType(e, x, y)
	if types.IsInvalid(t) {
		return c.invalid(e.Span())
	}
	if e.Op == "/" && constY {
		if n, ok := constInt(ky); ok && n == 0 {
			c.divisionByZero(y.Span())
			return c.invalid(e.Span())
		}
	}
	c.likelyScale(e, x, y)
	return &ir.Binary{At: ir.At{T: t, Sp: e.Span()}, Op: string(e.Op), X: x, Y: y}
}

// arithmeticType returns the type of x op y, reporting what has none.
func (c *checker) arithmeticType(e *syntax.Binary, x, y ir.Expr) types.Type {
	dx, durX := x.Type().(types.Duration)
	dy, durY := y.Type().(types.Duration)
	px, ptrX := x.Type().(types.Pointer)
	numX, numY := plainNumber(x), plainNumber(y)
	signed := types.Signed(x.Type()) || types.Signed(y.Type()) || negative(x) || negative(y)
	switch {
	case durX && durY && (e.Op == "+" || e.Op == "-"):
		// A later event that interrupts may be stamped before the one it follows.
		return types.Duration{Unit: min(dx.Unit, dy.Unit), Size: 8, Signed: dx.Signed || dy.Signed || e.Op == "-"}
	case durX && durY && e.Op == "/":
		return types.Int{Size: 8, Signed: signed}
	case durX && numY && (e.Op == "*" || e.Op == "/"):
		return types.Duration{Unit: dx.Unit, Size: 8, Signed: signed}
	case numX && durY && e.Op == "*":
		return types.Duration{Unit: dy.Unit, Size: 8, Signed: signed}
	case (durX && numY || numX && durY) && (e.Op == "+" || e.Op == "-"):
		c.durationAndNumber(e.OpSpan, e.Op, x, y)
		return types.Invalid{}
	case ptrX && numY && (e.Op == "+" || e.Op == "-"):
		return px
	case numX && numY:
		return types.Int{Size: 8, Signed: signed}
	}
	if cast, ok := e.Y.(*syntax.Cast); ok && !types.Numeric(y.Type()) {
		c.castFirst(e, cast)
		return types.Invalid{}
	}
	for _, v := range []ir.Expr{x, y} {
		if !types.Numeric(v.Type()) {
			c.notANumber(v, "'"+string(e.Op)+"'")
			return types.Invalid{}
		}
	}
	c.mismatched(e.OpSpan, x, y)
	return types.Invalid{}
}

func plainNumber(x ir.Expr) bool {
	switch x.Type().(type) {
	case types.Int, types.Untyped:
		return true
	}
	return false
}

func negative(x ir.Expr) bool {
	n, ok := constInt(x)
	return ok && n < 0
}
