package sourceproof

import (
	"fmt"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// tracepointCases prove raw tracepoints: that their first argument is the first,
// and all others in their places.
var tracepointCases = []vm.Case{
	on("tracepoint", fprobes, proveTracepoint),
	on("tracepoint-exec", fprobes, proveTracepointExec),
	on("tracepoint-refused", every, func(b *bench) {
		b.refused("trace tracepoint sched_swich { $comm }", diag.UnknownSymbol)
		if !fprobes(b.Kernel()) {
			b.refused("trace tracepoint sched_process_fork { pid = child->pid }", diag.MissingFeature)
		}
	}),
}

func proveTracepoint(b *bench) {
	pid, tid := 0, 0
	const raw = `
event raw from tracepoint sched_process_fork { from = parent->pid, to = child->pid, first = ($arg(1) as *task_struct)->pid, name = child->comm }
event static from sched.sched_process_fork { from = parent_pid, to = child_pid }
trace raw, static`
	const more = `
event declared from tracepoint sched_process_fork(a: *task_struct, b: *task_struct) { from = a->pid, to = b->pid }
event picked from tracepoint sched_process_fork where child->comm == "forker" { to = child->pid }
trace declared, picked`
	fork := func() (err error) {
		name := []byte("forker\x00")
		if err := unix.Prctl(unix.PR_SET_NAME, pointer(name), 0, 0, 0); err != nil {
			return err
		}
		tid = unix.Gettid()
		pid, err = child()
		return err
	}
	one := b.live.Has(target.QuirkOneTracepointProbe)
	script := raw + more
	if one {
		b.refused(script, diag.KernelQuirk, diag.KernelQuirk)
		script = raw
	}
	r := b.run(script, fork)
	row := fmt.Sprintf("%d %d", tid, pid)
	r.want("raw", "from to first name", fmt.Sprintf("%s %d forker", row, tid))
	r.want("static", "from to", row)
	if !one {
		r.want("declared", "from to", row)
		r.want("picked", "to", fmt.Sprint(pid))
	}
}

// proveTracepointExec: a number among pointers, and text behind two of these.
func proveTracepointExec(b *bench) {
	pid := 0
	r := b.run(`
event e from tracepoint sched_process_exec { who = p->pid, old = old_pid, file = str(bprm->filename), argc = bprm->argc }
trace e`, func() (err error) {
		pid, err = child("two", "three")
		return err
	})
	r.wantBy("e", pid, "who old file argc", fmt.Sprintf("%d %d /proc/self/exe 4", pid, pid))
}
