package lower

import (
	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
)

// on makes the triggers of an on statement. An event has one trigger of a kind
// (kernel/trace/trace_events_trigger.c, register_trigger), and what is removed
// is the kind: so triggers sit on the script's own events, or on events in its
// own instance, and a second one of a kind gets a hidden event of its own.
func (l *lowerer) on(o *ir.On) {
	var plain *observed // made when there is something to put on it
	for _, a := range o.Actions {
		n := 1
		if a.Hist != nil {
			n = len(l.tables[a.Hist]) // a trigger for each source; none if it could not be made, which is said
		}
		for i := range n {
			t, ok := l.trigger(o, a, i)
			if !ok {
				return
			}
			if plain == nil {
				if plain = l.observe("on", o.Whole, o.Stage, nil, false); plain == nil {
					return
				}
			}
			if !l.act(o, a, t, plain) {
				return
			}
		}
	}
}

// act puts a trigger on the event of an on statement, which plain is, or on a twin
// of it where it must not sit there.
func (l *lowerer) act(o *ir.On, a ir.Action, t *command.Trigger, plain *observed) bool {
	at := plain
	foreign := l.shared(at.on)
	second := l.triggers[triggerKey(at.on, t)]
	if foreign || second {
		if at = l.observe("on", o.Whole, o.Stage, nil, true); at == nil {
			return false
		}
	}
	l.triggers[triggerKey(at.on, t)] = true
	if t.Kind == command.Snapshot && t.Count < 0 && l.t.Has(target.QuirkSnapshotAtSwitch) && isSwitch(at.on) {
		l.snapshotAtSwitch(a.Span)
		return false
	}
	t.Event, t.If, t.Span = at.on.name, at.cond, a.Span
	t.Event.Span = o.Span
	w := l.write(t)
	w.Why = whyTrigger(foreign, second)
	if turned := turnedBy(t); turned != nil {
		w.Restore = []plan.Write{{File: turned.File(), Instanced: true, Data: command.Line(turned), Mode: modeOf(turned)}}
	}
	return true
}

// turnedBy returns the command for the file that a trigger changes when it acts,
// as that is when nobody has changed it; nil if it changes none. An event that
// was turned on stays so when the trigger is removed, and cannot be removed then.
func turnedBy(t *command.Trigger) command.Command {
	switch t.Kind {
	case command.EnableEvent, command.DisableEvent:
		return &command.Enable{Event: t.Target}
	case command.Traceon, command.Traceoff:
		return &command.Setting{Name: command.TracingOn, Value: "1"}
	}
	return nil
}

// trigger is what an action is to the kernel; of a histogram of several sources,
// that for the i-th.
func (l *lowerer) trigger(o *ir.On, a ir.Action, i int) (*command.Trigger, bool) {
	t := &command.Trigger{Count: -1}
	if o.Times > 0 {
		t.Count = o.Times
	}
	start := a.Verb == ir.Start
	switch {
	case a.Verb == ir.Snapshot:
		t.Kind = command.Snapshot
		return t, l.need(target.Snapshot, a.Span, "take a snapshot")
	case a.Verb == ir.Stack:
		t.Kind = command.Stacktrace
		return t, true
	case a.Hist != nil:
		t.Kind = pick(start, command.EnableHist, command.DisableHist)
		t.Target = l.tables[a.Hist][i]
	case a.Event != nil:
		t.Kind = pick(start, command.EnableEvent, command.DisableEvent)
		r := l.made[a.Event]
		if r == nil {
			return nil, false
		}
		t.Target = r.name
	case a.Name != "":
		t.Kind = pick(start, command.EnableEvent, command.DisableEvent)
		t.Target = command.EventName{Group: a.Group, Name: a.Name}
	default:
		t.Kind = pick(start, command.Traceon, command.Traceoff)
	}
	t.Target.Span = source.NoSpan
	return t, true
}

func pick(first bool, a, b command.TriggerKind) command.TriggerKind {
	if first {
		return a
	}
	return b
}

// triggerKey is what must differ between the triggers of one event: the kind,
// where traceon and traceoff are one, and enabling and disabling are.
func triggerKey(r *record, t *command.Trigger) string {
	kind := t.Kind
	switch kind {
	case command.Traceoff:
		kind = command.Traceon
	case command.DisableEvent:
		kind = command.EnableEvent
	case command.DisableHist:
		kind = command.EnableHist
	}
	return r.name.String() + " " + string(kind) + " " + t.Target.Group + "." + t.Target.Name
}

// isSwitch reports whether r is made whenever the kernel takes up another task,
// under whatever conditions.
func isSwitch(r *record) bool {
	if r.recipe != nil && len(r.recipe.steps) == 1 && r.recipe.steps[0].on != nil {
		return isSwitch(r.recipe.steps[0].on)
	}
	return r.name.Group == "sched" && r.name.Name == "sched_switch"
}

// whileStopped warns of times that go wrong. While the buffer takes no records,
// triggers run all the same, on events that are stamped by another clock
// (kernel/trace/trace.c, trace_event_buffer_lock_reserve: temp_buffer has its
// own). Times of one clock held against times of the other mean nothing: a pair
// that spans a start is recorded, and tables and maxima see those that span a
// stop too.
func (l *lowerer) whileStopped() {
	if !l.paired {
		return
	}
	if l.prog.Options.Paused {
		l.timesWhileStopped(l.prog.Options.Settings, true)
		return
	}
	keeps := len(l.prog.Hists) > 0
	for _, ev := range l.prog.Events {
		keeps = keeps || ev.Emit != nil
	}
	for _, o := range l.prog.Ons {
		for _, a := range o.Actions {
			whole := a.Event == nil && a.Hist == nil && a.Name == ""
			if whole && (a.Verb == ir.Start || a.Verb == ir.Stop && keeps) {
				l.timesWhileStopped(a.Span, a.Verb == ir.Start)
				return
			}
		}
	}
}
