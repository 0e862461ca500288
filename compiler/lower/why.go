package lower

import (
	"fmt"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
)

// The sentences of plan.Write.Why: each says, where a mechanism is chosen, why it
// is that one on this target. A write that is not said otherwise has the one of
// its kind.

// whyOf is the reason of a command by its kind alone.
func whyOf(c command.Command) string {
	switch c := c.(type) {
	case *command.Enable:
		return "an event records only while it is on"
	case *command.Filter:
		return "a filter drops records where they are made, before they take room in the buffer"
	case *command.Hist:
		return "the kernel counts by itself, so that no record has to be read"
	case *command.Trigger:
		return "a trigger acts in the kernel, at the event itself"
	case *command.Setting:
		if c.Name == command.EventPID {
			return "this lets no thread trigger anything until all is made: half a join pairs wrongly"
		}
		return "an option of the script says so"
	}
	return "the script wants this event"
}

// whyClock is the reason of the clock.
const whyClock = "times of two events can be compared only by one clock for all CPUs; it is set first, for a change empties the buffer"

// whyCarrier is the reason of a synthetic event.
func (j *joiner) whyCarrier() string {
	ev := j.rec.ev
	switch {
	case j.rec.emit != nil:
		return "only a histogram compares a value with earlier ones, and what it emits is a synthetic event"
	case len(ev.Union) > 0:
		return "several events become one by a histogram on each, and what those emit is a synthetic event"
	case len(ev.Stages) == 1 && len(j.rec.steps) > 1:
		return "only a histogram remembers the entry until the return, and what it emits is a synthetic event"
	case len(j.rec.steps) > 1:
		return "only histograms bring two events together, and what they emit is a synthetic event"
	}
	return "a probe cannot compute, nor record times and threads; a histogram can, and what it emits is a synthetic event"
}

// whyHist is the reason of a histogram of step i.
func (j *joiner) whyHist(i int, h *command.Hist) string {
	last := len(j.rec.steps) - 1
	on := h.Event.String()
	switch {
	case i < last:
		return fmt.Sprintf("keeps what the record takes of '%s', by the key, until '%s' comes", on, j.rec.steps[last].on.name)
	case len(h.Actions) == 0:
		return "computes what the next histogram needs: one alone holds no such expression"
	case j.rec.emit != nil && j.rec.emit.Max:
		return fmt.Sprintf("emits the record when '%s' brings more than all before", on)
	case j.rec.emit != nil:
		return fmt.Sprintf("emits the record when '%s' brings another value than before", on)
	case last > 0:
		return fmt.Sprintf("emits the record when '%s' comes with a key that is kept, and uses that up", on)
	}
	return fmt.Sprintf("emits one record for each '%s'", on)
}

// whyEprobe is the reason of an eprobe.
func (l *lowerer) whyEprobe(rec *recipe) string {
	on := rec.steps[0].on
	reads := false
	for _, f := range rec.fields {
		reads = reads || usesMemory(f.Value)
	}
	switch {
	case on.kind == synthetic && reads:
		return "histograms carry addresses only; an eprobe on what they emit reads the memory behind them, in the same moment"
	case on.kind == synthetic:
		return fmt.Sprintf("'%s' has its values wider than the script, or under another name or group; an eprobe on it puts that right", on.name)
	case reads:
		return fmt.Sprintf("an eprobe is an event made of another's fields, and can read the memory that they point to; '%s' itself stays as it is", on.name)
	case len(rec.steps[0].where) > 0 && !l.t.Has(target.EprobeFilter):
		return fmt.Sprintf("an eprobe is an event made of another's fields; this kernel's take no condition, so '%s' is filtered after it", rec.ev.Name)
	}
	return fmt.Sprintf("an eprobe is an event made of another's fields; '%s' itself, and who else uses it, stays as it is", on.name)
}

// usesMemory reports whether x reads behind a pointer.
func usesMemory(x ir.Expr) bool {
	found := false
	ir.Visit(x, func(x ir.Expr) bool {
		switch x.(type) {
		case *ir.Load, *ir.Str:
			found = true
		}
		return !found
	})
	return found
}

// whyProbe is the reason of a probe on a place in code.
func (l *lowerer) whyProbe(p *ir.Probe) string {
	switch p.Place {
	case ir.AtInstruction:
		return "only a kprobe reaches a single instruction"
	case ir.AtTracepoint:
		return "a probe on the tracepoint itself has all its arguments, not only what its event records"
	case ir.AtUserFunc, ir.AtUser, ir.AtMark:
		return "user space is probed at an offset in the file, in all processes that run it"
	}
	force := l.prog.Options.Functions
	state, err := l.t.Symbol(qualified(p))
	switch {
	case err == nil && state == target.SymbolFprobeOnly:
		return "kprobes may not be put on this function; fprobes may"
	case force != "auto" && force != "":
		return "the script's option 'functions' wants a " + force
	case l.t.Has(target.FprobeEvents):
		return "this kernel has fprobes, which cost less than kprobes and miss no return for want of room"
	}
	return "this kernel has no fprobes, so it is a kprobe"
}

// whyTrigger is the reason of an action's trigger.
func whyTrigger(foreign, second bool) string {
	switch {
	case foreign:
		return "a trigger acts in the kernel, at the event; it sits on an event of its own, for an event has one of a kind and another's must stay"
	case second:
		return "a trigger acts in the kernel, at the event; the event has one of this kind already, so this sits on a twin of it"
	}
	return whyOf(&command.Trigger{})
}

// whyTable is the reason of a hist statement's histogram.
func whyTable(o *observed) string {
	if o.on.kind == static {
		return fmt.Sprintf("the kernel counts by itself; '%s' has the keys and values as they are", o.on.name)
	}
	return whyOf(&command.Hist{})
}
