package applyproof

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/eptrace/ep/runtime/tracefs"
)

// state is what tracefs holds of what can be changed: file to content.
type state map[string]string

// settings are the files of one value of a buffer that ep may set.
var settings = []string{
	"trace_clock", "set_event_pid", "set_event_notrace_pid", "set_event", "tracing_on", "current_tracer",
	"buffer_size_kb", "options/event-fork", "options/overwrite", "tracing_cpumask",
}

// state reads all: dynamic events, the settings of the top level and of each
// instance, and trigger, filter and enable of every event, at the top level and,
// of the events called touched, in each instance.
func (b *bench) state(touched []string) state {
	s := state{}
	b.add(s, "dynamic_events")
	instances, err := b.fs.Instances()
	if err != nil {
		b.Fatalf("%v", err)
	}
	for _, in := range append([]string{""}, instances...) {
		s[tracefs.In(in, "")+"/"] = "" // that it is there
		for _, name := range settings {
			b.add(s, tracefs.In(in, name))
		}
		for _, event := range touched {
			b.addEvent(s, tracefs.In(in, "events/"+event))
		}
	}
	return s
}

// whole is state with every event of the top level.
func (b *bench) whole() state {
	dirs, err := filepath.Glob(b.fs.Dir() + "/events/*/*/enable")
	if err != nil {
		b.Fatalf("%v", err)
	}
	var events []string
	for _, d := range dirs {
		events = append(events, strings.TrimPrefix(path.Dir(d), b.fs.Dir()+"/events/"))
	}
	s := b.state(nil)
	for _, e := range events {
		b.addEvent(s, "events/"+e)
	}
	return s
}

func (b *bench) addEvent(s state, dir string) {
	for _, name := range []string{"trigger", "filter", "enable"} {
		b.add(s, dir+"/"+name)
	}
}

func (b *bench) add(s state, name string) {
	text, err := b.fs.Read(name)
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		text = []byte("cannot be read: " + err.Error())
	}
	s[name] = string(text)
}

// unordered returns s with the lines of each list of events and triggers sorted:
// what is made anew stands at another place.
func (s state) unordered() state {
	out := maps.Clone(s)
	for name, text := range out {
		if base := path.Base(name); base == "dynamic_events" || base == "set_event" || base == "trigger" {
			lines := strings.Split(text, "\n")
			slices.Sort(lines)
			out[name] = strings.Join(lines, "\n")
		}
	}
	return out
}

// same demands that two states are equal byte by byte, save for what says that a
// buffer was not used yet.
func (b *bench) same(what string, before, after state) bool {
	ok := true
	names := slices.Sorted(maps.Keys(before))
	for name := range after {
		if _, had := before[name]; !had {
			names = append(names, name)
		}
	}
	for _, name := range names {
		was, had := before[name]
		is, has := after[name]
		if strings.HasSuffix(name, "buffer_size_kb") && had == has {
			continue // "7 (expanded: 1408)" becomes 1408 by the first use
		}
		if was != is || had != has {
			b.Errorf("%s left %s changed: was %q (%v), is %q (%v)", what, name, was, had, is, has)
			ok = false
		}
	}
	return ok
}

// journals lists what is in the folder of journals that is no lock.
func (b *bench) journals(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		if e.Name() != "lock" {
			list = append(list, e.Name())
		}
	}
	return list
}
