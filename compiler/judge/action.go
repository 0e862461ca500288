package judge

import (
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
)

// parseAction checks an action as far as the kernel does before the histogram
// has values (parse_actions).
func (m *maker) parseAction(a command.HistAction) error {
	switch {
	case !m.j.t.Has(target.HistVariables):
		return m.no("EINVAL", "", a.Handler, "this kernel's histograms have no actions")
	case a.Handler == "onchange" && !m.j.t.Has(target.HistOnChange):
		return m.no("EINVAL", "", "onchange", "this kernel has no 'onchange'")
	case a.Handler == "onmatch" && m.j.file(name{a.Match.Group, a.Match.Name}) == nil:
		r := m.no("EINVAL", "Invalid subsystem or event name", a.Match.String(), "there is no event %s", a.Match)
		r.Near = m.j.nearEvent(name{a.Match.Group, a.Match.Name})
		return r
	}
	if most := m.j.t.Limits().ActionParams; len(a.Params) > most {
		return m.no("EINVAL", "Too many action params", "", "%d parameters; the kernel takes %d", len(a.Params), most)
	}
	if a.Handler == "onmatch" && a.Do != "trace" {
		return m.no("EINVAL", "Handler doesn't support action", a.Do, "'%s' goes with onmax and onchange, not with onmatch", a.Do)
	}
	if a.Do == "snapshot" && !m.j.t.Has(target.HistSnapshot) {
		return m.no("EINVAL", "", "snapshot", "this kernel cannot take snapshots")
	}
	return nil
}

// actions makes the actions (create_actions).
func (m *maker) actions() error {
	for _, a := range m.h.cmd.Actions {
		if err := m.action(a); err != nil {
			return m.refuse(err)
		}
	}
	return nil
}

func (m *maker) action(a command.HistAction) error {
	if a.Handler != "onmatch" {
		if err := m.track(a); err != nil {
			return err
		}
	}
	switch a.Do {
	case "save":
		return m.save(a)
	case "snapshot":
		if m.h.buffer.snapshot {
			return m.no("EBUSY", "", "snapshot", "another histogram takes the snapshots here; a buffer has one that does")
		}
		m.h.snapshot, m.h.buffer.snapshot = true, true
		return nil
	}
	return m.emit(a)
}

// track makes what onmax and onchange compare with (track_data_create).
func (m *maker) track(a command.HistAction) error {
	v := m.h.own(a.Var)
	if v == nil {
		var names []string
		for _, v := range m.h.vars {
			names = append(names, v.label)
		}
		return m.no("EINVAL", "Couldn't find onmax or onchange variable", "$"+a.Var, "the histogram has no variable '%s'", a.Var).near(a.Var, names)
	}
	if err := m.refer(v); err != nil {
		return err
	}
	hidden := "__max"
	if a.Handler == "onchange" {
		hidden = "__change"
	}
	if _, ok := m.hide(hidden); !ok {
		return m.no("EINVAL", "Couldn't create onmax or onchange variable", "", "the histogram has no room for what %s remembers, which takes a variable", a.Handler)
	}
	return nil
}

// save makes a variable of each field that is saved.
func (m *maker) save(a command.HistAction) error {
	if m.h.saves {
		return m.no("EEXIST", "Can't have more than one save() action per hist", "save", "the histogram saves already")
	}
	m.h.saves = true
	for _, p := range a.Params {
		if _, err := m.fieldVariable(p); err != nil {
			return err
		}
	}
	return nil
}

// fieldVariable makes a variable of a field that is a parameter
// (create_field_var). The kernel forgets whether it is signed.
func (m *maker) fieldVariable(x command.HistExpr) (*variable, error) {
	m.read = len(m.h.cmd.Vars)
	var v histValue
	var err error
	if r, ok := x.(command.HistRef); ok {
		// The texts of the variables are gone by now.
		vars := m.h.cmd.Vars
		m.h.cmd.Vars = nil
		v, err = m.part(r, isVariable)
		m.h.cmd.Vars = vars
	} else {
		v, err = m.part(x, isVariable)
	}
	if err != nil {
		return nil, err
	}
	text := exprText(x)
	made, ok := m.hide(text)
	if !ok {
		return nil, m.no("EINVAL", "Couldn't create or find variable", text, "the histogram has no room for '%s', which takes a variable, or the event has one of that name", text)
	}
	made.histValue = histValue{traits: isVariable | v.traits&isStack, typ: v.typ, size: v.size}
	made.unsigned = v.signed
	return made, nil
}

// emit finds what each parameter of a synthetic event is (trace_action_create).
func (m *maker) emit(a command.HistAction) error {
	e := m.j.synthNamed(a.Synth)
	if e == nil {
		var names []string
		for _, e := range m.j.made.list() {
			if e.kind == synthetic {
				names = append(names, e.event)
			}
		}
		return m.no("EINVAL", "Couldn't find synthetic event", a.Synth, "there is no synthetic event '%s'", a.Synth).near(a.Synth, names)
	}
	for i, p := range a.Params {
		v, err := m.param(a, p)
		if err != nil {
			return err
		}
		text := exprText(p)
		if i >= len(e.synth.Fields) {
			return m.no("EINVAL", "Param type doesn't match synthetic event field type", text, "%s has %d fields, and this is parameter %d", e, len(e.synth.Fields), i+1)
		}
		if why := m.unfit(e.synth.Fields[i], v.histValue); why != "" {
			return m.no("EINVAL", "Param type doesn't match synthetic event field type", text, "'%s' does not fit the field '%s %s' of %s: %s",
				text, e.synth.Fields[i].Type, e.synth.Fields[i].Name, e.name, why)
		}
		m.misleadParam(text, v, e.synth.Fields[i])
		if err := m.refer(v); err != nil {
			return err
		}
	}
	if len(a.Params) != len(e.synth.Fields) {
		return m.no("EINVAL", "Param count doesn't match synthetic event field count", a.Synth, "%s has %d fields, and there are %d parameters", e.name, len(e.synth.Fields), len(a.Params))
	}
	m.h.emits = append(m.h.emits, e)
	e.makers++
	return nil
}

// param returns the variable that a parameter is.
func (m *maker) param(a command.HistAction, x command.HistExpr) (*variable, error) {
	own := name{m.h.event.group, m.h.event.event}
	switch x := x.(type) {
	case command.HistRef:
		n := name{x.Event.Group, x.Event.Name}
		if n == own || n == (name{}) {
			if v := m.h.own(x.Name); v != nil {
				return v, nil
			}
		}
		if n == (name{}) && a.Handler == "onmatch" {
			x.Event = a.Match
		}
		v, err := m.find(x)
		if err != nil {
			r := err.(*Refusal)
			if r.Kernel == "Couldn't find variable" {
				r.Kernel = "Couldn't find param"
			}
			return nil, r
		}
		return v, nil
	case command.HistField:
		if x.Event.Name == "" && x.Modifier != "" {
			return nil, m.no("EINVAL", "", exprText(x), "a parameter has no modifier; a variable that is set to '%s' can be one", exprText(x))
		}
		n := name{x.Event.Group, x.Event.Name}
		var refused error
		if n == (name{}) || n == own {
			y := x
			y.Event = command.EventName{}
			v, err := m.fieldVariable(y)
			if err == nil {
				m.misleadOwn(a, y)
				return v, nil
			}
			refused = err
		}
		if n == (name{}) {
			if a.Handler != "onmatch" {
				return nil, refused
			}
			n = name{a.Match.Group, a.Match.Name}
		}
		return m.foreignField(n, x, refused)
	}
	return m.fieldVariable(x)
}

// foreignField returns the variable of a field of another event. The kernel
// makes a histogram for it there, like one that has the same keys
// (create_field_var_hist).
func (m *maker) foreignField(n name, x command.HistField, refused error) (*variable, error) {
	or := func(r *Refusal) error {
		if refused != nil {
			return refused
		}
		return r
	}
	e := m.j.file(n)
	if e == nil {
		return nil, or(m.no("EINVAL", "Event file not found", x.Name, "there is no event %s", n))
	}
	base := m.compatible(e)
	if base == nil {
		return nil, or(m.no("EINVAL", "Matching event histogram not found", x.Name, "%s has no histogram with keys of the same types as these", n))
	}
	label := "synthetic_" + x.Name
	t := m.h.buffer.of(e)
	if v := t.vars[label]; v != nil {
		return v, nil
	}
	var keys []string
	for _, k := range base.keys {
		// Where the kernel finds a name for the key, it adds its modifier, which
		// it does not read again.
		if k.traits.has(isStack) && !m.j.t.Has(target.QuirkFieldVariable) {
			return nil, or(m.no("EINVAL", "Couldn't create histogram for field", x.Name, "the keys have a stack trace"))
		}
		if k.field == nil && m.j.t.Has(target.QuirkFieldVariable) {
			m.mislead("this kernel stops with a fault as it takes this line: for '%s' it copies the keys of a histogram of %s, of which one is no field", x.Name, n)
			return &variable{label: label, of: base, histValue: m.j.guess(e, x.Name)}, nil
		}
		keys = append(keys, k.name)
	}
	line := "hist:keys=" + strings.Join(keys, ",") + ":" + label + "=" + x.Name
	if base.cond != "" {
		line += " if " + base.cond
	}
	f := file{kind: "trigger", buffer: m.h.buffer, events: []*event{e}}
	if _, err := m.j.histogram(f, line); err != nil {
		return nil, or(m.no("EINVAL", "Couldn't create histogram for field", x.Name, "%s has no field '%s' that can be a variable", n, x.Name))
	}
	v := t.vars[label]
	if v == nil {
		return nil, or(m.no("EINVAL", "Couldn't find synthetic variable", x.Name, "%s has no field '%s'", n, x.Name))
	}
	m.h.helpers = append(m.h.helpers, v.of)
	return v, nil
}

// compatible returns the first histogram of e whose keys have the types of m's.
func (m *maker) compatible(e *event) *hist {
next:
	for _, h := range m.h.buffer.of(e).hists {
		if len(h.keys) != len(m.h.keys) {
			continue
		}
		for i, k := range h.keys {
			if o := m.h.keys[i]; k.typ != o.typ || k.size != o.size || k.signed != o.signed {
				continue next
			}
		}
		return h
	}
	return nil
}

// guess returns a value of the type of a field.
func (j *Judge) guess(e *event, field string) histValue {
	if f := j.fieldOf(e, field); f != nil {
		return histValue{typ: f.Decl, size: f.Size, signed: f.Signed}
	}
	return histValue{}
}

// unfit tells why a value does not fit a field of a synthetic event, "" if it
// does (check_synth_field). Equal types fit by their text alone; of others only
// the sizes and the signs are compared.
func (m *maker) unfit(f command.SynthField, v histValue) string {
	s := m.j.synthField(f)
	text := isText(&s)
	dynamic := s.Loc == target.DataLoc
	switch {
	case strings.Contains(s.Decl, "long[") && !m.j.t.Has(target.SyntheticStacks):
		return "this kernel has nothing that does"
	case strings.Contains(v.typ, "char[") && text && dynamic,
		strings.Contains(v.typ, "long[") && m.j.isStackField(&s),
		v.typ == s.Decl:
		return ""
	case v.traits.has(isStack):
		return "it is a stack trace"
	case m.j.isStackField(&s) && !m.j.t.Has(target.QuirkStacktraceModifier):
		return "it is no stack trace"
	case s.Size != v.size && strings.Contains(v.typ, "["):
		return sprintf("it is %s", v.typ)
	case s.Size != v.size:
		return sprintf("it is %s, of %d bytes", v.typ, v.size)
	case !text && s.Signed && !v.signed:
		return sprintf("it is %s without a sign", v.typ)
	case !text && !s.Signed && v.signed:
		return sprintf("it is %s, with a sign", v.typ)
	}
	return ""
}
