package emit

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// A kernel with CONFIG_BOOTTIME_TRACING makes events and triggers itself, before
// there is user space, by keys of its bootconfig (kernel/trace/trace_boot.c):
//
//	ftrace[.instance.NAME].trace_clock = CLOCK
//	ftrace[.instance.NAME].event.kprobes.NAME.probes = "PLACE ARGS"
//	ftrace[.instance.NAME].event.synthetic.NAME.fields = "TYPE NAME", …
//	ftrace[.instance.NAME].event.GROUP.NAME { filter = "…"; actions = "TRIGGER", …; enable }
//
// It goes through the tree once, groups and events in the order in which they
// stand: all that is said of one event is done before the next. What it says is
// copied to a buffer of 256 bytes, NUL included. A trigger that refers to
// another's variables must come after it, which this order may not allow.
//
// A kprobe gets the group kprobes, and an instance's events are made again for
// it: so definitions stand beside what is done with them.

// bootText is the most bytes of one text.
const bootText = 255

// Bootconfig prints p as lines of a bootconfig. What cannot be said there is in
// the list, and then nothing is printed. The error is w's.
func Bootconfig(w io.Writer, p *plan.Plan) (diag.List, error) {
	b := &boot{refusals: refusals{p: p}}
	for i := range p.Writes {
		b.write(parsed(&p.Writes[i]))
	}
	b.order()
	if len(b.list) > 0 {
		return b.list.Sort(), nil
	}
	_, err := io.WriteString(w, b.print())
	return nil, err
}

// boot collects what is said of each event.
type boot struct {
	refusals
	settings []string
	events   []*bootEvent
}

type bootEvent struct {
	name    command.EventName
	define  string // its line of probes or fields
	filter  string
	actions []string
	after   []string // events whose triggers its own refer to
	enable  bool
	span    source.Span
}

// event returns what is said of an event so far.
func (b *boot) event(n command.EventName, sp source.Span) *bootEvent {
	for _, e := range b.events {
		if e.name.Group == n.Group && e.name.Name == n.Name {
			return e
		}
	}
	e := &bootEvent{name: command.EventName{Group: n.Group, Name: n.Name}, span: sp}
	b.events = append(b.events, e)
	if !bootKey(n.Group) || !bootKey(n.Name) {
		b.refuse(sp, fmt.Sprintf("'%s' cannot be a key of a bootconfig", n), "a key has letters, digits, '-' and '_' only")
	}
	return e
}

func bootKey(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// write enters one write.
func (b *boot) write(w *plan.Write, c command.Command, sp source.Span) {
	switch c := c.(type) {
	case *command.Kprobe:
		switch {
		case c.Return:
			b.refuse(sp, "a bootconfig cannot probe a function's return", "probe its entry, 'func F.enter', or use --as cmdline")
		case c.Group != "kprobes":
			b.refuse(sp, fmt.Sprintf("a bootconfig cannot create a kprobe in the group '%s'", c.Group), "all its kprobes are in the group 'kprobes': leave out the group, or write 'kprobes."+c.Name+"'")
		default:
			// The kernel puts "p:NAME " before it.
			_, text, _ := strings.Cut(w.Data, " ")
			b.event(c.EventName, sp).define = "probes = " + b.text(sp, text, len("p:")+len(c.Name)+1)
		}
	case *command.Synthetic:
		var fields []string
		n := len(c.Name) + 1
		for _, f := range c.Fields {
			text := f.Type + " " + f.Name
			n += len(text) + 2
			fields = append(fields, b.text(sp, text, 0))
		}
		if n > bootText {
			b.tooLong(sp, "the definition of a synthetic event", n)
		}
		b.event(command.EventName{Group: "synthetic", Name: c.Name}, sp).define = "fields = " + strings.Join(fields, ", ")
	case *command.Hist:
		e := b.event(c.Event, sp)
		e.actions = append(e.actions, b.text(sp, w.Data, 0))
		for _, a := range c.Actions {
			if a.Match.Name != "" {
				e.after = append(e.after, a.Match.String())
			}
		}
	case *command.Trigger:
		e := b.event(c.Event, sp)
		e.actions = append(e.actions, b.text(sp, w.Data, 0))
		if c.Kind == command.EnableHist || c.Kind == command.DisableHist {
			e.after = append(e.after, c.Target.String())
		}
	case *command.Filter:
		b.event(c.Event, sp).filter = b.text(sp, w.Data, 0)
	case *command.Enable:
		b.event(c.Event, sp).enable = c.On
	case *command.Setting:
		b.setting(c, sp)
	default:
		b.running(sp)
	}
}

func (b *boot) setting(c *command.Setting, sp source.Span) {
	switch c.Name {
	case command.TraceClock:
		b.settings = append(b.settings, "trace_clock = "+c.Value)
	case command.BufferKB:
		b.settings = append(b.settings, "buffer_size = "+c.Value+"KB")
	case command.Overwrite:
		b.settings = append(b.settings, "options = "+overwriteWord(c.Value))
	case command.TracingOn:
		b.settings = append(b.settings, "tracing_on = "+c.Value)
	case command.EventPID:
		// It keeps threads from half a join. There are few yet, and the clock,
		// which makes half a join go wrong, is set before any event is.
	default:
		b.refuse(sp, fmt.Sprintf("a bootconfig cannot set '%s'", c.Name), "set it when user space is up")
	}
}

// text returns s in quotes, of which there are two kinds and no way to write one
// within its own. more is what the kernel puts before it.
func (b *boot) text(sp source.Span, s string, more int) string {
	if n := len(s) + more; n > bootText {
		b.tooLong(sp, "a string", n)
	}
	if !strings.Contains(s, `"`) {
		return `"` + s + `"`
	}
	if strings.Contains(s, "'") {
		b.refuse(sp, "a bootconfig cannot hold a string with both kinds of quotes", "compare with a glob: ~ \"it?s\"")
	}
	return "'" + s + "'"
}

// order brings definitions to the front and what an event refers to before it,
// keeps the events of a group together, and refuses what then still comes before
// what it refers to.
func (b *boot) order() {
	var sorted []*bootEvent
	visited := map[*bootEvent]bool{}
	var visit func(e *bootEvent)
	visit = func(e *bootEvent) {
		if visited[e] {
			return
		}
		visited[e] = true
		for _, other := range b.events {
			if slices.Contains(e.after, other.name.String()) {
				visit(other)
			}
		}
		sorted = append(sorted, e)
	}
	for _, e := range b.events {
		visit(e)
	}
	b.events = sorted
	groups := []string{"synthetic", "kprobes"}
	for _, e := range b.events {
		if !slices.Contains(groups, e.name.Group) {
			groups = append(groups, e.name.Group)
		}
	}
	slices.SortStableFunc(b.events, func(x, y *bootEvent) int {
		return slices.Index(groups, x.name.Group) - slices.Index(groups, y.name.Group)
	})
	seen := map[string]bool{}
	for _, e := range b.events {
		seen[e.name.String()] = true
		for _, name := range e.after {
			if !seen[name] && b.has(name) {
				b.refuse(e.span, fmt.Sprintf("'%s' would be set up before '%s', to which it refers", e.name, name), "a bootconfig sets up all events of a group before those of the next group")
			}
		}
	}
}

// has reports whether something is said of an event.
func (b *boot) has(name string) bool {
	return slices.ContainsFunc(b.events, func(e *bootEvent) bool { return e.name.String() == name })
}

func (b *boot) tooLong(sp source.Span, what string, n int) {
	b.refuse(sp, fmt.Sprintf("%s of a bootconfig has at most %d bytes; this one has %d", what, bootText, n), "use fewer fields or shorter names")
}

func (b *boot) print() string {
	var out strings.Builder
	script := "a script"
	if b.p.Script != nil {
		script = scriptName(b.p.Script.Name()) + ".ep"
	}
	out.WriteString(comment(fmt.Sprintf("%s, compiled by ep for %s. Requires CONFIG_BOOTTIME_TRACING, this text in the initrd", script, b.p.Target)) + "\n")
	out.WriteString("# (bootconfig -a FILE INITRD), and the word 'bootconfig' on the kernel's command line.\n")
	scope := "ftrace"
	if b.p.Instance != "" {
		scope = "ftrace.instance." + b.p.Instance
	}
	for _, s := range b.settings {
		fmt.Fprintf(&out, "%s.%s\n", scope, s)
	}
	for _, e := range b.events {
		fmt.Fprintf(&out, "%s.event.%s {\n", scope, e.name)
		if e.define != "" {
			out.WriteString("\t" + e.define + "\n")
		}
		if e.filter != "" {
			out.WriteString("\tfilter = " + e.filter + "\n")
		}
		if len(e.actions) > 0 {
			out.WriteString("\tactions = " + strings.Join(e.actions, ",\n\t\t") + "\n")
		}
		if e.enable {
			out.WriteString("\tenable\n")
		}
		out.WriteString("}\n")
	}
	return out.String()
}
