package judge_test

import (
	"fmt"
	"testing"

	"github.com/eptrace/ep/compiler/judge"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
)

// BenchmarkJoins judges a plan of 500 joins and histograms, and its undoing.
func BenchmarkJoins(b *testing.B) {
	tg, err := target.Embedded("7.2-x86_64")
	if err != nil {
		b.Fatal(err)
	}
	p := &plan.Plan{}
	add := func(file, text, undo string) {
		p.Writes = append(p.Writes, plan.Write{File: file, Data: text, Undo: &plan.Write{File: file, Data: undo}})
	}
	for i := range 500 {
		add("dynamic_events", fmt.Sprintf("s:lat%d u64 lat; pid_t pid", i), fmt.Sprintf("-:synthetic/lat%d", i))
		for _, h := range [][2]string{
			{"sched/sched_waking", fmt.Sprintf("hist:keys=pid:t%d=common_timestamp.usecs", i)},
			{"sched/sched_switch", fmt.Sprintf("hist:keys=next_pid:d%d=common_timestamp.usecs-$t%d:p%d=next_pid:"+
				"onmatch(sched.sched_waking).trace(lat%d,$d%d,$p%d)", i, i, i, i, i, i)},
			{fmt.Sprintf("synthetic/lat%d", i), "hist:keys=pid:vals=lat"},
		} {
			add("events/"+h[0]+"/trigger", h[1], "!"+h[1])
		}
	}
	for b.Loop() {
		if err := judge.Plan(p, tg); err != nil {
			b.Fatal(err)
		}
	}
}
