package apply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/runtime/tracefs"
)

// Error is a write that the kernel refused.
type Error struct {
	File string // from the root of tracefs
	Data string
	Err  error // a *fs.PathError

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
}

// Error returns in one line where in the script it is, the file and the cause.
func (e *Error) Error() string {
	s := e.Err.Error()
	if e.Log != nil {
		s += ": " + e.Log.String()
	}
	if e.Span.Valid() {
		at := e.Script.Position(e.Span.Start)
		s = fmt.Sprintf("%s:%d:%d: %s", e.Script.Name(), at.Line, at.Col, s)
	}
	return s
}

// Unwrap returns the cause, an errno at its end.
func (e *Error) Unwrap() error { return e.Err }

// errorLogs returns what the kernel has refused so far: at the top level, where
// events are defined, and in the plan's instance. It is nothing where there is
// no such log.
func (a *Applied) errorLogs() []tracefs.LogEntry {
	list, err := a.fs.ErrorLog("")
	if err != nil {
		return nil // since v5.2; without it an error is only an errno
	}
	if instance := a.plan.Instance; instance != "" {
		more, err := a.fs.ErrorLog(instance)
		if err == nil {
			list = append(list, more...)
		}
	}
	return list
}

// refused makes the Error of a write, with what the kernel has added to before.
//
// For one refusal it may add several entries, of which the first is the cause,
// and others may be of other programs: the command tells.
func (a *Applied) refused(w *plan.Write, cause error, before []tracefs.LogEntry) error {
	e := &Error{File: a.file(w), Data: w.Data, Err: cause, Byte: -1, Span: source.NoSpan, Script: a.plan.Script}
	for _, entry := range a.errorLogs() {
		at := strings.Index(w.Data, entry.Command)
		if entry.Command == "" || at < 0 || slices.Contains(before, entry) {
			continue
		}
		e.Log = &entry
		if b := at + entry.Caret; b < len(w.Data) {
			e.Byte = b
		}
		break
	}
	e.Span = spanAt(w, e.Byte)
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
