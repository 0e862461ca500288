package lower

import (
	"slices"
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/types"
)

func itoa(n int) string { return strconv.Itoa(n) }

// divide splits each field and condition into what the synthetic event carries
// and what is left to do on it.
func (j *joiner) divide() (late []*ir.Field, having []ir.Expr, ok bool) {
	ok = true
	for _, f := range j.rec.fields {
		x, good := j.left(f.Value, f.Name)
		ok = ok && good
		n := *f
		n.Value = x
		late = append(late, &n)
	}
	for _, h := range j.rec.having {
		x, good := j.left(h, "")
		ok = ok && good
		having = append(having, x)
	}
	return late, having, ok
}

// left returns what remains of x when the synthetic event carries its values:
// an expression over that event. name is the field's, if x is all of it.
func (j *joiner) left(x ir.Expr, name string) (ir.Expr, bool) {
	switch x.(type) {
	case *ir.Const, *ir.Addr: // the same to every event
		return x, true
	}
	if c, ok := j.carry(x, name); ok {
		return &ir.FieldRef{At: ir.At{T: c.typ, Sp: x.Span()}, Name: c.name}, true
	}
	one := func(in ir.Expr, wrap func(ir.Expr) ir.Expr) (ir.Expr, bool) {
		v, ok := j.left(in, "")
		if !ok {
			return x, false
		}
		return wrap(v), true
	}
	switch x := x.(type) {
	case *ir.Str:
		return one(x.X, func(v ir.Expr) ir.Expr { return &ir.Str{At: x.At, X: v, Max: x.Max} })
	case *ir.Load:
		if _, ok := x.X.Type().(types.Pointer); ok {
			return one(x.X, func(v ir.Expr) ir.Expr { return &ir.Load{At: x.At, X: v, Off: x.Off} })
		}
	case *ir.Cast:
		// What the kernel shows alike needs no probe. Beside a stack, which no probe
		// hands on, the number alone must do: how it is shown the reader knows.
		if in := uncast(x); in != ir.Expr(x) && (shownPlain(x.T) || slices.ContainsFunc(j.rec.fields, hasStack)) {
			if c, ok := j.carry(in, name); ok {
				return &ir.FieldRef{At: x.At, Name: c.name}, true
			}
		}
		return one(x.X, func(v ir.Expr) ir.Expr { return &ir.Cast{At: x.At, X: v} })
	case *ir.Bits:
		return one(x.X, func(v ir.Expr) ir.Expr { return &ir.Bits{At: x.At, X: v, Offset: x.Offset, Width: x.Width} })
	case *ir.Unary:
		if x.Op == "!" {
			return one(x.X, func(v ir.Expr) ir.Expr { return &ir.Unary{At: x.At, Op: x.Op, X: v} })
		}
	case *ir.In:
		return one(x.X, func(v ir.Expr) ir.Expr { return &ir.In{At: x.At, X: v, Set: x.Set} })
	case *ir.Binary:
		if !arithmetic(x) {
			a, okA := j.left(x.X, "")
			b, okB := j.left(x.Y, "")
			return &ir.Binary{At: x.At, Op: x.Op, X: a, Y: b}, okA && okB
		}
	}
	if isStack(x) {
		j.l.cannotCarryStack(x.Span())
		return x, false
	}
	j.l.cannotCarry(x.Span())
	return x, false
}

// shownPlain reports whether the kernel shows values of t as it does plain numbers.
func shownPlain(t types.Type) bool {
	switch t := t.(type) {
	case types.Int:
		return t.Form != types.Hex && t.Form != types.Ksym && t.Form != types.Char
	case types.Duration:
		return true
	}
	return false
}

// arithmetic reports whether x computes a number that a histogram must compute:
// not a condition or a test of bits, nor an address with a constant added,
// which a probe reads behind by itself.
func arithmetic(x *ir.Binary) bool {
	switch x.Op {
	case "+", "-":
		if _, pointer := x.T.(types.Pointer); pointer {
			_, _, constant := offset(x)
			return !constant
		}
		return true
	case "*", "/":
		return true
	}
	return false
}

// carry makes the synthetic event carry x, if a histogram can keep or compute
// it.
func (j *joiner) carry(x ir.Expr, name string) (*carried, bool) {
	c := carried{x: x, column: column{typ: x.Type(), size: types.Size(x.Type()), signed: types.Signed(x.Type())}}
	switch v := x.(type) {
	case *ir.FieldRef:
		c.stage = v.Stage
		if isStack(x) {
			return nil, false
		}
		col := j.rec.steps[v.Stage].on.column(v.Name)
		if !col.kept() {
			return nil, false
		}
		if col.size != 0 {
			c.size, c.signed = col.size, col.signed
		}
	case *ir.Context:
		c.stage = v.Stage
	default:
		if !computed(x) {
			return nil, false
		}
		c.stage = -1
		c.size, c.signed = 8, false
	}
	switch t := x.Type().(type) {
	case types.Array, types.Struct, types.Void:
		return nil, false
	case types.String:
		c.size = 0
		c.typ = types.String{Cap: t.Cap}
		if t.Cap == 0 && (len(j.rec.ev.Stages) > 1 || slices.ContainsFunc(j.rec.fields, hasStack)) && j.mayBeLong(x) {
			j.l.textCut(x.Span())
		}
	}
	key := x.String()
	if old, ok := j.byKey[key]; ok && (name == "" || old.name == name) {
		return old, true
	}
	if name == "" {
		name = label(x)
		for j.fields[name] || j.labels[name] {
			name += "_"
		}
	}
	c.name = j.labels.unique(name)
	if _, ok := j.byKey[key]; !ok {
		j.byKey[key] = &c
	}
	j.carried = append(j.carried, &c)
	return &c, true
}

// mayBeLong reports whether a text that a histogram is to carry may be longer than
// it keeps (STR_VAR_LEN_MAX, 256 with the NUL): one of a program, or a path.
func (j *joiner) mayBeLong(x ir.Expr) bool {
	ref, ok := x.(*ir.FieldRef)
	if !ok {
		return false
	}
	if strings.Contains(ref.Name, "filename") || strings.Contains(ref.Name, "path") {
		return true
	}
	return j.rec.steps[ref.Stage].on.column(ref.Name).kernel == "ustring"
}

// computed reports whether x is arithmetic, or a duration in another unit.
func computed(x ir.Expr) bool {
	switch x := x.(type) {
	case *ir.Binary:
		return arithmetic(x)
	case *ir.Unary:
		return x.Op == "-"
	case *ir.Cast:
		return convertsUnit(x)
	}
	return false
}
