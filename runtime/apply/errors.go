package apply

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/runtime/tracefs"
)

// errNotAsAsked says that the kernel took a command and shows something else.
var errNotAsAsked = errors.New("the kernel did something else than it was asked")

// errInTheWay says that others have what a step would make or set.
var errInTheWay = errors.New("in the way")

// Error is a write that the kernel refused or carried out otherwise, or that
// would have been in the way of others.
type Error struct {
	File string // from the root of tracefs
	Data string
	Err  error // a *fs.PathError if the kernel refused

	// Way is what is in the way, "" if nothing is.
	Way string

	// Log is what the kernel's error_log says of it; nil if it says nothing, as
	// of some refusals.
	Log *tracefs.LogEntry

	// Byte is the byte of Data that the kernel points at; -1 if it points at
	// none.
	Byte int

	// Span is what of Script the bad byte comes from, or all of the command if
	// that is not known; NoSpan if nothing of it is the script's.
	Span   source.Span
	Script *source.Source

	step  *step
	facts facts
}

// Error returns in one line where in the script it is, the file and the cause.
func (e *Error) Error() string {
	s := e.Err.Error()
	if e.Way != "" {
		s = e.File + ": " + e.Way
	}
	if e.Log != nil {
		s += ": " + e.Log.String()
	}
	if e.Span.Valid() {
		at := e.Script.Position(e.Span.Start)
		s = fmt.Sprintf("%s:%d:%d: %s", e.Script.Name(), at.Line, at.Col, s)
	}
	return s
}

// Unwrap returns the cause, an errno at its end if the kernel refused.
func (e *Error) Unwrap() error { return e.Err }

// errorLogs returns what the kernel has refused so far: at the top level, where
// events are defined, and in the plan's instances. It is nothing where there is
// no such log (before v5.2): an error is only an errno then.
func (a *Applied) errorLogs() []tracefs.LogEntry {
	var list []tracefs.LogEntry
	seen := map[string]bool{}
	for _, in := range append([]string{""}, a.instances()...) {
		if seen[in] {
			continue
		}
		seen[in] = true
		if text, err := a.t.FS.Read(tracefs.In(in, "error_log")); err == nil {
			list = append(list, tracefs.ParseErrorLog(string(text))...)
		}
	}
	return list
}

// instances returns the instances that the steps go to.
func (a *Applied) instances() []string {
	var list []string
	for i := range a.steps {
		if rest, ok := strings.CutPrefix(a.steps[i].File, "instances/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// refused makes the Error of a step, with what the kernel has added to its logs
// since before.
//
// For one refusal it may add several entries, of which the first is the cause,
// and others may be of other programs: the command tells.
func (a *Applied) refused(s *step, cause error, before []tracefs.LogEntry) error {
	e := a.newError(s, cause)
	if errors.Is(cause, errNotAsAsked) || before == nil && s.write == nil {
		return e
	}
	for _, entry := range a.errorLogs() {
		at := strings.Index(s.Data, entry.Command)
		if entry.Command == "" || at < 0 || slices.Contains(before, entry) {
			continue
		}
		e.Log = &entry
		if b := at + entry.Caret; b < len(s.Data) {
			e.Byte = b
		}
		break
	}
	if s.write != nil {
		e.Span = spanAt(s.write, e.Byte)
	}
	return e
}

// inTheWay makes the Error of a step that would change what others have.
func (a *Applied) inTheWay(s *step, what string) error {
	e := a.newError(s, errInTheWay)
	e.Way = what
	return e
}

func (a *Applied) newError(s *step, cause error) *Error {
	e := &Error{File: s.File, Data: s.Data, Err: cause, Byte: -1, Span: source.NoSpan, Script: a.script, step: s, facts: a.t.facts()}
	if s.write != nil && a.script != nil {
		e.Span = spanAt(s.write, -1)
	}
	return e
}

// spanAt returns the span of the innermost origin that holds the byte, or of
// the whole command if none does. Inner origins come after the outer ones.
func spanAt(w *plan.Write, b int) source.Span {
	for _, o := range slices.Backward(w.Origin) {
		if o.Lo <= b && b < o.Hi {
			return o.Span
		}
	}
	all := source.NoSpan
	for _, o := range w.Origin {
		if !all.Valid() {
			all = o.Span
			continue
		}
		all = source.Join(all, o.Span)
	}
	return all
}
