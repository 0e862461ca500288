// Package ir is a script after checking: every name bound, every expression
// typed, no syntax left to ask.
//
// The checker makes a Program and the lowering reads it. A Program says what
// is wanted in the language's own terms; which kernel mechanism serves is not
// in it. Read ir.go for events and sources, expr.go for expressions.
package ir

import (
	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// Program is a checked script.
type Program struct {
	Source  *source.Source
	Options Options
	Events  []*Event // in an order in which each comes after those it uses
	Hists   []*Hist
	Ons     []*On
	Traces  []*Trace
}

// Options are the script's options, with the defaults filled in.
type Options struct {
	Group     string // of events that name none
	Instance  string // "" is the top level
	Suffix    string // of the kernel's names of what the script makes
	Functions string // auto, kprobe or fprobe

	BufferKB  int         // of each CPU; 0: as it is
	Clock     string      // of records; "": as it is
	Overwrite string      // "1": new records replace old ones, "0": they are lost; "": as it is
	Paused    bool        // the buffer takes no records until an action starts it
	MaxActive int         // calls that a return probe follows at once; 0: the kernel's default
	Settings  source.Span // where the last of them is set
}

// Event is a derived event.
type Event struct {
	Name   string
	Group  string      // "" if the script names none
	Span   source.Span // of the name
	Whole  source.Span // of the statement
	Inline bool        // made by a trace with conditions or fields of its own
	Union  []*Event    // of several sources: the events of each, all with these Fields
	Stages []*Stage    // one, or the stages of a join
	Having Expr        // about the event's own fields; nil: always
	Fields []*Field
	Emit   *Emit       // nil: each time
	Size   int         // entries of the join's table; 0 is the default
	SizeAt source.Span // where Size is said
}

// Field returns the field called name, nil if there is none.
func (e *Event) Field(name string) *Field {
	for _, f := range e.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Field is one field of a derived event.
type Field struct {
	Name  string
	Span  source.Span // of the name or, where it names itself, of the value
	Type  types.Type  // as the event carries it
	Value Expr        // of Type

	Hidden  bool     // kept to tell whether others could be read; not shown
	Through []*Field // what tells whether Value could be read (package lower makes these)
}

// Stage is one of the happenings that an event is made of.
type Stage struct {
	Index  int
	Alias  string // as the script calls it, "" if it has no name
	Source Source
	Where  Expr  // about this stage alone; nil: always
	Keys   []Key // how it follows the stages before; none for the first
	Span   source.Span
}

// Key is one key of a join: Left, of an earlier stage, equals Right, of this.
type Key struct {
	Left, Right Expr
	Span        source.Span
}

// Source is where a stage's events come from: *KernelEvent, *Derived, *Syscall
// or *Probe.
type Source interface {
	// Vars returns what a record of the source offers by name.
	Vars() []Var
	src()
}

// Var is a named value that a source offers.
type Var struct {
	Name string
	Type types.Type
}

// KernelEvent is an event that the target has.
type KernelEvent struct{ Format *target.Format }

// Derived is an event of the script.
type Derived struct{ Event *Event }

// End is the end of a call that a source fires at.
type End uint8

// The ends. A span has both: it fires at the exit and knows the entry.
const (
	EndEnter End = iota
	EndExit
	EndBoth
)

// Syscall is a system call's entry, exit, or span.
type Syscall struct {
	Name string
	Nr   int // on the target's architecture
	End  End
	Args []Var // none at the exit
}

// Place is the kind of place that a Probe is at.
type Place uint8

// The places.
const (
	AtInstruction Place = iota // of the kernel: kprobe
	AtFunc                     // a kernel function's entry, return or both: func
	AtTracepoint               // a raw tracepoint: tracepoint
	AtUserFunc                 // a function of a program or library: ufunc
	AtUser                     // an instruction of one: uprobe
	AtMark                     // a mark that its author left: usdt
)

// Probe is a place in code. Args are the parameters by position, with an empty
// name for one that is skipped. The exit of a function has the entry's too.
type Probe struct {
	Place     Place
	End       End    // EndEnter where a place has but one
	Module    string // of the kernel, or a mark's provider
	Symbol    string
	Offset    uint64 // from Symbol or, in user space, in the file; the address itself, if Addressed
	Addressed bool   // of the kernel, by its address, which Symbol spells
	Path      string // the file, in user space
	Sites     []Site // where in the file, in user space; several of a mark
	Args      []Var
	Lost      int         // from which of Args on, counted from 1, it is not known where they are: one is a large struct; 0: none
	Word      int         // bytes of a pointer of the program, in user space
	Result    types.Type  // of a function; Void if it has none, nil if it is not known
	Span      source.Span // of the symbol
}

// Site is a place in a file, with what a probe there says to have each of the
// Probe's Args.
type Site struct {
	Offset uint64 // in the file
	RefCtr uint64 // of the counter of those who watch, in the file; 0: none
	Args   []SiteArg
}

// SiteArg is an argument at a Site.
type SiteArg struct {
	Fetch   command.Fetch     // nil: it cannot be had
	Bits    command.FetchType // the part of what is fetched, if it is not all
	Problem error             // why it cannot be had
}

// Vars implements Source.
func (s *KernelEvent) Vars() []Var {
	out := make([]Var, 0, len(s.Format.Fields))
	for _, f := range s.Format.Fields {
		out = append(out, Var{f.Name, f.Type})
	}
	return out
}

// Vars implements Source.
func (s *Derived) Vars() []Var {
	out := make([]Var, 0, len(s.Event.Fields))
	for _, f := range s.Event.Fields {
		out = append(out, Var{f.Name, f.Type})
	}
	return out
}

// Vars implements Source.
func (s *Syscall) Vars() []Var { return s.Args }

// Vars implements Source.
func (s *Probe) Vars() []Var {
	out := make([]Var, 0, len(s.Args))
	for _, a := range s.Args {
		if a.Name != "" {
			out = append(out, a)
		}
	}
	return out
}

func (*KernelEvent) src() {}
func (*Derived) src()     {}
func (*Syscall) src()     {}
func (*Probe) src()       {}

// Trace is an event whose records are wanted. Exactly one of Event and Kernel
// is set. If Where is, only those of it are wanted that Where holds for; Inline
// is an event that is just these.
type Trace struct {
	Event  *Event
	Kernel *target.Format
	Where  Expr
	Inline *Event
	Paused bool // until an On starts it
	Print  string
	Span   source.Span // of the source
}
