package lower

import (
	"go/constant"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/types"
)

// What a probe can read by itself, and what takes a histogram or a second event.

// fetchable reports whether one probe can read all values that a recipe of one
// step wants. Time, thread and CPU are in no probe's reach, nor is arithmetic.
func fetchable(rec *recipe) bool {
	ok := true
	for _, f := range rec.fields {
		ok = ok && canFetch(f.Value) && !rec.steps[0].widens(f.Value)
	}
	for _, w := range rec.steps[0].where {
		ok = ok && canTest(w) && !rec.steps[0].widens(w)
	}
	return ok
}

// widens reports whether x widens a number with a sign that the step has in a
// register or a word of it: what is above the number's own bits there is not its
// sign, and a probe can only take more of them.
func (s *step) widens(x ir.Expr) bool {
	found := false
	ir.Visit(x, func(x ir.Expr) bool {
		c, ok := x.(*ir.Cast)
		if ok && types.Signed(c.X.Type()) && types.Size(c.T) > types.Size(c.X.Type()) && s.hasMore(c.X) {
			found = true
		}
		return !found
	})
	return found
}

// hasMore reports whether the step has x, as it is, in a place with more bits,
// which may be anything: in a register, or as an argument of a call, which the
// kernel's event keeps as a whole word.
func (s *step) hasMore(x ir.Expr) bool {
	if s.probe != nil {
		return inRegister(x)
	}
	for {
		switch in := x.(type) {
		case *ir.Early:
			x = in.X
			continue
		case *ir.Cast:
			if types.Size(in.T) == types.Size(in.X.Type()) {
				x = in.X
				continue
			}
		case *ir.FieldRef:
			if s.on == nil {
				return false
			}
			c := s.on.column(in.Name)
			return c != nil && c.size > types.Size(in.T) && !c.exact
		}
		return false
	}
}

// inRegister reports whether a probe has x as a register's part.
func inRegister(x ir.Expr) bool {
	switch x := x.(type) {
	case *ir.FieldRef:
		return true
	case *ir.Context:
		return x.Kind == ir.Ret || x.Kind == ir.Arg || x.Kind == ir.Reg || x.Kind == ir.StackWord
	case *ir.Early:
		return inRegister(x.X)
	case *ir.Cast:
		return types.Size(x.T) == types.Size(x.X.Type()) && inRegister(x.X)
	}
	return false
}

// widenedLoad is unsignedWidened for a number that is read from memory, which
// any probe may do.
func widenedLoad(x ir.Expr) ir.Expr {
	if c, ok := x.(*ir.Cast); ok {
		if _, read := c.X.(*ir.Load); read {
			return asBits(x)
		}
	}
	return x
}

// unsignedWidened makes bits of a number without sign that the step has among more
// and that is widened: what is above it may be anything.
func (s *step) unsignedWidened(x ir.Expr) ir.Expr {
	if c, ok := x.(*ir.Cast); ok && s.hasMore(c.X) {
		return asBits(x)
	}
	return x
}

// asBits makes the widening of a number without sign a reading of its bits.
func asBits(x ir.Expr) ir.Expr {
	c, ok := x.(*ir.Cast)
	if !ok || types.Signed(c.X.Type()) || types.Size(c.T) <= types.Size(c.X.Type()) || convertsUnit(c) {
		return x
	}
	n := types.Size(c.X.Type())
	if n == 0 {
		return x
	}
	return &ir.Cast{At: c.At, X: &ir.Bits{At: ir.At{T: types.Int{Size: types.Size(c.T)}, Sp: c.X.Span()}, X: c.X, Width: n * 8}}
}

// canFetch reports whether a probe can read x when its event fires.
func canFetch(x ir.Expr) bool {
	switch x := x.(type) {
	case *ir.FieldRef, *ir.Const:
		return true
	case *ir.Context:
		switch x.Kind {
		case ir.Comm, ir.Reg, ir.StackWord, ir.Arg, ir.Ret:
			return true
		}
	case *ir.Str:
		return canFetchAddress(x.X)
	case *ir.Load:
		return inMemory(x.X) && canFetchAddress(x.X)
	case *ir.Cast:
		return castable(x) && canFetch(x.X)
	case *ir.Bits:
		_, isBits := uncast(x.X).(*ir.Bits)
		return canFetch(x.X) && !isBits
	case *ir.Early:
		return canFetch(x.X)
	}
	return false
}

// canFetchAddress is canFetch of what is read behind: a constant may be added.
func canFetchAddress(x ir.Expr) bool {
	base, _, _ := offset(x)
	return variable(base) != nil || canFetch(base)
}

// variable returns the kernel's variable that x is the address of, nil if it is
// none.
func variable(x ir.Expr) *ir.Addr {
	for {
		switch v := x.(type) {
		case *ir.Addr:
			return v
		case *ir.Cast:
			x = v.X
		default:
			return nil
		}
	}
}

// offset takes a pointer apart that a constant is added to.
func offset(x ir.Expr) (base ir.Expr, off int64, ok bool) {
	if c, isCast := x.(*ir.Cast); isCast && isPointer(c.T) && isPointer(c.X.Type()) {
		if base, off, ok := offset(c.X); ok {
			return base, off, true
		}
		return x, 0, false
	}
	b, isBinary := x.(*ir.Binary)
	if !isBinary || b.Op != "+" && b.Op != "-" {
		return x, 0, false
	}
	k, isConst := b.Y.(*ir.Const)
	if !isConst {
		return x, 0, false
	}
	n, exact := constant.Int64Val(k.Value)
	if !exact || n == -1<<63 {
		return x, 0, false
	}
	if b.Op == "-" {
		n = -n
	}
	if inner, more, ok := offset(b.X); ok {
		return inner, n + more, true
	}
	return b.X, n, true
}

// canTest reports whether each value that a condition tests can be read.
func canTest(x ir.Expr) bool {
	ok := true
	values(x, func(v ir.Expr) {
		if ctx, isContext := uncast(v).(*ir.Context); isContext {
			if _, common := filterContext(ctx); common {
				return
			}
		}
		ok = ok && canFetch(v)
	})
	return ok
}

// inMemory reports whether there is something behind x for a probe: x is a
// pointer, or lies in the record itself. The text of a thread's name and what a
// probe has read are not there to be read again.
func inMemory(x ir.Expr) bool {
	if _, pointer := x.Type().(types.Pointer); pointer {
		return true
	}
	for {
		switch in := x.(type) {
		case *ir.Early:
			x = in.X
		case *ir.Cast:
			x = in.X
		case *ir.FieldRef:
			return true
		default:
			return false
		}
	}
}

// castable reports whether a probe can read x.X as x.T by its type alone. A
// probe reads a value once and keeps the low bytes that its type has; so it
// cannot widen what it must narrow first, nor what lies in memory with fewer
// bytes.
func castable(x *ir.Cast) bool {
	if convertsUnit(x) {
		return false
	}
	to := types.Size(x.T)
	in := x.X
	for {
		switch v := in.(type) {
		case *ir.Early:
			in = v.X
			continue
		case *ir.Load:
			return to <= types.Size(v.T)
		case *ir.Bits:
			return holdsBits(x.T, v)
		case *ir.Cast:
			if to > types.Size(v.T) && !keepsValue(v) {
				return false
			}
			in = v.X
			continue
		}
		return true
	}
}

// holdsBits reports whether a value of type t is as the bits b are.
func holdsBits(t types.Type, b *ir.Bits) bool {
	if types.Signed(b.T) {
		return t == b.T
	}
	n := types.Size(t) * 8
	return b.Width < n || b.Width == n && !types.Signed(t)
}

// keepsValue reports whether a cast changes no value.
func keepsValue(x *ir.Cast) bool {
	from, to := x.X.Type(), x.T
	switch {
	case types.Signed(from) == types.Signed(to):
		return types.Size(to) >= types.Size(from)
	case types.Signed(to):
		return types.Size(to) > types.Size(from)
	}
	return false
}

// convertsUnit reports whether a cast changes the number: a duration's unit.
func convertsUnit(x *ir.Cast) bool {
	from, okFrom := x.X.Type().(types.Duration)
	to, okTo := x.T.(types.Duration)
	return okFrom && okTo && from.Unit != to.Unit
}
