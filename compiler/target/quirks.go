package target

// What is broken in some releases. Has of a quirk is true if the kernel
// suffers from it, or might.
//
// Most of these were mended in 2026 and carried back to the stable trees. Which
// stable release was the first is known of none of them; the kernels that were
// tried are 5.10.262, 6.1.192, 6.12.117, 6.17.13, 7.2.13 and 7.3.4, and a
// release between a bad and a good one of its tree counts as bad.
const (
	// QuirkEprobePointerByte: a "char *" field of an eprobe is its lowest byte
	// alone. Since v6.0 (commit f04dec93466a, carried back to v5.15.y). 6.17.13
	// has it; 6.1.192, 6.12.117, 7.2.13 and 7.3.4 have not.
	QuirkEprobePointerByte Feature = "quirk: eprobe char * fields are one byte"
	// QuirkSyntheticArrayPrint: a char[N] field of a synthetic event is
	// printed with a stray "(efault)" before it. The record is right. Since
	// v6.14 (commit 4d38328eb442, carried back), mended in v6.19 (commit
	// 47ef834209e5, carried back). 6.17.13 has it; 6.1.192, 6.12.117, 7.2.13
	// and 7.3.4 have not.
	QuirkSyntheticArrayPrint Feature = "quirk: synthetic char[N] fields print (efault)"
	// QuirkStacktraceModifier: the modifier .stacktrace on a field that is no
	// stack is accepted and stops the kernel. 6.17.13 has it; 6.1.192,
	// 6.12.117, 7.2.13 and 7.3.4 refuse it.
	QuirkStacktraceModifier Feature = "quirk: .stacktrace on other fields crashes"
	// QuirkFieldVariable: a bare field of the other event as a parameter of an
	// action stops the kernel if that event's histogram has no plain field as
	// a key. 6.1.192, 6.17.13 and 7.2.13 have it; 6.12.117 and 7.3.4 have not.
	QuirkFieldVariable Feature = "quirk: onmatch field parameters crash"
	// QuirkHelpersStay: the histogram that the kernel makes for a bare field of
	// the other event stays when it refuses the line. 6.17.13 and 7.2.13 have
	// it; 6.1.192, 6.12.117 and 7.3.4 have not.
	QuirkHelpersStay Feature = "quirk: histograms made for parameters stay"
	// QuirkSnapshotAtSwitch: a trigger that takes a snapshot at each sched_switch,
	// or at each but the idle task's, hangs a machine of one processor. 6.1.192,
	// 6.12.117 and 6.17.13 have it, under emulation at least; 7.2.13 and 7.3.4
	// have not.
	QuirkSnapshotAtSwitch Feature = "quirk: snapshots at each switch hang"
	// QuirkPercentRefused: README has .percent and .graph, and the kernel
	// refuses them. Since v6.3 (commit e0213434fe3e, carried back). 6.17.13 has
	// it; 6.1.192, 6.12.117, 7.2.13 and 7.3.4 have not.
	QuirkPercentRefused Feature = "quirk: .percent and .graph are refused"
	// QuirkSyntheticNames: a histogram on any event that bears a synthetic
	// event's bare name keeps the synthetic event busy. 6.17.13 and 7.2.13
	// have it; 6.1.192, 6.12.117 and 7.3.4 have not.
	QuirkSyntheticNames Feature = "quirk: equal event names keep synthetic events busy"
	// QuirkOneTracepointProbe: a raw tracepoint takes one event at a time; a
	// second is refused with EEXIST. 6.12.117 has it; 6.17.13, 7.2.13 and 7.3.4
	// have not.
	QuirkOneTracepointProbe Feature = "quirk: one event for each raw tracepoint"
	// QuirkArgsDropped: a probe with more than 128 arguments is accepted, and
	// those over it are dropped in silence. 6.1.192 has it; 6.12.117, 6.17.13,
	// 7.2.13 and 7.3.4 refuse it.
	QuirkArgsDropped Feature = "quirk: arguments over 128 are dropped"
	// QuirkPayloadUnchecked: a probe's record of more than 3072 bytes is
	// accepted. 6.17.13 has it; 6.1.192, 6.12.117, 7.2.13 and 7.3.4 refuse it.
	QuirkPayloadUnchecked Feature = "quirk: large records are accepted"
	// QuirkCommDereference: an eprobe takes +0($comm), which reads at the name's
	// first bytes. 6.1.192 has it; 6.12.117, 6.17.13, 7.2.13 and 7.3.4 refuse it.
	QuirkCommDereference Feature = "quirk: eprobes dereference $comm"
	// QuirkTrailingOperator: a condition that ends in && or || is accepted.
	// 6.17.13 and 7.2.13 have it; 6.1.192, 6.12.117 and 7.3.4 refuse it.
	QuirkTrailingOperator Feature = "quirk: conditions may end in && or ||"
	// QuirkFileAt: @+N of an uprobe, memory at offset N of the file, reads at twice
	// N. 6.17.13 has it; 6.1.192, 6.12.117, 7.2.13 and 7.3.4 have not. ep reads
	// from a register's address instead.
	QuirkFileAt Feature = "quirk: @+N reads at twice N"
	// QuirkSymstr: the text of an argument of type symstr has no end of its own:
	// what the next text argument holds runs on behind it, and what it is written
	// over is not checked. All kernels that were tried have it; 6.1.192 and 6.17.13
	// overwrote memory of their own. ep takes the type symbol, which is a number,
	// and finds the name when it shows it.
	QuirkSymstr Feature = "quirk: symstr writes beyond its text"
	// QuirkEmptyUserText: an empty text in user memory is recorded with length 0,
	// as one that cannot be read is (strncpy_from_user_nofault). 6.1.192 and
	// 6.12.117 have it; 6.17.13, 7.2.13 and 7.3.4 have not.
	QuirkEmptyUserText Feature = "quirk: empty user strings read as faults"
)

// quirkRule says which releases suffer: those in one of the ranges, from the
// first up to but not the second, which is zero where none is known to be mended.
type quirkRule struct {
	quirk  Feature
	of     Feature // what is broken; without it there is no quirk
	ranges [][2]patch
}

// suffers reports whether the kernel may be in one of q's ranges.
func (t *Target) suffers(q quirkRule) bool {
	if !t.Has(q.of) {
		return false
	}
	for _, r := range q.ranges {
		if (r[1] == patch{} || t.system.least.before(r[1])) && !t.system.most.before(r[0]) {
			return true
		}
	}
	return false
}

// mended is the ranges of what came with since and is known to be mended in
// 6.1.192, 6.12.117 and 7.2.13.
func mended(since patch) [][2]patch {
	return [][2]patch{{since, {6, 1, 192}}, {{6, 2, 0}, {6, 12, 117}}, {{6, 13, 0}, {7, 2, 13}}}
}

// quirkRules is the table of quirks.
var quirkRules = []quirkRule{
	{QuirkEprobePointerByte, Eprobes, mended(patch{5, 15, 0})},
	{QuirkSyntheticArrayPrint, SyntheticEvents, [][2]patch{{{5, 15, 0}, {6, 1, 192}}, {{6, 2, 0}, {6, 12, 117}}, {{6, 13, 0}, {6, 19, 0}}}},
	{QuirkStacktraceModifier, HistStackVariable, [][2]patch{{{6, 3, 0}, {6, 12, 117}}, {{6, 13, 0}, {7, 2, 13}}}},
	{QuirkFieldVariable, HistVariables, [][2]patch{{{4, 17, 0}, {6, 12, 117}}, {{6, 13, 0}, {7, 3, 4}}}},
	{QuirkHelpersStay, HistVariables, [][2]patch{{{4, 17, 0}, {6, 1, 192}}, {{6, 2, 0}, {6, 12, 117}}, {{6, 13, 0}, {7, 3, 4}}}},
	{QuirkSnapshotAtSwitch, Snapshot, [][2]patch{{{3, 10, 0}, {7, 2, 0}}}},
	{QuirkPercentRefused, HistPercent, mended(patch{6, 1, 0})},
	{QuirkSyntheticNames, SyntheticEvents, [][2]patch{{{6, 2, 0}, {6, 12, 117}}, {{6, 13, 0}, {7, 3, 4}}}},
	{QuirkOneTracepointProbe, TracepointProbes, [][2]patch{{{6, 5, 0}, {6, 17, 13}}}},
	{QuirkArgsDropped, KprobeEvents, [][2]patch{{{4, 0, 0}, {6, 12, 117}}}},
	{QuirkPayloadUnchecked, KprobeEvents, [][2]patch{{{6, 13, 0}, {7, 2, 13}}}},
	{QuirkCommDereference, Eprobes, [][2]patch{{{5, 15, 0}, {6, 12, 117}}}},
	{QuirkTrailingOperator, Hist, [][2]patch{{{6, 13, 0}, {7, 3, 4}}}},
	{QuirkFileAt, UprobeEvents, [][2]patch{{{6, 13, 0}, {7, 2, 13}}}},
	{QuirkEmptyUserText, UserString, [][2]patch{{{4, 20, 0}, {6, 17, 13}}}},
	{QuirkSymstr, SymstrType, [][2]patch{{{6, 1, 0}, {}}}},
}
