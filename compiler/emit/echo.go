// Package emit prints a plan: as the shell lines that a person would type, as a
// script that carries it out by itself, as a bootconfig or parameters for a
// booting kernel, and as JSON for programs.
//
// It decides nothing: what is written, and in which order, is the plan's. Read
// echo.go for the lines, sh.go for the script, boot.go for booting kernels, and
// json.go.
package emit

import (
	"io"
	"strings"

	"github.com/eptrace/ep/compiler/plan"
)

// Echo prints one POSIX shell line for each write of p, in order, to be run in
// the root of tracefs:
//
//	echo 'e:sched/switch sched.sched_switch prev=$prev_pid:u32' >> dynamic_events
//	echo 1 > events/sched/switch/enable
//
// If p goes to an instance, a line that makes it comes first. The error is w's.
func Echo(w io.Writer, p *plan.Plan) error {
	var b strings.Builder
	if makesInstance(p) {
		b.WriteString("mkdir " + quote("instances/"+p.Instance) + "\n")
	}
	for i := range p.Writes {
		line(&b, p, &p.Writes[i])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Undo prints the lines that take back what Echo's lines do: the last first.
// The error is w's.
func Undo(w io.Writer, p *plan.Plan) error {
	var b strings.Builder
	for i := len(p.Writes) - 1; i >= 0; i-- {
		if u := p.Writes[i].Undo; u != nil {
			line(&b, p, u)
		}
		for k := range p.Writes[i].Restore {
			line(&b, p, &p.Writes[i].Restore[k])
		}
	}
	if makesInstance(p) {
		b.WriteString("rmdir " + quote("instances/"+p.Instance) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// makesInstance reports whether something of p goes to an instance of its own.
func makesInstance(p *plan.Plan) bool {
	if p.Instance == "" {
		return false
	}
	for i := range p.Writes {
		if p.Writes[i].Instanced {
			return true
		}
	}
	return false
}

// Line returns the shell line that does a write of p, in the root of tracefs,
// without a newline.
func Line(p *plan.Plan, w *plan.Write) string {
	var b strings.Builder
	line(&b, p, w)
	return strings.TrimSuffix(b.String(), "\n")
}

// File returns the path of the file of a write of p, from the root of tracefs.
func File(p *plan.Plan, w *plan.Write) string {
	if w.Instanced && p.Instance != "" {
		return "instances/" + p.Instance + "/" + w.File
	}
	return w.File
}

func line(b *strings.Builder, p *plan.Plan, w *plan.Write) {
	b.WriteString(printCommand(w.Data))
	b.WriteString(quote(w.Data))
	if w.Mode == plan.Truncate {
		b.WriteString(" > ")
	} else {
		b.WriteString(" >> ")
	}
	b.WriteString(quote(File(p, w)))
	b.WriteByte('\n')
}

// printCommand returns the command that prints data as it is. POSIX leaves to
// the shell what echo does with a backslash (dash obeys it, bash does not) and
// with a first word like -n; printf is the same everywhere.
func printCommand(data string) string {
	option := len(data) > 1 && data[0] == '-' && strings.Trim(data[1:], "neE") == ""
	if option || strings.Contains(data, `\`) {
		return `printf '%s\n' `
	}
	return "echo "
}

// plain are the bytes that no POSIX shell gives a meaning to, wherever in a
// word they stand.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+:,@%"

// quote returns s as one word of a POSIX shell. Between single quotes nothing
// has a meaning but the single quote itself: it ends the quotes, stands behind
// a backslash, and opens them again.
func quote(s string) string {
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
