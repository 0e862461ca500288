// Package histproof asks kernels whether the histograms of scripts count what
// happened: scripts are compiled for the machine, carried out by runtime/apply,
// read by runtime/hist, and held against what the program itself did. It has
// tests alone; read this file first.
package histproof

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/events"
	"github.com/eptrace/ep/runtime/hist"
	"github.com/eptrace/ep/runtime/symbol"
	"github.com/eptrace/ep/runtime/tracefs"
	"github.com/eptrace/ep/runtime/vm"
)

// Debian's 5.10 has no histograms.
func hasHists(k vm.Kernel) bool { return k.AtLeast(6, 1) }

// A kernel that is built with UBSAN complains of log2 of numbers below zero.
var cases = []vm.Case{
	{Name: "sizes", Run: countSizes, Match: hasHists},
	{Name: "greatest", Run: countGreatest, Match: hasHists},
	{Name: "tasks", Run: countTasks, Match: hasHists},
	{Name: "calls", Run: countCalls, Match: hasHists},
	{Name: "symbols", Run: countSymbols, Match: hasHists},
	{Name: "stacks", Run: countStacks, Match: hasHists},
	{Name: "carried", Run: countCarried, Match: func(k vm.Kernel) bool { return k.AtLeast(6, 4) }},
	{Name: "negative", Run: countNegative, Match: hasHists, MayComplain: true},
	{Name: "durations", Run: countDurations, Match: hasHists},
	{Name: "paths", Run: countPaths, Match: hasHists},
	{Name: "names", Run: countNames, Match: hasHists},
	{Name: "sources", Run: countSources, Match: hasHists},
	{Name: "full", Run: countFull, Match: hasHists},
	{Name: "paused", Run: countPaused, Match: hasHists},
	{Name: "nothing", Run: countNothing, Match: hasHists},
	{Name: "faults", Run: countFaults, Match: hasHists},
}

func TestMain(m *testing.M) { os.Exit(vm.Main(m, cases)) }

func TestKernels(t *testing.T) { vm.Test(t, cases) }

const instance = "histproof"

// run carries out a script in an instance of its own, in which the event
// foreign has histograms of somebody else's, calls do on a thread that does
// nothing else, and returns the tables by name. TID in the script is the
// thread.
func run(g *vm.G, script, foreign string, do func() error) map[string]*hist.Table {
	w := newWorker(do)
	script = strings.ReplaceAll(script, "TID", fmt.Sprint(w.tid))
	p, live := compile(g, script)
	f, err := tracefs.Open("")
	if err != nil {
		g.Fatalf("%v", err)
	}
	defer f.Close()
	if err := f.MakeInstance(instance); err != nil {
		g.Fatalf("%v", err)
	}
	defer func() {
		if err := f.RemoveInstance(instance); err != nil {
			g.Errorf("%v", err)
		}
	}()
	other := "instances/" + instance + "/events/" + foreign + "/trigger"
	for _, line := range []string{"hist:keys=common_pid,common_cpu", "hist:keys=common_flags:vals=common_pid if common_pid > 0"} {
		if err := f.Write(other, line, tracefs.Append); err != nil {
			g.Fatalf("%v", err)
		}
		defer func() {
			if err := f.Write(other, "!"+line, tracefs.Append); err != nil {
				g.Errorf("%v", err)
			}
		}()
	}
	a, err := apply.Apply(g.Context(), f, p)
	if err != nil {
		g.Fatalf("%s\n%v", script, err)
	}
	defer func() {
		if err := a.Undo(); err != nil {
			g.Errorf("%v", err)
		}
	}()
	if err := w.work(); err != nil {
		g.Fatalf("%v", err)
	}
	names := events.Names{Symbols: symbol.New(os.DirFS("/proc")), Syscalls: live}
	return read(g, os.DirFS(f.Dir()), p, names)
}

// compile compiles a script for this machine.
func compile(g *vm.G, script string) (*plan.Plan, *target.Target) {
	t, err := target.Open("live", os.DirFS("/"))
	if err != nil {
		g.Fatalf("%v", err)
	}
	src, err := source.New("proof.ep", script)
	if err != nil {
		g.Fatalf("%v", err)
	}
	p, list := compiler.Compile(src, t, compiler.Options{Instance: instance})
	if list.HasErrors() {
		for _, d := range list {
			g.Errorf("%s: %s", src.Slice(d.Span), d.Message)
		}
		g.FailNow()
	}
	for _, w := range p.Writes {
		g.Logf("%s > %s", w.Data, w.File)
	}
	return p, t
}

// read reads all tables of a plan, and logs how they look.
func read(g *vm.G, fsys fs.FS, p *plan.Plan, names events.Names) map[string]*hist.Table {
	out := map[string]*hist.Table{}
	for _, t := range p.Tables {
		got, err := hist.Read(fsys, p.Instance, t)
		if err != nil {
			g.Fatalf("%v", err)
		}
		if got.Unread != 0 {
			g.Errorf("%s: %d entries were not read", got.Name, got.Unread)
		}
		var b strings.Builder
		top := *got
		top.Limit(12)
		if err := top.Render(&b, hist.Options{Width: 120, Percent: true, Names: names}); err != nil {
			g.Fatalf("%v", err)
		}
		g.Logf("%s%s", b.String(), top.AppendJSON(nil, &names))
		out[t.Name] = got
	}
	return out
}

// rows returns the counts of a table by the text that key makes of a row.
func rows(t *hist.Table, key func(*hist.Row) string) map[string]uint64 {
	out := map[string]uint64{}
	for i := range t.Rows {
		out[key(&t.Rows[i])] += t.Rows[i].Count
	}
	return out
}

// equal fails the case if the counts are not those wanted.
func equal(g *vm.G, what string, got, want map[string]uint64) {
	for k, n := range want {
		if got[k] != n {
			g.Errorf("%s: %q: got %d, want %d", what, k, got[k], n)
		}
	}
	for k, n := range got {
		if _, ok := want[k]; !ok {
			g.Errorf("%s: %q: got %d, want none", what, k, n)
		}
	}
}

// total returns the sum of all counts.
func total(t *hist.Table) (n uint64) {
	for i := range t.Rows {
		n += t.Rows[i].Count
	}
	return n
}

// worker is a thread for a workload. The runtime gives it no other work, for it
// is locked, and ends it after.
type worker struct {
	tid   int
	start chan struct{}
	done  chan error
}

func newWorker(do func() error) *worker {
	w := &worker{start: make(chan struct{}), done: make(chan error)}
	tid := make(chan int)
	go func() {
		runtime.LockOSThread()
		tid <- unix.Gettid()
		<-w.start
		w.done <- do()
	}()
	w.tid = <-tid
	return w
}

func (w *worker) work() error {
	close(w.start)
	return <-w.done
}

// zeros reads so many bytes of /dev/zero, each number by one call.
func zeros(sizes ...int) error {
	fd, err := unix.Open("/dev/zero", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	buf := make([]byte, 1<<17)
	for _, n := range sizes {
		if got, err := unix.Read(fd, buf[:n]); err != nil || got != n {
			return fmt.Errorf("read %d: got %d, %w", n, got, err)
		}
	}
	return nil
}

// nap sleeps by one call of the kernel's for each time.
func nap(n int, d time.Duration) error {
	for range n {
		t := unix.NsecToTimespec(int64(d))
		if err := unix.Nanosleep(&t, nil); err != nil {
			return err
		}
	}
	return nil
}
