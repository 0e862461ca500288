// Package journal notes down what a run of ep does to the kernel before it does
// it, so that what a killed run left behind can be found and taken back.
//
// A run has one file in a private folder. It is written to by its run alone, a
// line at a time, each with one write(2); the lines are in file.go. The package
// knows nothing of tracefs: what a noted change means, and whether it is still
// there, is runtime/apply's.
//
// Read journal.go for what is noted, dir.go for the folder, and file.go for the
// form of a file.
package journal

import (
	"errors"
	"time"
)

// Kind is why a journal is kept.
type Kind string

// The kinds.
const (
	// Run is for as long as its process lives: what is noted goes with it.
	Run Kind = "run"
	// Install stays after its process: what is noted is to stay too.
	Install Kind = "install"
)

// Head says whose journal it is.
type Head struct {
	Version  int       `json:"version"`
	Kind     Kind      `json:"kind"`
	Name     string    `json:"name"`   // of an installed script; of a run, that of its file
	Script   string    `json:"script"` // the script's file, as the user wrote it
	Instance string    `json:"instance"`
	Tracefs  string    `json:"tracefs"` // where tracefs was mounted
	Owner    Process   `json:"owner"`
	Boot     string    `json:"boot"` // the kernel's boot_id: a boot empties tracefs
	Time     time.Time `json:"time"` // when it was begun
	User     int       `json:"user"` // the owner's user, or that of sudo
}

// Step is one change of the kernel: a write to a file of tracefs, an instance
// made, or a file that the kernel itself will change.
type Step struct {
	Kind Change `json:"kind"`
	File string `json:"file"` // from the root of tracefs; of an instance its folder
	Data string `json:"data,omitempty"`
	Undo *Undo  `json:"undo,omitempty"` // nil: nothing is to be taken back
	// Held is what the file held before, in the words that set it so again; nil
	// if it was not there, or holds no single value.
	Held *string `json:"held,omitempty"`
	Line int     `json:"line,omitempty"` // of the script; 0 is none
}

// Undo is the write that takes a step back, to the step's file. A file of one
// value gets what it Held, where that is known.
type Undo struct {
	Data string `json:"data"`
}

// Change is a kind of Step.
type Change string

// The changes.
const (
	Command  Change = "command"  // appended to a file of commands
	Value    Change = "value"    // put into a file of one value
	Instance Change = "instance" // a folder made
	Kept     Change = "kept"     // nothing yet: what a file holds that later steps have the kernel change
)

// State is how far a step has come.
type State uint8

// The states. A step that was Begun may or may not be done: its run ended there.
const (
	Planned State = iota
	Begun
	Done
	Undone
)

// Journal is what was noted of one run.
type Journal struct {
	Head
	ID     string // the name of its file
	Steps  []Step
	States []State // one for each step
	// Complete says that all steps were done, and that an installed script is to
	// stay.
	Complete bool
}

// Left reports whether a step may have left something in the kernel.
func (j *Journal) Left(i int) bool { return j.States[i] == Begun || j.States[i] == Done }

// ErrUnreadable says that a file is no journal, or of a later version.
var ErrUnreadable = errors.New("no journal that this ep understands")
