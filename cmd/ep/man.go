package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// manCmd prints the manual page, made of what --help prints.
type manCmd struct{}

// Run carries out the command.
func (*manCmd) Run(env *Env, model *kong.Application) error {
	return writeOutput(env, "", []byte(manPage(model)))
}

// manPage writes the model as a page of man(7). It is the same for every build,
// so that it can be kept beside the other docs.
func manPage(model *kong.Application) string {
	var b strings.Builder
	b.WriteString(".\\\" Made by `make golden` from what ep --help prints. Do not edit.\n")
	b.WriteString(".TH EP 1 \"\" ep \"User Commands\"\n")
	b.WriteString(".SH NAME\nep \\- trace Linux by scripts in a small typed language\n")
	b.WriteString(".SH SYNOPSIS\n.B ep\n.I COMMAND\n[\\fIFLAG\\fR ...] [\\fIARGUMENT\\fR ...]\n")
	b.WriteString(".SH DESCRIPTION\n" + roff(model.Help) + "\n")
	b.WriteString(".SH COMMANDS\n")
	manCommands(&b, model.Node)
	b.WriteString(".SH FLAGS OF ALL COMMANDS\n")
	manFlags(&b, model.Node)
	b.WriteString(".SH EXIT STATUS\n")
	for _, c := range exitCodes {
		fmt.Fprintf(&b, ".TP\n%d\n%s\n", c.code, roff(c.meaning))
	}
	b.WriteString(".SH SEE ALSO\n.BR trace-cmd (1),\n.BR perf\\-probe (1),\n.BR bpftrace (8)\n")
	return b.String()
}

// manCommands writes the commands below n, those of commands in full: "target
// list".
func manCommands(b *strings.Builder, n *kong.Node) {
	for _, c := range n.Children {
		if c.Hidden {
			continue
		}
		if !c.Leaf() {
			manCommands(b, c)
			continue
		}
		fmt.Fprintf(b, ".SS \"%s\"\n", roff(strings.TrimPrefix(c.Summary(), "ep ")))
		b.WriteString(roff(c.Help) + "\n")
		for _, p := range c.Positional {
			fmt.Fprintf(b, ".TP\n.I %s\n%s\n", roff(strings.ToUpper(p.Name)), roff(p.Help))
		}
		manFlags(b, c)
		manDetail(b, c.Detail)
	}
}

func manFlags(b *strings.Builder, n *kong.Node) {
	for _, f := range n.Flags {
		if f.Hidden {
			continue
		}
		name := "--" + f.Name
		if f.Short != 0 {
			name = "-" + string(f.Short) + ", " + name
		}
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR", roff(name))
		if !f.IsBool() {
			b.WriteString(" \\fI" + roff(f.FormatPlaceHolder()) + "\\fR")
		}
		b.WriteString("\n" + roff(f.Help) + "\n")
	}
}

// manDetail writes the long text of a command: paragraphs, and lines that are
// indented as they are.
func manDetail(b *strings.Builder, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	b.WriteString(".PP\n")
	example := false
	for line := range strings.Lines(text + "\n") {
		line = strings.TrimSuffix(line, "\n")
		body, indented := strings.CutPrefix(line, "    ")
		switch {
		case line == "" && !example:
			b.WriteString(".PP\n")
		case line == "":
		case indented && !example:
			b.WriteString(".RS\n.nf\n" + roff(body) + "\n")
			example = true
		case !indented && example:
			b.WriteString(".fi\n.RE\n.PP\n" + roff(line) + "\n")
			example = false
		default:
			b.WriteString(roff(body) + "\n")
		}
	}
	if example {
		b.WriteString(".fi\n.RE\n")
	}
}

// roff returns text so that roff prints it as it is.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		return `\&` + s
	}
	return s
}
