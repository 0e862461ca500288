package lower

import (
	"go/constant"
	"math/bits"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// Arithmetic is done by histograms, whose expressions are poor: three operators,
// no parentheses, unsigned division, and a division by a constant that rounds up
// for small dividends (kernel/trace/trace_events_hist.c,
// div_by_mult_and_shift). A variable of the same histogram in an expression is
// replaced by its text. Yet several histograms may sit on one event with the
// same keys; they run in the order of their making, and a later one reads what
// an earlier one computed as a value. So an expression is cut into rounds, each
// a histogram of the last step:
//
//	hist:keys=K:a=x+y,b=common_pid*0+1000     round 1
//	hist:keys=K:c=$a/$b                       round 2: a floor, whatever $a is
//	hist:keys=K:d=$c+1:onmatch(…).trace(…)    round 3
//
// A variable that is read in an expression is unset by that, so a round whose
// forerunner did not run does not run either; a value that is wanted later than
// in the next round is handed on by each. All numbers have 64 bits: fields are
// extended by their sign, and a variable has the width of its leftmost operand,
// so that a 0 is put before a narrower one.

// operand is a value in an expression of round at; 0 is any round.
type operand struct {
	expr command.HistExpr
	at   int
	ops  int  // operators in it
	prec int  // of its last operator: 1 + -, 2 * /, 3 none
	wide bool // its leftmost operand is a u64
	name string
}

// compute makes the histograms of the last step with all variables that the
// computed values need, and returns what each is in the last of them.
func (j *joiner) compute() (results []command.HistExpr, ok bool) {
	last := len(j.rec.steps) - 1
	j.hists = []*command.Hist{j.hist(last)}
	list := j.carried
	if j.watch != nil {
		list = append(list[:len(list):len(list)], j.watch)
	}
	values := make([]*operand, len(list))
	rounds := 1
	for i, v := range list {
		if v.stage != -1 {
			continue
		}
		o, ok := j.eval(v.x)
		if !ok {
			return nil, false
		}
		o.name = v.name
		if !o.wide && o.ops >= command.MaxOperators {
			o = j.store(o)
		}
		values[i] = o
		rounds = max(rounds, o.at)
	}
	results = make([]command.HistExpr, len(list)+1)
	for i, o := range values {
		if o == nil {
			continue
		}
		o = j.lift(o, rounds)
		sp := list[i].x.Span()
		results[i] = o.expr
		switch {
		case !o.wide:
			results[i] = sum(command.HistNum{Span: source.NoSpan}, o.expr, sp)
		case o.ops == 0:
			results[i] = sum(o.expr, command.HistNum{Span: source.NoSpan}, sp)
		}
	}
	j.round(rounds)
	return results, true
}

// round returns the histogram of round n, counted from 1.
func (j *joiner) round(n int) *command.Hist {
	for len(j.hists) < n {
		j.hists = append(j.hists, j.hist(len(j.rec.steps)-1))
	}
	return j.hists[n-1]
}

// sum is x+y, with y put after x's own operators, which bind as tight or
// tighter.
func sum(x, y command.HistExpr, sp source.Span) command.HistExpr {
	if b, ok := y.(*command.HistBinary); ok && (b.Op == '+' || b.Op == '-') {
		// x+(a-b) is (x+a)-b
		return &command.HistBinary{X: sum(x, b.X, sp), Op: b.Op, Y: b.Y, Span: sp}
	}
	return &command.HistBinary{X: x, Op: '+', Y: y, Span: sp}
}

// store computes o in its round and returns the variable, which the next round
// reads.
func (j *joiner) store(o *operand) *operand {
	at := max(o.at, 1)
	name := j.l.names.variable(j.rec.ev.Name, o.name+"_r"+itoa(at))
	expr, wide := o.expr, o.wide
	if !wide && o.ops < command.MaxOperators {
		expr, wide = sum(command.HistNum{Span: source.NoSpan}, expr, source.NoSpan), true
	}
	if _, ref := expr.(command.HistRef); ref {
		// A mere name would not be unset by being read.
		expr = sum(expr, command.HistNum{Span: source.NoSpan}, source.NoSpan)
	}
	h := j.round(at)
	h.Vars = append(h.Vars, command.HistVar{Name: name, Expr: expr, Span: source.NoSpan})
	return &operand{expr: command.HistRef{Name: name, Span: source.NoSpan}, at: at + 1, prec: 3, wide: wide, name: o.name}
}

// lift hands o on until round at.
func (j *joiner) lift(o *operand, at int) *operand {
	for o.at != 0 && o.at < at {
		o = j.store(o)
	}
	return o
}

// eval makes an operand of x.
func (j *joiner) eval(x ir.Expr) (*operand, bool) {
	sp := x.Span()
	switch v := x.(type) {
	case *ir.Const:
		n, ok := constant.Uint64Val(v.Kernel())
		if !ok {
			// A number below zero is written as its 64 bits: 0-3 would be two
			// numbers, of which the kernel makes one when it is read back.
			below, fits := constant.Int64Val(v.Value)
			if !fits {
				j.l.cannotCompute(sp)
				return nil, false
			}
			n = uint64(below)
		}
		return &operand{expr: command.HistNum{N: n, Span: sp}, prec: 3, wide: true, name: "n"}, true
	case *ir.FieldRef, *ir.Context:
		return j.leaf(x)
	case *ir.Cast:
		return j.cast(v)
	case *ir.Unary:
		if v.Op == "-" {
			o, ok := j.eval(v.X)
			if !ok {
				return nil, false
			}
			zero := &operand{expr: command.HistNum{Span: sp}, prec: 3, wide: true, name: o.name}
			return j.combine(zero, '-', o, sp), true
		}
	case *ir.Binary:
		if arithmetic(v) || types.Type(v.T) != nil && isPointer(v.T) {
			return j.binary(v)
		}
	}
	j.l.cannotCompute(sp)
	return nil, false
}

func isPointer(t types.Type) bool { _, ok := t.(types.Pointer); return ok }

// leaf is a value of a step: a field of the event at hand, or a variable that
// the first step keeps.
func (j *joiner) leaf(x ir.Expr) (*operand, bool) {
	last := len(j.rec.steps) - 1
	if _, text := x.Type().(types.String); text || !types.Scalar(x.Type()) {
		j.l.cannotCompute(x.Span())
		return nil, false
	}
	wide := types.Size(x.Type()) == 8 && !types.Signed(x.Type())
	if ref, ok := uncast(x).(*ir.FieldRef); ok {
		c := j.rec.steps[ref.Stage].on.column(ref.Name)
		wide = c.size == 8 && !c.signed
	}
	if stageIn(x, last) {
		return &operand{expr: j.fieldOf(x), prec: 3, wide: wide, name: label(x)}, true
	}
	return &operand{expr: command.HistRef{Name: j.leafVariable(x), Span: x.Span()}, at: 1, prec: 3, wide: wide, name: label(x)}, true
}

// cast is a conversion within arithmetic: of a duration's unit, or one that
// keeps the number.
func (j *joiner) cast(x *ir.Cast) (*operand, bool) {
	o, ok := j.eval(x.X)
	if !ok {
		return nil, false
	}
	if convertsUnit(x) {
		from, to := x.X.Type().(types.Duration).Unit.NS(), x.T.(types.Duration).Unit.NS()
		if from > to {
			return j.times(o, from/to, x.Sp)
		}
		if types.Signed(x.X.Type()) {
			return j.floorBy(o, to/from, x.Sp)
		}
		return j.divideBy(o, to/from, x.Sp)
	}
	if types.Size(x.T) < types.Size(x.X.Type()) {
		j.l.narrowing(x.Sp)
		return nil, false
	}
	return o, true
}

// binary makes x op y, with durations in the unit of the result.
func (j *joiner) binary(x *ir.Binary) (*operand, bool) {
	a, okA := j.inUnit(x.X, x)
	b, okB := j.inUnit(x.Y, x)
	if !okA || !okB {
		return nil, false
	}
	if x.Op != "/" {
		if x.Op == "*" && !j.l.need(target.HistArithmetic, x.Sp, "multiply") {
			return nil, false
		}
		return j.combine(a, x.Op[0], b, x.Sp), true
	}
	n, byConst := b.expr.(command.HistNum)
	switch {
	case !nonNegative(x.X) && byConst:
		return j.floorBy(a, n.N, x.Sp)
	case !nonNegative(x.X) || !nonNegative(x.Y):
		j.l.signedDivision(x.Sp)
		return nil, false
	}
	if byConst {
		return j.divideBy(a, n.N, x.Sp)
	}
	if !j.l.need(target.HistArithmetic, x.Sp, "divide") {
		return nil, false
	}
	return j.combine(a, '/', b, x.Sp), true
}

// nonNegative reports whether x is a constant that is not below zero, or of a
// type without a sign.
func nonNegative(x ir.Expr) bool {
	if k, ok := x.(*ir.Const); ok {
		return constant.Sign(k.Value) >= 0
	}
	return !types.Signed(x.Type())
}

// inUnit evaluates a side of an operator. Sums, differences and ratios of
// durations are of the finer unit.
func (j *joiner) inUnit(x ir.Expr, of *ir.Binary) (*operand, bool) {
	d, ok := x.Type().(types.Duration)
	if !ok {
		return j.eval(x)
	}
	unit := d.Unit
	dx, okX := of.X.Type().(types.Duration)
	dy, okY := of.Y.Type().(types.Duration)
	if okX && okY {
		unit = min(dx.Unit, dy.Unit)
	}
	if k, ok := x.(*ir.Const); ok { // kept in nanoseconds
		n, exact := constant.Uint64Val(k.Value)
		if !exact {
			return j.eval(x)
		}
		return &operand{expr: command.HistNum{N: n / unit.NS(), Span: k.Sp}, prec: 3, wide: true, name: "n"}, true
	}
	o, good := j.eval(x)
	if !good || d.Unit == unit {
		return o, good
	}
	return j.times(o, d.Unit.NS()/unit.NS(), x.Span())
}

// times is o multiplied by a constant.
func (j *joiner) times(o *operand, n uint64, sp source.Span) (*operand, bool) {
	if !j.l.need(target.HistArithmetic, sp, "multiply") {
		return nil, false
	}
	return j.combine(o, '*', &operand{expr: command.HistNum{N: n, Span: sp}, prec: 3, wide: true, name: "n"}, sp), true
}

// floorBy is divideBy of a number that may be below zero: it is made positive by
// the greatest multiple of the divisor up to 2^63 first. That is exact for all
// numbers of 64 bits save the lowest, as many as 2^63 is above that multiple.
func (j *joiner) floorBy(o *operand, n uint64, sp source.Span) (*operand, bool) {
	if n == 1 {
		return o, true
	}
	times := uint64(1) << 63 / n
	number := func(n uint64) *operand {
		return &operand{expr: command.HistNum{N: n, Span: sp}, prec: 3, wide: true, name: "n"}
	}
	q, ok := j.divideBy(j.combine(o, '+', number(times*n), sp), n, sp)
	if !ok {
		return nil, false
	}
	return j.combine(q, '-', number(times), sp), true
}

// divideBy is the floor of o by a constant. The kernel shifts for a power of
// two, which is exact; any other divisor is put into a variable, by which it
// truly divides.
func (j *joiner) divideBy(o *operand, n uint64, sp source.Span) (*operand, bool) {
	if !j.l.need(target.HistArithmetic, sp, "divide") {
		return nil, false
	}
	d := &operand{expr: command.HistNum{N: n, Span: sp}, prec: 3, wide: true, name: "by" + uitoa(n)}
	if bits.OnesCount64(n) != 1 {
		d.expr = &command.HistBinary{Op: '+', Span: sp, Y: d.expr,
			X: &command.HistBinary{X: command.HistField{Name: "common_pid", Span: sp}, Op: '*', Y: command.HistNum{Span: sp}, Span: sp}}
		d.ops, d.prec, d.wide, d.at = 2, 1, false, 1
		d = j.store(d)
	}
	return j.combine(o, '/', d, sp), true
}

// combine makes a op b in one round, storing what does not fit into one
// expression first.
func (j *joiner) combine(a *operand, op byte, b *operand, sp source.Span) *operand {
	prec := 1
	if op == '*' || op == '/' {
		prec = 2
	}
	// Without parentheses, the left side must bind as tight, the right tighter.
	if a.prec < prec {
		a = j.store(a)
	}
	if b.prec <= prec {
		b = j.store(b)
	}
	for a.ops+b.ops+1 > command.MaxOperators {
		if a.ops >= b.ops {
			a = j.store(a)
		} else {
			b = j.store(b)
		}
	}
	at := max(a.at, b.at)
	a, b = j.lift(a, at), j.lift(b, at)
	for _, o := range []*operand{a, b} {
		if ref, ok := o.expr.(command.HistRef); ok && at <= 1 && ref.Name != "" && len(j.rec.steps) > 1 {
			j.usedUp = true
		}
	}
	name := a.name
	if name == "n" {
		name = b.name
	}
	return &operand{expr: &command.HistBinary{X: a.expr, Op: op, Y: b.expr, Span: sp}, at: at, ops: a.ops + b.ops + 1, prec: prec, wide: a.wide, name: name}
}
