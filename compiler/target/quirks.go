package target

// What is broken in some releases. Has of a quirk is true if the kernel
// suffers from it, or might.
const (
	// QuirkEprobePointerByte: a "char *" field of an eprobe is its lowest byte
	// alone.
	QuirkEprobePointerByte Feature = "quirk: eprobe char * fields are one byte"
	// QuirkSyntheticArrayPrint: a char[N] field of a synthetic event is
	// printed with a stray "(efault)" before it. The record is right.
	QuirkSyntheticArrayPrint Feature = "quirk: synthetic char[N] fields print (efault)"
	// QuirkStacktraceModifier: the modifier .stacktrace on a field that is no
	// stack is accepted and stops the kernel.
	QuirkStacktraceModifier Feature = "quirk: .stacktrace on other fields crashes"
	// QuirkFieldVariable: a bare field of the other event as a parameter of an
	// action stops the kernel if that event's histogram has no plain field as
	// a key.
	QuirkFieldVariable Feature = "quirk: onmatch field parameters crash"
	// QuirkSnapshotStacktrace: a snapshot and a stacktrace trigger on a
	// scheduler event hang the kernel when a third is added.
	QuirkSnapshotStacktrace Feature = "quirk: snapshot and stacktrace triggers hang"
	// QuirkPercentRefused: README has .percent and .graph, and the kernel
	// refuses them.
	QuirkPercentRefused Feature = "quirk: .percent and .graph are refused"
)

// quirk says which releases suffer: [since, until).
type quirkRule struct {
	quirk  Feature
	ranges [][2]patch
}

// suffers reports whether the kernel may be in one of q's ranges.
func (t *Target) suffers(q quirkRule) bool {
	for _, r := range q.ranges {
		if t.system.least.before(r[1]) && !t.system.most.before(r[0]) {
			return true
		}
	}
	return false
}

// quirkRules is the table of quirks.
var quirkRules = []quirkRule{
	{QuirkEprobePointerByte, [][2]patch{{{6, 13, 0}, {6, 18, 0}}}},
	{QuirkSyntheticArrayPrint, [][2]patch{{{6, 13, 0}, {6, 18, 0}}}},
	{QuirkStacktraceModifier, [][2]patch{{{6, 13, 0}, {6, 18, 0}}}},
	{QuirkFieldVariable, [][2]patch{{{4, 17, 0}, {7, 3, 0}}}},
	{QuirkSnapshotStacktrace, [][2]patch{{{3, 10, 0}, {6, 12, 0}}}},
	{QuirkPercentRefused, [][2]patch{{{6, 13, 0}, {6, 18, 0}}}},
}
