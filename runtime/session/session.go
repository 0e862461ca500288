// Package session is one run of a script: its plan is applied, what it traces
// is read and shown until there is an end to it, and all is taken back.
//
// Read session.go for the course of a run, process.go for which processes it
// follows, child.go for a program that is started for it, and output.go for what
// is shown.
package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/types"
	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/events"
	"github.com/eptrace/ep/runtime/hist"
	"github.com/eptrace/ep/runtime/tracefs"
)

// Options say how a run goes. FS, Proc and Output are needed.
type Options struct {
	FS    *tracefs.FS
	Apply apply.Transaction // its FS may be nil: it is FS
	Proc  fs.FS             // the machine's /proc

	// Child is a program that was started and waits; the run ends when it ends.
	// nil: there is none.
	Child *Child
	// Follow limits the run to these processes, with their threads and their
	// children, and to Child. None, and no Child: all. Without a Child the run
	// ends when all of them have.
	Follow []int

	For      time.Duration // how long; 0: until the context or Child ends
	Interval time.Duration // between looks at the histograms; 0: only at the end
	Output   Output
	// Applied is called when all is in force. It may be nil.
	Applied func()
	// Say tells a person what is waited for. It may be nil.
	Say func(format string, args ...any)
}

// Result is what came of a run.
type Result struct {
	Records uint64 // shown, those of a snapshot too

	Snapshots  uint64 // taken
	InSnapshot uint64 // records of the last of them

	Lost    uint64        // records that were lost
	Dropped uint64        // events that histograms did not count
	Full    uint64        // events that joins and spans had no room for
	Missed  uint64        // calls whose return a probe could not follow
	Took    time.Duration // from the first event on
	Tracing time.Time     // since when events were recorded
	Changed []string      // files that others changed what the run did to
	Exit    int           // what Child ended with: its code, or 128 and a signal's number; -1 if it was ended
}

// Run carries p out. It ends when ctx does, after For, or when Child ends; when
// the output cannot be written; or by an error.
//
// Whatever the end, what was done to the kernel is taken back before Run
// returns, also after a panic, which becomes an error. An *apply.Error, in the
// tree of the error, says what the kernel refused; what could not be taken back
// stands beside it.
func Run(ctx context.Context, p *plan.Plan, o Options) (result Result, err error) {
	r := &run{Options: o, plan: p, ours: p.Instance != "" && !o.FS.Exists(tracefs.In(p.Instance, ""))}
	if r.Apply.FS == nil {
		r.Apply.FS = o.FS
	}
	r.Apply.Now = r.now
	defer func() {
		if p := recover(); p != nil {
			err = internal(p)
		}
		err = errors.Join(err, r.end())
	}()
	if err := r.begin(ctx); err != nil {
		return r.result, err
	}
	err = r.trace(ctx)
	return r.result, err
}

// run is a run under way.
type run struct {
	Options
	plan      *plan.Plan
	ours      bool // the instance is made for this run
	applied   *apply.Applied
	reader    *events.Reader
	streams   []plan.Stream // what is read
	comms     *events.TaskNames
	result    Result
	follows   string // the threads that are followed, as the plan has them
	snapshots []snapshotTrigger
	own       map[int32]bool // threads: whether they are this process's
	passed    uint64         // losses that records told of that were passed over

	mu     sync.Mutex // of the output, and of problem
	failed error      // of the output: the run ends
}

// begin applies the plan, with what limits it to some processes.
func (r *run) begin(ctx context.Context) error {
	p, err := r.limited()
	if err != nil {
		return err
	}
	if r.applied, err = r.Apply.Apply(ctx, p); err != nil {
		return r.gone(err)
	}
	r.result.Tracing = time.Now()
	if r.Options.Applied != nil {
		r.Options.Applied()
	}
	r.say()
	r.sayIfOff()
	r.streams = withStacks(p)
	if len(r.streams) == 0 {
		return r.Output.Begin(nil, nil)
	}
	r.comms = events.NewTaskNames(r.Proc, r.FS.FS())
	r.reader, err = events.Open(r.FS.FS(), r.streams, events.Options{Instance: p.Instance, Comms: r.comms,
		Rest: func() { r.show(r.Output.Flush) }})
	if err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	return r.Output.Begin(r.reader.Streams(), r.reader.Clock())
}

// withStacks returns the streams of p and, if a trigger of it records stacks, one
// of these: the kernel's own event for that.
func withStacks(p *plan.Plan) []plan.Stream {
	for i := range p.Writes {
		c, err := command.Parse(p.Writes[i].File, p.Writes[i].Data)
		if t, ok := c.(*command.Trigger); err == nil && ok && t.Kind == command.Stacktrace && !t.Remove {
			return append(slices.Clip(p.Streams), plan.Stream{Name: "stack", Group: "ftrace", Event: "kernel_stack",
				Fields: []plan.Field{{Name: "caller", Type: types.Stack{}}}})
		}
	}
	return p.Streams
}

// end takes everything back. What was read ahead must be closed first, for an
// instance whose buffers are open stays.
func (r *run) end() error {
	var errs []error
	if r.Child != nil {
		r.Child.Stop()
	}
	if r.reader != nil {
		errs = append(errs, r.reader.Close())
		r.reader = nil
	}
	if r.applied != nil {
		errs = append(errs, r.applied.Undo())
		r.applied = nil
	}
	return errors.Join(errs...)
}

// trace reads and shows until there is an end, and then what is left.
func (r *run) trace(ctx context.Context) error {
	// Also after a panic: what a goroutine holds open keeps an instance.
	var wait sync.WaitGroup
	defer wait.Wait()
	// Records end when reading does; reading ends after recording.
	reading, stopReading := context.WithCancel(context.Background())
	defer stopReading()
	over, cancel := context.WithCancel(ctx)
	defer cancel()
	if r.For > 0 {
		over, cancel = context.WithTimeout(over, r.For)
		defer cancel()
	}
	if r.Child != nil {
		if err := r.Child.release(); err != nil {
			return err
		}
	}
	if r.Child != nil {
		wait.Go(func() {
			select {
			case <-r.Child.ended():
				cancel()
			case <-over.Done():
			}
		})
	}
	// What is recorded ends in time, also if the output is slow.
	wait.Go(func() {
		defer stopReading()
		defer r.contain()
		<-over.Done()
		r.result.Took = time.Since(r.result.Tracing)
		r.result.Changed = r.changed()
		r.quiet()
	})
	wait.Go(func() {
		defer cancel()
		defer r.contain()
		r.watch(over)
	})
	r.read(reading, cancel)
	stopReading()
	cancel()
	wait.Wait()
	if r.Child != nil {
		r.result.Exit = r.Child.code()
	}
	return r.finish()
}

// read shows records until ctx ends; over is called if they can no more be
// shown.
func (r *run) read(ctx context.Context, over func()) {
	if r.reader == nil {
		<-ctx.Done()
		return
	}
	for rec, err := range r.reader.Records(ctx) {
		r.record(rec, err)
		if r.broken() != nil {
			over()
			return
		}
	}
}

// record shows a record, or the error that came in place of one.
func (r *run) record(rec *events.Record, err error) {
	switch {
	case err != nil:
		r.show(func() error { return r.Output.Problem(err) })
	case !r.ours && r.self(rec.TID):
		r.passed += rec.Lost
	default:
		rec.Lost, r.passed = rec.Lost+r.passed, 0
		r.result.Records++
		r.show(func() error { return r.Output.Record(rec) })
	}
}

// followEvery is how often it is looked whether the processes that are followed
// have ended.
const followEvery = 200 * time.Millisecond

// watch shows the histograms at each interval until ctx ends, or the processes that
// are followed have.
func (r *run) watch(ctx context.Context) {
	var look, follow <-chan time.Time
	if len(r.Follow) > 0 && r.Child == nil {
		t := time.NewTicker(followEvery)
		defer t.Stop()
		follow = t.C
	}
	if r.Interval > 0 && len(r.plan.Tables) > 0 {
		t := time.NewTicker(r.Interval)
		defer t.Stop()
		look = t.C
	}
	for r.broken() == nil {
		select {
		case <-ctx.Done():
			return
		case <-follow:
			if r.allEnded() {
				return
			}
		case <-look:
			tables, err := r.tables()
			if err != nil {
				r.show(func() error { return r.Output.Problem(err) })
				continue
			}
			r.show(func() error { return r.Output.Tables(tables, false) })
		}
	}
}

// changed lists the files in which others changed what the run did, or stopped its
// recording.
func (r *run) changed() []string {
	drifts, err := r.applied.Drifts()
	if err != nil {
		return []string{err.Error()}
	}
	var files []string
	for _, d := range drifts {
		if d.Step.File != "" && !slices.Contains(files, d.Step.File) {
			files = append(files, d.Step.File)
		}
	}
	file := tracefs.In(r.plan.Instance, "tracing_on")
	if text, err := r.FS.Read(file); err == nil && r.ours && !r.turnsRecording() && strings.TrimSpace(string(text)) == "0" {
		files = append(files, file)
	}
	return files
}

// turnsRecording reports whether the script itself turns its buffer on and off.
func (r *run) turnsRecording() bool {
	is := func(file string) bool { return path.Base(file) == "tracing_on" }
	for i := range r.plan.Writes {
		w := &r.plan.Writes[i]
		if is(w.File) || slices.ContainsFunc(w.Restore, func(x plan.Write) bool { return is(x.File) }) {
			return true
		}
	}
	return false
}

// quiet stops recording, so that reading comes to an end. In an instance of
// others it is theirs to stop.
func (r *run) quiet() {
	defer r.endSnapshots()
	if r.ours {
		_ = r.FS.Write(tracefs.In(r.plan.Instance, "tracing_on"), "0", tracefs.Truncate) // reading ends without it too
	}
}

// finish shows the snapshot, the histograms, and what was lost.
func (r *run) finish() error {
	if err := r.broken(); err != nil {
		return err
	}
	swapped := r.snapshot()
	tables, err := r.tables()
	if err == nil {
		r.show(func() error { return r.Output.Tables(tables, true) })
	}
	for _, t := range tables {
		r.result.Dropped += t.Dropped
	}
	r.result.Full, r.result.Missed = r.unpaired()
	if r.reader != nil {
		losses := events.WithSnapshot(r.reader.Losses(), swapped)
		for _, l := range losses {
			r.result.Lost += l.Lost()
		}
		r.show(func() error { return r.Output.Losses(losses) })
	}
	r.show(r.Output.Flush)
	return errors.Join(err, r.broken())
}

// tables reads the plan's histograms.
func (r *run) tables() ([]*hist.Table, error) {
	var list []*hist.Table
	for _, p := range r.plan.Tables {
		t, err := hist.Read(r.FS.FS(), r.plan.Instance, p)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// contain makes a panic of a goroutine the end of the run, so that all is taken
// back.
func (r *run) contain() {
	if p := recover(); p != nil {
		r.show(func() error { return internal(p) })
	}
}

// internal makes an error of what a panic says. It is called where the panic is
// recovered.
func internal(p any) error { return fmt.Errorf("internal error: %v\n%s", p, debug.Stack()) }

// show calls f, which writes to the output, alone.
func (r *run) show(f func() error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = f()
	}
}

func (r *run) broken() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// sayIfOff tells that nothing is recorded where others have turned that off.
func (r *run) sayIfOff() {
	if r.ours || r.Say == nil || len(r.plan.Streams) == 0 {
		return
	}
	file := tracefs.In(r.plan.Instance, "tracing_on")
	if text, err := r.FS.Read(file); err == nil && strings.TrimSpace(string(text)) == "0" {
		r.Say("nothing is recorded there until somebody writes 1 to %s", file)
	}
}

// say tells what is traced, where, and how it ends.
func (r *run) say() {
	if r.Say == nil {
		return
	}
	var what []string
	for _, s := range r.plan.Streams {
		what = append(what, s.Name)
	}
	for _, t := range r.plan.Tables {
		what = append(what, t.Name)
	}
	if len(what) == 0 {
		what = append(what, "what the script acts on")
	}
	if len(what) > 6 {
		what = append(what[:5], fmt.Sprintf("%d more", len(what)-5))
	}
	where := ""
	if text, err := os.ReadFile("/sys/devices/system/cpu/online"); err == nil {
		where = " on CPU " + strings.TrimSpace(string(text))
	}
	end := "until Ctrl-C"
	switch {
	case r.Child != nil:
		end = fmt.Sprintf("until '%s' ends", r.Child.name)
	case r.For > 0:
		end = fmt.Sprintf("for %v", r.For)
	case len(r.Follow) > 0:
		end = fmt.Sprintf("until process %s and its children end", strings.ReplaceAll(list(r.Follow), " ", ", "))
	}
	r.Say("tracing %s%s, %s", strings.Join(what, ", "), where, end)
}
