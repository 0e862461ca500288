package lower

import (
	"go/constant"
	"slices"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// An event that is emitted on a maximum or a change is a histogram too: keyed by
// what it is said to be per, or else by the one value that is the same for all
// records of an event, its type. Its handler, onmax or onchange, compares a
// variable with what it was when it last acted, as a number without a sign.
//
//	hist:keys=K:m=E:v=…:onmax($m).trace(S,$v,…)

// emitOn makes a recipe whose event is emitted on a maximum or a change. What is
// made of several steps first becomes an event that happens each time, with its
// having.
func (l *lowerer) emitOn(rec *recipe) *record {
	last := len(rec.steps) - 1
	for _, f := range rec.fields {
		if stage, ok := stackStage(f.Value); ok && stage < last {
			return l.emitWithStack(rec, f.Value)
		}
	}
	// What must be computed to be tested is tested before the maximum too.
	if last > 0 || rec.steps[0].on == nil || len(rec.having) > 0 || slices.ContainsFunc(rec.steps[0].where, rec.steps[0].cannotTest) {
		if !l.eachTime(rec) {
			return nil
		}
	}
	// The keys that the histogram is found by are what the event is per.
	rec.steps[0].keys = nil
	for _, p := range rec.emit.Per {
		rec.steps[0].keys = append(rec.steps[0].keys, ir.Key{Right: p, Span: p.Span()})
	}
	if !l.fromNothing(rec) {
		return nil
	}
	return l.join(rec)
}

// fromNothing sees to the first value of all, which exceeds and differs from
// nothing, and to the order of numbers with a sign. The kernel starts with 0
// (trace_events_hist.c, the variables __max and __change of a new entry), so that a
// first 0 would not be emitted: what it compares is moved up. 64 bits leave no
// number that is nobody's, so one is chosen that hardly occurs: the least where
// there is a sign, else unlikely. A maximum without a sign keeps its 0, for every
// other would upset the order. Kernels before v5.16 have no numbers in expressions
// and keep their 0; a maximum with a sign they have not.
func (l *lowerer) fromNothing(rec *recipe) bool {
	x := rec.emit.Value
	_, fixed := x.(*ir.Const)
	_, duration := x.Type().(types.Duration)
	signed := types.Signed(x.Type())
	full := types.Size(x.Type()) == 8 && !duration && !signed
	switch {
	case fixed || full && rec.emit.Max:
		return true
	case signed && rec.emit.Max && !l.need(target.HistArithmetic, x.Span(), "find a maximum of numbers with a sign"):
		return false
	case !l.t.Has(target.HistArithmetic):
		return true
	}
	up := uint64(1)
	switch {
	case signed:
		up = 1 << 63
	case full:
		up = 1<<64 - unlikely
	}
	at := ir.At{T: types.Int{Size: 8}, Sp: x.Span()}
	e := *rec.emit
	e.Value = &ir.Binary{At: at, Op: "+", X: x, Y: &ir.Const{At: at, Value: constant.MakeUint64(up)}}
	rec.emit = &e
	return true
}

// unlikely is a number of 64 bits that is neither an address, a size, a time, nor
// a few bits or all of them.
const unlikely = 0x6d2f_9b41_c853_e7a5

// cannotTest reports whether no probe of the step tests a condition.
func (s *step) cannotTest(w ir.Expr) bool { return !canTest(w) || s.widens(w) }

// eachTime puts a recipe on a hidden event that happens each time and has all
// values that the recipe takes of its steps.
func (l *lowerer) eachTime(rec *recipe) bool {
	ev := &ir.Event{Name: l.names.hidden(rec.ev, "each"), Span: rec.ev.Span, Whole: rec.ev.Whole, Stages: rec.ev.Stages, Size: rec.ev.Size}
	inner := &recipe{ev: ev, steps: rec.steps, having: rec.having}
	values := map[string]*ir.FieldRef{}
	labels := labels{}
	last := len(rec.steps) - 1
	take := func(x ir.Expr) {
		if stage, ok := stackStage(x); ok && stage == last {
			return // the same, when the hidden event happens
		}
		key := x.String()
		if values[key] == nil {
			name := labels.unique(label(x))
			inner.fields = append(inner.fields, &ir.Field{Name: name, Span: x.Span(), Type: x.Type(), Value: x})
			values[key] = &ir.FieldRef{At: ir.At{T: x.Type(), Sp: x.Span()}, Name: name}
		}
	}
	rec.values(func(x ir.Expr) {
		ir.Visit(x, func(x ir.Expr) bool {
			switch x := x.(type) {
			case *ir.FieldRef, *ir.Context, *ir.Early:
				take(x)
				return false
			case *ir.Load:
				if inRecord(x) {
					take(x)
					return false
				}
			}
			return true
		})
	})
	// What having computes is a field too, so that it is tested there and needs
	// no probe on the hidden event.
	if last == 0 {
		inner.steps[0].where, inner.having = splitTestable(&inner.steps[0], inner.having)
	}
	for _, h := range inner.having {
		ir.Visit(h, func(x ir.Expr) bool {
			if computed(x) || isStepValue(x) {
				take(x)
				return false
			}
			return true
		})
	}
	if last == 0 { // one happening is never used up
		inner.steps[0].where, inner.having = append(inner.steps[0].where, inner.having...), nil
	}
	r := l.build(inner)
	if r == nil {
		return false
	}
	rec.steps = []step{{on: r, span: rec.ev.Span}}
	rec.having = nil
	rec.rewrite(func(x ir.Expr) ir.Expr {
		return ir.Replace(x, func(x ir.Expr) ir.Expr {
			if ref := values[x.String()]; ref != nil {
				return &ir.FieldRef{At: ir.At{T: ref.T, Sp: x.Span()}, Name: ref.Name}
			}
			if stage, ok := stackStage(x); ok && stage == last {
				return stackOf(0, x)
			}
			return nil
		})
	})
	return true
}

// emitWithStack makes a recipe whose event has the stack of its first step, which
// no hidden event can hand on (stack.go). Without the stack it becomes a hidden
// event that is emitted on the maximum or the change; that is joined with the
// first step again, by the same keys, at the moment at which both were joined:
// it finds the same one.
func (l *lowerer) emitWithStack(rec *recipe, stack ir.Expr) *record {
	if len(rec.steps) != 2 {
		l.cannotCarryStack(stack.Span())
		return nil
	}
	ev := &ir.Event{Name: l.names.hidden(rec.ev, "top"), Span: rec.ev.Span, Whole: rec.ev.Whole, Stages: rec.ev.Stages, Size: rec.ev.Size}
	top := &recipe{ev: ev, steps: slices.Clone(rec.steps), emit: rec.emit, having: rec.having}
	labels := labels{}
	take := func(base string, x ir.Expr, t types.Type) ir.Expr {
		name := labels.unique(base)
		top.fields = append(top.fields, &ir.Field{Name: name, Span: x.Span(), Type: t, Value: x})
		return &ir.FieldRef{At: ir.At{T: t, Sp: x.Span()}, Stage: 1, Name: name}
	}
	end := step{span: rec.ev.Span}
	for _, k := range rec.steps[1].keys {
		end.keys = append(end.keys, ir.Key{Left: k.Left, Right: take(label(k.Right), k.Right, k.Right.Type()), Span: k.Span})
	}
	var fields []*ir.Field
	for _, old := range rec.fields {
		f := *old
		if stage, ok := stackStage(f.Value); ok {
			f.Value = stackOf(stage, f.Value)
		} else {
			f.Value = take(f.Name, f.Value, f.Type)
		}
		fields = append(fields, &f)
	}
	if end.on = l.build(top); end.on == nil {
		return nil
	}
	rec.steps = []step{rec.steps[0], end}
	rec.fields, rec.emit, rec.having = fields, nil, nil
	return l.join(rec)
}

// values calls f for the fields and what the event is emitted on.
func (r *recipe) values(f func(ir.Expr)) {
	for _, x := range r.fields {
		f(x.Value)
	}
	if r.emit != nil {
		f(r.emit.Value)
		for _, p := range r.emit.Per {
			f(p)
		}
	}
}
