package lower

import (
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
// resolve_var_refs with read_once): so A is used up by B, if at least one of A's
// variables stands in an expression on B.
//
// What only a probe can read, memory behind a pointer first of all, is read by
// an eprobe on the synthetic event, within the same moment; what must be read
// at A, by a hidden event on A (prepare.go). Arithmetic is done by the
// histograms on B (compute.go). An event of one step that wants arithmetic, or
// what no probe reaches, its time or thread, is the same without A: a histogram
// that emits at each record. More than two steps are a chain (chain.go).
//
// Variables are global within an instance and an event, so they are named for
// the event they serve.

// join makes a recipe by histograms and a synthetic event.
func (l *lowerer) join(rec *recipe) *record {
	sp := rec.ev.Span
	what := "join events"
	if len(rec.ev.Stages) == 1 && len(rec.steps) > 1 {
		what = "follow a call from its entry to its exit"
	}
	if len(rec.ev.Stages) == 1 && len(rec.steps) == 1 {
		what = "compute, or record the time or thread"
		// One happening is never used up: a condition that must be computed
		// may as well be about the outcome.
		rec.steps[0].where, rec.having = splitTestable(&rec.steps[0], rec.having)
	}
	if !l.need(target.SyntheticEvents, sp, what) || !l.need(target.HistVariables, sp, what) {
		return nil
	}
	if !l.prepare(rec) || !l.chain(rec) {
		return nil
	}
	j := newJoiner(l, rec)
	late, having, ok := j.divide()
	if !ok {
		return nil
	}
	if rec.emit != nil {
		j.watch = j.watched(rec.emit)
	}
	whole := j.whole(late, having)
	if !whole {
		if stack, read := stackAndRead(late); stack != nil && read != nil {
			l.stackBeforeRead(rec, stack, read)
			return nil
		}
	}
	name := rec.ev.Name
	switch {
	case !whole:
		name = l.names.hidden(rec.ev, "join")
	case rec.ev.Inline, len(name) < 2: // the script does not care for the name, or the kernel does not take it
		name = l.names.hidden(rec.ev, "values")
	case !l.bareName(rec.ev):
		return nil
	}
	syn := j.synthetic(name)
	if syn == nil || !j.emit(syn) {
		return nil
	}
	if !whole {
		return l.lateProbe(&recipe{ev: rec.ev, steps: []step{{on: syn, where: having, span: sp}}, fields: late})
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

// stackAndRead returns a stack among the fields that the synthetic event carries,
// and one that a probe on it must read.
func stackAndRead(late []*ir.Field) (stack, read ir.Expr) {
	for _, f := range late {
		if isStack(f.Value) {
			stack = f.Value
		} else if _, carried := f.Value.(*ir.FieldRef); !carried && read == nil {
			read = f.Value
		}
	}
	return stack, read
}

// splitTestable moves the conditions that a step's probe cannot test to having.
func splitTestable(s *step, having []ir.Expr) ([]ir.Expr, []ir.Expr) {
	var keep []ir.Expr
	for _, w := range s.where {
		if s.cannotTest(w) {
			having = append(having, w)
		} else {
			keep = append(keep, w)
		}
	}
	return keep, having
}

// lateProbe makes the eprobe that reads what the synthetic event only carries.
func (l *lowerer) lateProbe(rec *recipe) *record {
	rec.rewrite(func(x ir.Expr) ir.Expr { return ir.Rewrite(x, widenedLoad) })
	for _, f := range rec.fields {
		if !canFetch(f.Value) {
			l.cannotRead(f.Value)
			return nil
		}
	}
	for _, w := range rec.steps[0].where {
		if !canTest(w) {
			l.cannotRead(w)
			return nil
		}
	}
	return l.eprobe(rec)
}

// joiner makes one join of one step or two.
type joiner struct {
	l       *lowerer
	rec     *recipe
	carried []*carried
	byKey   map[string]*carried // by the value that it is
	labels  labels              // names of the synthetic event's fields
	fields  labels              // names of the script's fields, which come first
	vars    map[string]string   // names of variables, by what they hold
	hists   []*command.Hist     // of the last step, in the order in which they run
	watch   *carried            // what the event is emitted on, if not each time; no field
	usedUp  bool                // an expression of the last step reads a variable of the first
}

func newJoiner(l *lowerer, rec *recipe) *joiner {
	j := &joiner{l: l, rec: rec, byKey: map[string]*carried{}, labels: labels{}, fields: labels{}, vars: map[string]string{}}
	for _, f := range rec.fields {
		j.fields[f.Name] = true
	}
	return j
}

// carried is a value that the synthetic event carries.
type carried struct {
	column
	x     ir.Expr
	stage int // the step that it is a value of; -1 if it is computed
}

// whole reports whether the synthetic event is the script's event as it is:
// each field one that it carries, in order and as the script means it, none
// besides, and the conditions about these. An event with a group of its own is
// not: synthetic events have but one.
func (j *joiner) whole(late []*ir.Field, having []ir.Expr) bool {
	if j.rec.ev.Group != "" || len(late) != len(j.carried) {
		return false
	}
	r := &record{}
	for i, f := range late {
		ref, ok := f.Value.(*ir.FieldRef)
		c := j.carried[i]
		if !ok || ref.Name != f.Name || c.name != f.Name {
			return false
		}
		if _, stack := c.typ.(types.Stack); !stack && !c.whole() {
			return false
		}
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
	if len(j.carried) == 0 {
		j.carry(&ir.Context{At: ir.At{T: types.Int{Size: 4, Signed: true}, Sp: ev.Span}, Stage: len(j.rec.steps) - 1, Kind: ir.Tid}, "")
	}
	if len(j.carried) > command.MaxSynthFields {
		j.l.tooManyCarried(ev.Span, len(j.carried), command.MaxSynthFields)
		return nil
	}
	c := &command.Synthetic{Name: name, Span: ev.Span}
	r := &record{name: command.EventName{Group: "synthetic", Name: name, Span: ev.Span}, kind: synthetic}
	if !j.l.nested(r, j.rec.steps[len(j.rec.steps)-1].on) {
		return nil
	}
	for _, v := range j.carried {
		t, ok := j.synthType(v)
		if !ok {
			return nil
		}
		v.kernel = t
		c.Fields = append(c.Fields, command.SynthField{Type: t, Name: v.name, Span: v.x.Span()})
		col := v.column
		if t == "char[]" {
			col.typ = types.String{} // of any length, whatever it is made of
		}
		r.columns = append(r.columns, col)
	}
	j.l.write(c, target.SyntheticEvents).Why = j.whyCarrier()
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
		return "unsigned long[]", j.l.need(target.SyntheticStacks, v.x.Span(), "keep a stack in a record")
	}
	if v.signed {
		return "s" + itoa(v.size*8), true
	}
	return "u" + itoa(v.size*8), true
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

// emit makes the histograms: of the first step of two, which keeps, and of the
// last, which compute and emit syn.
func (j *joiner) emit(syn *record) bool {
	last := len(j.rec.steps) - 1
	params := make([]command.HistExpr, len(j.carried))
	results, ok := j.compute()
	if !ok {
		return false
	}
	j.keepApart()
	emitter := j.hists[len(j.hists)-1]
	for i, v := range j.carried {
		name, sp := j.carriedVariable(v), v.x.Span()
		params[i] = command.HistRef{Name: name, Span: sp}
		switch v.stage {
		case -1:
			emitter.Vars = append(emitter.Vars, command.HistVar{Name: name, Expr: results[i], Span: sp})
		case last:
			emitter.Vars = append(emitter.Vars, command.HistVar{Name: name, Expr: j.fieldOf(v.x), Span: sp})
		case 0:
			if j.rec.onMarker() && v.size > 0 {
				params[i] = j.ofMarker(emitter, v)
			}
		}
	}
	var keeper *command.Hist
	if last > 0 {
		keeper = j.keeper()
		if !j.usedUp {
			j.useUp(keeper, params)
		}
	}
	action := command.HistAction{Handler: "onmatch", Match: j.rec.steps[0].on.name, Do: "trace", Synth: syn.name.Name, Params: params, Span: j.rec.ev.Span}
	action.Match.Span = j.rec.steps[0].span
	if j.watch != nil {
		action.Match = command.EventName{}
		action.Handler, action.Var = "onchange", j.variable("watched", j.watch.name)
		if j.rec.emit.Max {
			action.Handler = "onmax"
		}
		v := command.HistVar{Name: action.Var, Span: j.watch.x.Span()}
		if v.Expr = results[len(j.carried)]; v.Expr == nil {
			if !isLeaf(j.watch.x) { // a constant, or bits
				j.l.cannotCompute(j.watch.x.Span())
				return false
			}
			v.Expr = j.fieldOf(j.watch.x)
		}
		emitter.Vars = append([]command.HistVar{v}, emitter.Vars...)
	}
	emitter.Actions = []command.HistAction{action}
	if keeper != nil && !j.put(0, keeper) {
		return false
	}
	for _, h := range j.hists {
		if !j.put(last, h) {
			return false
		}
	}
	for _, t := range j.rec.disarm {
		j.l.write(t).Why = "the histograms are there, which keep the event on"
	}
	return true
}

// put writes a histogram of step i if it is within the kernel's limits.
func (j *joiner) put(i int, h *command.Hist) bool {
	limits := j.l.t.Limits()
	sp := j.rec.steps[i].span
	if n := len(h.Vars); n > limits.HistVariables {
		j.l.tooManyVariables(sp, n)
		return false
	}
	if n := references(h); n > limits.HistReferences {
		j.l.tooManyReferences(j.rec.ev.Span, n)
		return false
	}
	if n := j.rec.keyBytes(i); n > limits.HistKeyBytes {
		j.l.keysTooLong(sp, n)
		return false
	}
	for _, v := range h.Vars {
		if hasNumber(v.Expr) && !j.l.need(target.HistArithmetic, j.rec.ev.Span, "compute with numbers") {
			return false
		}
	}
	for _, v := range h.Vars {
		if !usesTime(v.Expr) {
			continue
		}
		if !j.l.timed.Valid() {
			j.l.timed = j.rec.ev.Span
		}
		j.l.paired = j.l.paired || len(j.rec.steps) > 1
	}
	j.l.write(h, target.HistVariables).Why = j.whyHist(i, h)
	return true
}

// hist begins a histogram of step i: keys, size and conditions.
func (j *joiner) hist(i int) *command.Hist {
	s := j.rec.steps[i]
	h := &command.Hist{Event: s.on.name, Size: j.rec.ev.Size, Clock: j.l.prog.Options.Clock, If: s.on.gate}
	h.Event.Span = s.span
	for _, k := range j.rec.keysOf(i) {
		h.Keys = append(h.Keys, j.fieldOf(k))
	}
	if len(h.Keys) == 0 {
		name := "common_cpu"
		if j.rec.emit != nil {
			name = "common_type" // over all records of the event
		}
		h.Keys = []command.HistExpr{command.HistField{Name: name, Span: source.NoSpan}}
	}
	for _, w := range s.where {
		c, ok := j.l.cond(w, columnsOf(s.on))
		if !ok {
			return h
		}
		h.If = and(h.If, c)
	}
	return h
}

// keeper is the histogram of the first step, which keeps its values.
func (j *joiner) keeper() *command.Hist {
	h := j.hist(0)
	seen := map[string]bool{}
	keep := func(name string, x ir.Expr) {
		if !seen[name] {
			seen[name] = true
			h.Vars = append(h.Vars, command.HistVar{Name: name, Expr: j.fieldOf(x), Span: x.Span()})
		}
	}
	for _, v := range j.carried {
		if v.stage == 0 {
			keep(j.carriedVariable(v), v.x)
		}
		if v.stage == -1 {
			ir.Visit(v.x, func(x ir.Expr) bool {
				if isLeaf(x) && stageIn(x, 0) {
					keep(j.leafVariable(x), x)
					return false
				}
				return true
			})
		}
	}
	return h
}

// leafVariable names the variable that keeps a value of the first step.
func (j *joiner) leafVariable(x ir.Expr) string {
	x = uncast(x)
	if v, ok := j.vars[x.String()]; ok {
		return v
	}
	if c, ok := j.byKey[x.String()]; ok {
		v := j.carriedVariable(c)
		j.vars[x.String()] = v
		return v
	}
	if c, ok := x.(*ir.Context); ok && c.Kind == ir.Time {
		return j.variable(x.String(), "time")
	}
	return j.variable(x.String(), label(x)+"_kept")
}

// keepApart gives values of the first step that are carried as they are
// variables of their own if they are computed with as well and there are several
// rounds: the first would unset what the last is to emit.
func (j *joiner) keepApart() {
	if len(j.hists) == 1 {
		return
	}
	for _, v := range j.carried {
		carried := "carried " + v.name
		if leaf, ok := j.vars[uncast(v.x).String()]; ok && v.stage == 0 && leaf == j.vars[carried] {
			j.vars[carried] = j.l.names.variable(j.rec.ev.Name, v.name+"_kept")
		}
	}
}

// carriedVariable names the variable that a carried value has in the histogram
// that keeps or makes it.
func (j *joiner) carriedVariable(v *carried) string { return j.variable("carried "+v.name, v.name) }

// ofMarker has the emitter read a value that a marker carries, and returns its
// own variable for it: a parameter's name is not looked for on ftrace.print
// (kernel/trace/trace_events.c, find_event_file), an expression's is.
func (j *joiner) ofMarker(emitter *command.Hist, v *carried) command.HistExpr {
	sp := v.x.Span()
	name := j.variable("read "+v.name, v.name+"_read")
	read := &command.HistBinary{X: command.HistRef{Name: j.carriedVariable(v), Span: sp}, Op: '+', Y: command.HistNum{Span: source.NoSpan}, Span: sp}
	emitter.Vars = append(emitter.Vars, command.HistVar{Name: name, Span: sp, Expr: read})
	j.usedUp = true
	return command.HistRef{Name: name, Span: sp}
}

// useUp makes the first histogram of the last step read a variable of the first
// step in an expression, so that the kernel unsets it: a number that is carried,
// else one kept for that. Kernels before v5.16 have no numbers in expressions:
// there a time is taken from another.
func (j *joiner) useUp(keeper *command.Hist, params []command.HistExpr) {
	first, numbers := j.hists[0], j.l.t.Has(target.HistArithmetic)
	read := func(name string, sp source.Span) command.HistExpr {
		return &command.HistBinary{X: command.HistRef{Name: name, Span: sp}, Op: '+', Y: command.HistNum{Span: source.NoSpan}, Span: sp}
	}
	for i, v := range j.carried {
		if v.stage != 0 || v.size == 0 || len(j.hists) > 1 || !numbers {
			continue
		}
		name := j.variable("used "+v.name, v.name+"_used")
		first.Vars = append(first.Vars, command.HistVar{Name: name, Span: v.x.Span(), Expr: read(j.carriedVariable(v), v.x.Span())})
		params[i] = command.HistRef{Name: name, Span: v.x.Span()}
		return
	}
	kept, used := j.variable("seen", "seen"), j.variable("used seen", "seen_used")
	field, expr := "common_pid", read(kept, source.NoSpan)
	if !numbers {
		now := command.HistField{Name: "common_timestamp", Span: source.NoSpan}
		field, expr = now.Name, &command.HistBinary{X: now, Op: '-', Y: command.HistRef{Name: kept, Span: source.NoSpan}, Span: source.NoSpan}
	}
	keeper.Vars = append(keeper.Vars, command.HistVar{Name: kept, Expr: command.HistField{Name: field, Span: source.NoSpan}, Span: source.NoSpan})
	first.Vars = append(first.Vars, command.HistVar{Name: used, Expr: expr, Span: source.NoSpan})
}

// fieldOf is how a histogram names a value of its own event.
func (j *joiner) fieldOf(x ir.Expr) command.HistField {
	if name, ok := commonField(x); ok {
		if name == "common_stacktrace" && !j.l.t.Has(target.CommonStacktrace) {
			name = "stacktrace"
		}
		return command.HistField{Name: name, Span: x.Span()}
	}
	return command.HistField{Name: uncast(x).(*ir.FieldRef).Name, Span: x.Span()}
}

// watched is the value that the event is emitted on.
func (j *joiner) watched(e *ir.Emit) *carried {
	name := "change"
	if e.Max {
		name = "max"
	}
	c := &carried{x: e.Value, column: column{name: j.labels.unique(name), typ: e.Value.Type(), size: 8}}
	if _, fixed := e.Value.(*ir.Const); !fixed && !isLeaf(e.Value) {
		c.stage = -1
	}
	return c
}

// variable names the variable that holds what, after name. The kernel looks for a
// variable in all histograms of an event, so names differ over the script.
func (j *joiner) variable(what, name string) string {
	v, ok := j.vars[what]
	if !ok {
		v = j.l.names.variable(j.rec.ev.Name, name)
		j.vars[what] = v
	}
	return v
}
