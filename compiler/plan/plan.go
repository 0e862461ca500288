// Package plan holds what a script compiles to: the ordered writes to tracefs
// with what undoes each, what there is to read, and the way from each byte
// written back to the script.
//
// A plan is data: it is made by package compiler, printed by package emit and
// carried out by runtime/apply.
package plan

import (
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// Plan is a compiled script. Writes are in the order in which they must be
// done; undoing goes the other way.
type Plan struct {
	Script   *source.Source
	Target   string // the target's name
	Instance string // the instance that Write.Instanced writes go to; "" is the top level
	Writes   []Write
	Streams  []Stream // the events whose records are wanted
	Tables   []Table  // the histograms
}

// ValidInstance reports whether an instance may have the name: it is that of one
// folder below instances/, and appears in messages and shell lines.
func ValidInstance(name string) bool {
	if name == "" || name[0] == '.' || len(name) > 255 {
		return false
	}
	for i := 0; i < len(name); i++ {
		ch := name[i]
		if ch != '_' && ch != '-' && ch != '.' && (ch < '0' || ch > '9') && (ch|0x20 < 'a' || ch|0x20 > 'z') {
			return false
		}
	}
	return true
}

// InstanceRule says which names ValidInstance takes.
const InstanceRule = "an instance's name has letters, digits, '_', '-' and '.', at most 255, and no leading '.'"

// Write is one write(2) of one command to one file.
type Write struct {
	File      string // relative to the root of tracefs or, if Instanced, to the plan's instance
	Instanced bool
	Data      string // one command, no newline
	Mode      Mode
	Undo      *Write // what takes it back; its own Undo is nil
	// Restore are the files of one value that change by themselves because of
	// this write: a trigger turns an event or the whole buffer on or off. They
	// are written after Undo: what each held before, or Data if that is unknown.
	Restore []Write
	Needs   []target.Feature // what the kernel must be able to do; nil: nothing special
	Origin  []Origin         // inner places after those that they are in; nil of what the compiler made itself
	// Why says in one clause why the plan has this write, on this target. An
	// Undo has none.
	Why string
}

// Mode is how a Write opens its file.
type Mode uint8

// The modes. Truncating a file of commands deletes what others put there, so
// only files that hold a single value are truncated.
const (
	Append   Mode = iota
	Truncate      // O_TRUNC: enable and filter
)

// Origin says that the bytes [Lo, Hi) of a Write's Data come from Span of the
// Plan's Script.
type Origin struct {
	Lo, Hi int
	Span   source.Span
}

// Stream is an event whose records are wanted.
type Stream struct {
	Name   string // as the script calls it
	Group  string // the kernel's names
	Event  string
	Fields []Field
	Hidden []string // other fields of the kernel's record, which ep added for itself
	Print  string   // the form of a line; "" for the default
	Span   source.Span
}

// Field is one field of a Stream's records.
type Field struct {
	Name   string     // as the script and the kernel call it
	Type   types.Type // what a value means
	Kernel string     // the kernel's type for it, in the words of the command that makes it
	// Through names fields of the kernel's record that tell whether the value
	// could be read: pointers, which are not in the first or last page, and texts,
	// which are not Unread and have a length.
	Through []string
	// MayBeEmpty says that a text without a byte may be empty, as well as one that
	// could not be read: the kernel does not tell.
	MayBeEmpty bool
}

// Unread is what a text reads as whose memory could not be read: a plan puts it
// behind a text, where the kernel then finds it.
const Unread = "(fault)"

// Table is a histogram to read.
type Table struct {
	Name   string // as the script calls it
	Hists  []Hist // where the kernel keeps it; several share one table
	Keys   []Column
	Values []Column // besides the count, which is always there
	Sort   []Sort
	Paused bool // until something starts it
	Span   source.Span
}

// Hist is a hist trigger of a Table. An event's hist file shows all of its
// triggers; Command tells which.
type Hist struct {
	Group, Event string
	Command      string
}

// Column is a key or a value of a Table.
type Column struct {
	Name     string
	Type     types.Type // what a value means
	Kernel   string     // the kernel's name of the field; values may share one
	Modifier string     // how the kernel shows it: "log2", "buckets=10", "sym" …
	Log2     bool       // a key of powers of two
	Bucket   uint64     // a key of ranges of this width; 0 is none
	Mean     bool       // a value that is a sum, to be divided by the count
}

// Sort is a column to sort by; "count" is the number of events.
type Sort struct {
	Name string
	Desc bool
}
