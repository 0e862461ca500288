package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/emit"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
)

type explainCmd struct {
	scriptFlags
	What string  `arg:"" optional:"" name:"file-or-code" complete:"codes" help:"A script, '-' for standard input; or the code of an error, such as unknown-field."`
	Expr *string `short:"e" name:"expr" placeholder:"SCRIPT" complete:"script" help:"The script itself, instead of a file."`
	JSON bool    `name:"json" help:"Print one JSON object instead of text."`
}

// Help implements kong.HelpProvider.
func (*explainCmd) Help() string {
	return `Of a script, each statement is shown with the commands that it becomes on the target, numbered in the order in which they are done, and with why the kernel is asked in that way. Of a code, what it means, with an example of it, wrong and right.

Examples:

    ep explain openat.ep
    ep explain --target 6.1-x86_64 openat.ep
    ep explain -e 'hist sched.sched_switch by next_pid'
    ep explain unknown-field
`
}

// Run carries out the command.
func (c *explainCmd) Run(env *Env, g *globals) error {
	if c.Expr == nil && c.What != "" {
		if text, ok := diag.Explain(diag.Code(strings.Trim(c.What, "[]"))); ok {
			return c.code(env, strings.Trim(c.What, "[]"), text)
		}
		if err := meantCode(c.What); err != nil {
			return err
		}
	}
	src, list, err := oneScript(env, c.What, c.Expr)
	if err != nil {
		return err
	}
	set, err := c.params()
	if err != nil {
		return err
	}
	if err := g.printText(list); err != nil || list.HasErrors() {
		return orScriptError(err)
	}
	t, err := g.chooseTarget(c.Target)
	if err != nil {
		return err
	}
	p, list := compiler.Compile(src, t, compiler.Options{Set: set, Import: modulesOf(src.Name())})
	if err := g.printText(list); err != nil || list.HasErrors() {
		return orScriptError(err)
	}
	e := explain(src, p)
	var out bytes.Buffer
	if c.JSON {
		err = printJSON(&out, e)
	} else {
		e.print(&out, p)
	}
	if err != nil {
		return fmt.Errorf("print the explanation: %w", err)
	}
	return writeOutput(env, "", out.Bytes())
}

// meantCode returns the error of a word that is no script and is like a code.
func meantCode(word string) error {
	if strings.ContainsAny(word, "./") || word == stdin {
		return nil
	}
	if _, err := os.Stat(word); err == nil {
		return nil
	}
	var codes []string
	for _, c := range diag.Codes() {
		codes = append(codes, string(c))
	}
	if near, ok := diag.Near(word, codes); ok {
		return exitError{exitScript, fmt.Errorf("no script or code '%s'; did you mean '%s'?", word, near)}
	}
	return nil
}

// code explains a code.
func (c *explainCmd) code(env *Env, code, text string) error {
	var out bytes.Buffer
	if c.JSON {
		if err := printJSON(&out, struct {
			Version int    `json:"version"`
			Code    string `json:"code"`
			Text    string `json:"text"`
		}{1, code, text}); err != nil {
			return fmt.Errorf("print the explanation: %w", err)
		}
		return writeOutput(env, "", out.Bytes())
	}
	out.WriteString(code + "\n")
	for part := range strings.SplitSeq(text, "\n\n") {
		out.WriteString("\n" + paragraph(part))
	}
	return writeOutput(env, "", out.Bytes())
}

// explainWidth is where the text of a code is broken into lines.
const explainWidth = 80

// paragraph sets a paragraph of a code's text anew: its lines are those of a
// comment. Examples, which begin with a tab, stay as they are.
func paragraph(text string) string {
	if strings.HasPrefix(text, "\t") {
		return strings.ReplaceAll("\n"+text, "\n\t", "\n    ")[1:] + "\n"
	}
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case column == 0:
		case column+1+len(word) > explainWidth:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String() + "\n"
}

// printJSON prints v as all commands print JSON.
func printJSON(out *bytes.Buffer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// explanation is what `ep explain --json` prints. docs/json.md describes it.
type explanation struct {
	Version    int         `json:"version"`
	Script     string      `json:"script"`
	Target     string      `json:"target"`
	About      string      `json:"about,omitempty"` // the comment that the script begins with
	Statements []statement `json:"statements"`
}

// statement is one statement with the writes that it became. The last of an
// explanation may have no text: its writes are of no statement alone.
type statement struct {
	Line    int         `json:"line,omitempty"`
	EndLine int         `json:"endLine,omitempty"`
	Comment string      `json:"comment,omitempty"` // what stands above it
	Text    string      `json:"text,omitempty"`
	Writes  []explained `json:"writes"`

	span source.Span
	idle string // why it has no writes, if it has none
}

type explained struct {
	Step int    `json:"step"` // from 1, in the order of the plan
	File string `json:"file"`
	Data string `json:"data"`
	Mode string `json:"mode"`
	Why  string `json:"why"`
}

// explain ties the writes of a plan to the statements of its script: those that
// hold the place which a write came from first.
func explain(src *source.Source, p *plan.Plan) explanation {
	e := explanation{Version: 1, Script: src.Name(), Target: p.Target, About: about(src)}
	tree, _ := syntax.Parse(src)
	for _, item := range tree.Items {
		from, to := src.Position(item.Span().Start), src.Position(item.Span().End)
		e.Statements = append(e.Statements, statement{
			Line: from.Line, EndLine: to.Line, Comment: aboutLine(src, from.Line), Text: src.Text()[item.Span().Start:item.Span().End],
			Writes: []explained{}, span: item.Span(), idle: idle(item),
		})
	}
	rest := statement{Writes: []explained{}}
	for i := range p.Writes {
		w := &p.Writes[i]
		x := explained{Step: i + 1, File: emit.File(p, w), Data: w.Data, Mode: "append", Why: w.Why}
		if w.Mode == plan.Truncate {
			x.Mode = "truncate"
		}
		at := &rest
		for k := range e.Statements {
			if len(w.Origin) > 0 && e.Statements[k].span.Contains(w.Origin[0].Span) {
				at = &e.Statements[k]
			}
		}
		at.Writes = append(at.Writes, x)
	}
	if len(rest.Writes) > 0 {
		e.Statements = append(e.Statements, rest)
	}
	return e
}

// idle says why a statement may have no writes of its own.
func idle(item syntax.Item) string {
	switch item.(type) {
	case *syntax.Param, *syntax.Const, *syntax.Import, *syntax.Option:
		return "no command of its own: it is part of what uses it"
	case *syntax.Trace:
		return "no command of its own: the event is on already, or waits for an 'on' to start it"
	}
	return "no command: nothing of it can happen or is wanted"
}

// print prints the explanation for a person: the statement, then the commands
// below it, each with its reason.
func (e explanation) print(b *bytes.Buffer, p *plan.Plan) {
	if p.Instance != "" {
		fmt.Fprintf(b, "In the instance '%s', which is made before and removed after.\n\n", p.Instance)
	}
	if e.About != "" {
		b.WriteString(commented(e.About) + "\n")
	}
	for i, s := range e.Statements {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(commented(s.Comment))
		for line := range strings.Lines(s.Text) {
			b.WriteString(strings.TrimRight(line, "\n") + "\n")
		}
		if s.Text == "" {
			b.WriteString("# for several statements\n")
		}
		if len(s.Writes) == 0 {
			b.WriteString("    " + s.idle + "\n")
		}
		for _, w := range s.Writes {
			fmt.Fprintf(b, "%3d %s\n      # %s\n", w.Step, emit.Line(p, &p.Writes[w.Step-1]), w.Why)
		}
	}
}

// commented makes lines of comment of text.
func commented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
	}
	return b.String()
}
