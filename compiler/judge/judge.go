// Package judge says what a kernel would say of writes to tracefs, without that
// kernel: whether it takes each, and why not.
//
// It is a model of the kernel's checks, with the state that earlier writes made:
// which events there are, what hangs on them, what is busy. What a machine has
// comes in as a target.Target. The model was made from what kernels answered;
// the tests hold it against their answers.
//
// Read judge.go for the one entry, state.go for what is kept between writes,
// dynamic.go for events that are made and removed, filter.go for conditions, and
// hist.go for histograms. mislead.go has what a kernel takes and what still does
// not mean what it seems to.
package judge

import (
	"errors"
	"fmt"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
)

// Op is what is done to a file of tracefs.
type Op uint8

// The operations.
const (
	Append   Op = iota // `echo TEXT >> FILE`
	Truncate           // `echo TEXT > FILE`: what the file held is removed first
	Clear              // `: > FILE`: as Truncate, and nothing is written
	Mkdir              // of an instance
	Rmdir              // of an instance
)

// Write is one write(2), or the making or removing of an instance.
type Write struct {
	Op   Op
	File string // from the root of tracefs: "dynamic_events", "instances/x/events/…"
	Text string // without its last newline; of dynamic_events and its kin, one or more lines
}

// Verdict is what a kernel says of a Write.
type Verdict struct {
	Accepted bool
	Refusal  *Refusal // why not; nil if accepted
	// Misleads tells, in a clause each, what a line that is accepted does not
	// do, though it seems to.
	Misleads []string
}

// Refusal is why a kernel does not take a write.
type Refusal struct {
	Errno  string // as the system call returns it: "EINVAL"
	Kernel string // what the error_log says of it; "" if nothing
	Reason string // one clause
	Near   string // a name that is there and was perhaps meant; "" if none
	Lo, Hi int    // the bytes of the write's text that are wrong; 0, 0: not known
}

// Error returns the reason, the near name, and the kernel's words.
func (r *Refusal) Error() string {
	s := r.Reason
	if r.Near != "" {
		s += "; did you mean '" + r.Near + "'?"
	}
	switch {
	case r.Kernel != "":
		s += " [" + r.Errno + ": " + r.Kernel + "]"
	case r.Errno != "":
		s += " [" + r.Errno + "]"
	}
	return s
}

// Judge holds what the writes so far have made of a tracefs in which nobody
// made anything before. It is not safe for several goroutines.
type Judge struct {
	t *target.Target
	// quiet: nobody asks what misleads, so nothing is looked up for it alone.
	quiet bool
	// absent are events that the target may have and that are taken not to be
	// there: what an earlier run of the same plan left.
	absent map[name]bool
	state
}

// New returns a Judge of t's kernel in its clean state.
func New(t *target.Target) *Judge {
	j := &Judge{t: t}
	j.Reset()
	return j
}

// Reset goes back to the clean state.
func (j *Judge) Reset() { j.state = newState() }

// Write says what the kernel says of w, and keeps what w does. What a refused
// write did before the kernel came to what it refuses, stays done.
func (j *Judge) Write(w Write) Verdict {
	misleads, err := j.write(w)
	if err == nil {
		return Verdict{Accepted: true, Misleads: misleads}
	}
	var r *Refusal
	if !errors.As(err, &r) {
		r = &Refusal{Errno: "EINVAL", Reason: err.Error()}
	}
	j.older(r)
	return Verdict{Refusal: r}
}

// older gives r the words of kernels that have not yet those of later ones.
func (j *Judge) older(r *Refusal) {
	const bad = "Invalid fetch argument"
	switch r.Kernel {
	case "BTF is not available or not supported", "This variable is not found at this probe point", "This field is not found.",
		"Failed to parse single hyphen. Forgot '>'?", "No BTF entry for this probe point":
		if !j.t.Has(target.BTFArgs) {
			r.Errno, r.Kernel = "EINVAL", bad
		}
	case "Typecasts are only for eprobe fields":
		if !j.t.Has(target.EprobeTypecast) {
			r.Kernel = bad
		}
	case "Maxactive is only for function exit":
		if !j.t.Has(target.BTFArgs) {
			r.Kernel = "Maxactive is not for kprobe"
		}
	}
}

func (j *Judge) write(w Write) (misleads []string, err error) {
	switch w.Op {
	case Mkdir, Rmdir:
		return nil, j.instance(w)
	}
	f, err := j.open(w.File)
	if err != nil {
		return nil, err
	}
	if w.Op != Append {
		if err := j.truncate(f); err != nil {
			return nil, err
		}
	}
	if w.Op == Clear {
		return j.cleared(f), nil
	}
	switch f.kind {
	case "dynamic_events", "kprobe_events", "uprobe_events", "synthetic_events":
		misleads, err = j.lines(f.kind, w.Text)
	default:
		misleads, err = j.value(f, w.Text)
	}
	if err != nil {
		return nil, err
	}
	if w.Op == Truncate {
		misleads = append(j.cleared(f), misleads...)
	}
	return misleads, nil
}

// cleared tells what an opening with '>' did.
func (j *Judge) cleared(f file) []string {
	switch what := madeBy[f.kind]; {
	case what != "":
		return []string{"'>' removes all " + what + " that were made first, others' too; '>>' does not"}
	case f.kind == "trigger":
		return []string{"'>' removes the event's other histograms first; '>>' does not"}
	}
	return nil
}

// lines carries out a write to dynamic_events or an older file of the kind: one
// command a line, up to the first that is refused.
func (j *Judge) lines(file, text string) (misleads []string, err error) {
	at := 0
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > command.MaxLine {
			return nil, no("EINVAL", "", "the line has %d bytes; the kernel takes %d", len(line), command.MaxLine)
		}
		code, _, _ := strings.Cut(line, "#")
		if strings.TrimSpace(code) != "" {
			found, err := j.dynamic(file, line)
			if err != nil {
				return nil, shifted(err, at)
			}
			misleads = append(misleads, found...)
		}
		at += len(line) + 1
	}
	return misleads, nil
}

// value carries out a write to a file that takes one command a write.
func (j *Judge) value(f file, text string) (misleads []string, err error) {
	if len(text) > command.MaxLine {
		return nil, no("EINVAL", "", "the line has %d bytes; the kernel takes %d", len(text), command.MaxLine)
	}
	if f.kind == "trigger" || f.kind == "filter" {
		text = strings.TrimRight(text, " \t\n\v\f\r")
	}
	switch f.kind {
	case "trigger":
		return j.trigger(f, text)
	case "filter":
		return j.filter(f, text)
	case "enable":
		return j.enable(f, text)
	}
	return nil, j.setting(f, text)
}

// no returns a Refusal: the errno, the kernel's words, and a reason.
func no(errno, kernel, reason string, args ...any) *Refusal {
	return &Refusal{Errno: errno, Kernel: kernel, Reason: sprintf(reason, args...)}
}

// near adds the candidate that is nearest to name.
func (r *Refusal) near(name string, candidates []string) *Refusal {
	r.Near, _ = diag.Near(name, candidates)
	return r
}

// at adds where text is in line, if it is there.
func (r *Refusal) at(line, text string) *Refusal {
	if i := strings.Index(line, text); text != "" && i >= 0 {
		r.Lo, r.Hi = i, i+len(text)
	}
	return r
}

// shifted moves the bytes that err tells of by n.
func shifted(err error, n int) error {
	var r *Refusal
	if errors.As(err, &r) && r.Hi > 0 {
		r.Lo += n
		r.Hi += n
	}
	return err
}

// syntax makes a Refusal of an error of command.Parse about text; nil of nil.
func syntax(err error, text string) error {
	var e *command.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		r := &Refusal{Errno: "EINVAL", Kernel: e.Kernel, Reason: e.Message + " at the end", Lo: len(text), Hi: len(text)}
		if e.Errno != "" {
			r.Errno = e.Errno
		}
		if found := strings.Fields(text[min(e.Offset, len(text)):]); len(found) > 0 {
			r.Reason = fmt.Sprintf("%s at '%s'", e.Message, found[0])
			r.Lo = strings.Index(text[e.Offset:], found[0]) + e.Offset
			r.Hi = r.Lo + len(found[0])
		}
		return r
	}
	return &Refusal{Errno: "EINVAL", Reason: err.Error()}
}
