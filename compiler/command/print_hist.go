package command

import "strconv"

// A hist trigger, as it is printed here:
//
//	[!]hist:keys=EXPR[,EXPR…][:vals=EXPR[,EXPR…]]{:NAME=EXPR}
//	    [:sort=NAME[.descending][,…]][:size=N][:name=ID][:clock=C]
//	    [:pause|:continue|:clear][:nohitcount]{:HANDLER.ACTION} [if COND]
//	EXPR    := TERM {("+"|"-"|"*"|"/") TERM} | "-(" EXPR ")"
//	TERM    := FIELD[.MODIFIER] | [SYS.EV.]$NAME | NUMBER
//	HANDLER := onmatch(SYS.EV) | onmax($NAME) | onchange($NAME)
//	ACTION  := trace(SYNTH[,PARAM…]) | save(FIELD[,FIELD…]) | snapshot()
//	PARAM   := [SYS.EV.]$NAME | [SYS.EV.]FIELD
//
// The kernel takes the parts in any order. Each variable is a part of its own:
// of a list with commas it drops what is over its limit in silence. It also
// takes SYNTH(PARAM…) for trace, but not if SYNTH starts like an action's word.
// kernel/trace/trace_events_hist.c reads it.

func (p *printer) hist(c *Hist) {
	o := p.open(whole(c.Span, c.Event))
	if c.Remove {
		p.char('!')
	}
	p.text("hist:keys=")
	p.exprs(c.Keys)
	if len(c.Vals) > 0 {
		p.text(":vals=")
		p.exprs(c.Vals)
	}
	for _, v := range c.Vars {
		p.char(':')
		s := p.open(v.Span)
		p.text(v.Name)
		p.char('=')
		p.expr(v.Expr)
		p.close(s)
	}
	for i, s := range c.Sort {
		p.text([]string{":sort=", ","}[min(i, 1)])
		sp := p.open(s.Span)
		p.text(s.Name)
		if s.Desc {
			p.text(".descending")
		}
		p.close(sp)
	}
	p.histParams(c)
	for _, a := range c.Actions {
		p.char(':')
		p.action(a)
	}
	p.cond(c.If)
	p.close(o)
}

func (p *printer) histParams(c *Hist) {
	if c.Size != 0 {
		p.text(":size=")
		p.int(c.Size)
	}
	if c.Name != "" {
		p.text(":name=")
		p.text(c.Name)
	}
	if c.Clock != "" {
		p.text(":clock=")
		p.text(c.Clock)
	}
	if c.State != "" {
		p.char(':')
		p.text(c.State)
	}
	if c.NoHitcount {
		p.text(":nohitcount")
	}
}

func (p *printer) exprs(list []HistExpr) {
	for i, x := range list {
		if i > 0 {
			p.char(',')
		}
		p.expr(x)
	}
}

func (p *printer) expr(x HistExpr) {
	switch x := x.(type) {
	case HistField:
		o := p.open(x.Span)
		p.qualifier(x.Event)
		p.text(x.Name)
		if x.Modifier != "" {
			p.char('.')
			p.text(x.Modifier)
		}
		p.close(o)
	case HistRef:
		o := p.open(x.Span)
		p.qualifier(x.Event)
		p.char('$')
		p.text(x.Name)
		p.close(o)
	case HistNum:
		p.part(x.Span, strconv.FormatUint(x.N, 10))
	case *HistBinary:
		o := p.open(x.Span)
		p.expr(x.X)
		p.char(x.Op)
		p.expr(x.Y)
		p.close(o)
	case *HistNeg:
		o := p.open(x.Span)
		p.text("-(")
		p.expr(x.X)
		p.char(')')
		p.close(o)
	default:
		panic("internal error: no such hist expression")
	}
}

// qualifier prints `SYS.EV.` of a name that another event has.
func (p *printer) qualifier(n EventName) {
	if n.Name != "" {
		p.name(n, '.')
		p.char('.')
	}
}

func (p *printer) action(a HistAction) {
	o := p.open(a.Span)
	p.text(a.Handler)
	p.char('(')
	if a.Handler == "onmatch" {
		p.name(a.Match, '.')
	} else {
		p.char('$')
		p.text(a.Var)
	}
	p.text(").")
	p.text(a.Do)
	p.char('(')
	if a.Do == "trace" {
		p.text(a.Synth)
		if len(a.Params) > 0 {
			p.char(',')
		}
	}
	p.exprs(a.Params)
	p.char(')')
	p.close(o)
}
