package judge

import (
	"path"
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
	case "tracing_on":
		if _, err := strconv.ParseUint(text, 0, 64); err != nil {
			return no("EINVAL", "", "want 0 or 1")
		}
		return nil
	}
	_, err := command.Parse(f.kind, text)
	return syntax(err, text)
}

// setEvent turns on, or off after a '!', the events of one word of set_event:
// SYSTEM:EVENT, SYSTEM:, or a name that is compared with both. Each may have the
// wildcards '*' and '?' (ftrace_set_clr_event of kernel/trace/trace_events.c).
func (j *Judge) setEvent(b *buffer, word, text string) error {
	pattern, off := strings.CutPrefix(word, "!")
	system, event, both := strings.Cut(pattern, ":")
	if !both {
		system, event = pattern, pattern
	}
	found := false
	systems, _ := j.t.Systems()
	for _, e := range j.made {
		systems = append(systems, e.group)
	}
	for _, s := range systems {
		if s == "ftrace" || both && !globMatches(system, s) {
			continue
		}
		for _, e := range j.ofGroup(s) {
			if both && globMatches(event, e.event) || !both && (globMatches(system, s) || globMatches(event, e.event)) {
				found = true
				b.of(e).enabled = !off
			}
		}
	}
	if !found {
		var names []string
		if both {
			names, _ = j.t.Events(system)
		}
		return no("EINVAL", "", "there is no event '%s'", pattern).near(event, names).at(text, pattern)
	}
	return nil
}

// globMatches reports whether a pattern, "" for any, matches a name.
func globMatches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return pattern == "" || ok && err == nil
}
