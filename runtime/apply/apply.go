// Package apply carries out a plan on the machine, whole or not at all, and
// takes it back.
//
// Each change is noted in a journal before it is done (runtime/journal), looked
// at when it is done, and undone in reverse order if a later one fails. What
// others have in the kernel is never changed.
//
// Read apply.go for the transaction, step.go and look.go for what a step is and
// what the kernel shows of it, free.go for what must not be in its way, undo.go
// for the way back, and errors.go and cause.go for how a refusal of the kernel
// finds its way back into the script.
package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/runtime/journal"
	"github.com/eptrace/ep/runtime/tracefs"
)

// Files reads and writes files of tracefs; *tracefs.FS does.
type Files interface {
	Read(name string) ([]byte, error)
	Write(name, data string, mode tracefs.Mode) error
	Exists(name string) bool
}

// Instances makes, removes and lists instances; *tracefs.FS does.
type Instances interface {
	MakeInstance(name string) error
	RemoveInstance(name string) error
	Instances() ([]string, error)
}

// Tracefs is all that is asked of a tracefs.
type Tracefs interface {
	Files
	Instances
}

// Transaction says with what plans are carried out. It may be used for several
// plans, one at a time.
type Transaction struct {
	FS Tracefs
	// Journal is where changes are noted; nil notes nothing.
	Journal *journal.Writer
	// Holder tells who holds an event, given as its folder, or a trigger, given
	// as its file and command: "'ep run openat.ep' (process 1234)"; "" if that
	// is not known. It may be nil.
	Holder func(file, data string) string
	// Now returns what a file of one value is set to where only the moment
	// tells, and else the data that it is given. It may be nil.
	Now func(file, data string) string
	// Root is the machine's root file system, to tell causes apart; nil does
	// not.
	Root fs.FS
}

// Applied is a plan that is in force, or what is left of one. Its methods are
// for one goroutine.
type Applied struct {
	t      *Transaction
	view   view
	script *source.Source // nil if no plan is at hand
	steps  []step
	states []journal.State
	first  int // the journal's number of steps[0]

	// Of an update: the folders of the instances that were made for the script,
	// where all settings are its own, and what files of one value that it holds
	// already held before it did.
	homes []string
	held  map[string]*string
}

// Apply does the writes of p in order, or nothing: if one fails, or ctx ends
// between two, what was done is taken back. It is [Transaction.Apply] without a
// journal: nothing tells of what a killed program leaves.
func Apply(ctx context.Context, f Tracefs, p *plan.Plan) (*Applied, error) {
	return (&Transaction{FS: f}).Apply(ctx, p)
}

// Apply does the writes of p in order. If one fails, or ctx ends between two,
// what was done is taken back in reverse order.
//
// A write that the kernel refuses, or carries out otherwise, is an *Error in the
// tree of the error that is returned; what could then not be taken back stands
// beside it. If p goes to an instance that is not there, Apply makes it.
func (t *Transaction) Apply(ctx context.Context, p *plan.Plan) (*Applied, error) {
	a := &Applied{t: t, view: view{fs: t.FS}, script: p.Script, steps: planSteps(p)}
	if err := a.prepare(); err != nil {
		return nil, err
	}
	if err := a.do(ctx); err != nil {
		return nil, errors.Join(err, a.Undo())
	}
	return a, nil
}

// prepare looks at the kernel before anything is changed: what is there already
// is left out, what is in the way is an error. Then it notes what will be done.
func (a *Applied) prepare() error {
	if len(a.steps) > 0 && a.steps[0].Kind == journal.Instance && a.t.FS.Exists(a.steps[0].File) {
		a.steps = a.steps[1:]
	}
	if err := a.free(); err != nil {
		return err
	}
	seen := map[string]bool{}
	kept := a.steps[:0]
	for _, s := range a.steps {
		if s.Kind == journal.Value || s.Kind == journal.Kept {
			again := seen[s.File] && s.Kind == journal.Value
			seen[s.File] = true
			skip, err := a.hold(&s, again)
			if err != nil {
				return err
			}
			if skip {
				continue
			}
		}
		kept = append(kept, s)
	}
	a.steps = kept
	a.states = make([]journal.State, len(kept))
	var list []journal.Step
	for _, s := range kept {
		list = append(list, s.Step)
	}
	return a.t.Journal.Plan(list)
}

// hold finds out what a file of one value holds, and whether that is what s
// wants. Where a plan sets a file more than once, the first step's undo takes
// all back.
func (a *Applied) hold(s *step, again bool) (skip bool, err error) {
	if again {
		s.Undo = nil
		return false, nil
	}
	text, err := a.t.FS.Read(s.File)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // it comes with an event or an instance that is to be made
	}
	if err != nil {
		return false, a.refused(s, err, nil)
	}
	if held, ok := a.held[s.File]; ok {
		s.Held = held
	} else if held, ok := heldIn(s.File, string(text)); ok {
		s.Held = &held
	}
	more := 0
	for i := range a.steps {
		if a.steps[i].File == s.File {
			more++
		}
	}
	return more == 1 && s.Kind == journal.Value && !changes(s.File) && sameValue(s.File, string(text), s.Data), nil
}

// do does all steps that are planned.
func (a *Applied) do(ctx context.Context) error {
	logs := a.errorLogs()
	for i := 0; i < len(a.steps); {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("apply %s: %w", a.script.Name(), err)
		}
		n := i + 1
		for a.steps[i].dynamic() && n < len(a.steps) && a.steps[n].dynamic() {
			n++
		}
		if err := a.doBatch(i, n, logs); err != nil {
			return err
		}
		i = n
	}
	return nil
}

// doBatch does the steps [lo, hi): one, or several that are for dynamic_events.
// Of these the kernel takes many lines in one write(2).
func (a *Applied) doBatch(lo, hi int, logs []tracefs.LogEntry) error {
	if err := a.begin(lo, hi); err != nil {
		return err
	}
	err := a.change(lo, hi)
	if err == nil {
		if err = a.verify(lo, hi); err != nil {
			return err
		}
		return a.done(lo, hi)
	}
	if hi-lo == 1 {
		return a.notDone(lo, err, logs)
	}
	// The lines before the bad one are carried out. Which that is, its own
	// write tells.
	a.view.stale()
	for i := lo; i < hi; i++ {
		there, lookErr := a.view.look(&a.steps[i])
		if lookErr != nil {
			return errors.Join(err, lookErr)
		}
		if there == Absent {
			if err := a.change(i, i+1); err != nil {
				return errors.Join(a.notDone(i, err, logs), a.undone(i+1, hi))
			}
		}
		if err := a.verify(i, i+1); err != nil {
			return err
		}
		if err := a.done(i, i+1); err != nil {
			return err
		}
	}
	return nil
}

// notDone takes in the failure of step i, and makes the error of it. What the
// kernel shows decides whether it was done nevertheless.
func (a *Applied) notDone(i int, cause error, logs []tracefs.LogEntry) error {
	err := a.refused(&a.steps[i], cause, logs)
	a.view.stale()
	if there, lookErr := a.view.look(&a.steps[i]); lookErr == nil && there != Present {
		return errors.Join(err, a.undone(i, i+1))
	}
	return err // Undo looks again
}

// change changes the kernel by the steps [lo, hi).
func (a *Applied) change(lo, hi int) error {
	s := &a.steps[lo]
	switch s.Kind {
	case journal.Instance:
		return a.t.FS.MakeInstance(setting(s.File))
	case journal.Kept:
		return nil
	case journal.Value:
		if a.t.Now != nil {
			s.Data = a.t.Now(s.File, s.Data)
		}
		if lo > 0 && a.steps[lo-1].File == s.File && a.steps[lo-1].Data == s.Data {
			return nil // it was so a moment ago
		}
		return a.t.FS.Write(s.File, s.Data, a.mode(lo))
	}
	data := s.Data
	if s.dynamic() {
		a.view.stale()
	}
	if hi-lo > 1 {
		var lines []string
		for i := lo; i < hi; i++ {
			lines = append(lines, a.steps[i].Data)
		}
		data = strings.Join(lines, "\n") + "\n"
	}
	return a.t.FS.Write(s.File, data, tracefs.Append)
}

// mode is how the file of one value of step i is written. A list of threads that
// is truncated is empty until it is written, and an empty one means every thread;
// so one that an earlier step has filled is added to.
func (a *Applied) mode(i int) tracefs.Mode {
	s := &a.steps[i]
	if s.Data == "" || !listsThreads(s.File) {
		return tracefs.Truncate
	}
	for k := range i {
		if a.steps[k].File == s.File && a.steps[k].Data != "" {
			return tracefs.Append
		}
	}
	return tracefs.Truncate
}

// verify demands that the kernel shows what it took: some take a part of a
// command, or other than it says. Steps that it shows otherwise are odd: what is
// there in their place is theirs, for it was not there before.
func (a *Applied) verify(lo, hi int) error {
	var first error
	for i := lo; i < hi; i++ {
		s := &a.steps[i]
		there, err := a.view.look(s)
		if err == nil && there == Present {
			continue
		}
		if err == nil {
			s.odd, err = true, errNotAsAsked
		}
		if first == nil {
			first = a.refused(s, err, nil)
		}
	}
	return first
}

// Steps returns the steps of a, with what was held, in order.
func (a *Applied) Steps() []journal.Step {
	var list []journal.Step
	for _, s := range a.steps {
		list = append(list, s.Step)
	}
	return list
}

// The journal: each returns its error, for what cannot be noted is not done.

func (a *Applied) begin(lo, hi int) error {
	if err := a.t.Journal.Begin(a.first+lo, a.first+hi); err != nil {
		return err
	}
	a.set(lo, hi, journal.Begun)
	return nil
}

func (a *Applied) done(lo, hi int) error {
	a.set(lo, hi, journal.Done)
	return a.t.Journal.Done(a.first+lo, a.first+hi)
}

func (a *Applied) undone(lo, hi int) error {
	a.set(lo, hi, journal.Undone)
	return a.t.Journal.Undone(a.first+lo, a.first+hi)
}

func (a *Applied) set(lo, hi int, to journal.State) {
	for i := lo; i < hi; i++ {
		a.states[i] = to
	}
}
