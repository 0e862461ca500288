package ir

// These are the limits of the language that do not come from the kernel's commands;
// target.Limits has those. docs/language.md lists both.
const (
	// MaxNested is how many events may be made of each other, hidden ones too. The
	// kernel writes the record of the one when the other's is not yet finished, and
	// keeps the times of this many at once (kernel/trace/ring_buffer.c, MAX_NEST).
	MaxNested = 5
	// MaxSources is how many sources a glob may stand for: enough for a group's
	// events, too few to probe a kernel to a standstill by mistake.
	MaxSources = 256
	// MaxCPU is the greatest number of a CPU (CONFIG_NR_CPUS is 8192 at most).
	MaxCPU = 8191
	// MaxStackWord is the last word of the smallest kernel stack that ep knows
	// (THREAD_SIZE of 16 KiB; kernel/trace/trace_probe.c, parse_probe_vars).
	MaxStackWord = 2047
)
