package lower

import (
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
)

// union makes an event of several sources: a synthetic event that a histogram on
// each source emits at each of its records. Where a source's own event does not
// have the fields as they are wanted, a hidden event of it does.
func (l *lowerer) union(ev *ir.Event) *record {
	if !l.need(target.SyntheticEvents, ev.Span, "make one event of several sources") || !l.need(target.HistVariables, ev.Span, "make one event of several sources") {
		return nil
	}
	if ev.Group == "" && !l.bareName(ev) {
		return nil
	}
	name := ev.Name
	if ev.Group != "" || len(name) < 2 { // the kernel takes no shorter one in an action
		name = l.names.hidden(ev, "union")
	}
	var all []*joiner
	var late []*ir.Field
	for _, m := range ev.Union {
		j, never := l.member(ev, m)
		if never {
			continue // as of a condition on $func
		}
		if j == nil {
			return nil
		}
		fields, _, ok := j.divide()
		if !ok {
			return nil
		}
		if len(all) > 0 && !j.sameColumns(all[0]) {
			l.unionDiffers(ev.Span, ev.Name)
			return nil
		}
		all, late = append(all, j), fields
	}
	if len(all) == 0 {
		l.neverHolds(ev.Span)
		return nil
	}
	syn := all[0].synthetic(name)
	if syn == nil {
		return nil
	}
	for _, j := range all {
		if !j.emit(syn) {
			return nil
		}
	}
	if all[0].whole(late, nil) {
		return syn
	}
	return l.lateProbe(&recipe{ev: ev, steps: []step{{on: syn, span: ev.Span}}, fields: late})
}

// member begins the join of one source of a union: one step whose event has the
// fields. never says that none of its records is wanted.
func (l *lowerer) member(ev, m *ir.Event) (j *joiner, never bool) {
	rec := l.reduce(m)
	if rec == nil {
		return nil, false
	}
	if before := len(l.list); l.never(rec) {
		l.list = l.list[:before] // it may hold for another source
		return nil, true
	}
	if len(rec.steps) != 1 || len(rec.having) > 0 || !l.asIs(rec) {
		hidden := *m
		hidden.Name = l.names.hidden(ev, "of")
		rec.ev = &hidden
		r := l.build(rec)
		if r == nil {
			return nil, false
		}
		one := &recipe{ev: ev, steps: []step{{on: r, span: ev.Span}}}
		for _, f := range m.Fields {
			n := *f
			n.Value = &ir.FieldRef{At: ir.At{T: f.Type, Sp: f.Span}, Name: f.Name}
			one.fields = append(one.fields, &n)
		}
		rec = one
	}
	rec.ev = ev
	return newJoiner(l, rec), false
}

// sameColumns reports whether two joins emit the same fields.
func (j *joiner) sameColumns(k *joiner) bool {
	if len(j.carried) != len(k.carried) {
		return false
	}
	for i, c := range j.carried {
		d := k.carried[i]
		if c.name != d.name || c.size != d.size || c.signed != d.signed {
			return false
		}
	}
	return true
}
