package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
)

// hist is a histogram of one event in one buffer.
//
// A write to a trigger file makes one in the kernel's order, which says what of
// several mistakes is told of (event_hist_trigger_parse and create_hist_data of
// kernel/trace/trace_events_hist.c): the actions are read, the values, the
// variables, the keys and the sort order are made, then the condition. Then it
// is compared with those that are there, and only then do the actions find what
// they emit. histfield.go, histexpr.go and histvar.go have the values, action.go
// the actions, histset.go the histograms that there are.
type hist struct {
	event  *event
	in     *traced
	buffer *buffer
	cmd    *command.Hist
	cond   string // the condition as it was written

	vals, keys []histValue
	vars       []*variable
	hiddenVars int // variables that have no name of their own
	shape      string
	stamped    bool // uses common_timestamp

	refs     []*variable // what it refers to, its own variables too
	once     []*variable // those that it uses up
	emits    []*event
	helpers  []*hist // made for the fields of other events that it emits
	saves    bool
	snapshot bool

	table *table // if it is shared
	twin  *event // a synthetic event that it keeps busy by its name alone
	users int    // other histograms that refer to its variables
}

// maker makes one histogram.
type maker struct {
	j        *Judge
	h        *hist
	traced   *traced
	line     string
	read     int  // variables whose values were made
	unlike   bool // a removal that no histogram can be like
	misleads []string
}

// no refuses; near tells where text is in the line.
func (m *maker) no(errno, kernel, text, reason string, args ...any) *Refusal {
	return no(errno, kernel, reason, args...).at(m.line, text)
}

func (m *maker) mislead(text string, args ...any) {
	if m.j.quiet {
		return
	}
	if s := sprintf(text, args...); !slices.Contains(m.misleads, s) {
		m.misleads = append(m.misleads, s)
	}
}

// histogram carries out a write that begins with "hist" or "!hist".
func (j *Judge) histogram(f file, line string) (misleads []string, err error) {
	if !j.t.Has(target.Hist) {
		return nil, no("EINVAL", "", "this kernel has no histograms")
	}
	e := f.events[0]
	m := &maker{j: j, line: line, traced: f.buffer.of(e)}
	text, err := m.written(line)
	if err != nil {
		return nil, err
	}
	path := "events/" + e.group + "/" + e.event + "/trigger"
	c, err := command.Parse(path, text)
	for err != nil {
		rest, ok := withoutBadAction(text, err)
		if !ok {
			break
		}
		text, m.unlike = rest, true
		c, err = command.Parse(path, text)
	}
	if err != nil {
		return nil, j.fieldFirst(e, syntax(err, text), text)
	}
	m.h = &hist{event: e, in: m.traced, buffer: f.buffer, cmd: c.(*command.Hist), cond: command.TriggerCond(strings.TrimSpace(text))}
	err = m.make(text)
	return m.misleads, err
}

// make makes the histogram, removes one like it, or changes its state.
func (m *maker) make(text string) error {
	c := m.h.cmd
	if err := m.parts(text); err != nil {
		return err
	}
	if err := m.values(); err != nil {
		return err
	}
	if err := m.variables(); err != nil {
		return err
	}
	if err := m.keys(); err != nil {
		return err
	}
	order, err := m.sort()
	if err != nil {
		return err
	}
	m.h.shape = m.h.shapeOf(order)
	if c.If != nil {
		found, err := m.j.cond(m.h.event, c.If, m.line)
		if err != nil {
			return err
		}
		m.misleads = append(m.misleads, found...)
	}
	if c.Remove && m.unlike {
		m.misleadNothing()
		return nil
	}
	if c.Remove {
		return m.remove()
	}
	if m.update() {
		return nil
	}
	if err := m.actions(); err != nil {
		return err
	}
	if err := m.register(); err != nil {
		return err
	}
	if !m.j.quiet {
		m.misleadHist()
	}
	return nil
}

// parts checks what is read before anything is made.
func (m *maker) parts(text string) error {
	c, limits := m.h.cmd, m.j.t.Limits()
	if c.Size != 0 && (c.Size <= command.MinHistSize/2 || c.Size > limits.HistSize) {
		return m.no("EINVAL", "", fmt.Sprintf("size=%d", c.Size), "a table of %d entries; the kernel makes tables of %d to %d", c.Size, command.MinHistSize, limits.HistSize)
	}
	if len(c.Actions) > limits.HistActions {
		return m.no("EINVAL", "", "", "%d actions; the kernel takes %d", len(c.Actions), limits.HistActions)
	}
	if c.NoHitcount && !m.j.t.Has(target.HistNoHitcount) {
		return m.no("EINVAL", "", "nohitcount", "this kernel has no 'nohitcount'")
	}
	for _, a := range c.Actions {
		if err := m.parseAction(a); err != nil {
			return err
		}
	}
	return m.checkVariables(varLists(text))
}

// values makes the values beside hitcount (create_val_fields).
func (m *maker) values() error {
	c, most := m.h.cmd, m.j.t.Limits().HistValues
	hitcount := false
	for i, x := range c.Vals {
		f, isField := x.(command.HistField)
		if len(m.h.vals) == most || i == most+1 {
			if i == len(c.Vals)-1 && isField && f.Name == "hitcount" && f.Modifier == "" {
				break
			}
			return m.no("EINVAL", "", "", "%d values; the kernel takes %d beside hitcount", len(c.Vals), most)
		}
		if isField && f.Name == "hitcount" && f.Modifier == "" && f.Event.Name == "" &&
			(!hitcount || !m.j.t.Has(target.HistHitcountKey)) {
			hitcount = true
			continue
		}
		v, err := m.expr(x, 0)
		if err != nil {
			return err
		}
		bad := asPercent | asGraph | byBuckets | byLog2 | asSymbol | asSymbolOffset | asSyscall | isStack
		if m.j.t.Has(target.HistPercent) && !m.j.t.Has(target.QuirkPercentRefused) {
			bad &^= asPercent | asGraph
		}
		if v.traits.has(bad) {
			text := "vals"
			if isField {
				text = f.Name
			}
			return m.no("EINVAL", "Invalid field modifier", text, "a value cannot be summed in that form")
		}
		if v.name == "" {
			v.name = exprText(x)
		}
		m.misleadVal(x, v)
		m.h.vals = append(m.h.vals, v)
	}
	if len(m.h.vals) == 0 && c.NoHitcount {
		return m.no("ENOENT", "Non-hitcount value is required for 'nohitcount'", "nohitcount", "'nohitcount' needs a value beside hitcount")
	}
	return nil
}

// keys makes the keys (create_key_fields).
func (m *maker) keys() error {
	c, limits := m.h.cmd, m.j.t.Limits()
	bytes := 0
	for i, x := range c.Keys {
		if i == limits.HistKeys {
			return m.no("EINVAL", "", "", "%d keys; the kernel takes %d", len(c.Keys), limits.HistKeys)
		}
		var v histValue
		if f, ok := x.(command.HistField); ok && f.Name == "stacktrace" && f.Modifier == "" && f.Event.Name == "" {
			v = histValue{traits: isKey | isStack, name: "common_stacktrace", typ: "unsigned long[]", size: m.j.t.Limits().HistStackBytes}
			if !m.j.t.Has(target.CommonStacktrace) {
				v.name = "" // nothing to sort by
			}
		} else {
			var err error
			if v, err = m.expr(x, isKey); err != nil {
				return err
			}
			if v.ref != nil || refersTo(x, m) {
				return m.no("EINVAL", "Using variable references in keys not supported", "", "a key cannot be another histogram's variable")
			}
			if v.name == "" {
				v.name = exprText(x)
			}
		}
		v.size = (v.size + 7) &^ 7
		m.misleadKey(v)
		m.h.keys = append(m.h.keys, v)
		if bytes += v.size; bytes > limits.HistKeyBytes {
			return m.no("EINVAL", "", "", "the keys have more than %d bytes; a text without a fixed place counts %d and a stack %d",
				limits.HistKeyBytes, stringBytes, limits.HistStackBytes)
		}
	}
	return nil
}

// refersTo reports whether an expression of a key refers to a variable of
// another histogram.
func refersTo(x command.HistExpr, m *maker) bool {
	switch x := x.(type) {
	case command.HistRef:
		return m.local(x) == nil
	case *command.HistBinary:
		return refersTo(x.X, m) || refersTo(x.Y, m)
	case *command.HistNeg:
		return refersTo(x.X, m)
	}
	return false
}

// sortKey is a value or key by its number, and the order.
type sortKey struct {
	n    int // 0 is hitcount
	desc bool
}

// sort finds what is sorted by (create_sort_keys).
func (m *maker) sort() ([]sortKey, error) {
	c := m.h.cmd
	if len(c.Sort) > m.j.t.Limits().HistSorts {
		return nil, m.no("EINVAL", "Too many sort fields (Max = 2)", "sort=", "%d sort keys; the kernel takes %d", len(c.Sort), m.j.t.Limits().HistSorts)
	}
	if len(c.Sort) == 0 {
		return []sortKey{{}}, nil
	}
	var order []sortKey
	for _, s := range c.Sort {
		k := sortKey{n: -1, desc: s.Desc}
		var names []string
		if s.Name == "hitcount" {
			k.n = 0
		}
		for i, v := range slices.Concat(m.h.vals, m.h.keys) {
			names = append(names, v.name)
			if v.name == s.Name && k.n < 0 {
				k.n = i + 1
			}
		}
		if k.n < 0 {
			return nil, m.no("EINVAL", "Sort field must be a key or a val", s.Name, "'%s' is neither a key nor a value", s.Name).near(s.Name, names)
		}
		order = append(order, k)
	}
	return order, nil
}

// shapeOf returns what the kernel compares to tell whether two histograms are
// the same (hist_trigger_match), but for the condition: neither numbers nor what
// an expression is made of.
func (h *hist) shapeOf(order []sortKey) string {
	var b []byte
	offset := 0
	add := func(v histValue, label string) {
		b = strconv.AppendUint(b, uint64(v.traits), 16)
		if f := v.field; f != nil {
			b = append(append(append(append(b, ' '), f.Name...), ' '), f.Decl...)
			b = strconv.AppendBool(strconv.AppendInt(b, int64(f.Size), 10), f.Signed)
		}
		b = append(strconv.AppendBool(strconv.AppendInt(append(b, '|'), int64(v.size), 10), v.signed), label...)
		if v.traits.has(isKey) {
			b = strconv.AppendInt(append(b, '@'), int64(offset), 10)
			offset += v.size
		}
		b = append(b, '\n')
	}
	for _, v := range h.vals {
		add(v, "")
	}
	for _, v := range h.vars {
		add(v.histValue, "="+v.label)
	}
	for _, v := range h.keys {
		add(v, "")
	}
	for _, k := range order {
		b = strconv.AppendBool(strconv.AppendInt(b, int64(k.n), 10), k.desc)
	}
	for _, a := range h.cmd.Actions {
		b = append(b, '\n')
		for _, word := range []string{a.Handler, a.Match.Group, a.Match.Name, a.Var, a.Do, a.Synth} {
			b = append(append(b, word...), ' ')
		}
		for _, p := range a.Params {
			b = append(append(b, ','), exprText(p)...)
		}
	}
	return string(b)
}

// exprText returns an expression as it is written.
func exprText(x command.HistExpr) string {
	event := func(n command.EventName) string {
		if n.Name == "" {
			return ""
		}
		return n.String() + "."
	}
	switch x := x.(type) {
	case command.HistNum:
		return strconv.FormatUint(x.N, 10)
	case command.HistRef:
		return event(x.Event) + "$" + x.Name
	case command.HistField:
		if x.Modifier != "" {
			return event(x.Event) + x.Name + "." + x.Modifier
		}
		return event(x.Event) + x.Name
	case *command.HistNeg:
		return "-(" + exprText(x.X) + ")"
	case *command.HistBinary:
		return exprText(x.X) + string(x.Op) + exprText(x.Y)
	}
	panic("internal error: no such hist expression")
}
