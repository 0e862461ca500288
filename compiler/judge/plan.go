package judge

import (
	"fmt"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
)

// PlanError is a write of a plan that the kernel would refuse, or one that does
// not undo what it should.
type PlanError struct {
	Write   plan.Write
	Undoing bool // it is the undo of a write
	Refusal *Refusal
}

// Error says which write is refused and why.
func (e *PlanError) Error() string {
	return fmt.Sprintf("%s <- %s: %v", e.Write.File, e.Write.Data, e.Refusal)
}

// Plan carries out p's writes, then their undoing, as t's kernel would, from a
// tracefs in which p's events are not there yet. The error, if there is one, is
// a *PlanError of the first write that is refused.
func Plan(p *plan.Plan, t *target.Target) error {
	j := New(t)
	j.quiet = true
	j.absent = map[name]bool{}
	for _, w := range p.Writes {
		if c, err := command.Parse(w.File, w.Data); err == nil {
			if n, ok := makes(c); ok {
				j.absent[n] = true
			}
		}
	}
	prefix := ""
	if p.Instance != "" {
		prefix = "instances/" + p.Instance + "/"
		j.Write(Write{Op: Mkdir, File: "instances/" + p.Instance})
	}
	for _, w := range p.Writes {
		if err := j.planned(w, prefix); err != nil {
			return &PlanError{Write: w, Refusal: err}
		}
	}
	for i := len(p.Writes) - 1; i >= 0; i-- {
		if u := p.Writes[i].Undo; u != nil {
			if err := j.planned(*u, prefix); err != nil {
				return &PlanError{Write: *u, Undoing: true, Refusal: err}
			}
		}
		for _, r := range p.Writes[i].Restore {
			if err := j.planned(r, prefix); err != nil {
				return &PlanError{Write: r, Undoing: true, Refusal: err}
			}
		}
	}
	for _, e := range j.made.list() {
		return &PlanError{Undoing: true, Refusal: no("", "", "nothing removes %s", e.name)}
	}
	return nil
}

// planned carries out one write of a plan.
func (j *Judge) planned(w plan.Write, prefix string) *Refusal {
	op := Append
	if w.Mode == plan.Truncate {
		op = Truncate
	}
	if w.Instanced {
		w.File = prefix + w.File
	}
	v := j.Write(Write{Op: op, File: w.File, Text: w.Data})
	return v.Refusal
}

// makes returns the event that a command makes.
func makes(c command.Command) (name, bool) {
	n, ok := command.Made(c)
	return name{n.Group, n.Name}, ok
}
