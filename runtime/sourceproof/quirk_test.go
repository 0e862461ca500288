package sourceproof

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/runtime/tracefs"
	"github.com/eptrace/ep/runtime/vm"
)

// quirkCases show by raw lines what kernels get wrong, and that the table of
// quirks says of which; next to each, ep's way out. What would stop a kernel is
// in deadlyCases. What would overwrite its memory is not tried: the compiler's
// tests hold that ep never writes it.
var quirkCases = []vm.Case{
	on("quirks-accepted", joins, proveAccepted),
	on("quirks-pointer-byte", joins, provePointerByte),
	on("quirks-synthetic-text", joins, proveSyntheticText),
	on("quirks-names", joins, proveNames),
	on("quirks-everywhere", joins, proveEverywhere),
}

// line is a write by hand.
type line struct{ file, text string }

// writes reports whether the kernel takes all lines, and takes back what came of
// them.
func (b *bench) writes(lines ...line) (bool, error) {
	for i, l := range lines {
		if err := b.fs.Write(l.file, l.text, tracefs.Append); err != nil {
			return false, err
		}
		if l.file == "dynamic_events" || strings.HasSuffix(l.file, "/trigger") {
			defer b.put(undone(lines[i]))
		}
	}
	return true, nil
}

// proveAccepted: lines that some kernels take and should not, or the other way
// round.
func proveAccepted(b *bench) {
	many, large := "", ""
	for i := range 129 {
		many += " a" + strings.Repeat("x", i/26) + string(rune('a'+i%26)) + "=\\1"
	}
	for i := range 13 {
		large += " l" + string(rune('a'+i)) + "=+0($stack):u64[32]"
	}
	for _, c := range []struct {
		quirk   target.Feature
		accepts bool // the kernel that has it
		lines   []line
		script  string // ep's way, if it is no error
		code    diag.Code
	}{
		{target.QuirkArgsDropped, true, []line{{"dynamic_events", "p:ep_q/many vfs_read" + many}}, "", ""},
		{target.QuirkPayloadUnchecked, true, []line{{"dynamic_events", "p:ep_q/large vfs_read" + large}}, "", ""},
		{target.QuirkCommDereference, true, []line{{"dynamic_events", "e:ep_q/comm sched.sched_switch a=+0($comm):u8"}}, "", ""},
		{target.QuirkTrailingOperator, true, []line{{"dynamic_events", "e:ep_q/trail sched.sched_switch if prev_pid > 0 &&"}},
			"trace sched.sched_switch where prev_pid > 0 && { prev_pid }", diag.Syntax},
		{target.QuirkPercentRefused, false, []line{{"events/sched/sched_switch/trigger", "hist:keys=prev_pid:vals=prev_prio.percent"}},
			"hist sched.sched_switch by prev_pid { total = sum(prev_prio) }", ""},
		{target.QuirkOneTracepointProbe, false, []line{{"dynamic_events", "t:ep_q/one sched_process_exit"}, {"dynamic_events", "t:ep_q/two sched_process_exit"}}, "", ""},
	} {
		ok, err := b.writes(c.lines...)
		has := b.live.Has(c.quirk)
		switch {
		case c.quirk == target.QuirkPercentRefused && !b.live.Has(target.HistPercent),
			c.quirk == target.QuirkOneTracepointProbe && !b.live.Has(target.TracepointProbes):
			continue
		case ok != (has == c.accepts):
			b.Errorf("%s: the table says %t, and the kernel took it: %t (%v)", c.quirk, has, ok, err)
		}
		switch {
		case c.code != "":
			b.refused(c.script, c.code)
		case c.script != "":
			b.compile(c.script)
		}
	}
}

// provePointerByte: an eprobe's `char *` field by hand, and the text by ep.
func provePointerByte(b *bench) {
	p := opensOnly(b)
	r := b.run("event e from syscalls.sys_enter_openat where str(filename) ~ \"*/only-this\" { place = filename, file = str(filename) }\ntrace e", p)
	for _, place := range r.of("e", "place") {
		if len(place) < len("0x100000") {
			b.Errorf("the pointer is %s", place)
		}
	}
	if len(r.of("e", "file")) == 0 {
		b.Errorf("no records: %s", r)
	}
	raw := b.byHand([]line{{"dynamic_events", "e:ep_q/open syscalls.sys_enter_openat place=$filename:x64"}}, "events/ep_q/open/enable", p)
	short := 0
	for _, text := range raw {
		if _, place, ok := strings.Cut(text, " place="); ok && len(place) <= len("0xff") {
			short++
		}
	}
	if has := b.live.Has(target.QuirkEprobePointerByte); len(raw) == 0 || has != (short == len(raw)) {
		b.Errorf("the table says %t; by hand:\n%s", has, strings.Join(raw, "\n"))
	}
}

// proveSyntheticText: char[N] of a synthetic event, printed by the kernel.
func proveSyntheticText(b *bench) {
	lines := []line{
		{"dynamic_events", "s:ep_q_text char[16] who"},
		{"events/sched/sched_process_fork/trigger", "hist:keys=parent_pid:w=parent_comm:onmatch(sched.sched_process_fork).trace(ep_q_text,$w)"},
	}
	fork := func() error { _, err := child(); return err }
	if strings.Contains(b.text("events/sched/sched_process_fork/format"), "char parent_comm[16]") {
		raw := strings.Join(b.byHand(lines, "events/synthetic/ep_q_text/enable", fork), "\n")
		if has := b.live.Has(target.QuirkSyntheticArrayPrint); raw == "" || has != strings.Contains(raw, "(efault)") {
			b.Errorf("the table says %t; by hand:\n%s", has, raw)
		}
	}
	r := b.run("event e from sched.sched_process_fork { who = parent_comm, much = child_pid * 2 }\ntrace e", fork)
	if got := r.of("e", "who"); len(got) != 1 || got[0] == "" || strings.Contains(got[0], "efault") {
		b.Errorf("got %q of %s", got, r)
	}
}

// proveNames: a histogram on an event that bears a synthetic event's name.
func proveNames(b *bench) {
	made := []line{
		{"dynamic_events", "s:ep_q_same u64 v"},
		{"dynamic_events", "p:ep_q/ep_q_same vfs_read"},
		{"events/ep_q/ep_q_same/trigger", "hist:keys=common_pid"},
	}
	b.put(made...)
	busy := b.fs.Write("dynamic_events", undone(made[0]).text, tracefs.Append)
	if has := b.live.Has(target.QuirkSyntheticNames); has != (busy != nil) {
		b.Errorf("the table says %t, and to remove it gave: %v", has, busy)
	}
	b.put(undone(made[2]), undone(made[1]))
	if busy != nil {
		b.put(undone(made[0]))
	}
	b.refused(`
event both from sched.sched_waking as a then sched.sched_switch as b by a.pid == b.next_pid { lat = b.$time - a.$time }
event other.both from sched.sched_switch { prev_pid }
trace both, other.both`, diag.NameTaken)
}

// proveEverywhere: what all kernels take and mean something else by; ep refuses
// it, or means what it says.
func proveEverywhere(b *bench) {
	for _, c := range []struct {
		lines  []line
		script string
		codes  []diag.Code
	}{
		{[]line{{"events/sched/sched_switch/filter", "prev_prio == 4294967416"}}, "trace sched.sched_switch where prev_prio == 4294967416 { prev_pid }", []diag.Code{diag.ConstantOutOfRange}},
		{[]line{{"dynamic_events", "e:ep_q/number sched.sched_switch a=$prev_pid:string"}}, "trace sched.sched_switch { a = str(prev_pid) }", []diag.Code{diag.NotAPointer}},
		{[]line{{"dynamic_events", "p:ep_q/arity vfs_read a=$arg9"}}, "trace func vfs_read.enter(a, b, c, d, e) { e }", []diag.Code{diag.BadArgument}},
		{[]line{{"dynamic_events", "p:ep_q/low 0x1000"}}, "trace kprobe 0x1000 { $comm }", []diag.Code{diag.BadNumber}},
		{[]line{{"events/sched/sched_switch/trigger", "hist:keys=next_pid:x=prev_prio*2,y=$x+1"}}, "trace sched.sched_switch { x = prev_prio * 2 + 1 }", nil},
		{[]line{{"events/sched/sched_switch/trigger", "hist:keys=next_pid:x=prev_prio/3"}}, "trace sched.sched_switch { x = prev_prio / 3 }", nil},
	} {
		if ok, err := b.writes(c.lines...); !ok {
			b.Errorf("by hand %q is refused: %v", c.lines, err)
		}
		if c.codes == nil {
			b.compile(c.script)
			continue
		}
		b.refused(c.script, c.codes...)
	}
	if err := b.fs.Write("events/sched/sched_switch/filter", "0", tracefs.Append); err != nil {
		b.Errorf("%v", err)
	}
}

// byHand makes events by hand, switches the last one on while f works, and
// returns the lines that the kernel shows of it.
func (b *bench) byHand(lines []line, enable string, f func() error) []string {
	b.put(lines...)
	b.putOver(line{enable, "1"})
	b.putOver(line{"trace", "\n"})
	if err := f(); err != nil {
		b.Fatalf("workload: %v", err)
	}
	b.putOver(line{enable, "0"})
	part := strings.Split(enable, "/")
	var shown []string
	for _, text := range strings.Split(b.text("trace"), "\n") {
		if strings.Contains(text, ": "+part[len(part)-2]+": ") {
			shown = append(shown, text)
		}
	}
	for i := len(lines) - 1; i >= 0; i-- {
		b.put(undone(lines[i]))
	}
	return shown
}

// undone is the line that takes back what l made.
func undone(l line) line {
	if l.file != "dynamic_events" {
		return line{l.file, "!" + l.text}
	}
	name, _, _ := strings.Cut(l.text[2:], " ")
	if l.text[0] == 's' {
		name = "synthetic/" + name
	}
	return line{l.file, "-:" + name}
}

func (b *bench) put(lines ...line) {
	for _, l := range lines {
		if err := b.fs.Write(l.file, l.text, tracefs.Append); err != nil {
			b.Fatalf("%s > %s: %v", l.text, l.file, err)
		}
	}
}

func (b *bench) putOver(l line) {
	if err := b.fs.Write(l.file, l.text, tracefs.Truncate); err != nil {
		b.Fatalf("%s > %s: %v", l.text, l.file, err)
	}
}

func (b *bench) text(name string) string {
	text, err := b.fs.Read(name)
	if err != nil {
		b.Fatalf("%v", err)
	}
	return string(text)
}

// opensOnly opens a file called only-this.
func opensOnly(b *bench) func() error {
	path := filepath.Join(b.TempDir(), "only-this")
	return func() error { return os.WriteFile(path, nil, 0o600) }
}
