package judge

import (
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
)

// trigger carries out a write to an event's trigger file.
func (j *Judge) trigger(f file, text string) (misleads []string, err error) {
	if strings.HasPrefix(strings.TrimPrefix(strings.TrimSpace(text), "!"), "hist") {
		return j.histogram(f, text)
	}
	e := f.events[0]
	if cond := command.TriggerCond(text); cond != "" && j.t.Has(target.QuirkTrailingOperator) {
		text = strings.TrimSuffix(text, cond) + withoutTrailingOperator(cond)
	}
	c, err := command.Parse("events/"+e.group+"/"+e.event+"/trigger", text)
	if err != nil {
		return nil, j.fieldFirst(e, syntax(err, text), text)
	}
	t := c.(*command.Trigger)
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if !t.Remove && (strings.HasSuffix(word, ":unlimited") || strings.Contains(word, ":count=")) {
		return nil, no("EINVAL", "", "want a number; '%s' is how the kernel shows it", word[strings.LastIndexByte(word, ':')+1:])
	}
	return j.simple(f, t, text)
}

// group is what an event can have only one trigger of: those that turn the same
// thing on and off are of one (trigger_type of struct event_command).
func group(k command.TriggerKind) command.TriggerKind {
	switch k {
	case command.Traceon:
		return command.Traceoff
	case command.DisableEvent:
		return command.EnableEvent
	case command.DisableHist:
		return command.EnableHist
	}
	return k
}

// simple adds or removes a trigger that is no histogram.
func (j *Judge) simple(f file, t *command.Trigger, text string) (misleads []string, err error) {
	e := f.events[0]
	if err := j.hasTrigger(t, text); err != nil {
		return nil, err
	}
	if t.Kind.HasTarget() {
		n := name{t.Target.Group, t.Target.Name}
		if j.file(n) == nil || n.group == "ftrace" {
			r := no("EINVAL", "", "there is no event %s", n).at(text, n.group+":"+n.event)
			r.Near = j.nearEvent(n)
			return nil, r
		}
	}
	in := f.buffer.of(e)
	i := slices.IndexFunc(in.triggers, func(o *command.Trigger) bool {
		return group(o.Kind) == group(t.Kind) && o.Target == t.Target
	})
	if t.Remove {
		if i < 0 {
			return []string{"nothing is removed: the event has no such trigger"}, nil
		}
		old := in.triggers[i]
		in.triggers = slices.Delete(in.triggers, i, i+1)
		j.aim(old, -1)
		if old.Kind != t.Kind {
			misleads = append(misleads, sprintf("it removes '%s': the two are one to the kernel", old.Kind))
		}
		if old.Kind == command.EnableEvent {
			misleads = append(misleads, sprintf("%s stays on if the trigger turned it on", old.Target))
		}
		return misleads, nil
	}
	if t.If != nil {
		if misleads, err = j.cond(e, t.If, text); err != nil {
			return nil, err
		}
	}
	if i >= 0 {
		return nil, no("EEXIST", "", "the event has a trigger '%s' already, and has only one of its kind", in.triggers[i].Kind).at(text, string(t.Kind))
	}
	if !j.quiet {
		misleads = append(misleads, j.misleadTrigger(e, f.buffer, t, text)...)
	}
	in.triggers = append(in.triggers, t)
	j.aim(t, 1)
	return misleads, nil
}

// hasTrigger refuses what the kernel was made without.
func (j *Judge) hasTrigger(t *command.Trigger, text string) error {
	has := true
	switch t.Kind {
	case command.Snapshot:
		has = j.t.Has(target.Snapshot)
	case command.EnableHist, command.DisableHist:
		has = j.t.Has(target.Hist)
	}
	if !has {
		return no("EINVAL", "", "this kernel has no trigger '%s'", t.Kind).at(text, string(t.Kind))
	}
	return nil
}

// aim counts a trigger that starts or stops an event or its histograms.
func (j *Judge) aim(t *command.Trigger, n int) {
	if !t.Kind.HasTarget() {
		return
	}
	if e := j.file(name{t.Target.Group, t.Target.Name}); e != nil {
		e.aims += n
	}
}
