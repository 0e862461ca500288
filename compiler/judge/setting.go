package judge

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
)

// setting carries out a write to a file of a buffer that is of no one event.
func (j *Judge) setting(f file, text string) error {
	text = strings.TrimSpace(text)
	switch f.kind {
	case "trace_clock":
		if !j.hasClock(text) {
			return no("EINVAL", "", "this kernel has no clock '%s'", text).near(text, clocks).at(text, text)
		}
		return nil
	case "set_event":
		for _, word := range strings.Fields(text) {
			if err := j.setEvent(f.buffer, word, text); err != nil {
				return err
			}
		}
		return nil
	case "set_event_pid", "set_event_notrace_pid", "set_ftrace_pid", "set_ftrace_notrace_pid":
		for _, word := range strings.Fields(text) {
			if _, err := strconv.ParseUint(word, 0, 32); err != nil {
				return no("EINVAL", "", "'%s' is no number of a task", word).at(text, word)
			}
		}
		return nil
	case "current_tracer":
		return j.tracer(text)
	case "trace", "trace_marker", "error_log":
		return nil
	case "tracing_cpumask":
		return cpuMaskText(text)
	case "trace_options":
		name, off := strings.CutPrefix(text, "no")
		if !slices.Contains(options, text) && !(off && slices.Contains(options, name)) {
			return no("EINVAL", "", "there is no option '%s'", text).near(text, options).at(text, text)
		}
		return nil
	}
	if slices.Contains(functionFiles, f.kind) {
		return j.functions(f, text)
	}
	if limit, ok := numbers[f.kind]; ok {
		// The kernel reads decimals alone here.
		n, err := strconv.ParseUint(strings.TrimPrefix(text, "+"), 10, 64)
		switch {
		case err != nil:
			return no("EINVAL", "", "want a number")
		case n < limit.least:
			return no("EINVAL", "", "want %d or more", limit.least)
		case n > limit.most:
			return no(limit.errno, "", "%d is more than there can be: %d", n, limit.most)
		}
		return nil
	}
	if slices.Contains(options, f.kind) {
		if text != "0" && text != "1" {
			return no("EINVAL", "", "want 0 or 1")
		}
		return nil
	}
	_, err := command.Parse(f.kind, text)
	return syntax(err, text)
}

// numbers are the files that take a number, and which.
var numbers = map[string]struct {
	least, most uint64
	errno       string // of more than most
}{
	"tracing_on":          {0, math.MaxInt64, "EINVAL"},
	"snapshot":            {0, math.MaxInt64, "EINVAL"},
	"buffer_size_kb":      {1, 1 << 32, "ENOMEM"}, // no machine has more
	"max_graph_depth":     {0, math.MaxInt64, "EINVAL"},
	"buffer_percent":      {0, 100, "EINVAL"},
	"saved_cmdlines_size": {1, 1 << 22, "EINVAL"},
	"tracing_thresh":      {0, math.MaxInt64, "EINVAL"},
}

// options are those of a kernel that has all tracers built in.
var options = strings.Fields("print-parent sym-offset sym-addr verbose raw hex bin block fields trace_printk annotate userstacktrace " +
	"sym-userobj printk-msg-only context-info latency-format record-cmd record-tgid overwrite disable_on_free irq-info markers " +
	"copy_trace_marker event-fork pause-on-trace hash-ptr trace_printk_dest function-trace function-fork display-graph stacktrace")

// tracers are those of most kernels, with the option that a kernel is built with
// that has one; nop is in all.
var tracers = map[string]string{
	"nop": "", "function": "CONFIG_FUNCTION_TRACER", "function_graph": "CONFIG_FUNCTION_GRAPH_TRACER",
	"blk": "CONFIG_BLK_DEV_IO_TRACE", "mmiotrace": "CONFIG_MMIOTRACE", "branch": "CONFIG_BRANCH_TRACER",
	"wakeup": "CONFIG_SCHED_TRACER", "wakeup_rt": "CONFIG_SCHED_TRACER", "wakeup_dl": "CONFIG_SCHED_TRACER",
	"irqsoff": "CONFIG_IRQSOFF_TRACER", "preemptoff": "CONFIG_PREEMPT_TRACER", "preemptirqsoff": "CONFIG_PREEMPT_TRACER",
	"hwlat": "CONFIG_HWLAT_TRACER", "osnoise": "CONFIG_OSNOISE_TRACER", "timerlat": "CONFIG_TIMERLAT_TRACER",
}

// tracer is a write to current_tracer.
func (j *Judge) tracer(name string) error {
	option, there := tracers[name]
	if there && option != "" {
		if on, known := j.t.Config(option); known && !on {
			return no("EINVAL", "", "this kernel was built without the tracer '%s': %s is not set", name, option).at(name, name)
		}
	}
	if !there {
		names := slices.Sorted(maps.Keys(tracers))
		return no("EINVAL", "", "there is no tracer '%s'", name).near(name, names).at(name, name)
	}
	return nil
}

// cpuMaskText is a mask as tracing_cpumask takes it: words of hexadecimal. How
// many CPUs a machine has, a target does not tell.
func cpuMaskText(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		if _, err := strconv.ParseUint(word, 16, 32); err != nil && text != "" {
			return no("EINVAL", "", "want a mask in hexadecimal without 0x, as 'f' for the CPUs 0 to 3")
		}
	}
	return nil
}

// setEvent turns on, or off after a '!', the events of one word of set_event:
// SYSTEM:EVENT, or a name that is compared with both. Each may be '*' or left
// out for all (__ftrace_set_clr_event of kernel/trace/trace_events.c).
func (j *Judge) setEvent(b *buffer, word, text string) error {
	if strings.Contains(word, ":mod:") && j.t.Version().AtLeast(target.Version{Major: 6, Minor: 14}) {
		return nil // it waits for the module
	}
	pattern, off := strings.CutPrefix(word, "!")
	system, event, both := strings.Cut(pattern, ":")
	if !both {
		system, event = pattern, pattern
	}
	found := false
	systems, _ := j.t.Systems()
	for _, e := range j.made.list() {
		systems = append(systems, e.group)
	}
	for _, s := range systems {
		if s == "ftrace" || both && !names(system, s) {
			continue
		}
		for _, e := range j.ofGroup(s) {
			if both && names(event, e.event) || !both && (names(system, s) || names(event, e.event)) {
				found = true
				b.of(e).enabled = !off
			}
		}
	}
	if !found {
		var candidates []string
		if both {
			candidates, _ = j.t.Events(system)
		}
		return no("EINVAL", "", "there is no event '%s'", pattern).near(event, candidates).at(text, pattern)
	}
	return nil
}

// names reports whether a word of set_event names what is called name.
func names(word, name string) bool { return word == name || word == "" || word == "*" }
