package lower

import (
	"github.com/eptrace/ep/compiler/ir"
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
	if len(rec.steps) > 1 || rec.steps[0].on == nil || len(rec.having) > 0 {
		if !l.eachTime(rec) {
			return nil
		}
	}
	// The keys that the histogram is found by are what the event is per.
	rec.steps[0].keys = nil
	for _, p := range rec.emit.Per {
		rec.steps[0].keys = append(rec.steps[0].keys, ir.Key{Right: p, Span: p.Span()})
	}
	return l.join(rec)
}

// eachTime puts a recipe on a hidden event that happens each time and has all
// values that the recipe takes of its steps.
func (l *lowerer) eachTime(rec *recipe) bool {
	ev := &ir.Event{Name: l.names.hidden(rec.ev, "each"), Span: rec.ev.Span, Whole: rec.ev.Whole, Stages: rec.ev.Stages, Size: rec.ev.Size}
	inner := &recipe{ev: ev, steps: rec.steps, having: rec.having}
	values := map[string]*ir.FieldRef{}
	labels := labels{}
	take := func(x ir.Expr) {
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
			return nil
		})
	})
	return true
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
