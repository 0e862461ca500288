package joinproof

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/tracefs"
	"github.com/eptrace/ep/runtime/vm"
)

var readBackCases = []vm.Case{newCase("read-back", proveReadBack)}

// same are the scripts that become what people write by hand, as the kernel shows
// both: the same keys, values, variables and actions, up to the names. Where a
// kernel is not listed here they differ, for the reason that the script says.
var same = []string{
	"03-kmalloc-by-callsite", "fork-names", "kmalloc-pid", "kmalloc-plain", "kmalloc-site", "kmalloc-size", "kmalloc-stack",
	"netif-rx", "trigger-always", "trigger-event", "trigger-snapshot", "trigger-stack", "trigger-stop", "waking-pid",
	"wget-stack",
}

// proveReadBack: of each script whose header has the lines by hand, the objects
// that both make are the same, or the script says why they are not.
func proveReadBack(m *machine) {
	files, err := filepath.Glob(guestScripts + "/*.ep")
	if err != nil || len(files) == 0 {
		m.g.Fatalf("got %d scripts and %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			m.g.Fatalf("%v", err)
		}
		text, name := string(data), strings.TrimSuffix(filepath.Base(file), ".ep")
		lines := byHand(text)
		p, err := m.compile(text, compiler.Options{Instance: instance})
		if err != nil || len(lines) == 0 {
			m.g.Logf("%s: not here: %d lines, %v", name, len(lines), err)
			continue
		}
		theirs, refused := m.handMade(lines)
		var made []line
		for _, w := range p.Writes {
			made = append(made, line{w.File, w.Data})
		}
		var ours []command.Command
		a, err := apply.Apply(m.g.Context(), m.fs, p)
		if err != nil {
			m.g.Errorf("%s: %v", name, err)
			continue
		}
		ours = m.objects(tracefs.In(p.Instance, ""), made)
		if err := a.Undo(); err != nil {
			m.g.Errorf("%s: %v", name, err)
		}
		equal := refused == nil && command.EqualButNames(shown(ours), shown(theirs))
		switch {
		case equal != slices.Contains(same, name) && refused == nil:
			m.g.Errorf("%s: got equal %t\nours   %s\nby hand %s", name, equal, printed(ours), printed(theirs))
		case !equal && !reason.MatchString(text):
			m.g.Errorf("%s: differs (%v) and does not say why", name, refused)
		case refused != nil:
			m.g.Logf("%s: the kernel refuses what is written by hand: %v", name, refused)
		}
	}
}

// reason is what a script says of a difference, below the lines by hand.
var reason = regexp.MustCompile(`(?s)# by hand[^\n]*\n#\n# .*?\b([Hh]ere|[Bb]y hand|ep)\b`)

// line is a write: a file of tracefs, in the instance or not, and what goes there.
type line struct{ file, text string }

// byHand lists the lines of a script's header that make objects, in order: what
// stands behind ">>" is the event of a trigger. Conditions of filters and switches
// are no objects.
func byHand(text string) []line {
	var out []line
	for l := range strings.SplitSeq(text, "\n") {
		_, l, ok := strings.Cut(l, "# by hand: ")
		if !ok {
			continue
		}
		if l, event, ok := strings.Cut(l, " >> "); ok {
			out = append(out, line{path.Join("events", event, "trigger"), l})
			continue
		}
		if dynamic.MatchString(l) {
			out = append(out, line{"dynamic_events", l})
		}
	}
	return out
}

var dynamic = regexp.MustCompile(`^[sepr](:\S+)? \S`)

// handMade writes lines, reads back what objects they made, and removes them.
func (m *machine) handMade(lines []line) (list []command.Command, refused error) {
	if err := m.fs.MakeInstance(instance); err != nil {
		m.g.Fatalf("%v", err)
	}
	var undo []line
	before := m.dynamicEvents()
	for _, l := range lines {
		file := l.file
		if file != "dynamic_events" {
			file = tracefs.In(instance, file)
		}
		if refused = m.fs.Write(file, l.text, tracefs.Append); refused != nil {
			break
		}
		if file != "dynamic_events" {
			undo = append(undo, line{file, "!" + regexp.MustCompile(`^(\w+):\d+( |$)`).ReplaceAllString(l.text, "$1$2")})
		}
	}
	list = m.objects(tracefs.In(instance, ""), lines)
	for _, u := range slices.Backward(undo) {
		if err := m.fs.Write(u.file, u.text, tracefs.Append); err != nil {
			m.g.Errorf("%s: %v", u.text, err)
		}
	}
	if err := m.fs.RemoveInstance(instance); err != nil {
		m.g.Errorf("%v", err)
	}
	for _, l := range slices.Backward(m.dynamicEvents()) {
		if slices.Contains(before, l) {
			continue
		}
		name := eventOf.FindStringSubmatch(l)[1]
		if err := m.fs.Write("dynamic_events", "-:"+name, tracefs.Append); err != nil {
			m.g.Errorf("%s: %v", l, err)
		}
	}
	return list, refused
}

var eventOf = regexp.MustCompile(`^\w+:(\S+)`)

func (m *machine) dynamicEvents() []string {
	data, err := m.fs.Read("dynamic_events")
	if err != nil {
		m.g.Fatalf("%v", err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// objects reads back what the kernel has of the events and triggers that lines
// made.
func (m *machine) objects(dir string, lines []line) []command.Command {
	var texts []line
	for _, l := range m.dynamicEvents() {
		if !eventOf.MatchString(l) {
			continue
		}
		texts = append(texts, line{"dynamic_events", l})
	}
	var seen []string
	for _, l := range lines {
		if !strings.HasSuffix(l.file, "/trigger") || slices.Contains(seen, l.file) {
			continue
		}
		seen = append(seen, l.file)
		data, err := m.fs.Read(path.Join(dir, l.file))
		if err != nil {
			m.g.Errorf("%v", err)
			continue
		}
		for t := range strings.SplitSeq(string(data), "\n") {
			if t != "" && !strings.HasPrefix(t, "#") {
				texts = append(texts, line{l.file, t})
			}
		}
	}
	var out []command.Command
	for _, t := range texts {
		c, err := command.Parse(t.file, t.text)
		if err != nil {
			m.g.Errorf("%s: %v", t.text, err)
			continue
		}
		out = append(out, c)
	}
	return out
}

func shown(list []command.Command) []command.Command {
	var out []command.Command
	for _, c := range list {
		out = append(out, command.Shown(c))
	}
	return out
}

func printed(list []command.Command) string {
	var b strings.Builder
	for _, c := range list {
		b.WriteString("\n\t" + c.File() + ": " + command.Line(c))
	}
	return b.String()
}
