package command

// Limits of the kernel that its spelling has. Those of v7.3 are the same as
// those of v6.1 unless said; each was measured on running kernels.
const (
	// MaxName is the longest group or event name of a probe, in bytes.
	// MAX_EVENT_NAME_LEN of kernel/trace/trace_probe.h, which counts the NUL.
	MaxName = 63
	// MaxArgName is the longest name of a probe's argument. One more is
	// refused, not cut. MAX_ARG_NAME_LEN of trace_probe.h.
	MaxArgName = 32
	// MaxArgs is the most arguments of a probe. v6.1 takes more and drops them
	// in silence. MAX_TRACE_ARGS of trace_probe.h.
	MaxArgs = 128
	// MaxArgBody is the longest FETCH[:TYPE] of an argument up to v7.2.
	// MAX_ARGSTR_LEN of trace_probe.h.
	MaxArgBody = 63
	// MaxArgBodyNew is that of v7.3.
	MaxArgBodyNew = 255
	// MaxArray is the most elements of a probe's array argument.
	// MAX_ARRAY_LEN of trace_probe.h.
	MaxArray = 64
	// MaxActive is the most calls of a return probe's function that are
	// followed at once. KRETPROBE_MAXACTIVE_MAX of trace_kprobe.c.
	MaxActive = 4096
	// MaxSynthFields is the most fields of a synthetic event, and so the most
	// parameters of trace(). SYNTH_FIELDS_MAX of trace_synth.h.
	MaxSynthFields = 64
	// MaxSynthString is the largest N of char[N] in a synthetic event.
	// STR_VAR_LEN_MAX of trace_synth.h.
	MaxSynthString = 256
	// MaxHistKeys is the most keys of a hist. TRACING_MAP_KEYS_MAX of
	// kernel/trace/tracing_map.h.
	MaxHistKeys = 3
	// MaxHistVals is the most values beside hitcount. TRACING_MAP_VALS_MAX of
	// tracing_map.h counts hitcount.
	MaxHistVals = 2
	// MaxSort is the most sort keys. TRACING_MAP_SORT_KEYS_MAX of
	// tracing_map.h.
	MaxSort = 2
	// MinHistSize and MaxHistSize bound size=N; what is between is rounded up
	// to a power of two. HIST 7 to 17 bits in trace_events_hist.c.
	MinHistSize = 128
	MaxHistSize = 131072
	// DefaultHistSize is the size of a hist that has none.
	DefaultHistSize = 2048
	// MaxVars is the most variables of a hist. Those of save(), fields given as
	// parameters, and one for each onmax and onchange count. A variable over it
	// is dropped in silence if it is in a list with commas.
	// TRACING_MAP_VARS_MAX of tracing_map.h.
	MaxVars = 16
	// MaxRefs is the most other variables that a hist refers to.
	MaxRefs = 16
	// MaxActions is the most actions of a hist. HIST_ACTIONS_MAX of
	// trace_events_hist.c.
	MaxActions = 8
	// MaxOperators is the most operators of one hist expression, a minus before
	// it included. trace_events_hist.c, parse_expr.
	MaxOperators = 3
	// MaxKeyBytes is the size of all keys of a hist together, each rounded up
	// to 8 bytes: a dynamic string counts 256, a stack 248. Up to v6.17 it is
	// 384, and a stack counts 128. HIST_KEY_SIZE_MAX of trace_events_hist.c.
	MaxKeyBytes = 504
	// MaxLine is the longest line, in bytes without its newline. WRITE_BUFSIZE
	// of kernel/trace/trace.c, and PAGE_SIZE for filters and triggers.
	MaxLine = 4094
	// MaxFilterString is the longest string of a filter. MAX_FILTER_STR_VAL of
	// kernel/trace/trace.h, which counts the NUL.
	MaxFilterString = 255
	// MaxFilterNumber is the longest number of a filter, in bytes.
	// trace_events_filter.c, parse_pred.
	MaxFilterNumber = 23
	// MinActionWord is the shortest word in the parentheses of an action: the
	// name of a synthetic event or of a field. `$v` has two bytes.
	// trace_events_hist.c, parse_action_params.
	MinActionWord = 2
)
