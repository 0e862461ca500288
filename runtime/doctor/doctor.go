// Package doctor examines what tracing a machine allows: mounts, permissions,
// lockdown, how the kernel was built, what it can do and what is broken in it,
// and what others left in its tracefs.
//
// It reads a root file system and changes nothing. Read doctor.go first, then
// checks.go for what is examined and leftovers.go for what others left.
package doctor

import (
	"io/fs"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/runtime/journal"
)

// State is how bad a finding is.
type State string

// The states, from good to bad.
const (
	OK     State = "ok"
	Limit  State = "limit"  // it works, and something does not
	Broken State = "broken" // nothing can be traced as long as it is so
)

// Finding is what one check found.
type Finding struct {
	Check   string // what was examined, in a word: "tracefs", "lockdown"
	State   State
	Message string // a clause
	Help    string // what to do; "" if there is nothing to be done
}

// Ability is a feature or a quirk of the kernel.
type Ability struct {
	Name  string
	Has   bool
	Basis string // the fact that this is decided by, as target.Basis has it
}

// Leftover is something in tracefs that acts or records, whoever made it.
type Leftover struct {
	Kind string // "kprobe", "eprobe", "trigger", "filter", "instance", "event on", "tracer", …
	Name string // of the event or instance, "sched.sched_switch"
	In   string // the instance that it is in, "" for the top level
	Text string // as tracefs reads it back
	Ep   bool   // ep made it, or it has a name that ep gives
	// Script is the name of the script that has it in force, "" if no journal
	// tells of one.
	Script string
}

// Report is all that was found.
type Report struct {
	Release, Arch string
	Tracefs       string // where it is mounted, "" if nowhere
	Findings      []Finding
	Features      []Ability
	Quirks        []Ability
	Leftovers     []Leftover
}

// Works reports whether anything can be traced.
func (r *Report) Works() bool {
	for _, f := range r.Findings {
		if f.State == Broken {
			return false
		}
	}
	return true
}

// Machine is what Examine may ask.
type Machine struct {
	Root fs.FS // the machine's root file system
	// Writable returns why a file of Root may not be written to, nil if it may.
	// Nothing is written.
	Writable func(name string) error
	// Journals tell what ep has made itself.
	Journals []*journal.Journal
}

// Examine examines a machine. What cannot be read is a finding, not an error.
func Examine(m Machine) *Report {
	x := &examination{m: m, report: &Report{}, owners: owners(m.Journals)}
	x.tracefs()
	if x.t != nil {
		x.permission()
	}
	x.lockdown()
	if x.t != nil {
		x.switches()
		x.types()
		x.configuration()
		for _, f := range target.Features() {
			x.report.Features = append(x.report.Features, Ability{string(f), x.t.Has(f), target.Basis(f)})
		}
		for _, q := range target.Quirks() {
			x.report.Quirks = append(x.report.Quirks, Ability{string(q), x.t.Has(q), target.Basis(q)})
		}
		x.leftovers()
	}
	return x.report
}

// examination is one Examine.
type examination struct {
	m      Machine
	t      *target.Target // nil if there is no tracefs that can be read
	dir    string         // tracefs in Root
	report *Report
	owners map[string]string // scripts by what they made: files of tracefs, and dynamic events as "GROUP/NAME"
}

func (x *examination) find(check string, s State, message, help string) {
	x.report.Findings = append(x.report.Findings, Finding{check, s, message, help})
}

// read returns a file of the machine, "" if it cannot be read.
func (x *examination) read(name string) string {
	text, err := fs.ReadFile(x.m.Root, name)
	if err != nil {
		return ""
	}
	return string(text)
}
