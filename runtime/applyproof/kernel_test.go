package applyproof

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/runtime/session"
	"github.com/eptrace/ep/runtime/tracefs"
	"github.com/eptrace/ep/runtime/vm"
)

// Where things lie in the guest.
const (
	scriptDir = "/scripts"
	program   = "/bin/ep-" + runtime.GOARCH      // the command
	busybox   = "/bin/busybox-" + runtime.GOARCH // may be missing
)

var cases = []vm.Case{
	on("scripts", 10*time.Minute, runScripts),
	on("faults-openat", 10*time.Minute, func(b *bench) { b.breakScript("openat.ep", "") }),
	on("faults-many", 10*time.Minute, func(b *bench) { b.breakScript("many.ep", manyScript) }),
	on("faults-removals", 10*time.Minute, func(b *bench) { b.breakScript("removals.ep", removalScript) }),
	on("faults-actions", 10*time.Minute, func(b *bench) { b.breakTopLevel("actions.ep", actionScript) }),
	on("faults-journal", 10*time.Minute, breakJournal),
	on("changed-meanwhile", 3*time.Minute, proveChangedMeanwhile),
	on("child-of-killed", 3*time.Minute, proveChildOfKilled),
	on("others-records", 3*time.Minute, proveOthersRecords),
	on("actions-undone", 3*time.Minute, proveActionsUndone),
	on("faults-top-level", 10*time.Minute, func(b *bench) { b.breakTopLevel("hists.ep", histScript) }),
	on("faults-update", 10*time.Minute, breakUpdates),
	complaining(on("killed-at-any-time", 10*time.Minute, killAtAnyTime)),
	on("signals", 3*time.Minute, proveSignals),
	on("broken-output", 3*time.Minute, proveBrokenOutput),
	on("two-runs", 3*time.Minute, proveTwoRuns),
	on("child-and-pid", 3*time.Minute, proveFollowing),
	on("installed", 3*time.Minute, proveInstalled),
	on("taken-names", 3*time.Minute, proveTakenNames),
	on("kernel-that-lies", 3*time.Minute, proveLies),
	on("panic", 3*time.Minute, provePanic),
	on("onlooker", 3*time.Minute, proveOnlooker),
	on("stopped-reader", 3*time.Minute, proveStoppedReader),
	on("processes", 3*time.Minute, proveProcesses),
	on("load", 10*time.Minute, measureLoad),
	on("speed-start", 3*time.Minute, measureStart),
	on("speed-batch", 3*time.Minute, measureBatch),
}

func TestMain(m *testing.M) {
	session.Gate()
	if what := os.Getenv(workerMark); what != "" {
		os.Exit(workerMain(what))
	}
	if os.Getenv(childMark) != "" {
		os.Exit(child())
	}
	os.Exit(vm.Main(m, cases))
}

func TestKernels(t *testing.T) {
	machine := vm.Machine{Files: map[string]string{}}
	err := filepath.WalkDir("../../testdata/scripts", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".ep") {
			name, _ := filepath.Rel("../../testdata/scripts", path)
			machine.Files[scriptDir+"/"+name] = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("EP_KERNEL_TESTS") != "" {
		for _, arch := range []string{"amd64", "arm64"} {
			path, err := vm.BuildCommand(t.Context(), arch, "../../cmd/ep")
			if err != nil {
				t.Fatal(err)
			}
			machine.Files["/bin/ep-"+arch] = path
			if path, err := vm.Busybox(arch); err == nil {
				machine.Files["/bin/busybox-"+arch] = path
			}
		}
	}
	machine.Test(t, cases)
}

// on makes a case that works on a bench.
func on(name string, timeout time.Duration, run func(b *bench)) vm.Case {
	return vm.Case{Name: name, Timeout: timeout, Run: func(g *vm.G) { run(newBench(g)) }}
}

// complaining lets the kernel complain: one that is killed while its process has
// an instance made says "failed to allocate ring buffer" (5.10).
func complaining(c vm.Case) vm.Case {
	c.MayComplain = true
	return c
}

// eprobes reports whether the kernel derives events; Debian's 5.10 does not.
func (b *bench) eprobes() bool { return b.Kernel().AtLeast(6, 0) }

// bench is what a case works with in a guest. What goes wrong with it ends the
// case.
type bench struct {
	*vm.G
	fs   *tracefs.FS
	live *target.Target
}

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
	return &bench{G: g, fs: f, live: live}
}

// compile compiles a script for the live kernel into an instance; nil if the
// kernel cannot, with the reason.
func (b *bench) compile(name, text, instance string) (*plan.Plan, string) {
	p, list, err := compileLive(name, text, instance)
	if err != nil {
		b.Fatalf("%v", err)
	}
	if p == nil {
		for _, d := range list {
			if d.Severity == diag.Error {
				return nil, fmt.Sprintf("%s [%s]", d.Message, d.Code)
			}
		}
	}
	return p, ""
}

func compileLive(name, text, instance string) (*plan.Plan, diag.List, error) {
	live, err := target.Open("live", os.DirFS("/"))
	if err != nil {
		return nil, nil, err
	}
	if text == "" {
		file, err := os.ReadFile(filepath.Join(scriptDir, name))
		if err != nil {
			return nil, nil, err
		}
		text = string(file)
	}
	src, err := source.New(name, text)
	if err != nil {
		return nil, nil, err
	}
	p, list := compiler.Compile(src, live, compiler.Options{Instance: instance})
	return p, list, nil
}

// manyScript becomes some twenty writes.
const manyScript = `
event opened from syscall openat { file = str(filename), flags, fd = $ret, took = $elapsed }
event lat from sched.sched_waking as wake then sched.sched_switch as run by wake.pid == run.next_pid having d > 1us
{ pid = run.next_pid, d = run.$time - wake.$time }
event slim from sched.sched_switch where prev_pid > 0 { prev = prev_pid, next = next_pid }
hist lats from lat by slot = log2(d) sort by slot
hist sizes from kmem.kmalloc by size = log2(bytes_req) sort by size
trace opened, lat, slim
trace sched.sched_process_exit where pid > 1
on slim where next == 1 do stack
`

// removalScript has a plan that removes triggers again, and events that triggers
// turn on and off.
const removalScript = `
event sw from sched.sched_switch { next_pid }
event once from sched.sched_wakeup as a then sched.sched_switch as b by a.pid == b.next_pid
then sched.sched_switch as c by b.next_pid == c.prev_pid { pid = a.pid, l = c.$time - a.$time }
trace once
on sched.sched_process_fork do start sw
on sched.sched_process_exit do stop sw
on sw where next_pid == 1 do stop
`

// actionScript turns its own events, the kernel's, and the whole buffer.
const actionScript = `
event forked from sched.sched_process_fork { child_pid }
event gone from sched.sched_process_exit { pid }
event slim from sched.sched_switch { prev = prev_pid }
trace forked
on forked do start slim
on gone do stop
on gone do start power.cpu_idle
`

// histScript is what a top level can have beside others.
const histScript = `
event slim from sched.sched_switch { prev = prev_pid, next = next_pid }
hist sizes from kmem.kmalloc where bytes_req > 8 by size = log2(bytes_req) sort by size
hist switches from slim by next
trace slim where prev > 1
trace sched.sched_process_fork
`

// probeScript works where there are no eprobes.
const probeScript = `
event reads from kprobe vfs_read(file, buf, n) { file: x64, n: u64 }
event writes from kprobe vfs_write(file, buf, n) { file: x64, n: u64 }
trace reads, writes
trace sched.sched_process_fork
`
