// Package bootproof boots kernels with what ep prints for a booting kernel, the
// parameters of its command line and a bootconfig, and reads what they recorded
// before any program ran. It has tests only; read this file first.
package bootproof

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/emit"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/runtime/vm"
)

func TestMain(m *testing.M) {
	os.Exit(vm.Main(m, slices.Concat(cmdlineCases, instanceCases, bootconfigCases)))
}

const tracefs = "/sys/kernel/tracing"

// compile returns the plan of a script for a booting kernel.
func compile(text string, to *target.Target) (*plan.Plan, diag.List) {
	src, err := source.New("boot.ep", text)
	if err != nil {
		panic(err)
	}
	return compiler.Compile(src, to.AtBoot(), compiler.Options{})
}

func embedded(name string) *target.Target {
	to, err := target.Embedded(name)
	if err != nil {
		panic(err)
	}
	return to
}

// The program of the guest is process 1: the kernel's own exec of it is the first
// that sched_process_exec sees with pid 1, and a program it starts has a pid and a
// name that it knows.
const (
	// onCmdline is for kernels without trace_trigger and trace_instance.
	onCmdline = `
trace sched.sched_process_exec
event starts from func begin_new_exec.enter
trace starts
event ends from func begin_new_exec.exit { $ret }
trace ends
`
	triggers = `
hist sched.sched_process_fork by parent_pid
on sched.sched_process_exit where pid == 77777 do stop
`
	execOfInit = "sched_process_exec: filename=/init pid=1 old_pid=1"
)

// params returns the parameters that a script compiles to for a kernel.
func params(k vm.Kernel, text string) string {
	to := embedded(k.Name)
	p, list := compile(text, to)
	var out strings.Builder
	if p != nil {
		var err error
		if list, err = emit.Cmdline(&out, p, to); err != nil {
			panic(err)
		}
	}
	if list.HasErrors() {
		_ = diag.Text(&out, list, diag.TextOptions{})
		panic(k.Name + ":\n" + out.String())
	}
	return strings.TrimSpace(out.String())
}

func TestKernels(t *testing.T) {
	vm.Machine{Params: func(k vm.Kernel) string {
		if withTriggers(k) {
			return params(k, onCmdline+triggers)
		}
		return params(k, onCmdline)
	}}.Test(t, cmdlineCases)
}

// TestInstance has a boot of its own: a kernel with both trace_trigger and
// trace_instance puts the triggers on the instance's events too, without their
// conditions.
func TestInstance(t *testing.T) {
	vm.Machine{Params: func(k vm.Kernel) string {
		if withTriggers(k) {
			return params(k, "option instance boot\ntrace sched.sched_process_exec\n")
		}
		return ""
	}}.Test(t, instanceCases)
}

// withTriggers reports whether a kernel has trace_trigger and trace_instance.
func withTriggers(k vm.Kernel) bool { return k.AtLeast(6, 3) }

var instanceCases = []vm.Case{
	{Name: "instance", Match: withTriggers, Run: func(g *vm.G) {
		if trace := read(g, "instances/boot/trace"); !hasRecord(trace, execOfInit) {
			g.Errorf("no record of the kernel's exec of /init in the instance:\n%s", head(trace))
		}
	}},
}

var cmdlineCases = []vm.Case{
	{Name: "records", Run: func(g *vm.G) {
		trace := read(g, "trace")
		if !hasRecord(trace, execOfInit) {
			g.Errorf("no record of the kernel's exec of /init in:\n%s", head(trace))
		}
		for _, name := range []string{"starts: (begin_new_exec", "ends: ("} {
			if !hasRecord(trace, name) {
				g.Errorf("no record with '%s' in:\n%s", name, head(trace))
			}
		}
		if !hasRecord(trace, "ret=0") {
			g.Errorf("no result 0 of begin_new_exec in:\n%s", head(trace))
		}
	}},
	{Name: "triggers", Match: withTriggers, Run: func(g *vm.G) {
		hist := read(g, "events/sched/sched_process_fork/hist")
		if !strings.Contains(hist, "{ parent_pid:          2 }") {
			g.Errorf("no fork of kthreadd (2) is counted in:\n%s", hist)
		}
		if text := read(g, "events/sched/sched_process_exit/trigger"); !strings.Contains(text, "traceoff:unlimited if pid == 77777") {
			g.Errorf("the trigger is '%s'", text)
		}
	}},
}

// onBootconfig has each thing that a bootconfig can say.
const onBootconfig = `
option buffer 1MiB
trace sched.sched_process_exec where pid == 1
event starts from func begin_new_exec.enter
trace starts
event forked
  from sched.sched_process_fork as fork
  then sched.sched_wakeup_new as wake by fork.child_pid == wake.pid
{ pid = wake.pid, parent = fork.parent_pid, took = wake.$time - fork.$time }
trace forked
hist sched.sched_process_fork where parent_pid == 2 by parent_pid
hist initcall.initcall_finish by ret
on sched.sched_process_exit where pid == 77777 do stop, start sched.sched_switch
trace syscall openat.enter
trace sched.sched_switch paused
`

// built is a kernel with CONFIG_BOOTTIME_TRACING, which Debian's lack: kernel.sh
// beside this file builds it.
var built = vm.Kernel{Name: "6.12-boot-x86_64", Series: "6.12", Arch: "x86_64"}

func TestBootconfig(t *testing.T) {
	to := embedded("6.12-x86_64")
	p, list := compile(onBootconfig, to)
	var out strings.Builder
	if p != nil {
		var err error
		if list, err = emit.Bootconfig(&out, p); err != nil {
			t.Fatal(err)
		}
	}
	if list.HasErrors() {
		_ = diag.Text(&out, list, diag.TextOptions{})
		t.Fatal(out.String())
	}
	vm.Machine{Bootconfig: out.String()}.TestOn(t, built, bootconfigCases)
}

var bootconfigCases = []vm.Case{
	{Name: "bootconfig", Run: func(g *vm.G) {
		trace := read(g, "trace")
		for _, want := range []string{execOfInit, "starts: (begin_new_exec", "forked: pid=", "sys_openat(dfd: "} {
			if !hasRecord(trace, want) {
				g.Errorf("no record with '%s' in:\n%s", want, head(trace))
			}
		}
		if text := read(g, "events/sched/sched_process_exec/filter"); strings.TrimSpace(text) != "pid == 1" {
			g.Errorf("the filter is '%s'", text)
		}
		if hist := read(g, "events/sched/sched_process_fork/hist"); !strings.Contains(hist, "{ parent_pid:          2 }") {
			g.Errorf("no fork of kthreadd (2) is counted in:\n%s", hist)
		}
		if hist := read(g, "events/initcall/initcall_finish/hist"); !strings.Contains(hist, "{ ret:          0 }") {
			g.Errorf("no initcall that returned 0 is counted in:\n%s", hist)
		}
		text := read(g, "events/sched/sched_process_exit/trigger")
		for _, want := range []string{"traceoff:unlimited if pid == 77777", "enable_event:sched:sched_switch:unlimited if pid == 77777"} {
			if !strings.Contains(text, want) {
				g.Errorf("no '%s' among the triggers:\n%s", want, text)
			}
		}
		// Some sizes are rounded up to whole pages of records.
		if kb, err := strconv.Atoi(strings.TrimSpace(read(g, "buffer_size_kb"))); err != nil || kb < 1024 || kb > 1100 {
			g.Errorf("the buffer has %d KiB (%v), expected 1024", kb, err)
		}
	}},
}

func read(g *vm.G, name string) string {
	data, err := os.ReadFile(filepath.Join(tracefs, name))
	if err != nil {
		g.Fatalf("read: %v", err)
	}
	return string(data)
}

func hasRecord(trace, part string) bool {
	for line := range strings.Lines(trace) {
		if !strings.HasPrefix(line, "#") && strings.Contains(line, part) {
			return true
		}
	}
	return false
}

func head(s string) string { return s[:min(len(s), 4000)] }
