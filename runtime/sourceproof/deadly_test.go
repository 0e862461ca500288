package sourceproof

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/runtime/tracefs"
	"github.com/eptrace/ep/runtime/vm"
)

// deadlyCases are lines by hand that stop some kernels: those that the table of
// quirks says, and no others. Each costs a boot, so they come last. What ep does
// instead is in proveDeadly.
var deadlyCases = []vm.Case{
	on("instead-of-deadly", joins, proveDeadly),
	kills("deadly-parameter-by-cpu", target.QuirkFieldVariable, parameterOf("common_cpu", "common_cpu")...),
	kills("deadly-parameter-by-stack", target.QuirkFieldVariable, parameterOf("stacktrace", "stacktrace")...),
	kills("deadly-parameter-by-sum", target.QuirkFieldVariable, parameterOf("pid+1", "next_pid+1")...),
	kills("deadly-modifier", target.QuirkStacktraceModifier,
		line{"dynamic_events", "s:ep_q_deadly u64 v"},
		line{"events/synthetic/ep_q_deadly/trigger", "hist:keys=v.stacktrace"},
		line{"events/sched/sched_switch/trigger", "hist:keys=next_pid:v=common_timestamp:onmatch(sched.sched_switch).trace(ep_q_deadly,$v)"}),
}

// lonelyCases are for a machine of one processor.
var lonelyCases = []vm.Case{
	on("instead-of-snapshots", joins, proveOneSnapshot),
	certainly(kills("deadly-snapshots", target.QuirkSnapshotAtSwitch, line{"events/sched/sched_switch/trigger", "snapshot"})),
}

// certainly leaves out 6.12, which hung three times of three on a busy host, and
// never on an idle one.
func certainly(c vm.Case) vm.Case {
	c.Match = func(k vm.Kernel) bool { return joins(k) && k.Series != "6.12" }
	return c
}

func TestKernelsOfOneProcessor(t *testing.T) { vm.Machine{CPUs: 1}.Test(t, lonelyCases) }

// parameterOf is a histogram by one key whose action has a bare field of the
// event before it, which has a histogram by the other.
func parameterOf(before, key string) []line {
	return []line{
		{"dynamic_events", "s:ep_q_deadly int c"},
		{"events/sched/sched_waking/trigger", "hist:keys=" + before},
		{"events/sched/sched_switch/trigger", "hist:keys=" + key + ":onmatch(sched.sched_waking).trace(ep_q_deadly,target_cpu)"},
	}
}

// kills makes a case of lines that stop the kernels that have a quirk. Of the
// others some refuse them.
func kills(name string, quirk target.Feature, lines ...line) vm.Case {
	c := on(name, joins, func(b *bench) {
		for i, l := range lines {
			if err := b.fs.Write(l.file, l.text, tracefs.Append); err != nil {
				b.Logf("refused: %s: %v", l.text, err)
				break
			}
			defer b.put(undone(lines[i]))
		}
		for range 5 {
			if _, err := child(); err != nil {
				b.Fatalf("%v", err)
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	c.Timeout = 30 * time.Second
	c.Kills = func(k vm.Kernel) bool {
		t, err := target.Embedded(k.Name)
		if err != nil {
			panic(fmt.Errorf("internal error: %w", err))
		}
		return t.Has(quirk)
	}
	return c
}

// proveDeadly: what the lines of deadlyCases are for, in ep.
func proveDeadly(b *bench) {
	fork := func() error { _, err := child(); return err }
	r := b.run(`
event moved from sched.sched_waking as w then sched.sched_switch as s by w.$cpu == s.$cpu { cpu = w.target_cpu }
event after from sched.sched_waking as w then sched.sched_switch as s by w.pid == s.next_pid { cpu = w.target_cpu, more = w.pid + 1 }
trace moved, after`, fork)
	for _, event := range []string{"moved", "after"} {
		if !slices.ContainsFunc(r.list, func(x record) bool { return x.event == event && x.values["cpu"] != "" }) {
			b.Errorf("no records of '%s': %s", event, r)
		}
	}
}

// proveOneSnapshot: a number of snapshots is as good as all, and refused is what
// would hang.
func proveOneSnapshot(b *bench) {
	fork := func() error { _, err := child(); return err }
	b.run("on sched.sched_switch times 3 do snapshot", fork)
	if each := "on sched.sched_switch do snapshot"; b.live.Has(target.QuirkSnapshotAtSwitch) {
		b.refused(each, diag.KernelQuirk)
	} else {
		b.run(each, fork)
	}
}
