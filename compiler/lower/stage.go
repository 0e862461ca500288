package lower

import (
	"strconv"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

func itoa(n int) string { return strconv.Itoa(n) }

// stageSource is the event that a step's histogram sits on, and the histogram.
type stageSource struct {
	name  command.EventName
	hist  *command.Hist
	value func(ir.Expr) command.HistField // how the histogram gets a value of the step
}

// stages finds the event of each step, making a hidden one where the step's own
// does not have what is wanted, and begins its histogram: keys, conditions, and
// of the earlier steps the variables.
func (j *joiner) stages() bool {
	own := j.ownEvents()
	for i := range j.rec.steps {
		src := j.stage(i, own[i])
		if src == nil {
			return false
		}
		j.at = append(j.at, src)
	}
	return true
}

func (j *joiner) stage(i int, own bool) *stageSource {
	s := &j.rec.steps[i]
	want, keys, times := j.wanted(i)
	r := s.on
	where := s.where
	if own {
		var ok bool
		r, ok = j.hidden(i, append(append([]ir.Expr{}, keys...), want...), where)
		if !ok {
			return nil
		}
		where = nil
		j.measure(i, r)
	}
	name := r.name
	name.Span = s.span
	h := &command.Hist{Event: name, Size: j.rec.ev.Size, If: r.gate}
	src := &stageSource{name: name, hist: h, value: j.values(i, r)}
	for _, w := range where {
		c, ok := j.l.cond(w, columnsOf(r))
		if !ok {
			return nil
		}
		h.If = and(h.If, c)
	}
	for _, k := range keys {
		h.Keys = append(h.Keys, src.value(k))
	}
	if len(j.rec.steps) == 1 {
		h.Keys = append(h.Keys, command.HistField{Name: "common_cpu", Span: source.NoSpan})
	}
	if !j.keyRoom(i, keys, own) {
		return nil
	}
	if i < len(j.rec.steps)-1 {
		for _, x := range want {
			c := j.byKey[x.String()]
			h.Vars = append(h.Vars, command.HistVar{Name: j.variable(c.name), Expr: src.value(x), Span: x.Span()})
		}
		if times != nil {
			h.Vars = append(h.Vars, command.HistVar{Name: j.variable(timeVariable), Expr: command.HistField{Name: "common_timestamp", Span: times.Span()}, Span: times.Span()})
		}
	}
	return src
}

// measure gives the values that a hidden event holds the width and sign that
// they have there.
func (j *joiner) measure(i int, r *record) {
	for _, c := range j.carried {
		if c.stage != i {
			continue
		}
		if _, common := commonField(c.x); common {
			continue
		}
		if col := r.column(j.hiddenName(i, c.x)); col != nil && col.size != 0 {
			c.size, c.signed = col.size, col.signed
		}
	}
}

// wanted lists the values of step i that are carried, its keys, and, if a time
// difference begins at it, its time.
func (j *joiner) wanted(i int) (want, keys []ir.Expr, times ir.Expr) {
	seen := map[string]bool{}
	for _, c := range j.carried {
		if c.stage == i && !seen[c.x.String()] {
			seen[c.x.String()] = true
			want = append(want, c.x)
		}
		if b, ok := c.x.(*ir.Binary); ok && c.stage == -1 {
			if t := b.Y.(*ir.Context); t.Stage == i && times == nil {
				times = t
			}
		}
	}
	for k := range j.rec.steps {
		for _, key := range j.rec.steps[k].keys {
			if k == i {
				keys = append(keys, key.Right)
			}
			if k == i+1 {
				keys = append(keys, key.Left)
			}
		}
	}
	return want, keys, times
}

// suffices reports whether a histogram on r itself has all that is wanted of
// the step.
func (j *joiner) suffices(r *record, want, keys, where []ir.Expr) bool {
	for _, x := range want {
		if !j.kept(r, x) {
			return false
		}
	}
	for _, k := range keys {
		if !j.kept(r, k) {
			return false
		}
		if ref, ok := uncast(k).(*ir.FieldRef); ok && !r.column(ref.Name).whole() {
			return false
		}
	}
	for _, w := range where {
		if !testable(w, r) {
			return false
		}
	}
	return true
}

// kept reports whether a histogram on r can keep x as it is.
func (j *joiner) kept(r *record, x ir.Expr) bool {
	switch x := x.(type) {
	case *ir.Early:
		return j.kept(r, x.X)
	case *ir.Cast:
		return uncast(x) != ir.Expr(x) && j.kept(r, uncast(x))
	case *ir.FieldRef:
		switch r.column(x.Name).typ.(type) {
		case types.Array, types.Stack, types.Struct, types.Void:
			return false
		}
		return true
	case *ir.Context:
		switch x.Kind {
		case ir.Tid, ir.CPU, ir.Time:
			return true
		case ir.Comm:
			return j.l.t.Has(target.CommonComm)
		case ir.Kstack:
			return true
		}
	}
	return false
}

// values returns how a histogram on r gets a value of step i.
func (j *joiner) values(i int, r *record) func(ir.Expr) command.HistField {
	return func(x ir.Expr) command.HistField {
		if name, ok := commonField(x); ok && !(name == "common_comm" && r.column(j.hiddenName(i, x)) != nil) {
			return command.HistField{Name: name, Span: x.Span()}
		}
		if j.rec.steps[i].on == r {
			in := x
			if e, ok := in.(*ir.Early); ok {
				in = e.X
			}
			return command.HistField{Name: uncast(in).(*ir.FieldRef).Name, Span: x.Span()}
		}
		return command.HistField{Name: j.hiddenName(i, x), Span: x.Span()}
	}
}

// commonField is the histogram's name for a value that every event has.
func commonField(x ir.Expr) (string, bool) {
	if e, ok := x.(*ir.Early); ok {
		x = e.X
	}
	c, ok := uncast(x).(*ir.Context)
	if !ok {
		return "", false
	}
	switch c.Kind {
	case ir.Tid:
		return "common_pid", true
	case ir.CPU:
		return "common_cpu", true
	case ir.Time:
		return "common_timestamp", true
	case ir.Comm:
		return "common_comm", true
	case ir.Kstack:
		return "common_stacktrace", true
	}
	return "", false
}

// hidden makes an event of step i's own that has the values xs, for the step's
// histogram to sit on.
func (j *joiner) hidden(i int, xs, where []ir.Expr) (*record, bool) {
	s := j.rec.steps[i]
	role := word(s.alias)
	if role == "" {
		role = "stage" + itoa(i+1)
	}
	ev := &ir.Event{Span: s.span, Whole: j.rec.ev.Whole}
	ev.Name = j.l.names.hidden(j.rec.ev, role)
	ev.Stages = []*ir.Stage{{Span: s.span}}
	base := step{on: s.on, probe: s.probe, span: s.span}
	rec := &recipe{ev: ev, steps: []step{base}}
	rec.fields = j.hiddenFields(i, xs)
	for _, w := range where {
		rec.steps[0].where = append(rec.steps[0].where, moveStage(w, i, 0))
	}
	if s.nested != nil {
		j.l.compose(rec, 0, s.nested)
		inner := s.nested.steps[0]
		inner.where = append(append([]ir.Expr{}, inner.where...), rec.steps[0].where...)
		rec.steps[0] = inner
	}
	for _, f := range rec.fields {
		if !canFetch(f.Value) {
			j.l.notYet(f.Value.Span(), "arithmetic in a join")
			return nil, false
		}
	}
	for _, w := range rec.steps[0].where {
		if !canTest(w) {
			j.l.notYet(w.Span(), "arithmetic in a condition")
			return nil, false
		}
	}
	r := j.l.build(rec)
	return r, r != nil
}

// hiddenFields are the fields of a hidden event: the values that not every event
// has by itself, each once.
func (j *joiner) hiddenFields(i int, xs []ir.Expr) []*ir.Field {
	var out []*ir.Field
	seen := map[string]bool{}
	for _, x := range xs {
		if name, common := commonField(x); common && (name != "common_comm" || j.l.t.Has(target.CommonComm)) {
			continue
		}
		name := j.hiddenName(i, x)
		if seen[name] {
			continue
		}
		seen[name] = true
		v := moveStage(x, i, 0)
		if e, ok := v.(*ir.Early); ok {
			v = e.X
		}
		out = append(out, &ir.Field{Name: name, Span: x.Span(), Type: x.Type(), Value: v})
	}
	return out
}

// hiddenNames are the names of the values in the hidden event of a step.
type hiddenNames struct {
	byValue map[string]string
	labels  labels
}

// hiddenName names a value in the hidden event of step i after what it is.
func (j *joiner) hiddenName(i int, x ir.Expr) string {
	if e, ok := x.(*ir.Early); ok {
		x = e.X
	}
	n := &j.hiddenNames[i]
	if n.byValue == nil {
		n.byValue, n.labels = map[string]string{}, labels{}
	}
	key := x.String()
	if name, ok := n.byValue[key]; ok {
		return name
	}
	base := argLabel(x)
	switch v := x.(type) {
	case *ir.Str:
		base += "_text"
	case *ir.Load:
		if ref, ok := v.X.(*ir.FieldRef); ok {
			base = argLabel(ref) + "_at" + itoa(int(v.Off))
		}
	}
	name := n.labels.unique(base)
	n.byValue[key] = name
	return name
}

// ownEvents tells which steps need a hidden event of their own: those whose
// event has not all that is wanted, and those whose text keys would not have the
// same room as the others', which the kernel would never find equal.
func (j *joiner) ownEvents() []bool {
	own := make([]bool, len(j.rec.steps))
	for i, s := range j.rec.steps {
		want, keys, _ := j.wanted(i)
		own[i] = s.on == nil || !j.suffices(s.on, want, keys, s.where)
	}
	for changed := true; changed; {
		changed = false
		for i, s := range j.rec.steps {
			for _, k := range s.keys {
				l := i - 1
				a, b := j.textRoom(l, k.Left, own[l]), j.textRoom(i, k.Right, own[i])
				if a == b {
					continue
				}
				changed = true
				own[l] = own[l] || a != command.MaxSynthString
				own[i] = own[i] || b != command.MaxSynthString
			}
		}
	}
	return own
}

// textRoom is how many bytes a key of text takes in the histogram of step i; 0
// if it is no text. A text of any length takes 256, and so does a thread's name
// (trace_events_hist.c, create_hist_field).
func (j *joiner) textRoom(i int, key ir.Expr, own bool) int {
	if _, text := key.Type().(types.String); !text {
		return 0
	}
	if _, common := commonField(key); common || own {
		return command.MaxSynthString
	}
	if ref, ok := uncast(key).(*ir.FieldRef); ok {
		if t, ok := j.rec.steps[i].on.column(ref.Name).typ.(types.String); ok && t.Cap > 0 {
			return t.Cap
		}
	}
	return command.MaxSynthString
}

// keyRoom reports keys that are longer than the kernel takes; each is rounded
// up to 8 bytes (trace_events_hist.c, HIST_KEY_SIZE_MAX).
func (j *joiner) keyRoom(i int, keys []ir.Expr, own bool) bool {
	n := 0
	for _, k := range keys {
		n += (max(j.textRoom(i, k, own), 8) + 7) &^ 7
	}
	if n > command.MaxKeyBytes {
		j.l.keysTooLong(j.rec.steps[i].span, n)
		return false
	}
	return true
}
