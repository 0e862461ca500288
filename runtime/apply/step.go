package apply

import (
	"path"
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/runtime/journal"
	"github.com/eptrace/ep/runtime/tracefs"
)

// dynamicEvents is the file that makes and removes events.
const dynamicEvents = "dynamic_events"

// step is a change with what is known of it.
type step struct {
	journal.Step
	write *plan.Write     // nil if no plan is at hand, and of an instance
	cmd   command.Command // nil of a file that package command does not know

	// What tells what the kernel made of a command that it took and shows as
	// something else (odd): what its file of triggers had before.
	odd bool
	was []string
}

// newStep parses the step's command. What cannot be parsed is compared as text.
func newStep(s journal.Step, w *plan.Write) step {
	out := step{Step: s, write: w}
	if s.Kind == journal.Instance {
		return out
	}
	data := s.Data
	if s.Kind == journal.Kept && s.Undo != nil {
		data = s.Undo.Data
	}
	if c, err := command.Parse(s.File, data); err == nil {
		out.cmd = c
	}
	return out
}

// dynamic reports whether s makes an event.
func (s *step) dynamic() bool { return s.File == dynamicEvents }

// event returns the name of the event that s makes, zero if it makes none.
func (s *step) event() command.EventName {
	if s.cmd == nil && !strings.HasPrefix(s.Data, "-") && !strings.HasPrefix(s.Data, "!") {
		name, _ := eventOf(s.Data)
		return name
	}
	made, _ := command.Made(s.cmd)
	return made
}

// Steps returns what Apply would do for p, in order: the instance first, if p
// goes to one. Nothing of the machine is in it.
func Steps(p *plan.Plan) []journal.Step {
	var list []journal.Step
	for _, s := range planSteps(p) {
		list = append(list, s.Step)
	}
	return list
}

func planSteps(p *plan.Plan) []step {
	var list []step
	if p.Instance != "" {
		list = append(list, newStep(journal.Step{Kind: journal.Instance, File: tracefs.In(p.Instance, "")}, nil))
	}
	for i := range p.Writes {
		w := &p.Writes[i]
		s := journal.Step{Kind: journal.Command, File: w.File, Data: w.Data}
		if w.Instanced {
			s.File = tracefs.In(p.Instance, w.File)
		}
		if w.Mode == plan.Truncate {
			s.Kind = journal.Value
		}
		if w.Undo != nil {
			s.Undo = &journal.Undo{Data: w.Undo.Data}
		}
		if sp := spanAt(w, -1); sp.Valid() && p.Script != nil {
			s.Line = p.Script.Position(sp.Start).Line
		}
		for _, r := range w.Restore {
			kept := journal.Step{Kind: journal.Kept, File: r.File, Undo: &journal.Undo{Data: r.Data}, Line: s.Line}
			if r.Instanced {
				kept.File = tracefs.In(p.Instance, r.File)
			}
			list = append(list, newStep(kept, w))
		}
		list = append(list, newStep(s, w))
	}
	return list
}

// setting returns the last part of the path of a file of one value.
func setting(file string) string { return path.Base(file) }

// listsThreads reports whether a file is a list of threads: it is added to where it
// is not truncated.
func listsThreads(file string) bool {
	name := setting(file)
	return name == "set_event_pid" || name == "set_event_notrace_pid"
}

// heldIn returns the words that set a file of one value to what it shows, and
// whether that is known. The kernel shows "none" for no filter, of a choice the
// taken one in brackets, a '*' behind the value of an enable file for a
// trigger's doing, one thread a line, and behind a filter that it refused lines
// about why.
func heldIn(file, shown string) (value string, ok bool) {
	value = strings.TrimSpace(shown)
	switch setting(file) {
	case "trace_clock":
		_, rest, _ := strings.Cut(value, "[")
		value, _, ok = strings.Cut(rest, "]")
		return value, ok
	case "set_event_pid", "set_event_notrace_pid":
		return strings.Join(strings.Fields(value), " "), true
	case "enable":
		value = strings.TrimSuffix(value, "*")
		return value, value == "0" || value == "1"
	case "filter":
		if value == "none" {
			return "0", true
		}
		return value, !strings.Contains(value, "\n")
	case "buffer_size_kb":
		// "7 (expanded: 1408)" before the first use.
		value, _, _ = strings.Cut(value, " ")
		return value, true
	}
	return value, !strings.Contains(value, "\n")
}

// changes reports whether a file may come to hold something else than was
// written without anybody's doing: the kernel rounds buffer_size_kb to pages,
// otherwise in each version, and a script's own actions turn tracing_on.
func changes(file string) bool {
	name := setting(file)
	return name == "buffer_size_kb" || name == "tracing_on"
}

// sameValue reports whether a file that shows shown holds data. Of a file whose
// values are rounded or unknown only a difference in words is a difference.
func sameValue(file, shown, data string) bool {
	held, ok := heldIn(file, shown)
	if !ok {
		return false
	}
	switch setting(file) {
	case "set_event_pid", "set_event_notrace_pid":
		// The kernel adds threads that are made and takes those away that end.
		a, b := strings.Fields(held), strings.Fields(data)
		return len(a)+len(b) == 0 || slices.ContainsFunc(a, func(pid string) bool { return slices.Contains(b, pid) })
	case "filter":
		if data == "" || data == "0" || held == "0" {
			return (data == "" || data == "0") == (held == "0")
		}
		a, errA := command.Parse(file, held)
		b, errB := command.Parse(file, data)
		if errA == nil && errB == nil {
			return command.Equal(a, b)
		}
	}
	if changes(file) {
		return true
	}
	return strings.TrimSpace(held) == strings.TrimSpace(data)
}
