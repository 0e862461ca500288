package emit

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"io"
	"path"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// standalone is the part of Sh's script that is the same for all plans. Each
// @WORD@ is replaced; those that stand alone on a line by lines.
//
//go:embed standalone.sh
var standalone string

// Machine is what a plan was compiled for, as far as a script can tell it again
// where it runs. The zero value is any machine.
type Machine struct {
	Release string // what `uname -r` says, "" for any
	Arch    target.Arch
}

// Sh prints p as a POSIX script that needs nothing of ep: with `start` it does
// the writes and takes all back if one fails, with `stop` it takes all back, with
// `status` it says whether it is on, and with `read` it prints records and
// histograms. The error is w's.
func Sh(w io.Writer, p *plan.Plan, m Machine) error {
	script, name := "a script", "ep"
	if p.Script != nil {
		script = path.Base(p.Script.Name())
		name = scriptName(script)
	}
	instance := ""
	if makesInstance(p) {
		instance = p.Instance
	}
	_, err := strings.NewReplacer(
		"@HEAD@", comment(fmt.Sprintf("%s, compiled by ep for %s. To change it, change that and compile it again.", script, p.Target)),
		"@NAME@", quote(name),
		"@STATE@", quote(fmt.Sprintf("ep-%s-%08x", name, sum(p))),
		"@INSTANCE@", quote(instance),
		"@RELEASE@", quote(m.Release),
		"@ARCH@", checkArch(m.Arch),
		"@STEPS@", steps(p, script),
		"@UNDO@\n", undoSteps(p),
		"@EVENTS@", strings.Join(madeEvents(p), " "),
		"@READ@", readSteps(p),
	).WriteString(w, standalone)
	return err
}

// scriptName returns what to call a script in messages and files: its file's
// name, as far as a shell has no doubts of it.
func scriptName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '-' || strings.ContainsRune(plain, r) && r != '/' {
			return r
		}
		return '_'
	}, strings.TrimSuffix(path.Base(name), ".ep"))
	if name = strings.TrimLeft(name, "-."); name == "" || name == "e" {
		return "ep" // of standard input, or of -e
	}
	return name
}

// comment returns text as one line that a shell does not read.
func comment(text string) string {
	return "# " + strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
}

// sum tells plans from each other: the state that one script left is not for
// another to undo.
func sum(p *plan.Plan) uint32 {
	h := fnv.New32a()
	for i := range p.Writes {
		fmt.Fprintf(h, "%s\x00%s\x00", File(p, &p.Writes[i]), p.Writes[i].Data) // a hash takes all
	}
	return h.Sum32()
}

// checkArch returns what compares the machine with an architecture: numbers of
// system calls and places of arguments depend on it.
func checkArch(a target.Arch) string {
	names := string(a) // what `uname -m` says there
	switch a {
	case target.ARM64:
		names = "aarch64*"
	case target.ARM:
		names = "arm*"
	case target.I386:
		names = "i?86"
	case "":
		return ""
	}
	return "\tcase $(uname -m) in\n\t" + names + ") ;;\n" +
		"\t*) die \"this is compiled for " + string(a) + "; here is $(uname -m)\" ;;\n\tesac\n"
}

// steps returns the writes as a list of shell commands that ends at the first
// that fails.
func steps(p *plan.Plan, script string) string {
	if len(p.Writes) == 0 {
		return "\t:"
	}
	var lines []string
	for i := range p.Writes {
		w := &p.Writes[i]
		place := script
		if n := lineOf(p, w); n > 0 {
			place = fmt.Sprintf("%s:%d", script, n)
		}
		for k := range w.Restore {
			lines = append(lines, fmt.Sprintf("\tkeep %d-%d %s", i+1, k, quote(File(p, &w.Restore[k]))))
		}
		lines = append(lines, fmt.Sprintf("\tstep %d %s %s %s %s", i+1, quote(place), how(w), quote(File(p, w)), quote(w.Data)))
	}
	return strings.Join(lines, " &&\n")
}

// lineOf returns the line of the script that w is made of, 0 if there is none.
func lineOf(p *plan.Plan, w *plan.Write) int {
	for _, o := range w.Origin {
		if p.Script != nil && o.Span.Valid() {
			return p.Script.Position(o.Span.Start).Line
		}
	}
	return 0
}

func how(w *plan.Write) string {
	if w.Mode == plan.Truncate {
		return "set"
	}
	return "add"
}

// undoSteps returns what takes the writes back, the last first. A write without
// an undo is forgotten with the others.
func undoSteps(p *plan.Plan) string {
	var b strings.Builder
	for i := len(p.Writes) - 1; i >= 0; i-- {
		u := p.Writes[i].Undo
		switch {
		case u == nil:
			fmt.Fprintf(&b, "\trm -f \"$state/%d\"\n", i+1)
		case madeEvent(u) != "":
			fmt.Fprintf(&b, "\tdrop %d %s\n", i+1, quote(madeEvent(u)))
		default:
			fmt.Fprintf(&b, "\tback %d %s %s %s\n", i+1, how(u), quote(File(p, u)), quote(u.Data))
		}
		for k := range p.Writes[i].Restore {
			r := &p.Writes[i].Restore[k]
			fmt.Fprintf(&b, "\tback %d-%d %s %s %s\n", i+1, k, how(r), quote(File(p, r)), quote(r.Data))
		}
	}
	return b.String()
}

// madeEvent returns GROUP/NAME of the dynamic event that undo removes, "" if it
// is for something else.
func madeEvent(undo *plan.Write) string {
	name, ok := strings.CutPrefix(undo.Data, "-:")
	if !ok || undo.File != "dynamic_events" || !strings.Contains(name, "/") {
		return ""
	}
	return name
}

func madeEvents(p *plan.Plan) []string {
	var names []string
	for i := range p.Writes {
		if u := p.Writes[i].Undo; u != nil && madeEvent(u) != "" {
			names = append(names, quote(madeEvent(u)))
		}
	}
	return names
}

// readSteps returns what prints the records, the snapshot and each histogram. What
// the kernel prints has neither units nor averages: those of tables are put in, those
// of records told in a line before them.
func readSteps(p *plan.Plan) string {
	var lines []string
	for i := range p.Streams {
		notes := streamNotes(&p.Streams[i])
		if len(notes) > 0 {
			lines = append(lines, "\tprintf '# %s\\n' "+quote(p.Streams[i].Event+": "+strings.Join(notes, ", ")))
		}
	}
	if len(p.Streams) > 0 {
		lines = append(lines, "\trecords trace")
	}
	if takesSnapshots(p) {
		lines = append(lines, "\tprintf '\\n# snapshot\\n'", "\trecords snapshot")
	}
	for i := range p.Tables {
		lines = append(lines, tableSteps(p, &p.Tables[i])...)
	}
	return strings.Join(lines, "\n")
}

// streamNotes says what the kernel's text of a record does not: what numbers mean,
// which of them may be left from an earlier record, and what the script has not.
func streamNotes(s *plan.Stream) []string {
	var notes []string
	faults := false
	for _, f := range s.Fields {
		if note := rawNote(f.Type); note != "" {
			notes = append(notes, f.Name+" is "+note)
		}
		if len(f.Through) > 0 {
			faults = true
			notes = append(notes, f.Name+" was not read if "+strings.Join(f.Through, " or ")+" leads nowhere")
		}
	}
	if faults {
		notes = append(notes, plan.Unread+" and an address in the first or last 4096 bytes lead nowhere")
	}
	if len(s.Hidden) > 0 {
		notes = append(notes, "not of the script: "+strings.Join(s.Hidden, " "))
	}
	return notes
}

// tableSteps returns what prints one histogram.
func tableSteps(p *plan.Plan, t *plan.Table) []string {
	var columns, notes, lines []string
	for _, v := range t.Values {
		sign, kind, unit := "u", "sum", ""
		if types.Signed(v.Type) {
			sign = "s"
		}
		if v.Mean {
			kind = "avg"
		}
		if d, ok := v.Type.(types.Duration); ok {
			unit = d.Unit.String()
		}
		columns = append(columns, " "+strings.Join([]string{quote(v.Kernel), quote(v.Name), sign, kind, quote(unit)}, " "))
	}
	for _, k := range t.Keys {
		if note := rawNote(k.Type); note != "" {
			notes = append(notes, k.Kernel+" is "+note)
		}
	}
	title := t.Name
	if len(notes) > 0 {
		title += ": " + strings.Join(notes, ", ")
	}
	seen := ""
	for _, h := range t.Hists {
		f := &plan.Write{File: "events/" + h.Group + "/" + h.Event + "/hist", Instanced: true}
		if File(p, f) == seen {
			continue
		}
		seen = File(p, f)
		lines = append(lines, "\ttable "+quote(title)+" "+quote(seen)+strings.Join(columns, ""))
	}
	return lines
}

// rawNote says what the kernel's number of a type is, where that is not to be seen.
func rawNote(t types.Type) string {
	if d, ok := t.(types.Duration); ok {
		return "in " + d.Unit.String()
	}
	if types.BigEndian(t) {
		return t.String() + ", with its bytes in reverse order"
	}
	return ""
}

// takesSnapshots reports whether a trigger of p takes snapshots.
func takesSnapshots(p *plan.Plan) bool {
	for i := range p.Writes {
		c, err := command.Parse(p.Writes[i].File, p.Writes[i].Data)
		if t, ok := c.(*command.Trigger); err == nil && ok && t.Kind == command.Snapshot && !t.Remove {
			return true
		}
	}
	return false
}
