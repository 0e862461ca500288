package lower

import (
	"fmt"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// A join of A and B by K becomes a histogram on A that keeps A's values as
// variables of K's entry, a histogram on B that finds them by the same K, and a
// synthetic event that B's histogram emits with the values of both:
//
//	hist:keys=K(A):v=…                              on A
//	hist:keys=K(B):w=…:onmatch(A).trace(S,$v,$w)    on B
//	s:S …
//
// Of these, the kernel pairs as the language says. Each A overwrites the values
// of the one before: B finds the latest. Nothing is emitted if a variable is
// not set; and a variable that is read in an expression, not as a mere
// parameter, is unset by that (kernel/trace/trace_events_hist.c,
// hist_trigger_elt_update and resolve_var_refs with read_once): so A is used up
// by B, if at least one of A's variables stands in an expression on B.
//
// What only a probe can read, memory behind a pointer first of all, is read by
// an eprobe on the synthetic event, within the same moment; what must be read
// at A, by a hidden eprobe on A whose fields the histogram keeps. An event of
// one step that asks for what no probe reaches, its time or thread, is the same
// without A: a histogram that emits at each record.
//
// Variables are global within an instance and an event, so they are named for
// the event they serve.

// join makes a recipe by histograms and a synthetic event.
func (l *lowerer) join(rec *recipe) *record {
	sp := rec.ev.Span
	if !l.need(target.SyntheticEvents, sp, joining(rec)) || !l.need(target.HistVariables, sp, joining(rec)) {
		return nil
	}
	j := &joiner{l: l, rec: rec, byKey: map[string]*carried{}, labels: labels{}, fields: labels{}, vars: map[string]string{},
		hiddenNames: make([]hiddenNames, len(rec.steps))}
	if !j.distinct() {
		return nil
	}
	for _, f := range rec.fields {
		j.fields[f.Name] = true
	}
	late, having, ok := j.divide()
	if !ok || !j.stages() {
		return nil
	}
	whole := j.whole(late, having)
	name := rec.ev.Name
	if whole && rec.ev.Inline && (l.nameIsTaken(name) || len(name) < command.MinActionWord) {
		name = l.names.hidden(rec.ev, "join") // the script does not call it anything
	} else if !whole {
		name = l.names.hidden(rec.ev, "join")
	} else if !l.bareName(rec.ev) {
		return nil
	}
	syn := j.synthetic(name)
	if syn == nil || !j.emit(syn) {
		return nil
	}
	if !whole {
		ev := *rec.ev
		return l.lateProbe(&recipe{ev: &ev, steps: []step{{on: syn, where: having, span: rec.ev.Span}}, fields: late})
	}
	for _, h := range having {
		c, ok := l.cond(h, columnsOf(syn))
		if !ok {
			return nil
		}
		syn.gate = and(syn.gate, c)
	}
	return syn
}

// lateProbe makes the eprobe that reads what the synthetic event only carries.
func (l *lowerer) lateProbe(rec *recipe) *record {
	ok := true
	for _, f := range rec.fields {
		if !canFetch(f.Value) {
			l.notYet(f.Value.Span(), "arithmetic on the values of an event")
			ok = false
		}
	}
	for _, w := range rec.steps[0].where {
		if !canTest(w) {
			l.notYet(w.Span(), "arithmetic in a condition")
			ok = false
		}
	}
	if !ok {
		return nil
	}
	return l.eprobe(rec)
}

// joiner makes one join.
type joiner struct {
	l       *lowerer
	rec     *recipe
	carried []*carried
	byKey   map[string]*carried // by the value that it is
	labels  labels              // names of the synthetic event's fields
	fields  labels              // names of the script's fields, which come first
	vars    map[string]string   // names of the variables, by what they are for
	at      []*stageSource      // by step

	hiddenNames []hiddenNames // by step
}

// joining says what a join is for, in an error.
func joining(rec *recipe) string {
	switch {
	case len(rec.ev.Stages) > 1:
		return "join events"
	case len(rec.steps) > 1:
		return "follow a call from its entry to its exit"
	}
	return "record what no probe reaches"
}

// carried is a value that the synthetic event carries.
type carried struct {
	column
	x     ir.Expr
	stage int // the step that it is a value of; -1: a difference of two times
}

// distinct reports a join of an event with itself. Histograms of one event run
// in the order of their making, the one that keeps first: B would find its own
// record's A.
func (j *joiner) distinct() bool {
	seen := map[string]bool{}
	for _, s := range j.rec.steps {
		name := ""
		switch {
		case s.probe != nil:
			name = fmt.Sprint(s.probe.Place, s.probe.End, s.probe.Path, s.probe.Module, ":", s.probe.Symbol, s.probe.Offset)
		case s.nested != nil && s.nested.steps[0].on != nil:
			name = s.nested.steps[0].on.name.String()
		case s.on != nil:
			name = s.on.name.String()
		}
		if seen[name] {
			j.l.notYet(s.span, "a join of an event with itself")
			return false
		}
		seen[name] = true
	}
	return true
}

// divide splits each field and condition into what the synthetic event carries
// and what is left to do on it.
func (j *joiner) divide() (late []*ir.Field, having []ir.Expr, ok bool) {
	ok = true
	for _, f := range j.rec.fields {
		x, good := j.left(f.Value, f.Name)
		ok = ok && good
		n := *f
		n.Value = x
		late = append(late, &n)
	}
	for _, h := range j.rec.having {
		x, good := j.left(h, "")
		ok = ok && good
		having = append(having, x)
	}
	return late, having, ok
}

// whole reports whether the synthetic event is the script's event as it is:
// each field one that it carries, in order and as the script means it, none
// besides, and the conditions about these. An event with a group of its own is
// not: synthetic events have but one.
func (j *joiner) whole(late []*ir.Field, having []ir.Expr) bool {
	if j.rec.ev.Group != "" || len(late) != len(j.carried) {
		return false
	}
	for i, f := range late {
		ref, ok := f.Value.(*ir.FieldRef)
		if !ok || ref.Name != f.Name || j.carried[i].name != f.Name {
			return false
		}
		c := j.carried[i]
		if _, stack := c.typ.(types.Stack); !stack && !c.whole() {
			return false
		}
	}
	r := &record{}
	for _, c := range j.carried {
		r.columns = append(r.columns, c.column)
	}
	for _, h := range having {
		if !testable(h, r) {
			return false
		}
	}
	return true
}

// synthetic makes the event that carries the values.
func (j *joiner) synthetic(name string) *record {
	ev := j.rec.ev
	if len(name) < 2 {
		j.l.shortName(ev.Span, name)
		return nil
	}
	if len(j.carried) > command.MaxSynthFields {
		j.l.tooManyCarried(ev.Span, len(j.carried), command.MaxSynthFields)
		return nil
	}
	c := &command.Synthetic{Name: name, Span: ev.Span}
	r := &record{name: command.EventName{Group: "synthetic", Name: name, Span: ev.Span}, kind: synthetic}
	if len(j.carried) == 0 {
		j.carry(&ir.Context{At: ir.At{T: types.Int{Size: 4, Signed: true}, Sp: ev.Span}, Stage: len(j.rec.steps) - 1, Kind: ir.Tid}, "")
	}
	for _, v := range j.carried {
		t, ok := j.synthType(v)
		if !ok {
			return nil
		}
		v.kernel = t
		c.Fields = append(c.Fields, command.SynthField{Type: t, Name: v.name, Span: v.x.Span()})
		r.columns = append(r.columns, v.column)
	}
	j.l.write(c, target.SyntheticEvents)
	return r
}

// synthType is the synthetic event's type for a value: of the same width and
// sign as the histogram's variable, or the kernel refuses the parameter
// (trace_events_hist.c, check_synth_field).
func (j *joiner) synthType(v *carried) (string, bool) {
	switch t := v.typ.(type) {
	case types.String:
		if j.l.t.Has(target.SyntheticStrings) {
			return "char[]", true
		}
		if t.Cap > 0 {
			return "char[" + itoa(t.Cap) + "]", true
		}
		j.l.missing(target.SyntheticStrings, v.x.Span(), "carry a text of any length through a join")
		return "", false
	case types.Stack:
		return "unsigned long[]", j.l.need(target.SyntheticStacks, v.x.Span(), "carry a stack through a join") &&
			j.l.need(target.CommonStacktrace, v.x.Span(), "carry a stack through a join")
	}
	return number(v.size, v.signed), true
}

func number(size int, signed bool) string {
	if signed {
		return "s" + itoa(size*8)
	}
	return "u" + itoa(size*8)
}

// nameIsTaken reports whether another event has a bare name too.
func (l *lowerer) nameIsTaken(name string) bool {
	return len(l.names.bare[name]) > 1 || len(l.names.inTarget(name)) > 0
}

// bareName reports a synthetic event whose bare name another event has.
func (l *lowerer) bareName(ev *ir.Event) bool {
	for _, at := range l.names.bare[ev.Name] {
		if at != ev.Span {
			l.nameTaken(ev.Span, ev.Name, at)
			return false
		}
	}
	if systems := l.names.inTarget(ev.Name); len(systems) > 0 {
		l.nameOfTarget(ev.Span, ev.Name, systems[0])
		return false
	}
	return true
}

// left returns what remains of x when the synthetic event carries its values:
// an expression over that event. name is the field's, if x is all of it.
func (j *joiner) left(x ir.Expr, name string) (ir.Expr, bool) {
	if _, isConst := x.(*ir.Const); isConst {
		return x, true
	}
	if c, ok := j.carry(x, name); ok {
		return &ir.FieldRef{At: ir.At{T: c.typ, Sp: x.Span()}, Name: c.name}, true
	}
	one := func(in ir.Expr, wrap func(ir.Expr) ir.Expr) (ir.Expr, bool) {
		v, ok := j.left(in, "")
		if !ok {
			return x, false
		}
		return wrap(v), true
	}
	switch x := x.(type) {
	case *ir.Early:
		return j.left(x.X, name) // of the last step: read on its emission
	case *ir.Str:
		return one(x.X, func(v ir.Expr) ir.Expr { return &ir.Str{At: x.At, X: v, Max: x.Max} })
	case *ir.Load:
		if _, ok := x.X.Type().(types.Pointer); ok {
			return one(x.X, func(v ir.Expr) ir.Expr { return &ir.Load{At: x.At, X: v, Off: x.Off} })
		}
	case *ir.Cast:
		return one(x.X, func(v ir.Expr) ir.Expr { return &ir.Cast{At: x.At, X: v} })
	case *ir.Bits:
		return one(x.X, func(v ir.Expr) ir.Expr { return &ir.Bits{At: x.At, X: v, Offset: x.Offset, Width: x.Width} })
	case *ir.Unary:
		if x.Op == "!" {
			return one(x.X, func(v ir.Expr) ir.Expr { return &ir.Unary{At: x.At, Op: x.Op, X: v} })
		}
	case *ir.In:
		return one(x.X, func(v ir.Expr) ir.Expr { return &ir.In{At: x.At, X: v, Set: x.Set} })
	case *ir.Binary:
		if binaryLater(x) {
			a, okA := j.left(x.X, "")
			b, okB := j.left(x.Y, "")
			return &ir.Binary{At: x.At, Op: x.Op, X: a, Y: b}, okA && okB
		}
		j.l.notYet(x.Sp, "arithmetic on the values of an event")
		return x, false
	}
	j.l.cannotCarry(x.Span())
	return x, false
}

// binaryLater reports whether an operator can be left to the eprobe or filter on
// the synthetic event: conditions, bit tests, and a constant added to an
// address.
func binaryLater(x *ir.Binary) bool {
	switch x.Op {
	case "&&", "||", "==", "!=", "<", "<=", ">", ">=", "~", "&":
		return true
	}
	_, pointer := x.T.(types.Pointer)
	return pointer
}

// carry makes the synthetic event carry x, if a histogram can keep it.
func (j *joiner) carry(x ir.Expr, name string) (*carried, bool) {
	c := carried{x: x, column: column{typ: x.Type(), size: types.Size(x.Type()), signed: types.Signed(x.Type())}}
	switch v := x.(type) {
	case *ir.FieldRef:
		c.stage = v.Stage
		if !j.stored(&c, v) {
			return nil, false
		}
	case *ir.Context:
		c.stage = v.Stage
	case *ir.Load:
		ref, ok := v.X.(*ir.FieldRef)
		if !ok {
			return nil, false
		}
		if _, array := ref.T.(types.Array); !array {
			return nil, false
		}
		c.stage = ref.Stage
	case *ir.Early:
		c.stage = v.Stage
		if ref, ok := v.X.(*ir.FieldRef); ok {
			return j.carry(ref, name)
		}
		if v.Stage == len(j.rec.steps)-1 && !direct(v.X) {
			return nil, false
		}
	case *ir.Binary:
		if !timeDifference(v) {
			return nil, false
		}
		c.stage = -1
		c.size, c.signed = 8, false
	default:
		return nil, false
	}
	switch t := x.Type().(type) {
	case types.Array, types.Struct, types.Void:
		return nil, false
	case types.String:
		c.size = 0
		c.typ = types.String{Cap: t.Cap}
	}
	key := x.String()
	if old, ok := j.byKey[key]; ok && (name == "" || old.name == name) {
		return old, true
	}
	if name == "" {
		name = label(x)
		for j.fields[name] || j.labels[name] {
			name += "_"
		}
	}
	c.name = j.labels.unique(name)
	if _, ok := j.byKey[key]; !ok {
		j.byKey[key] = &c
	}
	j.carried = append(j.carried, &c)
	return &c, true
}

// stored takes the width and sign of a field as its record has them, which may
// be more than the value means.
func (j *joiner) stored(c *carried, ref *ir.FieldRef) bool {
	s := j.rec.steps[ref.Stage]
	if s.on == nil {
		return true
	}
	col := s.on.column(ref.Name)
	if col == nil {
		panic("internal error: no field " + ref.Name + " in " + s.on.name.String())
	}
	if _, text := col.typ.(types.String); !text {
		c.size, c.signed = col.size, col.signed
	}
	return true
}

// direct reports whether x is a value of the record or the context, that a
// histogram keeps as it is.
func direct(x ir.Expr) bool {
	switch uncast(x).(type) {
	case *ir.FieldRef, *ir.Context:
		return true
	}
	return false
}

// timeDifference reports whether x is a later step's time less an earlier's.
func timeDifference(x *ir.Binary) bool {
	a, okA := x.X.(*ir.Context)
	b, okB := x.Y.(*ir.Context)
	return x.Op == "-" && okA && okB && a.Kind == ir.Time && b.Kind == ir.Time && a.Stage > b.Stage
}

// emit makes the histogram of the last step, which emits syn.
func (j *joiner) emit(syn *record) bool {
	last := len(j.rec.steps) - 1
	src := j.at[last]
	h := src.hist
	params := make([]command.HistExpr, len(j.carried))
	used := last == 0
	for i, v := range j.carried {
		ref := command.HistRef{Name: j.variable(v.name), Span: v.x.Span()}
		switch {
		case v.stage == -1:
			b := v.x.(*ir.Binary)
			h.Vars = append(h.Vars, command.HistVar{Name: ref.Name, Span: b.Sp, Expr: &command.HistBinary{
				X: command.HistField{Name: "common_timestamp", Span: b.X.Span()}, Op: '-',
				Y: command.HistRef{Name: j.variable(timeVariable), Span: b.Y.Span()}, Span: b.Sp}})
			used = true
		case v.stage == last:
			h.Vars = append(h.Vars, command.HistVar{Name: ref.Name, Expr: src.value(v.x), Span: v.x.Span()})
		}
		params[i] = ref
	}
	if !used {
		j.useUp(h, params)
	}
	match := j.at[0].name
	match.Span = j.rec.steps[0].span
	h.Actions = []command.HistAction{{Handler: "onmatch", Match: match, Do: "trace", Synth: syn.name.Name, Params: params, Span: j.rec.ev.Span}}
	for i := range j.at {
		if n := len(j.at[i].hist.Vars); n > command.MaxVars {
			j.l.tooManyVariables(j.rec.steps[i].span, n)
			return false
		}
	}
	if n := references(h); n > command.MaxRefs {
		j.l.tooManyReferences(j.rec.ev.Span, n)
		return false
	}
	for i := range j.at {
		j.l.write(j.at[i].hist, target.HistVariables)
	}
	return true
}

// references counts the variables that h refers to. The kernel keeps a list of
// them for each histogram, own variables that are parameters among them
// (kernel/trace/trace_events_hist.c, create_var_ref).
func references(h *command.Hist) int {
	seen := map[string]bool{}
	var count func(x command.HistExpr)
	count = func(x command.HistExpr) {
		switch x := x.(type) {
		case command.HistRef:
			seen[x.Name] = true
		case *command.HistBinary:
			count(x.X)
			count(x.Y)
		case *command.HistNeg:
			count(x.X)
		}
	}
	for _, v := range h.Vars {
		count(v.Expr)
	}
	for _, a := range h.Actions {
		for _, p := range a.Params {
			count(p)
		}
	}
	return len(seen)
}

// useUp makes the last step read a variable of the first in an expression, so
// that the kernel unsets it: a number that is carried, else the time of the
// first, kept for that. Kernels before v5.16 have no numbers in expressions and
// need the time always.
func (j *joiner) useUp(h *command.Hist, params []command.HistExpr) {
	for i, v := range j.carried {
		if v.stage != 0 || v.size == 0 || !j.l.t.Has(target.HistArithmetic) {
			continue
		}
		name := j.variable(v.name + usedVariable)
		h.Vars = append(h.Vars, command.HistVar{Name: name, Span: v.x.Span(), Expr: &command.HistBinary{
			X: command.HistRef{Name: j.variable(v.name), Span: v.x.Span()}, Op: '+', Y: command.HistNum{}, Span: v.x.Span()}})
		params[i] = command.HistRef{Name: name, Span: v.x.Span()}
		return
	}
	kept, first := j.variable(seenVariable), j.at[0].hist
	first.Vars = append(first.Vars, command.HistVar{Name: kept, Expr: command.HistField{Name: "common_timestamp", Span: source.NoSpan}, Span: source.NoSpan})
	h.Vars = append(h.Vars, command.HistVar{Name: j.variable(seenVariable + usedVariable), Span: source.NoSpan, Expr: &command.HistBinary{
		X: command.HistField{Name: "common_timestamp", Span: source.NoSpan}, Op: '-', Y: command.HistRef{Name: kept, Span: source.NoSpan}, Span: source.NoSpan}})
}

// What variables are for that hold no field. No field's name has a blank.
const (
	timeVariable = " time"
	seenVariable = " seen"
	usedVariable = " used"
)

// variable names a histogram's variable by what it is for: a field's name, or
// one of the above.
func (j *joiner) variable(what string) string {
	name, ok := j.vars[what]
	if !ok {
		name = j.l.names.variable(j.rec.ev.Name, strings.ReplaceAll(strings.TrimPrefix(what, " "), " ", "_"))
		j.vars[what] = name
	}
	return name
}
