package ir

import (
	"fmt"

	"github.com/eptrace/ep/lang/source"
)

// Relocate gives an event, and all that is in it, one place: that of the
// statement that brings the event from another text.
func Relocate(ev *Event, sp source.Span) {
	ev.Span, ev.Whole = sp, sp
	if ev.SizeAt.Valid() {
		ev.SizeAt = sp
	}
	for _, st := range ev.Stages {
		st.Span = sp
		st.Where = at(st.Where, sp)
		if p, ok := st.Source.(*Probe); ok {
			moved := *p
			moved.Span = sp
			st.Source = &moved
		}
		for i, k := range st.Keys {
			st.Keys[i] = Key{Left: at(k.Left, sp), Right: at(k.Right, sp), Span: sp}
		}
	}
	ev.Having = at(ev.Having, sp)
	for _, f := range ev.Fields {
		f.Span = sp
		f.Value = at(f.Value, sp)
	}
	if ev.Emit != nil {
		ev.Emit.Value, ev.Emit.Span = at(ev.Emit.Value, sp), sp
		for i, p := range ev.Emit.Per {
			ev.Emit.Per[i] = at(p, sp)
		}
	}
	for _, m := range ev.Union {
		Relocate(m, sp)
	}
}

// at returns x with the place sp, and all that is in it.
func at(x Expr, sp source.Span) Expr {
	return Rewrite(x, func(x Expr) Expr {
		switch x := x.(type) {
		case *Const:
			return &Const{At{x.T, sp}, x.Value}
		case *FieldRef:
			return &FieldRef{At{x.T, sp}, x.Stage, x.Name}
		case *Own:
			return &Own{At{x.T, sp}, x.Field}
		case *Context:
			c := *x
			c.Sp = sp
			return &c
		case *Addr:
			return &Addr{At{x.T, sp}, x.Symbol, x.PerCPU}
		case *Str:
			return &Str{At{x.T, sp}, x.X, x.Max}
		case *Load:
			return &Load{At{x.T, sp}, x.X, x.Off}
		case *Unary:
			return &Unary{At{x.T, sp}, x.Op, x.X}
		case *Binary:
			return &Binary{At{x.T, sp}, x.Op, x.X, x.Y}
		case *In:
			return &In{At{x.T, sp}, x.X, setAt(x.Set, sp)}
		case *Cast:
			return &Cast{At{x.T, sp}, x.X}
		case *Bits:
			return &Bits{At{x.T, sp}, x.X, x.Offset, x.Width}
		case *Early:
			return &Early{At{x.T, sp}, x.Stage, x.X}
		}
		panic(fmt.Sprintf("internal error: expression %T", x))
	})
}

// setAt gives the constants of a set one place.
func setAt(set []Range, sp source.Span) []Range {
	out := make([]Range, len(set))
	for i, r := range set {
		out[i].Lo = &Const{At{r.Lo.T, sp}, r.Lo.Value}
		if r.Hi != nil {
			out[i].Hi = &Const{At{r.Hi.T, sp}, r.Hi.Value}
		}
	}
	return out
}
