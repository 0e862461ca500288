package proof

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/tracefs"
	"github.com/eptrace/ep/runtime/vm"
)

// scriptDir is where the scripts lie in the guest.
const scriptDir = "/scripts"

// bench is what a case works with in a guest: its tracefs, and its kernel as a
// target. What goes wrong with either ends the case.
type bench struct {
	*vm.G
	fs *tracefs.FS
	// live is the kernel that runs, as the compiler sees it.
	live *target.Target
	idle []*thread // that have no work yet
	// inForce counts the plans that are applied.
	inForce int
}

// newBench opens the guest's tracefs, and demands that the case leave it as it
// found it.
func newBench(g *vm.G) *bench {
	f, err := tracefs.Open("")
	if err != nil {
		g.Fatalf("%v", err)
	}
	g.Cleanup(func() { _ = f.Close() })
	live, err := target.Open("live", os.DirFS("/"))
	if err != nil {
		g.Fatalf("%v", err)
	}
	b := &bench{G: g, fs: f, live: live}
	b.hire()
	before := b.state(nil)
	g.Cleanup(func() { b.same("the case", before, b.state(nil)) })
	return b
}

// source returns a script of scriptDir, or with a text one that a case brings.
func (b *bench) source(name, text string) *source.Source {
	if text == "" {
		file, err := os.ReadFile(path.Join(scriptDir, name))
		if err != nil {
			b.Fatalf("%v", err)
		}
		text = string(file)
	}
	src, err := source.New(name, text)
	if err != nil {
		b.Fatalf("%v", err)
	}
	return src
}

// compile compiles a script for the live kernel. Warnings are logged.
func (b *bench) compile(name, text string) *plan.Plan {
	p, list := compiler.Compile(b.source(name, text), b.live, compiler.Options{})
	if len(list) > 0 {
		b.Logf("%s", rendered(list))
	}
	if p == nil {
		b.Fatalf("%s does not compile", name)
	}
	return p
}

// refused demands that the live kernel's target refuse a script with one error
// of the code.
func (b *bench) refused(name, text string, code diag.Code) {
	p, list := compiler.Compile(b.source(name, text), b.live, compiler.Options{})
	if p != nil || list.Count(diag.Error) != 1 || !slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Severity == diag.Error && d.Code == code }) {
		b.Errorf("%s: want one error [%s], got plan %v and\n%s", name, code, p != nil, rendered(list))
	}
}

func rendered(list diag.List) string {
	var s strings.Builder
	_ = diag.Text(&s, list, diag.TextOptions{}) // a Builder takes all
	return strings.TrimSpace(s.String())
}

// apply carries out a plan. It is taken back at the end of the case, if it was
// not by then.
//
// The buffer is emptied before, never while a plan is in force: as long as a
// buffer takes no records, histograms see the events in another, whose clock is
// its own (kernel/trace/trace.c, trace_event_buffer_lock_reserve), and a time
// that is kept from before makes nonsense with one from after.
func (b *bench) apply(p *plan.Plan) *applied {
	if b.inForce == 0 {
		b.clear()
	}
	a, err := apply.Apply(b.Context(), b.fs, p)
	if err != nil {
		b.Fatalf("apply %s: %v", p.Script.Name(), err)
	}
	b.inForce++
	out := &applied{b: b, plan: p, a: a}
	b.Cleanup(out.undo)
	return out
}

// applied is a plan in force.
type applied struct {
	b    *bench
	plan *plan.Plan
	a    *apply.Applied
}

func (a *applied) undo() {
	if a.a == nil {
		return
	}
	err := a.a.Undo()
	a.a = nil
	a.b.inForce--
	if err != nil {
		a.b.Errorf("undo %s: %v", a.plan.Script.Name(), err)
	}
}

// run has a script in force while a thread works, and returns what it records
// of that thread, in order.
func (b *bench) run(text string, f func() error) []record {
	p := b.compile("proof.ep", text)
	a := b.apply(p)
	defer a.undo()
	tid := b.onThread(f)
	return byThread(b.records(p.Instance), tid)
}

// read returns what a file of tracefs reads.
func (b *bench) read(name string) string {
	text, err := b.fs.Read(name)
	if err != nil {
		b.Fatalf("%v", err)
	}
	return string(text)
}

// write writes one command.
func (b *bench) write(name, data string, mode tracefs.Mode) {
	if err := b.fs.Write(name, data, mode); err != nil {
		log, _ := b.fs.ErrorLog("") // to show what there is
		b.Fatalf("write %q: %v; the kernel's log: %v", data, err, log)
	}
}

// clear empties the top level's buffer.
func (b *bench) clear() { b.write("trace", "\n", tracefs.Truncate) }

// records returns what an instance has recorded, in order. Nothing is recorded
// while it reads.
func (b *bench) records(instance string) []record {
	on := tracefs.In(instance, "tracing_on")
	b.write(on, "0", tracefs.Truncate)
	text := b.read(tracefs.In(instance, "trace"))
	b.write(on, "1", tracefs.Truncate)
	list, err := parseTrace(text)
	if err != nil {
		b.Fatalf("%v", err)
	}
	return list
}

// state is what tracefs holds of what a script may change: file to content.
// Besides the definitions and the clock these are the files of the events that
// the plans write to.
func (b *bench) state(files []string) map[string]string {
	state := map[string]string{}
	for _, name := range append([]string{"dynamic_events", "trace_clock", "set_event", "tracing_on"}, files...) {
		if b.fs.Exists(name) {
			state[name] = b.read(name)
		}
	}
	for _, file := range files {
		for _, name := range []string{"trigger", "filter", "enable"} {
			if full := path.Join(path.Dir(file), name); strings.HasPrefix(file, "events/") && b.fs.Exists(full) {
				state[full] = b.read(full)
			}
		}
	}
	entries, err := os.ReadDir(path.Join(b.fs.Dir(), "instances"))
	if err != nil {
		b.Fatalf("%v", err)
	}
	for _, e := range entries {
		state["instances/"+e.Name()] = ""
	}
	return state
}

// same demands that two states are equal byte by byte.
func (b *bench) same(what string, before, after map[string]string) {
	names := slices.Sorted(maps.Keys(before))
	for name := range after {
		if _, ok := before[name]; !ok {
			names = append(names, name)
		}
	}
	for _, name := range names {
		was, had := before[name]
		is, has := after[name]
		if was != is || had != has {
			b.Errorf("%s left %s changed: was %q (%v), is %q (%v)", what, name, was, had, is, has)
		}
	}
}

// touched lists the files that a plan writes to.
func touched(p *plan.Plan) []string {
	var list []string
	for _, w := range p.Writes {
		if w.File != "dynamic_events" && !slices.Contains(list, w.File) {
			list = append(list, w.File)
		}
	}
	return list
}

// withoutSyscalls is a root file system whose tracefs has no event of a single
// system call, as that of a kernel without CONFIG_FTRACE_SYSCALLS.
type withoutSyscalls struct{ fs.FS }

func (w withoutSyscalls) Open(name string) (fs.File, error) {
	if strings.Contains(name+"/", "/events/syscalls/") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return w.FS.Open(name)
}
