package lower

import "github.com/eptrace/ep/compiler/ir"

// needsEnd reports whether a text of a probe must have the constant behind it: others
// test it or hand it on, or one of several pointers on the way to it may be bad.
func (b *probeBuilder) needsEnd(x ir.Expr) bool {
	s, ok := textRead(x)
	if !ok {
		return false
	}
	base, _, _ := offset(s.X)
	if variable(base) != nil {
		return false
	}
	return !b.l.shown[b.ev] || len(b.l.through(base, nil)) > 0
}

// textRead returns the reading of a text that x is.
func textRead(x ir.Expr) (*ir.Str, bool) {
	for {
		switch in := x.(type) {
		case *ir.Str:
			return in, in.Max == 0
		case *ir.Early:
			x = in.X
		case *ir.Cast:
			x = in.X
		default:
			return nil, false
		}
	}
}

// onlyShown lists the events whose records are shown and used for nothing else, and
// that test no text.
func onlyShown(prog *ir.Program) map[*ir.Event]bool {
	shown := map[*ir.Event]bool{}
	used := map[*ir.Event]bool{}
	stages := func(list []*ir.Stage) {
		for _, st := range list {
			if d, ok := st.Source.(*ir.Derived); ok {
				used[d.Event] = true
			}
		}
	}
	event := func(ev *ir.Event) {
		stages(ev.Stages)
		shown[ev] = !testsText(ev)
		for _, m := range ev.Union {
			stages(m.Stages)
		}
	}
	for _, ev := range prog.Events {
		event(ev)
	}
	for _, tr := range prog.Traces {
		if tr.Inline != nil {
			event(tr.Inline)
		}
	}
	for _, h := range prog.Hists {
		stages(h.Stages)
	}
	for _, o := range prog.Ons {
		stages([]*ir.Stage{o.Stage})
	}
	for ev := range used {
		delete(shown, ev)
	}
	return shown
}

func testsText(ev *ir.Event) bool {
	found := false
	for _, w := range append([]ir.Expr{ev.Having}, whereOf(ev)...) {
		ir.Visit(w, func(x ir.Expr) bool {
			_, text := x.(*ir.Str)
			found = found || text
			return !found
		})
	}
	for _, f := range ev.Fields {
		found = found || f.Hidden && isText(f.Value)
	}
	return found
}

func whereOf(ev *ir.Event) []ir.Expr {
	var out []ir.Expr
	for _, st := range ev.Stages {
		out = append(out, st.Where)
	}
	return out
}
