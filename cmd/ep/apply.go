package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/journal"
)

// installFlags are the flags of commands that install a script.
type installFlags struct {
	File     string       `arg:"" optional:"" help:"The script; '-' is standard input."`
	Expr     *string      `short:"e" name:"expr" placeholder:"SCRIPT" help:"The script itself, instead of a file."`
	Name     string       `placeholder:"NAME" help:"The name that it is installed under. Default: that of its file."`
	Set      []string     `sep:"none" placeholder:"NAME=VALUE" help:"Give a param of the script a value. May be repeated."`
	Instance instanceName `placeholder:"NAME" help:"Use this tracefs instance instead of one of its own, ep-NAME."`
	TopLevel bool         `help:"Record into the top-level buffer instead of an instance."`
}

// installation is a script on its way into the kernel.
type installation struct {
	m    *machine
	name string
	src  *source.Source
	plan *plan.Plan
	own  *journal.Journal // what is installed under the name; nil if nothing is

	unlock func() // lets others of ep change the kernel again
}

// prepare compiles the script; if writes is set, no other ep changes the kernel
// meanwhile. The returned installation must be unlocked, and its machine closed.
func (f *installFlags) prepare(env *Env, g *globals, writes bool) (*installation, error) {
	src, list, err := oneScript(env, f.File, f.Expr)
	if err != nil {
		return nil, err
	}
	set, err := (&scriptFlags{Set: f.Set}).params()
	if err != nil {
		return nil, err
	}
	if f.TopLevel && f.Instance != "" {
		return nil, usagef("want --instance or --top-level, got both")
	}
	in := &installation{name: f.Name, src: src}
	if in.name == "" {
		in.name = shortName(src.Name())
	}
	if !journal.ValidName(in.name) {
		return nil, usagef("--name '%s': want letters, digits, '_', '-' and '.'", in.name)
	}
	if err := g.printText(list); err != nil || list.HasErrors() {
		return nil, orScriptError(err)
	}
	if err := g.parses(src); err != nil {
		return nil, err
	}
	if in.m, err = openMachine(env, writes); err != nil {
		return nil, err
	}
	in.unlock = func() {}
	if writes {
		if in.unlock, err = in.m.lock(); err != nil {
			in.m.close()
			return nil, err
		}
	}
	if err := in.compile(g, f, set); err != nil {
		in.unlock()
		in.m.close()
		return nil, err
	}
	return in, nil
}

func (in *installation) compile(g *globals, f *installFlags, set map[string]string) error {
	instance := "ep-" + in.name
	if f.Instance != "" {
		instance = string(f.Instance)
	}
	if f.TopLevel {
		instance = ""
	}
	in.own = in.m.installed(in.name)
	p, list, err := in.m.compile(compilation{src: in.src, set: set, instance: instance, own: in.own}, "")
	if err != nil {
		return err
	}
	if err := g.printText(list); err != nil || p == nil {
		return orScriptError(err)
	}
	in.plan = p
	return nil
}

type applyCmd struct {
	installFlags
}

// Help implements kong.HelpProvider.
func (*applyCmd) Help() string {
	return `The script is installed under a name and stays, until 'ep remove' or the next boot. To apply it again does nothing if it is there as it was written, and else the least that makes it so: what is the same stays in force. If anything fails all is as it was before.

Examples:

    sudo ep apply openat.ep
    sudo ep apply --name slow --set min=10ms wakeup.ep
    sudo cat /sys/kernel/tracing/instances/ep-slow/trace_pipe
    sudo ep status
    sudo ep remove slow
`
}

// Run carries out the command.
func (c *applyCmd) Run(env *Env, g *globals) error {
	in, err := c.prepare(env, g, true)
	if err != nil {
		return err
	}
	defer in.m.close()
	defer in.unlock()
	in.m.offerClean()
	ctx, caught := catchSignals()
	if in.own == nil {
		err = in.install(ctx)
	} else {
		err = in.update(ctx)
	}
	if sig := caught(); sig != 0 && errors.Is(err, context.Canceled) {
		return exitError{code: 128 + int(sig)}
	}
	return g.failApply(err)
}

// journalID returns the name of the journal of an installation.
func journalID(name string) string { return "apply-" + name }

func (in *installation) install(ctx context.Context) error {
	w, err := in.m.dir.Create(journalID(in.name), in.m.head(journal.Install, in.name, in.src.Name(), in.plan))
	if err != nil {
		return err
	}
	t := in.m.transaction(w)
	a, err := t.Apply(ctx, in.plan)
	if err == nil {
		if err = w.Complete(true); err != nil {
			err = errors.Join(err, a.Undo())
		}
	}
	if err != nil {
		if !in.m.leftBy(w.ID()) {
			return errors.Join(err, w.Remove())
		}
		return errors.Join(err, w.Close(), errors.New("not all could be taken back; 'ep clean' tries again"))
	}
	fmt.Fprintf(in.m.env.Stderr, "ep: applied as '%s'%s\n", in.name, where(in.plan.Instance))
	return w.Close()
}

func (in *installation) update(ctx context.Context) error {
	w, err := in.m.dir.Append(in.own.ID)
	if err != nil {
		return err
	}
	defer w.Close()
	t := in.m.transaction(w)
	d, err := t.Compare(in.own, in.plan)
	if err != nil {
		return err
	}
	if d.None() && in.own.Complete {
		fmt.Fprintf(in.m.env.Stderr, "ep: '%s' is there as it is written\n", in.name)
		return nil
	}
	if err := w.Complete(false); err != nil {
		return err
	}
	d, err = t.Update(ctx, in.own, in.plan)
	if err != nil {
		if in.own.Complete {
			err = errors.Join(err, w.Complete(true)) // it is as it was
		}
		return err
	}
	fmt.Fprintf(in.m.env.Stderr, "ep: '%s': %s taken back, %s made\n", in.name, count(uint64(len(d.Remove)), "command"), count(uint64(len(d.Add)), "command"))
	return w.Complete(true)
}

// where says where records go.
func where(instance string) string {
	if instance == "" {
		return ""
	}
	return "; records are in instances/" + instance + "/trace"
}

type planCmd struct {
	installFlags
}

// Help implements kong.HelpProvider.
func (*planCmd) Help() string {
	return `What 'ep apply' would do to the machine as it is now: '-' is taken back, '+' is made, and '!' is made again, since it was there and is not any more. Nothing is changed. The exit code is 0 if there is nothing to be done, and 2 if there is; it is 4, with the reason, if others have something that is in the way.

Examples:

    sudo ep plan openat.ep
    sudo ep plan --name slow --set min=5ms wakeup.ep
`
}

// Run carries out the command.
func (c *planCmd) Run(env *Env, g *globals) error {
	in, err := c.prepare(env, g, false)
	if err != nil {
		return err
	}
	defer in.m.close()
	t := in.m.transaction(nil)
	d, err := t.Compare(in.own, in.plan)
	if err != nil {
		return exitError{exitMachine, err}
	}
	if d.None() {
		return nil
	}
	if err := printDifference(env.Stdout, d); err != nil {
		return fmt.Errorf("write standard output: %w", err)
	}
	if in.own == nil {
		if err := t.Free(in.plan); err != nil {
			return g.failApply(err) // apply would say it too
		}
	}
	return exitError{code: exitChanges}
}

func printDifference(w io.Writer, d *apply.Difference) error {
	lost := map[string]bool{}
	for _, s := range d.Lost {
		lost[s.File+"\n"+s.Data] = true
	}
	for _, s := range d.Remove {
		if _, err := fmt.Fprintf(w, "- %s\n", stepLine(s)); err != nil {
			return err
		}
	}
	for _, s := range d.Add {
		mark := "+"
		if lost[s.File+"\n"+s.Data] {
			mark = "!"
		}
		if _, err := fmt.Fprintf(w, "%s %s\n", mark, stepLine(s)); err != nil {
			return err
		}
	}
	return nil
}

// stepLine shows a step in a line.
func stepLine(s journal.Step) string {
	switch {
	case s.Kind == journal.Instance:
		return s.File
	case s.Kind == journal.Kept:
		return s.File + ": (put back when the script is removed)"
	case s.Data == "":
		return s.File + ": (empty)"
	}
	return s.File + ": " + s.Data
}
