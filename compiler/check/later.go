package check

import (
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
)

// This file checks what this compiler does not lower yet, as far as that makes
// sense without: names, types and conditions.

// hist checks a hist statement, which is not lowered yet.
func (c *checker) hist(h *syntax.Hist) {
	c.notYet(head(h.Span(), "hist"), "histograms")
	sc := c.bareStage(h.Stage)
	for _, k := range h.By {
		c.aggregate(k.Value, sc)
	}
	if h.Values != nil {
		for _, f := range h.Values.List {
			if f.Value != nil {
				c.aggregate(f.Value, sc)
			}
		}
	}
	if h.Size != nil {
		c.size(h.Size)
	}
}

// aggregate checks a key or a value of a hist: an expression, perhaps within
// one of the functions that only hists have.
func (c *checker) aggregate(e syntax.Expr, sc *scope) {
	call, ok := syntax.Unparen(e).(*syntax.Call)
	if !ok {
		c.expr(e, sc)
		return
	}
	switch f, known := functions[call.Func.Text()]; {
	case !known || !f.hist:
		c.expr(e, sc)
	case len(call.Args) < f.least || len(call.Args) > f.most:
		c.argumentCount(call.Span(), call.Func.Text(), f.least, f.most, len(call.Args))
	default:
		for _, a := range call.Args {
			c.expr(a, sc)
		}
	}
}

// on checks an on statement, which is not lowered yet.
func (c *checker) on(o *syntax.On) {
	c.notYet(head(o.Span(), "on"), "'on' actions")
	c.bareStage(o.Stage)
}

// emit checks `emit on max(E) per K`, which is not lowered yet.
func (c *checker) emit(e *syntax.Emit, of *scope) {
	c.notYet(head(e.Span(), "emit"), "'emit'")
	c.expr(e.Value, of)
	for _, k := range e.Per {
		c.expr(k, of)
	}
}

// bareStage checks a stage that no event is made of.
func (c *checker) bareStage(s *syntax.Stage) *scope {
	sc := c.newScope()
	c.stage(&ir.Event{Span: s.Span()}, sc, s, nil)
	return sc
}

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
