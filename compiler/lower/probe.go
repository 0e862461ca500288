package lower

import (
	"slices"

	"go/constant"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// eprobe makes a recipe of one step as a probe on that step's event.
func (l *lowerer) eprobe(rec *recipe) *record {
	s := &rec.steps[0]
	if !l.t.Has(target.Eprobes) && l.isPart(rec) {
		return s.on // more is recorded than is shown
	}
	if !l.need(target.Eprobes, rec.ev.Span, "derive an event from another") {
		return nil
	}
	b := l.probeBuilder(rec)
	b.on = s.on
	r := b.record(eprobe)
	if !l.nested(r, s.on) {
		return nil
	}
	gate := s.on.gate
	if l.t.Has(target.EprobeFilter) {
		for _, w := range s.where {
			c, ok := b.onBase(w)
			if !ok {
				return nil
			}
			gate = and(gate, c)
		}
	} else if gate != nil || len(s.where) > 0 {
		if gate != nil {
			l.missing(target.EprobeFilter, rec.ev.Span, "put a condition here")
			return nil
		}
		b.late = s.where
	}
	if !b.finish(r, rec) {
		return nil
	}
	l.write(&command.Eprobe{EventName: r.name, On: command.EventName{Group: s.on.name.Group, Name: s.on.name.Name, Span: s.span}, Args: b.args, If: gate}, target.Eprobes).Why = l.whyEprobe(rec)
	return r
}

// isPart reports whether a recipe is some of the fields of an event of the kernel
// and nothing else, for a trace to show: a reader can leave out the others.
func (l *lowerer) isPart(rec *recipe) bool {
	s := &rec.steps[0]
	if !slices.ContainsFunc(l.prog.Traces, func(tr *ir.Trace) bool { return tr.Event == rec.ev }) {
		return false
	}
	if !rec.ev.Inline || s.on == nil || s.on.kind != static || s.on.marker || s.on.gate != nil || len(s.where) > 0 || len(rec.having) > 0 {
		return false
	}
	for _, f := range rec.fields {
		ref, ok := f.Value.(*ir.FieldRef)
		if !ok || ref.Name != f.Name || f.Type.String() != ref.Type().String() {
			return false
		}
		if s.on.column(f.Name) == nil {
			return false
		}
	}
	return true
}

// probe makes a recipe of one step as a probe on a place in code. It takes no
// condition: they are about the event's own fields and gate all that uses it.
func (l *lowerer) probe(rec *recipe) *record {
	s := &rec.steps[0]
	m := l.mechanism(rec)
	if m == nil {
		return nil
	}
	b := l.probeBuilder(rec)
	b.probe = s.probe
	r := b.record(probed)
	r.depth = 1
	b.late = s.where
	if !b.finish(r, rec) {
		return nil
	}
	r.columns = append(r.columns, addressColumn(s.probe))
	l.write(m.command(r.name, b.args, 0), m.needs).Why = l.whyProbe(s.probe)
	for site := 1; site < len(s.probe.Sites); site++ {
		args := b.atSite(site)
		if args == nil {
			return nil
		}
		w := l.write(m.command(r.name, args, site), m.needs)
		w.Why = "the place has several sites, which the kernel puts together into one event"
		w.Undo = nil // the first site's removes the event with all its sites
	}
	return r
}

// probeBuilder collects the arguments of a probe: those of the event's fields,
// then hidden ones that its conditions need.
type probeBuilder struct {
	fetcher
	rec    *recipe
	args   []command.Arg
	values []ir.Expr          // of args
	byKey  map[string]*column // columns by the value that they hold
	labels labels
	late   []ir.Expr // conditions about the event's own fields
	into   *record
}

func (l *lowerer) probeBuilder(rec *recipe) *probeBuilder {
	return &probeBuilder{fetcher: fetcher{l: l, ev: rec.ev}, rec: rec, byKey: map[string]*column{}, labels: labels{}}
}

// record begins the record of the event.
func (b *probeBuilder) record(k kind) *record {
	ev := b.rec.ev
	b.into = &record{kind: k, recipe: b.rec,
		name: command.EventName{Group: b.l.names.groupOf(ev), Name: ev.Name, Span: ev.Span}}
	return b.into
}

// finish adds the fields and what the conditions need, and gates the record.
func (b *probeBuilder) finish(r *record, rec *recipe) bool {
	ok := true
	for _, f := range rec.fields {
		b.labels[f.Name] = true
	}
	for _, f := range rec.fields {
		ok = b.add(f.Name, f.Value, f.Span) != nil && ok
	}
	if !ok {
		return false
	}
	for _, w := range b.late {
		c, good := b.l.cond(w, b.hiddenArg)
		if !good {
			return false
		}
		r.gate = and(r.gate, c)
	}
	limits := b.l.t.Limits()
	if len(b.args) > limits.Args {
		b.l.tooManyArgs(rec.ev.Span, len(b.args))
		return false
	}
	size := 0
	for _, a := range b.args {
		size += payload(a.Type)
	}
	if size > limits.Payload {
		b.l.tooLarge(rec.ev.Span, size, limits.Payload)
		return false
	}
	return true
}

// add makes the argument called name that holds x.
func (b *probeBuilder) add(name string, x ir.Expr, sp source.Span) *column {
	b.labels[name] = true
	a := b.arg(name, x)
	if a == nil {
		return nil
	}
	if sp.Valid() && !sp.Contains(a.Span) {
		a.Span = source.Join(sp, a.Span)
	}
	b.args = append(b.args, *a)
	b.values = append(b.values, x)
	b.into.columns = append(b.into.columns, argColumn(name, x, a.Type))
	c := b.into.columns[len(b.into.columns)-1]
	b.byKey[x.String()] = &c
	if b.needsEnd(x) {
		end := &ir.Const{At: ir.At{T: types.String{}, Sp: source.NoSpan}, Value: constant.MakeString(plan.Unread)}
		if b.add(b.labels.unique("end"), end, source.NoSpan) == nil {
			return nil
		}
	}
	return &c
}

// atSite returns the arguments as another site of the place has them: of the
// same names and types, or the kernel would refuse to put the two together.
func (b *probeBuilder) atSite(site int) []command.Arg {
	b.site = site
	args := []command.Arg{}
	for i, x := range b.values {
		fetch := b.fetch(x)
		if fetch == nil {
			return nil
		}
		a := b.args[i]
		a.Fetch = fetch
		args = append(args, a)
	}
	return args
}

// hiddenArg returns the column that holds x whole, adding an argument if the
// event has none.
func (b *probeBuilder) hiddenArg(x ir.Expr) (*column, bool) {
	for _, same := range []ir.Expr{x, uncast(x)} {
		if c, ok := b.byKey[same.String()]; ok && c.whole() {
			return c, true
		}
	}
	if ctx, ok := uncast(x).(*ir.Context); ok {
		if c, ok := filterContext(ctx); ok {
			return c, true
		}
	}
	if !canFetch(x) {
		return nil, false
	}
	c := b.add(b.labels.unique(argLabel(x)), x, source.NoSpan)
	return c, c != nil && c.whole()
}

// onBase makes a condition on the fields of the event that the probe hangs on,
// or, if these do not say it, on the probe's own.
func (b *probeBuilder) onBase(w ir.Expr) (command.Cond, bool) {
	if testable(w, b.on) && sayable(w) {
		return b.l.cond(w, columnsOf(b.on))
	}
	b.late = append(b.late, w)
	return nil, true
}

// sayable reports whether the condition of an eprobe can hold the texts of w.
// The kernel parts its line at blanks and puts it together again.
func sayable(w ir.Expr) bool {
	ok := true
	text := func(k *ir.Const) {
		if k != nil && k.Value.Kind() == constant.String {
			ok = ok && command.ValidEprobeString(constant.StringVal(k.Value))
		}
	}
	ir.Visit(w, func(x ir.Expr) bool {
		switch x := x.(type) {
		case *ir.Const:
			text(x)
		case *ir.In:
			for _, r := range x.Set {
				text(r.Lo)
			}
		}
		return ok
	})
	return ok
}

// testable reports whether each value that a condition tests is a whole column
// of r, and none is held against another, which no filter does.
func testable(w ir.Expr, r *record) bool {
	get := columnsOf(r)
	ok := !twoValued(w)
	values(w, func(v ir.Expr) {
		_, found := get(v)
		ok = ok && found
	})
	return ok
}

// twoValued reports whether a condition compares two values.
func twoValued(w ir.Expr) bool {
	found := false
	ir.Visit(w, func(x ir.Expr) bool {
		if b, ok := x.(*ir.Binary); ok && flipped[b.Op] != "" {
			_, _, _, known := sides(b)
			found = found || !known
		}
		return !found
	})
	return found
}

// columnsOf finds the column of a record that holds a value whole, or that a
// filter reads the text behind.
func columnsOf(r *record) columns {
	return func(x ir.Expr) (*column, bool) {
		if e, ok := x.(*ir.Early); ok {
			x = e.X
		}
		x = uncast(x)
		if ctx, ok := x.(*ir.Context); ok {
			return filterContext(ctx)
		}
		if s, ok := x.(*ir.Str); ok && s.Max == 0 {
			return textBehind(r, s)
		}
		ref, ok := x.(*ir.FieldRef)
		if !ok {
			return nil, false
		}
		c := r.column(ref.Name)
		return c, c != nil && c.whole() && !c.charPtr // of that a filter tests the text
	}
}

// textBehind is the column of a `char *` field, whose text a filter reads by
// itself, also where an eprobe cannot (kernel/trace/trace_events_filter.c,
// filter_pred_pchar).
func textBehind(r *record, x *ir.Str) (*column, bool) {
	ref, ok := uncast(x.X).(*ir.FieldRef)
	if !ok {
		return nil, false
	}
	c := r.column(ref.Name)
	if c == nil || !c.behind {
		return nil, false
	}
	text := column{name: c.name, typ: types.String{}}
	if p, ok := x.X.Type().(types.Pointer); ok && p.User {
		text.suffix = "ustring"
	}
	return &text, true
}

// filterContext is the name by which every event's filter knows a value of the
// context. The capitals mean the same as the small letters and are no field's
// name (kernel/trace/trace_events.c, trace_define_generic_fields).
func filterContext(x *ir.Context) (*column, bool) {
	switch x.Kind {
	case ir.Tid:
		return &column{name: "common_pid", typ: x.T, size: 4, signed: true}, true
	case ir.CPU:
		return &column{name: "CPU", typ: x.T, size: 4}, true
	case ir.Comm:
		return &column{name: "COMM", typ: x.T}, true
	case ir.IP: // of probes alone, which have it
		return &column{name: x.Reg, typ: x.T, size: 8}, true
	}
	return nil, false
}
