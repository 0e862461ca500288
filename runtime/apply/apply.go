// Package apply carries out a plan on the machine, whole or not at all, and
// takes it back.
//
// It keeps what it must know for that in memory: a process that dies leaves
// what it applied behind. Read apply.go first, then errors.go for how a refusal
// of the kernel finds its way back into the script.
package apply

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/runtime/tracefs"
)

// Applied is a plan that is in force. Its method may be called once, by one
// goroutine.
type Applied struct {
	fs   *tracefs.FS
	plan *plan.Plan
	done []undo // of the writes that were done, in order
	made bool   // the instance was not there before
}

// undo is the write that takes a done one back.
type undo struct {
	write *plan.Write
	// held is what a file of one value held before; "" if the write's own Undo
	// says what takes it back.
	held string
}

// Apply does the writes of p in order. If one fails, or ctx ends between two,
// what was done is taken back in reverse order.
//
// A write that the kernel refuses is an *Error, in the tree of the error that is
// returned; what could then not be taken back stands beside it. If p goes to an
// instance that is not there, Apply makes it.
func Apply(ctx context.Context, f *tracefs.FS, p *plan.Plan) (*Applied, error) {
	a := &Applied{fs: f, plan: p}
	err := a.begin()
	if err == nil {
		err = a.write(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, a.Undo())
	}
	return a, nil
}

// begin makes the instance.
func (a *Applied) begin() error {
	instance := a.plan.Instance
	if instance == "" || a.fs.Exists(tracefs.In(instance, "")) {
		return nil
	}
	if err := a.fs.MakeInstance(instance); err != nil {
		return err
	}
	a.made = true
	return nil
}

// write does all writes.
func (a *Applied) write(ctx context.Context) error {
	logs := a.errorLogs()
	for i := range a.plan.Writes {
		w := &a.plan.Writes[i]
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("apply %s: %w", a.plan.Script.Name(), err)
		}
		u := undo{write: w.Undo}
		if w.Mode == plan.Truncate {
			u.held = a.held(w)
		}
		if err := a.do(w, w.Data); err != nil {
			return a.refused(w, err, logs)
		}
		if w.Undo != nil {
			a.done = append(a.done, u)
		}
	}
	return nil
}

// Undo takes back what was done, the last first, as if it had not been: also
// what files of one value held, and the instance if Apply made it. It goes on
// after an error, and returns all.
//
// Setting the clock back empties the buffer of the instance, and removing an
// event takes its records with it: read them first. Of two plans that set one
// file, as those do whose histograms keep times, undo the later first.
func (a *Applied) Undo() error {
	var errs []error
	for i := len(a.done) - 1; i >= 0; i-- {
		u := a.done[i]
		data := u.write.Data
		if u.held != "" {
			data = u.held
		}
		if err := a.do(u.write, data); err != nil {
			errs = append(errs, fmt.Errorf("take back: %w", err))
		}
	}
	a.done = nil
	if a.made {
		a.made = false
		return errors.Join(append(errs, a.fs.RemoveInstance(a.plan.Instance))...)
	}
	return errors.Join(errs...)
}

// do does one write, of data instead of w's own.
func (a *Applied) do(w *plan.Write, data string) error {
	mode := tracefs.Append
	if w.Mode == plan.Truncate {
		mode = tracefs.Truncate
	}
	return a.fs.Write(a.file(w), data, mode)
}

// file returns the path of w's file from the root of tracefs.
func (a *Applied) file(w *plan.Write) string {
	if w.Instanced {
		return tracefs.In(a.plan.Instance, w.File)
	}
	return w.File
}

// held returns what to write into w's file to have it as it is, "" if that is
// not known. The kernel shows "none" for no filter, of a choice the taken one in
// brackets, a '*' behind the value of an enable file for a trigger's doing, and a
// second line in a filter for its error.
func (a *Applied) held(w *plan.Write) string {
	text, err := a.fs.Read(a.file(w))
	if err != nil {
		return "" // the write will say
	}
	value := strings.TrimSuffix(strings.TrimSpace(string(text)), "*")
	if _, rest, ok := strings.Cut(value, "["); ok && path.Base(w.File) == "trace_clock" {
		value, _, _ = strings.Cut(rest, "]")
	}
	switch {
	case value == "none":
		return "0"
	case strings.Contains(value, "\n"):
		return ""
	}
	return value
}
