package judge

import (
	"slices"
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/command"
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
	case "tracing_on", "snapshot", "buffer_size_kb":
		if n, err := strconv.ParseUint(text, 0, 64); err != nil || n == 0 && f.kind == "buffer_size_kb" {
			return no("EINVAL", "", "want a number")
		}
		return nil
	case "current_tracer":
		if !slices.Contains(tracers, text) {
			return no("EINVAL", "", "there is no tracer '%s'", text).near(text, tracers).at(text, text)
		}
		return nil
	case "trace", "trace_marker", "error_log":
		return nil
	case "overwrite":
		if text != "0" && text != "1" {
			return no("EINVAL", "", "want 0 or 1")
		}
		return nil
	}
	_, err := command.Parse(f.kind, text)
	return syntax(err, text)
}

// tracers are those of most kernels; which one has depends on how it was built.
var tracers = []string{"nop", "function", "function_graph", "blk", "hwlat", "timerlat", "osnoise", "wakeup", "wakeup_rt", "irqsoff", "preemptoff", "mmiotrace"}

// setEvent turns on, or off after a '!', the events of one word of set_event:
// SYSTEM:EVENT, or a name that is compared with both. Each may be '*' or left
// out for all (__ftrace_set_clr_event of kernel/trace/trace_events.c).
func (j *Judge) setEvent(b *buffer, word, text string) error {
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
