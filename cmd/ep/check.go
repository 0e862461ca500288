package main

import (
	"fmt"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/lang/diag"
)

type checkCmd struct {
	scriptFlags
	Files  []string `arg:"" optional:"" name:"file" complete:"files" help:"The scripts; '-' is standard input."`
	Expr   *string  `short:"e" name:"expr" placeholder:"SCRIPT" complete:"script" help:"The script itself, instead of files."`
	Writes string   `name:"writes" placeholder:"FILE" complete:"files" help:"Judge writes to tracefs instead of scripts: lines of a shell script, or 'FILE <- TEXT'. '-' is standard input."`
	JSON   bool     `name:"json" help:"Print one JSON object on standard output instead of text."`
}

// Help implements kong.HelpProvider.
func (*checkCmd) Help() string {
	return `A script is checked as far as compiling it for the target goes; nothing is printed for one that is right. The exit code is 1 if a script has an error; warnings alone are 0.

Examples:

    ep check *.ep
    ep check --target 6.1-x86_64 openat.ep
    ep check -e 'trace sched.sched_switch where prev_pid == 1'
    ep check --json openat.ep | jq '.diagnostics[].message'
    ep check --writes setup.sh --target 6.1-x86_64
    ep compile openat.ep | ep check --writes -

With --writes no kernel is asked either: for each write a line says 'accepted' or 'rejected', and after a tab where it stands and the reason, or what an accepted line does not do though it seems to. It reads shell that writes to tracefs (echo, printf, cat, tee, mkdir; with variables, functions and loops over words) and lines 'FILE <- TEXT', '>FILE <- TEXT' for '>'; an empty line starts from a tracefs in which nobody made anything, save in a script that begins with #!, which is read whole. A write of which more is known only when the script runs, and one to a file that ep does not judge, is 'unknown'. The exit code is 1 if a write is rejected.
`
}

// Run carries out the command.
func (c *checkCmd) Run(env *Env, g *globals) error {
	set, err := c.params()
	if err != nil {
		return err
	}
	names := c.Files
	switch {
	case c.Writes != "" && (len(names) > 0 || c.Expr != nil):
		return usagef("want scripts or --writes, got both")
	case c.Writes != "":
		names = nil
	case c.Expr != nil && len(names) > 0:
		return usagef("want files or -e, got both '%s' and -e", names[0])
	case c.Expr != nil:
		names = []string{""}
	case len(names) == 0:
		return usagef("want files or -e; '-' reads standard input")
	}
	t, err := g.chooseTarget(c.Target)
	if err != nil {
		return err
	}
	if c.Writes != "" {
		return c.runWrites(env, t)
	}
	var all diag.List
	unread := false
	for _, name := range names {
		src, list, err := oneScript(env, name, c.Expr)
		if err != nil {
			fail(*env, err)
			unread = true
			continue
		}
		if !list.HasErrors() {
			_, list = compiler.Compile(src, t, compiler.Options{Set: set, Instance: ownInstance(src.Name()), Import: modulesOf(src.Name())})
		}
		all = append(all, list...)
	}
	if c.JSON {
		if err := diag.JSON(env.Stdout, all); err != nil {
			return fmt.Errorf("write standard output: %w", err)
		}
	} else if err := g.printText(all); err != nil {
		return err
	}
	if unread || all.HasErrors() {
		return exitError{code: exitScript}
	}
	return nil
}
