package lower

import (
	"strconv"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// Before a join is made, each step is put on an event whose fields a histogram
// can keep, compare and compute with as the script means them. Where the step's
// own event is not that, a hidden event is made of it, a probe that reads what is
// wanted at that moment, and the recipe is rewritten to speak of its fields.

// prepare does this for all steps.
func (l *lowerer) prepare(rec *recipe) bool {
	last := len(rec.steps) - 1
	rec.rewrite(func(x ir.Expr) ir.Expr {
		return ir.Rewrite(x, func(x ir.Expr) ir.Expr {
			if e, ok := x.(*ir.Early); ok && e.Stage == last {
				return e.X // the event fires at the last step: its moment is that one
			}
			return x
		})
	})
	rec.readAtLast()
	if !l.order(rec) {
		return false
	}
	for i := range rec.steps {
		if l.suffices(rec, i) {
			continue
		}
		if len(rec.steps) == 1 && rec.onMarker() {
			l.markerAsIs(rec)
			return false
		}
		if len(rec.steps) == 1 && rec.onProbe() {
			l.cannotKeep(rec)
			return false
		}
		if l.hide(rec, i) == nil {
			return false
		}
	}
	if !l.equalRooms(rec) {
		return false
	}
	rec.rewrite(func(x ir.Expr) ir.Expr {
		return ir.Rewrite(x, func(x ir.Expr) ir.Expr {
			if e, ok := x.(*ir.Early); ok {
				return e.X // a value that the step's event has
			}
			return x
		})
	})
	return true
}

// equalRooms gives the texts by which steps are joined the same room: the kernel
// compares all of it. A copy that a probe makes has the room of any text.
func (l *lowerer) equalRooms(rec *recipe) bool {
	for changed := true; changed; {
		changed = false
		for i := 1; i < len(rec.steps); i++ {
			for _, k := range rec.steps[i].keys {
				from := stageOf(k.Left)
				a, b := rec.textRoom(from, k.Left), rec.textRoom(i, k.Right)
				for _, side := range []struct{ step, room int }{{from, a}, {i, b}} {
					if a == b || side.room == command.MaxSynthString {
						continue
					}
					if l.hide(rec, side.step) == nil {
						return false
					}
					changed = true
					break
				}
				if changed {
					break
				}
			}
		}
	}
	return true
}

// stageOf returns the step that a key's side is of.
func stageOf(x ir.Expr) int {
	stage := 0
	ir.Visit(x, func(x ir.Expr) bool {
		switch x := x.(type) {
		case *ir.FieldRef:
			stage = x.Stage
		case *ir.Context:
			stage = x.Stage
		}
		return true
	})
	return stage
}

// textRoom is how many bytes a key of text takes in a histogram of step i; 0 if
// it is no text. A text of any length takes 256, and so does a thread's name
// (trace_events_hist.c, create_hist_field).
func (r *recipe) textRoom(i int, key ir.Expr) int {
	if _, text := key.Type().(types.String); !text {
		return 0
	}
	if ref, ok := uncast(key).(*ir.FieldRef); ok && r.steps[i].on != nil {
		if t, ok := r.steps[i].on.column(ref.Name).typ.(types.String); ok && t.Cap > 0 {
			return t.Cap
		}
	}
	return command.MaxSynthString
}

// order sees to steps that are made of one event. Histograms run in the order of
// their making, and the one that keeps A's values must be made before the one
// that refers to them: of an event that is both A and B, B would find itself. So
// both are put on hidden events, the later step's switched on first: its
// histograms run when it fires, which is before the earlier's fires. An event is
// switched on by its first trigger; until it has a histogram, that is one that
// never acts.
func (l *lowerer) order(rec *recipe) bool {
	seen := map[string][]int{}
	for i, s := range rec.steps {
		base := baseName(s)
		seen[base] = append(seen[base], i)
	}
	shared := make([]bool, len(rec.steps))
	for _, at := range seen {
		for _, i := range at {
			shared[i] = len(at) > 1
		}
	}
	for i, s := range rec.steps {
		at := seen[baseName(s)]
		if isProbe := s.probe != nil || s.nested != nil && s.nested.steps[0].probe != nil; isProbe && shared[i] && !l.probeStages(rec, at) {
			return false
		}
	}
	for i := len(rec.steps) - 1; i >= 0; i-- {
		if !shared[i] {
			continue
		}
		r := l.hide(rec, i)
		if r == nil {
			return false
		}
		if r.kind != eprobe {
			continue // histograms on the event make it, in the order in which they are written
		}
		arm := &command.Trigger{Event: r.name, Kind: command.Traceoff}
		l.write(arm).Why = "both sides of the join are one event: the later side is switched on first, so that it runs first and does not find itself"
		disarm := *arm
		disarm.Remove = true
		rec.disarm = append(rec.disarm, &disarm)
	}
	return true
}

// baseName tells the event or place that a step hangs on.
func baseName(s step) string {
	if s.nested != nil {
		return baseName(s.nested.steps[0])
	}
	if p := s.probe; p != nil {
		return placeName(p)
	}
	return s.on.name.Group + "." + s.on.name.Name
}

// stepValues lists what is taken from step i's record, each once, in the order in
// which the recipe names it. strict are those that must be as wide as they mean:
// keys, and operands of arithmetic.
func (l *lowerer) stepValues(rec *recipe, i int) (list []ir.Expr, strict map[string]bool) {
	strict = map[string]bool{}
	seen := map[string]bool{}
	var visit func(x ir.Expr, exact bool)
	add := func(x ir.Expr, exact bool) {
		key := x.String()
		strict[key] = strict[key] || exact
		if !seen[key] {
			seen[key] = true
			list = append(list, x)
		}
	}
	visit = func(x ir.Expr, exact bool) {
		switch x := x.(type) {
		case *ir.FieldRef:
			if x.Stage == i {
				add(x, exact)
			}
		case *ir.Context:
			if x.Stage == i {
				if name, common := commonField(x); !common || name == "common_comm" && !l.t.Has(target.CommonComm) {
					add(x, exact)
				}
			}
		case *ir.Early:
			if x.Stage == i {
				if _, common := commonField(x.X); common {
					visit(x.X, exact)
					return
				}
				add(x, exact)
			}
		case *ir.Load:
			if inRecord(x) {
				if x.X.(*ir.FieldRef).Stage == i {
					add(x, exact)
				}
				return
			}
			visit(x.X, exact)
		case *ir.Str:
			visit(x.X, exact)
		case *ir.Cast:
			visit(x.X, exact || convertsUnit(x) || types.Size(x.T) > types.Size(x.X.Type()))
		case *ir.Bits:
			visit(x.X, exact)
		case *ir.In:
			visit(x.X, exact)
		case *ir.Unary:
			visit(x.X, exact || x.Op == "-")
		case *ir.Binary:
			exact = exact || arithmetic(x)
			visit(x.X, exact)
			visit(x.Y, exact)
		}
	}
	for _, f := range rec.fields {
		visit(f.Value, false)
	}
	if rec.emit != nil {
		visit(rec.emit.Value, true)
	}
	for _, h := range rec.having {
		visit(h, false)
	}
	for _, s := range rec.steps {
		for _, k := range s.keys {
			visit(k.Left, true)
			visit(k.Right, true)
		}
	}
	return list, strict
}

// inRecord reports whether x is a part of a field of the record: an element of
// an array, a character of a text.
func inRecord(x *ir.Load) bool {
	ref, ok := x.X.(*ir.FieldRef)
	if !ok {
		return false
	}
	switch ref.T.(type) {
	case types.Array, types.String:
		return true
	}
	return false
}

// suffices reports whether step i's own event has all that is wanted of it, as
// it is.
func (l *lowerer) suffices(rec *recipe, i int) bool {
	s := rec.steps[i]
	if s.on == nil {
		return false
	}
	list, strict := l.stepValues(rec, i)
	for _, x := range list {
		key := x.String()
		if e, ok := x.(*ir.Early); ok {
			x = e.X
		}
		ref, ok := x.(*ir.FieldRef)
		if !ok {
			return false
		}
		c := s.on.column(ref.Name)
		if !c.kept() || strict[key] && !c.whole() {
			return false
		}
	}
	for _, w := range s.where {
		if !testable(w, s.on) {
			return false
		}
	}
	for _, k := range rec.keysOf(i) {
		if !isLeaf(k) {
			return false
		}
	}
	return true
}

// kept reports whether a histogram can keep the column in a variable.
func (c *column) kept() bool {
	switch c.typ.(type) {
	case types.Array, types.Struct, types.Void, types.Invalid:
		return false
	}
	return c.inPlace == 0 && !c.tested
}

// isLeaf reports whether x is a value that a histogram has by name.
func isLeaf(x ir.Expr) bool {
	switch uncast(x).(type) {
	case *ir.FieldRef:
		return true
	case *ir.Context:
		return true
	}
	return false
}

// keysOf lists the keys that step i is found by: of the join that it ends, and
// of the one that it begins.
func (r *recipe) keysOf(i int) []ir.Expr {
	var out []ir.Expr
	for _, k := range r.steps[i].keys {
		out = append(out, k.Right)
	}
	for j := i + 1; j < len(r.steps); j++ {
		for _, k := range r.steps[j].keys {
			if stageIn(k.Left, i) {
				out = append(out, k.Left)
			}
		}
	}
	return out
}

// stageIn reports whether a part of x is of stage i.
func stageIn(x ir.Expr, i int) bool {
	found := false
	ir.Visit(x, func(x ir.Expr) bool {
		switch x := x.(type) {
		case *ir.FieldRef:
			found = found || x.Stage == i
		case *ir.Context:
			found = found || x.Stage == i
		}
		return !found
	})
	return found
}

// hide makes an event of step i's own that has what is wanted of the step, puts
// the step on it, and rewrites the recipe; nil if that failed.
func (l *lowerer) hide(rec *recipe, i int) *record {
	s := rec.steps[i]
	role := word(s.alias)
	if role == "" {
		role = "stage" + strconv.Itoa(i+1)
	}
	ev := &ir.Event{Name: l.names.hidden(rec.ev, role), Span: s.span, Whole: rec.ev.Whole, Stages: []*ir.Stage{{Span: s.span}}}
	hidden := &recipe{ev: ev, steps: []step{{on: s.on, probe: s.probe, span: s.span}}}
	list, _ := l.stepValues(rec, i)
	for _, k := range rec.keysOf(i) {
		if !isLeaf(k) && !contains(list, k) {
			list = append(list, k) // a computed key is a field
		}
	}
	labels := labels{}
	byKey := map[string]*ir.FieldRef{}
	for _, x := range list {
		v := moveStage(x, i, 0)
		if e, ok := v.(*ir.Early); ok {
			v = e.X
		}
		name := labels.unique(argLabel(x))
		hidden.fields = append(hidden.fields, &ir.Field{Name: name, Span: x.Span(), Type: x.Type(), Value: v})
		byKey[x.String()] = &ir.FieldRef{At: ir.At{T: x.Type(), Sp: x.Span()}, Stage: i, Name: name}
	}
	for _, w := range s.where {
		hidden.steps[0].where = append(hidden.steps[0].where, moveStage(w, i, 0))
	}
	if s.nested != nil {
		l.compose(hidden, 0, s.nested)
		base := s.nested.steps[0]
		base.where = append(append([]ir.Expr{}, base.where...), hidden.steps[0].where...)
		hidden.steps[0] = base
	}
	hidden.ownAddress(byKey)
	r := l.build(hidden)
	if r == nil {
		return nil
	}
	rec.rewrite(func(x ir.Expr) ir.Expr {
		return ir.Replace(x, func(x ir.Expr) ir.Expr {
			if ref, ok := byKey[x.String()]; ok {
				return &ir.FieldRef{At: ir.At{T: ref.T, Sp: x.Span()}, Stage: i, Name: ref.Name}
			}
			return nil
		})
	})
	rec.steps[i] = step{on: r, keys: rec.steps[i].keys, span: s.span, alias: s.alias}
	return r
}

func contains(list []ir.Expr, x ir.Expr) bool {
	for _, y := range list {
		if y.String() == x.String() {
			return true
		}
	}
	return false
}

// commonField is the histogram's name for a value that every event has.
func commonField(x ir.Expr) (string, bool) {
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
