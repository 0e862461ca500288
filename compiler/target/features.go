package target

// What kernels can do. Each comment names the release that brought it and what
// says so.
const (
	// DynamicEvents is the file dynamic_events (v5.0, commit 5448d44c3855).
	DynamicEvents Feature = "dynamic events"
	// Eprobes are events made of other events (v5.15, commit 7491e2c44278). Since
	// v6.17 they have an option of their own, of which README knows nothing.
	Eprobes Feature = "eprobes"
	// EprobeFilter is "if FILTER" of an eprobe (v6.0, commit 752be5c5c910).
	EprobeFilter Feature = "eprobe filters"
	// GroupOnly is a probe named by its group alone, "e:GRP/" (v6.0, commit
	// 95c104c378dc).
	GroupOnly Feature = "default event names"
	// EprobeArrayAddress: an eprobe's numeric array field is the array's
	// address, if the array is not of 1, 2, 4 or 8 bytes; before, it is the
	// first 8 bytes as a number (v6.17, commit dabd3e7dcc58). No stable
	// release before has it up to 6.12.117.
	EprobeArrayAddress Feature = "eprobe array addresses"
	// EprobeTypecast is (STRUCT)FIELD->MEMBER in an eprobe. 7.2.13 has it and
	// does not tell in README; 6.17.13 has not.
	EprobeTypecast Feature = "eprobe typecasts"
	// EprobeBareField is a field of an eprobe without its '$' (v7.3).
	EprobeBareField Feature = "bare eprobe fields"
	// EprobeOnProbe is an eprobe on the event of an fprobe or a tprobe (v6.5).
	EprobeOnProbe Feature = "eprobes on fprobe events"

	// SyntheticEvents are events that histograms make (v4.17).
	SyntheticEvents Feature = "synthetic events"
	// SyntheticStrings are char[] fields of synthetic events (v5.11, commit
	// bd82631d7ccd).
	SyntheticStrings Feature = "synthetic char[] fields"
	// SyntheticStacks are long[] fields of synthetic events (v6.3, commit
	// 00cf3d672a9d).
	SyntheticStacks Feature = "synthetic stack fields"

	// Hist is the hist trigger (v4.7).
	Hist Feature = "histograms"
	// HistVariables are variables and onmatch (v4.17).
	HistVariables Feature = "histogram variables"
	// HistOnChange is the handler onchange (v5.2, commit dff81f559285).
	HistOnChange Feature = "histogram onchange"
	// HistSnapshot is the action snapshot() (v5.2, commit a3785b7eca8f).
	HistSnapshot Feature = "histogram snapshots"
	// HistArithmetic is '*' and '/' and numbers in expressions (v5.16, commit
	// bcef04415032).
	HistArithmetic Feature = "histogram arithmetic"
	// HistBuckets is the modifier .buckets=N (v5.14, commit de9a48a360b7).
	HistBuckets Feature = "histogram buckets"
	// HistPercent is the modifiers .percent and .graph (v6.2, commit
	// abaa5258ce5e).
	HistPercent Feature = "histogram percentages"
	// HistNoHitcount is the word nohitcount (v6.2, commit ccf47f5cc4ce).
	HistNoHitcount Feature = "histogram nohitcount"
	// HistStackVariable is a variable that holds a stack (v6.3, commit
	// cc5fc8bfc961).
	HistStackVariable Feature = "histogram stack variables"
	// CommonStacktrace is the name common_stacktrace; before, it is
	// "stacktrace" (v6.4, commit 4b512860bdbd).
	CommonStacktrace Feature = "common_stacktrace"
	// CommonComm is the key common_comm (v6.16, commit 54c53dfdb681).
	CommonComm Feature = "common_comm"
	// HistHitcountKey is hitcount as a variable or a key. 6.1.192 refuses it
	// and 6.12.117 takes it; it came with the stack variables' rework (v6.3 or
	// v6.4).
	HistHitcountKey Feature = "hitcount variables"

	// HistDeepStacks are stacks of 31 entries in histograms; before, it is 16,
	// and the keys of a histogram have that much less room. 7.2.13 has them,
	// 6.17.13 has not.
	HistDeepStacks Feature = "histogram stacks of 31 entries"

	// KprobeEvents are probes on kernel instructions (v2.6.33).
	KprobeEvents Feature = "kprobe events"
	// KprobeArgs is $argN at a function's entry (v4.20, commit a1303af5d79e).
	KprobeArgs Feature = "function arguments"
	// ReturnArgs is $argN and the arguments' names at a function's return
	// (v6.9, commit 25f00e40ce79).
	ReturnArgs Feature = "function arguments at return"
	// FprobeEvents are probes on kernel functions through ftrace (v6.5, commit
	// 334e5519c375; arm64 and riscv64 got fprobes later: Debian's 6.12-arm64
	// has none).
	FprobeEvents Feature = "fprobe events"
	// TracepointProbes are probes on raw tracepoints (v6.5, commit
	// e2d0d7b2f42d).
	TracepointProbes Feature = "tracepoint probes"
	// FprobeMaxactive is a number after the 'f' of an fprobe at a return; gone
	// again in v6.14 (commit 4346ba160409).
	FprobeMaxactive Feature = "fprobe maxactive"
	// BTFArgs are a function's arguments by their names (v6.5, commit
	// b576e09701c7).
	BTFArgs Feature = "BTF arguments"
	// BTFMembers are members of structs behind them, p->m (v6.6, commit
	// c440adfbe302).
	BTFMembers Feature = "BTF members"
	// PathFetch is the types %pd and %pD (v6.9, commit d9b15224dd8f).
	PathFetch Feature = "dentry and file names"
	// CharType is the type char (v6.4, commit 8478cca1e3ab).
	CharType Feature = "type char"
	// SymstrType is the type symstr (v6.2, commit b26a124cbfa8).
	SymstrType Feature = "type symstr"
	// UserString is the type ustring and the +u dereference (v5.3).
	UserString Feature = "type ustring"
	// Immediate is \NUMBER and \"TEXT" (v5.4).
	Immediate Feature = "immediate values"
	// LongArgs are fetch arguments of up to 255 characters; before, it is 63
	// (v7.3).
	LongArgs Feature = "long fetch arguments"
	// Typecast is (STRUCT)ARG->MEMBER, (STRUCT)(ARG)->MEMBER and
	// (STRUCT,FIELD)ARG->MEMBER in all kernel probes (v7.3).
	Typecast Feature = "typecasts"
	// CurrentFetch is $current in kernel probes (v7.3).
	CurrentFetch Feature = "$current"
	// PerCPUFetch is this_cpu_read and this_cpu_ptr (v7.3).
	PerCPUFetch Feature = "per-cpu variables"
	// UniqueSymbols: a kprobe on a name that several functions bear is refused
	// (v6.6, commit b022f0c7e404).
	UniqueSymbols Feature = "unique symbols"
	// UprobeEvents are probes in user space (v3.5).
	UprobeEvents Feature = "uprobe events"

	// FilterFunction is FIELD.function in filters (v6.4, commit e6745a4da944).
	FilterFunction Feature = "filters by function"
	// FilterCPUs is CPUS{…} in filters (v6.6, commit 39f7c41c908b).
	FilterCPUs Feature = "filters by CPU set"
	// FilterUstring is FIELD.ustring in filters (v5.17, commit 77360f9bbc7e;
	// 5.10.262 has it too).
	FilterUstring Feature = "filters of user strings"

	// SyscallEvents are the events of system calls by name.
	SyscallEvents Feature = "syscall events"
	// RawSyscalls are raw_syscalls.sys_enter and sys_exit.
	RawSyscalls Feature = "raw syscall events"
	// Instances are further buffers (v3.10).
	Instances Feature = "instances"
	// InstanceErrorLog: each instance has its own error_log (v5.2, commit
	// 2f754e771b1a).
	InstanceErrorLog Feature = "error logs of instances"
	// Snapshot is a second buffer to swap with.
	Snapshot Feature = "snapshots"
	// BootTrigger is trace_trigger= on the kernel's command line (v6.2, commit
	// a01fdc897fa5).
	BootTrigger Feature = "trace_trigger parameter"
	// BootInstance is trace_instance= there (v6.3, commit c4846480831e).
	BootInstance Feature = "trace_instance parameter"
	// NotracePID is set_event_notrace_pid (v5.7, commit 276836260301).
	NotracePID Feature = "event pid exclusion"
)

// featureRules is the table of features.
var featureRules = []rule{
	{feature: DynamicEvents, since: patch{5, 0, 0}, file: "dynamic_events"},
	{feature: Eprobes, since: patch{5, 15, 0}, readme: "<attached-group>.<attached-event>", config: "CONFIG_EPROBE_EVENTS", running: true},
	{feature: EprobeFilter, since: patch{6, 0, 0}, readme: "<attached-event> [<args>] [if <filter>]"},
	{feature: GroupOnly, since: patch{6, 0, 0}, readme: "p[:[<group>/][<event>]]"},
	{feature: EprobeArrayAddress, since: patch{6, 17, 0}, with: []Feature{Eprobes}},
	{feature: EprobeTypecast, since: patch{7, 2, 0}, with: []Feature{Eprobes}},
	{feature: EprobeBareField, since: patch{7, 3, 0}, with: []Feature{Eprobes}},
	{feature: EprobeOnProbe, since: patch{6, 5, 0}, with: []Feature{Eprobes, FprobeEvents}},

	{feature: SyntheticEvents, since: patch{4, 17, 0}, file: "synthetic_events"},
	{feature: SyntheticStrings, since: patch{5, 11, 0}, readme: "char name[]", with: []Feature{SyntheticEvents}},
	{feature: SyntheticStacks, since: patch{6, 3, 0}, readme: "long[] stack", with: []Feature{SyntheticEvents}},

	{feature: Hist, since: patch{4, 7, 0}, readme: "hist trigger\t- If set"},
	{feature: HistVariables, since: patch{4, 17, 0}, readme: "onmatch(", with: []Feature{Hist}},
	{feature: HistOnChange, since: patch{5, 2, 0}, readme: "onchange(", with: []Feature{Hist}},
	{feature: HistSnapshot, since: patch{5, 2, 0}, readme: "snapshot()   ", with: []Feature{Hist, Snapshot}},
	{feature: HistArithmetic, since: patch{5, 16, 0}, readme: "multiplication(*)", with: []Feature{Hist}},
	{feature: HistBuckets, since: patch{5, 14, 0}, readme: ".buckets=size", with: []Feature{Hist}},
	{feature: HistPercent, since: patch{6, 2, 0}, readme: ".percent", with: []Feature{Hist}},
	{feature: HistNoHitcount, since: patch{6, 2, 0}, readme: "[:nohitcount]", with: []Feature{Hist}},
	{feature: HistStackVariable, since: patch{6, 3, 0}, with: []Feature{Hist, SyntheticStacks}},
	{feature: CommonStacktrace, since: patch{6, 4, 0}, readme: "'common_stacktrace'", with: []Feature{Hist}},
	{feature: CommonComm, since: patch{6, 16, 0}, with: []Feature{Hist}},
	{feature: HistHitcountKey, since: patch{6, 4, 0}, with: []Feature{Hist}},
	{feature: HistDeepStacks, since: patch{7, 2, 0}, with: []Feature{Hist}},

	{feature: KprobeEvents, since: patch{2, 6, 33}, file: "kprobe_events"},
	{feature: KprobeArgs, since: patch{4, 20, 0}, readme: "$arg<N>", with: []Feature{KprobeEvents}},
	{feature: ReturnArgs, since: patch{6, 9, 0}, readme: "kernel return probes support"},
	{feature: FprobeEvents, since: patch{6, 5, 0}, readme: "f[:[<group>/][<event>]] <func-name>", running: true},
	{feature: TracepointProbes, since: patch{6, 5, 0}, readme: "t[:[<group>/][<event>]] <tracepoint>", running: true},
	{feature: FprobeMaxactive, since: patch{6, 5, 0}, until: patch{6, 14, 0}, with: []Feature{FprobeEvents}},
	{feature: BTFArgs, since: patch{6, 5, 0}, readme: "<argname>"},
	{feature: BTFMembers, since: patch{6, 6, 0}, readme: "<argname>[->field"},
	{feature: PathFetch, since: patch{6, 9, 0}, readme: "%pd/%pD"},
	{feature: CharType, since: patch{6, 4, 0}, readme: "x8/16/32/64, char,"},
	{feature: SymstrType, since: patch{6, 2, 0}, readme: "symstr,"},
	{feature: UserString, since: patch{5, 3, 0}, readme: "ustring"},
	{feature: Immediate, since: patch{5, 4, 0}, readme: `\imm-value`},
	{feature: LongArgs, since: patch{7, 3, 0}},
	{feature: Typecast, since: patch{7, 3, 0}, readme: "(structname"},
	{feature: CurrentFetch, since: patch{7, 3, 0}, readme: "$current"},
	{feature: PerCPUFetch, since: patch{7, 3, 0}, readme: "this_cpu_read("},
	{feature: UniqueSymbols, since: patch{6, 6, 0}, carried: [][2]patch{{{6, 1, 192}, {6, 2, 0}}}, with: []Feature{KprobeEvents}},
	{feature: UprobeEvents, since: patch{3, 5, 0}, file: "uprobe_events", running: true},

	{feature: FilterFunction, since: patch{6, 4, 0}},
	{feature: FilterCPUs, since: patch{6, 6, 0}},
	{feature: FilterUstring, since: patch{5, 17, 0}, carried: [][2]patch{{{5, 10, 262}, {5, 11, 0}}}},

	{feature: SyscallEvents, file: "events/syscalls/sys_enter_read/format"},
	{feature: RawSyscalls, file: "events/raw_syscalls/sys_enter/format"},
	{feature: Instances, since: patch{3, 10, 0}, readme: "Make sub-buffers with"},
	{feature: InstanceErrorLog, since: patch{5, 2, 0}, file: "error_log"},
	{feature: Snapshot, since: patch{3, 10, 0}, file: "snapshot"},
	{feature: BootTrigger, since: patch{6, 2, 0}},
	{feature: BootInstance, since: patch{6, 3, 0}},
	{feature: NotracePID, since: patch{5, 7, 0}, file: "set_event_notrace_pid"},
}
