package lower

import (
	"slices"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// Some values take two events. A histogram computes with numbers that an event
// has and reads no memory; a probe reads memory and computes nothing, reads a
// value once, by one type, and takes only so many pointers behind each other. So
// a recipe that computes with what is read, widens it by its sign, or reads
// farther than one argument does is split:
//
//	a hidden event that reads     p:g/e_read F a=+16($arg1):s32
//	the event that goes on        hist:keys=…:v=0+a*2:onmatch(…).trace(…)   on it
//
// The second is a recipe of one step like any other, and may be split again. Both
// happen at the same moment.

// split makes a recipe of two events if one cannot have all of its values; false
// if one can. The record is nil if an event could not be made.
func (l *lowerer) split(rec *recipe) (*record, bool) {
	last := len(rec.steps) - 1
	rec.rewrite(func(x ir.Expr) ir.Expr {
		return ir.Rewrite(x, func(x ir.Expr) ir.Expr {
			if e, ok := x.(*ir.Early); ok && e.Stage == last {
				return e.X // the event fires at the last step: its moment is that one
			}
			return x
		})
	})
	s := splitter{l: l, rec: rec, labels: labels{}, byKey: map[string]*ir.FieldRef{}}
	if !s.wanted() {
		return nil, false
	}
	if s.far != nil && l.far == nil {
		l.far = s.far
		defer func() { l.far = nil }()
	}
	ev := &ir.Event{Name: l.names.hidden(rec.ev, "read"), Span: rec.ev.Span, Whole: rec.ev.Whole, Stages: rec.ev.Stages, Size: rec.ev.Size, SizeAt: rec.ev.SizeAt}
	s.first = &recipe{ev: ev, steps: append([]step{}, rec.steps...), disarm: rec.disarm}
	second := &recipe{ev: rec.ev, steps: []step{{span: rec.ev.Span, alias: rec.steps[last].alias}}}
	if last == 0 {
		s.first.steps[0].where, second.steps[0].where = s.conditions(rec.steps[0].where)
	}
	having, late := s.conditions(rec.having)
	s.first.having, second.steps[0].where = having, append(second.steps[0].where, late...)
	for _, f := range rec.fields {
		n := *f
		n.Value = s.take(f.Value)
		second.fields = append(second.fields, &n)
	}
	if rec.emit != nil {
		e := *rec.emit
		e.Value, e.Per = s.take(e.Value), nil
		for _, p := range rec.emit.Per {
			e.Per = append(e.Per, s.take(p))
		}
		second.emit = &e
	}
	if len(s.first.fields) == 0 { // all is of the context
		s.first.fields = []*ir.Field{{Name: "nothing", Span: rec.ev.Span, Type: types.Int{Size: 1}, Value: numberOf(0, types.Int{Size: 1}, rec.ev.Span)}}
	}
	r := l.build(s.first)
	if r == nil {
		return nil, true
	}
	second.steps[0].on = r
	if second.onProbe() { // what the second computes it also tests
		second.having, second.steps[0].where = second.steps[0].where, nil
	}
	return l.build(second), true
}

// readAtLast has what the last step reads read by a hidden event there, beside the
// stack of an earlier step: that one takes a synthetic event on which no probe can
// follow.
func (r *recipe) readAtLast() {
	last := len(r.steps) - 1
	if !slices.ContainsFunc(r.fields, func(f *ir.Field) bool {
		stage, ok := stackStage(f.Value)
		return ok && stage < last
	}) {
		return
	}
	for i, f := range r.fields {
		if !fetched(f.Value) || !ofStep(f.Value, last) {
			continue
		}
		n := *f
		n.Value = &ir.Early{At: ir.At{T: f.Value.Type(), Sp: f.Value.Span()}, Stage: last, X: f.Value}
		r.fields[i] = &n
	}
}

// ofStep reports whether all that x is made of is of step i.
func ofStep(x ir.Expr, i int) bool {
	own := true
	ir.Visit(x, func(x ir.Expr) bool {
		switch x := x.(type) {
		case *ir.FieldRef:
			own = own && x.Stage == i
		case *ir.Context:
			own = own && x.Stage == i
		case *ir.Early:
			own = false
		}
		return own
	})
	return own
}

// splitter splits one recipe.
type splitter struct {
	l      *lowerer
	rec    *recipe
	first  *recipe
	labels labels
	byKey  map[string]*ir.FieldRef // fields of the first's event, by the value that each has
	far    ir.Expr                 // what is more than one argument reads, if something is
	stack  bool                    // the second has the stack, so that no probe can follow it: the first reads all
}

// wanted reports whether the recipe has a value for which it must be split.
func (s *splitter) wanted() bool {
	s.stack = s.readsBesideStack()
	found := s.stack
	check := func(x ir.Expr) { found = found || s.late(x) }
	s.rec.values(check)
	if e := s.rec.emit; e != nil { // what a histogram watches and keeps is a field
		for _, x := range append([]ir.Expr{e.Value}, e.Per...) {
			found = found || fetched(x)
		}
	}
	for _, h := range s.rec.having {
		check(h)
	}
	if len(s.rec.steps) == 1 { // those of a join's steps get hidden events of their own
		for _, w := range s.rec.steps[0].where {
			check(w)
		}
	}
	return found
}

// readsBesideStack reports whether the recipe has the stack of its last step and of
// no other, and something that only a probe reads. A probe hands no stack on; it is
// the same when what the probe has read is recorded.
func (s *splitter) readsBesideStack() bool {
	last, reads := false, false
	for _, f := range s.rec.fields {
		if stage, ok := stackStage(f.Value); ok {
			if stage != len(s.rec.steps)-1 {
				return false
			}
			last = true
			continue
		}
		ir.Visit(f.Value, func(x ir.Expr) bool {
			switch x := x.(type) {
			case *ir.Early:
				return false
			case *ir.Str:
				reads = true
			case *ir.FieldRef: // of another width or sign than the kernel believes
				if on := s.rec.steps[x.Stage].on; on != nil {
					c := on.column(x.Name)
					reads = reads || c.kept() && !c.whole()
				}
			default:
				reads = reads || fetched(x)
			}
			return !reads
		})
	}
	return last && reads && s.rec.emit == nil
}

// late reports whether a part of x must wait for what the first event reads.
func (s *splitter) late(x ir.Expr) bool {
	found := false
	ir.Visit(x, func(x ir.Expr) bool {
		switch x := x.(type) {
		case *ir.Early: // read at its step, by a hidden event there
			return false
		case *ir.Binary:
			found = found || arithmetic(x) && (fetched(x.X) || fetched(x.Y))
		case *ir.Unary:
			found = found || x.Op == "-" && fetched(x.X)
		case *ir.Cast:
			found = found || convertsUnit(x) && fetched(x.X) || !convertsUnit(x) && !castable(x) && canFetch(x.X) ||
				len(s.rec.steps) == 1 && s.rec.steps[0].widens(x)
		case *ir.Load, *ir.Str:
			if !found && s.tooFar(x) {
				found = true
				if s.far == nil {
					s.far = x
				}
			}
		}
		return !found
	})
	return found
}

// fetched reports whether x is what a probe alone can make of a record: what it
// reads from memory, or some of a number's bits.
func fetched(x ir.Expr) bool {
	switch x := x.(type) {
	case *ir.Load:
		return !inRecord(x)
	case *ir.Bits, *ir.Str:
		return true
	case *ir.Cast:
		narrows := types.Size(x.T) < types.Size(x.X.Type()) && !convertsUnit(x) && canFetch(x)
		return narrows || fetched(x.X)
	}
	return false
}

// conditions parts those that the first event can test from the others, which
// are about the second.
func (s *splitter) conditions(list []ir.Expr) (early, late []ir.Expr) {
	for _, w := range list {
		if s.late(w) {
			late = append(late, s.take(w))
		} else {
			early = append(early, w)
		}
	}
	return early, late
}

// take returns x as a value of the second event's step: with the parts that the
// first event has as its fields.
func (s *splitter) take(x ir.Expr) ir.Expr {
	switch v := x.(type) {
	case nil, *ir.Const, *ir.Addr:
		return x
	case *ir.Context:
		if s.l.common(v) && (v.Kind != ir.Time || len(s.rec.steps) == 1) && v.Stage == len(s.rec.steps)-1 {
			c := *v
			c.Stage = 0
			return &c // the same, when the first event happens
		}
	}
	if s.late(x) || !holdable(x) && !(s.stack && isText(x)) {
		return ir.Parts(x, s.take)
	}
	key := x.String()
	if s.byKey[key] == nil {
		name := s.labels.unique(argLabel(x))
		s.first.fields = append(s.first.fields, &ir.Field{Name: name, Span: x.Span(), Type: x.Type(), Value: x})
		s.byKey[key] = &ir.FieldRef{At: ir.At{T: x.Type(), Sp: x.Span()}, Name: name}
	}
	ref := *s.byKey[key]
	ref.Sp = x.Span()
	return &ref
}

// holdable reports whether the first event is to have x itself: a condition has
// no place in a record, and what histograms do not carry, or would cut, is read
// by the second through its pointer.
func holdable(x ir.Expr) bool {
	switch x := x.(type) {
	case *ir.Str:
		return false
	case *ir.Load:
		switch x.T.(type) {
		case types.String, types.Array, types.Struct:
			return false
		}
	case *ir.In:
		return false
	case *ir.Unary:
		return x.Op == "-"
	case *ir.Binary:
		return arithmetic(x)
	case *ir.Cast:
		return holdable(x.X)
	}
	return true
}

func isText(x ir.Expr) bool {
	_, ok := x.Type().(types.String)
	return ok
}

// tooFar reports whether x, a Load or a Str, is more than one argument of a probe
// reads: its text is too long, or its pointers too many.
func (s *splitter) tooFar(x ir.Expr) bool {
	f := fetcher{l: s.l}
	a := command.Arg{Type: f.fetchType(x)}
	a.Fetch = s.shape(x)
	depth := 0
	for in := a.Fetch; ; depth++ {
		d, ok := in.(command.Deref)
		if !ok {
			break
		}
		in = d.X
	}
	limits := s.l.t.Limits()
	return command.ArgBody(a) > limits.ArgText || depth > limits.ArgNesting
}

// shape is how a probe gets x, as long as it is at most: what a record has is
// called by its name.
func (s *splitter) shape(x ir.Expr) command.Fetch {
	switch x := x.(type) {
	case *ir.Load:
		return s.shapeBehind(x.X, x.Off)
	case *ir.Str:
		return s.shapeBehind(x.X, 0)
	case *ir.Cast:
		return s.shape(x.X)
	case *ir.Bits:
		return s.shape(x.X)
	case *ir.Early:
		return s.shape(x.X)
	case *ir.FieldRef:
		if len(s.rec.steps) == 1 && s.rec.steps[0].probe != nil && len(s.rec.steps[0].probe.Sites) == 0 {
			return command.ArgN{N: 8}
		}
	}
	name := label(x) + "_"
	return command.FieldOf{Name: name[:min(len(name), command.MaxArgName)]}
}

func (s *splitter) shapeBehind(x ir.Expr, off int64) command.Fetch {
	base, more, _ := offset(x)
	if a := variable(base); a != nil {
		return command.At{Symbol: a.Symbol, Off: off + more, Span: source.NoSpan}
	}
	p, _ := x.Type().(types.Pointer)
	return command.Deref{Off: off + more, X: s.shape(base), User: p.User}
}

// onProbe reports whether a recipe's only step is the event of a probe, on which
// the kernel takes no other.
func (r *recipe) onProbe() bool {
	if len(r.steps) != 1 || r.steps[0].on == nil {
		return false
	}
	k := r.steps[0].on.kind
	return k == eprobe || k == probed
}

// carriesPointer reports whether a recipe of one step has a `char *` of the
// kernel's event, of which an eprobe here has one byte and a histogram all. What
// is asked of its number is about the outcome then.
func (l *lowerer) carriesPointer(rec *recipe) bool {
	s := &rec.steps[0]
	if s.on == nil || !l.t.Has(target.QuirkEprobePointerByte) {
		return false
	}
	where, having := s.where, rec.having
	s.where = nil
	for _, w := range where {
		if s.testsPointer(w) {
			rec.having = append(rec.having, w)
		} else {
			s.where = append(s.where, w)
		}
	}
	list, _ := l.stepValues(rec, 0)
	for _, x := range list {
		if ref, ok := x.(*ir.FieldRef); ok && s.on.column(ref.Name).charPtr && l.suffices(rec, 0) {
			return true
		}
	}
	s.where, rec.having = where, having
	return false
}

// testsPointer reports whether a condition tests a `char *` of the step's event as a
// number.
func (s *step) testsPointer(w ir.Expr) bool {
	found := false
	values(w, func(v ir.Expr) {
		ref, ok := uncast(v).(*ir.FieldRef)
		found = found || ok && s.on.column(ref.Name).charPtr
	})
	return found
}

// cannotKeep reports what histograms cannot take of a probe's event, on which
// the kernel takes no other probe.
func (l *lowerer) cannotKeep(rec *recipe) {
	list, _ := l.stepValues(rec, 0)
	for _, x := range list {
		if ref, ok := x.(*ir.FieldRef); !ok || !rec.steps[0].on.column(ref.Name).kept() {
			l.cannotCarry(x.Span())
			return
		}
	}
	l.cannotFilter(rec.ev.Span)
}
