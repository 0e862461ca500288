package main

import (
	"fmt"
	"io"
	"os"

	"github.com/aymanbagabas/go-udiff"

	"github.com/eptrace/ep/lang/format"
)

type fmtCmd struct {
	Files []string `arg:"" optional:"" name:"file" complete:"files" help:"The scripts; none or '-' is standard input."`
	Write bool     `short:"w" help:"Write the result back to each file that it changes."`
	Diff  bool     `short:"d" help:"Print what would change, as a unified diff. The exit code is 3 if anything would."`
	Check bool     `help:"Print the name of each file that would change. The exit code is 3 if there is one."`
}

// Help implements kong.HelpProvider.
func (*fmtCmd) Help() string {
	return `There is one style and no option for it. Comments are kept. A script with syntax errors is left as it is.

Examples:

    ep fmt -w *.ep
    ep fmt -d openat.ep
    ep fmt < openat.ep
`
}

// Run carries out the command.
func (c *fmtCmd) Run(env *Env, g *globals) error {
	if len(c.Files) == 0 {
		c.Files = []string{stdin}
	}
	if c.Write && (c.Diff || c.Check) {
		return usagef("-w changes files, -d and --check only look at them: want one of them")
	}
	wrong, findings := false, false
	for _, name := range c.Files {
		if c.Write && name == stdin {
			return usagef("-w wants files; standard input cannot be written back")
		}
		text, err := readScript(env, name)
		if err != nil {
			fail(*env, err)
			wrong = true
			continue
		}
		src, list := newSource(name, text)
		formatted := text
		if !list.HasErrors() {
			formatted, list = format.Format(src)
		}
		if err := g.printText(list); err != nil {
			return err
		}
		if list.HasErrors() {
			wrong = true
			continue
		}
		findings = findings || formatted != text
		if err := c.report(env, name, text, formatted); err != nil {
			return err
		}
	}
	switch {
	case wrong:
		return exitError{code: exitScript}
	case findings && (c.Diff || c.Check):
		return exitError{code: exitFindings}
	}
	return nil
}

// report prints or writes back the result for one file.
func (c *fmtCmd) report(env *Env, name, text, formatted string) error {
	out := ""
	switch {
	case c.Write:
		if formatted == text {
			return nil
		}
		// os.WriteFile keeps the mode of a file that is there.
		if err := os.WriteFile(name, []byte(formatted), 0o644); err != nil {
			return fmt.Errorf("write '%s': %w", name, cause(err))
		}
		return nil
	case c.Diff || c.Check:
		if c.Check && formatted != text {
			out = name + "\n"
		}
		if c.Diff {
			out += udiff.Unified(name+".orig", name, text, formatted)
		}
	default:
		out = formatted
	}
	if _, err := io.WriteString(env.Stdout, out); err != nil {
		return fmt.Errorf("write standard output: %w", err)
	}
	return nil
}
