package applyproof

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/eptrace/ep/runtime/tracefs"
)

// proveChangedMeanwhile: what somebody changes of a run is told at its end, with an
// exit code; and ep clean in another PID namespace, where the run's process cannot
// be seen, lets a live run be.
func proveChangedMeanwhile(b *bench) {
	before := b.whole()
	instance := func() string {
		list, err := filepath.Glob(b.fs.Dir() + "/instances/ep-*")
		if err != nil || len(list) != 1 {
			b.Fatalf("the run's instance: %v, %v", list, err)
		}
		return filepath.Base(list[0])
	}
	for file, data := range map[string]string{
		"tracing_on":                       "0",
		"events/sched/sched_switch/enable": "0",
		"set_event":                        "",
	} {
		r := b.start(nil, "-e", "trace sched.sched_switch")
		if err := b.fs.Write(tracefs.In(instance(), file), data, tracefs.Truncate); err != nil {
			b.Fatalf("%v", err)
		}
		_ = r.cmd.Process.Signal(syscall.SIGINT)
		if code := r.end(); code != 4 || !strings.Contains(r.stderr.buf.String(), "somebody changed what this run set") {
			b.Errorf("%s: exit code %d\n%s", file, code, r.stderr.buf.String())
		}
		b.same(file, before, b.whole())
	}
	if _, err := os.Stat(busybox); err != nil {
		b.Logf("no BusyBox: another PID namespace is not tried")
		return
	}
	r := b.start(nil, "-e", "trace sched.sched_switch")
	running := b.whole()
	cmd := exec.CommandContext(b.Context(), busybox, "sh", "-c", busybox+" mount -t proc proc /proc && "+program+" clean")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if err != nil || len(out) > 0 {
		b.Errorf("ep clean in another PID namespace: %v: %s", err, out)
	}
	b.same("ep clean in another PID namespace", running, b.whole())
	_ = r.cmd.Process.Signal(syscall.SIGINT)
	if code := r.end(); code != 128+int(syscall.SIGINT) {
		b.Errorf("exit code %d\n%s", code, r.stderr.buf.String())
	}
	b.same("the end", before, b.whole())
}

// proveChildOfKilled: the program of ep run -c ends with ep, however that ends.
func proveChildOfKilled(b *bench) {
	if _, err := os.Stat(busybox); err != nil {
		b.Skipf("no BusyBox")
	}
	const file = "/tmp/child.pid"
	_ = os.Remove(file)
	r := b.start(nil, "-e", "trace sched.sched_process_exit", "-c", busybox+" sh -c 'echo $$ >"+file+"; exec "+busybox+" sleep 1000'")
	pid := 0
	for range 100 {
		text, _ := os.ReadFile(file) // not there yet
		if pid, _ = strconv.Atoi(strings.TrimSpace(string(text))); pid > 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if pid == 0 || syscall.Kill(pid, 0) != nil {
		b.Fatalf("the child does not run: %s", r.stderr.buf.String())
	}
	time.Sleep(time.Second) // its starter's threads have come and gone
	if syscall.Kill(pid, 0) != nil {
		b.Fatalf("the child ended by itself")
	}
	_ = r.cmd.Process.Kill()
	r.end()
	for range 100 {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			b.output(0, "clean")
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	b.Errorf("the child of a killed run lives on")
}

// proveOthersRecords: a run in an instance that others record in refuses events
// whose removal would empty their buffer, and leaves the records.
func proveOthersRecords(b *bench) {
	if !b.eprobes() {
		b.Skipf("this kernel has no eprobes")
	}
	if err := b.fs.MakeInstance("theirs"); err != nil {
		b.Fatalf("%v", err)
	}
	b.Cleanup(func() { _ = b.fs.RemoveInstance("theirs") })
	set := func(file, data string) {
		if err := b.fs.Write(tracefs.In("theirs", file), data, tracefs.Truncate); err != nil {
			b.Fatalf("%v", err)
		}
	}
	records := func() int {
		text, err := b.fs.Read("instances/theirs/trace")
		if err != nil {
			b.Fatalf("%v", err)
		}
		return strings.Count(string(text), ": mark\n")
	}
	const script = "event slim from sched.sched_switch { prev = prev_pid }\ntrace slim"
	b.output(0, "run", "--for", "200ms", "--instance", "theirs", "-e", script) // empty: nothing is lost
	set("trace_marker", "mark")
	if n := records(); n != 1 {
		b.Fatalf("%d records of ours", n)
	}
	for range 2 { // records that are there; an event that is on
		if _, errOut := b.output(4, "run", "--for", "200ms", "--instance", "theirs", "-e", script); !strings.Contains(errOut, "would empty the buffer") {
			b.Errorf("got %s", errOut)
		}
		if n := records(); n != 1 {
			b.Errorf("%d records are left", n)
		}
		set("events/sched/sched_process_exec/enable", "1")
	}
	b.output(0, "run", "--for", "200ms", "--instance", "theirs", "-e", "trace sched.sched_switch") // nothing is removed; reading takes records
	set("events/sched/sched_process_exec/enable", "0")
}
