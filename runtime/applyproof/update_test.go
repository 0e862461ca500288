package applyproof

import (
	"fmt"
	"os"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/journal"
)

// updatedScripts are a script and what it is updated to: an event is another, a
// filter, and a histogram; one event and one histogram stay.
var updatedScripts = [2]string{`
event slim from sched.sched_switch { prev = prev_pid }
event wide from sched.sched_switch { prev = prev_pid, next = next_pid }
hist sizes from kmem.kmalloc by bytes_req
hist sites from kmem.kmalloc by call_site
trace slim, wide
trace sched.sched_process_exit where pid > 1
`, `
event slim from sched.sched_switch { prev = prev_pid, state = prev_state }
event wide from sched.sched_switch { prev = prev_pid, next = next_pid }
hist sizes from kmem.kmalloc by bytes_req, bytes_alloc
hist sites from kmem.kmalloc by call_site
trace slim, wide
trace sched.sched_process_exit where pid > 2
`}

// breakUpdates has each change of an update fail, before and after it is done:
// then the script is as it was installed, and can be removed without a trace.
func breakUpdates(b *bench) {
	if !b.eprobes() {
		b.Skipf("this kernel has no eprobes")
	}
	theirs := b.foreign()
	faults := 0
	for _, instance := range []string{"ep-update", ""} {
		var plans [2]*plan.Plan
		for i, text := range updatedScripts {
			var why string
			if plans[i], why = b.compile("update.ep", text, instance); plans[i] == nil {
				b.Fatalf("%s", why)
			}
		}
		events := append(touched(plans[0]), touched(plans[1])...)
		before := b.state(events)
		for n := 0; ; n++ {
			tried := false
			for _, after := range []bool{false, true} {
				if b.breakUpdate(plans, events, n, after) {
					tried = true
					faults++
				}
				if !b.same(fmt.Sprintf("update in '%s' broken at change %d (after %v), and removed", instance, n, after), before, b.state(events)) {
					b.FailNow()
				}
			}
			if !tried {
				break
			}
		}
	}
	b.Logf("%d faults of updates, %d foreign objects: all as before", faults, theirs)
}

// breakUpdate installs a script, breaks change n of its update, and removes it. It
// reports whether there is such a change.
func (b *bench) breakUpdate(plans [2]*plan.Plan, events []string, n int, after bool) bool {
	base := b.tempDir()
	defer os.RemoveAll(base)
	dir, err := journal.OpenDir(base+"/ep", true)
	if err != nil {
		b.Fatalf("%v", err)
	}
	defer dir.Close()
	w, err := dir.Create("apply-x", journal.Head{Kind: journal.Install, Name: "x"})
	if err != nil {
		b.Fatalf("%v", err)
	}
	defer w.Close()
	t := apply.Transaction{FS: b.fs, Journal: w}
	if _, err := t.Apply(b.Context(), plans[0]); err != nil {
		b.Fatalf("%v", err)
	}
	j, err := dir.Read("apply-x")
	if err != nil {
		b.Fatalf("%v", err)
	}
	installed := b.state(events)
	f := &faulty{FS: b.fs, at: n, after: after}
	t.FS = f
	_, err = t.Update(b.Context(), j, plans[1])
	if f.tried {
		if err == nil {
			b.Errorf("an update that breaks at change %d says that all is well", n)
		}
		b.same(fmt.Sprintf("an update that breaks at change %d (after %v)", n, after), installed.unordered(), b.state(events).unordered())
	} else if err != nil {
		b.Errorf("%v", err)
	}
	b.recover(dir)
	return f.tried
}
