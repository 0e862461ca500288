package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/eptrace/ep/runtime/tracefs"
	"golang.org/x/sys/unix"
)

// kernel is a Tracefs in memory that does as far as these tests go what a kernel
// does: it knows dynamic events by their names, triggers by their text, and
// values. What real kernels make of plans is proved in runtime/proof and
// runtime/applyproof.
type kernel struct {
	t      *testing.T
	events []string          // lines of dynamic_events
	files  map[string]string // triggers and values
	writes int               // changes tried so far
	// fault is asked before and after each change; an error takes its place.
	fault func(n int, after bool, what string) error
	lie   bool // "!hist" removes nothing
	// odd makes another command of one to a file, as kernels that lie do.
	odd func(file, line string) string
}

func newKernel(t *testing.T) *kernel {
	k := &kernel{t: t, files: map[string]string{
		"trace_clock": "[local] global mono", "set_event_pid": "", "error_log": "",
	}}
	k.addEvent("sched/sched_switch", "")
	k.addEvent("sched/sched_waking", "")
	return k
}

// addEvent gives an event its files, at the top level and in all instances.
func (k *kernel) addEvent(name, line string) {
	for _, in := range k.instances() {
		for file, text := range map[string]string{"enable": "0\n", "filter": "none\n", "trigger": ""} {
			k.files[tracefs.In(in, "events/"+name+"/"+file)] = text
		}
	}
	if line != "" {
		k.events = append(k.events, line)
	}
}

func (k *kernel) instances() []string {
	list := []string{""}
	for name := range k.files {
		if rest, ok := strings.CutPrefix(name, "instances/"); ok && strings.HasSuffix(rest, "/trace_clock") {
			list = append(list, strings.TrimSuffix(rest, "/trace_clock"))
		}
	}
	return list
}

func (k *kernel) Instances() ([]string, error) { return k.instances()[1:], nil }

// state is all that the kernel holds, to compare.
func (k *kernel) state() map[string]string {
	out := maps.Clone(k.files)
	out["dynamic_events"] = strings.Join(k.events, "\n")
	delete(out, "error_log")
	return out
}

func (k *kernel) Read(name string) ([]byte, error) {
	if name == dynamicEvents {
		return []byte(strings.Join(k.events, "\n") + "\n"), nil
	}
	text, ok := k.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "openat", Path: name, Err: unix.ENOENT}
	}
	return []byte(text), nil
}

func (k *kernel) Exists(name string) bool {
	for file := range k.files {
		if file == name || strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return name == dynamicEvents
}

// change wraps a change with the faults.
func (k *kernel) change(what string, do func() error) error {
	n := k.writes
	k.writes++
	if k.fault != nil {
		if err := k.fault(n, false, what); err != nil {
			return &fs.PathError{Op: "write", Path: what, Err: err}
		}
	}
	if err := do(); err != nil {
		return &fs.PathError{Op: "write", Path: what, Err: err}
	}
	if k.fault != nil {
		if err := k.fault(n, true, what); err != nil {
			return &fs.PathError{Op: "write", Path: what, Err: err}
		}
	}
	return nil
}

func (k *kernel) MakeInstance(name string) error {
	return k.change("instances/"+name, func() error {
		if k.Exists("instances/" + name) {
			return unix.EEXIST
		}
		for file, text := range maps.Clone(k.files) {
			if strings.HasPrefix(file, "instances/") {
				continue
			}
			if strings.HasSuffix(file, "/enable") {
				text = "0\n"
			}
			if strings.HasSuffix(file, "/filter") {
				text = "none\n"
			}
			if strings.HasSuffix(file, "/trigger") {
				text = ""
			}
			k.files[tracefs.In(name, file)] = text
		}
		k.files[tracefs.In(name, "trace_clock")] = "[local] global mono"
		return nil
	})
}

func (k *kernel) RemoveInstance(name string) error {
	return k.change("instances/"+name, func() error {
		maps.DeleteFunc(k.files, func(file, _ string) bool { return strings.HasPrefix(file, "instances/"+name+"/") })
		return nil
	})
}

func (k *kernel) Write(name, data string, mode tracefs.Mode) error {
	if _, ok := k.files[name]; !ok && name != dynamicEvents {
		return &fs.PathError{Op: "openat", Path: name, Err: unix.ENOENT}
	}
	if mode == tracefs.Truncate && (name == dynamicEvents || strings.HasSuffix(name, "trigger")) {
		k.t.Errorf("%s was truncated", name)
	}
	return k.change(name, func() error {
		for line := range strings.Lines(data) {
			line = strings.TrimSpace(line)
			if k.odd != nil {
				line = k.odd(name, line)
			}
			if mode == tracefs.Append && listsThreads(name) {
				line = strings.TrimSpace(k.files[name] + line)
			}
			if err := k.command(name, line); err != nil {
				return err
			}
		}
		if data == "" {
			return k.command(name, "")
		}
		return nil
	})
}

func (k *kernel) command(name, line string) error {
	switch {
	case name == dynamicEvents:
		return k.dynamic(line)
	case strings.HasSuffix(name, "/trigger"):
		return k.trigger(name, line)
	case strings.HasSuffix(name, "trace_clock"):
		k.files[name] = strings.ReplaceAll("local global mono", line, "["+line+"]")
	case strings.HasSuffix(name, "/filter"):
		if line == "0" {
			line = "none"
		}
		k.files[name] = line + "\n"
	default:
		k.files[name] = line + "\n"
		if line == "" {
			k.files[name] = ""
		}
	}
	return nil
}

func (k *kernel) dynamic(line string) error {
	if rest, ok := strings.CutPrefix(line, "-:"); ok {
		name := strings.TrimSuffix(rest, ";")
		i := slices.IndexFunc(k.events, func(e string) bool { n, _ := eventOf(e); return n.Group+"/"+n.Name == name })
		if i < 0 {
			return unix.ENOENT
		}
		for file, text := range k.files {
			if strings.Contains(file, "events/"+name+"/") && (strings.HasSuffix(file, "/enable") && text == "1\n" || strings.HasSuffix(file, "/trigger") && text != "") {
				return unix.EBUSY
			}
		}
		k.events = slices.Delete(k.events, i, i+1)
		maps.DeleteFunc(k.files, func(file, _ string) bool { return strings.Contains(file, "events/"+name+"/") })
		return nil
	}
	if strings.Contains(line, "BAD") {
		k.files["error_log"] += fmt.Sprintf("[    1.%06d] event_probe: error: Unknown type\n  Command: %s\n           %s^\n", k.writes, line, strings.Repeat(" ", strings.Index(line, "BAD")))
		return unix.EINVAL
	}
	n, ok := eventOf(line)
	if !ok || k.Exists("events/"+n.Group+"/"+n.Name) {
		return unix.EEXIST
	}
	k.addEvent(n.Group+"/"+n.Name, strings.TrimSuffix(line, ";"))
	return nil
}

func (k *kernel) trigger(name, line string) error {
	if text, ok := strings.CutPrefix(line, "!"); ok {
		if !k.lie {
			k.files[name] = strings.Replace(k.files[name], shownTrigger(text), "", 1)
		}
		return nil
	}
	if strings.Contains(k.files[name], line) {
		return unix.EEXIST
	}
	k.files[name] += shownTrigger(line)
	return nil
}

// shownTrigger is the line that kernels show for a trigger.
func shownTrigger(line string) string {
	if strings.HasPrefix(line, "hist:") {
		return line + " [active]\n"
	}
	what, condition, _ := strings.Cut(line, " if ")
	if kind, count, ok := strings.Cut(what, ":"); ok && count == "0" {
		what = kind + ":count=0"
	} else {
		what += ":unlimited"
	}
	if condition != "" {
		what += " if " + condition
	}
	return what + "\n"
}

// same demands that two states are equal.
func same(t *testing.T, what string, before, after map[string]string) {
	t.Helper()
	if maps.Equal(before, after) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if got, ok := after[name]; !ok || got != before[name] {
			t.Errorf("%s: %s: got %q (%v), want %q", what, name, got, ok, before[name])
		}
	}
	for name, text := range after {
		if _, ok := before[name]; !ok {
			t.Errorf("%s: %s was left: %q", what, name, text)
		}
	}
}

var errFault = errors.New("a fault of the test")
