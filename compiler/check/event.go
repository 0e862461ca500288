package check

import (
	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// event checks one event statement.
func (c *checker) event(e *syntax.Event) *ir.Event {
	ev := &ir.Event{Name: e.Name.Name.Text(), Span: e.Name.Span(), Whole: e.Span()}
	if e.Name.Group != nil {
		ev.Group = e.Name.Group.Text()
	}
	c.eventName(e.Name)
	from := *e.From
	from.Sources = c.expand(e.From.Sources)
	switch n := len(from.Sources); {
	case n == 0:
		return nil
	case n > 1 && len(e.Then) == 0:
		if e.Emit != nil {
			c.emitOfSeveral(e.Emit.Span())
			return nil
		}
		if e.Size != nil {
			c.sizeWithoutJoin(e.Size.Span())
		}
		before := len(c.list)
		u := c.union(e, from.Sources)
		if len(u.Union) == 0 || c.list[before:].HasErrors() { // what fields it has cannot be told
			return nil
		}
		c.prog.Events = append(c.prog.Events, u)
		return u
	}
	sc := c.newScope()
	sc.made, sc.join = e.Fields, len(e.Then) > 0
	for _, st := range append([]*syntax.Stage{&from}, stagesOf(e.Then)...) {
		if st.As != nil {
			sc.later[st.As.Text()] = st.As.Span()
		}
	}
	absent := c.stage(ev, sc, &from, nil)
	for _, th := range e.Then {
		absent = c.stage(ev, sc, th.Stage, th.By) || absent
	}
	if absent {
		return nil
	}
	if e.Size != nil {
		ev.Size, ev.SizeAt = c.size(e.Size), e.Size.Span()
		if len(e.Then) == 0 && !sc.span() && e.Emit == nil {
			c.sizeWithoutJoin(e.Size.Span())
		}
	}
	c.fields(ev, sc, e.Fields, e.Name.Span())
	of := &scope{c: c, own: ev, outer: sc, used: sc.used}
	if e.Having != nil {
		ev.Having = c.condition(e.Having, of)
		c.constantCondition("having", e.Having, ev.Having)
	}
	if e.Emit != nil {
		ev.Emit = c.emit(e.Emit, of)
	}
	c.checkAliases(sc)
	c.readTimes(ev)
	c.likely(ev)
	c.prog.Events = append(c.prog.Events, ev)
	return ev
}

// eventName checks that the kernel can have an event of this name and has none.
func (c *checker) eventName(q *syntax.QName) {
	name := q.Name
	if !command.ValidEventName(name.Text()) {
		c.invalidName(name.Span(), "event", name.Text(), "an event's name is made of letters, digits and '_', begins with no digit and has at most 63 characters")
		return
	}
	if q.Group == nil {
		if group := c.prog.Options.Group; c.t.HasEvent(group, name.Text()) {
			c.eventExists(name.Span(), group, name.Text())
		}
		return
	}
	group := q.Group.Text()
	switch {
	case group == "synthetic":
		c.syntheticGroup(q.Group.Span(), name.Text())
	case !command.ValidGroup(group):
		c.invalidName(q.Group.Span(), "group", group, "a group's name is made of letters, digits, '_' and '-', and has at most 63 characters")
	case c.t.HasEvent(group, name.Text()):
		c.eventExists(q.Span(), group, name.Text())
	}
}

func (c *checker) size(n *syntax.Number) int {
	v, unit, err := n.Value()
	switch {
	case err != nil || unit != "":
		c.badNumber(n.Span(), n.Raw, "a number of entries")
	case v < command.MinHistSize || v > command.MaxHistSize:
		c.sizeOutOfRange(n.Span(), n.Raw)
	default:
		return int(v)
	}
	return 0
}

// stage checks one stage and adds it to ev and to what sc sees.
//
// It returns whether the stage's source is optional and absent.
func (c *checker) stage(ev *ir.Event, sc *scope, s *syntax.Stage, by []*syntax.Key) (absent bool) {
	st := &ir.Stage{Index: len(ev.Stages), Span: s.Span()}
	view := &stageView{index: st.Index, stage: st}
	ev.Stages = append(ev.Stages, st)
	sc.stages = append(sc.stages, view)
	if s.As != nil {
		st.Alias = s.As.Text()
		for _, other := range sc.stages[:st.Index] {
			if other.stage.Alias == st.Alias {
				c.duplicateName(s.As.Span(), st.Alias, other.aliasAt)
			}
		}
		view.aliasAt = s.As.Span()
	}
	before := len(c.list)
	sources := c.expand(s.Sources)
	switch {
	case len(sources) == 0:
		return !c.list[before:].HasErrors()
	case len(sources) > 1:
		c.severalInJoin(s.Span(), len(sources))
	}
	if st.Source, absent = c.source(sources[0]); absent {
		return true
	}
	if len(sources[0].Alts) > 0 {
		st.Span = sources[0].Alts[0].One.Span()
	}
	home := &scope{c: c, stages: sc.stages, home: view, clause: "where", later: sc.later, used: sc.used, made: sc.made, inline: sc.inline, join: sc.join}
	if cast := lastCast(s.Where); s.As == nil && cast != nil && c.lateAlias(cast) {
		name := cast.Type.(*syntax.TypeName).Name
		st.Alias, view.aliasAt = name.Text(), name.Span()
	} else if s.Where != nil {
		st.Where = c.condition(s.Where, home)
		if !sc.several { // of one source it may hold, of another not
			c.constantCondition("where", s.Where, st.Where)
		}
	}
	home.clause = "let"
	for _, l := range s.Lets {
		c.let(view, home, l)
	}
	for _, k := range by {
		c.key(ev, sc, st, k)
	}
	if len(st.Keys) > command.MaxHistKeys {
		c.tooManyKeys(by[command.MaxHistKeys].Span(), len(st.Keys))
	}
	return false
}

// lastCast returns the cast that a condition ends with, nil if it ends otherwise.
func lastCast(e syntax.Expr) *syntax.Cast {
	for {
		switch x := e.(type) {
		case *syntax.Binary:
			e = x.Y
		case *syntax.Unary:
			e = x.X
		case *syntax.Cast:
			return x
		default:
			return nil
		}
	}
}

// let checks `n = E`: a value captured when the stage happens.
func (c *checker) let(view *stageView, home *scope, l *syntax.Let) {
	x := c.expr(l.Value, home)
	name := l.Name.Text()
	if _, taken := view.lets[name]; taken {
		c.duplicateName(l.Name.Span(), name, view.letAt[name])
		return
	}
	if view.lets == nil {
		view.lets, view.letAt = map[string]ir.Expr{}, map[string]source.Span{}
	}
	if home.join { // else the event happens when the stage does
		early := &ir.Early{At: ir.At{T: x.Type(), Sp: l.Value.Span()}, Stage: view.index, X: x}
		if c.lets == nil {
			c.lets = map[*ir.Early]bool{}
		}
		c.lets[early] = true
		x = early
	}
	view.lets[name] = x
	view.letAt[name] = l.Name.Span()
}

// fields checks the fields of ev. No braces at all means all fields of the
// single source.
func (c *checker) fields(ev *ir.Event, sc *scope, block *syntax.Fields, at source.Span) {
	if block == nil {
		if len(ev.Stages) > 1 {
			c.missingFields(at)
			return
		}
		c.allFields(ev, sc)
		return
	}
	first := map[string]source.Span{}
	for _, f := range block.List {
		field := c.field(sc, f)
		if field == nil {
			continue
		}
		if at, taken := first[field.Name]; taken {
			c.duplicateField(field.Span, field.Name, at)
			continue
		}
		first[field.Name] = field.Span
		c.fieldName(field)
		ev.Fields = append(ev.Fields, field)
	}
	if len(ev.Fields) > command.MaxArgs {
		c.tooManyFields(ev.Fields[command.MaxArgs].Span, len(ev.Fields))
	}
}

// allFields gives ev each named value of its source, and of a span its result. An
// argument called 'ret' keeps its name: the result is 'ret_' then.
func (c *checker) allFields(ev *ir.Event, sc *scope) {
	view := sc.stages[0]
	if view.stage.Source == nil {
		return
	}
	for _, v := range view.stage.Source.Vars() {
		f := &ir.Field{Name: v.Name, Span: view.stage.Span, Type: v.Type,
			Value: &ir.FieldRef{At: ir.At{T: v.Type, Sp: view.stage.Span}, Name: v.Name}}
		c.fieldName(f)
		if !copyable(v.Type) && !filterOnly(ev, view.stage.Source) {
			c.fieldNotStorable(view.stage.Span, v.Name)
		}
		ev.Fields = append(ev.Fields, f)
	}
	own := func(k ir.ContextKind, t types.Type) {
		name := k.String()
		for ev.Field(name) != nil {
			name += "_"
		}
		ev.Fields = append(ev.Fields, &ir.Field{Name: name, Span: view.stage.Span, Type: t,
			Value: &ir.Context{At: ir.At{T: t, Sp: view.stage.Span}, Kind: k}})
	}
	if t, ok := resultType(view.stage.Source); ok {
		own(ir.Ret, t)
	}
	if isSpan(view.stage.Source) {
		own(ir.Elapsed, contextType(ir.Elapsed))
	}
}

// filterOnly reports whether an event may come to be no copy of its source but
// the source itself, filtered: a trace of some records of an event with all
// their fields. If not, the lowering says what cannot be copied.
func filterOnly(ev *ir.Event, src ir.Source) bool {
	switch src.(type) {
	case *ir.Derived, *ir.KernelEvent:
		return ev.Inline
	}
	return false
}

// field checks one field; nil if it cannot be told what it is.
func (c *checker) field(sc *scope, f *syntax.Field) *ir.Field {
	out := &ir.Field{}
	value := f.Value
	switch {
	case f.Name != nil:
		out.Name, out.Span = f.Name.Text(), f.Name.Span()
		if value == nil {
			value = f.Name
		}
	case value != nil:
		out.Name, out.Span = selfName(value), value.Span()
	}
	if out.Name == "" || value == nil {
		return nil
	}
	x := c.expr(value, sc)
	if f.Type != nil {
		t := c.typeOf(f.Type)
		if types.IsInvalid(t) {
			return nil
		}
		c.likelyCut(x, t, f.Type.Span())
		x = c.assign(x, t, f.Name, f.Type.Span())
	}
	x = c.storable(x)
	if types.IsInvalid(x.Type()) {
		// The field exists, so that using it elsewhere is no second error.
		return &ir.Field{Name: out.Name, Span: out.Span, Type: types.Invalid{}, Value: x}
	}
	out.Type, out.Value = x.Type(), x
	return out
}

// selfName returns the name of a field that is written as its value alone.
func selfName(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.Ident:
		return e.Text()
	case *syntax.Context:
		return e.Name
	case *syntax.Selector:
		return selfName(e.Sel)
	}
	return ""
}

// fieldName checks that the kernel takes the name and means by it what the
// script does.
func (c *checker) fieldName(f *ir.Field) {
	if why := fieldNameProblem(f.Name); why != "" {
		c.invalidName(f.Span, "field", f.Name, why)
	}
}

// trace checks a trace statement.
func (c *checker) trace(t *syntax.Trace) {
	s := t.Stage
	plain := s.Where == nil && len(s.Lets) == 0 && t.Fields == nil
	sources := c.expand(s.Sources)
	if len(sources) > 1 {
		from := len(c.list)
		defer func() { c.sayOnce(from) }()
	}
	if plain {
		for _, src := range sources {
			c.traceSource(t, s, src)
		}
		return
	}
	for _, src := range sources {
		one := *s
		one.Sources = []*syntax.Source{src}
		c.inlineTrace(t, &one)
	}
}

// traceSource records one event as it is.
func (c *checker) traceSource(t *syntax.Trace, s *syntax.Stage, src *syntax.Source) {
	from, _ := c.source(src)
	switch from := from.(type) {
	case nil:
	case *ir.Derived:
		tr := &ir.Trace{Event: from.Event, Print: c.template(t.Print, from.Vars()), Paused: t.Paused, Span: src.Span()}
		c.prog.Traces = append(c.prog.Traces, tr)
	case *ir.KernelEvent:
		tr := &ir.Trace{Kernel: from.Format, Print: c.template(t.Print, from.Vars()), Paused: t.Paused, Span: src.Span()}
		c.prog.Traces = append(c.prog.Traces, tr)
	default:
		one := *s
		one.Sources = []*syntax.Source{src}
		c.inlineTrace(t, &one)
	}
}

// inlineTrace makes an event of its own for a trace that asks for conditions,
// fields or a source that is no event yet.
func (c *checker) inlineTrace(t *syntax.Trace, s *syntax.Stage) {
	ev := &ir.Event{Span: s.Span(), Whole: t.Span(), Inline: true}
	sc := c.newScope()
	sc.made, sc.inline = t.Fields, true
	c.stage(ev, sc, s, nil)
	if ev.Stages[0].Source == nil {
		return
	}
	ev.Span = ev.Stages[0].Span
	ev.Name = c.inlineName(ev.Stages[0].Source)
	c.fields(ev, sc, t.Fields, ev.Span)
	c.checkAliases(sc)
	c.readTimes(ev)
	c.likely(ev)
	vars := (&ir.Derived{Event: ev}).Vars()
	tr := &ir.Trace{Event: ev, Print: c.template(t.Print, vars), Paused: t.Paused, Span: ev.Span}
	if t.Fields == nil {
		// All fields of some records: the event itself may do, filtered.
		switch from := ev.Stages[0].Source.(type) {
		case *ir.Derived:
			tr.Event, tr.Where, tr.Inline = from.Event, ev.Stages[0].Where, ev
		case *ir.KernelEvent:
			tr.Event, tr.Kernel, tr.Where, tr.Inline = nil, from.Format, ev.Stages[0].Where, ev
		}
	}
	if tr.Inline == nil {
		c.prog.Events = append(c.prog.Events, ev)
	}
	c.prog.Traces = append(c.prog.Traces, tr)
}

// inlineName names an event that the script does not: after its source, with a
// number where the name is taken.
func (c *checker) inlineName(src ir.Source) string {
	base := sourceBase(src)
	// The numbers go on where the last name of the base ended, so that a
	// thousand traces of one event take no longer each.
	name, n := base, max(c.inline[base], 1)
	for _, taken := c.decls[name]; taken || c.inline[name] > 0; _, taken = c.decls[name] {
		n++
		name = base + "_" + itoa(n)
	}
	c.inline[base] = n
	c.inline[name] = max(c.inline[name], 1)
	return name
}

// endName is what an end adds to the name of an event.
func endName(e ir.End) string {
	switch e {
	case ir.EndEnter:
		return "_enter"
	case ir.EndExit:
		return "_exit"
	}
	return ""
}

// sourceBase is the name of a source, as far as names that are made of it may go.
func sourceBase(src ir.Source) string {
	var base string
	switch s := src.(type) {
	case *ir.KernelEvent:
		base = s.Format.Name
	case *ir.Derived:
		base = s.Event.Name
	case *ir.Syscall:
		base = s.Name
		base += endName(s.End)
	case *ir.Probe:
		base = eventNameFrom(s.Symbol)
		if base[0] >= '0' && base[0] <= '9' { // an address
			base = "at_" + base
		}
		if s.Place == ir.AtFunc || s.Place == ir.AtUserFunc {
			base += endName(s.End)
		}
	}
	return base[:min(len(base), command.MaxName-6)]
}
