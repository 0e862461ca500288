package applyproof

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/events"
	"github.com/eptrace/ep/runtime/session"
	"github.com/eptrace/ep/runtime/tracefs"
	"golang.org/x/sys/unix"
)

// lying is a tracefs that carries out another command than it is asked to, once,
// and says that all is well.
type lying struct {
	*tracefs.FS
	from, to string
}

func (l *lying) Write(name, data string, mode tracefs.Mode) error {
	if l.from != "" && strings.Contains(data, l.from) {
		data = strings.Replace(data, l.from, l.to, 1)
		l.from = ""
	}
	return l.FS.Write(name, data, mode)
}

// proveLies: what is written with success and is then shown otherwise is taken
// back with all the rest.
func proveLies(b *bench) {
	if !b.eprobes() {
		b.Skipf("this kernel has no eprobes")
	}
	b.foreign()
	const script = `
event slim from sched.sched_switch { prev = prev_pid, next = next_pid }
hist sizes from kmem.kmalloc by bytes_req
trace slim where prev > 1
`
	for _, instance := range []string{"ep-lies", ""} {
		p, why := b.compile("lies.ep", script, instance)
		if p == nil {
			b.Fatalf("%s", why)
		}
		before := b.state(touched(p))
		for _, lie := range [][2]string{
			{"prev=$prev_pid:", "prev=$prev_prio:"}, {"keys=bytes_req", "keys=bytes_req,bytes_alloc"}, {"prev > 1", "prev > 2"},
		} {
			f := &lying{FS: b.fs, from: lie[0], to: lie[1]}
			_, err := apply.Apply(b.Context(), f, p)
			if f.from != "" {
				b.Errorf("'%s' is not written: %v", lie[0], err)
			}
			var refused *apply.Error
			if !errors.As(err, &refused) || refused.Diagnostic().Code != "kernel-differs" {
				b.Errorf("%s for %s: %v", lie[1], lie[0], err)
			}
			b.same("a kernel that took "+lie[1], before, b.state(touched(p)))
		}
	}
}

// panicking is an Output that breaks.
type panicking struct{ session.Output }

func (panicking) Record(*events.Record) error { panic("a bug of the test") }

// provePanic: a bug is told, and all is taken back.
func provePanic(b *bench) {
	p, why := b.compile("switch.ep", "trace sched.sched_switch", "ep-panic")
	if p == nil {
		b.Fatalf("%s", why)
	}
	before := b.whole()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	_, err := session.Run(ctx, p, session.Options{FS: b.fs, Proc: os.DirFS("/proc"), Output: panicking{session.NewText(os.Stderr, session.Format{})}})
	if err == nil || !strings.Contains(err.Error(), "internal error: a bug of the test") || !strings.Contains(err.Error(), "manners_test.go") {
		b.Errorf("got %v", err)
	}
	b.same("a panic", before, b.whole())
}

// proveOnlooker: who looks at the instance as it is to be removed does not keep
// it.
func proveOnlooker(b *bench) {
	p, why := b.compile("switch.ep", "trace sched.sched_switch", "ep-seen")
	if p == nil {
		b.Fatalf("%s", why)
	}
	before := b.whole()
	var looked int
	over := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
			}
			f, err := os.Open("/sys/kernel/tracing/instances/ep-seen/trace_clock")
			time.Sleep(20 * time.Millisecond)
			if err == nil {
				looked++
				_ = f.Close()
				time.Sleep(20 * time.Millisecond)
			}
		}
	})
	_, err := session.Run(b.Context(), p, session.Options{FS: b.fs, Proc: os.DirFS("/proc"), For: 200 * time.Millisecond, Output: session.NewText(io.Discard, session.Format{})})
	close(over)
	wait.Wait()
	if err != nil || looked == 0 {
		b.Errorf("looked %d times: %v", looked, err)
	}
	b.same("an onlooker", before, b.whole())
}

// proveStoppedReader: a run whose output is not read ends by a signal all the
// same, and in time.
func proveStoppedReader(b *bench) {
	before := b.whole()
	read, write, err := os.Pipe()
	if err != nil {
		b.Fatalf("%v", err)
	}
	defer read.Close()
	r := b.start(write, "-e", "trace sched.sched_switch")
	_ = write.Close()
	for last := -1; ; { // the pipe is full when nothing more comes
		b.work()
		time.Sleep(300 * time.Millisecond)
		n, err := unix.IoctlGetInt(int(read.Fd()), unix.TIOCINQ)
		if err != nil {
			b.Fatalf("%v", err)
		}
		if n > 0 && n == last {
			break
		}
		last = n
	}
	start := time.Now()
	_ = r.cmd.Process.Signal(syscall.SIGINT)
	if code := r.end(); code != 130 || !strings.Contains(r.stderr.buf.String(), "nobody reads it") {
		b.Errorf("exit code %d\n%s", code, r.stderr.buf.String())
	}
	if took := time.Since(start); took > 20*time.Second {
		b.Errorf("it took %v", took)
	}
	b.same("a reader that stopped", before, b.whole())
}

// proveProcesses: -p ends with its process; runs that begin at once get names of
// their own; ep does not see itself where the kernel cannot leave it out; from the
// first record on none is of others.
func proveProcesses(b *bench) {
	script := b.script()
	before := b.whole()
	sleep := exec.CommandContext(b.Context(), program, "run", "--for", "2s", "-e", "trace sched.sched_process_exit")
	if err := sleep.Start(); err != nil {
		b.Fatalf("%v", err)
	}
	pid := strconv.Itoa(sleep.Process.Pid)
	go func() { _ = sleep.Wait() }()
	if _, said := b.output(0, "run", "-p", pid, script); !strings.Contains(said, "until process "+pid+" and its children end") {
		b.Errorf("%s", said)
	}
	if _, said := b.output(4, "run", "-p", "4194303", script); !strings.Contains(said, "there is no process 4194303\n") {
		b.Errorf("%s", said)
	}

	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() { b.output(0, "run", "--for", "2s", "-o", "/dev/null", script) })
	}
	wait.Wait()
	b.same("four runs at once", before, b.whole())

	out, _ := b.output(0, "run", "--for", "1s", "--top-level", "-e", "trace syscalls.sys_enter_openat")
	if strings.Contains(out, " ep-") && strings.Contains(out, "per_cpu") {
		b.Errorf("ep sees itself:\n%.2000s", out)
	}
	stop := make(chan struct{})
	wait.Go(func() { // what must not be seen
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = os.ReadFile("/proc/version")
			}
		}
	})
	for range 5 {
		out, _ := b.output(0, "run", "-c", program+" version", script)
		if strings.Contains(out, "/proc/version") {
			b.Errorf("-c saw others:\n%s", out)
		}
	}
	close(stop)
	wait.Wait()
	b.same("processes", before, b.whole())
}
