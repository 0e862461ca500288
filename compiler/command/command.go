// Package command knows the kernel's spelling: every line that tracefs takes,
// as a Go value that is printed and parsed here and nowhere else.
//
// A value is printed with a map from its bytes to the places in a script that
// they came from, so that a kernel's answer about a byte finds its way back. It
// does not know what a machine has: no event's fields, no symbols, no types.
//
// Read command.go for the kinds of line, fetch.go for probe arguments, hist.go
// for histogram triggers, and filter.go for conditions; then print.go, parse.go,
// check.go for what must not be printed, and normal.go for when two are the same.
package command

import "github.com/eptrace/ep/lang/source"

// Command is one line for one file of tracefs: *Eprobe, *Kprobe, *Fprobe,
// *Tprobe, *Uprobe, *Synthetic, *Delete, *Hist, *Trigger, *Filter, *Enable or
// *Setting.
type Command interface {
	// File returns the file that the line is for: relative to the root of
	// tracefs for dynamic_events, and to the root or an instance for the rest.
	File() string
	command()
}

// Origin says that the bytes [Lo, Hi) of a printed line come from Span. Inner
// origins come after the outer ones that hold them.
type Origin struct {
	Lo, Hi int
	Span   source.Span
}

// EventName is an event's full name. Span is where a script names it.
type EventName struct {
	Group, Name string
	Span        source.Span
}

// String returns "group.name".
func (n EventName) String() string { return n.Group + "." + n.Name }

// Eprobe is an event made from another event's fields.
type Eprobe struct {
	EventName
	On   EventName // the event that it hangs on
	Args []Arg
	If   Cond // nil: always. Read-back does not show it.
}

// Kprobe is an event at an instruction or, if Return, at a function's return.
type Kprobe struct {
	EventName
	Return    bool
	MaxActive int // of a return probe; 0 is the kernel's default
	Module    string
	Symbol    string // "" for an address
	Offset    uint64 // from Symbol, or the address itself
	At        source.Span
	Args      []Arg
}

// Fprobe is an event at a function's entry or, if Return, its return, through
// function tracing.
type Fprobe struct {
	EventName
	Return bool
	Module string
	Symbol string
	At     source.Span
	Args   []Arg
}

// Tprobe is an event at a raw tracepoint.
type Tprobe struct {
	EventName
	Tracepoint string
	At         source.Span
	Args       []Arg
}

// Uprobe is an event at an instruction of a program or library.
type Uprobe struct {
	EventName
	Return bool
	Path   string
	Offset uint64 // in the file
	RefCtr uint64 // offset of a reference counter, 0 for none
	At     source.Span
	Args   []Arg
}

// Synthetic is an event that hist triggers emit.
type Synthetic struct {
	Name   string
	Span   source.Span
	Fields []SynthField
}

// SynthField is one field of a synthetic event. Type is the kernel's word:
// "u64", "s32", "char[]", "char[16]", "unsigned long[]".
type SynthField struct {
	Type, Name string
	Span       source.Span
}

// Delete removes dynamic events, whatever their kind: those of one name, or of
// that name in every group if Group is "", or a whole group if Name is "".
type Delete struct {
	EventName
	// Words, "" for none, are what the event must be made of to be removed: its
	// place and its arguments, as read back.
	Words string
}

// Trigger is one of the simple triggers of an event.
type Trigger struct {
	Event  EventName // the event that it sits on
	Remove bool
	Kind   TriggerKind
	Target EventName // of enable_event and the like
	Count  int       // how often, -1 without limit. stacktrace:N and the like.
	If     Cond
	Span   source.Span
}

// TriggerKind is the kernel's word of a trigger.
type TriggerKind string

// The kinds of Trigger.
const (
	Traceon      TriggerKind = "traceon"
	Traceoff     TriggerKind = "traceoff"
	Snapshot     TriggerKind = "snapshot"
	Stacktrace   TriggerKind = "stacktrace"
	EnableEvent  TriggerKind = "enable_event"
	DisableEvent TriggerKind = "disable_event"
	EnableHist   TriggerKind = "enable_hist"
	DisableHist  TriggerKind = "disable_hist"
)

// Filter sets the filter of an event, or clears it if If is nil. An event
// without a name is all of its group.
type Filter struct {
	Event EventName
	If    Cond
}

// Enable turns an event's recording on or off. An event without a name is all
// of its group.
type Enable struct {
	Event EventName
	On    bool
}
