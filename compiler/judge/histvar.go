package judge

import (
	"slices"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
)

// variable is a variable of a histogram.
type variable struct {
	histValue
	label    string // its name
	of       *hist
	once     int  // histograms that compute with it and so use it up
	unsigned bool // it is of a field that has a sign, which the kernel forgot
}

// reference returns what $NAME stands for (parse_atom): the text of a variable
// of the same histogram, or the variable of another one.
func (m *maker) reference(r command.HistRef, t traits) (histValue, error) {
	if x := m.local(r); x != nil {
		f, ok := x.(command.HistField)
		if !ok || f.Event.Name != "" {
			return histValue{}, m.no("EINVAL", "Couldn't find field", "$"+r.Name,
				"within one histogram '$%s' is the text that it is set to, and that must be a field", r.Name)
		}
		return m.field(f, t)
	}
	v, err := m.find(r)
	if err != nil {
		return histValue{}, err
	}
	if err := m.refer(v); err != nil {
		return histValue{}, err
	}
	ref := histValue{traits: isReference | v.traits&(isTimestamp|inUsecs), name: refName(r), typ: v.typ, size: v.size, signed: v.signed, ref: v}
	if t.has(isVariable) {
		ref.traits = isAlias | isVariable | v.traits&(isTimestamp|inUsecs)
	}
	return ref, nil
}

func refName(r command.HistRef) string {
	if r.Event.Name != "" {
		return r.Event.String() + "." + r.Name
	}
	return r.Name
}

// local returns what stands for a reference to a variable of the histogram
// itself, nil if it is to another's. The kernel puts the text of one that is set
// to a single field or number. It has cut the texts of those that it read
// before: of an expression its first operand is left (field_name_from_var).
func (m *maker) local(r command.HistRef) command.HistExpr {
	if r.Event.Name != "" && (r.Event.Group != m.h.event.group || r.Event.Name != m.h.event.event) {
		return nil
	}
	for i, v := range m.h.cmd.Vars {
		if v.Name != r.Name {
			continue
		}
		x := v.Expr
		if i < m.read {
			x = firstOperand(x)
		}
		switch y := x.(type) {
		case *command.HistBinary, *command.HistNeg:
			continue
		case command.HistRef:
			if y.Event.Name == "" {
				continue
			}
		}
		if _, whole := v.Expr.(*command.HistBinary); whole {
			m.mislead("'$%s' is not its value but the first operand of what it is set to", r.Name)
		}
		return x
	}
	return nil
}

func firstOperand(x command.HistExpr) command.HistExpr {
	for {
		b, ok := x.(*command.HistBinary)
		if !ok {
			return x
		}
		x = b.X
	}
}

// find returns the variable of another histogram that a reference names
// (find_event_var): that of the named event, else of an event of onmatch, else
// of the one event of the buffer that has it.
func (m *maker) find(r command.HistRef) (*variable, error) {
	if r.Event.Name != "" {
		e := m.j.file(name{r.Event.Group, r.Event.Name})
		if e == nil {
			return nil, m.noVariable(r)
		}
		if v := m.h.buffer.of(e).vars[r.Name]; v != nil {
			return v, nil
		}
		return nil, m.noVariable(r)
	}
	var found *variable
	for _, a := range m.h.cmd.Actions {
		if a.Handler != "onmatch" {
			continue
		}
		e := m.j.file(name{a.Match.Group, a.Match.Name})
		if e == nil {
			continue
		}
		if v := m.h.buffer.of(e).vars[r.Name]; v != nil {
			if found != nil {
				return nil, m.notUnique(r)
			}
			found = v
		}
	}
	if found != nil {
		return found, nil
	}
	for _, v := range m.h.buffer.vars[r.Name] {
		if found != nil && found.of.event != v.of.event {
			return nil, m.notUnique(r)
		}
		found = v
	}
	if found == nil {
		return nil, m.noVariable(r)
	}
	return found, nil
}

func (m *maker) notUnique(r command.HistRef) *Refusal {
	return m.no("EINVAL", "Variable name not unique, need to use fully qualified name (subsys.event.var) for variable", "$"+r.Name,
		"there is more than one '$%s'; SYSTEM.EVENT.$%s says which", r.Name, r.Name)
}

func (m *maker) noVariable(r command.HistRef) *Refusal {
	var names []string
	for n := range m.h.buffer.vars {
		names = append(names, n)
	}
	return m.no("EINVAL", "Couldn't find variable", "$"+r.Name, "no histogram here has a variable '%s'", refName(r)).near(r.Name, names)
}

// file returns the event of a name that has files in every buffer, nil if there
// is none.
func (j *Judge) file(n name) *event {
	if list := j.find(n); len(list) > 0 {
		return list[0]
	}
	return nil
}

// refer notes that the histogram refers to a variable (create_var_ref).
func (m *maker) refer(v *variable) error {
	if slices.Contains(m.h.refs, v) {
		return nil
	}
	if most := m.j.t.Limits().HistReferences; len(m.h.refs) >= most {
		return m.no("ENOMEM", "", "$"+v.label, "the histogram refers to more than %d variables", most)
	}
	m.h.refs = append(m.h.refs, v)
	return nil
}

// consume notes that an expression uses the variables up that it refers to.
func (m *maker) consume(list ...histValue) {
	for _, x := range list {
		if x.traits.has(isReference) && !slices.Contains(m.h.once, x.ref) {
			m.h.once = append(m.h.once, x.ref)
		}
	}
}

// variables makes the histogram's variables (create_var_fields).
func (m *maker) variables() error {
	c := m.h.cmd
	for i, v := range c.Vars {
		taken := m.traced.vars[v.Name] != nil
		for _, before := range m.h.vars {
			taken = taken || before.label == v.Name
		}
		if taken && !c.Remove {
			return m.no("EINVAL", "Variable already defined", v.Name, "%s has a variable '%s' already", m.h.event, v.Name)
		}
		x, err := m.expr(v.Expr, isVariable)
		if err != nil {
			return err
		}
		if x.traits.has(asPercent | asGraph | byBuckets | byLog2) {
			return m.no("EINVAL", "Invalid field modifier", v.Name+"=", "a variable cannot have the modifier of '%s'", v.Name)
		}
		if x.traits.has(isExecname) {
			x.traits = isString | isVariable | isExecname
			x.typ, x.size, x.signed = "char[]", stringBytes, false
			m.mislead("'%s' is the name of the task that made the entry of the key, not of the current one", v.Name)
		}
		m.h.vars = append(m.h.vars, &variable{histValue: x, label: v.Name, of: m.h})
		m.read = i + 1
	}
	return nil
}

// own returns the histogram's own variable of a name (find_var_field).
func (h *hist) own(name string) *variable {
	for _, v := range h.vars {
		if v.label == name {
			return v
		}
	}
	return nil
}

// hide makes a variable without a name that can be referred to: of a field given
// as a parameter, of a saved one, and of what onmax and onchange remember
// (create_var).
func (m *maker) hide(name string) (*variable, bool) {
	if m.traced.vars[name] != nil || m.h.own(name) != nil {
		return nil, false
	}
	if len(m.h.vars)+m.h.hiddenVars >= m.j.t.Limits().HistVariables {
		return nil, false
	}
	m.h.hiddenVars++
	return &variable{label: name, of: m.h}, true
}

// checkVariables refuses more variables than the kernel takes, and drops those
// that it drops: behind the 16th of one list with commas.
func (m *maker) checkVariables(lists [][]string) error {
	most := m.j.t.Limits().HistVariables
	n := 0
	for _, list := range lists {
		for i := range list {
			if i == most {
				m.mislead("'%s' and what follows it in the list is dropped: a list has up to %d variables", varName(list[i]), most)
				break
			}
			if n == most {
				return m.no("EINVAL", "Too many variables defined", varName(list[i]), "the histogram has more than %d variables", most)
			}
			n++
		}
	}
	m.h.cmd.Vars = m.h.cmd.Vars[:min(n, len(m.h.cmd.Vars))]
	if n > 0 && !m.j.t.Has(target.HistVariables) {
		return m.no("EINVAL", "", varName(lists[0][0]), "this kernel's histograms have no variables")
	}
	return nil
}
