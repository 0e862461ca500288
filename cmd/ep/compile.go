package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/emit"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
)

// scriptFlags are the flags of commands that compile a script.
type scriptFlags struct {
	Target string   `placeholder:"TARGET" complete:"targets" help:"The kernel to compile for: a name of 'ep target list', a file of 'ep target save', a folder, or 'live'. Default: live where tracefs can be read, else ${default_target}."`
	Set    []string `sep:"none" placeholder:"NAME=VALUE" help:"Give a param of the script a value. May be repeated."`
}

// params returns the values that --set gives.
func (f *scriptFlags) params() (map[string]string, error) {
	set := map[string]string{}
	for _, s := range f.Set {
		name, value, ok := strings.Cut(s, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, usagef("--set wants NAME=VALUE, got '%s'", s)
		}
		if _, twice := set[name]; twice {
			return nil, usagef("--set gives '%s' two values", name)
		}
		set[name] = value
	}
	return set, nil
}

type compileCmd struct {
	scriptFlags
	File     string       `arg:"" optional:"" complete:"files" help:"The script; '-' is standard input."`
	Expr     *string      `short:"e" name:"expr" placeholder:"SCRIPT" complete:"script" help:"The script itself, instead of a file."`
	As       string       `enum:"echo,sh,bootconfig,cmdline,json" default:"echo" placeholder:"FORM" help:"Print shell lines (echo), a shell script that starts, stops and undoes on failure by itself (sh), what makes a kernel trace while it boots: a bootconfig or parameters of its command line (cmdline), or the whole plan (json)."`
	Undo     bool         `help:"Print the lines that take everything back instead."`
	Output   string       `short:"o" placeholder:"FILE" complete:"files" help:"Write to FILE instead of standard output."`
	Instance instanceName `placeholder:"NAME" help:"Compile for this tracefs instance, if the script does not name one."`
}

// Help implements kong.HelpProvider.
func (*compileCmd) Help() string {
	return `The lines are for a POSIX shell in the root of tracefs, most often /sys/kernel/tracing. Nothing is written there by this command.

Examples:

    ep compile openat.ep
    ep compile --target 6.12-arm64 --set min=1ms wakeup.ep
    ep compile -e 'trace sched.sched_process_exec { filename, pid }'
    ep compile --as sh -o openat.sh openat.ep
    ep compile --as json -o plan.json openat.ep
    ep compile --undo openat.ep | sudo sh -c 'cd /sys/kernel/tracing && sh -e'
`
}

// Run carries out the command.
func (c *compileCmd) Run(env *Env, g *globals) error {
	src, list, err := oneScript(env, c.File, c.Expr)
	if err != nil {
		return err
	}
	set, err := c.params()
	if err != nil {
		return err
	}
	if c.Undo && c.As != "echo" {
		return usagef("--undo prints shell lines; what --as %s prints holds what undoes each write", c.As)
	}
	if err := g.printText(list); err != nil || list.HasErrors() {
		return orScriptError(err)
	}
	t, err := g.chooseTarget(c.Target)
	if err != nil {
		return err
	}
	form, atBoot := bootForms[c.As]
	if atBoot {
		t = t.AtBoot()
	}
	p, list := compiler.Compile(src, t, compiler.Options{Set: set, Instance: string(c.Instance), Import: modulesOf(src.Name())})
	if err := g.printText(list); err != nil || list.HasErrors() {
		return orScriptError(err)
	}
	var out bytes.Buffer
	switch {
	case c.As == "json":
		err = emit.JSON(&out, p)
	case c.As == "sh":
		err = emit.Sh(&out, p, emit.Machine{Release: t.Release(), Arch: t.Arch()})
	case atBoot:
		if on, known := t.Config(form.config); known && !on {
			g.notef("ep: note: the target's kernel is built without %s\n", form.config)
		}
		if list, err = form.print(&out, p, t); len(list) > 0 {
			return orScriptError(g.printText(list))
		}
	case c.Undo:
		err = emit.Undo(&out, p)
	default:
		err = emit.Echo(&out, p)
	}
	if err != nil {
		return fmt.Errorf("print the plan: %w", err)
	}
	return writeOutput(env, c.Output, out.Bytes())
}

// bootForms are the forms of a plan that a kernel carries out while it boots, with
// the option that it must be built with.
var bootForms = map[string]struct {
	config string
	print  func(io.Writer, *plan.Plan, *target.Target) (diag.List, error)
}{
	"bootconfig": {"CONFIG_BOOTTIME_TRACING", func(w io.Writer, p *plan.Plan, _ *target.Target) (diag.List, error) {
		return emit.Bootconfig(w, p)
	}},
	"cmdline": {"CONFIG_TRACING", emit.Cmdline},
}

// orScriptError returns err or, if it is nil, the end of a command whose
// script has errors that have been printed.
func orScriptError(err error) error {
	if err != nil {
		return err
	}
	return exitError{code: exitScript}
}
