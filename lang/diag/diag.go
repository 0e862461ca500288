// Package diag says what is wrong with a script, and where.
//
// Stages add Diagnostics to a List and go on; nothing here prints by itself.
// Read diag.go for the types, codes.go for the list of all codes, and text.go
// and json.go for the two renderings.
package diag

import (
	"sort"

	"github.com/eptrace/ep/lang/source"
)

// Severity is how bad a Diagnostic is. The zero value is invalid, so that a
// forgotten one is caught.
type Severity uint8

// The severities, worst first.
const (
	_       Severity = iota
	Error            // nothing is compiled
	Warning          // compiled, though it may not be what is meant
)

// String returns "error" or "warning".
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	}
	return "invalid severity"
}

// Code names a kind of mistake: "unknown-field". A Code is never renamed and
// never used again for something else.
type Code string

// Diagnostic is one thing wrong with a script.
type Diagnostic struct {
	Severity Severity
	Code     Code
	Source   *source.Source // the text that Span is in
	Span     source.Span    // the smallest text whose change mends it
	Message  string         // one clause, lower case, no period
	Notes    []Note
	Fixes    []Fix
}

// Note adds a second place, or says what to do. A Span that is not valid means
// no place. A nil Source means the Diagnostic's.
type Note struct {
	Source  *source.Source
	Span    source.Span
	Message string
}

// Fix is an edit that mends the mistake: the text of Span becomes Text.
type Fix struct {
	Span source.Span
	Text string
}

// List is a number of Diagnostics.
type List []Diagnostic

// HasErrors reports whether any Diagnostic is an Error.
func (l List) HasErrors() bool {
	for _, d := range l {
		if d.Severity == Error {
			return true
		}
	}
	return false
}

// Count returns how many Diagnostics are of severity s.
func (l List) Count(s Severity) int {
	n := 0
	for _, d := range l {
		if d.Severity == s {
			n++
		}
	}
	return n
}

// Sort orders l by source name, then place, then code, and drops exact
// repetitions. It returns the sorted list, which shares l's storage.
func (l List) Sort() List {
	name := func(d Diagnostic) string {
		if d.Source == nil {
			return ""
		}
		return d.Source.Name()
	}
	sort.SliceStable(l, func(i, j int) bool {
		a, b := l[i], l[j]
		switch {
		case name(a) != name(b):
			return name(a) < name(b)
		case a.Span.Start != b.Span.Start:
			return a.Span.Start < b.Span.Start
		case a.Span.End != b.Span.End:
			return a.Span.End < b.Span.End
		}
		return a.Code < b.Code
	})
	out := l[:0]
	for i, d := range l {
		if i > 0 {
			p := out[len(out)-1]
			if p.Source == d.Source && p.Span == d.Span && p.Code == d.Code && p.Message == d.Message {
				continue
			}
		}
		out = append(out, d)
	}
	return out
}
