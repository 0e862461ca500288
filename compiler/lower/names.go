package lower

import (
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
)

// names gives the objects that a script does not name their names: readable,
// the same at each run, and like nothing that the script or the target has.
type names struct {
	t      *target.Target
	group  string
	suffix string                   // of all
	full   map[string][]source.Span // group.name of the script's events
	bare   map[string][]source.Span // the same without their group
	taken  numbered                 // hidden events, by bare name
	vars   numbered                 // variables of histograms
	asked  int                      // look-ups of bare names in the target
	index  map[string][]string      // the target's events by bare name, once there were many
}

func newNames(prog *ir.Program, t *target.Target) *names {
	n := &names{t: t, group: prog.Options.Group, suffix: prog.Options.Suffix, full: map[string][]source.Span{}, bare: map[string][]source.Span{}, taken: numbered{}, vars: numbered{}}
	events := prog.Events[:len(prog.Events):len(prog.Events)]
	for _, tr := range prog.Traces {
		if tr.Inline != nil {
			events = append(events, tr.Inline)
		}
	}
	for _, ev := range events {
		full := n.groupOf(ev) + "." + ev.Name
		n.full[full] = append(n.full[full], ev.Span)
		n.bare[ev.Name] = append(n.bare[ev.Name], ev.Span)
	}
	return n
}

// addSuffix gives the script's events the names that they have in the kernel.
func addSuffix(prog *ir.Program) {
	suffix := prog.Options.Suffix
	if suffix == "" {
		return
	}
	add := func(ev *ir.Event) {
		ev.Name = ev.Name[:min(len(ev.Name), command.MaxName-len(suffix))] + suffix
	}
	for _, ev := range prog.Events {
		add(ev)
		for _, m := range ev.Union {
			add(m)
		}
	}
	for _, tr := range prog.Traces {
		if tr.Inline != nil {
			add(tr.Inline)
		}
	}
}

// groupOf returns the group that a probe's event gets.
func (n *names) groupOf(ev *ir.Event) string {
	if ev.Group != "" {
		return ev.Group
	}
	return n.group
}

// hidden returns a name for an object that serves ev. It differs from the bare
// names of all events: some kernels confuse a synthetic event with others of
// its bare name.
func (n *names) hidden(ev *ir.Event, role string) string {
	most := command.MaxName - 3 - len(n.suffix) // there may be a number behind
	role = role[:min(len(role), most/2)]
	name := strings.TrimSuffix(ev.Name, n.suffix)
	base := name[:min(len(name), most-1-len(role))] + "_" + role + n.suffix
	return n.taken.name(base, func(name string) bool {
		return len(n.bare[name]) > 0 || len(n.inTarget(name)) > 0
	})
}

// variable returns a name for a variable of a histogram that serves the event
// called event. The kernel looks a variable up over all histograms of an event
// and, if it finds none, over all events.
func (n *names) variable(event, name string) string {
	return n.vars.name(event+"_"+name, nil)
}

// inTarget returns the groups of the target that have an event of a bare name.
// To ask the target is a look into every group; a script with many joins is
// better served by one list.
func (n *names) inTarget(name string) []string {
	if n.asked++; n.asked <= 8 {
		return n.t.EventNamed(name)
	}
	if n.index == nil {
		n.index = map[string][]string{}
		systems, _ := n.t.Systems()
		for _, s := range systems {
			events, _ := n.t.Events(s)
			for _, e := range events {
				n.index[e] = append(n.index[e], s)
			}
		}
	}
	return n.index[name]
}

// labels makes names that differ from each other: of fields and arguments.
type labels map[string]bool

// unique returns base or, where that is given out, base with a number, cut to
// what the kernel takes for a probe's argument.
func (l labels) unique(base string) string {
	if len(base) > command.MaxArgName {
		base = base[:command.MaxArgName]
	}
	name := base
	for i := 2; l[name]; i++ {
		suffix := strconv.Itoa(i)
		name = base[:min(len(base), command.MaxArgName-len(suffix))] + suffix
	}
	l[name] = true
	return name
}

func uitoa(n uint64) string { return strconv.FormatUint(n, 10) }

// numbered makes names that differ from each other over a whole script. It
// holds, for each base, the number that the next name of it may have, so that a
// thousandth takes no longer than the second.
type numbered map[string]int

// name returns base or base with a number: the first that is not given out and
// that taken, if not nil, does not hold.
func (l numbered) name(base string, taken func(string) bool) string {
	name, free := base, l[base] == 0
	for i := max(l[base]+1, 2); !free || taken != nil && taken(name); i++ {
		name = base + strconv.Itoa(i)
		l[base], free = i, l[name] == 0
	}
	l[name] = max(l[name], 1)
	return name
}

// word makes a piece of a name of any text.
func word(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' {
			return r
		}
		return '_'
	}, s)
}

// argLabel is label as the base of an argument's name: one that the kernel takes
// and knows by no other meaning.
func argLabel(x ir.Expr) string {
	name := word(label(x))
	if name != "comm" && name != "cpu" && !command.ValidArgName(name) && len(name) <= command.MaxArgName {
		return name + "_"
	}
	return name
}

// label names a value after what it is: a field's name, the context's.
func label(x ir.Expr) string {
	switch x := x.(type) {
	case *ir.FieldRef:
		return x.Name
	case *ir.Context:
		return x.Kind.String()
	case *ir.Str:
		return label(x.X)
	case *ir.Load:
		if ref, ok := x.X.(*ir.FieldRef); ok && x.Off > 0 {
			return ref.Name + strconv.FormatInt(x.Off, 10)
		}
		return label(x.X)
	case *ir.Cast:
		return label(x.X)
	case *ir.Bits:
		return label(x.X)
	case *ir.Early:
		return label(x.X)
	case *ir.Unary:
		return label(x.X)
	case *ir.Binary:
		return label(x.X)
	}
	return "value"
}
