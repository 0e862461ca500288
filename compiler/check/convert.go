package check

import (
	"strings"

	"go/constant"
	"go/token"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// typeOf checks a type as written.
func (c *checker) typeOf(e syntax.TypeExpr) types.Type {
	switch e := e.(type) {
	case *syntax.TypeName:
		name := e.Name.Text()
		if t, ok := types.Basic(name); ok {
			return t
		}
		if name == "void" {
			c.voidValue(e.Span())
			return types.Invalid{}
		}
		c.unknownType(e.Span(), name)
	case *syntax.PointerType:
		elem := c.pointee(e.Elem)
		if !types.IsInvalid(elem) {
			return types.Pointer{Elem: elem, User: e.User}
		}
	case *syntax.ArrayType:
		elem := c.typeOf(e.Elem)
		if types.IsInvalid(elem) {
			return elem
		}
		n, unit, err := e.Len.Value()
		if err != nil || unit != "" || n < 1 || n > command.MaxArray {
			c.arrayLength(e.Len.Span(), e.Len.Raw)
			return types.Invalid{}
		}
		if isChar(elem) {
			return types.String{Cap: int(n)}
		}
		if _, ok := elem.(types.Int); !ok {
			c.arrayOf(e.Elem.Span(), elem)
			return types.Invalid{}
		}
		return types.Array{Elem: elem, Len: int(n)}
	}
	return types.Invalid{}
}

// pointee checks what a pointer points to: also void, and structs by name.
func (c *checker) pointee(e syntax.TypeExpr) types.Type {
	n, ok := e.(*syntax.TypeName)
	if !ok {
		return c.typeOf(e)
	}
	name := n.Name.Text()
	if name == "void" {
		return types.Void{}
	}
	if t, ok := types.Basic(name); ok {
		return t
	}
	if near, ok := nearType(name); ok && len(name) <= 4 {
		c.unknownTypeNear(n.Span(), name, near)
		return types.Invalid{}
	}
	return types.Struct{Name: name}
}

// unitInName returns the unit that the name of a field tells: delta_ns.
func unitInName(x ir.Expr) (types.Unit, bool) {
	ref, ok := x.(*ir.FieldRef)
	if !ok {
		return 0, false
	}
	_, word, _ := cutLast(ref.Name, "_")
	switch word {
	case "ns", "nsec", "nsecs":
		return types.NS, true
	case "us", "usec", "usecs":
		return types.US, true
	case "ms", "msec", "msecs":
		return types.MS, true
	}
	return 0, false
}

// cutLast cuts s around the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// untold reports whether x is an argument of a kernel function that is said to
// be an address of the kernel's. It may be the caller's: a compiler without
// btf_type_tag leaves `__user` out of the types.
func (sc *scope) untold(x ir.Expr) bool {
	f, ok := x.(*ir.FieldRef)
	if !ok || f.Stage >= len(sc.stages) {
		return false
	}
	p, ok := sc.stages[f.Stage].stage.Source.(*ir.Probe)
	return ok && (p.Place == ir.AtFunc || p.Place == ir.AtTracepoint)
}

// convert checks `x as t`.
func (c *checker) convert(x ir.Expr, t types.Type, sp, typeAt source.Span) ir.Expr {
	if k, ok := x.(*ir.Const); ok {
		return c.convertConst(k, t, sp, typeAt)
	}
	from := x.Type()
	if from == t {
		return x
	}
	if types.Scalar(from) && types.Scalar(t) && !types.SameWidth(from, t) {
		c.otherWidth(typeAt, c.describe(x), from, t)
		return c.invalid(sp)
	}
	ok := false
	switch to := t.(type) {
	case types.Int:
		switch f := from.(type) {
		case types.Int:
			if to.Names == nil && (to.Form == types.Dec || to.Form == types.Hex) && to.Size == f.Size && to.Form == f.Form {
				to.Names = f.Names
			}
			if to.Form == types.Errno && f.Signed {
				to.Size = f.Size // a result is an error or a number, which nothing is cut of
			}
			t, ok = to, true
		case types.Bool, types.Duration:
			ok = true
		case types.Pointer:
			ok = to.Size == 8
		}
	case types.Bool:
		f, isInt := from.(types.Int)
		ok = isInt && f.Size == 1
		if isInt && !ok {
			c.wideBool(typeAt, x)
			return c.invalid(sp)
		}
	case types.Duration:
		switch f := from.(type) {
		case types.Int:
			if unit, told := unitInName(x); told && unit != to.Unit {
				c.otherUnit(sp, x, unit, to.Unit)
			}
			to.Size, to.Signed = f.Size, f.Signed
			t, ok = to, true
		case types.Duration:
			to.Signed = f.Signed
			t, ok = to, true
		}
	case types.Pointer:
		switch f := from.(type) {
		case types.Pointer:
			ok = true
			if f.User != to.User {
				c.mixedAddressSpace(sp, x, to)
				return c.invalid(sp)
			}
		case types.Int:
			ok = f.Size == 8
			if !ok {
				c.narrowPointer(sp, x, to)
				return c.invalid(sp)
			}
			if b, sum := x.(*ir.Binary); sum && (b.Op == "+" || b.Op == "-") {
				if _, moved := b.Y.(*ir.Const); moved && types.Size(b.X.Type()) == 8 {
					// An address that is moved, which a probe does by itself.
					base := c.convert(b.X, t, b.X.Span(), typeAt)
					return &ir.Binary{At: ir.At{T: t, Sp: sp}, Op: b.Op, X: base, Y: b.Y}
				}
			}
		}
	case types.String:
		switch f := from.(type) {
		case types.String:
			ok = true
			t = f
		case types.Pointer:
			c.strWanted(typeAt, x)
			return c.invalid(sp)
		}
	case types.Array:
		if f, isArray := from.(types.Array); isArray {
			ok = f.Elem == to.Elem && f.Len == to.Len
		}
	}
	if !ok {
		c.cannotConvert(typeAt, x, t)
		return c.invalid(sp)
	}
	return &ir.Cast{At: ir.At{T: t, Sp: sp}, X: x}
}

// convertConst gives a constant a type that it fits.
func (c *checker) convertConst(k *ir.Const, t types.Type, sp, typeAt source.Span) ir.Expr {
	probe := &ir.Const{At: ir.At{T: t, Sp: k.Sp}, Value: k.Value}
	switch t.(type) {
	case types.Int:
		if !plainNumber(k) {
			break
		}
		if _, typed := k.T.(types.Int); typed {
			if !types.SameWidth(k.T, t) {
				c.otherWidth(typeAt, c.describe(k), k.T, t)
				return c.invalid(sp)
			}
			k = &ir.Const{At: k.At, Value: ir.SwapBytes(k.Value, k.T, t)}
		}
		if !c.inBounds(k, probe) {
			return c.invalid(sp)
		}
		return &ir.Const{At: ir.At{T: t, Sp: sp}, Value: k.Value}
	case types.Pointer:
		if plainNumber(k) && constant.Sign(k.Value) >= 0 {
			return &ir.Const{At: ir.At{T: t, Sp: sp}, Value: k.Value}
		}
	case types.Duration:
		if _, ok := k.T.(types.Duration); ok { // rounded down to whole units
			return &ir.Const{At: ir.At{T: t, Sp: sp}, Value: wholeUnits(k.Value, t.(types.Duration).Unit)}
		}
		if plainNumber(k) { // `10 as us` marks a plain number
			d := t.(types.Duration)
			return c.number64(constant.BinaryOp(k.Value, tokens["*"], constant.MakeUint64(d.Unit.NS())), t, sp)
		}
	case types.Bool:
		if k.Value.Kind() == constant.Bool {
			return k
		}
	case types.String:
		if k.Value.Kind() == constant.String {
			return k
		}
	}
	c.cannotConvert(typeAt, k, t)
	return c.invalid(sp)
}

// wholeUnits rounds a number of nanoseconds down to whole units.
func wholeUnits(v constant.Value, u types.Unit) constant.Value {
	unit := constant.MakeUint64(u.NS())
	n := constant.BinaryOp(v, token.QUO_ASSIGN, unit)
	whole := constant.BinaryOp(n, token.MUL, unit)
	if constant.Compare(whole, token.GTR, v) {
		whole = constant.BinaryOp(whole, token.SUB, unit)
	}
	return whole
}

func (c *checker) number64(v constant.Value, t types.Type, sp source.Span) ir.Expr {
	if _, ok := constant.Uint64Val(v); !ok {
		c.badNumber(sp, c.src.Slice(sp), "a duration of less than 585 years")
		return c.invalid(sp)
	}
	return &ir.Const{At: ir.At{T: t, Sp: sp}, Value: v}
}

// assign checks `name: t = x`: what `x as t` takes, for a field of that type.
func (c *checker) assign(x ir.Expr, t types.Type, name *syntax.Ident, typeAt source.Span) ir.Expr {
	if types.IsInvalid(x.Type()) {
		return x
	}
	return c.convert(x, t, x.Span(), typeAt)
}

// copyable reports whether a record can hold a field of another event.
func copyable(t types.Type) bool {
	switch t := t.(type) {
	case types.Struct, types.Void, types.Stack:
		return false
	case types.Array:
		return t.Len != 0 && t.Len <= command.MaxArray && copyableElem(t.Elem)
	}
	return true
}

// copyableElem reports whether a record can hold an array of such elements.
func copyableElem(t types.Type) bool {
	switch t.(type) {
	case types.Int, types.Pointer, types.Bool:
		return true
	}
	return false
}

// storable gives x the type in which a record can hold it, or reports that
// none can.
func (c *checker) storable(x ir.Expr) ir.Expr {
	if isAddress(x) {
		c.addressStored(x.Span())
		return c.invalid(x.Span())
	}
	switch t := x.Type().(type) {
	case types.Untyped:
		k := x.(*ir.Const)
		to := types.Int{Size: 8, Signed: constant.Sign(k.Value) < 0}
		return &ir.Const{At: ir.At{T: to, Sp: k.Sp}, Value: k.Value}
	case types.Struct, types.Void:
		c.notStorable(x, t)
		return c.invalid(x.Span())
	case types.Array:
		if t.Len == 0 || t.Len > command.MaxArray {
			c.arrayNotStorable(x, t)
			return c.invalid(x.Span())
		}
		if !copyableElem(t.Elem) {
			c.notStorable(x, t)
			return c.invalid(x.Span())
		}
	case types.String:
		if k, ok := x.(*ir.Const); ok {
			s, _ := constString(k)
			if why := immediateProblem(s); why != "" {
				c.immediateText(k.Sp, why)
				return c.invalid(k.Sp)
			}
		}
	case types.Bool:
		switch x := x.(type) {
		case *ir.Binary, *ir.Unary, *ir.In:
			c.conditionStored(x.Span())
			return c.invalid(x.Span())
		case *ir.Const:
			v, _ := constBool(x)
			n := int64(0)
			if v {
				n = 1
			}
			return typedInt(n, types.Int{Size: 1}, x.Sp)
		}
	}
	return x
}

// isAddress reports whether x is the address of a variable, which a probe takes
// to read there and not as a value.
func isAddress(x ir.Expr) bool {
	switch x := x.(type) {
	case *ir.Addr:
		return true
	case *ir.Cast:
		return isAddress(x.X)
	}
	return false
}
