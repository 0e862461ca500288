package lower

import (
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// through lists what tells whether x could be read, each once: pointers, and texts.
func (l *lowerer) through(x ir.Expr, stages []*ir.Stage) []ir.Expr {
	var list []ir.Expr
	add := func(more ...ir.Expr) {
		for _, g := range more {
			if !contains(list, g) {
				list = append(list, g)
			}
		}
	}
	switch x := x.(type) {
	case nil:
	case *ir.FieldRef:
		if x.Stage < len(stages) {
			if d, ok := stages[x.Stage].Source.(*ir.Derived); ok {
				if f := d.Event.Field(x.Name); f != nil {
					for _, t := range f.Through {
						add(&ir.FieldRef{At: ir.At{T: t.Type, Sp: x.Sp}, Stage: x.Stage, Name: t.Name})
					}
				}
			}
		}
	case *ir.Own:
		add(l.through(x.Field.Value, stages)...)
	case *ir.Early:
		for _, g := range l.through(x.X, stages) {
			if _, ok := g.(*ir.FieldRef); ok { // it does not change
				add(g)
				continue
			}
			add(&ir.Early{At: ir.At{T: g.Type(), Sp: x.Sp}, Stage: x.Stage, X: g})
		}
	case *ir.Str:
		if x.Max == 0 {
			add(x)
		} else {
			add(l.behind(x.X, 0, x, stages)...)
		}
	case *ir.Load:
		if isPointer(x.X.Type()) {
			add(l.behind(x.X, x.Off, x, stages)...)
		} else {
			add(l.through(x.X, stages)...)
		}
	default:
		ir.Parts(x, func(in ir.Expr) ir.Expr {
			add(l.through(in, stages)...)
			return in
		})
	}
	return list
}

// behind is through for what is read off bytes behind p, whole.
func (l *lowerer) behind(p ir.Expr, off int64, whole ir.Expr, stages []*ir.Stage) []ir.Expr {
	base, more, _ := offset(p)
	if variable(base) != nil {
		return nil // a variable of the kernel is there
	}
	t, _ := p.Type().(types.Pointer)
	last := off + more + int64(max(types.Size(whole.Type()), 1)) - 1
	switch {
	case t.User && l.t.Has(target.QuirkEmptyUserText):
		l.userFaultUntold(whole.Span())
	case t.User || made(p, stages):
		return []ir.Expr{witness(base, last, t.User, whole.Span())}
	}
	list := l.through(base, stages)
	for {
		b, ok := base.(*ir.Binary)
		if !ok || !isPointer(b.X.Type()) {
			break
		}
		base = b.X // computed from it
	}
	if len(list) >= maxThrough {
		l.chainUntold(whole.Span())
		return list
	}
	return append(list, uncast(base))
}

// maxThrough is how many pointers of a chain are kept: a histogram that carries a
// value keeps at most 16 variables.
const maxThrough = 8

// made reports whether the script made the pointer p, or one on the way to it, of a
// number or by moving another, so that it may lead anywhere.
func made(p ir.Expr, stages []*ir.Stage) bool {
	switch x := p.(type) {
	case *ir.Cast:
		if isPointer(x.T) && !isPointer(x.X.Type()) {
			return true
		}
		_, moved := x.X.(*ir.Binary)
		return moved || made(x.X, stages)
	case *ir.Binary:
		return made(x.X, stages)
	case *ir.Load:
		return isPointer(x.X.Type()) && made(x.X, stages)
	case *ir.Own:
		return made(x.Field.Value, stages)
	case *ir.Early:
		return made(x.X, stages)
	case *ir.FieldRef:
		if x.Stage < len(stages) {
			if d, ok := stages[x.Stage].Source.(*ir.Derived); ok {
				return madeField(d.Event, x.Name)
			}
		}
	}
	return false
}

// madeField is made for a field of an event, from any of its sources.
func madeField(ev *ir.Event, name string) bool {
	for _, m := range append([]*ir.Event{ev}, ev.Union...) {
		if f := m.Field(name); f != nil && f.Value != nil && made(f.Value, m.Stages) {
			return true
		}
	}
	return false
}

// witness is a text at off bytes behind p.
func witness(p ir.Expr, off int64, user bool, sp source.Span) ir.Expr {
	at := ir.At{T: types.Pointer{Elem: types.Int{Size: 1, Form: types.Char}, User: user}, Sp: sp}
	if off != 0 {
		p = &ir.Binary{At: at, Op: "+", X: p, Y: numberOf(off, types.Int{Size: 8, Signed: true}, sp)}
	} else {
		p = &ir.Cast{At: at, X: p}
	}
	return &ir.Str{At: ir.At{T: types.String{}, Sp: sp}, X: p}
}
