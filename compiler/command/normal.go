package command

import (
	"math/bits"
	"strconv"
	"strings"
)

// Normal returns c as all commands are that describe the same object, without
// places of a script. It shares nothing with c that is ever changed.
//
// What a kernel takes for granted is written in or left out alike:
//
//   - the type x64 of a probe's argument where no BTF could give another, and
//     string for text;
//   - the address of a kprobe, of which a kernel shows a hash;
//   - %return of an fprobe that uses $retval;
//   - hitcount among the values and as the only sort key, the size 2048, a size
//     that is no power of two, and the clock: global if the hist uses
//     common_timestamp, none if it does not;
//   - a variable of the same hist that is a field, which a kernel replaces by
//     the field;
//   - stacktrace for common_stacktrace;
//   - parentheses that change nothing and the base of numbers in a condition.
//
// The order of the parts of a line does not matter; that of keys, values,
// variables and actions does.
func Normal(c Command) Command {
	c = withoutSpans(c)
	switch c := c.(type) {
	case *Eprobe:
		c.If = normalCond(c.If)
		normalArgs(c.Args, eprobeType)
	case *Kprobe:
		if c.Symbol == "" {
			c.Offset = 0
		}
		normalArgs(c.Args, probeType)
	case *Fprobe:
		for _, a := range c.Args {
			c.Return = c.Return || usesRetVal(a.Fetch)
		}
		normalArgs(c.Args, probeType)
	case *Tprobe:
		normalArgs(c.Args, probeType)
	case *Uprobe:
		normalArgs(c.Args, probeType)
	case *Hist:
		normalHist(c)
	case *Trigger:
		c.If = normalCond(c.If)
	case *Filter:
		c.If = normalCond(c.If)
	}
	return c
}

func normalArgs(args []Arg, typeOf func(Fetch) string) {
	for i := range args {
		a := &args[i]
		if imm, ok := a.Fetch.(Imm); ok {
			imm.Unsigned = imm.N < 0 && imm.Unsigned
			a.Fetch = imm
		}
		if a.Type.Base == "" {
			a.Type.Base = typeOf(a.Fetch)
		}
	}
}

// eprobeType returns the type of an argument that has none, "" if it is not
// known. In an eprobe even a text is x64: its address.
func eprobeType(f Fetch) string {
	switch f.(type) {
	case Var, Typecast, Special:
		return ""
	}
	return "x64"
}

// probeType is eprobeType for the other probes, to which BTF may give types.
func probeType(f Fetch) string {
	switch f := f.(type) {
	case Comm, ImmString:
		return "string"
	case Reg, StackAddr, StackN, At, FileAt, Imm:
		return "x64"
	case Deref:
		return probeType(f.X)
	}
	return ""
}

func normalHist(c *Hist) {
	own := map[string]HistExpr{}
	for i, v := range c.Vars {
		x := normalExpr(v.Expr, own)
		c.Vars[i].Expr = x
		if _, isField := x.(HistField); isField {
			own[v.Name] = x
		}
	}
	var vals []HistExpr
	for _, x := range c.Vals {
		if f, ok := x.(HistField); !ok || f.Name != "hitcount" || f.Modifier != "" {
			vals = append(vals, normalExpr(x, own))
		}
	}
	c.Vals = vals
	for i, x := range c.Keys {
		c.Keys[i] = normalExpr(x, nil)
	}
	for _, a := range c.Actions {
		for i, x := range a.Params {
			a.Params[i] = normalExpr(x, nil)
		}
	}
	for i := range c.Sort {
		c.Sort[i].Name = stackName(c.Sort[i].Name)
	}
	if len(c.Sort) == 1 && c.Sort[0] == (HistSort{Name: "hitcount"}) {
		c.Sort = nil
	}
	c.Size = normalSize(c.Size)
	switch {
	case !usesClock(c):
		c.Clock = ""
	case c.Clock == "":
		c.Clock = "global"
	}
	c.If = normalCond(c.If)
}

// normalSize returns the entries that a kernel makes of size=n: a power of two.
func normalSize(n int) int {
	switch {
	case n == 0:
		return DefaultHistSize
	case n <= 1 || n > MaxHistSize:
		return n
	}
	return 1 << bits.Len(uint(n-1))
}

// normalExpr puts the fields of own, the hist's variables, for their names.
func normalExpr(x HistExpr, own map[string]HistExpr) HistExpr {
	switch x := x.(type) {
	case HistField:
		x.Name = stackName(x.Name)
		return x
	case HistRef:
		if f, ok := own[x.Name]; ok && x.Event == (EventName{}) {
			return f
		}
	case *HistBinary:
		return &HistBinary{X: normalExpr(x.X, own), Op: x.Op, Y: normalExpr(x.Y, own)}
	case *HistNeg:
		return &HistNeg{X: normalExpr(x.X, own)}
	}
	return x
}

func stackName(name string) string {
	if name == "stacktrace" || name == "STACKTRACE" {
		return "common_stacktrace"
	}
	return name
}

// usesClock reports whether c has the timestamp, and so sets the clock.
func usesClock(c *Hist) bool {
	uses := false
	eachField(c, func(f *HistField) { uses = uses || f.Name == "common_timestamp" })
	return uses
}

// eachField calls f for each field of c, which f may change.
func eachField(c *Hist, f func(*HistField)) {
	visit := func(x HistExpr) HistExpr { return mapFields(x, f) }
	for _, list := range [][]HistExpr{c.Keys, c.Vals} {
		for i, x := range list {
			list[i] = visit(x)
		}
	}
	for i := range c.Vars {
		c.Vars[i].Expr = visit(c.Vars[i].Expr)
	}
	for _, a := range c.Actions {
		for i, x := range a.Params {
			a.Params[i] = visit(x)
		}
	}
}

func mapFields(x HistExpr, f func(*HistField)) HistExpr {
	switch x := x.(type) {
	case HistField:
		f(&x)
		return x
	case *HistBinary:
		x.X, x.Y = mapFields(x.X, f), mapFields(x.Y, f)
	case *HistNeg:
		x.X = mapFields(x.X, f)
	}
	return x
}

// normalCond puts lists in lists of the same kind together, drops double
// negations, and writes numbers as decimals.
func normalCond(c Cond) Cond {
	switch c := c.(type) {
	case *And:
		var list []Cond
		for _, x := range c.List {
			x = normalCond(x)
			if a, ok := x.(*And); ok {
				list = append(list, a.List...)
				continue
			}
			list = append(list, x)
		}
		return &And{List: list}
	case *Or:
		var list []Cond
		for _, x := range c.List {
			x = normalCond(x)
			if o, ok := x.(*Or); ok {
				list = append(list, o.List...)
				continue
			}
			list = append(list, x)
		}
		return &Or{List: list}
	case *Not:
		x := normalCond(c.X)
		if n, ok := x.(*Not); ok {
			return n.X
		}
		return &Not{X: x}
	case *Pred:
		if c.Value.Kind == Number {
			c.Value.Text = normalNumber(c.Value.Text)
		}
	}
	return c
}

func normalNumber(s string) string {
	digits, negative := strings.CutPrefix(s, "-")
	n, err := parseUint(digits)
	switch {
	case err != nil:
		return s
	case negative && n != 0:
		return "-" + strconv.FormatUint(n, 10)
	}
	return strconv.FormatUint(n, 10)
}
