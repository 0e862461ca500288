package randomproof

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/events"
	"github.com/eptrace/ep/runtime/hist"
	"github.com/eptrace/ep/runtime/tracefs"
	"github.com/eptrace/ep/runtime/vm"
)

// jobsFile is where the guest finds its scripts.
const jobsFile = "/random-jobs.json"

// job is a script for the guest.
type job struct {
	Text, Module string
	Steps        []step
	Instance     string // "" is the top level
	Idle         bool   // the workload is not done: the script is only applied and taken back
}

// answer is what a guest says of a job.
type answer struct {
	Refused []string `json:",omitempty"` // by ep: code and message
	Bug     string   `json:",omitempty"` // ep's own mistake: it panicked, or compiled twice to different plans
	Kernel  string   `json:",omitempty"` // the kernel refused a write
	Undo    string   `json:",omitempty"` // undoing failed
	Left    string   `json:",omitempty"` // what was left behind
	Lost    string   `json:",omitempty"` // records were lost
	Done    []done   `json:",omitempty"`
	Lines   [][]line `json:",omitempty"` // by trace
	Tables  []string `json:",omitempty"`
	Took    [4]int   // ms: compile, apply, work and read, undo
}

// answers is what a case of the guest hands over.
type answers struct {
	Facts facts
	List  []answer
}

// standing is the instance that scripts run in that have none of their own. It
// stays, so that the guest makes no folder of all events for each script.
const standing = "random"

// guest is the guest's side.
type guest struct {
	fs   *tracefs.FS
	live *target.Target
	work *worker
}

var theGuest = sync.OnceValues(func() (*guest, error) {
	// What is removed waits for all processors to have left it; this makes them
	// hurry, so that some thousand scripts end.
	_ = os.WriteFile("/sys/kernel/rcu_expedited", []byte("1"), 0) // slower without
	debug.SetGCPercent(400)
	f, err := tracefs.Open("")
	if err != nil {
		return nil, err
	}
	live, err := target.Open("live", os.DirFS("/"))
	if err != nil {
		return nil, err
	}
	// The saved target of the same kernel answers faster than the kernel does.
	for _, name := range target.EmbeddedNames() {
		if saved, err := target.Embedded(name); err == nil && saved.Release() == live.Release() {
			live = saved
		}
	}
	if err := f.MakeInstance(standing); err != nil {
		return nil, err
	}
	w, err := newWorker()
	return &guest{fs: f, live: live, work: w}, err
})

// runChunk runs the jobs [lo, hi) of the guest's list.
func runChunk(g *vm.G, lo, hi int) {
	text, err := os.ReadFile(jobsFile + "." + g.Kernel().Name)
	if err != nil {
		g.Fatalf("%v", err)
	}
	var jobs []job
	if err := json.Unmarshal(text, &jobs); err != nil {
		g.Fatalf("%v", err)
	}
	me, err := theGuest()
	if err != nil {
		g.Fatalf("%v", err)
	}
	out := answers{Facts: me.work.facts}
	for i := lo; i < min(hi, len(jobs)); i++ {
		g.Output("at", fmt.Append(nil, i)) // should the kernel die
		out.List = append(out.List, me.run(g.Context(), &jobs[i]))
	}
	data, err := json.Marshal(out)
	if err != nil {
		g.Fatalf("%v", err)
	}
	g.Output("answers", data)
}

// run carries out one job.
func (g *guest) run(ctx context.Context, j *job) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a.Bug = fmt.Sprint("panic: ", p)
		}
	}()
	start := time.Now()
	p, list := g.compile(j)
	a.Took[0] = int(time.Since(start).Milliseconds())
	if p == nil {
		for _, d := range list {
			if d.Severity == diag.Error {
				a.Refused = append(a.Refused, fmt.Sprintf("[%s] %s", d.Code, d.Message))
			}
		}
		if len(a.Refused) > 0 && strings.HasPrefix(a.Refused[0], "["+string(diag.PlanRefused)) {
			a.Bug = fmt.Sprint(list)
		}
		return a
	}
	if err := g.work.reset(); err != nil {
		a.Bug = err.Error()
		return a
	}
	before := g.state(p)
	start = time.Now()
	applied, err := apply.Apply(ctx, g.fs, p)
	a.Took[1] = int(time.Since(start).Milliseconds())
	if err != nil {
		a.Kernel = err.Error()
	} else {
		start = time.Now()
		if err := g.observe(j, p, &a); err != nil {
			a.Bug = err.Error()
		}
		a.Took[2] = int(time.Since(start).Milliseconds())
		start = time.Now()
		if err := applied.Undo(); err != nil {
			a.Undo = err.Error()
		}
		a.Took[3] = int(time.Since(start).Milliseconds())
	}
	a.Left = difference(before, g.state(p))
	if a.Left != "" || a.Undo != "" {
		g.sweep()
	}
	return a
}

// compile compiles a job's script for the guest's kernel.
func (g *guest) compile(j *job) (*plan.Plan, diag.List) {
	src, err := source.New("random.ep", j.Text)
	if err != nil {
		panic(err)
	}
	opts := compiler.Options{Instance: j.Instance}
	if strings.Contains(j.Text, meParam) {
		opts.Set = map[string]string{"me": fmt.Sprint(g.work.facts.TID)}
	}
	opts.Import = func(string) (*source.Source, error) { return source.New("random", j.Module) }
	return compiler.Compile(src, g.live, opts)
}

// observe does the workload, and reads what the script shows of it.
func (g *guest) observe(j *job, p *plan.Plan, a *answer) error {
	if !j.Idle {
		if err := g.work.do(tracefs.In(p.Instance, "trace_marker"), g.fs.Dir(), j.Steps, &a.Done); err != nil {
			return err
		}
	}
	on := tracefs.In(p.Instance, "tracing_on")
	if err := g.fs.Write(on, "0", tracefs.Truncate); err != nil {
		return err
	}
	err := g.read(p, a)
	return errors.Join(err,
		g.fs.Write(tracefs.In(p.Instance, "trace"), "\n", tracefs.Truncate),
		g.fs.Write(on, "1", tracefs.Truncate))
}

// read reads records and tables, as ep shows them.
func (g *guest) read(p *plan.Plan, a *answer) error {
	names := events.Names{Syscalls: g.live}
	for _, t := range p.Tables {
		got, err := hist.Read(g.fs.FS(), p.Instance, t)
		if err != nil {
			return err
		}
		a.Tables = append(a.Tables, string(got.AppendJSON(nil, &names)))
		if got.Dropped > 0 || got.Unread > 0 {
			a.Lost = fmt.Sprintf("table %s: %d dropped, %d unread", t.Name, got.Dropped, got.Unread)
		}
	}
	if len(p.Streams) == 0 {
		return nil
	}
	r, err := events.Open(g.fs.FS(), p.Streams, events.Options{Instance: p.Instance})
	if err != nil {
		return err
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // what is recorded is all there
	inJSON := events.JSON{Names: names}
	inText := events.Text{Names: names, Times: events.TimeForm{Clock: r.Clock()}}
	a.Lines = make([][]line, len(p.Streams))
	for rec, err := range r.Records(ctx) {
		if err != nil {
			return err
		}
		i := slices.Index(r.Streams(), rec.Stream)
		l := line{JSON: string(inJSON.AppendRecord(nil, rec))}
		if p.Streams[i].Print != "" {
			l.Text = string(inText.AppendRecord(nil, rec))
		}
		a.Lines[i] = append(a.Lines[i], l)
	}
	for _, l := range r.Losses() {
		if l.Overrun > 0 || l.Bad > 0 || l.Dropped > 0 {
			a.Lost = fmt.Sprintf("records: %+v", l)
		}
	}
	return nil
}

// state is what tracefs holds of all that a plan may change.
func (g *guest) state(p *plan.Plan) map[string]string {
	out := map[string]string{}
	show := func(name string) {
		data, err := g.fs.Read(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			out[name] = err.Error()
		default:
			out[name] = string(data)
		}
	}
	for _, name := range []string{"dynamic_events", "synthetic_events", "trace_clock", "set_event_pid", "tracing_on"} {
		show(name)
	}
	entries, err := os.ReadDir(path.Join(g.fs.Dir(), "instances"))
	if err != nil {
		out["instances"] = err.Error()
	}
	for _, e := range entries {
		out["instances"] += e.Name() + "\n"
	}
	for i := range p.Writes {
		w := &p.Writes[i]
		instance := ""
		if w.Instanced {
			instance = p.Instance
		}
		name := tracefs.In(instance, w.File)
		show(tracefs.In(instance, "trace_clock"))
		if path.Base(path.Dir(path.Dir(w.File))) != "events" && !strings.HasPrefix(w.File, "events/") {
			if w.File != "dynamic_events" && w.File != "synthetic_events" {
				show(name)
			}
			continue
		}
		for _, f := range []string{"enable", "filter", "trigger"} {
			show(path.Join(path.Dir(name), f))
		}
	}
	return out
}

func difference(before, after map[string]string) string {
	var list []string
	for name, text := range after {
		if before[name] != text {
			list = append(list, fmt.Sprintf("%s: before %q, after %q", name, before[name], text))
		}
	}
	for name, text := range before {
		if _, ok := after[name]; !ok {
			list = append(list, fmt.Sprintf("%s: before %q, after there is no such file", name, text))
		}
	}
	sort.Strings(list)
	return strings.Join(list, "\n")
}

// sweep removes what a script left, as well as it can, so that it is told once.
func (g *guest) sweep() {
	time.Sleep(50 * time.Millisecond)
	entries, _ := os.ReadDir(path.Join(g.fs.Dir(), "instances"))
	for _, e := range entries {
		if e.Name() != standing {
			_ = g.fs.RemoveInstance(e.Name())
		}
	}
	for _, dir := range []string{"", "instances/" + standing + "/"} {
		_ = g.fs.Write(dir+"events/enable", "0", tracefs.Truncate)
		_ = g.fs.Write(dir+"tracing_on", "1", tracefs.Truncate)
		_ = g.fs.Write(dir+"trace_clock", "local", tracefs.Truncate)
	}
	text, _ := g.fs.Read("dynamic_events")
	for l := range strings.Lines(string(text)) {
		if _, rest, ok := strings.Cut(l, ":"); ok {
			_ = g.fs.Write("dynamic_events", "-:"+strings.Fields(rest)[0], tracefs.Append)
		}
	}
}
