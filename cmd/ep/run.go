package main

import (
	"errors"
	"fmt"

	"github.com/alecthomas/kong"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/runtime/events"
)

// The exit codes. docs/cli.md documents them.
const (
	exitOK       = 0
	exitScript   = 1  // a script has errors or cannot be read
	exitChanges  = 2  // plan: apply would change something
	exitFindings = 3  // fmt --check and -d: a script is not in the one style
	exitMachine  = 4  // the kernel or the system refused
	exitLost     = 5  // run --strict-loss: records were lost
	exitUsage    = 80 // the command line is wrong
)

// exitCodes tells them to the manual page.
var exitCodes = []struct {
	code    int
	meaning string
}{
	{exitOK, "All is well; there may be warnings."},
	{exitScript, "A script has errors or cannot be read, or what was asked for is not there."},
	{exitChanges, "Changes: plan says that apply would change something."},
	{exitFindings, "Findings: fmt --check or -d would change a file; status says that something is not as it was written."},
	{exitMachine, "The machine said no: tracefs or a target cannot be read, a file cannot be written, nothing can be traced."},
	{exitLost, "Records were lost, and run --strict-loss was asked for."},
	{exitUsage, "The command line is wrong."},
}

// cli is the command line.
type cli struct {
	Color       string        `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Colour of errors: auto, always or never. NO_COLOR is obeyed."`
	ShowVersion versionFlag   `name:"version" help:"Print the version and exit."`
	Run         runCmd        `cmd:"" help:"Run a script: print what it traces, and take everything back."`
	Apply       applyCmd      `cmd:"" help:"Install a script, and leave it."`
	Plan        planCmd       `cmd:"" help:"Show what apply would change. The exit code is 2 if there is something."`
	Status      statusCmd     `cmd:"" help:"Show what ep has in the kernel, and whether it is as it was written."`
	Remove      removeCmd     `cmd:"" help:"Take installed scripts back."`
	Clean       cleanCmd      `cmd:"" help:"Take back what killed runs left."`
	Compile     compileCmd    `cmd:"" help:"Print what a script compiles to."`
	Check       checkCmd      `cmd:"" help:"Print all errors and warnings of scripts."`
	Fmt         fmtCmd        `cmd:"" help:"Format scripts in the one style."`
	Explain     explainCmd    `cmd:"" help:"Explain what a script becomes and why, or the code of an error."`
	List        listCmd       `cmd:"" help:"List what can be traced: events, system calls, functions, tracepoints."`
	Doctor      doctorCmd     `cmd:"" help:"Say what this machine lets be traced, what is lacking, and what others left."`
	Target      targetCmd     `cmd:"" help:"Save, list and show targets: the kernels that scripts are compiled for."`
	Completion  completionCmd `cmd:"" help:"Print a script that completes ep's command line in a shell."`
	Complete    completeCmd   `cmd:"" hidden:""`
	Man         manCmd        `cmd:"" hidden:""`
	Version     versionCmd    `cmd:"" help:"Print the version."`
}

// exitError ends a command with a code. A nil err says that all has been
// printed already.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e exitError) Unwrap() error { return e.err }

// usagef returns the error of a wrong command line.
func usagef(format string, args ...any) error {
	return exitError{exitUsage, fmt.Errorf(format, args...)}
}

// run carries out one command line and returns the exit code.
func run(args []string, env Env) int {
	var endOut, endErr func()
	env.Stdout, endOut = onScreen(env.Stdout)
	env.Stderr, endErr = onScreen(env.Stderr)
	defer endOut()
	defer endErr()
	var c cli
	done := false // help or the version has been printed
	options := []kong.Option{
		kong.Name("ep"),
		kong.Description("A small typed language for Linux tracing: a script says which events to derive, ep says which tracefs commands make them."),
		kong.Vars{"default_target": target.DefaultName},
		kong.Writers(env.Stdout, env.Stderr),
		kong.Exit(func(int) { done = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	}
	code := exitOK
	if len(args) == 0 {
		args, code = []string{"--help"}, exitUsage
		options = append(options, kong.Writers(env.Stderr, env.Stderr))
	}
	k, err := kong.New(&c, options...)
	if err != nil {
		panic("internal error: " + err.Error())
	}
	ctx, err := k.Parse(args)
	if done {
		return code
	}
	if err != nil {
		return fail(env, usageError(err))
	}
	return fail(env, ctx.Run(&env, &globals{env: &env, color: c.Color}, k.Model))
}

// globals are the flags that all commands share.
type globals struct {
	env   *Env
	color string
	quiet bool // the default target is not named
}

// usageError adds to a wrong command line where to read more.
func usageError(err error) error {
	help := "ep --help"
	var p *kong.ParseError
	if errors.As(err, &p) && p.Context != nil {
		if n := p.Context.Selected(); n != nil {
			help = n.FullPath() + " --help"
		}
	}
	return usagef("%w\nRun '%s' for usage.", err, help)
}

// fail prints err, if there is anything to print, and returns its exit code.
func fail(env Env, err error) int {
	if err == nil {
		return exitOK
	}
	code := exitMachine
	var e exitError
	if errors.As(err, &e) {
		code = e.code
		if e.err == nil {
			return code
		}
	}
	fmt.Fprintf(env.Stderr, "ep: error: %s\n", events.PlainLines(err.Error()))
	return code
}
