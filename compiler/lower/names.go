package lower

import (
	"strconv"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
)

// names gives the objects that a script does not name their names: readable,
// the same at each run, and like nothing that the script or the target has.
type names struct {
	t     *target.Target
	group string
	full  map[string]source.Span   // group.name of the script's events
	bare  map[string][]source.Span // the same without their group
	taken map[string]bool          // hidden ones
}

func newNames(prog *ir.Program, t *target.Target) *names {
	n := &names{t: t, group: prog.Options.Group, full: map[string]source.Span{}, bare: map[string][]source.Span{}, taken: map[string]bool{}}
	for _, ev := range prog.Events {
		n.full[n.groupOf(ev)+"."+ev.Name] = ev.Span
		n.bare[ev.Name] = append(n.bare[ev.Name], ev.Span)
	}
	return n
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
	base := ev.Name + "_" + role
	name := base
	for i := 2; ; i++ {
		if !n.taken[name] && len(n.bare[name]) == 0 && len(n.t.EventNamed(name)) == 0 {
			n.taken[name] = true
			return name
		}
		name = base + strconv.Itoa(i)
	}
}

// labels makes names that differ from each other: of fields, arguments and
// variables.
type labels map[string]bool

func (l labels) unique(base string) string {
	name := base
	for i := 2; l[name]; i++ {
		name = base + strconv.Itoa(i)
	}
	l[name] = true
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
