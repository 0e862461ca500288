package target

// Limits are the numbers that a kernel's commands may not exceed. Names are in
// bytes without the NUL.
type Limits struct {
	EventName  int // of an event and of a group
	ArgName    int // of a probe's argument
	ArgText    int // of a fetch argument after the '=', with its type
	ArgNesting int // dereferences and casts in each other
	Args       int // arguments of a probe
	ArrayLen   int // elements of a fetched array
	Payload    int // bytes of a probe's record: each type's size, 4 for a string
	Line       int // of one command

	HistKeys       int
	HistKeyBytes   int // of all keys; each is rounded up to 8, a string without a fixed place counts 256
	HistStackBytes int // of a stack, as a key or a variable
	HistValues     int // besides hitcount
	HistSorts      int
	HistVariables  int // of one histogram, with those of save() and of bare parameters
	HistReferences int // to other histograms' variables
	HistActions    int // of one histogram
	HistOperators  int // of one expression
	HistSize       int // entries of the table
	ActionParams   int
	SynthFields    int
	SynthArray     int // characters of a char[N] field
	FilterText     int // of a string in a filter
}

// Limits returns t's limits.
func (t *Target) Limits() Limits {
	l := Limits{
		// kernel/trace/trace_probe.h; the names' limits are in trace.h and
		// trace_probe.h (MAX_EVENT_NAME_LEN, MAX_ARG_NAME_LEN).
		EventName: 63, ArgName: 32, ArgText: 63, ArgNesting: 13, Args: 128, ArrayLen: 64,
		Payload: 3072, // 6.17.13 forgets to check
		Line:    4094,

		// kernel/trace/tracing_map.h and trace_events_hist.c
		HistKeys: 3, HistKeyBytes: 384, HistStackBytes: 128, HistValues: 2, HistSorts: 2, HistVariables: 16, HistReferences: 16,
		HistActions: 8, HistOperators: 3, HistSize: 131072, ActionParams: 64,
		// kernel/trace/trace_synth.h
		SynthFields: 64, SynthArray: 256,
		// MAX_FILTER_STR_VAL in trace_events.h
		FilterText: 255,
	}
	if t.Has(HistDeepStacks) {
		l.HistKeyBytes, l.HistStackBytes = 504, 248
	}
	if t.Has(LongArgs) {
		l.ArgText, l.ArgNesting = 255, 8
	}
	return l
}
