package syntax

import (
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// The grammar takes more than the language where that makes the tree simple or
// a message exact. What it takes too much is told here.

func (p *parser) checkItem(item Item) {
	switch n := item.(type) {
	case *Event:
		p.checkStage(n.From)
		for _, t := range n.Then {
			p.checkStage(t.Stage)
			for _, k := range t.By {
				if k.Name != nil {
					p.errs.add(joinAssigns(source.Span{Start: k.Name.Span().End, End: k.Value.Span().Start}))
				}
			}
		}
		if n.Emit != nil && n.Emit.On.Raw != "max" && n.Emit.On.Raw != "change" {
			p.errs.add(badEmit(n.Emit.On))
		}
	case *Hist:
		p.checkStage(n.Stage)
	case *On:
		p.checkStage(n.Stage)
		for _, a := range n.Do {
			p.checkAction(a)
		}
	case *Trace:
		p.checkStage(n.Stage)
	case *Param, *Const, *Import, *Option, *Bad:
	default:
		panic("internal error: unknown item")
	}
}

func (p *parser) checkAction(a *Action) {
	switch a.Verb.Raw {
	case "start", "stop":
		if t := a.Target; t != nil && t.Group == nil && isVerb(t.Name.Raw) {
			p.errs.add(wantComma(a.Verb, t))
		}
	case "snapshot", "stack":
		switch t := a.Target; {
		case t == nil:
		case t.Group == nil && isVerb(t.Name.Raw):
			p.errs.add(wantComma(a.Verb, t))
		default:
			p.errs.add(noTarget(a.Verb, a.Target.Span()))
		}
	default:
		p.errs.add(badAction(a.Verb))
	}
}

func isVerb(s string) bool {
	return s == "start" || s == "stop" || s == "snapshot" || s == "stack"
}

func (p *parser) checkStage(s *Stage) {
	for _, src := range s.Sources {
		for _, alt := range src.Alts {
			if alt.One.Kind != KindName {
				p.checkOne(alt.One)
			}
		}
	}
}

// checkOne tells the parts of a source that its kind does not have.
func (p *parser) checkOne(n *One) {
	user := n.Kind == KindUfunc || n.Kind == KindUprobe || n.Kind == KindUSDT
	switch {
	case user && n.Path == nil:
		p.errs.add(wantPath(n.Kind, n.Func.Span()))
		return
	case !user && n.Path != nil:
		p.errs.add(noPath(n.Kind, n.Path.Span()))
		return
	}
	if m := n.Func.Module; m != nil && n.Func.Addr != nil {
		p.errs.add(newMistake(diag.Syntax, n.Func.Addr.Span(), "expected a function's name after ':', found '%s'", n.Func.Addr.Raw).
			note("an address has no module"))
	} else if m != nil && (n.Kind == KindUfunc || n.Kind == KindUprobe) {
		p.errs.add(newMistake(diag.Syntax, m.Span(), "a %v has no module", n.Kind).
			fix(source.Span{Start: m.Span().Start, End: n.Func.Name.Span().Start}, ""))
	}
	name := ""
	if n.Func.Name != nil && !n.Func.Param {
		name = n.Func.Name.Text()
	}
	if n.End != nil {
		switch n.Kind {
		case KindSyscall, KindFunc, KindUfunc:
			if n.End.Raw != "enter" && n.End.Raw != "exit" {
				p.errs.add(badEnd(n.End, name))
			}
		default:
			p.errs.add(noEnd(n.Kind, n.End, name))
		}
	}
	if n.Offset != nil {
		switch n.Kind {
		case KindKprobe, KindUfunc, KindUprobe:
		default:
			p.errs.add(noOffset(n.Kind, n.Offset.Span()))
		}
	}
	if n.Kind == KindUSDT && n.Func.Module == nil && !n.Func.Param {
		p.errs.add(wantProvider(n.Func.Span()))
	}
}
