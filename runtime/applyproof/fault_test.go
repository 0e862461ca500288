package applyproof

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/journal"
	"github.com/eptrace/ep/runtime/tracefs"
)

// childMark has the test's program be a child that applies a script and takes it
// back. Its value is the journal's folder, the instance, the script's name, the
// number of the change where it ends, and whether before or after; parted by
// blanks.
const childMark = "EP_APPLYPROOF_CHILD"

// errFault is a change that is broken.
var errFault = errors.New("a fault of the test")

// faulty is a tracefs whose change number at fails, or ends the process, before
// or after it is done.
type faulty struct {
	*tracefs.FS
	at    int
	after bool
	kill  bool

	atRead int // the read that fails, counted from 1; 0 is none
	reads  int
	n      int
	tried  bool
}

func (f *faulty) change(do func() error) error {
	n := f.n
	f.n++
	if n == f.at && !f.after {
		if err := f.fault(); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	if n == f.at && f.after {
		return f.fault()
	}
	return nil
}

func (f *faulty) fault() error {
	f.tried = true
	if f.kill {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return &fs.PathError{Op: "write", Path: "?", Err: errFault}
}

func (f *faulty) Write(name, data string, mode tracefs.Mode) error {
	return f.change(func() error { return f.FS.Write(name, data, mode) })
}

// Read fails too, where nothing is to be killed: a process that ends there has
// changed as much as at the change after it.
func (f *faulty) Read(name string) ([]byte, error) {
	n := f.reads
	f.reads++
	if f.atRead > 0 && n == f.atRead-1 {
		return nil, f.fault()
	}
	return f.FS.Read(name)
}

func (f *faulty) MakeInstance(name string) error {
	return f.change(func() error { return f.FS.MakeInstance(name) })
}

func (f *faulty) RemoveInstance(name string) error {
	return f.change(func() error { return f.FS.RemoveInstance(name) })
}

// applyAndUndo applies a plan and takes it back, with a journal.
func applyAndUndo(f apply.Tracefs, dir *journal.Dir, p *plan.Plan) error {
	self, err := journal.Self(os.DirFS("/proc"))
	if err != nil {
		return err
	}
	boot, err := journal.Boot(os.DirFS("/proc"))
	if err != nil {
		return err
	}
	w, err := dir.Create("run-fault", journal.Head{Kind: journal.Run, Owner: self, Boot: boot, Script: p.Script.Name()})
	if err != nil {
		return err
	}
	t := apply.Transaction{FS: f, Journal: w}
	a, err := t.Apply(context.Background(), p)
	if err != nil {
		return errors.Join(err, w.Close())
	}
	return errors.Join(a.Undo(), w.Close())
}

// child is the process that is killed.
func child() int {
	words := strings.Fields(os.Getenv(childMark))
	at, err := strconv.Atoi(words[3])
	if err != nil {
		return 2
	}
	f, err := tracefs.Open("")
	if err != nil {
		return 2
	}
	dir, err := journal.OpenDir(words[0], true)
	if err != nil {
		return 2
	}
	instance := words[1]
	if instance == "-" {
		instance = ""
	}
	p, _, err := compileLive(words[2], os.Getenv(childMark+"_TEXT"), instance)
	if err != nil || p == nil {
		return 2
	}
	if limit, err := strconv.ParseUint(os.Getenv(childMark+"_LIMIT"), 10, 64); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		if syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}) != nil {
			return 2
		}
	}
	if words[4] == "wait" {
		fmt.Println("ready")
	}
	if err := applyAndUndo(&faulty{FS: f, at: at, after: words[4] == "after", kill: true}, dir, p); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// breakScript breaks a script in an instance of its own.
func (b *bench) breakScript(name, text string) { b.breakIn(name, text, "ep-fault") }

// breakTopLevel breaks one at the top level, beside what others have there.
func (b *bench) breakTopLevel(name, text string) { b.breakIn(name, text, "") }

// breakIn has each change of a script fail, and the process end there, before
// and after it; then takes back what is left by the journal, and demands that
// the kernel be as it was.
func (b *bench) breakIn(name, text, instance string) {
	if !b.eprobes() {
		name, text = "probes.ep", probeScript
	}
	p, why := b.compile(name, text, instance)
	if p == nil {
		b.Fatalf("%s does not compile: %s", name, why)
	}
	theirs := b.foreign()
	events := touched(p)
	before := b.state(events)
	changes, faults := 0, 0
	for n := 0; ; n++ {
		any := false
		for _, after := range []bool{false, true} {
			for _, kill := range []bool{false, true} {
				tried := b.breakAt(p, text, instance, n, after, kill)
				any = any || tried
				if tried {
					faults++
				}
				if !b.same(fmt.Sprintf("%s broken at change %d (after %v, killed %v)", name, n, after, kill), before, b.state(events)) {
					b.FailNow()
				}
			}
		}
		if !any {
			changes = n
			break
		}
	}
	reads := b.breakReads(p, before, events)
	b.Logf("%s: %d writes, %d changes of the kernel both ways, %d faults, %d reads broken, %d foreign objects: all as before", name, len(p.Writes), changes, faults, reads, theirs)
}

// breakReads has reads of the kernel fail, each once while a plan is applied and
// taken back, up to a number of them.
func (b *bench) breakReads(p *plan.Plan, before state, events []string) int {
	const most = 150
	whole := &faulty{FS: b.fs, at: -1}
	b.applyBroken(whole, p)
	step := max(1, whole.reads/most)
	n := 0
	for at := 1; at <= whole.reads; at += step {
		f := &faulty{FS: b.fs, at: -1, atRead: at}
		b.applyBroken(f, p)
		n++
		if !b.same(fmt.Sprintf("read %d broken", at), before, b.state(events)) {
			b.FailNow()
		}
	}
	return n
}

// applyBroken applies a plan through f, and cleans up.
func (b *bench) applyBroken(f *faulty, p *plan.Plan) {
	base := b.tempDir()
	defer os.RemoveAll(base)
	dir, err := journal.OpenDir(base+"/ep", true)
	if err != nil {
		b.Fatalf("%v", err)
	}
	defer dir.Close()
	_ = applyAndUndo(f, dir, p) // the journal tells
	b.recover(dir)
}

// breakJournal has the journal take no more than so many bytes, as on a full disk:
// in the middle of a line, and at its ends.
func breakJournal(b *bench) {
	name, text := "removals.ep", removalScript
	if !b.eprobes() {
		name, text = "probes.ep", probeScript
	}
	p, why := b.compile(name, text, "ep-fault")
	if p == nil {
		b.Fatalf("%s does not compile: %s", name, why)
	}
	b.foreign()
	events := touched(p)
	before := b.state(events)
	n, refused := 0, 0
	for limit := 1; ; limit += 97 {
		base := b.tempDir()
		cmd := b.childCommand(base+"/ep", p, text, "ep-fault", -1, "journal")
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s_LIMIT=%d", childMark, limit))
		cmd.Stderr = nil
		err := cmd.Run()
		dir, openErr := journal.OpenDir(base+"/ep", true)
		if openErr != nil {
			b.Fatalf("%v", openErr)
		}
		if err := dir.Sweep(); err != nil {
			b.Errorf("%v", err)
		}
		b.recover(dir)
		_ = dir.Close()
		_ = os.RemoveAll(base)
		if !b.same(fmt.Sprintf("a journal of %d bytes", limit), before, b.state(events)) {
			b.FailNow()
		}
		n++
		if err == nil {
			break
		}
		refused++
	}
	if refused < 10 {
		b.Errorf("only %d of %d journals were too short", refused, n)
	}
	b.Logf("%d journals cut off at each 97th byte: all as before", n)
}

// touched lists the events that a plan writes to, as "system/event".
func touched(p *plan.Plan) []string {
	list := []string{"sched/sched_switch", "sched/sched_waking", "sched/sched_wakeup", "sched/sched_process_exec", "sched/sched_process_exit", "kmem/kmalloc", "theirs/kprobe"}
	for _, w := range p.Writes {
		if parts := strings.Split(w.File, "/"); len(parts) == 4 {
			list = append(list, parts[1]+"/"+parts[2])
		}
	}
	return list
}

// breakAt breaks change n, and reports whether there is such a change.
func (b *bench) breakAt(p *plan.Plan, text, instance string, n int, after, kill bool) bool {
	base := b.tempDir()
	defer os.RemoveAll(base)
	path := base + "/ep"
	dir, err := journal.OpenDir(path, true)
	if err != nil {
		b.Fatalf("%v", err)
	}
	defer dir.Close()
	tried := false
	if kill {
		tried = b.killChild(path, p, text, instance, n, after)
	} else {
		f := &faulty{FS: b.fs, at: n, after: after}
		_ = applyAndUndo(f, dir, p) // the journal tells
		tried = f.tried
	}
	b.recover(dir)
	return tried
}

func (b *bench) tempDir() string {
	dir, err := os.MkdirTemp("", "fault-")
	if err != nil {
		b.Fatalf("%v", err)
	}
	return dir
}

// recover does what ep clean does.
func (b *bench) recover(dir *journal.Dir) {
	list, err := dir.List()
	if err != nil {
		b.Fatalf("%v", err)
	}
	for _, j := range list {
		w, err := dir.Append(j.ID)
		if err != nil {
			b.Fatalf("%v", err)
		}
		t := apply.Transaction{FS: b.fs, Journal: w}
		if err := t.Recover(j).Undo(); err != nil {
			b.Errorf("clean: %v", err)
		}
		if err := w.Remove(); err != nil {
			b.Errorf("clean: %v", err)
		}
	}
}

func (b *bench) childCommand(path string, p *plan.Plan, text, instance string, n int, how string) *exec.Cmd {
	if instance == "" {
		instance = "-"
	}
	cmd := exec.CommandContext(b.Context(), "/proc/self/exe")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s %d %s", childMark, path, instance, p.Script.Name(), n, how), childMark+"_TEXT="+text)
	cmd.Stderr = os.Stderr
	return cmd
}

func (b *bench) killChild(path string, p *plan.Plan, text, instance string, n int, after bool) bool {
	how := "before"
	if after {
		how = "after"
	}
	err := b.childCommand(path, p, text, instance, n, how).Run()
	var exit *exec.ExitError
	if err == nil {
		return false
	}
	if !errors.As(err, &exit) {
		b.Fatalf("%v", err)
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		b.Fatalf("the child that is to be killed: %v", err)
	}
	return true
}

// killAtAnyTime kills a child at times that nobody chose: also within a write.
func killAtAnyTime(b *bench) {
	name, text := "many.ep", manyScript
	if !b.eprobes() {
		name, text = "probes.ep", probeScript
	}
	p, why := b.compile(name, text, "ep-fault")
	if p == nil {
		b.Fatalf("%s does not compile: %s", name, why)
	}
	b.foreign()
	events := touched(p)
	before := b.state(events)
	// How long it takes when nobody kills it.
	took := b.killAfter(p, text, time.Hour)
	const rounds = 40
	killed := 0
	for range rounds {
		if b.killAfter(p, text, time.Duration(rand.Int64N(int64(took)))) < 0 {
			killed++
		}
		if !b.same("a run that was killed", before, b.state(events)) {
			b.FailNow()
		}
	}
	b.Logf("%d of %d runs killed at random times within %v: all as before", killed, rounds, took)
}

// killAfter kills a child some time after it is ready, and cleans up. It returns
// how long it took, or -1 if it was killed.
func (b *bench) killAfter(p *plan.Plan, text string, wait time.Duration) time.Duration {
	base := b.tempDir()
	defer os.RemoveAll(base)
	cmd := b.childCommand(base+"/ep", p, text, "ep-fault", -1, "wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatalf("%v", err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatalf("%v", err)
	}
	if _, err := out.Read(make([]byte, 10)); err != nil {
		b.Fatalf("the child was not ready: %v", err)
	}
	start := time.Now()
	timer := time.AfterFunc(wait, func() { _ = cmd.Process.Kill() })
	err = cmd.Wait()
	timer.Stop()
	took := time.Since(start)
	dir, dirErr := journal.OpenDir(base+"/ep", true)
	if dirErr != nil {
		b.Fatalf("%v", dirErr)
	}
	defer dir.Close()
	b.recover(dir)
	if err != nil {
		return -1
	}
	return took
}
