package emit

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// A kernel takes these parameters on its command line
// (Documentation/admin-guide/kernel-parameters.txt; kernel/trace/trace.c,
// trace_events.c, trace_kprobe.c):
//
//	trace_clock=CLOCK trace_buf_size=SIZE
//	trace_event=GROUP:EVENT,…              turns events on
//	trace_instance=NAME,GROUP:EVENT,…      makes an instance and turns events on there
//	kprobe_event=DEFINITION;…              defines kprobes, ',' for a blank, and turns them on
//	trace_trigger=EVENT.TRIGGER,…          puts triggers on the top level's own events
//
// Each parameter may hold what another would split: a trigger has no ',', an
// event of a trigger no group. Filters have no parameter.

// bootTriggers is how many triggers a kernel keeps of trace_trigger
// (MAX_BOOT_TRIGGERS in kernel/trace/trace_events.c).
const bootTriggers = 32

// Cmdline prints p as parameters of the kernel's command line, in one line. t is
// the target that p was compiled for. What cannot be said there is in the list,
// and then nothing is printed. The error is w's.
func Cmdline(w io.Writer, p *plan.Plan, t *target.Target) (diag.List, error) {
	c := &cmdline{refusals: refusals{p: p}, t: t}
	for i := range p.Writes {
		c.write(parsed(&p.Writes[i]))
	}
	c.close()
	if len(c.list) > 0 {
		return c.list.Sort(), nil
	}
	_, err := io.WriteString(w, strings.Join(c.params(), " ")+"\n")
	return nil, err
}

// cmdline collects the values of the parameters.
type cmdline struct {
	refusals
	t        *target.Target
	settings []string
	events   []string // to be turned on
	triggers []string
	kprobes  []bootKprobe
	on       []string // names of kprobes to be turned on, GROUP.NAME
}

type bootKprobe struct {
	name, define string
	span         source.Span
}

func (c *cmdline) write(w *plan.Write, cmd command.Command, sp source.Span) {
	switch cmd := cmd.(type) {
	case *command.Kprobe:
		define := strings.ReplaceAll(w.Data, " ", ",")
		if strings.ContainsAny(w.Data, ",;\"") {
			c.refuse(sp, "kprobe_event cannot hold a probe with ',', ';' or a string", "leave that value out, or use --as bootconfig")
		}
		if c.p.Instance != "" {
			c.refuse(sp, "the kernel's command line turns kprobes on at the top level only", "leave out the instance")
		}
		c.kprobes = append(c.kprobes, bootKprobe{cmd.EventName.String(), define, sp})
	case *command.Enable:
		c.enable(cmd, sp)
	case *command.Hist:
		c.trigger(cmd.Event, w.Data, sp)
	case *command.Trigger:
		c.trigger(cmd.Event, w.Data, sp)
	case *command.Filter:
		c.refuse(sp, "the kernel's command line cannot filter an event", "leave out the condition, or use --as bootconfig")
	case *command.Synthetic:
		c.refuse(sp, "the kernel's command line cannot create a synthetic event, which a join needs", "trace the events that the join pairs, or use --as bootconfig")
	case *command.Setting:
		c.setting(cmd, sp)
	default:
		c.running(sp)
	}
}

func (c *cmdline) enable(e *command.Enable, sp source.Span) {
	switch name := e.Event.String(); {
	case !e.On:
	case slices.ContainsFunc(c.kprobes, func(k bootKprobe) bool { return k.name == name }):
		c.on = append(c.on, name)
	case c.p.Instance != "" && !c.t.Has(target.BootInstance):
		c.needs(target.BootInstance, sp)
	default:
		c.events = append(c.events, e.Event.Group+":"+e.Event.Name)
	}
}

// trigger adds a trigger, which the kernel takes by the bare name of an event of
// its own, at the top level.
func (c *cmdline) trigger(event command.EventName, text string, sp source.Span) {
	switch {
	case !c.t.Has(target.BootTrigger):
		c.needs(target.BootTrigger, sp)
	case c.p.Instance != "":
		c.refuse(sp, "trace_trigger works at the top level only", "leave out the instance, or use --as bootconfig")
	case slices.ContainsFunc(c.kprobes, func(k bootKprobe) bool { return k.name == event.String() }):
		c.refuse(sp, fmt.Sprintf("trace_trigger cannot name the kprobe '%s'", event), "it comes later than the triggers; use --as bootconfig")
	case len(c.t.EventNamed(event.Name)) > 1:
		c.refuse(sp, fmt.Sprintf("trace_trigger cannot tell '%s' from the events of that name in other groups", event), "use --as bootconfig, which names the group")
	case strings.ContainsAny(text, ",\""):
		c.refuse(sp, "trace_trigger cannot hold a trigger with ',' or a string", "use one key and no string, or --as bootconfig")
	default:
		c.triggers = append(c.triggers, event.Name+"."+text)
	}
}

func (c *cmdline) setting(s *command.Setting, sp source.Span) {
	top := c.p.Instance == ""
	switch {
	case s.Name == command.TraceClock && top:
		c.settings = append(c.settings, "trace_clock="+s.Value)
	case s.Name == command.BufferKB && top:
		c.settings = append(c.settings, "trace_buf_size="+s.Value+"K")
	case s.Name == command.Overwrite && top:
		c.settings = append(c.settings, "trace_options="+overwriteWord(s.Value))
	case s.Name == command.EventPID:
		// It keeps threads from half a join, which there is none of here.
	case !top:
		c.refuse(sp, fmt.Sprintf("the kernel's command line cannot set %s of an instance", s.Name), "leave out the instance, or use --as bootconfig")
	default:
		c.refuse(sp, fmt.Sprintf("the kernel's command line cannot set %s", s.Name), "use --as bootconfig")
	}
}

// close checks what can be checked only when all is known.
func (c *cmdline) close() {
	for _, k := range c.kprobes {
		if !slices.Contains(c.on, k.name) {
			c.refuse(k.span, fmt.Sprintf("kprobe_event turns '%s' on, which this script does not trace", k.name), "trace it, or use --as bootconfig")
		}
	}
	if n := len(c.triggers); n > bootTriggers {
		c.refuse(source.NoSpan, fmt.Sprintf("the kernel's command line holds at most %d triggers; this script needs %d", bootTriggers, n), "use --as bootconfig")
	}
}

func (c *cmdline) needs(f target.Feature, sp source.Span) {
	c.refuse(sp, fmt.Sprintf("the command line of Linux %s has no %s", c.t.Release(), f), "what shows that a kernel has it: "+target.Basis(f))
}

// params returns the parameters, each quoted where it has blanks.
func (c *cmdline) params() []string {
	params := slices.Clone(c.settings)
	add := func(name, sep string, values []string) {
		if len(values) == 0 {
			return
		}
		param := name + "=" + strings.Join(values, sep)
		if strings.Contains(param, " ") {
			param = name + `="` + strings.Join(values, sep) + `"`
		}
		params = append(params, param)
	}
	var defines []string
	for _, k := range c.kprobes {
		defines = append(defines, k.define)
	}
	if c.p.Instance == "" {
		add("trace_event", ",", c.events)
	} else {
		add("trace_instance", ",", append([]string{c.p.Instance}, c.events...))
	}
	add("kprobe_event", ";", defines)
	add("trace_trigger", ",", c.triggers)
	return params
}
