// Package shproof asks kernels whether the scripts of `ep compile --as sh` do
// what they say with nothing but a BusyBox there: it starts and stops them, has
// them refused and killed half way, and compares tracefs before and after. It has
// tests alone; read this file first.
package shproof

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
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

func TestMain(m *testing.M) { os.Exit(vm.Main(m, cases)) }

func TestKernels(t *testing.T) {
	files := map[string]string{}
	for _, arch := range []string{"amd64", "arm64"} {
		busybox, err := vm.Busybox(arch)
		if err != nil {
			t.Skip(err)
		}
		files["/"+arch+"/busybox"] = busybox
	}
	scripts, err := filepath.Glob("../../testdata/scripts/*.ep")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("got %d scripts and %v", len(scripts), err)
	}
	for _, s := range scripts {
		files["/scripts/"+filepath.Base(s)] = s
	}
	vm.Machine{Files: files}.Test(t, cases)
}

const tracefs = "/sys/kernel/tracing/"

// busybox lays the BusyBox of the guest's architecture in the PATH, as a system
// that has nothing else would.
func busybox(g *vm.G) {
	if _, err := os.Lstat("/bin/sh"); err == nil {
		return // a case before did it
	}
	program := "/" + runtime.GOARCH + "/busybox"
	if out, err := exec.Command(program, "--install", "-s", "/bin").CombinedOutput(); err != nil {
		g.Fatalf("install BusyBox: %v\n%s", err, out)
	}
}

// compile returns the plan of a script for the running kernel, nil if it cannot
// be carried out here.
func compile(g *vm.G, name, text string) (*plan.Plan, emit.Machine) {
	t, err := target.Open("live", os.DirFS("/"))
	if err != nil {
		g.Fatalf("%v", err)
	}
	src, err := source.New(name, text)
	if err != nil {
		g.Fatalf("%v", err)
	}
	p, list := compiler.Compile(src, t, compiler.Options{})
	if list.HasErrors() {
		var b strings.Builder
		if err := diag.Text(&b, list, diag.TextOptions{}); err != nil {
			g.Fatalf("%v", err)
		}
		g.Logf("not for this kernel:\n%s", b.String())
		return nil, emit.Machine{}
	}
	return p, emit.Machine{Release: t.Release(), Arch: t.Arch()}
}

// script is a plan as a file of shell.
type script struct {
	g    *vm.G
	path string
}

func write(g *vm.G, p *plan.Plan, m emit.Machine) script {
	var b bytes.Buffer
	if err := emit.Sh(&b, p, m); err != nil {
		g.Fatalf("%v", err)
	}
	s := script{g, filepath.Join(g.TempDir(), "script.sh")}
	if err := os.WriteFile(s.path, b.Bytes(), 0o644); err != nil {
		g.Fatalf("%v", err)
	}
	return s
}

// run runs the script with the word and wants the exit code.
func (s script) run(word string, want int) (stdout, stderr string) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(s.g.Context(), "/bin/sh", s.path, word)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else if err != nil {
		s.g.Fatalf("run sh: %v", err)
	}
	if got != want {
		s.g.Errorf("%s: exit code %d, want %d; standard error:\n%s", word, got, want, errs.String())
	}
	return out.String(), errs.String()
}

// state is all of tracefs that scripts change, and the folder of their state.
func state(g *vm.G) string {
	var b strings.Builder
	show := func(name string) {
		text, err := os.ReadFile(name)
		if err != nil {
			g.Fatalf("%v", err)
		}
		b.WriteString(name + ": " + string(text) + "\n")
	}
	for _, f := range []string{"dynamic_events", "trace_clock", "set_event", "set_event_pid", "tracing_on"} {
		show(tracefs + f)
	}
	for _, system := range []string{"sched", "syscalls", "raw_syscalls", "block", "kmem"} {
		for _, f := range []string{"trigger", "filter"} {
			files, err := filepath.Glob(tracefs + "events/" + system + "/*/" + f)
			if err != nil {
				g.Fatalf("%v", err)
			}
			for _, name := range files {
				text, err := os.ReadFile(name)
				if err != nil {
					g.Fatalf("%v", err)
				}
				if !strings.HasPrefix(string(text), "# Available triggers") && string(text) != "none\n" {
					b.WriteString(name + ": " + string(text) + "\n")
				}
			}
		}
	}
	for _, dir := range []string{tracefs + "instances", "/run"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			g.Fatalf("%v", err)
		}
		for _, e := range entries {
			b.WriteString(dir + "/" + e.Name() + "\n")
		}
	}
	return b.String()
}

// same fails the case unless tracefs is as it was.
func same(g *vm.G, before string) {
	after := state(g)
	if after == before {
		return
	}
	for line := range strings.Lines(after) {
		if !slices.Contains(strings.SplitAfter(before, "\n"), line) {
			g.Errorf("left behind: %s", strings.TrimSpace(line))
		}
	}
	for line := range strings.Lines(before) {
		if !slices.Contains(strings.SplitAfter(after, "\n"), line) {
			g.Errorf("lost: %s", strings.TrimSpace(line))
		}
	}
	g.Fatalf("tracefs is not as it was")
}

// set writes a file of tracefs.
func set(g *vm.G, name, value string, flag int) {
	f, err := os.OpenFile(tracefs+name, os.O_WRONLY|flag, 0)
	if err == nil {
		_, err = f.WriteString(value)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		g.Fatalf("%v", err)
	}
}
