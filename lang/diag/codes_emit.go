package diag

// The code of forms that a plan is printed in.
const (
	// NotAtBoot: what a kernel that traces by its bootconfig while it boots cannot
	// do: it knows kprobes at entries, synthetic events, triggers and filters, in
	// texts of at most 255 bytes.
	//
	//	event switch from sched.sched_switch { next_pid }  # wrong with --as bootconfig
	//	trace sched.sched_switch                           # right
	NotAtBoot Code = "not-at-boot"
)
