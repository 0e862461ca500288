package applyproof

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/eptrace/ep/compiler/emit"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/tracefs"
)

// measureStart compares the time from the start of ep run to tracing with that of
// a shell that does the bare writes.
func measureStart(b *bench) {
	if !b.eprobes() {
		b.Skipf("openat.ep does not compile here")
	}
	p, why := b.compile("openat.ep", "", "ep-speed")
	if p == nil {
		b.Fatalf("%s", why)
	}
	const rounds = 5
	var ep, loop, shell time.Duration
	for i := range rounds + 1 {
		start := time.Now()
		r := b.start(nil, scriptDir+"/openat.ep")
		took := time.Since(start)
		_ = r.cmd.Process.Signal(os.Interrupt)
		r.end()

		start = time.Now()
		if err := b.fs.MakeInstance(p.Instance); err != nil {
			b.Fatalf("%v", err)
		}
		for _, w := range p.Writes {
			mode, file := tracefs.Append, w.File
			if w.Mode == plan.Truncate {
				mode = tracefs.Truncate
			}
			if w.Instanced {
				file = tracefs.In(p.Instance, file)
			}
			if err := b.fs.Write(file, w.Data, mode); err != nil {
				b.Fatalf("%v", err)
			}
		}
		bare := time.Since(start)
		b.undo(p)

		sh := time.Duration(0)
		if _, err := os.Stat(busybox); err == nil {
			var lines bytes.Buffer
			if err := emit.Echo(&lines, p); err != nil {
				b.Fatalf("%v", err)
			}
			cmd := exec.CommandContext(b.Context(), busybox, "sh", "-ec", lines.String())
			cmd.Dir = b.fs.Dir()
			start = time.Now()
			if text, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, text)
			}
			sh = time.Since(start)
			b.undo(p)
		}
		if i > 0 { // the first time fills caches
			ep, loop, shell = ep+took, loop+bare, shell+sh
		}
	}
	b.Logf("ep run of openat.ep to tracing: %v; the bare writes: a loop %v, a shell %v; %.1f and %.1f times",
		ep/rounds, loop/rounds, shell/rounds, float64(ep)/float64(loop), float64(ep)/float64(max(shell, 1)))
	if shell > 0 && ep > 3*shell {
		b.Errorf("ep run takes more than 3 times as long as a shell that does the bare writes")
	}
}

// undo takes back the writes of p, done by others.
func (b *bench) undo(p *plan.Plan) {
	for i := len(p.Writes) - 1; i >= 0; i-- {
		u := p.Writes[i].Undo
		if u == nil {
			continue
		}
		mode, file := tracefs.Append, u.File
		if u.Mode == plan.Truncate {
			mode = tracefs.Truncate
		}
		if u.Instanced {
			file = tracefs.In(p.Instance, file)
		}
		if err := b.fs.Write(file, u.Data, mode); err != nil {
			b.Fatalf("%s: %v", u.Data, err)
		}
	}
	if err := b.fs.RemoveInstance(p.Instance); err != nil {
		b.Fatalf("%v", err)
	}
}

// measureBatch compares 200 events made by apply, with all that it looks at and
// notes down, with a shell for each: probes of functions, and of events.
func measureBatch(b *bench) {
	b.batch("kprobes", "event many%d from kprobe vfs_read(file, buf, n) { n: u64 }\n", "p:ep_batch/many%d vfs_read n=$arg3:u64", 0)
	if b.eprobes() {
		b.batch("eprobes", "event many%d from sched.sched_process_exit { pid }\n", "e:ep_batch/many%d sched.sched_process_exit pid=$pid:s32", 5)
	}
}

// batch demands that apply be want times as fast as a shell for each event. The
// kernel's own work for a kprobe takes longer than any shell, so of these it is
// told alone.
func (b *bench) batch(kind, statement, line string, want float64) {
	const events = 200
	var script strings.Builder
	var lines []string
	for i := range events {
		fmt.Fprintf(&script, statement, i)
		lines = append(lines, fmt.Sprintf(line, i))
	}
	p, why := b.compile("batch.ep", script.String(), "")
	if p == nil {
		b.Fatalf("%s", why)
	}
	start := time.Now()
	a, err := apply.Apply(b.Context(), b.fs, p)
	if err != nil {
		b.Fatalf("%v", err)
	}
	batched := time.Since(start)
	start = time.Now()
	if err := a.Undo(); err != nil {
		b.Fatalf("%v", err)
	}
	undone := time.Since(start)
	if _, err := os.Stat(busybox); err != nil {
		b.Skipf("no BusyBox to compare with: %v for %d %s", batched, len(p.Writes), kind)
	}
	start = time.Now()
	for _, line := range lines {
		cmd := exec.CommandContext(b.Context(), busybox, "sh", "-c", "echo '"+line+"' >> "+b.fs.Dir()+"/dynamic_events")
		if text, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, text)
		}
	}
	single := time.Since(start)
	for i := range lines {
		if err := b.fs.Write("dynamic_events", fmt.Sprintf("-:ep_batch/many%d", i), tracefs.Append); err != nil {
			b.Fatalf("%v", err)
		}
	}
	ratio := float64(single) / float64(batched)
	b.Logf("%d %s: %v by one write, %v back; %v by a shell for each: %.1f times", len(p.Writes), kind, batched, undone, single, ratio)
	if ratio < want {
		b.Errorf("%s by one write are made %.1f times as fast, want %v", kind, ratio, want)
	}
}
