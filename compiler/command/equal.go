package command

import "strconv"

// Equal reports whether a and b are for one file and describe the same object,
// though one may say what the other leaves to the kernel. See Normal.
func Equal(a, b Command) bool {
	return a.File() == b.File() && printed(Normal(a)) == printed(Normal(b))
}

// Shown returns what a kernel's read-back can tell of c, in Normal form. A
// command that was written and the line that is read back for it are Equal once
// both went through Shown.
//
// It has no condition of an eprobe and no maxactive of a return probe, which
// read-back leaves out and fills in, and no more of a trigger's count than that
// there is one, for it is counted down. The names `cpu` and `comm` of a hist are
// the generic fields: do not use it to tell them from an event's own fields of
// these names. What kernels make of $arg*, %pd, %pD and of an $argN without a
// name needs BTF and is not undone, nor is the sum of two constants.
func Shown(c Command) Command {
	c = Normal(c)
	switch c := c.(type) {
	case *Eprobe:
		c.If = nil
	case *Kprobe:
		c.MaxActive = 0
	case *Trigger:
		c.Count = min(c.Count, 0)
	case *Hist:
		generic := func(name *string) {
			switch *name {
			case "cpu", "CPU":
				*name = "common_cpu"
			case "comm", "COMM":
				*name = "common_comm"
			}
		}
		eachField(c, func(f *HistField) { generic(&f.Name) })
		for i := range c.Sort {
			generic(&c.Sort[i].Name)
		}
	}
	return c
}

// EqualButNames reports whether the commands of a and b are Equal one by one
// when the variables of their hists are renamed: each variable to one other,
// the same wherever it is set or referred to. Whether a reference says the
// event of its variable does not matter.
func EqualButNames(a, b []Command) bool {
	if len(a) != len(b) {
		return false
	}
	ra, rb := newRenamer(a), newRenamer(b)
	for i := range a {
		x, y := ra.rename(Normal(a[i])), rb.rename(Normal(b[i]))
		if x.File() != y.File() || printed(x) != printed(y) {
			return false
		}
	}
	return true
}

// variable is a hist's variable; its event is zero if no hist at hand has it.
type variable struct {
	event EventName
	name  string
}

// renamer numbers variables in the order in which they appear.
type renamer struct {
	events  map[string][]EventName // that have a variable of a name, in order
	numbers map[variable]int
}

func newRenamer(list []Command) *renamer {
	r := &renamer{events: map[string][]EventName{}, numbers: map[variable]int{}}
	for _, c := range list {
		h, ok := c.(*Hist)
		if !ok {
			continue
		}
		for _, v := range h.Vars {
			r.events[v.Name] = append(r.events[v.Name], noSpan(h.Event))
		}
	}
	return r
}

func (r *renamer) rename(c Command) Command {
	h, ok := c.(*Hist)
	if !ok {
		return c
	}
	for i, v := range h.Vars {
		h.Vars[i].Expr = r.expr(h, v.Expr, EventName{})
		h.Vars[i].Name = r.number(variable{h.Event, v.Name})
	}
	for i, x := range h.Vals {
		h.Vals[i] = r.expr(h, x, EventName{})
	}
	for i := range h.Actions {
		a := &h.Actions[i]
		if a.Var != "" {
			a.Var = r.number(variable{h.Event, a.Var})
		}
		for j, x := range a.Params {
			a.Params[j] = r.expr(h, x, a.Match)
		}
	}
	return h
}

func (r *renamer) number(v variable) string {
	n, ok := r.numbers[v]
	if !ok {
		n = len(r.numbers) + 1
		r.numbers[v] = n
	}
	return "v" + strconv.Itoa(n)
}

func (r *renamer) expr(h *Hist, x HistExpr, match EventName) HistExpr {
	switch x := x.(type) {
	case HistRef:
		return HistRef{Name: r.number(variable{r.owner(h, x, match), x.Name})}
	case *HistBinary:
		return &HistBinary{X: r.expr(h, x.X, match), Op: x.Op, Y: r.expr(h, x.Y, match)}
	case *HistNeg:
		return &HistNeg{X: r.expr(h, x.X, match)}
	}
	return x
}

// owner returns the event that has the variable which x refers to, as kernels
// look for it: the hist's own event, that of onmatch, then any.
func (r *renamer) owner(h *Hist, x HistRef, match EventName) EventName {
	if x.Event.Name != "" {
		return x.Event
	}
	events := r.events[x.Name]
	for _, want := range []EventName{h.Event, match} {
		for _, n := range events {
			if n == want {
				return n
			}
		}
	}
	if len(events) > 0 {
		return events[0]
	}
	return EventName{}
}
