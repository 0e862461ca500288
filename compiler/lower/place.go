package lower

import (
	"fmt"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// Some stages of a join are put on a hidden event first: a span, which is a join
// itself; and several stages that hang on one place of code, for two probes
// there would run in an order that nobody promises. Stages of one place, or of
// one span, share one hidden event, so that what is told of events that follow
// themselves (order) is true of them too.

// spanStages puts the stages of a join that are spans on hidden events.
func (l *lowerer) spanStages(rec *recipe) bool {
	done := make([]bool, len(rec.ev.Stages))
	for i, st := range rec.ev.Stages {
		if done[i] || !isSpan(st.Source) {
			continue
		}
		var at []int
		for k := i; k < len(rec.ev.Stages); k++ {
			if other := rec.ev.Stages[k].Source; isSpan(other) && spanName(other) == spanName(st.Source) {
				at, done[k] = append(at, k), true
			}
		}
		one := &ir.Stage{Source: st.Source, Span: st.Span, Alias: st.Alias}
		if len(at) == 1 && len(rec.steps[i].where) > 0 {
			one.Where = moveStage(conjunction(rec.steps[i].where), i, 0)
			rec.steps[i].where = nil
		}
		hidden := &ir.Event{Stages: []*ir.Stage{one}, Size: rec.ev.Size}
		ok := l.share(rec, at, hidden, func() *record {
			inner := l.reduce(hidden)
			if inner == nil {
				return nil
			}
			return l.build(inner)
		})
		if !ok {
			return false
		}
	}
	return true
}

// probeStages puts steps that are probes of one place on one hidden event. It is
// a synthetic one, on which probes can be put again.
func (l *lowerer) probeStages(rec *recipe, at []int) bool {
	for _, i := range at {
		if rec.steps[i].nested != nil {
			l.unnest(rec, i)
		}
	}
	first := rec.steps[at[0]]
	hidden := &ir.Event{Stages: []*ir.Stage{{Span: first.span, Alias: first.alias}}}
	return l.share(rec, at, hidden, func() *record {
		r := l.build(&recipe{ev: hidden, steps: []step{{probe: first.probe, span: first.span}}, fields: hidden.Fields})
		if r == nil || r.kind == synthetic {
			return r
		}
		twin := &recipe{ev: &ir.Event{Name: hidden.Name, Span: hidden.Span, Whole: hidden.Whole, Inline: true, Stages: hidden.Stages}, steps: []step{{on: r, span: first.span}}}
		for _, f := range hidden.Fields {
			twin.fields = append(twin.fields, &ir.Field{Name: f.Name, Span: f.Span, Type: f.Type, Value: &ir.FieldRef{At: ir.At{T: f.Type, Sp: f.Span}, Name: f.Name}})
		}
		return l.join(twin)
	})
}

// share puts the steps at on one hidden event, which make makes when its fields
// are known: all that the recipe wants of these steps and that another event of
// the same moment has not by itself.
func (l *lowerer) share(rec *recipe, at []int, hidden *ir.Event, make func() *record) bool {
	first := rec.steps[at[0]]
	role := word(first.alias)
	if role == "" {
		role = "stage" + itoa(at[0]+1)
	}
	hidden.Name, hidden.Span, hidden.Whole = l.names.hidden(rec.ev, role), first.span, rec.ev.Whole
	stages := map[int]bool{}
	for _, i := range at {
		stages[i] = true
	}
	fields := map[string]*ir.Field{}
	labels := labels{}
	take := func(x ir.Expr, stage int) ir.Expr {
		v := moveStage(x, stage, 0)
		if e, ok := v.(*ir.Early); ok {
			v = e.X
		}
		f := fields[v.String()]
		if f == nil {
			f = &ir.Field{Name: labels.unique(argLabel(x)), Span: x.Span(), Type: x.Type(), Value: v}
			fields[v.String()] = f
			hidden.Fields = append(hidden.Fields, f)
		}
		return &ir.FieldRef{At: ir.At{T: f.Type, Sp: x.Span()}, Stage: stage, Name: f.Name}
	}
	rec.rewrite(func(x ir.Expr) ir.Expr {
		return ir.Replace(x, func(x ir.Expr) ir.Expr {
			switch x := x.(type) {
			case *ir.FieldRef:
				if stages[x.Stage] {
					return take(x, x.Stage)
				}
			case *ir.Early:
				if stages[x.Stage] {
					return take(x, x.Stage)
				}
			case *ir.Context:
				switch x.Kind {
				case ir.Tid, ir.CPU, ir.Kstack:
					return nil // the same, when the hidden event happens
				}
				if stages[x.Stage] {
					return take(x, x.Stage)
				}
			}
			return nil
		})
	})
	r := make()
	if r == nil {
		return false
	}
	for _, i := range at {
		s := &rec.steps[i]
		s.on, s.probe, s.nested = r, nil, r.recipe
	}
	return true
}

// unnest puts what an event of the script reads, which step i is, in place of
// its fields.
func (l *lowerer) unnest(rec *recipe, i int) {
	inner := *rec.steps[i].nested
	inner.fields = nil
	for _, f := range rec.steps[i].nested.fields {
		n := *f
		n.Value = moveStage(f.Value, 0, i)
		inner.fields = append(inner.fields, &n)
	}
	l.compose(rec, i, &inner)
	s := &rec.steps[i]
	base := s.nested.steps[0]
	for _, w := range base.where {
		s.where = append(s.where, moveStage(w, 0, i))
	}
	s.on, s.probe, s.nested = base.on, base.probe, nil
}

// spanName tells which call or function a span is of.
func spanName(src ir.Source) string {
	switch src := src.(type) {
	case *ir.Syscall:
		return "syscall " + src.Name
	case *ir.Probe:
		return placeName(src)
	}
	panic("internal error: a span of something that has no ends")
}

// placeName tells which place of code a probe is at.
func placeName(p *ir.Probe) string {
	return fmt.Sprint("probe ", p.Place, p.End, p.Path, p.Module, ":", p.Symbol, p.Offset)
}

// conjunction is the condition that all of list hold.
func conjunction(list []ir.Expr) ir.Expr {
	all := list[0]
	for _, x := range list[1:] {
		all = &ir.Binary{At: ir.At{T: types.Bool{}, Sp: source.Join(all.Span(), x.Span())}, Op: "&&", X: all, Y: x}
	}
	return all
}
