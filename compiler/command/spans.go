package command

import "github.com/eptrace/ep/lang/source"

// withoutSpans returns a copy of c that shares nothing with it that is ever
// changed and has no places of a script.
func withoutSpans(c Command) Command {
	switch c := c.(type) {
	case *Eprobe:
		return &Eprobe{EventName: noSpan(c.EventName), On: noSpan(c.On), Args: argsWithout(c.Args), If: condWithout(c.If)}
	case *Kprobe:
		d := *c
		d.Span, d.At, d.Args = source.Span{}, source.Span{}, argsWithout(c.Args)
		return &d
	case *Fprobe:
		d := *c
		d.Span, d.At, d.Args = source.Span{}, source.Span{}, argsWithout(c.Args)
		return &d
	case *Tprobe:
		d := *c
		d.Span, d.At, d.Args = source.Span{}, source.Span{}, argsWithout(c.Args)
		return &d
	case *Uprobe:
		d := *c
		d.Span, d.At, d.Args = source.Span{}, source.Span{}, argsWithout(c.Args)
		return &d
	case *Synthetic:
		d := &Synthetic{Name: c.Name}
		for _, f := range c.Fields {
			d.Fields = append(d.Fields, SynthField{Type: f.Type, Name: f.Name})
		}
		return d
	case *Delete:
		return &Delete{EventName: noSpan(c.EventName), Words: c.Words}
	case *Hist:
		return histWithout(c)
	case *Trigger:
		d := *c
		d.Event, d.Target, d.If, d.Span = noSpan(c.Event), noSpan(c.Target), condWithout(c.If), source.Span{}
		return &d
	case *Filter:
		return &Filter{Event: noSpan(c.Event), If: condWithout(c.If)}
	case *Enable:
		return &Enable{Event: noSpan(c.Event), On: c.On}
	case *Setting:
		return &Setting{Name: c.Name, Value: c.Value}
	}
	panic("internal error: no such command")
}

func argsWithout(args []Arg) []Arg {
	var list []Arg
	for _, a := range args {
		list = append(list, Arg{Name: a.Name, Fetch: fetchWithout(a.Fetch), Type: a.Type})
	}
	return list
}

func fetchWithout(f Fetch) Fetch {
	switch f := f.(type) {
	case FieldOf:
		return FieldOf{Name: f.Name}
	case ArgN:
		return ArgN{N: f.N}
	case RetVal:
		return RetVal{}
	case Comm:
		return Comm{}
	case StackAddr:
		return StackAddr{}
	case StackN:
		return StackN{N: f.N}
	case Reg:
		return Reg{Name: f.Name}
	case At:
		return At{Symbol: f.Symbol, Addr: f.Addr, Off: f.Off}
	case FileAt:
		return FileAt{Off: f.Off}
	case Imm:
		return Imm{N: f.N, Unsigned: f.Unsigned}
	case ImmString:
		return ImmString{Text: f.Text}
	case Deref:
		return Deref{Off: f.Off, User: f.User, X: fetchWithout(f.X)}
	case Var:
		return Var{Path: f.Path}
	case Typecast:
		return Typecast{Struct: f.Struct, Member: f.Member, X: fetchWithout(f.X), Path: f.Path}
	case Special:
		return Special{Text: f.Text}
	}
	panic("internal error: no such fetch")
}

func condWithout(c Cond) Cond {
	switch c := c.(type) {
	case nil:
		return nil
	case *And:
		return &And{List: condsWithout(c.List)}
	case *Or:
		return &Or{List: condsWithout(c.List)}
	case *Not:
		return &Not{X: condWithout(c.X)}
	case *Pred:
		return &Pred{Field: c.Field, Suffix: c.Suffix, Op: c.Op, Value: Value{Kind: c.Value.Kind, Text: c.Value.Text}}
	}
	panic("internal error: no such condition")
}

func condsWithout(list []Cond) []Cond {
	var out []Cond
	for _, c := range list {
		out = append(out, condWithout(c))
	}
	return out
}

func histWithout(c *Hist) *Hist {
	d := *c
	d.Event, d.Span, d.If = noSpan(c.Event), source.Span{}, condWithout(c.If)
	d.Keys, d.Vals = exprsWithout(c.Keys), exprsWithout(c.Vals)
	d.Vars, d.Sort, d.Actions = nil, nil, nil
	for _, v := range c.Vars {
		d.Vars = append(d.Vars, HistVar{Name: v.Name, Expr: exprWithout(v.Expr)})
	}
	for _, s := range c.Sort {
		d.Sort = append(d.Sort, HistSort{Name: s.Name, Desc: s.Desc})
	}
	for _, a := range c.Actions {
		a.Match, a.Params, a.Span = noSpan(a.Match), exprsWithout(a.Params), source.Span{}
		d.Actions = append(d.Actions, a)
	}
	return &d
}

func exprsWithout(list []HistExpr) []HistExpr {
	var out []HistExpr
	for _, x := range list {
		out = append(out, exprWithout(x))
	}
	return out
}

func exprWithout(x HistExpr) HistExpr {
	switch x := x.(type) {
	case HistField:
		return HistField{Event: noSpan(x.Event), Name: x.Name, Modifier: x.Modifier}
	case HistRef:
		return HistRef{Event: noSpan(x.Event), Name: x.Name}
	case HistNum:
		return HistNum{N: x.N}
	case *HistBinary:
		return &HistBinary{X: exprWithout(x.X), Op: x.Op, Y: exprWithout(x.Y)}
	case *HistNeg:
		return &HistNeg{X: exprWithout(x.X)}
	}
	panic("internal error: no such hist expression")
}
