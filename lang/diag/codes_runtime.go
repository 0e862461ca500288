package diag

// The codes of runtime/apply: what became of a script's commands on a machine.
const (
	// KernelRefused: the kernel refused a command that the compiler thought
	// right. Its own words are in the message, and the command in a note.
	//
	//	x: u32 = $arg(9)  # wrong on a kernel whose calls have fewer
	//	x: u32 = $arg(1)  # right
	KernelRefused Code = "kernel-refused"

	// KernelDiffers: the kernel took a command and made something else of it.
	//
	//	ep run x.ep      # wrong on a kernel that reads the command back otherwise: report it
	//	ep explain x.ep  # right: it shows the command
	KernelDiffers Code = "kernel-differs"

	// NameInUse: others have an event or a trigger already that the script would
	// make, or set a filter or clock that it would change.
	//
	//	event sched.mine from …  # wrong if another has made sched.mine
	//	event mine from …        # right: the script's own group
	NameInUse Code = "name-in-use"

	// EventBusy: an event cannot be made, changed or removed while something
	// else uses it.
	//
	//	ep stop x  # wrong while another's probe or trigger hangs on its event
	//	ep stop x  # right after that is gone
	EventBusy Code = "event-busy"

	// NotPermitted: this user, or anybody on this machine, may not trace so.
	//
	//	ep run x.ep       # wrong as a user who may not write to tracefs
	//	sudo ep run x.ep  # right
	NotPermitted Code = "not-permitted"

	// NotOnMachine: this machine lacks an event, a function or a part of tracefs
	// that the script needs.
	//
	//	ep run --target 6.12-x86_64 x.ep  # wrong on another kernel
	//	ep run x.ep                       # right: compiled for this one
	NotOnMachine Code = "not-on-machine"
)
