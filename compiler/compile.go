// Package compiler turns an ep script into a plan of writes to tracefs for one
// target kernel.
//
// Compile is the one entry that most callers need. The package and all below
// it are pure: no files, no clock, no output; what a script may know of a
// machine comes in as a target.Target.
//
// From a script to its records, the packages are: lang/source (the text),
// compiler/target (the kernel, live, saved or embedded), this one, compiler/plan
// (what came of it), compiler/emit (as lines, a shell script, JSON), and on the
// machine runtime/tracefs, runtime/apply, runtime/events and runtime/hist, or
// runtime/session for all of these as one call. The program in testdata/outside
// goes the whole way.
package compiler

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/eptrace/ep/compiler/check"
	"github.com/eptrace/ep/compiler/judge"
	"github.com/eptrace/ep/compiler/lower"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/stdlib"
)

// Options are what a caller may say besides the script.
type Options struct {
	// Set gives params values, as `--set name=value` does. The text is an
	// expression of the language, or what a record shows of such a value; of a
	// string param it is the string.
	Set map[string]string
	// Instance is the tracefs instance to compile for, if the script's own
	// `option instance` does not say; "" is the top level.
	Instance string
	// Suffix is added to the names of all events and shared histograms that the
	// script makes in the kernel, so that it can run beside itself: "_2". What
	// the script calls them, also in the plan's streams, stays.
	Suffix string
	// Import returns the text of a module that the script imports by a path
	// that does not begin with "std/", or an error that is fs.ErrNotExist. nil:
	// only ep's own modules can be imported.
	Import func(path string) (*source.Source, error)
}

// Compile checks src against t and returns the plan that carries it out there.
//
// The plan is nil exactly if the list has an error. The list is sorted and
// holds warnings too. Compile may be called from several goroutines.
func Compile(src *source.Source, t *target.Target, opts Options) (*plan.Plan, diag.List) {
	script, list := syntax.Parse(src)
	if list.HasErrors() {
		return nil, list
	}
	prog, found := check.Check(script, t, check.Options{Set: opts.Set, Instance: opts.Instance, Import: opts.modules})
	list = append(list, found...)
	if list.HasErrors() {
		return nil, list.Sort()
	}
	prog.Options.Suffix = opts.Suffix
	p, found := lower.Lower(prog, t)
	list = append(list, found...).Sort()
	if list.HasErrors() {
		return nil, list
	}
	if err := judge.Plan(p, t); err != nil {
		return nil, append(list, planRefused(src, p, err)).Sort()
	}
	return p, list
}

// planRefused tells of a bug of ep: p has a write that the target would refuse.
func planRefused(src *source.Source, p *plan.Plan, err error) diag.Diagnostic {
	d := diag.Diagnostic{
		Severity: diag.Error,
		Code:     diag.PlanRefused,
		Source:   src,
		Message:  fmt.Sprintf("internal error: ep made a plan that kernel '%s' would refuse", p.Target),
	}
	var refused *judge.PlanError
	if errors.As(err, &refused) {
		if o := refused.Write.Origin; len(o) > 0 {
			d.Span = o[0].Span
		}
		doing := "the write"
		if refused.Undoing {
			doing = "undoing"
		}
		d.Notes = append(d.Notes, diag.Note{Message: fmt.Sprintf("%s '%s' to %s: %v", doing, refused.Write.Data, refused.Write.File, refused.Refusal)})
	}
	d.Notes = append(d.Notes, diag.Note{Message: "this is a mistake of ep, not of the script: please report it with the script"})
	return d
}

// modules finds the text of a module: ep's own, which are embedded, or the
// caller's.
func (o Options) modules(path string) (*source.Source, error) {
	if text, ok := stdlib.Module(path); ok {
		return source.New(path, text)
	}
	if o.Import == nil || strings.HasPrefix(path, stdlib.Prefix) {
		return nil, fs.ErrNotExist
	}
	return o.Import(path)
}
