package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// hist makes a histogram: a hist trigger on its source's event, if that has the
// keys and values as the script means them, else on a hidden event that has
// them. Several sources share one table by its name; the kernel wants the same
// names of keys for that, so each gets a hidden event.
func (l *lowerer) hist(h *ir.Hist) {
	if !l.need(target.Hist, h.Span, "make a histogram") {
		return
	}
	t := plan.Table{Name: h.Name, Span: h.Span, Paused: h.Paused}
	shared := len(h.Stages) > 1
	told := len(l.list)
	for i := range h.Stages {
		c, o := l.histOn(h, i, &t, shared)
		if c != nil && l.triggers[histKey(c)] {
			c, o = l.histOn(h, i, &t, true)
		}
		if c == nil {
			continue // an error has been reported, or the source's condition never holds
		}
		l.triggers[histKey(c)] = true
		for _, c := range l.apart(c, h, o) {
			l.write(c, target.Hist).Why = whyTable(o)
			t.Hists = append(t.Hists, plan.Hist{Group: c.Event.Group, Event: c.Event.Name, Command: command.Line(c)})
		}
		l.tables[h] = append(l.tables[h], o.on.name)
	}
	if len(t.Hists) > 0 {
		// A condition that never holds for some of the sources chooses among them.
		l.list = append(l.list[:told], slices.DeleteFunc(l.list[told:], func(d diag.Diagnostic) bool { return d.Code == diag.ConstantCondition })...)
		l.plan.Tables = append(l.plan.Tables, t)
	}
}

// histOn makes the hist trigger for the i-th source; own asks for a hidden event
// in any case. The first that is made describes the table. It is nil if an error
// was reported or the source's condition never holds.
func (l *lowerer) histOn(h *ir.Hist, i int, t *plan.Table, own bool) (*command.Hist, *observed) {
	o := l.observe(h.Name, h.Whole, h.Stages[i], wantedOf(h, i), own)
	if o == nil {
		return nil, nil
	}
	c := &command.Hist{Event: o.on.name, Size: h.Size, If: o.cond}
	c.Event.Span = h.Stages[i].Span
	if h.Paused {
		c.State = "pause"
	}
	if len(h.Stages) > 1 {
		// The names of hists are one space over all instances
		// (kernel/trace/trace_events_trigger.c, named_triggers).
		c.Name = l.names.group + "_" + h.Name + l.names.suffix
	}
	first := len(t.Hists) == 0
	if first {
		t.Keys, t.Values, t.Sort = nil, nil, nil
	}
	if !l.histColumns(c, h, o, t, first) {
		return nil, nil
	}
	l.clockOf(c, h)
	return c, o
}

// clockOf names the clock of a histogram that has a time in it: made without one,
// it sets the buffer's to "global", whatever that was.
func (l *lowerer) clockOf(c *command.Hist, h *ir.Hist) {
	if !slices.ContainsFunc(slices.Concat(c.Keys, c.Vals), usesTime) {
		return
	}
	c.Clock = l.prog.Options.Clock
	if !l.timed.Valid() {
		l.timed = h.Span
	}
}

// histKey is what must differ between the hists of one event. The kernel looks
// neither at their size nor at the width of buckets
// (kernel/trace/trace_events_hist.c, hist_trigger_match).
func histKey(c *command.Hist) string {
	same := *c
	same.Size, same.State = 0, ""
	same.Keys = slices.Clone(c.Keys)
	for i, x := range same.Keys {
		if f, ok := x.(command.HistField); ok && strings.HasPrefix(f.Modifier, "buckets=") {
			f.Modifier = "buckets=1"
			same.Keys[i] = f
		}
	}
	return c.Event.String() + " " + command.Line(&same)
}

// histColumns fills in keys, values and sorting, and describes them for a reader.
func (l *lowerer) histColumns(c *command.Hist, h *ir.Hist, o *observed, t *plan.Table, first bool) bool {
	fields := map[string]string{"count": "hitcount"}
	n := 0
	bytes := 0
	for _, k := range h.Keys {
		f := o.fields[n]
		n++
		f.Modifier = keyModifier(k, f)
		if f.Name == "common_stacktrace" && !l.t.Has(target.CommonStacktrace) {
			f.Name = "stacktrace"
		}
		f.Span = k.Span
		c.Keys = append(c.Keys, f)
		fields[k.Name] = f.Name
		bytes += l.keyRoom(o.on, f.Name, k.Type)
		if bytes > l.t.Limits().HistKeyBytes {
			l.histKeysTooLong(k.Span, bytes)
			return false
		}
		if first {
			t.Keys = append(t.Keys, plan.Column{Name: k.Name, Type: k.Type, Kernel: f.Name, Modifier: f.Modifier, Log2: k.Slot == ir.Log2, Bucket: k.Bucket})
		}
	}
	if len(h.Keys) == 0 {
		f := command.HistField{Name: "common_type", Span: source.NoSpan}
		if len(h.Stages) > 1 {
			f = o.fields[n]
			n++
		}
		c.Keys = append(c.Keys, f)
	}
	sums, of := h.Sums()
	for i, v := range sums {
		f := o.fields[n+i]
		f.Span = v.Span
		c.Vals = append(c.Vals, f)
	}
	for i, v := range h.Values {
		name := o.fields[n+of[i]].Name
		fields[v.Name] = name
		if first {
			t.Values = append(t.Values, plan.Column{Name: v.Name, Type: v.Type, Kernel: name, Mean: v.Mean})
		}
	}
	for _, s := range h.Sort {
		if first {
			t.Sort = append(t.Sort, plan.Sort{Name: s.Name, Desc: s.Desc})
		}
		if isStackKey(h, s.Name) && !l.t.Has(target.CommonStacktrace) {
			continue // the kernel cannot; the reader does
		}
		if slices.ContainsFunc(c.Sort, func(by command.HistSort) bool { return by.Name == fields[s.Name] }) {
			continue // a sum again, as its mean
		}
		c.Sort = append(c.Sort, command.HistSort{Name: fields[s.Name], Desc: s.Desc, Span: s.Span})
	}
	return true
}

// isStackKey reports whether the key called name is a stack.
func isStackKey(h *ir.Hist, name string) bool {
	for _, k := range h.Keys {
		if _, stack := k.Type.(types.Stack); stack && k.Name == name {
			return true
		}
	}
	return false
}

// keyModifier is how the kernel shows a key, and for slots how it makes it.
func keyModifier(k *ir.HistKey, f command.HistField) string {
	switch k.Slot {
	case ir.Log2:
		return "log2"
	case ir.Buckets:
		return fmt.Sprintf("buckets=%d", k.Bucket)
	}
	switch t := k.Type.(type) {
	case types.Stack:
		if f.Name != "common_stacktrace" {
			return "stacktrace" // of a synthetic event's stack
		}
	case types.Pointer:
		return "hex"
	case types.Int:
		switch t.Form {
		case types.Ksym:
			return "sym"
		case types.Sysnr:
			return "syscall"
		case types.Hex:
			return "hex"
		}
	}
	return ""
}

// keyRoom is what a key takes of the bytes that all have: of a text, those of
// the column, unless it has no fixed place. The name of the thread has none.
func (l *lowerer) keyRoom(on *record, column string, t types.Type) int {
	switch t.(type) {
	case types.Stack:
		return l.t.Limits().HistStackBytes
	case types.String:
		// A thread's name has a fixed place, and the kernel takes it for one that
		// has not; a synthetic event has its texts where there is room.
		if c := on.column(column); c != nil && column != "common_comm" && c.kernel != "char[]" {
			if s, ok := c.typ.(types.String); ok && s.Cap > 0 {
				return (s.Cap + 7) &^ 7
			}
		}
		return command.MaxSynthString
	}
	return 8
}

// value is something that is wanted of a source, with the name it gets in a
// hidden event.
type value struct {
	name string
	x    ir.Expr
}

// observed is an event that has what was wanted of a source.
type observed struct {
	on     *record
	cond   command.Cond        // gates what is put on it
	fields []command.HistField // of what was wanted, in order
}

// observe finds or makes an event that has the wanted values of a stage, as the
// script means them. own asks for a hidden event in any case. It is nil if an error
// was reported or the stage's condition never holds.
func (l *lowerer) observe(name string, whole source.Span, st *ir.Stage, want []value, own bool) *observed {
	st = l.guardStages([]*ir.Stage{st})[0]
	for _, w := range want { // what could not be read is not counted
		st.Where = once(ir.And(st.Where, l.readable(w.x, []*ir.Stage{st})))
	}
	ev := &ir.Event{Name: name, Span: st.Span, Whole: whole, Inline: true, Stages: []*ir.Stage{st}}
	labels := labels{}
	column := make([]int, len(want)) // of each value that no event has by itself, where it is in the event
	for i, w := range want {
		if l.common(w.x) {
			continue
		}
		same := slices.IndexFunc(ev.Fields, func(f *ir.Field) bool {
			return !own && f.Type == w.x.Type() && f.Value.String() == w.x.String() // of several sources, each has all
		})
		if same < 0 {
			same = len(ev.Fields)
			ev.Fields = append(ev.Fields, &ir.Field{Name: labels.unique(w.name), Span: w.x.Span(), Type: w.x.Type(), Value: w.x})
		}
		column[i], want[i].name = same, ev.Fields[same].Name
	}
	rec := l.reduce(ev)
	if rec == nil || l.never(rec) {
		return nil
	}
	if !own && len(rec.steps) == 1 && l.asIs(rec) {
		o := &observed{on: rec.steps[0].on, cond: rec.steps[0].on.gate}
		for _, w := range rec.steps[0].where {
			c, ok := l.cond(w, columnsOf(o.on))
			if !ok {
				return nil
			}
			o.cond = and(o.cond, c)
		}
		for i, w := range want {
			x := w.x
			if !l.common(x) {
				x = rec.fields[column[i]].Value
			}
			o.fields = append(o.fields, histField(x))
		}
		return o
	}
	if o := l.observeProbe(st, want); o != nil && !own {
		return o
	}
	ev.Name = l.names.hidden(ev, "seen")
	r := l.build(rec)
	if r == nil {
		return nil
	}
	o := &observed{on: r, cond: r.gate}
	for _, w := range want {
		if c := r.column(w.name); c != nil && c.inPlace > 0 {
			l.cannotCarry(w.x.Span())
			return nil
		}
		if l.common(w.x) {
			o.fields = append(o.fields, histField(w.x))
		} else {
			o.fields = append(o.fields, command.HistField{Name: w.name, Span: w.x.Span()})
		}
	}
	return o
}

// observeProbe finds the wanted values, and what the stage's condition tests, in the
// record of an event of the script that is a probe, if it has them all whole; nil if
// not. A second probe beside it would read the same again.
func (l *lowerer) observeProbe(st *ir.Stage, want []value) *observed {
	d, ok := st.Source.(*ir.Derived)
	if !ok {
		return nil
	}
	r := l.event(d.Event)
	if r == nil || r.recipe == nil {
		return nil
	}
	o := &observed{on: r, cond: r.gate}
	for _, w := range ir.Conjuncts(st.Where) {
		if _, known := w.(*ir.Const); known || !testable(w, r) {
			return nil
		}
		c, ok := l.cond(w, columnsOf(r))
		if !ok {
			return nil
		}
		o.cond = and(o.cond, c)
	}
	for _, w := range want {
		if !l.common(w.x) {
			ref, ok := uncast(w.x).(*ir.FieldRef)
			if !ok {
				return nil
			}
			if c := r.column(ref.Name); c == nil || !c.whole() || c.inPlace > 0 {
				return nil
			}
		}
		o.fields = append(o.fields, histField(w.x))
	}
	return o
}

// asIs reports whether the event of a recipe's only step has all its fields
// whole, and its conditions can be tested there.
func (l *lowerer) asIs(rec *recipe) bool {
	if rec.steps[0].on == nil || rec.emit != nil || !l.suffices(rec, 0) {
		return false
	}
	for _, f := range rec.fields {
		ref, ok := uncast(f.Value).(*ir.FieldRef)
		if !ok {
			return false
		}
		c := rec.steps[0].on.column(ref.Name)
		if _, stack := c.typ.(types.Stack); !stack && !c.whole() {
			return false
		}
	}
	return true
}

// common reports whether every event has x by itself for a histogram.
func (l *lowerer) common(x ir.Expr) bool {
	name, ok := commonField(x)
	return ok && (name != "common_comm" || l.t.Has(target.CommonComm))
}

// histField is how a histogram names a value of its event.
func histField(x ir.Expr) command.HistField {
	if name, ok := commonField(x); ok {
		return command.HistField{Name: name, Span: x.Span()}
	}
	return command.HistField{Name: uncast(x).(*ir.FieldRef).Name, Span: x.Span()}
}

// wantedOf lists what a histogram wants of its i-th source: keys, then sums.
// Several sources without keys share one row by a key that is the same in all.
func wantedOf(h *ir.Hist, i int) []value {
	var out []value
	for _, k := range h.Keys {
		out = append(out, value{k.Name, k.Exprs[i]})
	}
	if len(h.Keys) == 0 && len(h.Stages) > 1 {
		out = append(out, value{"all", numberOf(0, types.Int{Size: 1}, h.Span)})
	}
	sums, _ := h.Sums()
	for _, v := range sums {
		out = append(out, value{v.Name, v.Exprs[i]})
	}
	return out
}
