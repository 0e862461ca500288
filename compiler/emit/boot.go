package emit

import (
	"slices"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// refusals collects what of a plan a form for a booting kernel cannot say.
type refusals struct {
	p    *plan.Plan
	list diag.List
}

// refuse adds an error, unless its place has one: what else does not fit there
// follows from the same statement.
func (r *refusals) refuse(sp source.Span, message, help string) {
	if slices.ContainsFunc(r.list, func(d diag.Diagnostic) bool { return sp.Valid() && d.Span == sp }) {
		return
	}
	d := diag.Diagnostic{Severity: diag.Error, Code: diag.NotAtBoot, Source: r.p.Script, Span: sp, Message: message}
	d.Notes = append(d.Notes, diag.Note{Span: source.NoSpan, Message: help})
	r.list = append(r.list, d)
}

// running refuses a command that only a running kernel takes.
func (r *refusals) running(sp source.Span) {
	r.refuse(sp, "a booting kernel cannot do this", "compile the plan for target.Target.AtBoot")
}

// parsed returns a write of a plan with its command and its place in the script.
func parsed(w *plan.Write) (*plan.Write, command.Command, source.Span) {
	sp := source.NoSpan
	if len(w.Origin) > 0 {
		sp = w.Origin[0].Span
	}
	c, err := command.Parse(w.File, w.Data)
	if err != nil {
		panic("internal error: a plan holds a write that is not a command: " + err.Error())
	}
	return w, c, sp
}

// overwriteWord is the trace option that a value of options/overwrite sets.
func overwriteWord(value string) string {
	if value == "0" {
		return "nooverwrite"
	}
	return "overwrite"
}
