package diag

// The code of forms that a plan is printed in.
const (
	// NotAtBoot: what a kernel cannot do while it boots (--as bootconfig, --as
	// cmdline). It has kprobes, synthetic events of joins, histograms, triggers and
	// filters of its own events, and no eprobes; its command line has no joins and
	// no filters, its bootconfig strings of at most 255 bytes.
	//
	//	event switch from sched.sched_switch { next_pid }  # wrong with --as bootconfig
	//	trace sched.sched_switch { next_pid }              # right
	NotAtBoot Code = "not-at-boot"
)
