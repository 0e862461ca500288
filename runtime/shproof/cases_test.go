package shproof

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/runtime/vm"
)

var cases = []vm.Case{
	{Name: "scripts", Run: scripts, Timeout: 2 * time.Minute},
	{Name: "refused", Run: refused, Timeout: 3 * time.Minute},
	{Name: "killed", Run: killed},
	{Name: "instance", Run: instance, Match: histograms},
	{Name: "before", Run: before, Match: histograms},
	{Name: "long", Run: long},
}

// histograms: Debian's 5.10 is built without them.
func histograms(k vm.Kernel) bool { return k.AtLeast(6, 1) }

// seeds calls f with each seed script that this kernel can carry out, and wants
// one at least.
func seeds(g *vm.G, f func(name, text string)) {
	files, err := filepath.Glob("/scripts/*.ep")
	if err != nil {
		g.Fatalf("%v", err)
	}
	ran := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			g.Fatalf("%v", err)
		}
		if p, _ := compile(g, filepath.Base(file), string(text)); p != nil {
			ran++
			f(filepath.Base(file), string(text))
		}
	}
	if ran == 0 {
		g.Fatalf("no script compiles for this kernel")
	}
	g.Logf("%d of %d scripts", ran, len(files))
}

// scripts starts each seed script, makes happen what it is about, looks whether
// that was recorded, and stops it.
func scripts(g *vm.G) {
	busybox(g)
	was := state(g)
	seeds(g, func(name, text string) {
		p, m := compile(g, name, text)
		s := write(g, p, m)
		s.run("status", 3)
		_, stderr := s.run("start", 0)
		if stderr != "" {
			g.Errorf("%s: start said %s", name, stderr)
		}
		if out, _ := s.run("status", 0); !strings.HasSuffix(out, " is on\n") {
			g.Errorf("%s: status says %s", name, out)
		}
		s.run("start", 0) // once more changes nothing
		workload(g)
		out, _ := s.run("read", 0)
		for _, stream := range p.Streams {
			if n := strings.Count(out, ": "+stream.Event+": "); n == 0 {
				g.Errorf("%s: no record of %s in\n%.2000s", name, stream.Event, out)
			} else {
				g.Logf("%s: %d records of %s", name, n, stream.Event)
			}
		}
		s.run("stop", 0)
		s.run("status", 3)
		s.run("stop", 0)
		same(g, was)
	})
}

// workload opens a file, sleeps, and reads from a disk.
func workload(g *vm.G) {
	for range 20 {
		if _, err := os.ReadFile("/proc/version"); err != nil {
			g.Fatalf("%v", err)
		}
		time.Sleep(2 * time.Millisecond)
	}
	fd, err := syscall.Open("/dev/nvme0n1", syscall.O_RDONLY, 0)
	if err != nil {
		g.Fatalf("%v", err)
	}
	defer syscall.Close(fd)
	// What is in the page cache is not read again.
	if _, _, errno := syscall.Syscall6(syscall.SYS_FADVISE64, uintptr(fd), 0, 0, 4 /* DONTNEED */, 0, 0); errno != 0 {
		g.Fatalf("fadvise: %v", errno)
	}
	buf := make([]byte, 4096)
	if _, err := syscall.Pread(fd, buf, 1<<20); err != nil {
		g.Fatalf("read the disk: %v", err)
	}
}

// refused spoils each write of each seed script in turn: nothing may be left.
func refused(g *vm.G) {
	busybox(g)
	was := state(g)
	seeds(g, func(name, text string) {
		good, m := compile(g, name, text)
		for i := range good.Writes {
			p := *good
			p.Writes = append([]plan.Write(nil), good.Writes...)
			p.Writes[i].Data += " no=such+thing"
			s := write(g, &p, m)
			_, stderr := s.run("start", 1)
			for _, want := range []string{
				"the kernel refused what " + name + ":", p.Writes[i].Data, p.Writes[i].File, "everything has been taken back",
			} {
				if !strings.Contains(stderr, want) {
					g.Errorf("%s, write %d: %q is not in what start said:\n%s", name, i+1, want, stderr)
				}
			}
			if i == 1 {
				g.Logf("%s", stderr)
			}
			s.run("status", 3)
		}
		same(g, was)
	})
}

// killed has the shell killed in the midst of a start: stop must still know what
// was done.
func killed(g *vm.G) {
	busybox(g)
	was := state(g)
	p, m := compile(g, "killed.ep", "event e from sched.sched_switch { next_pid }\ntrace e")
	if p == nil {
		g.Skipf("no eprobes")
	}
	fifo := filepath.Join(g.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		g.Fatalf("%v", err)
	}
	last := len(p.Writes) - 1
	// The write before the last waits for a reader of the FIFO, for ever.
	p.Writes = append(p.Writes[:last:last], plan.Write{File: "../../.." + fifo, Data: "x"}, p.Writes[last])
	s := write(g, p, m)
	cmd := exec.Command("/bin/sh", s.path, "start")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		g.Fatalf("%v", err)
	}
	for { // the case's own timeout ends this
		if _, err := os.Stat(tracefs + "events/ep_killed/e"); err == nil {
			break
		}
		if g.Context().Err() != nil {
			g.Fatalf("the event never came")
		}
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond)
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		g.Fatalf("%v", err)
	}
	_ = cmd.Wait() // it was killed
	if state(g) == was {
		g.Fatalf("the shell was killed before it did anything")
	}
	s.run("stop", 0)
	same(g, was)
}

// instance keeps all but the events themselves in an instance.
func instance(g *vm.G) {
	busybox(g)
	was := state(g)
	p, m := compile(g, "mine.ep", "option instance mine\nhist sched.sched_switch by next_pid\nevent lat from sched.sched_waking as a then sched.sched_switch as b by a.pid == b.next_pid { lat = b.$time - a.$time }\ntrace lat")
	if p == nil {
		g.Fatalf("it does not compile")
	}
	s := write(g, p, m)
	s.run("start", 0)
	workload(g)
	out, _ := s.run("read", 0)
	for _, want := range []string{": lat: lat=", "# sched_switch\n", "{ next_pid: "} {
		if !strings.Contains(out, want) {
			g.Errorf("no %q in\n%.3000s", want, out)
		}
	}
	s.run("stop", 0)
	same(g, was)
}

// before: what files of one value held before comes back, and what belongs to
// others stays.
func before(g *vm.G) {
	busybox(g)
	set(g, "trace_clock", "mono", os.O_TRUNC)
	set(g, "dynamic_events", "p:others/probe vfs_read", os.O_APPEND)
	set(g, "events/sched/sched_switch/trigger", "hist:keys=next_prio", os.O_APPEND)
	set(g, "events/sched/sched_wakeup/enable", "1", os.O_TRUNC)
	g.Cleanup(func() {
		set(g, "events/sched/sched_wakeup/enable", "0", os.O_TRUNC)
		set(g, "events/sched/sched_switch/trigger", "!hist:keys=next_prio", os.O_APPEND)
		set(g, "dynamic_events", "-:others/probe", os.O_APPEND)
		set(g, "trace_clock", "local", os.O_TRUNC)
	})
	was := state(g)
	text := "event lat from sched.sched_waking as a then sched.sched_switch as b by a.pid == b.next_pid { lat = b.$time - a.$time }\ntrace lat\ntrace sched.sched_wakeup"
	p, m := compile(g, "before.ep", text)
	if p == nil {
		g.Fatalf("it does not compile")
	}
	s := write(g, p, m)
	s.run("start", 0)
	if clock, err := os.ReadFile(tracefs + "trace_clock"); err != nil || !strings.Contains(string(clock), "[global]") {
		g.Errorf("the clock is %s, %v: want global", clock, err)
	}
	s.run("stop", 0)
	same(g, was)
}

// long makes a command of nearly a page, which a buffer of the shell might cut
// in two.
func long(g *vm.G) {
	busybox(g)
	was := state(g)
	var text strings.Builder
	text.WriteString("event e from sched.sched_switch {\n")
	for i := range 70 {
		fmt.Fprintf(&text, "a_rather_long_name_of_field_%d = next_pid\n", i)
	}
	text.WriteString("}\ntrace e\n")
	p, m := compile(g, "long.ep", text.String())
	if p == nil {
		g.Skipf("no eprobes")
	}
	if n := len(p.Writes[0].Data); n < 3000 {
		g.Fatalf("the command has only %d bytes", n)
	}
	s := write(g, p, m)
	s.run("start", 0)
	workload(g)
	if out, _ := s.run("read", 0); !strings.Contains(out, " a_rather_long_name_of_field_69=") {
		g.Errorf("the last field is not in\n%.3000s", out)
	}
	s.run("stop", 0)
	same(g, was)
}
