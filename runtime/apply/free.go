package apply

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/runtime/journal"
)

// free demands that nothing is in the way of the steps: names of events that
// are taken, triggers that are there, filters and clocks that others set.
func (a *Applied) free() error {
	for i := range a.steps {
		s := &a.steps[i]
		if s.Kind == journal.Command && removes(s.cmd) || s.dynamic() && s.event().Name == "" {
			continue
		}
		switch {
		case s.dynamic():
			if err := a.freeName(s); err != nil {
				return err
			}
		case s.Kind == journal.Command:
			there, err := a.view.look(s)
			if err != nil {
				return a.refused(s, err, nil)
			}
			if text, err := a.t.FS.Read(s.File); err == nil {
				s.was = triggerLines(string(text))
			}
			if there == Present {
				return a.inTheWay(s, a.holder(s.File, s.Data, "the event has this trigger already"))
			}
		case s.Kind == journal.Value:
			if err := a.freeValue(s); err != nil {
				return err
			}
			if err := a.freeBuffer(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// freeBuffer demands that nobody else records in an instance in which an event is
// turned on that the script makes: removing one that was ever on there empties the
// instance's buffer (kernel/trace/trace_events.c, probe_remove_event_call; trace_dynevent.c,
// dyn_event_release).
func (a *Applied) freeBuffer(s *step) error {
	on, ok := s.cmd.(*command.Enable)
	if !ok || !on.On || a.holds(s.File) || !strings.HasPrefix(s.File, "instances/") || !a.makes(on.Event) {
		return nil
	}
	dir := strings.Join(strings.Split(s.File, "/")[:2], "/")
	what := a.recorded(dir)
	if what == "" && a.keeps(dir) {
		what = "there are records"
	}
	if what == "" {
		return nil
	}
	return a.inTheWay(s, what+" there, and removing this event would empty the buffer")
}

// makes reports whether a step makes the event.
func (a *Applied) makes(name command.EventName) bool {
	return slices.ContainsFunc(a.steps, func(s step) bool {
		made := s.event()
		return s.dynamic() && made.Group == name.Group && made.Name == name.Name
	})
}

// keeps reports whether the buffer whose files are in dir has records.
func (a *Applied) keeps(dir string) bool {
	for cpu := 0; ; cpu++ {
		text, err := a.t.FS.Read(path.Join(dir, fmt.Sprintf("per_cpu/cpu%d/stats", cpu)))
		if err != nil {
			return false
		}
		if !strings.HasPrefix(string(text), "entries: 0\n") {
			return true
		}
	}
}

// freeName demands that there is no event of the name of s.
func (a *Applied) freeName(s *step) error {
	there, err := a.view.look(s)
	if err != nil {
		return a.refused(s, err, nil)
	}
	if there == Absent {
		return nil
	}
	name := s.event()
	list, err := a.view.list()
	if err != nil {
		return a.refused(s, err, nil)
	}
	what := "an event of the kernel's own has this name"
	if lines := list[name]; len(lines) > 0 {
		what = "there is " + kindWord(lines[0][0]) + " of this name"
	}
	if on := a.enabledIn(name); on != "" {
		what += ", on in " + on
	}
	return a.inTheWay(s, a.holder(eventDir(name), "", what))
}

// kindWord names the kind of event that a line of dynamic_events makes.
func kindWord(letter byte) string {
	switch letter {
	case 'e':
		return "an eprobe"
	case 'p', 'r':
		return "a probe"
	case 'f':
		return "an fprobe"
	case 't':
		return "a tracepoint probe"
	case 's':
		return "a synthetic event"
	}
	return "an event"
}

// holder adds to what is in the way whose it is.
func (a *Applied) holder(file, data, what string) string {
	if a.t.Holder == nil {
		return what
	}
	if who := a.t.Holder(file, data); who != "" {
		return what + ", made by " + who
	}
	return what + ", not made by ep"
}

// freeValue demands that no value that others chose would be changed: in an
// instance of the plan's own nobody did. A fresh buffer's clock is "local",
// unless the kernel says otherwise by its command line, and its filters are
// none.
func (a *Applied) freeValue(s *step) error {
	if a.holds(s.File) {
		return nil
	}
	text, err := a.t.FS.Read(s.File)
	if err != nil {
		return nil // it is to be made, or prepare says what is wrong
	}
	held, ok := heldIn(s.File, string(text))
	if !ok || sameValue(s.File, string(text), s.Data) {
		return nil
	}
	switch setting(s.File) {
	case "filter":
		if held != "0" {
			return a.inTheWay(s, fmt.Sprintf("the event has the filter '%s' already", held))
		}
		if on, err := a.t.FS.Read(eventOfFile(s.File) + "/enable"); err == nil && len(on) > 0 && on[0] == '1' {
			return a.inTheWay(s, "the event is on already, and a filter would take records from who turned it on")
		}
	case "set_event_pid":
		if held != "" {
			return a.inTheWay(s, "somebody follows threads there: "+held)
		}
	case "trace_clock":
		if held != "local" {
			return a.inTheWay(s, fmt.Sprintf("the clock is '%s', which somebody chose", held))
		}
		if what := a.recorded(path.Dir(s.File)); what != "" {
			return a.inTheWay(s, what+" there, and another clock would empty the buffer")
		}
	}
	return nil
}

// recorded tells what others record in the buffer whose files are in dir, "" if
// nothing.
func (a *Applied) recorded(dir string) string {
	if a.recordsEvents(dir) {
		return "somebody records events"
	}
	if text, err := a.t.FS.Read(path.Join(dir, "current_tracer")); err == nil {
		if tracer := strings.TrimSpace(string(text)); tracer != "nop" {
			return "somebody uses the tracer '" + tracer + "'"
		}
	}
	return ""
}

// recordsEvents reports whether an event is recorded in the buffer whose files
// are in dir. "1" is all events, "X" some (kernel/trace/trace_events.c,
// system_enable_read); those that only have a trigger are among them, and their
// own files say "0*".
func (a *Applied) recordsEvents(dir string) bool {
	text, err := a.t.FS.Read(path.Join(dir, "events/enable"))
	switch {
	case err != nil || len(text) == 0 || text[0] == '0':
		return false
	case text[0] == '1':
		return true
	}
	list, err := a.t.FS.Read(path.Join(dir, "set_event"))
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(list)) {
		name := strings.Replace(strings.TrimSpace(line), ":", "/", 1)
		on, err := a.t.FS.Read(path.Join(dir, "events", name, "enable"))
		if err != nil || len(on) > 0 && on[0] == '1' {
			return true
		}
	}
	return false
}

// holds reports whether a file of one value is the script's already.
func (a *Applied) holds(file string) bool {
	_, held := a.held[file]
	return held || slices.ContainsFunc(a.homes, func(dir string) bool { return strings.HasPrefix(file, dir+"/") })
}

// eventOfFile returns the folder that a file of an event is in.
func eventOfFile(file string) string { return file[:len(file)-len("/"+setting(file))] }

// Free tells what others have that would be in the way of Apply, as an *Error, or
// nil. Nothing is changed.
func (t *Transaction) Free(p *plan.Plan) error {
	return (&Applied{t: t, view: view{fs: t.FS}, script: p.Script, steps: planSteps(p)}).free()
}

// InTheWay reports the names of the events of p that others have already.
// Another suffix of names helps (compiler.Options).
func (t *Transaction) InTheWay(steps []journal.Step) ([]command.EventName, error) {
	v := view{fs: t.FS}
	var list []command.EventName
	for _, js := range steps {
		s := newStep(js, nil)
		name := s.event()
		if !s.dynamic() || name.Name == "" {
			continue
		}
		there, err := v.look(&s)
		if err != nil {
			return nil, err
		}
		if there != Absent {
			list = append(list, name)
		}
	}
	return list, nil
}
