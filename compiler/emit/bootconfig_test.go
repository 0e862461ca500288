package emit_test

import (
	"strings"
	"testing"

	"github.com/hexops/autogold/v2"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/emit"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// TestBootconfig keeps what a kernel would get, or why it gets nothing;
// runtime/bootproof boots a kernel with one.
func TestBootconfig(t *testing.T) {
	to, err := target.Embedded("6.17-x86_64")
	if err != nil {
		t.Fatal(err)
	}
	const pair = "from initcall.initcall_start as s then initcall.initcall_finish as f by s.func == f.func"
	for _, c := range []struct{ name, text string }{
		{"initcalls", "event initcall_latency " + pair + " having lat > 1ms { func = f.func, lat = f.$time - s.$time }\ntrace initcall_latency\nhist initcall.initcall_finish by func sort by count desc\n"},
		{"instance", "option instance boot\noption buffer 8MiB\noption overwrite no\nevent initcall_latency " + pair + " { lat = f.$time - s.$time }\ntrace initcall_latency\n"},
		{"kprobe", "option instance boot\nevent kprobes.blk_update from kprobe blk_update_request(request, status: u8, bytes: u32) { status, bytes }\ntrace kprobes.blk_update where bytes > 4096\non sched.sched_process_exec where filename ~ \"*init\" times 1 do stop\n"},
		{"quotes", "hist sched.sched_process_exec where filename == \"it's\" by pid\n"},
		{"group", "event mine.blk_update from kprobe blk_update_request(request) { request }\ntrace mine.blk_update\n"},
		{"own", "trace sched.sched_switch where next_pid > 100\non sched.sched_process_exec where pid == 1 do stack, start sched.sched_switch\nhist sched.sched_wakeup where pid > 1 by pid\ntrace syscall openat.enter\ntrace func vfs_read.enter { count }\n"},
		{"eprobe", "event switch from sched.sched_switch { next_pid }\ntrace switch\n"},
		{"return", "option functions kprobe\nevent kprobes.reads from func vfs_read.exit { $ret }\ntrace kprobes.reads\n"},
		{"long", "event a_very_long_name_of_an_event from sched.sched_waking as a then sched.sched_switch as b by a.pid == b.next_pid { previous_comm = b.prev_comm, next_comm = b.next_comm, latency = b.$time - a.$time }\ntrace a_very_long_name_of_an_event\n"},
		{"order", "event first from sched.sched_waking as a then irq.softirq_raise as b by a.pid == b.vec { vec = b.vec }\nevent again from irq.softirq_raise as a then sched.sched_waking as b by a.vec == b.pid { pid = b.pid }\ntrace first\ntrace again\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, err := source.New(c.name+".ep", c.text)
			if err != nil {
				t.Fatal(err)
			}
			p, list := compiler.Compile(src, to.AtBoot(), compiler.Options{})
			var out strings.Builder
			if p != nil {
				list, err = emit.Bootconfig(&out, p)
				if err != nil {
					t.Fatal(err)
				}
				if (len(list) > 0) == (out.Len() > 0) {
					t.Errorf("got %d errors and %d bytes: want exactly one of both", len(list), out.Len())
				}
			}
			if err := diag.Text(&out, list, diag.TextOptions{}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				for _, text := range strings.Split(line, `"`) {
					if len(list) == 0 && len(text) > 255 {
						t.Errorf("a text has %d bytes: %s", len(text), text)
					}
				}
			}
			autogold.ExpectFile(t, autogold.Raw(out.String()))
		})
	}
}
