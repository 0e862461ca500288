package lower

import (
	"fmt"
	"go/constant"
	"go/token"
	"math/bits"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// columns finds the field of an event that holds a value as the script means
// it; false if there is none.
type columns func(x ir.Expr) (*column, bool)

// values calls f for each value that a condition tests.
func values(x ir.Expr, f func(ir.Expr)) {
	switch x := x.(type) {
	case *ir.Const:
	case *ir.Unary:
		if x.Op == "!" {
			values(x.X, f)
			return
		}
		f(x)
	case *ir.In:
		f(x.X)
	case *ir.Binary:
		if set, _, ok := cpuSet(x); ok {
			f(set)
			return
		}
		switch x.Op {
		case "&&", "||":
			values(x.X, f)
			values(x.Y, f)
		case "==", "!=", "<", "<=", ">", ">=", "~":
			tested(x.X, f)
			tested(x.Y, f)
		default:
			f(x)
		}
	default:
		f(x)
	}
}

// tested calls f for one side of a comparison: of `v & m`, for v.
func tested(x ir.Expr, f func(ir.Expr)) {
	if _, isConst := x.(*ir.Const); isConst {
		return
	}
	if v, _, ok := masked(x); ok {
		x = v
	}
	f(x)
}

// masked takes `v & m` with a constant m apart.
func masked(x ir.Expr) (v ir.Expr, mask *ir.Const, ok bool) {
	b, isBinary := x.(*ir.Binary)
	if !isBinary || b.Op != "&" {
		return nil, nil, false
	}
	mask, ok = b.Y.(*ir.Const)
	return b.X, mask, ok
}

// uncast takes off casts that change neither width nor sign.
func uncast(x ir.Expr) ir.Expr {
	for {
		c, ok := x.(*ir.Cast)
		if !ok || convertsUnit(c) || types.Size(c.T) != types.Size(c.X.Type()) || types.Signed(c.T) != types.Signed(c.X.Type()) {
			return x
		}
		x = c.X
	}
}

// and joins two conditions, either of which may be nil.
func and(a, b command.Cond) command.Cond {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	var list []command.Cond
	for _, c := range []command.Cond{a, b} {
		if in, ok := c.(*command.And); ok {
			list = append(list, in.List...)
		} else {
			list = append(list, c)
		}
	}
	return &command.And{List: list}
}

// cond makes a filter of a condition, its values found by get. A constant
// condition is nil if it holds. It returns false if no filter can say it, which
// has been reported.
func (l *lowerer) cond(x ir.Expr, get columns) (command.Cond, bool) {
	switch x := x.(type) {
	case *ir.Const:
		panic("internal error: a constant condition that is not folded")
	case *ir.Unary:
		c, ok := l.cond(x.X, get)
		if !ok {
			return nil, false
		}
		return not(c), true
	case *ir.In:
		return l.inSet(x, get)
	case *ir.Binary:
		if set, list, ok := cpuSet(x); ok {
			return l.onCPUs(x, set, list, get)
		}
		switch x.Op {
		case "&&", "||":
			return l.logic(x, get)
		}
		return l.compare(x, get)
	}
	// A truth value by itself.
	c, ok := get(x)
	if !ok {
		l.cannotFilter(x.Span())
		return nil, false
	}
	return &command.Pred{Field: c.name, Op: "!=", Value: command.Value{Text: "0", Span: x.Span()}, Span: x.Span()}, true
}

// not negates a condition.
func not(c command.Cond) command.Cond {
	if n, ok := c.(*command.Not); ok {
		return n.X
	}
	return &command.Not{X: c}
}

func (l *lowerer) logic(x *ir.Binary, get columns) (command.Cond, bool) {
	a, okA := l.cond(x.X, get)
	b, okB := l.cond(x.Y, get)
	if !okA || !okB {
		return nil, false
	}
	if x.Op == "&&" {
		return and(a, b), true
	}
	var list []command.Cond
	for _, c := range []command.Cond{a, b} {
		if in, ok := c.(*command.Or); ok {
			list = append(list, in.List...)
		} else {
			list = append(list, c)
		}
	}
	return &command.Or{List: list}, true
}

// flipped is the operator with its sides exchanged.
var flipped = map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// compare makes a predicate of `value op constant`.
func (l *lowerer) compare(x *ir.Binary, get columns) (command.Cond, bool) {
	v, op, k, ok := sides(x)
	if !ok {
		l.twoValues(x.Sp)
		return nil, false
	}
	if in, mask, ok := masked(v); ok {
		return l.bitTest(x, in, mask, op, k, get)
	}
	c, ok := get(v)
	if !ok {
		l.cannotFilter(v.Span())
		return nil, false
	}
	if d, ok := v.Type().(types.Duration); ok {
		return l.duration(x, c, op, k, d)
	}
	if k.Value.Kind() == constant.String && isKsym(v.Type()) {
		return l.inFunction(x, c, op, k)
	}
	if types.BigEndian(v.Type()) {
		if op != "==" && op != "!=" {
			l.noOrder(x.Sp, v.Type().String())
			return nil, false
		}
	}
	if k.Value.Kind() == constant.Int {
		return c.number(op, &ir.Const{At: k.At, Value: k.Kernel()}, x.Sp), true
	}
	value := constantText(k, v.Type())
	if op == "~" {
		value.Text = glob(value.Text)
	}
	return &command.Pred{Field: c.name, Suffix: c.suffix, Op: op, Value: value, Span: x.Sp}, true
}

// number makes a predicate of a column and a whole number, which is one of the
// script's type: the kernel may have fewer, or order them otherwise.
func (c *column) number(op string, k *ir.Const, sp source.Span) command.Cond {
	if c.signless() {
		return c.ordered(op, bitsOf(k.Value), sp, k.Sp)
	}
	if c.exact {
		op, k = within(op, k, c.size)
	}
	return &command.Pred{Field: c.name, Op: op, Value: constantText(k, c.typ), Span: sp}
}

// always is a condition that each value of a number without sign fulfils, or none.
func (c *column) always(yes bool, sp source.Span) command.Cond {
	op := ">"
	if yes {
		op = "<="
	}
	return &command.Pred{Field: c.name, Op: op, Span: sp, Value: command.Value{Text: fmt.Sprint(greatest(c.size)), Span: sp}}
}

// greatest is the greatest number of size bytes.
func greatest(size int) uint64 { return 1<<(size*8-1)<<1 - 1 }

// within keeps a comparison of a number of size bytes, without sign, with a
// constant as it is meant where that is no such number: the kernel would cut it,
// or refuse one below zero.
func within(op string, k *ir.Const, size int) (string, *ir.Const) {
	most := constant.MakeUint64(greatest(size))
	below, above := constant.Sign(k.Value) < 0, constant.Compare(k.Value, token.GTR, most)
	if !below && !above {
		return op, k
	}
	at := *k
	at.Value = most
	if op == "!=" || below == (op == ">" || op == ">=") && op != "==" {
		return "<=", &at // always
	}
	return ">", &at // never
}

func isKsym(t types.Type) bool {
	i, ok := t.(types.Int)
	return ok && i.Form == types.Ksym
}

// inFunction makes a predicate of an address that lies in a function.
func (l *lowerer) inFunction(x *ir.Binary, c *column, op string, k *ir.Const) (command.Cond, bool) {
	if op != "==" && op != "!=" {
		l.noOrder(x.Sp, "ksym")
		return nil, false
	}
	if !l.need(target.FilterFunction, x.Sp, "tell the function that an address is in") {
		return nil, false
	}
	return &command.Pred{Field: c.name, Suffix: "function", Op: op, Span: x.Sp,
		Value: command.Value{Text: constant.StringVal(k.Value), Span: k.Sp}}, true
}

// cpuSet takes the comparison of a set of CPUs with a constant one apart.
func cpuSet(x *ir.Binary) (set ir.Expr, list *ir.Const, ok bool) {
	list, ok = x.Y.(*ir.Const)
	_, isSet := x.X.Type().(types.Struct)
	return x.X, list, ok && isSet
}

// onCPUs makes a predicate of a set of CPUs.
func (l *lowerer) onCPUs(x *ir.Binary, set ir.Expr, list *ir.Const, get columns) (command.Cond, bool) {
	c, ok := get(set)
	if !ok {
		l.cannotFilter(set.Span())
		return nil, false
	}
	if !l.need(target.FilterCPUs, x.Sp, "test a set of CPUs") {
		return nil, false
	}
	return &command.Pred{Field: c.name, Op: x.Op, Span: x.Sp,
		Value: command.Value{Kind: command.CPUs, Text: constant.StringVal(list.Value), Span: list.Sp}}, true
}

// sides puts the constant of a comparison on the right.
func sides(x *ir.Binary) (v ir.Expr, op string, k *ir.Const, ok bool) {
	if k, ok := x.Y.(*ir.Const); ok {
		return x.X, x.Op, k, true
	}
	if k, ok := x.X.(*ir.Const); ok {
		return x.Y, flipped[x.Op], k, true
	}
	return nil, "", nil, false
}

// constantText spells a constant for a field of type t.
func constantText(k *ir.Const, t types.Type) command.Value {
	v := command.Value{Span: k.Sp}
	switch k.Value.Kind() {
	case constant.String:
		v.Kind, v.Text = command.String, constant.StringVal(k.Value)
	case constant.Bool:
		v.Text = "0"
		if constant.BoolVal(k.Value) {
			v.Text = "1"
		}
	default:
		v.Text = k.Value.ExactString()
		_, pointer := t.(types.Pointer)
		if i, ok := t.(types.Int); ok && i.Form == types.Hex || pointer {
			if n, ok := constant.Uint64Val(k.Value); ok {
				v.Text = fmt.Sprintf("%#x", n)
			}
		}
	}
	return v
}

// duration compares a duration, which the kernel keeps as a whole number of d's
// unit, with a constant in nanoseconds: exactly, whichever way it divides.
func (l *lowerer) duration(x *ir.Binary, c *column, op string, k *ir.Const, d types.Duration) (command.Cond, bool) {
	unit := constant.MakeUint64(d.Unit.NS())
	floor := constant.BinaryOp(k.Value, token.QUO_ASSIGN, unit)
	exact := constant.Compare(constant.BinaryOp(floor, token.MUL, unit), token.EQL, k.Value)
	if !exact && constant.Sign(k.Value) < 0 {
		floor = constant.BinaryOp(floor, token.SUB, constant.MakeInt64(1))
	}
	if !exact {
		switch op {
		case ">", "<=": // v > 1.5 is v > 1
		case ">=": // v >= 1.5 is v > 1
			op = ">"
		case "<": // v < 1.5 is v <= 1
			op = "<="
		default:
			l.inexactDuration(k.Sp, d.Unit)
			return nil, false
		}
	}
	return c.number(op, &ir.Const{At: k.At, Value: floor}, x.Sp), true
}

// ordered compares a column whose sign the kernel does not know with the number
// whose bits are k. What is below zero is above all others for the kernel, so
// both halves of the 64 bits are told apart by a second test.
func (c *column) ordered(op string, k uint64, sp, at source.Span) command.Cond {
	const half = 1 << 63 // the bits of the least number
	pred := func(op string, n uint64) command.Cond {
		return &command.Pred{Field: c.name, Op: op, Span: sp, Value: command.Value{Text: fmt.Sprint(n), Span: at}}
	}
	below, positive := k >= half, pred("<", half)
	negative := pred(">=", half)
	switch op {
	case ">", ">=":
		switch {
		case below:
			return &command.Or{List: []command.Cond{pred(op, k), positive}}
		case op == ">=" && k == 0:
			return positive
		}
		return &command.And{List: []command.Cond{pred(op, k), positive}}
	case "<", "<=":
		switch {
		case below:
			return &command.And{List: []command.Cond{pred(op, k), negative}}
		case op == "<" && k == 0:
			return negative
		}
		return &command.Or{List: []command.Cond{pred(op, k), negative}}
	}
	return pred(op, k)
}

// bitTest makes a condition of `v & mask op k`. The kernel's & asks whether any
// bit of a mask is set.
func (l *lowerer) bitTest(x *ir.Binary, v ir.Expr, mask *ir.Const, op string, k *ir.Const, get columns) (command.Cond, bool) {
	c, ok := get(v)
	if !ok {
		l.cannotFilter(v.Span())
		return nil, false
	}
	if c.name == "CPU" {
		l.bitsOfCPU(x.Sp)
		return nil, false
	}
	size := types.Size(v.Type())
	width := greatest(size)
	m, want := bitsOf(mask.Kernel())&width, bitsOf(k.Kernel())&width
	any := func(m uint64) command.Cond {
		text := fmt.Sprintf("%#x", m)
		if c.signed && int64(m) < 0 { // the kernel reads a signed field's number as signed
			text = fmt.Sprint(int64(m))
		}
		return &command.Pred{Field: c.name, Op: "&", Span: x.Sp, Value: command.Value{Text: text, Span: mask.Sp}}
	}
	if op != "==" && op != "!=" {
		l.orderOfBits(x.Sp)
		return nil, false
	}
	if want&^m != 0 || m == 0 {
		l.impossibleBits(x.Sp)
		return nil, false
	}
	if c.exact { // what lies above the column is not set
		if m &= greatest(c.size); m == 0 || want&^m != 0 {
			return c.always((want == 0) == (op == "=="), x.Sp), true
		}
	}
	equal := equalBits(m, want, any)
	if op == "!=" {
		return not(equal), true
	}
	return equal, true
}

// equalBits is the condition that of m's bits those of want are set and the
// others not.
func equalBits(m, want uint64, any func(uint64) command.Cond) command.Cond {
	var list []command.Cond
	for rest := want; rest != 0; rest &= rest - 1 {
		list = append(list, any(1<<bits.TrailingZeros64(rest)))
	}
	if clear := m &^ want; clear != 0 {
		list = append(list, &command.Not{X: any(clear)})
	}
	if len(list) == 1 {
		return list[0]
	}
	return &command.And{List: list}
}

func bitsOf(v constant.Value) uint64 {
	if n, ok := constant.Uint64Val(v); ok {
		return n
	}
	n, _ := constant.Int64Val(v)
	return uint64(n)
}

// inSet makes a condition of `v in { … }`.
func (l *lowerer) inSet(x *ir.In, get columns) (command.Cond, bool) {
	var list []command.Cond
	for _, r := range x.Set {
		sp := r.Lo.Sp
		one := func(op string, k *ir.Const) ir.Expr {
			return &ir.Binary{At: ir.At{T: types.Bool{}, Sp: source.Join(sp, k.Sp)}, Op: op, X: x.X, Y: k}
		}
		var e ir.Expr
		if r.Hi != nil && types.BigEndian(x.X.Type()) {
			l.noOrder(source.Join(sp, r.Hi.Sp), x.X.Type().String())
			return nil, false
		}
		if r.Hi == nil {
			e = one("==", r.Lo)
		} else {
			e = ir.And(one(">=", r.Lo), one("<=", r.Hi))
		}
		c, ok := l.cond(e, get)
		if !ok {
			return nil, false
		}
		list = append(list, c)
	}
	if len(list) == 1 {
		return list[0], true
	}
	return &command.Or{List: list}, true
}
