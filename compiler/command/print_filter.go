package command

import "strings"

// The language of filters, as it is printed here:
//
//	filter := "0"                        clears it
//	        | or
//	or     := and {" || " and}
//	and    := unary {" && " unary}
//	unary  := "!(" or ")" | "(" or ")" | pred
//	pred   := FIELD["." SUFFIX] " " OP " " VALUE
//	VALUE  := NUMBER | "\"" TEXT "\"" | "'" TEXT "'" | "CPUS{" LIST "}"
//
// `!` would bind to the predicate behind it without parentheses; they are
// written for the reader. kernel/trace/trace_events_filter.c reads it.

// filter prints a whole condition; nil is "0".
func (p *printer) filter(c Cond) {
	switch c := c.(type) {
	case nil:
		p.char('0')
	case *Or:
		p.list(c.List, " || ", func(c Cond) bool { return isOr(c) })
	case *And:
		p.list(c.List, " && ", func(c Cond) bool { return isOr(c) || isAnd(c) })
	case *Not:
		p.char('!')
		p.group(c.X)
	case *Pred:
		p.pred(c)
	default:
		panic("internal error: no such condition")
	}
}

func isOr(c Cond) bool  { _, ok := c.(*Or); return ok }
func isAnd(c Cond) bool { _, ok := c.(*And); return ok }

func (p *printer) list(list []Cond, between string, grouped func(Cond) bool) {
	for i, c := range list {
		if i > 0 {
			p.text(between)
		}
		if grouped(c) {
			p.group(c)
			continue
		}
		p.filter(c)
	}
}

// group prints a condition in parentheses. The name of a function eats a
// parenthesis that stands right behind it (up to v7.3), so a blank goes between.
func (p *printer) group(c Cond) {
	p.char('(')
	p.filter(c)
	if endsInFunction(c) {
		p.char(' ')
	}
	p.char(')')
}

func endsInFunction(c Cond) bool {
	switch c := c.(type) {
	case *And:
		return endsInFunction(c.List[len(c.List)-1])
	case *Or:
		return endsInFunction(c.List[len(c.List)-1])
	case *Pred:
		return c.Suffix == "function"
	}
	return false
}

func (p *printer) pred(c *Pred) {
	o := p.open(c.Span)
	p.text(c.Field)
	if c.Suffix != "" {
		p.char('.')
		p.text(c.Suffix)
	}
	p.char(' ')
	p.text(c.Op)
	p.char(' ')
	v := p.open(c.Value.Span)
	p.text(c.Value.String())
	p.close(v)
	p.close(o)
}

// String returns the value as a filter spells it.
func (v Value) String() string {
	switch v.Kind {
	case String:
		if strings.Contains(v.Text, `"`) {
			return "'" + v.Text + "'"
		}
		return `"` + v.Text + `"`
	case CPUs:
		return "CPUS{" + v.Text + "}"
	}
	return v.Text
}
