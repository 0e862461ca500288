package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
)

type targetCmd struct {
	Save targetSaveCmd `cmd:"" help:"Save this machine's kernel as a target, in one file."`
	List targetListCmd `cmd:"" help:"List the targets that ep carries with it, and this machine."`
	Show targetShowCmd `cmd:"" help:"Show what is known of a target, or one of its events."`
}

type targetListCmd struct{}

// Run carries out the command.
func (*targetListCmd) Run(env *Env) error {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	for _, name := range target.EmbeddedNames() {
		t, err := target.Embedded(name)
		if err != nil {
			return exitError{exitMachine, err}
		}
		note := ""
		if name == target.DefaultName {
			note = "the default"
		}
		listRow(w, name, t, note)
	}
	if t, err := openLive(env); err == nil {
		listRow(w, live, t, "this machine")
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return writeOutput(env, "", trimLines(out.Bytes()))
}

func listRow(w io.Writer, name string, t *target.Target, note string) {
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", name, t.Release(), t.Arch(), note)
}

// trimLines returns text without blanks at the ends of lines.
func trimLines(text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i, l := range lines {
		if bytes.HasSuffix(l, []byte("\n")) {
			lines[i] = append(bytes.TrimRight(l, " \t\n"), '\n')
		}
	}
	return bytes.Join(lines, nil)
}

type targetShowCmd struct {
	Name  string `arg:"" optional:"" complete:"targets" help:"The target, as for --target. Default: live where tracefs can be read, else ${default_target}."`
	Event string `arg:"" optional:"" complete:"events" help:"An event, SYSTEM.NAME: show its fields with their types instead."`
}

// Help implements kong.HelpProvider.
func (*targetShowCmd) Help() string {
	return `Examples:

    ep target show
    ep target show 6.12-arm64
    ep target show 6.17-x86_64 sched.sched_switch
`
}

// Run carries out the command.
func (c *targetShowCmd) Run(env *Env, g *globals) error {
	t, err := g.chooseTarget(c.Name)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	if c.Event != "" {
		err = showEvent(w, t, c.Event)
	} else {
		err = showTarget(w, t)
	}
	if err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return writeOutput(env, "", trimLines(out.Bytes()))
}

// showEvent prints an event's fields: name, type in a script, place, and the
// type as the kernel writes it.
func showEvent(w io.Writer, t *target.Target, name string) error {
	system, event, ok := strings.Cut(name, ".")
	if !ok {
		system, event, ok = strings.Cut(name, "/")
	}
	if !ok {
		return usagef("want an event as SYSTEM.NAME, got '%s'%s", name, systemsNote(t, name))
	}
	f, err := t.Format(system, event)
	if errors.Is(err, target.ErrNotFound) {
		return exitError{exitScript, fmt.Errorf("target '%s' has no event '%s.%s'%s", t.Name(), system, event, nearEvent(t, system, event))}
	}
	if err != nil {
		return exitError{exitMachine, err}
	}
	fmt.Fprintf(w, "%s.%s, id %d\n", f.System, f.Name, f.ID)
	for _, d := range f.Fields {
		fmt.Fprintf(w, "  %s\t%s\toffset %d\tsize %d\t%s\n", d.Name, d.Type, d.Offset, d.Size, d.Decl)
	}
	return nil
}

// systemsNote says which systems have an event of this bare name.
func systemsNote(t *target.Target, name string) string {
	systems := t.EventNamed(name)
	if len(systems) == 0 {
		return ""
	}
	for i := range systems {
		systems[i] = "'" + systems[i] + "." + name + "'"
	}
	return "; there is " + strings.Join(systems, ", ")
}

// nearEvent suggests the event that was meant, first of the same system.
func nearEvent(t *target.Target, system, event string) string {
	events, err := t.Events(system)
	if err == nil {
		if near, ok := diag.Near(event, events); ok {
			return fmt.Sprintf("; did you mean '%s.%s'?", system, near)
		}
		return systemsNote(t, event)
	}
	if systems, err := t.Systems(); err == nil {
		if near, ok := diag.Near(system, systems); ok && t.HasEvent(near, event) {
			return fmt.Sprintf("; did you mean '%s.%s'?", near, event)
		}
	}
	return systemsNote(t, event)
}

// showTarget prints what a target is and what its kernel can do.
func showTarget(w io.Writer, t *target.Target) error {
	release, arch := t.Release(), string(t.Arch())
	if release == "" {
		release = "unknown"
	}
	if arch == "" {
		arch = "unknown"
	}
	fmt.Fprintf(w, "name\t%s\nrelease\t%s\nversion\t%s\narch\t%s\n", t.Name(), release, t.Version(), arch)
	fmt.Fprint(w, "\nfeatures\n")
	for _, f := range target.Features() {
		showFeature(w, t, f)
	}
	fmt.Fprint(w, "\nquirks\n")
	for _, f := range target.Quirks() {
		showFeature(w, t, f)
	}
	return nil
}

func showFeature(w io.Writer, t *target.Target, f target.Feature) {
	has := "no"
	if t.Has(f) {
		has = "yes"
	}
	fmt.Fprintf(w, "  %s\t%s\t%s\n", has, strings.TrimPrefix(string(f), "quirk: "), target.Basis(f))
}
