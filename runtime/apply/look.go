package apply

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/runtime/journal"
)

// Presence is what the kernel shows of a step.
type Presence uint8

// The presences.
const (
	Absent  Presence = iota // nothing, or a value as it was before
	Present                 // what the step says
	Changed                 // something else is in its place
)

// view looks at tracefs. It keeps the list of dynamic events until stale is
// called.
type view struct {
	fs     Files
	events map[command.EventName][]string // lines of dynamic_events, nil if not read
}

// stale says that events were made or removed.
func (v *view) stale() { v.events = nil }

// look tells what there is of s. The error is about a file that may not be read.
func (v *view) look(s *step) (Presence, error) {
	switch {
	case s.Kind == journal.Instance:
		if v.fs.Exists(s.File) {
			return Present, nil
		}
		return Absent, nil
	case s.dynamic():
		return v.lookEvent(s)
	}
	text, err := v.fs.Read(s.File)
	if errors.Is(err, fs.ErrNotExist) {
		return Absent, nil // its event is not there
	}
	if err != nil {
		return Absent, err
	}
	switch s.Kind {
	case journal.Command:
		return v.lookTrigger(s, string(text)), nil
	case journal.Kept:
		return Present, nil // whatever it holds is the doing of what the script made
	}
	shown := string(text)
	switch {
	case sameValue(s.File, shown, s.Data):
		return Present, nil
	case sameValue(s.File, shown, s.before()):
		return Absent, nil
	}
	return Changed, nil
}

// before returns what a file of one value is set to when s is taken back.
func (s *step) before() string {
	switch {
	case s.Held != nil:
		return *s.Held
	case s.Undo != nil:
		return s.Undo.Data
	}
	return s.Data
}

// list reads dynamic_events. A kernel without the file has no such events.
func (v *view) list() (map[command.EventName][]string, error) {
	if v.events != nil {
		return v.events, nil
	}
	text, err := v.fs.Read(dynamicEvents)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	v.events = map[command.EventName][]string{}
	for line := range strings.Lines(string(text)) {
		if name, ok := eventOf(line); ok {
			v.events[name] = append(v.events[name], strings.TrimSpace(line))
		}
	}
	return v.events, nil
}

// eventOf returns the name in a line of dynamic_events as it is read back, where
// it always has its group, also of lines that are not understood otherwise:
// "e:GROUP/EVENT …".
func eventOf(line string) (command.EventName, bool) {
	first, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	first, _, _ = strings.Cut(first, "\t")
	_, name, ok := strings.Cut(first, ":")
	group, event, slash := strings.Cut(name, "/")
	return command.EventName{Group: group, Name: event}, ok && slash
}

func (v *view) lookEvent(s *step) (Presence, error) {
	name := s.event()
	if name.Name == "" {
		return Present, nil // it removes something: the kernel's word is all there is
	}
	list, err := v.list()
	if err != nil {
		return Absent, err
	}
	lines := list[name]
	if _, ok := ownLine(s, lines); ok {
		return Present, nil
	}
	if len(lines) > 0 || v.fs.Exists(eventDir(name)) {
		return Changed, nil
	}
	return Absent, nil
}

func eventDir(n command.EventName) string { return "events/" + n.Group + "/" + n.Name }

// ownLine returns the line that the kernel shows for s, of those of its name.
// A command that is not understood has only that to be known by.
func ownLine(s *step, lines []string) (string, bool) {
	for _, line := range lines {
		if s.cmd == nil {
			return line, true
		}
		if c, err := command.Parse(dynamicEvents, line); err == nil && sameEvent(s.cmd, c) {
			return line, true
		}
	}
	return "", false
}

// sameEvent reports whether the event that is shown is the one that was asked
// for. What kernels expand by their own types (see command.Shown) is taken as it
// is, as long as kind, name, and the names of the arguments are right.
func sameEvent(asked, shown command.Command) bool {
	if command.Equal(command.Shown(asked), command.Shown(shown)) {
		return true
	}
	name, _ := command.Made(asked)
	other, _ := command.Made(shown)
	a, b := command.Args(asked), command.Args(shown)
	if len(a) != len(b) || name != other || kindOf(asked) != kindOf(shown) {
		return false
	}
	special := false
	for i := range a {
		if a[i].Name != b[i].Name {
			return false
		}
		special = special || isSpecial(a[i].Fetch)
	}
	return special
}

func kindOf(c command.Command) string {
	switch c := c.(type) {
	case *command.Eprobe:
		return "e"
	case *command.Kprobe:
		return returns("p", c.Return)
	case *command.Fprobe:
		return returns("f", c.Return)
	case *command.Tprobe:
		return "t"
	case *command.Uprobe:
		return returns("u", c.Return)
	}
	return ""
}

func returns(kind string, yes bool) string {
	if yes {
		return kind + "%return"
	}
	return kind
}

// isSpecial reports whether kernels show f otherwise than it was written.
func isSpecial(f command.Fetch) bool {
	switch f := f.(type) {
	case command.Special:
		return true
	case command.Deref:
		return isSpecial(f.X)
	case command.Typecast:
		return isSpecial(f.X)
	}
	return false
}

// lookTrigger looks for s in the text of its trigger file. Whether a hist is
// paused does not matter: triggers start and stop it.
func (v *view) lookTrigger(s *step, text string) Presence {
	if removes(s.cmd) {
		return Present // it removes something: the kernel's word is all there is
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		c, err := command.Parse(s.File, line)
		if err != nil {
			continue // one of others, in words that are not ours
		}
		if s.cmd != nil && command.Equal(command.Shown(running(s.cmd)), command.Shown(running(c))) {
			return Present
		}
	}
	return Absent
}

func removes(c command.Command) bool {
	switch c := c.(type) {
	case *command.Hist:
		return c.Remove || c.State == "clear" || c.State == "continue"
	case *command.Trigger:
		return c.Remove
	}
	return false
}

// running returns a hist as it is when it is not paused.
func running(c command.Command) command.Command {
	h, ok := c.(*command.Hist)
	if !ok || h.State == "" {
		return c
	}
	out := *h
	out.State = ""
	return &out
}
