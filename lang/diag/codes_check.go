package diag

// The codes of compiler/check: names, types and what a target has.
const (
	// UnknownEvent: a source names an event that neither the script nor the
	// target has.
	//
	//	trace sched.sched_swich   # wrong
	//	trace sched.sched_switch  # right
	UnknownEvent Code = "unknown-event"

	// UnreadableEvent: the target has the event, and its format cannot be read.
	//
	//	ep check x.ep       # wrong as a user who may not read tracefs
	//	sudo ep check x.ep  # right, or with --target for a saved kernel
	UnreadableEvent Code = "unreadable-event"

	// UnknownField: an event has no field of that name.
	//
	//	trace sched.sched_switch { prev_pit }  # wrong
	//	trace sched.sched_switch { prev_pid }  # right
	UnknownField Code = "unknown-field"

	// UnknownName: a name that means nothing where it stands.
	//
	//	where prev_state & Q  # wrong
	//	where prev_state & D  # right
	UnknownName Code = "unknown-name"

	// UnknownContext: a value of the context that there is not.
	//
	//	{ who = $pid }  # wrong
	//	{ who = $tid }  # right
	UnknownContext Code = "unknown-context"

	// UnknownFunction: a function that the language does not have.
	//
	//	file = string(filename)  # wrong
	//	file = str(filename)     # right
	UnknownFunction Code = "unknown-function"

	// UnknownType: a type that the language does not have.
	//
	//	pid: int = prev_pid  # wrong
	//	pid: s32 = prev_pid  # right
	UnknownType Code = "unknown-type"

	// UnknownSyscall: no system call of that name on the target's architecture.
	//
	//	trace syscall opeanat  # wrong
	//	trace syscall openat   # right
	UnknownSyscall Code = "unknown-syscall"

	// UnknownSymbol: a kernel symbol that the target does not have.
	//
	//	trace kprobe vfs_raed  # wrong
	//	trace kprobe vfs_read  # right
	UnknownSymbol Code = "unknown-symbol"

	// AmbiguousSymbol: several functions bear the name, and this kernel refuses
	// to choose.
	//
	//	trace kprobe twice       # wrong
	//	trace kprobe ext4:twice  # right: that of the module
	AmbiguousSymbol Code = "ambiguous-symbol"

	// NotProbeable: a kernel symbol that the kernel lets nobody probe.
	//
	//	trace kprobe __schedule         # wrong
	//	trace sched.sched_switch        # right: the event of the same moment
	NotProbeable Code = "not-probeable"

	// SyscallWrapper: a probe on a system call's entry stub, whose only
	// argument is the saved registers.
	//
	//	trace kprobe __x64_sys_openat(dfd, filename)  # wrong
	//	trace syscall openat.enter                    # right
	SyscallWrapper Code = "syscall-wrapper"

	// UnknownStage: `a.f` where no stage is called a.
	//
	//	from a.b as x then c.d as y by x.k == y.k { v = z.v }  # wrong
	//	from a.b as x then c.d as y by x.k == y.k { v = y.v }  # right
	UnknownStage Code = "unknown-stage"

	// MissingStage: in a join, a field without the stage that it is of.
	//
	//	{ pid = next_pid }      # wrong
	//	{ pid = run.next_pid }  # right
	MissingStage Code = "missing-stage"

	// LaterStage: a condition that speaks of what has not happened yet.
	//
	//	from a.b as x where y.k > 1 then c.d as y by k      # wrong
	//	from a.b as x then c.d as y where y.k > 1 by k      # right
	LaterStage Code = "later-stage"

	// OtherStage: the condition or the let of a stage speaks of an earlier one.
	//
	//	from a.b as x then c.d as y where x.k > 1 by k  # wrong
	//	from a.b as x where k > 1 then c.d as y by k    # right
	OtherStage Code = "other-stage"

	// UnknownOption: an option that the language does not have, or a value
	// that it does not take.
	//
	//	option groop tools  # wrong
	//	option group tools  # right
	UnknownOption Code = "unknown-option"

	// UnknownParam: --set names what is no param of the script.
	//
	//	ep compile --set mim=1ms lat.ep  # wrong
	//	ep compile --set min=1ms lat.ep  # right
	UnknownParam Code = "unknown-param"

	// BadParam: a param has no value, or --set gives it one of another kind.
	//
	//	param min        # wrong, unless --set min=… is given
	//	param min = 1ms  # right
	BadParam Code = "bad-param"

	// DuplicateName: two events, hists, params or consts, two fields or two
	// stages of one name.
	//
	//	{ pid = prev_pid, pid = next_pid }    # wrong
	//	{ prev = prev_pid, next = next_pid }  # right
	DuplicateName Code = "duplicate-name"

	// ShadowedName: a param, const or stage is named like a field that the
	// script uses, so that a reader cannot tell which is meant.
	//
	//	const pid = 1  trace a.b where pid == 2   # wrong
	//	const self = 1  trace a.b where pid == 2  # right
	ShadowedName Code = "shadowed-name"

	// InvalidName: a name that the kernel refuses, or by which it would mean
	// something else.
	//
	//	{ stacktrace = prev_pid }  # wrong
	//	{ pid = prev_pid }         # right
	InvalidName Code = "invalid-name"

	// EventExists: the target has an event of the name already.
	//
	//	event sched.sched_switch from sched.sched_wakeup  # wrong
	//	event my.sched_switch from sched.sched_wakeup     # right
	EventExists Code = "event-exists"

	// SyntheticGroup: only what the kernel makes as a synthetic event lives in
	// the group synthetic, and always under its bare name.
	//
	//	event synthetic.lat from a.b then c.d by k { x = 1 }  # wrong
	//	event lat from a.b then c.d by k { x = 1 }            # right
	SyntheticGroup Code = "synthetic-group"

	// Recursive: an event, param or const that is made from itself.
	//
	//	event a from b  event b from a    # wrong
	//	event a from sched.sched_switch   # right
	Recursive Code = "recursive"

	// MismatchedTypes: two values that cannot be held against each other.
	//
	//	where comm == 3       # wrong
	//	where comm == "bash"  # right
	MismatchedTypes Code = "mismatched-types"

	// NotACondition: a value where true or false is wanted.
	//
	//	where pid       # wrong
	//	where pid != 0  # right
	NotACondition Code = "not-a-condition"

	// NotANumber: an operator of numbers on something else.
	//
	//	x = comm + 1  # wrong
	//	x = pid + 1   # right
	NotANumber Code = "not-a-number"

	// NotAString: an operator of strings on something else.
	//
	//	where pid ~ "1*"    # wrong
	//	where comm ~ "ba*"  # right
	NotAString Code = "not-a-string"

	// NotAPointer: memory is read behind something that is no pointer.
	//
	//	x = *prev_pid  # wrong
	//	x = *filename  # right
	NotAPointer Code = "not-a-pointer"

	// NotTextPointer: str() of a pointer to something else than text.
	//
	//	{ s = str(argv) }     # wrong: argv is a pointer to pointers
	//	{ s = str(argv[0]) }  # right
	NotTextPointer Code = "not-text-pointer"

	// UnknownPointee: memory of unknown type is read.
	//
	//	x = *(p as *void)  # wrong
	//	x = *(p as *u32)   # right
	UnknownPointee Code = "unknown-pointee"

	// AddressSpace: it is not known, or contradicted, whether an address is
	// the kernel's or user space's.
	//
	//	s = str(args[1])                    # wrong: a number
	//	s = str(args[1] as user *char)      # right
	AddressSpace Code = "address-space"

	// NotAnArray: an index on something that has no elements.
	//
	//	x = prev_pid[1]  # wrong
	//	x = args[1]      # right
	NotAnArray Code = "not-an-array"

	// IndexOutOfRange: an element that the array does not have.
	//
	//	x = args[6]  # wrong: there are six, 0 to 5
	//	x = args[5]  # right
	IndexOutOfRange Code = "index-out-of-range"

	// NotConstant: a value that must be known when the script is compiled.
	//
	//	where pid in { ppid }  # wrong
	//	where pid in { 1, 2 }  # right
	NotConstant Code = "not-constant"

	// ConstantOutOfRange: a constant that the value beside it can never be.
	//
	//	where status == 256  # wrong: status is u8
	//	where status == 255  # right
	ConstantOutOfRange Code = "constant-out-of-range"

	// ConstantCondition: a condition that always or never holds. A warning where
	// it is made of constants, so that params can turn things on and off.
	//
	//	where 1 == 2         # wrong: never
	//	where prev_pid == 2  # right
	ConstantCondition Code = "constant-condition"

	// MissingUnit: a plain number beside a duration.
	//
	//	having lat > 100    # wrong
	//	having lat > 100us  # right
	MissingUnit Code = "missing-unit"

	// DivisionByZero: a division by the constant 0.
	//
	//	x = size / 0  # wrong
	//	x = size / 2  # right
	DivisionByZero Code = "division-by-zero"

	// BadConversion: a value that cannot be taken as the type.
	//
	//	pid: str = prev_pid  # wrong
	//	pid: u32 = prev_pid  # right
	BadConversion Code = "bad-conversion"

	// BadArgument: a function or a value of the context with the wrong number
	// or kind of arguments.
	//
	//	file = str()          # wrong
	//	file = str(filename)  # right
	BadArgument Code = "bad-argument"

	// NotStorable: a value that no record can hold.
	//
	//	{ mask = cpumask }  # wrong where the kernel gives it as raw words
	//	{ cpu = $cpu }      # right
	NotStorable Code = "not-storable"

	// MisplacedValue: a value of the context or a function where there is none
	// of it.
	//
	//	trace sched.sched_switch { x = $ret }  # wrong
	//	trace syscall openat { x = $ret }      # right
	MisplacedValue Code = "misplaced-value"

	// MissingFields: an event of several stages that does not say its fields.
	//
	//	event e from a.b as x then c.d as y by x.k == y.k              # wrong
	//	event e from a.b as x then c.d as y by x.k == y.k { v = y.v }  # right
	MissingFields Code = "missing-fields"

	// BadKey: a key of a join that does not tie a stage to an earlier one.
	//
	//	from a.b as x then c.d as y by y.k == y.j  # wrong
	//	from a.b as x then c.d as y by x.k == y.k  # right
	BadKey Code = "bad-key"

	// KeysNeverMatch: the keys of a join are of kinds that are never equal.
	//
	//	by wake.comm == run.next_pid  # wrong
	//	by wake.pid == run.next_pid   # right
	KeysNeverMatch Code = "keys-never-match"

	// SignedKeys: the keys of a join differ in sign, so that values below zero
	// never match. A warning.
	//
	//	by a.signed_pid == b.unsigned_pid         # wrong below zero
	//	by a.signed_pid as u32 == b.unsigned_pid  # right
	SignedKeys Code = "signed-keys"

	// TooManyKeys: more keys than a hist of the kernel has.
	//
	//	by a.x == b.x, a.y == b.y, a.z == b.z, a.w == b.w  # wrong
	//	by a.x == b.x, a.y == b.y, a.z == b.z              # right: three
	TooManyKeys Code = "too-many-keys"

	// TooManyFields: more fields than an event of its kind can have.
	//
	//	{ a = 1, b = 2, … }  # wrong: 129 of them
	//	{ a = 1, b = 2 }     # right
	TooManyFields Code = "too-many-fields"

	// BadSize: a size that the kernel's tables cannot have, or have no use for.
	//
	//	size 100  # wrong
	//	size 128  # right
	BadSize Code = "bad-size"

	// UserMemoryAtEntry: user memory is read where a system call begins; what
	// is not in memory then cannot be read. A warning.
	//
	//	trace syscall openat.enter { file = str(filename) }  # wrong where it matters
	//	trace syscall openat { file = str(filename) }        # right: reads at the exit
	UserMemoryAtEntry Code = "user-memory-at-entry"

	// FaultUntold: a number in user memory, on a kernel that does not tell whether it
	// could be read. What could not be read has the value of an earlier record. A warning.
	//
	//	trace func inet_stream_connect { f = (uaddr as user *sockaddr_in)->sin_family } # wrong on Linux 6.12
	//	trace func inet_stream_connect { f = (uaddr as *sockaddr_in)->sin_family }      # right: the kernel has copied it
	FaultUntold Code = "fault-untold"

	// MemoryGone: the caller's memory is read after execve has replaced it.
	//
	//	trace syscall execve { file = str(filename) }         # wrong
	//	trace syscall execve { file = enter(str(filename)) }  # right
	MemoryGone Code = "memory-gone"

	// BadPrint: a print form that is not well-formed or names no field.
	//
	//	trace a.b { x } print "{y}"  # wrong
	//	trace a.b { x } print "{x}"  # right
	BadPrint Code = "bad-print"

	// UnknownFile: a program or library that is not there, or is none.
	//
	//	trace ufunc "bash":readline           # wrong
	//	trace ufunc "/usr/bin/bash":readline  # right
	UnknownFile Code = "unknown-file"

	// UnknownModule: an import of a module that there is not.
	//
	//	import "std/openz"  # wrong
	//	import "std/opens"  # right
	UnknownModule Code = "unknown-module"

	// AbsentSource: the target does not have an optional source. A warning.
	//
	//	trace func blk_account_io_done?          # wrong where it is not: nothing is traced
	//	trace func blk_account_io_done else func blk_mq_end_request  # right
	AbsentSource Code = "absent-source"

	// WrongTask: $tid or $comm of an event that happens on another thread's
	// behalf. A warning.
	//
	//	hist sched.sched_switch by comm = $comm  # wrong: it is the one that leaves
	//	hist sched.sched_switch by next_comm     # right
	WrongTask Code = "wrong-task"

	// UnsureKey: keys of a join that several happenings have at once. A warning.
	//
	//	then block.block_rq_complete as b by sector       # wrong: of which disk?
	//	then block.block_rq_complete as b by dev, sector  # right
	UnsureKey Code = "unsure-key"

	// TableFills: keys that never end, in a table whose size is not said. A
	// warning: the kernel frees no entry, and loses what finds no room.
	//
	//	then kmem.kfree as b by ptr             # wrong: 2048 addresses, and no more
	//	then kmem.kfree as b by ptr size 65536  # right
	TableFills Code = "table-fills"

	// TextCut: a long text that a histogram carries, which keeps 255 bytes of it.
	// A warning.
	//
	//	{ file = opened.file }           # wrong if paths may be longer
	//	{ file = str(opened.filename) }  # right: the address is carried
	TextCut Code = "text-cut"

	// Unused: an event, param, const or module that no other statement names, or a
	// script without a statement. A warning.
	//
	//	event exits from sched.sched_process_exit             # wrong: nothing shows it
	//	event exits from sched.sched_process_exit trace exits # right
	Unused Code = "unused"

	// NumberCut: a field that is narrower than its value. A warning.
	//
	//	event e from sched.sched_waking { pid: u8 = pid }          # wrong: pid has 32 bits
	//	event e from sched.sched_waking { low: u8 = pid as u8 }    # right, if they are meant
	NumberCut Code = "number-cut"

	// LiteralGlob: a string with '*' or '?' compared by an operator that does not
	// match globs. A warning.
	//
	//	where comm == "bash*"  # wrong: compares literally
	//	where comm ~ "bash*"   # right
	LiteralGlob Code = "literal-glob"

	// NotAGlob: a pattern of '~' in another language: a regular expression, or SQL's
	// LIKE. A warning.
	//
	//	where comm ~ "^kworker.*"  # wrong
	//	where comm ~ "kworker*"    # right
	NotAGlob Code = "not-a-glob"

	// CharacterForName: a character, which is a number, where the value of that name
	// is meant. A warning.
	//
	//	where prev_state == 'S'  # wrong: compares with 83
	//	where prev_state == S    # right
	CharacterForName Code = "character-for-name"

	// ScaledDuration: a duration divided or multiplied by 1000 or the like, as if it
	// were a number of nanoseconds. It stays a duration, of another length. A warning.
	//
	//	lat = (run.$time - wake.$time) / 1000   # wrong: a thousandth of the time
	//	lat = (run.$time - wake.$time) as us    # right
	ScaledDuration Code = "scaled-duration"

	// AnyBit: a condition that any bit of a named value makes true, where other
	// values have some of its bits too. A warning.
	//
	//	where gfp_flags & GFP_ATOMIC                # wrong: GFP_KERNEL has one of its bits
	//	where gfp_flags & GFP_ATOMIC == GFP_ATOMIC  # right
	AnyBit Code = "any-bit"

	// NeverReturns: the end of a call that does not return. A warning.
	//
	//	trace syscall exit_group        # wrong: nothing is traced
	//	trace syscall exit_group.enter  # right
	NeverReturns Code = "never-returns"

	// PositiveErrno: the name of an error without the minus that the kernel
	// returns it with. A warning.
	//
	//	trace syscall openat where $ret == ENOENT   # wrong: that is a file's number
	//	trace syscall openat where $ret == -ENOENT  # right
	PositiveErrno Code = "positive-errno"
)

// The codes of compiler/lower: what a kernel can do.
const (
	// MissingFeature: the target's kernel cannot do what the script needs.
	//
	//	event e from a.b { x }  # wrong on Linux 5.10, which has no eprobes
	//	trace a.b               # right there
	MissingFeature Code = "missing-feature"

	// KernelQuirk: the target's kernel would do something else than the script
	// says, and there is no way around it.
	//
	//	event e from raw_syscalls.sys_enter { x = args[1] }  # wrong on Linux 6.1
	//	trace syscall openat.enter                           # right: it needs no array
	KernelQuirk Code = "kernel-quirk"

	// TooManyVariables: a join carries more values than a hist can hold.
	//
	//	{ a = x.a, b = x.b, … }  # wrong: 17 of the first stage
	//	{ a = x.a, b = x.b }     # right: 16 at most
	TooManyVariables Code = "too-many-variables"

	// TooLong: a command that is longer than the kernel takes.
	//
	//	where comm in { "a", "b", … }  # wrong: thousands
	//	where comm ~ "a*"             # right
	TooLong Code = "too-long"

	// TooDeepDeref: more memory reads behind each other than a probe can do.
	//
	//	x = *******************p  # wrong
	//	x = **p                   # right
	TooDeepDeref Code = "too-deep-deref"

	// CannotFilter: a condition that no filter of the kernel can say.
	//
	//	where prev_comm == next_comm  # wrong: texts are compared with constants
	//	where prev_comm == "bash"     # right
	CannotFilter Code = "cannot-filter"

	// TimesWhileStopped: recording stops or starts while a join measures times. A
	// warning.
	//
	//	on go do start       # wrong: a join that began before it has a wrong time
	//	on go do start lat   # right: events start and stop, and the clock goes on
	TimesWhileStopped Code = "times-while-stopped"

	// MarkersElsewhere: a script in an instance waits for markers, which programs
	// write to the top level. A warning.
	//
	//	option instance mine  trace ftrace.print  # wrong: nothing arrives
	//	trace ftrace.print                        # right: at the top level
	MarkersElsewhere Code = "markers-elsewhere"

	// CannotCompute: arithmetic that no kernel can do exactly.
	//
	//	x = a.prio / b.prio                        # wrong: prio has a sign
	//	x = (a.prio as u64) / (b.prio as u64)      # right
	CannotCompute Code = "cannot-compute"

	// NameTaken: two events whose names the kernel would confuse.
	//
	//	event a.lat from …  event b.lat from … then …       # wrong
	//	event a.lat from …  event b.latency from … then …   # right
	NameTaken Code = "name-taken"
)
