// Package lower chooses the kernel mechanism for each event of a checked script
// within what the target can do, and yields the plan.
//
// Each event goes three steps. It is reduced (reduce.go, span.go) to a recipe:
// happenings of events that the kernel has, and values of them. The recipe is
// built as one probe if a probe can say it (probe.go), else as hist triggers
// that emit a synthetic event (join.go), with a probe on that for what only a
// probe can read. What comes of it is a record (record.go), on which other
// events are built. Conditions go where the kernel heeds them (cond.go).
package lower

import (
	"go/constant"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// Lower makes the plan of a checked script for t. The plan is of no use if the
// list has an error. Lower may change the names in prog.
func Lower(prog *ir.Program, t *target.Target) (*plan.Plan, diag.List) {
	addSuffix(prog)
	l := &lowerer{
		prog:   prog,
		t:      t,
		plan:   &plan.Plan{Script: prog.Source, Target: t.Name(), Instance: prog.Options.Instance},
		made:   map[*ir.Event]*record{},
		static: map[string]*record{},
		names:  newNames(prog, t),
		tables: map[*ir.Hist][]command.EventName{},

		triggers:    map[string]bool{},
		tracepoints: map[string]source.Span{},

		timed: source.NoSpan,
	}
	l.guards()
	l.shown = onlyShown(prog)
	for _, ev := range prog.Events {
		l.event(ev)
	}
	for _, h := range prog.Hists {
		l.hist(h)
	}
	for _, o := range prog.Ons {
		l.on(o)
	}
	l.traces()
	l.whileStopped()
	l.settle()
	l.settings()
	return l.plan, l.list.Sort()
}

// settle keeps joins from times that are not comparable. Each histogram with a
// time in it resets the buffer when it is made, and sets its clock; an event
// that comes meanwhile is stamped by another clock (kernel/trace/trace.c,
// temp_buffer) and may pair with one that comes later. So the clock is set
// first, and in an instance of the script's own no thread triggers anything
// until all is made.
func (l *lowerer) settle() {
	if !l.timed.Valid() {
		return
	}
	made := l.plan.Writes
	l.plan.Writes = nil
	clock := l.prog.Options.Clock
	if clock == "" {
		clock = "global"
	}
	l.write(&command.Setting{Name: command.TraceClock, Value: clock, Span: l.timed}).Why = whyClock
	if l.plan.Instance == "" {
		l.plan.Writes = append(l.plan.Writes, made...)
		return
	}
	l.write(&command.Setting{Name: command.EventPID, Value: noThread, Span: l.timed})
	l.plan.Writes = append(l.plan.Writes, made...)
	l.write(&command.Setting{Name: command.EventPID, Span: l.timed}).Why = "all is made: every thread counts again"
}

// settings sets what the script's options say of its buffer, which must be its
// own: the top level's is everybody's.
func (l *lowerer) settings() {
	o := l.prog.Options
	if !o.Settings.Valid() || o.Settings == (source.Span{}) {
		return
	}
	if l.plan.Instance == "" && !l.t.Booting() {
		l.optionWantsInstance(o.Settings)
		return
	}
	made := l.plan.Writes
	l.plan.Writes = nil
	set := func(name command.SettingName, value string) {
		l.write(&command.Setting{Name: name, Value: value, Span: o.Settings})
	}
	if o.BufferKB > 0 {
		set(command.BufferKB, itoa(o.BufferKB))
	}
	if o.Overwrite != "" {
		set(command.Overwrite, o.Overwrite)
	}
	if o.Clock != "" && !l.timed.Valid() {
		set(command.TraceClock, o.Clock)
	}
	if o.Paused { // before there is an action that may start it
		l.write(&command.Setting{Name: command.TracingOn, Value: "0", Span: o.Settings}).Why = "nothing is recorded until an action starts it"
	}
	l.plan.Writes = append(l.plan.Writes, made...)
}

// noThread is no thread's number: the greatest that a kernel takes
// (PID_MAX_LIMIT), which is never given out.
const noThread = "4194304"

type lowerer struct {
	prog   *ir.Program
	t      *target.Target
	list   diag.List
	plan   *plan.Plan
	made   map[*ir.Event]*record // nil for an event that could not be made
	static map[string]*record    // events that the target has, by full name
	names  *names
	tables map[*ir.Hist][]command.EventName // the events that a hist sits on

	shown       map[*ir.Event]bool     // events whose records are shown and used for nothing else
	triggers    map[string]bool        // kinds of triggers that events have
	tracepoints map[string]source.Span // raw tracepoints that have a probe, with where the script has it

	timed  source.Span // where a histogram has a time, if one has
	paired bool        // times of two stages are held against each other
	marked bool        // that markers come from elsewhere has been said
	far    ir.Expr     // what several events must read after each other, while these are made
}

// event makes an event once and returns its record, nil if that cannot be.
func (l *lowerer) event(ev *ir.Event) *record {
	if r, ok := l.made[ev]; ok {
		return r
	}
	l.made[ev] = nil
	name := l.names.groupOf(ev) + "." + ev.Name
	if same := l.names.full[name]; same[0] != ev.Span {
		l.sameName(ev.Span, name, same[0])
		return nil
	}
	if len(ev.Union) > 0 {
		l.made[ev] = l.union(ev)
		return l.made[ev]
	}
	rec := l.reduce(ev)
	if rec == nil {
		return nil
	}
	r := l.build(rec)
	l.made[ev] = r
	return r
}

// build makes a recipe with the simplest mechanism that can say it.
//
// It is nil, with nothing reported, if a condition of the recipe never holds:
// there is no record to be had then.
func (l *lowerer) build(rec *recipe) *record {
	rec.rewriteMasks()
	rec.rewrite(func(x ir.Expr) ir.Expr { return ir.Rewrite(x, widenedLoad) })
	if len(rec.steps) == 1 {
		rec.rewrite(func(x ir.Expr) ir.Expr { return ir.Rewrite(x, rec.steps[0].unsignedWidened) })
	}
	if l.never(rec) {
		return nil
	}
	if r, did := l.split(rec); did {
		return r
	}
	switch {
	case rec.emit != nil:
		return l.emitOn(rec)
	case len(rec.steps) > 1 || !fetchable(rec) || rec.onMarker() || rec.onProbe() || l.carriesPointer(rec):
		return l.join(rec)
	case rec.steps[0].probe != nil:
		return l.probe(rec)
	}
	return l.eprobe(rec)
}

// traces turns on the events whose records are wanted: first the conditions
// that gate them, then the records, in the script's order.
func (l *lowerer) traces() {
	times := map[string]int{}
	for _, tr := range l.prog.Traces {
		if r := l.traced(tr); r != nil {
			times[r.name.String()]++
		}
	}
	on := map[string]bool{}
	for _, tr := range l.prog.Traces {
		r := l.traced(tr)
		if r == nil {
			continue
		}
		l.seesMarkers(r, tr.Span)
		gate := r.gate
		if tr.Inline != nil {
			var ok bool
			if gate, ok = l.filtered(tr, r, times[r.name.String()] == 1); !ok {
				if r = l.event(tr.Inline); r == nil {
					continue
				}
				one := *tr
				one.Event, one.Kernel = tr.Inline, nil
				tr, gate = &one, r.gate
			}
		}
		name := command.EventName{Group: r.name.Group, Name: r.name.Name, Span: tr.Span}
		l.plan.Streams = append(l.plan.Streams, l.stream(tr, r))
		key := r.name.String()
		if on[key] {
			continue
		}
		on[key] = true
		if gate != nil {
			l.write(&command.Filter{Event: name, If: gate})
		}
		if !tr.Paused && !r.marker {
			l.write(&command.Enable{Event: name, On: true})
		}
	}
}

// filtered returns the filter that makes an event's records those that a trace
// wants; false if the event cannot be filtered for it: another trace wants other
// records of it, the filter cannot say it, or the event is not the script's own.
func (l *lowerer) filtered(tr *ir.Trace, r *record, only bool) (command.Cond, bool) {
	if !only || l.shared(r) || r.marker {
		return nil, false
	}
	gate := r.gate
	for _, w := range ir.Conjuncts(tr.Where) {
		w = ir.Rewrite(w, foldCondition)
		if k, known := w.(*ir.Const); known {
			if constant.BoolVal(k.Value) {
				continue
			}
			return nil, false
		}
		if !testable(w, r) {
			return nil, false
		}
		c, ok := l.cond(w, columnsOf(r))
		if !ok {
			return nil, false
		}
		gate = and(gate, c)
	}
	return gate, true
}

// shared reports whether others may use an event too, so that what the script
// sets on it would be set for them.
func (l *lowerer) shared(r *record) bool {
	return r.kind == static && l.plan.Instance == "" && !l.t.Booting()
}

func (l *lowerer) traced(tr *ir.Trace) *record {
	if tr.Kernel != nil {
		return l.staticRecord(tr.Kernel)
	}
	return l.made[tr.Event]
}

// stream describes the records of a traced event for a reader.
func (l *lowerer) stream(tr *ir.Trace, r *record) plan.Stream {
	s := plan.Stream{Name: r.name.String(), Group: r.name.Group, Event: r.name.Name, Print: tr.Print, Span: tr.Span}
	if r.kind != static {
		s.Name = strings.TrimSuffix(s.Name, l.prog.Options.Suffix)
	}
	if tr.Event == nil {
		for _, c := range r.columns {
			s.Fields = append(s.Fields, plan.Field{Name: c.name, Type: c.typ, Kernel: c.kernel})
		}
		return s
	}
	if tr.Event.Group == "" {
		s.Name = strings.TrimSuffix(tr.Event.Name, l.prog.Options.Suffix)
	}
	for _, f := range tr.Event.Fields {
		c := r.column(f.Name)
		if c == nil || f.Hidden {
			continue
		}
		field := plan.Field{Name: f.Name, Type: f.Type, Kernel: c.kernel}
		for _, t := range f.Through {
			if r.column(t.Name) == nil {
				panic("internal error: " + s.Name + " lacks the field " + t.Name + ", which tells whether " + f.Name + " could be read")
			}
			field.Through = append(field.Through, t.Name)
		}
		field.MayBeEmpty = c.kernel == "ustring" && l.t.Has(target.QuirkEmptyUserText)
		s.Fields = append(s.Fields, field)
	}
	s.Hidden = hiddenColumns(tr.Event, r)
	return s
}

// hiddenColumns names what a record has besides the fields of the event that it is.
func hiddenColumns(ev *ir.Event, r *record) []string {
	if r.kind == static {
		return nil
	}
	var names []string
	for _, c := range r.columns {
		if f := ev.Field(c.name); (f == nil || f.Hidden) && !strings.HasPrefix(c.name, "__probe_") {
			names = append(names, c.name)
		}
	}
	return names
}

// write appends a command to the plan, with its undo and the way from its bytes
// to the script. Who chose the command may say why in what is returned, before
// the next write.
func (l *lowerer) write(c command.Command, needs ...target.Feature) *plan.Write {
	text, origins := command.Print(c)
	if len(text) > command.MaxLine {
		l.tooLong(origins, len(text))
		return &plan.Write{} // of no use
	}
	w := plan.Write{File: c.File(), Data: text, Mode: modeOf(c), Needs: needs, Instanced: c.File() != "dynamic_events", Why: whyOf(c)}
	for _, o := range origins {
		w.Origin = append(w.Origin, plan.Origin{Lo: o.Lo, Hi: o.Hi, Span: o.Span})
	}
	if undo := command.Undo(c); undo != nil {
		w.Undo = &plan.Write{File: undo.File(), Data: command.Line(undo), Mode: modeOf(undo), Instanced: undo.File() != "dynamic_events"}
	}
	l.plan.Writes = append(l.plan.Writes, w)
	return &l.plan.Writes[len(l.plan.Writes)-1]
}

func modeOf(c command.Command) plan.Mode {
	if command.Truncates(c) {
		return plan.Truncate
	}
	return plan.Append
}

// need reports a feature that the target lacks.
func (l *lowerer) need(f target.Feature, sp source.Span, what string) bool {
	if l.t.Has(f) {
		return true
	}
	l.missing(f, sp, what)
	return false
}
