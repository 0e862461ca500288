package judge

import (
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
)

// dynamic carries out one line of dynamic_events or an older file of its kind.
func (j *Judge) dynamic(file, line string) (misleads []string, err error) {
	parsed := line
	if j.t.Has(target.QuirkTrailingOperator) && strings.HasPrefix(strings.TrimSpace(line), "e") {
		parsed = withoutTrailingOperator(line)
	}
	c, err := command.Parse(file, parsed)
	if err != nil {
		return nil, syntax(err, line)
	}
	switch c := c.(type) {
	case *command.Delete:
		return j.delete(file, c)
	case *command.Synthetic:
		if err := j.needs(target.SyntheticEvents, line, "s"); err != nil {
			return nil, err
		}
		return j.makeSynthetic(c, line)
	}
	misleads, err = j.makeProbe(c, line)
	if parsed != line {
		misleads = append(misleads, "what is missing after the last operator is taken for nothing; other kernels refuse it")
	}
	return misleads, err
}

// needs refuses what the kernel has not. The kernel's words are those for a
// letter that it does not know.
func (j *Judge) needs(f target.Feature, line, letter string) error {
	if j.t.Has(f) {
		return nil
	}
	return no("EINVAL", "", "this kernel has no %s", f).at(line, letter)
}

// delete removes the events that c names, in the order of their making, up to
// the first that is busy: dyn_event_release of kernel/trace/trace_dynevent.c.
func (j *Judge) delete(file string, c *command.Delete) (misleads []string, err error) {
	words := strings.Fields(c.Words)
	found := 0
	for _, e := range j.made.called(c.Name) {
		if file != "dynamic_events" && e.file() != file {
			continue
		}
		if c.Group != "" && e.group != c.Group ||
			c.Name == "" && e.kind == synthetic {
			continue
		}
		if e.kind == synthetic || e.kind == eprobe {
			if e.kind == eprobe && !e.lines[0].matches(words) {
				continue
			}
			if why := j.busy(e); why != "" {
				return nil, no("EBUSY", "", "%s is busy: %s", e.name, why)
			}
			if e.kind == synthetic && len(words) > 0 {
				misleads = append(misleads, "what follows a synthetic event's name is not looked at")
			}
			found++
			j.remove(e)
			continue
		}
		var keep []probeLine
		for _, p := range e.lines {
			if !p.matches(words) {
				keep = append(keep, p)
			}
		}
		if len(keep) == len(e.lines) {
			continue
		}
		// Of several probes, the last alone needs the event not to be busy.
		if why := j.busy(e); why != "" && len(keep) == 0 {
			return nil, no("EBUSY", "", "%s is busy: %s", e.name, why)
		}
		found++
		if e.lines = keep; len(keep) == 0 {
			j.remove(e)
		}
	}
	if found > 1 && c.Group == "" {
		misleads = append(misleads, sprintf("this removes the events called '%s' of every group: %d of them", c.Name, found))
	}
	if found > 0 {
		return misleads, nil
	}
	want := c.Name
	if c.Group != "" {
		want = c.Group + "/" + c.Name
	}
	if c.Words != "" && j.isMade(c) {
		return nil, no("ENOENT", "", "'%s' is not made of what follows its name; without that it is removed", want)
	}
	var names []string
	for _, e := range j.made.list() {
		names = append(names, e.event, e.group+"/"+e.event)
	}
	return nil, no("ENOENT", "", "no event '%s' was made", want).near(want, names)
}

// isMade reports whether there is an event that c names, whatever it is made of.
func (j *Judge) isMade(c *command.Delete) bool {
	for _, e := range j.made.called(c.Name) {
		if c.Group == "" || e.group == c.Group {
			return true
		}
	}
	return false
}

// file returns the older file that e's kind has, "" for none.
func (e *event) file() string {
	switch e.kind {
	case kprobe, kretprobe:
		return "kprobe_events"
	case uprobe:
		return "uprobe_events"
	case synthetic:
		return "synthetic_events"
	}
	return ""
}

// madeBy is what each file makes, and what an opening with '>' removes
// (dyn_events_release_all of kernel/trace/trace_dynevent.c).
var madeBy = map[string]string{
	"dynamic_events": "events", "kprobe_events": "kprobes", "uprobe_events": "uprobes", "synthetic_events": "synthetic events",
}

// removeAll is O_TRUNC of a file of dynamic events: all of its kind go, or none
// if one is busy.
func (j *Judge) removeAll(file string) error {
	var list []*event
	for _, e := range j.made.list() {
		if file != "dynamic_events" && e.file() != file {
			continue
		}
		if why := j.busy(e); why != "" {
			return no("EBUSY", "", "'>' removes all %s first, and %s is busy: %s", madeBy[file], e.name, why)
		}
		list = append(list, e)
	}
	for _, e := range list {
		j.remove(e)
	}
	return nil
}

// probeLine is a probe as a delete has to name it.
type probeLine struct {
	place string   // "vfs_read+4"
	args  []string // "NAME=BODY"
}

// matches reports whether words, which may be fewer, are what p is made of.
func (p probeLine) matches(words []string) bool {
	switch {
	case len(words) == 0:
		return true
	case words[0] != p.place && strings.Replace(words[0], ".", "/", 1) != p.place, len(words)-1 > len(p.args):
		return false
	}
	for i, w := range words[1:] {
		if w != p.args[i] {
			return false
		}
	}
	return true
}
