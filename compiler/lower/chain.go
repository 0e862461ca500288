package lower

import (
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// chain turns a recipe of more than two steps into one of two: all steps but the
// last become a synthetic event that carries what is wanted of them, times
// included, and the last step is joined with that.
func (l *lowerer) chain(rec *recipe) bool {
	if len(rec.steps) <= 2 {
		return true
	}
	last := len(rec.steps) - 1
	ev := &ir.Event{Name: l.names.hidden(rec.ev, "after_"+itoa(last)), Span: rec.steps[last-1].span, Whole: rec.ev.Whole,
		Stages: rec.ev.Stages[:last:last], Size: rec.ev.Size}
	inner := &recipe{ev: ev, steps: append([]step{}, rec.steps[:last]...)}
	values := map[string]*ir.FieldRef{}
	labels := labels{}
	lost := source.NoSpan
	collect := func(x ir.Expr) {
		ir.Visit(x, func(x ir.Expr) bool {
			if !isStepValue(x) || stageIn(x, last) {
				return true
			}
			if stage, ok := stackStage(x); ok {
				if stage < last-1 && !lost.Valid() {
					lost = x.Span()
				}
				return false // the same, when the hidden event happens
			}
			key := x.String()
			if values[key] == nil {
				name := labels.unique(argLabel(x))
				inner.fields = append(inner.fields, &ir.Field{Name: name, Span: x.Span(), Type: x.Type(), Value: x})
				values[key] = &ir.FieldRef{At: ir.At{T: x.Type(), Sp: x.Span()}, Name: name}
			}
			return false
		})
	}
	for _, f := range rec.fields {
		collect(f.Value)
	}
	for _, h := range rec.having {
		collect(h)
	}
	for _, k := range rec.steps[last].keys {
		collect(k.Left)
	}
	if lost.Valid() {
		l.cannotCarryStack(lost)
		return false
	}
	r := l.carrier(inner)
	if r == nil {
		return false
	}
	end := rec.steps[last]
	rec.steps = []step{{on: r, span: ev.Span}, end}
	rec.rewrite(func(x ir.Expr) ir.Expr {
		x = ir.Replace(x, func(x ir.Expr) ir.Expr {
			if ref := values[x.String()]; ref != nil && isStepValue(x) {
				return &ir.FieldRef{At: ir.At{T: ref.T, Sp: x.Span()}, Name: ref.Name}
			}
			if stage, ok := stackStage(x); ok && stage == last-1 {
				return stackOf(0, x)
			}
			return nil
		})
		return moveStage(x, last, 1)
	})
	return l.prepare(rec)
}

// isStepValue reports whether x is one value of one step's record or context.
func isStepValue(x ir.Expr) bool {
	switch x.(type) {
	case *ir.FieldRef, *ir.Context:
		return true
	}
	return false
}

// carrier joins steps into a synthetic event that carries its fields as the
// kernel keeps them.
func (l *lowerer) carrier(rec *recipe) *record {
	if !l.chain(rec) {
		return nil
	}
	j := &joiner{l: l, rec: rec, byKey: map[string]*carried{}, labels: labels{}, fields: labels{}, vars: map[string]string{}}
	for _, f := range rec.fields {
		if _, array := f.Value.Type().(types.Array); array {
			l.cannotCarry(f.Value.Span())
			return nil
		}
		if _, ok := j.carry(f.Value, f.Name); !ok {
			l.cannotCarry(f.Value.Span())
			return nil
		}
	}
	syn := j.synthetic(rec.ev.Name)
	if syn == nil || !j.emit(syn) {
		return nil
	}
	return syn
}
