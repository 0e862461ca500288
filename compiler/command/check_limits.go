package command

import (
	"errors"
	"fmt"
)

// limits reports which of the kernel's limits c is over. It prints c, so c must
// be well spelled.
func limits(c Command) error {
	var err error
	switch c := c.(type) {
	case *Eprobe, *Kprobe, *Fprobe, *Tprobe, *Uprobe:
		made, _ := Made(c)
		err = limitProbe(made, Args(c))
		if k, ok := c.(*Kprobe); ok && err == nil {
			err = limit("maxactive", k.MaxActive, MaxActive)
		}
	case *Synthetic:
		err = limit("fields", len(c.Fields), MaxSynthFields)
	case *Hist:
		err = limitHist(c)
	}
	if err != nil {
		return err
	}
	return first(limitCond(condOf(c)), limit("bytes of the line", len(printed(c)), MaxLine))
}

func limit(what string, n, most int) error {
	if n > most {
		return fmt.Errorf("%d %s, the kernel's limit is %d", n, what, most)
	}
	return nil
}

// limitProbe refuses the group of synthetic events too: the kernel would let a
// probe and a synthetic event have one name.
func limitProbe(n EventName, args []Arg) error {
	if n.Group == synthetic {
		return errors.New("probe in the group of synthetic events")
	}
	if err := limit("arguments", len(args), MaxArgs); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, a := range args {
		if ArgName(a.Name) == ArgNameRefused && a.Name != "" || seen[a.Name] {
			return fmt.Errorf("argument name %q is taken", a.Name)
		}
		seen[a.Name] = true
		if err := limit("bytes of an argument", ArgBody(a), MaxArgBodyNew); err != nil {
			return err
		}
	}
	return nil
}

// ArgBody returns the length of FETCH[:TYPE] of a in bytes, which MaxArgBody
// or MaxArgBodyNew bounds.
func ArgBody(a Arg) int {
	var p printer
	p.fetch(a.Fetch)
	p.fetchType(a.Type)
	return p.b.Len()
}

func limitHist(c *Hist) error {
	vals, refs := 0, map[HistRef]bool{}
	count := func(x HistExpr) { countRefs(x, refs) }
	for _, x := range c.Vals {
		if f, ok := x.(HistField); !ok || f.Name != "hitcount" {
			vals++
		}
		count(x)
	}
	for _, v := range c.Vars {
		if err := limit("operators", Operators(v.Expr), MaxOperators); err != nil {
			return err
		}
		count(v.Expr)
	}
	own := map[string]bool{}
	for _, v := range c.Vars {
		own[v.Name] = true
	}
	for r := range refs {
		if r.Event == (EventName{}) && own[r.Name] {
			delete(refs, r)
		}
	}
	if c.NoHitcount && vals == 0 {
		return errors.New("nohitcount without a value")
	}
	if err := limitWords(c); err != nil {
		return err
	}
	if c.Size != 0 && (c.Size <= MinHistSize/2 || c.Size > MaxHistSize) {
		return fmt.Errorf("size %d, the kernel's limits are %d and %d", c.Size, MinHistSize, MaxHistSize)
	}
	return first(limit("keys", len(c.Keys), MaxHistKeys), limit("values", vals, MaxHistVals),
		limit("sort keys", len(c.Sort), MaxSort), limit("variables", Vars(c), MaxVars),
		limit("references", len(refs), MaxRefs), limit("actions", len(c.Actions), MaxActions))
}

// limitWords refuses words of actions that are too short for the kernel.
func limitWords(c *Hist) error {
	for _, a := range c.Actions {
		if a.Do == "trace" && len(a.Synth) < MinActionWord {
			return fmt.Errorf("synthetic event name %q is too short for an action", a.Synth)
		}
		for _, x := range a.Params {
			if f, ok := x.(HistField); ok && len(f.Name) < MinActionWord {
				return fmt.Errorf("field name %q is too short for an action", f.Name)
			}
		}
		if err := limit("parameters", len(a.Params), MaxSynthFields); err != nil {
			return err
		}
	}
	return nil
}

// Operators counts the operators of x, which MaxOperators bounds.
func Operators(x HistExpr) int {
	switch x := x.(type) {
	case *HistBinary:
		return Operators(x.X) + 1 + Operators(x.Y)
	case *HistNeg:
		return 1 + Operators(x.X)
	}
	return 0
}

// Vars counts the variables that c takes of MaxVars as far as its text tells:
// its own, those of save(), and one for each onmax and onchange. A field of the
// event as a parameter of trace() takes one more each.
func Vars(c *Hist) int {
	n := len(c.Vars)
	for _, a := range c.Actions {
		if a.Handler != "onmatch" {
			n++
		}
		if a.Do == "save" {
			n += len(a.Params)
		}
	}
	return n
}

func countRefs(x HistExpr, refs map[HistRef]bool) {
	switch x := x.(type) {
	case HistRef:
		refs[HistRef{Event: noSpan(x.Event), Name: x.Name}] = true
	case *HistBinary:
		countRefs(x.X, refs)
		countRefs(x.Y, refs)
	case *HistNeg:
		countRefs(x.X, refs)
	}
}

// limitCond bounds the numbers of a condition; spell has bounded the strings.
func limitCond(c Cond) error {
	var err error
	walkPreds(c, func(p *Pred) {
		if p.Value.Kind == Number && p.Suffix != "function" && len(p.Value.Text) > MaxFilterNumber {
			err = limit("bytes of a number", len(p.Value.Text), MaxFilterNumber)
		}
	})
	return err
}

// condOf returns the condition of c, nil for none.
func condOf(c Command) Cond {
	switch c := c.(type) {
	case *Eprobe:
		return c.If
	case *Hist:
		return c.If
	case *Trigger:
		return c.If
	case *Filter:
		return c.If
	}
	return nil
}
