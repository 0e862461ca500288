package session

import (
	"path"
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/runtime/hist"
	"github.com/eptrace/ep/runtime/tracefs"
)

// unpaired counts what joins and spans lost, as far as the kernel tells: events
// that found no room in the tables that pair them, and calls whose return a probe
// could not follow.
func (r *run) unpaired() (full, missed uint64) {
	texts := map[string]string{}
	returns := map[string]bool{}
	for _, w := range r.plan.Writes {
		c, err := command.Parse(w.File, w.Data)
		if err != nil {
			continue // the kernel took it, and it is no histogram of ours
		}
		switch c := c.(type) {
		case *command.Kprobe:
			returns[c.Name] = c.Return
		case *command.Hist:
			if len(c.Vars) == 0 || c.Remove {
				continue // a table of the script, which has a count of its own
			}
			file := tracefs.In(r.plan.Instance, path.Join(path.Dir(w.File), "hist"))
			text, seen := texts[file]
			if !seen {
				data, err := r.FS.Read(file)
				if err != nil {
					continue // somebody removed the event, which undoing reports
				}
				text = string(data)
				texts[file] = text
			}
			_, dropped := hist.Totals(w.File, text, c)
			full += dropped
		}
	}
	data, err := r.FS.Read("kprobe_profile")
	if err != nil {
		return full, 0 // the kernel has no kprobes
	}
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line) // an event, its hits and its misses
		if len(words) != 3 || !returns[words[0]] {
			continue
		}
		if n, err := strconv.ParseUint(words[2], 10, 64); err == nil {
			missed += n
		}
	}
	return full, missed
}
