package check

import (
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// scope is what names mean at one place of a script.
type scope struct {
	c       *checker
	stages  []*stageView
	home    *stageView             // in a where or let: the stage whose names need no alias
	own     *ir.Event              // in having: the event whose fields the names are
	outer   *scope                 // of having: the stages, for a hint
	opp     *opposite              // what stands opposite, nil if nothing does
	clause  string                 // of a home scope: "where" or "let"
	later   map[string]source.Span // stages of the statement by name, also those to come
	used    map[string]source.Span // fields that the statement names, with one place each
	several bool                   // the event has several sources: $func tells which
	below   bool                   // with own: the single stage's fields are known too
	made    *syntax.Fields         // the fields that the statement makes, nil if it has none
	inline  bool                   // the statement knows no 'having'
	join    bool                   // the event has several stages
}

// opposite is the other side of an operator: names of its values mean those.
type opposite struct {
	typ types.Type
	at  source.Span
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

// with returns sc with opp opposite; sc itself if opp is nil, so that `S | D`
// means what it does beside the value that the two stand opposite together.
func (sc *scope) with(opp *opposite) *scope {
	if opp == nil {
		return sc
	}
	in := *sc
	in.opp = opp
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

// alias returns the stage called name. Of two of one name, which is reported,
// it is the one that offers the field.
func (sc *scope) alias(name, field string) *stageView {
	var found *stageView
	for _, v := range sc.stages {
		if v.stage.Alias != name {
			continue
		}
		if _, ok := v.lookup(field); ok || found == nil {
			found = v
		}
	}
	return found
}

// name resolves a bare name: a field or let of the stage; a param or const; a
// name of the opposite value; a name that every kernel has, as of an errno.
func (sc *scope) name(id *syntax.Ident) ir.Expr {
	c, name, sp := sc.c, id.Text(), id.Span()
	if sc.own != nil {
		if f := sc.own.Field(name); f != nil {
			sc.use(name, sp)
			return &ir.Own{At: ir.At{T: f.Type, Sp: sp}, Field: f}
		}
		if sc.below {
			if v := sc.outer.bare(); v != nil && v.stage.Source != nil {
				if x := sc.field(v, name, sp); x != nil {
					return x
				}
			}
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
		if text, ok := constString(v); ok { // what the text would mean if it were written here
			if k := sc.valueName(text, sp); k != nil {
				return k
			}
		}
		return &ir.Const{At: ir.At{T: v.T, Sp: sp}, Value: v.Value}
	}
	if k := sc.valueName(name, sp); k != nil {
		return k
	}
	if v, ok := c.commonName(name); ok {
		return intConst(v, sp)
	}
	sc.unknown(id)
	return c.invalid(sp)
}

// valueName returns what a name means as a value of what stands opposite; nil if
// it is none.
func (sc *scope) valueName(name string, sp source.Span) ir.Expr {
	if sc.opp == nil {
		return nil
	}
	t, _ := sc.opp.typ.(types.Int)
	if t.Form == types.Ksym && t.Size == 8 {
		if state, err := sc.c.t.Symbol(name); err != nil || state != target.SymbolAbsent && state != target.SymbolUnlisted {
			return textConst(name, sp)
		}
	}
	if v, ok := t.Names.Value(name); ok {
		return namedConst(t, v, sp)
	}
	if v, ok := sc.c.shownValue(t.Form, name); ok {
		return namedConst(t, v, sp)
	}
	return nil
}

// shownValue returns the value that a record shows as text in that form: an
// address "10.0.0.1", a device "8:0", the name of a system call.
func (c *checker) shownValue(f types.Form, text string) (uint64, bool) {
	switch f {
	case types.IP:
		var address uint64
		parts := strings.Split(text, ".")
		for _, p := range parts {
			b, err := strconv.ParseUint(p, 10, 8)
			if err != nil {
				return 0, false
			}
			address = address<<8 | b
		}
		return address, len(parts) == 4
	case types.Dev:
		major, minor, ok := strings.Cut(text, ":")
		ma, err1 := strconv.ParseUint(major, 10, 12)
		mi, err2 := strconv.ParseUint(minor, 10, 20)
		return ma<<20 | mi, ok && err1 == nil && err2 == nil
	case types.Sysnr:
		nr, ok := c.t.Syscall(text)
		return uint64(nr), ok
	}
	return 0, false
}

// field returns a field or let of a stage, nil if it has none of that name.
func (sc *scope) field(v *stageView, name string, sp source.Span) ir.Expr {
	if t, ok := v.lookup(name); ok {
		sc.use(name, sp)
		return &ir.FieldRef{At: ir.At{T: t, Sp: sp}, Stage: v.index, Name: name}
	}
	if x, ok := v.lets[name]; ok {
		sc.use(name, sp)
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
	if v := sc.alias(name, ""); v != nil {
		c.aliasAsValue(id.Span(), name, v)
		return
	}
	if v := sc.bare(); v != nil {
		if f := sc.makes(name); f != nil {
			c.madeField(id.Span(), f, !sc.inline, len(sc.later) > 1)
			return
		}
		c.unknownField(id.Span(), v, name, c.constNames(), sc.opp)
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

// makes returns the field of a name that the statement gives a value, for a
// 'where', which does not know it; nil if there is none.
func (sc *scope) makes(name string) *syntax.Field {
	if sc.clause != "where" || sc.made == nil {
		return nil
	}
	for _, f := range sc.made.List {
		if f.Name != nil && f.Value != nil && f.Name.Text() == name {
			return f
		}
	}
	return nil
}

// selector resolves `a.f` and `a.$f` where a is a stage; ok is false if it is
// none.
func (sc *scope) selector(s *syntax.Selector) (x ir.Expr, ok bool) {
	id, isIdent := s.X.(*syntax.Ident)
	if isIdent && sc.argsOf(s, id) {
		return sc.c.invalid(s.Span()), true
	}
	if !isIdent || s.Arrow {
		return nil, false
	}
	field := ""
	if f, ok := s.Sel.(*syntax.Ident); ok {
		field = f.Text()
	}
	v := sc.alias(id.Text(), field)
	if v == nil {
		return sc.noStage(s, id)
	}
	if sc.home != nil && sc.home != v {
		sc.c.otherStage(s.Span(), sc.clause, id.Text())
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

// argsOf reports `args.f` and `args->f`, where nothing is called args.
func (sc *scope) argsOf(s *syntax.Selector, id *syntax.Ident) bool {
	f, ok := s.Sel.(*syntax.Ident)
	v := sc.bare()
	if !ok || id.Text() != "args" || v == nil || v.stage.Source == nil || sc.alias("args", "") != nil {
		return false
	}
	if _, has := v.lookup("args"); has {
		return false
	}
	sc.c.argsOfField(source.Span{Start: id.Span().Start, End: f.Span().Start}, f.Text())
	return true
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
	if _, ok := sc.later[id.Text()]; ok {
		sc.c.laterStage(s.Span(), id.Text())
		return sc.c.invalid(s.Span()), true
	}
	sc.c.unknownStage(id.Span(), id.Text(), sc.stages)
	return sc.c.invalid(s.Span()), true
}

// use notes that the statement names a field, for names that would hide it.
func (sc *scope) use(name string, sp source.Span) {
	sc.c.use(name, sp)
	if _, seen := sc.used[name]; !seen && sc.used != nil {
		sc.used[name] = sp
	}
}

func (c *checker) use(name string, sp source.Span) {
	if _, seen := c.used[name]; !seen {
		c.used[name] = sp
	}
}
