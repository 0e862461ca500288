package check

import (
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// scope is what names mean at one place of a script.
type scope struct {
	c      *checker
	stages []*stageView
	home   *stageView   // in a where or let: the stage whose names need no alias
	own    *ir.Event    // in having: the event whose fields the names are
	outer  *scope       // of having: the stages, for a hint
	names  *types.Names // names of the values of what stands opposite
	early  bool         // within enter(…)
}

// stageView is a stage as expressions see it.
type stageView struct {
	index   int
	stage   *ir.Stage
	aliasAt source.Span
	vars    map[string]types.Type // built at the first look
	lets    map[string]ir.Expr
	letAt   map[string]source.Span
}

// lookup returns what the stage offers by name.
func (v *stageView) lookup(name string) (types.Type, bool) {
	if v.vars == nil {
		v.vars = map[string]types.Type{}
		if v.stage.Source != nil {
			for _, x := range v.stage.Source.Vars() {
				v.vars[x.Name] = x.Type
			}
		}
	}
	t, ok := v.vars[name]
	return t, ok
}

// offers lists the names of the stage, for a near one.
func (v *stageView) offers() []string {
	v.lookup("")
	return append(sortedKeys(v.vars), sortedKeys(v.lets)...)
}

// span reports whether the scope's only stage is a call's both ends.
func (sc *scope) span() bool {
	return len(sc.stages) == 1 && isSpan(sc.stages[0].stage.Source)
}

func isSpan(s ir.Source) bool {
	switch s := s.(type) {
	case *ir.Syscall:
		return s.End == ir.EndBoth
	case *ir.Probe:
		return s.End == ir.EndBoth
	}
	return false
}

// with returns sc with names as those of the value that stands opposite.
func (sc *scope) with(n *types.Names) *scope {
	if n == sc.names {
		return sc
	}
	in := *sc
	in.names = n
	return &in
}

// bare returns the stage whose fields need no alias: the one whose where or
// let it is, or the only one.
func (sc *scope) bare() *stageView {
	switch {
	case sc.home != nil:
		return sc.home
	case len(sc.stages) == 1:
		return sc.stages[0]
	}
	return nil
}

// alias returns the stage called name.
func (sc *scope) alias(name string) *stageView {
	for _, v := range sc.stages {
		if v.stage.Alias == name {
			return v
		}
	}
	return nil
}

// name resolves a bare name: a field or let of the stage; a param or const; a
// name of the opposite value; an errno or signal.
func (sc *scope) name(id *syntax.Ident) ir.Expr {
	c, name, sp := sc.c, id.Text(), id.Span()
	if sc.own != nil {
		if f := sc.own.Field(name); f != nil {
			c.use(name, sp)
			return &ir.Own{At: ir.At{T: f.Type, Sp: sp}, Field: f}
		}
	} else if v := sc.bare(); v != nil {
		if v.stage.Source == nil {
			return c.invalid(sp) // the source is reported already
		}
		if x := sc.field(v, name, sp); x != nil {
			return x
		}
	}
	if v := c.constant(id); v != nil {
		return &ir.Const{At: ir.At{T: v.T, Sp: sp}, Value: v.Value}
	}
	if sc.names != nil {
		if v, ok := sc.names.Value(name); ok {
			return namedConst(sc.names, v, sp)
		}
	}
	if v, ok := errnoOrSignal(name); ok {
		return intConst(int64(v), sp)
	}
	sc.unknown(id)
	return c.invalid(sp)
}

// field returns a field or let of a stage, nil if it has none of that name.
func (sc *scope) field(v *stageView, name string, sp source.Span) ir.Expr {
	if t, ok := v.lookup(name); ok {
		sc.c.use(name, sp)
		return &ir.FieldRef{At: ir.At{T: t, Sp: sp}, Stage: v.index, Name: name}
	}
	if x, ok := v.lets[name]; ok {
		sc.c.use(name, sp)
		return x
	}
	return nil
}

// unknown reports a name that means nothing here, with what may be meant.
func (sc *scope) unknown(id *syntax.Ident) {
	c, name := sc.c, id.Text()
	if sc.own != nil {
		c.unknownOwnField(id.Span(), sc.own, name, sc.outer)
		return
	}
	if v := sc.alias(name); v != nil {
		c.aliasAsValue(id.Span(), name, v)
		return
	}
	if v := sc.bare(); v != nil {
		c.unknownField(id.Span(), v, name, c.constNames(), sc.names)
		return
	}
	for _, v := range sc.stages {
		if _, ok := v.lookup(name); ok {
			c.missingStage(id.Span(), name, sc.stages)
			return
		}
	}
	c.unknownName(id.Span(), name, c.constNames())
}

// selector resolves `a.f` and `a.$f` where a is a stage; ok is false if it is
// none.
func (sc *scope) selector(s *syntax.Selector) (x ir.Expr, ok bool) {
	id, isIdent := s.X.(*syntax.Ident)
	if !isIdent || s.Arrow {
		return nil, false
	}
	v := sc.alias(id.Text())
	if v == nil {
		return sc.noStage(s, id)
	}
	if sc.home != nil && sc.home != v && v.index > sc.home.index {
		sc.c.laterStage(s.Span(), id.Text())
		return sc.c.invalid(s.Span()), true
	}
	switch sel := s.Sel.(type) {
	case *syntax.Ident:
		if v.stage.Source == nil {
			return sc.c.invalid(s.Span()), true
		}
		if x := sc.field(v, sel.Text(), s.Span()); x != nil {
			return x, true
		}
		sc.c.unknownField(sel.Span(), v, sel.Text(), nil, nil)
		return sc.c.invalid(s.Span()), true
	case *syntax.Context:
		return sc.context(sel, v, s.Span()), true
	}
	return sc.c.invalid(s.Span()), true
}

// noStage handles `x.f` where x is no alias: a member of a value, or a mistake.
func (sc *scope) noStage(s *syntax.Selector, id *syntax.Ident) (ir.Expr, bool) {
	if v := sc.bare(); v != nil && sc.own == nil {
		if v.stage.Source == nil {
			return sc.c.invalid(s.Span()), true
		}
		if _, ok := v.lookup(id.Text()); ok {
			return nil, false
		}
	}
	if sc.own != nil {
		sc.c.stageInHaving(s.Span(), id.Text())
		return sc.c.invalid(s.Span()), true
	}
	sc.c.unknownStage(id.Span(), id.Text(), sc.stages)
	return sc.c.invalid(s.Span()), true
}

// use notes that the script names a field, for names that would hide it.
func (c *checker) use(name string, sp source.Span) {
	if _, seen := c.used[name]; !seen {
		c.used[name] = sp
	}
}
