package applyproof

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/eptrace/ep/runtime/tracefs"
	"golang.org/x/sys/unix"
)

// These cases drive the command ep as its users do.

// journalDir is where the command, which is root's here, keeps its journals.
const journalDir = "/run/ep"

// script returns a script that works on the kernel.
func (b *bench) script() string {
	if b.eprobes() {
		return scriptDir + "/openat.ep"
	}
	path := "/tmp/probes.ep"
	if err := os.WriteFile(path, []byte(probeScript), 0o600); err != nil {
		b.Fatalf("%v", err)
	}
	return path
}

func (b *bench) command(args ...string) *exec.Cmd {
	return exec.CommandContext(b.Context(), program, args...)
}

// output runs the command, demands an exit code, and returns what it printed.
func (b *bench) output(code int, args ...string) (stdout, stderr string) {
	cmd := b.command(args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	got := exitCode(cmd.Run())
	if got != code {
		b.Errorf("ep %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, out.String(), errOut.String())
	}
	return out.String(), errOut.String()
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return -int(status.Signal())
		}
		return exit.ExitCode()
	}
	if err != nil {
		return -1000
	}
	return 0
}

// running is a run of ep that traces.
type running struct {
	b      *bench
	cmd    *exec.Cmd
	stderr *lineWaiter
}

// lineWaiter keeps what is written and tells when a text was.
type lineWaiter struct {
	want string
	seen chan struct{}
	buf  bytes.Buffer
	done bool
}

func (w *lineWaiter) Write(p []byte) (int, error) {
	w.buf.Write(p)
	if !w.done && strings.Contains(w.buf.String(), w.want) {
		w.done = true
		close(w.seen)
	}
	return len(p), nil
}

// start starts ep run, and returns when it traces.
func (b *bench) start(stdout *os.File, args ...string) *running {
	r := &running{b: b, cmd: b.command(append([]string{"run"}, args...)...), stderr: &lineWaiter{want: "ep: tracing", seen: make(chan struct{})}}
	r.cmd.Stderr = r.stderr
	if stdout != nil {
		r.cmd.Stdout = stdout
	}
	if err := r.cmd.Start(); err != nil {
		b.Fatalf("%v", err)
	}
	ended := make(chan struct{})
	go func() {
		select {
		case <-b.Context().Done():
		case <-ended:
		}
	}()
	select {
	case <-r.stderr.seen:
	case <-time.After(30 * time.Second):
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
		b.Fatalf("ep run does not trace: %s", r.stderr.buf.String())
	}
	close(ended)
	return r
}

// end waits for the end and returns the exit code.
func (r *running) end() int { return exitCode(r.cmd.Wait()) }

// proveSignals: each signal that can be caught ends a run with nothing left, and
// after one that cannot ep clean does.
func proveSignals(b *bench) {
	b.foreign()
	script := b.script()
	before := b.whole()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGUSR1, syscall.SIGALRM} {
		r := b.start(nil, script)
		_ = r.cmd.Process.Signal(s)
		if code := r.end(); code != 128+int(s) {
			b.Errorf("%v: exit code %d\n%s", s, code, r.stderr.buf.String())
		}
		b.same(s.String(), before, b.whole())
		if left := b.journals(journalDir); len(left) > 0 {
			b.Errorf("%v: left the journals %q", s, left)
		}
	}
	r := b.start(nil, script)
	_ = r.cmd.Process.Kill()
	if code := r.end(); code != -int(syscall.SIGKILL) {
		b.Errorf("killed: exit code %d", code)
	}
	if out, _ := b.output(0, "status"); !strings.Contains(out, "ep clean") {
		b.Errorf("status after a kill: %s", out)
	}
	if _, said := b.output(0, "run", "--for", "100ms", script); !strings.Contains(said, "left events behind; 'ep clean'") {
		b.Errorf("the next run does not offer to clean:\n%s", said)
	}
	out, _ := b.output(0, "clean")
	b.Logf("clean: %s", strings.TrimSpace(out))
	b.same("killed and cleaned", before, b.whole())
	if out, _ := b.output(0, "clean"); out != "" {
		b.Errorf("cleaned twice: %s", out)
	}
}

// proveBrokenOutput: a pipe that nobody reads, and a full disk.
func proveBrokenOutput(b *bench) {
	script := b.script()
	before := b.whole()
	read, write, err := os.Pipe()
	if err != nil {
		b.Fatalf("%v", err)
	}
	r := b.start(write, script)
	_ = write.Close()
	_ = read.Close()
	b.work() // something to write
	if code := r.end(); code != 128+int(syscall.SIGPIPE) {
		b.Errorf("a closed pipe: exit code %d\n%s", code, r.stderr.buf.String())
	}
	b.same("a closed pipe", before, b.whole())

	// Also if there is nothing to write.
	if read, write, err = os.Pipe(); err != nil {
		b.Fatalf("%v", err)
	}
	r = b.start(write, "-e", "trace sched.sched_process_exec where pid == 1")
	_ = write.Close()
	_ = read.Close()
	if code := r.end(); code != 128+int(syscall.SIGPIPE) {
		b.Errorf("a closed pipe, and nothing to write: exit code %d\n%s", code, r.stderr.buf.String())
	}
	b.same("a closed pipe, and nothing to write", before, b.whole())

	if err := os.MkdirAll("/tmp/small", 0o755); err != nil {
		b.Fatalf("%v", err)
	}
	if err := unix.Mount("tmpfs", "/tmp/small", "tmpfs", 0, "size=4096"); err != nil {
		b.Fatalf("%v", err)
	}
	defer func() { _ = unix.Unmount("/tmp/small", unix.MNT_DETACH) }()
	r = b.start(nil, "-o", "/tmp/small/out", script)
	for range 20 {
		b.work()
		if r.cmd.ProcessState != nil || strings.Contains(r.stderr.buf.String(), "no space") {
			break
		}
	}
	if code := r.end(); code != 4 || !strings.Contains(r.stderr.buf.String(), "no space left") {
		b.Errorf("a full disk: exit code %d\n%s", code, r.stderr.buf.String())
	}
	b.same("a full disk", before, b.whole())
}

// proveTwoRuns: runs of one script beside each other see the same, and none
// harms another.
func proveTwoRuns(b *bench) {
	script := b.script()
	before := b.whole()
	var runs []*running
	var outs []string
	for i := range 3 {
		path := "/tmp/two-" + strconv.Itoa(i)
		outs = append(outs, path)
		runs = append(runs, b.start(nil, "-o", path, script))
	}
	if out, _ := b.output(0, "status"); strings.Count(out, "running") != 3 {
		b.Errorf("status of three runs:\n%s", out)
	}
	b.work()
	time.Sleep(300 * time.Millisecond) // what is recorded last is read a little later
	for i, r := range runs {
		_ = r.cmd.Process.Signal(syscall.SIGINT)
		if code := r.end(); code != 130 {
			b.Errorf("run %d: exit code %d\n%s", i, code, r.stderr.buf.String())
		}
		text, err := os.ReadFile(outs[i])
		if err != nil || !bytes.Contains(text, []byte("ep-")) {
			b.Errorf("run %d saw nothing of the work: %v\n%.500s", i, err, text)
		}
		if i > 0 && !strings.Contains(r.stderr.buf.String(), "end in '_"+strconv.Itoa(i+1)+"'") {
			b.Errorf("run %d does not say that it has other names:\n%s", i, r.stderr.buf.String())
		}
	}
	b.same("three runs", before, b.whole())
}

// proveFollowing: -c and -p see the program and its children, from its first
// act, and nothing else; triggers without a condition heed it too.
func proveFollowing(b *bench) {
	before := b.whole()
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() { // what must not be seen
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				b.work()
			}
		}
	}()
	script := "trace sched.sched_process_exec\n"
	if b.eprobes() {
		script = "trace sched.sched_process_exec { filename, pid }\n"
	}
	out, said := b.output(0, "run", "-c", program+" version", "-e", script)
	if n := strings.Count(out, "sched_process_exec"); n != 1 || !strings.Contains(out, "filename="+program) {
		b.Errorf("-c saw %d programs begin, want 1:\n%s", n, out)
	}
	if !strings.Contains(said, "ep devel") && !strings.Contains(said, "ep v") {
		b.Errorf("what the program prints goes to standard error, got:\n%s", said)
	}
	if _, said := b.output(127, "run", "-c", "/none", "-e", script); !strings.Contains(said, "run '/none'") {
		b.Errorf("a program that is not there: %s", said)
	}
	b.output(80, "run", "-c", program+" --no-such-flag", "-e", script)
	out, _ = b.output(0, "run", "-c", program+" version", "-e", "on sched.sched_process_exec do stack")
	if !strings.Contains(out, " stack caller=") || !strings.Contains(out, "exec") {
		b.Errorf("no stack of an exec is shown:\n%s", out)
	}
	if b.eprobes() {
		// Tracing would stop at once if others' programs counted.
		out, _ := b.output(0, "run", "-c", program+" version", "-e", script+"on sched.sched_process_fork do stop\n")
		if !strings.Contains(out, "sched_process_exec") {
			b.Errorf("a trigger of others stopped the run:\n%s", out)
		}
		out, _ = b.output(0, "run", "-c", program+" version", scriptDir+"/openat.ep")
		if strings.TrimSpace(out) == "" {
			b.Errorf("-c saw no file opened")
		}
	}
	close(stop)
	<-done
	b.same("following", before, b.whole())
}

// proveInstalled: apply, status, plan, drift, update, remove.
func proveInstalled(b *bench) {
	if !b.eprobes() {
		b.Skipf("this kernel has no eprobes")
	}
	b.foreign()
	before := b.whole()
	path := "/tmp/inst.ep"
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatalf("%v", err)
		}
	}
	const first = "event slim from sched.sched_switch { prev = prev_pid }\nevent opened from syscall openat { file = str(filename) }\nhist n from kmem.kmalloc by size = bucket(bytes_req, 64)\ntrace slim, opened\n"
	write(first)
	if out, _ := b.output(2, "plan", path); strings.Count(out, "+ ") < 5 || strings.Contains(out, "- ") {
		b.Errorf("plan before:\n%s", out)
	}
	b.output(0, "apply", path)
	applied := b.whole()
	if out, _ := b.output(0, "plan", path); out != "" {
		b.Errorf("plan after:\n%s", out)
	}
	b.output(0, "apply", path)
	b.same("applied again", applied, b.whole())
	b.work()
	if out, _ := b.output(0, "status"); !strings.Contains(out, "inst ") || !strings.Contains(out, "installed") {
		b.Errorf("status:\n%s", out)
	}

	// Somebody turns an event off and removes a histogram.
	set := func(file, data string, mode tracefs.Mode) {
		if err := b.fs.Write(file, data, mode); err != nil {
			b.Fatalf("%v", err)
		}
	}
	set("instances/ep-inst/events/ep_inst/slim/enable", "0", tracefs.Truncate)
	const trigger = "instances/ep-inst/events/kmem/kmalloc/trigger"
	text, err := b.fs.Read(trigger)
	if err != nil {
		b.Fatalf("%v", err)
	}
	set(trigger, "!hist:keys=bytes_req.buckets=64", tracefs.Append)
	if now, err := b.fs.Read(trigger); err != nil || string(now) == string(text) {
		b.Fatalf("not removed: %s", text)
	}
	out, _ := b.output(3, "status")
	if !strings.Contains(out, "off: instances/ep-inst/events/ep_inst/slim/enable") || !strings.Contains(out, "gone: "+trigger) {
		b.Errorf("status of what others changed:\n%s", out)
	}
	if out, _ := b.output(2, "plan", path); strings.Count(out, "! ") != 2 {
		b.Errorf("plan of what others changed:\n%s", out)
	}
	b.output(0, "apply", path)
	b.same("mended", applied, b.whole())

	// The least change: of two events one is another now.
	write(strings.Replace(first, "{ prev = prev_pid }", "{ prev = prev_pid, next = next_pid }", 1))
	out, _ = b.output(2, "plan", path)
	if strings.Contains(out, "openat") {
		b.Errorf("the event that is the same is touched:\n%s", out)
	}
	b.Logf("plan of a change:\n%s", out)
	b.output(0, "apply", path)
	b.output(0, "plan", path)
	write(first)
	b.output(0, "apply", path)
	b.same("changed and changed back", applied.unordered(), b.whole().unordered())
	applied = b.whole()

	// A filter is set anew, also while its event is on; what others set in the
	// script's own instance is set back.
	filtered := strings.Replace(first, "trace slim, opened", "trace slim where prev > 1\ntrace opened", 1)
	write(filtered)
	b.output(0, "apply", path)
	write(strings.Replace(filtered, "> 1", "> 2", 1))
	if out, _ := b.output(2, "plan", path); strings.Count(out, "\n") != 2 {
		b.Errorf("plan of another filter:\n%s", out)
	}
	b.output(0, "apply", path)
	set("instances/ep-inst/events/ep_inst/slim/filter", "prev > 3", tracefs.Truncate)
	if out, _ := b.output(3, "status"); strings.Count(out, "changed: ") != 1 {
		b.Errorf("status of what others set:\n%s", out)
	}
	b.output(0, "apply", path)
	b.output(0, "status")
	if text, err := b.fs.Read("instances/ep-inst/events/ep_inst/slim/filter"); err != nil || string(text) != "prev > 2\n" {
		b.Errorf("the filter is %q: %v", text, err)
	}
	write(first)
	b.output(0, "apply", path)
	b.same("filtered and not", applied.unordered(), b.whole().unordered())

	// A change that the kernel refuses changes nothing.
	write(strings.Replace(first, "prev = prev_pid", "other = prev_pid", 1) + "hist m from kmem.kmalloc by bytes_alloc\n")
	set(trigger, "hist:keys=bytes_alloc", tracefs.Append)
	_, said := b.output(4, "apply", path)
	set(trigger, "!hist:keys=bytes_alloc", tracefs.Append)
	if !strings.Contains(said, path+":5:13: error: ") || !strings.Contains(said, "the event has this trigger already, not made by ep") {
		b.Errorf("whose the trigger is: %s", said)
	}
	b.Logf("%s", said)
	b.same("a change that is refused", applied.unordered(), b.whole().unordered())

	// What others use cannot be removed, and that is said; later it can.
	const used = "events/ep_inst/slim/enable"
	set(used, "1", tracefs.Truncate)
	if _, said := b.output(4, "remove", "inst"); !strings.Contains(said, "event 'ep_inst.slim' cannot be removed: it is on in the top level") {
		b.Errorf("remove what is in use: %s", said)
	}
	if out, _ := b.output(0, "status"); !strings.Contains(out, "'ep clean' removes it") {
		b.Errorf("status of what is half removed:\n%s", out)
	}
	set(used, "0", tracefs.Truncate)
	b.output(0, "remove", "inst")
	b.same("removed", before, b.whole())
	b.output(4, "remove", "inst")
	if left := b.journals(journalDir); len(left) > 0 {
		b.Errorf("journals: %q", left)
	}
}

// proveTakenNames: whose a name is, and what the kernel refuses, is said at the
// script's place.
func proveTakenNames(b *bench) {
	if err := b.fs.Write("dynamic_events", "p:kprobes/mine vfs_read", tracefs.Append); err != nil {
		b.Fatalf("%v", err)
	}
	defer func() {
		if err := b.fs.Write("dynamic_events", "-:kprobes/mine", tracefs.Append); err != nil {
			b.Errorf("%v", err)
		}
	}()
	before := b.whole()
	_, said := b.output(4, "run", "--for", "1s", "-e", "event kprobes.mine from kprobe vfs_write(f) { f: x64 }\ntrace kprobes.mine")
	b.Logf("%s", said)
	if !strings.Contains(said, "-e:1:7: error: event 'kprobes.mine' is taken: there is a probe of this name, not made by ep") {
		b.Errorf("no place, or no holder: %s", said)
	}
	path := "/tmp/taken.ep"
	if err := os.WriteFile(path, []byte("event kprobes.mine from kprobe vfs_write(f) { f: x64 }\ntrace kprobes.mine\n"), 0o600); err != nil {
		b.Fatalf("%v", err)
	}
	if _, said := b.output(4, "plan", path); !strings.Contains(said, "event 'kprobes.mine' is taken") {
		b.Errorf("plan does not tell: %s", said)
	}
	b.same("a taken name", before, b.whole())

	if !b.eprobes() {
		b.Logf("this kernel has no joins, which set a clock")
		return
	}
	// A join sets the clock, which would empty the buffer of who records there.
	const enable = "events/sched/sched_process_fork/enable"
	for _, set := range [][2]string{{"trace_clock", "local"}, {enable, "1"}} {
		if err := b.fs.Write(set[0], set[1], tracefs.Truncate); err != nil {
			b.Fatalf("%v", err)
		}
	}
	before = b.whole()
	if _, said := b.output(4, "run", "--for", "1s", "--top-level", scriptDir+"/wakeup.ep"); !strings.Contains(said, "somebody records events there, and another clock would empty the buffer") {
		b.Errorf("the clock of others: %s", said)
	}
	b.same("the clock of others", before, b.whole())
	if err := b.fs.Write(enable, "0", tracefs.Truncate); err != nil {
		b.Errorf("%v", err)
	}
}
