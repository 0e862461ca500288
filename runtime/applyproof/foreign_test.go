package applyproof

import (
	"github.com/eptrace/ep/runtime/tracefs"
)

// foreign makes objects of every kind that the kernel has, as others would, on
// the events that scripts of these tests use. They are removed with the case. It
// returns how many there are.
func (b *bench) foreign() int {
	n := 0
	// try makes something and, at the end, unmakes it; what a kernel lacks is
	// left out.
	try := func(file, data, undo string, mode tracefs.Mode) {
		if err := b.fs.Write(file, data, mode); err != nil {
			b.Logf("not here: %s: %v", data, err)
			return
		}
		n++
		b.Cleanup(func() {
			if err := b.fs.Write(file, undo, mode); err != nil {
				b.Errorf("take back %q: %v", undo, err)
			}
		})
	}
	add, set := tracefs.Append, tracefs.Truncate
	try("dynamic_events", "e:theirs/eprobe sched.sched_switch a=$prev_pid:u32", "-:theirs/eprobe", add)
	try("dynamic_events", "p:theirs/kprobe vfs_read", "-:theirs/kprobe", add)
	try("dynamic_events", "r:theirs/kretprobe vfs_read r=$retval", "-:theirs/kretprobe", add)
	try("dynamic_events", "p:theirs/uprobe /init:0x1000", "-:theirs/uprobe", add)
	try("dynamic_events", "f:theirs/fprobe vfs_write", "-:theirs/fprobe", add)
	try("dynamic_events", "t:theirs/tprobe sched_switch", "-:theirs/tprobe", add)
	try("dynamic_events", "s:theirs_join u64 lat", "-:synthetic/theirs_join", add)
	try("events/theirs/kprobe/enable", "1", "0", set)
	try("events/sched/sched_waking/trigger", "hist:keys=pid:theirs=common_timestamp.usecs", "!hist:keys=pid:theirs=common_timestamp.usecs", add)
	try("events/sched/sched_switch/trigger",
		"hist:keys=next_pid:d=common_timestamp.usecs-$theirs:onmatch(sched.sched_waking).trace(theirs_join,$d)",
		"!hist:keys=next_pid:d=common_timestamp.usecs-$theirs:onmatch(sched.sched_waking).trace(theirs_join,$d)", add)
	try("events/kmem/kmalloc/trigger", "hist:keys=call_site:vals=bytes_req", "!hist:keys=call_site:vals=bytes_req", add)
	try("events/sched/sched_process_exit/trigger", "traceoff if pid == -5", "!traceoff if pid == -5", add)
	try("events/sched/sched_wakeup/filter", "pid == 3", "0", set)
	try("events/sched/sched_process_exec/enable", "1", "0", set)
	if err := b.fs.MakeInstance("theirs"); err != nil {
		b.Fatalf("%v", err)
	}
	n++
	b.Cleanup(func() {
		if err := b.fs.RemoveInstance("theirs"); err != nil {
			b.Errorf("%v", err)
		}
	})
	try("instances/theirs/trace_clock", "mono", "local", set)
	try("instances/theirs/events/sched/sched_switch/trigger", "hist:keys=prev_pid", "!hist:keys=prev_pid", add)
	try("instances/theirs/events/sched/sched_switch/enable", "1", "0", set)
	try("instances/theirs/events/sched/sched_waking/filter", "pid == 9", "0", set)
	return n
}
