package judge

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
)

// state is what writes have made.
type state struct {
	events  map[name][]*event // made, or of the kernel and looked at
	made    madeEvents
	buffers map[string]*buffer
	tables  map[string]*table // that histograms share, by name
}

func newState() state {
	return state{
		events:  map[name][]*event{},
		buffers: map[string]*buffer{"": newBuffer()},
		tables:  map[string]*table{},
	}
}

// name is an event's full name.
type name struct{ group, event string }

func (n name) String() string { return n.group + "." + n.event }

// kind is what made an event.
type kind uint8

const (
	static    kind = iota // the kernel's own
	eprobe                // of another event
	kprobe                // at an instruction
	kretprobe             // at a function's return
	fprobe                // of a function, through function tracing
	tprobe                // at a raw tracepoint
	uprobe                // in user space
	synthetic             // of histograms
)

// event is one event. Its fields are those of the record: what conditions,
// histograms and eprobes can name.
type event struct {
	name
	kind   kind
	format *target.Format
	on     *event      // of an eprobe: what it hangs on
	lines  []probeLine // of a probe: several if more were appended
	synth  *command.Synthetic
	exit   bool // of a probe: at a function's return
	types  []command.FetchType
	gone   bool // it was made and removed
	// How many other things need it, beside the buffers that trace it.
	eprobes int // that hang on it
	makers  int // actions of histograms that emit it
	aims    int // triggers that start or stop it or its histograms
}

// buffer is the top level or an instance.
type buffer struct {
	traced   map[*event]*traced
	vars     map[string][]*variable // of its histograms, by name
	keepers  int                    // histograms that keep the instance from going
	snapshot bool                   // a histogram takes its snapshots
	// functions are what chooses functions here, by file, name and command.
	functions map[string]bool
}

// traced is an event in one buffer.
type traced struct {
	enabled  bool
	triggers []*command.Trigger
	hists    []*hist // in the order of their making
	byShape  map[same]*hist
	vars     map[string]*variable // of its histograms, by name
}

func newBuffer() *buffer {
	return &buffer{traced: map[*event]*traced{}, vars: map[string][]*variable{}}
}

// of returns what b has of e, made at need.
func (b *buffer) of(e *event) *traced {
	t := b.traced[e]
	if t == nil {
		t = &traced{byShape: map[same]*hist{}, vars: map[string]*variable{}}
		b.traced[e] = t
	}
	return t
}

// file is a file of tracefs that is there.
type file struct {
	kind   string // its last part: "trigger"
	buffer *buffer
	events []*event // what it is of: one, or all of a group
	group  bool     // of a group or of all events
}

// open finds a file.
func (j *Judge) open(path string) (file, error) {
	parts := strings.Split(path, "/")
	f := file{buffer: j.buffers[""]}
	if len(parts) > 2 && parts[0] == "instances" {
		if f.buffer = j.buffers[parts[1]]; f.buffer == nil {
			return f, no("ENOENT", "", "there is no instance '%s'; mkdir makes it", parts[1])
		}
		parts = parts[2:]
		switch parts[0] {
		case "dynamic_events", "kprobe_events", "uprobe_events", "synthetic_events":
			return f, no("ENOENT", "", "an instance has no %s; that of the top level is for all", parts[0])
		}
	}
	f.kind = parts[len(parts)-1]
	if parts[0] != "events" {
		at := strings.Join(parts, "/")
		switch {
		case slices.Contains(judged, at), parts[0] == "options" && len(parts) == 2 && Judges(at), !Judges(at):
			return f, nil
		case len(parts) == 1:
			return f, noFile(at)
		}
		return f, no("ENOENT", "", "there is no file '%s'", path)
	}
	switch {
	case len(parts) == 4:
		n := name{parts[1], parts[2]}
		if f.events = j.find(n); len(f.events) == 0 {
			r := no("ENOENT", "", "there is no event %s", n)
			r.Near = j.nearEvent(n)
			return f, r
		}
		if n.group == "ftrace" && (n.event != "print" || f.kind != "trigger") {
			return f, no("ENOENT", "", "events of the group ftrace have no %s file", f.kind)
		}
	case len(parts) == 3 && f.kind != "trigger":
		f.group = true
		if f.events = j.ofGroup(parts[1]); len(f.events) == 0 || parts[1] == "ftrace" {
			return f, no("ENOENT", "", "there is no group of events '%s'", parts[1])
		}
	case len(parts) == 2 && f.kind == "enable":
		f.group = true
	default:
		return f, no("ENOENT", "", "there is no file '%s'", path)
	}
	switch f.kind {
	case "trigger", "filter", "enable":
		return f, nil
	}
	return f, no("ENOENT", "", "there is no file '%s' that takes commands", path)
}

// find returns the events of a name: none, one, or a synthetic event and a probe
// that was put in its group.
func (j *Judge) find(n name) []*event {
	list := j.events[n]
	if len(list) > 0 || j.absent[n] || !j.t.HasEvent(n.group, n.event) {
		return list
	}
	e := &event{name: n}
	j.events[n] = []*event{e}
	return j.events[n]
}

// ofGroup returns the events of a group: the made ones, and all of the kernel's.
func (j *Judge) ofGroup(group string) []*event {
	var list []*event
	for _, e := range j.made.list() {
		if e.group == group {
			list = append(list, e)
		}
	}
	names, err := j.t.Events(group)
	if err != nil {
		return list
	}
	for _, n := range names {
		list = append(list, j.find(name{group, n})...)
	}
	return list
}

// formatOf returns e's fields. That of the kernel's own event is read when it is
// first wanted.
func (j *Judge) formatOf(e *event) *target.Format {
	if e.format == nil {
		f, err := j.t.Format(e.group, e.event)
		if err != nil {
			f = &target.Format{System: e.group, Name: e.event}
		}
		e.format = f
	}
	return e.format
}

// add keeps a made event.
func (j *Judge) add(e *event) {
	j.made.add(e)
	j.events[e.name] = append(j.events[e.name], e)
	if e.on != nil {
		e.on.eprobes++
	}
}

// remove forgets a made event.
func (j *Judge) remove(e *event) {
	if e.on != nil {
		e.on.eprobes--
	}
	j.made.remove(e)
	if j.events[e.name] = slices.DeleteFunc(j.events[e.name], func(o *event) bool { return o == e }); len(j.events[e.name]) == 0 {
		delete(j.events, e.name)
	}
	for _, b := range j.buffers {
		delete(b.traced, e)
	}
}

// busy returns why e cannot be removed, "" if it can.
func (j *Judge) busy(e *event) string {
	for _, b := range j.buffers {
		t := b.traced[e]
		switch {
		case t == nil:
		case t.enabled:
			return "it is enabled"
		case len(t.hists) > 0:
			return "it has a histogram"
		case len(t.triggers) > 0:
			return "it has a trigger"
		}
	}
	switch {
	case e.eprobes > 0:
		return "an eprobe hangs on it"
	case e.makers > 0:
		return "a histogram emits it"
	case e.aims > 0:
		return "a trigger starts or stops it"
	}
	return ""
}

// nearEvent returns the full name of an event that may have been meant.
func (j *Judge) nearEvent(n name) string {
	var names []string
	for _, e := range j.made.list() {
		names = append(names, e.name.String())
	}
	list, err := j.t.Events(n.group)
	if err == nil {
		for _, e := range list {
			names = append(names, n.group+"."+e)
		}
	} else {
		for _, s := range j.t.EventNamed(n.event) {
			return s + "." + n.event
		}
		systems, _ := j.t.Systems()
		for _, s := range systems {
			if j.t.HasEvent(s, n.event) {
				names = append(names, s+"."+n.event)
			}
		}
	}
	return (&Refusal{}).near(n.String(), names).Near
}

// instance makes or removes an instance.
func (j *Judge) instance(w Write) error {
	dir, ok := strings.CutPrefix(w.File, "instances/")
	if dir = strings.TrimSuffix(dir, "/"); !ok || dir == "" || strings.Contains(dir, "/") {
		return no("EPERM", "", "folders can be made only in 'instances'")
	}
	b := j.buffers[dir]
	switch {
	case w.Op == Mkdir && b != nil:
		return no("EEXIST", "", "there is an instance '%s' already", dir)
	case w.Op == Mkdir:
		j.buffers[dir] = newBuffer()
	case b == nil:
		return no("ENOENT", "", "there is no instance '%s'", dir)
	case b.keepers > 0:
		return no("EBUSY", "", "a histogram in the instance has variables or refers to some")
	default:
		for _, t := range b.traced {
			for _, h := range t.hists {
				j.drop(h)
			}
			for _, tr := range t.triggers {
				j.aim(tr, -1)
			}
		}
		delete(j.buffers, dir)
	}
	return nil
}

// truncate does what opening a file with O_TRUNC does.
func (j *Judge) truncate(f file) error {
	switch f.kind {
	case "dynamic_events", "kprobe_events", "uprobe_events", "synthetic_events":
		return j.removeAll(f.kind)
	case "trigger":
		j.removeHists(f)
	case "set_graph_function", "set_graph_notrace":
		maps.DeleteFunc(f.buffer.functions, func(set string, _ bool) bool { return strings.HasPrefix(set, f.kind+" ") })
	}
	return nil
}

// enable turns events on or off.
func (j *Judge) enable(f file, text string) (misleads []string, err error) {
	on, err := strconv.ParseUint(strings.TrimSuffix(text, "\n"), 10, 64)
	if err != nil || on > 1 {
		return nil, no("EINVAL", "", "want 0 or 1")
	}
	for _, e := range f.events {
		if e.group == "ftrace" {
			continue
		}
		if on == 1 {
			misleads = append(misleads, j.elsewhere(e, f.buffer)...)
		}
		f.buffer.of(e).enabled = on == 1
	}
	return misleads, nil
}

// elsewhere tells that an eprobe runs in the buffer alone in which it was first
// enabled or given a trigger: here it will do nothing.
func (j *Judge) elsewhere(e *event, here *buffer) []string {
	if e.kind != eprobe {
		return nil
	}
	for _, b := range j.buffers {
		if t := b.traced[e]; b != here && t != nil && (t.enabled || len(t.hists)+len(t.triggers) > 0) {
			return []string{sprintf("%s runs in another instance already, and in one alone: here it does nothing", e.name)}
		}
	}
	return nil
}

func sprintf(format string, args ...any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}
