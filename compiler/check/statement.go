package check

import (
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
)

// newScope is the scope of a statement.
func (c *checker) newScope() *scope {
	return &scope{c: c, later: map[string]source.Span{}, used: map[string]source.Span{}}
}

func stagesOf(list []*syntax.Then) []*syntax.Stage {
	out := make([]*syntax.Stage, len(list))
	for i, th := range list {
		out[i] = th.Stage
	}
	return out
}

// checkAliases reports stages that are named like a field that their statement
// uses.
func (c *checker) checkAliases(sc *scope) {
	for _, v := range sc.stages {
		if at, ok := sc.used[v.stage.Alias]; ok && v.stage.Alias != "" {
			c.shadowedName(v.aliasAt, "stage", v.stage.Alias, at)
		}
	}
}

// checkPaused warns of what waits to be started and never is.
func (c *checker) checkPaused() {
	started := map[any]bool{}
	for _, o := range c.prog.Ons {
		for _, a := range o.Actions {
			switch {
			case a.Verb != ir.Start:
			case a.Event != nil:
				started[a.Event] = true
			case a.Hist != nil:
				started[a.Hist] = true
			default:
				started[a.Group+"."+a.Name] = true
			}
		}
	}
	for _, h := range c.prog.Hists {
		if h.Paused && !started[h] {
			c.neverStarted(h.Span, h.Name)
		}
	}
	for _, t := range c.prog.Traces {
		key, name := any(t.Event), ""
		if t.Event != nil {
			name = t.Event.Name
		} else {
			name = t.Kernel.System + "." + t.Kernel.Name
			key = name
		}
		if t.Paused && !started[key] {
			c.neverStarted(t.Span, name)
		}
	}
}
