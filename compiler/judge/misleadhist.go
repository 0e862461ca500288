package judge

import (
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
)

// misleadVal tells of a value that is summed and what is shown of it.
func (m *maker) misleadVal(x command.HistExpr, v histValue) {
	text := exprText(x)
	switch {
	case v.traits.has(isString):
		m.mislead("'%s' is text: what is summed are addresses", text)
	case v.traits.has(isExecname):
		m.mislead("'%s' shows the sum of task numbers, not names", text)
	case v.traits.has(isExpr|isConstant) && !v.traits.has(isReference):
		m.mislead("the value '%s' is never shown", text)
	case v.signed:
		m.mislead("the sum of '%s' is printed without a sign: one below zero as a huge number", text)
	}
}

// misleadKey tells of a key that is not what it seems.
func (m *maker) misleadKey(v histValue) {
	switch {
	case v.traits.has(byLog2|byBuckets) && v.field != nil && isText(v.field):
		m.mislead("'%s' is text: what is grouped are addresses", v.name)
	case v.traits.has(byLog2) && v.typ != "" && v.field == nil && v.traits.has(isCPU):
		m.mislead("'%s' of the first CPU is 0, which has no logarithm", v.name)
	case v.traits.has(inUsecs) && !v.traits.has(isTimestamp|isExpr):
		m.mislead("'.usecs' of '%s' does nothing: it is for common_timestamp", v.name)
	}
}

// misleadDivision tells that a division by a number rounds up.
func (m *maker) misleadDivision(n uint64) {
	if roundsUp(n) {
		m.mislead("the division by %d rounds up below %d: 2/%d is 1", n, 1<<divShift, n)
	}
}

// misleadNothing tells that a removal removed nothing.
func (m *maker) misleadNothing() {
	for _, h := range m.traced.hists {
		if h.shape == m.h.shape {
			m.mislead("nothing is removed: the condition is not written like that of the histogram that is there")
			return
		}
	}
	m.mislead("nothing is removed: the event has no histogram with the same keys, values, variables and actions")
}

// misleadHist tells of what a histogram that was made does not do.
func (m *maker) misleadHist() {
	h, c := m.h, m.h.cmd
	if c.Clock != "" && !h.stamped {
		m.mislead("'clock=%s' does nothing without common_timestamp", c.Clock)
	} else if c.Clock != "" && c.Clock != "global" {
		m.mislead("'%s' becomes the clock of the whole buffer, and stays so when the histogram is gone", c.Clock)
	}
	for _, v := range h.vars {
		if strings.ContainsAny(v.label, " .-+*/$") || v.label == "" {
			m.mislead("the variable '%s' cannot be referred to", v.label)
		}
	}
	m.misleadRefs()
	m.misleadMatches()
	for _, a := range c.Actions {
		if a.Do == "snapshot" && a.Params != nil {
			m.mislead("snapshot takes no parameters")
		}
	}
	if h.twin != nil {
		m.mislead("the synthetic event '%s' cannot be removed while this histogram is there: this kernel goes by the bare name", h.twin.event)
	}
	m.misleads = append(m.misleads, m.j.elsewhere(h.event, h.buffer)...)
}

// misleadRefs tells of references that are never or only once fulfilled.
func (m *maker) misleadRefs() {
	h := m.h
	for _, v := range h.refs {
		if v.of == h || v.of.sameKeys(h) {
			continue
		}
		m.mislead("'$%s' is never found: its histogram of %s has other keys, and nothing is counted or emitted without it", v.label, v.of.event)
	}
	for _, v := range h.once {
		if v.once > 1 {
			m.mislead("'$%s' is used up by the first histogram that computes with it, and another one does", v.label)
		}
	}
}

// sameKeys reports whether entries of h and of o can be of the same key, which
// the kernel compares byte by byte.
func (h *hist) sameKeys(o *hist) bool {
	if len(h.keys) != len(o.keys) {
		return false
	}
	const kinds = isString | isStack | byLog2 | byBuckets
	for i, k := range h.keys {
		if k.size != o.keys[i].size || (k.traits^o.keys[i].traits)&kinds != 0 {
			return false
		}
	}
	return true
}

// misleadMatches tells of an onmatch that has nothing to do with its event.
func (m *maker) misleadMatches() {
	for _, a := range m.h.cmd.Actions {
		if a.Handler != "onmatch" {
			continue
		}
		n := name{a.Match.Group, a.Match.Name}
		uses := m.h.event.name == n
		for _, v := range m.h.refs {
			uses = uses || v.of.event.name == n
		}
		if !uses {
			m.mislead("onmatch(%s) tests nothing: no variable of that event is used", n)
		}
	}
}

// misleadParam tells of a parameter that loses something in a field that takes
// it.
func (m *maker) misleadParam(text string, v *variable, f command.SynthField) {
	s := m.j.synthField(f)
	if v.unsigned && !s.Signed {
		m.mislead("'%s' loses its sign in the field '%s %s'; a variable that is set to it keeps it", text, f.Type, f.Name)
	}
	if isText(&s) && !strings.Contains(v.typ, "char[") {
		m.mislead("'%s' is a number, which the field '%s %s' takes for the address of a text", text, f.Type, f.Name)
	}
}

// misleadOwn tells of a parameter that could be meant to be of the event of
// onmatch.
func (m *maker) misleadOwn(a command.HistAction, x command.HistField) {
	if m.j.quiet || a.Handler != "onmatch" || m.h.event.name == (name{a.Match.Group, a.Match.Name}) {
		return
	}
	if e := m.j.file(name{a.Match.Group, a.Match.Name}); e != nil && m.j.formatOf(e).Field(x.Name) != nil {
		m.mislead("'%s' is that of %s, not the field of %s", x.Name, m.h.event, e)
	}
}

// misleadTrigger tells of a trigger that does less or more than it seems to.
func (j *Judge) misleadTrigger(e *event, here *buffer, t *command.Trigger, text string) (list []string) {
	list = j.elsewhere(e, here)
	add := func(text string, args ...any) { list = append(list, sprintf(text, args...)) }
	if t.Count == 0 {
		add("a trigger with the count 0 never does anything")
	}
	most := 1
	if t.Kind.HasTarget() {
		most = 3
	}
	if strings.Count(strings.Fields(text)[0], ":") > most {
		add("what follows the count is not looked at")
	}
	if isSwitch(e) && j.t.Has(target.QuirkSnapshotAtSwitch) {
		for _, o := range append(slices.Clone(here.of(e).triggers), t) {
			if o.Kind == command.Snapshot && o.Count < 0 {
				add("this kernel may hang: a snapshot at each switch; a count limits them")
				break
			}
		}
	}
	return list
}

// isSwitch reports whether e happens whenever the kernel takes up another task.
func isSwitch(e *event) bool {
	return e.group == "sched" && e.event == "sched_switch" || e.on != nil && isSwitch(e.on)
}

// misleadSynthetic tells of a synthetic event that will not be what it seems.
func (j *Judge) misleadSynthetic(e *event) (list []string) {
	for _, f := range e.synth.Fields {
		s := j.synthField(f)
		switch {
		case isText(&s) && s.Loc == target.InPlace && j.t.Has(target.QuirkSyntheticArrayPrint):
			list = append(list, sprintf("this kernel prints '(efault)' before the text of '%s'; char[] is printed right", f.Name))
		case strings.HasSuffix(f.Type, "long[]") && !j.t.Has(target.SyntheticStacks):
			list = append(list, sprintf("on this kernel nothing can be put in '%s'", f.Name))
		}
	}
	if j.t.Has(target.QuirkSyntheticNames) {
		for _, system := range j.t.EventNamed(e.event) {
			if system != "ftrace" {
				list = append(list, sprintf("%s.%s has the same bare name: its histograms keep this event from being removed", system, e.event))
			}
		}
	}
	if len(e.event) < command.MinActionWord {
		list = append(list, "trace() cannot emit it: a name in an action has two letters or more")
	}
	return list
}

// misleadName tells of a field that a word of the kernel's own hides.
func misleadName(field string) []string {
	if field == "common_pid" || command.ArgName(field) != command.ArgNameGood && command.ValidEventName(field) {
		return []string{sprintf("'%s' is a word of the kernel's own in histograms and filters", field)}
	}
	return nil
}
