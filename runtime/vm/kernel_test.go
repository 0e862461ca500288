package vm_test

import (
	"bytes"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { os.Exit(vm.Main(m, append(wellCases(), illCases()...))) }

const bigOutput = 8 << 20

func bigBytes() []byte {
	b := make([]byte, bigOutput)
	for i := range b {
		b[i] = byte(i * 7 >> 3)
	}
	return b
}

// wellCases pass on every kernel.
func wellCases() []vm.Case {
	return []vm.Case{
		{Name: "tracefs", Run: func(g *vm.G) {
			events, err := os.ReadFile("/sys/kernel/tracing/available_events")
			if err != nil || !strings.Contains(string(events), "sched:sched_switch\n") {
				g.Fatalf("got %d bytes of available_events and %v: want sched_switch in them", len(events), err)
			}
			var name unix.Utsname
			if err := unix.Uname(&name); err != nil {
				g.Fatalf("uname: %v", err)
			}
			if release := unix.ByteSliceToString(name.Release[:]); !strings.HasPrefix(release, g.Kernel().Series+".") {
				g.Errorf("the kernel is %s: want %s", release, g.Kernel().Series)
			}
		}},
		{Name: "btf", Run: func(g *vm.G) {
			btf, err := os.ReadFile("/sys/kernel/btf/vmlinux")
			if err != nil {
				g.Fatalf("read the types: %v", err)
			}
			start := time.Now()
			g.Output("btf", btf)
			g.Logf("%d bytes in %v", len(btf), time.Since(start))
		}, Check: func(t *testing.T, r vm.Result) {
			if btf := r.Outputs["btf"]; len(btf) < 1<<20 || btf[0] != 0x9f || btf[1] != 0xeb {
				t.Errorf("got %d bytes that are no BTF", len(btf))
			}
		}},
		{Name: "output", Run: func(g *vm.G) {
			g.Output("empty", nil)
			start := time.Now()
			g.Output("big", bigBytes())
			g.Logf("%.1f MiB/s", bigOutput/1024/1024/time.Since(start).Seconds())
		}, Check: func(t *testing.T, r vm.Result) {
			empty, ok := r.Outputs["empty"]
			if !ok || len(empty) != 0 || !bytes.Equal(r.Outputs["big"], bigBytes()) {
				t.Errorf("got %d and %d bytes: want 0 and the very %d", len(empty), len(r.Outputs["big"]), bigOutput)
			}
		}},
		{Name: "network", Run: func(g *vm.G) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				g.Fatalf("listen: %v", err)
			}
			g.Cleanup(func() { _ = l.Close() })
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				g.Fatalf("dial: %v", err)
			}
			_ = c.Close()
		}},
		{Name: "folder", Run: func(g *vm.G) {
			dir := g.TempDir()
			g.Cleanup(func() {
				if _, err := os.Stat(dir); err != nil {
					g.Errorf("a cleanup came after what it was to come before: %v", err)
				}
			})
			if err := os.WriteFile(dir+"/f", nil, 0o600); err != nil {
				g.Fatalf("%v", err)
			}
		}},
		{Name: "skip", Run: func(g *vm.G) { g.Skipf("to see it skipped") }},
		{Name: "nowhere", Match: func(vm.Kernel) bool { return false }, Run: func(g *vm.G) { g.Fatalf("run on a kernel that does not match") }},
	}
}

// illCases end in every way that a case may end but well, each between others.
func illCases() []vm.Case {
	return []vm.Case{
		{Name: "fail", Run: func(g *vm.G) {
			g.Errorf("one")
			g.Cleanup(func() { g.Logf("cleaned up") })
			g.Fatalf("two")
		}},
		{Name: "go-panic", Run: func(g *vm.G) { panic("so be it") }},
		{Name: "kernel-panic", Run: func(g *vm.G) {
			g.Logf("about to")
			if err := os.WriteFile("/proc/sysrq-trigger", []byte("c"), 0); err != nil {
				g.Fatalf("%v", err)
			}
			select {}
		}},
		{Name: "complaint", Run: func(g *vm.G) {
			if err := os.WriteFile("/dev/kmsg", []byte("<4>WARNING: made up\n"), 0); err != nil {
				g.Fatalf("%v", err)
			}
		}},
		{Name: "stuck", Timeout: time.Second, Run: func(g *vm.G) { stuckHere() }},
		{Name: "stray-panic", Run: func(g *vm.G) {
			go func() { panic("from a goroutine of the case") }()
			select {}
		}},
		{Name: "init-ends", Run: func(g *vm.G) { os.Exit(3) }},
		{Name: "halt", Timeout: time.Second, Run: func(g *vm.G) {
			if err := unix.Reboot(unix.LINUX_REBOOT_CMD_HALT); err != nil {
				g.Fatalf("%v", err)
			}
		}},
		{Name: "after", Run: func(g *vm.G) { g.Logf("still here") }},
	}
}

func stuckHere() { select {} }

func TestKernels(t *testing.T) { vm.Test(t, wellCases()) }

// TestIllCasesAreNamed runs on the first kernel that is there, for it takes a boot for each that ends its guest.
func TestIllCasesAreNamed(t *testing.T) {
	k := vm.FirstKernel(t)
	program, err := vm.Build(t.Context(), k.GoArch(), ".")
	if err != nil {
		t.Fatal(err)
	}
	results, err := vm.Machine{Log: t.Logf}.Run(t.Context(), k, program, illCases())
	if err != nil {
		t.Fatal(err)
	}
	wants := []struct {
		name   string
		status vm.Status
		texts  []string // all in the rendering
	}{
		{"fail", vm.Failed, []string{"kernel_test.go:", ": one\n", ": two\n", ": cleaned up"}},
		{"go-panic", vm.Failed, []string{"panic: so be it", "illCases"}},
		{"kernel-panic", vm.Died, []string{"about to", "kernel panic: sysrq triggered crash", "Kernel panic - not syncing"}},
		{"complaint", vm.Passed, []string{"the kernel complained:\nWARNING: made up"}},
		{"stuck", vm.TimedOut, []string{"not done after 1s", "stuckHere"}},
		{"stray-panic", vm.Died, []string{"panic: from a goroutine of the case", "Attempted to kill init"}},
		{"init-ends", vm.Died, []string{"Attempted to kill init"}},
		{"halt", vm.TimedOut, []string{"the guest hung"}},
		{"after", vm.Passed, []string{"still here"}},
	}
	if len(results) != len(wants) {
		t.Fatalf("got %d results, want %d", len(results), len(wants))
	}
	for i, want := range wants {
		r := results[i]
		if r.Case != want.name || r.Status != want.status {
			t.Errorf("got %s, want %s to have status %s", r, want.name, want.status)
		}
		for _, text := range want.texts {
			if !strings.Contains(r.String(), text) {
				t.Errorf("%s: got\n%s\nwant in it %q", want.name, r, text)
			}
		}
	}
}

func TestGuestOfOtherCasesIsAnError(t *testing.T) {
	k := vm.FirstKernel(t)
	program, err := vm.Build(t.Context(), k.GoArch(), ".")
	if err != nil {
		t.Fatal(err)
	}
	results, err := vm.Machine{}.Run(t.Context(), k, program, []vm.Case{{Name: "unheard-of"}})
	if err == nil || len(results) != 0 || !strings.Contains(err.Error(), "no case 'unheard-of'") {
		t.Errorf("got %v and %v", results, err)
	}
}
