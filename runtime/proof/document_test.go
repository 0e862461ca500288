package proof

import (
	"slices"
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/runtime/tracefs"
)

// example is what a document of the kernel does by hand: its command lines, in
// order.
type example struct {
	from  string // the document
	lines []documentLine
}

// documentLine is one command. What ep makes in its stead is the same object,
// names of variables aside, unless ep says what it is and why says why.
type documentLine struct {
	file, line string
	ep, why    string
}

var switchExample = example{"Documentation/trace/eprobetrace.rst, example 1", []documentLine{
	{file: "dynamic_events", line: "e:sched/switch sched.sched_switch prev=$prev_pid:u32 next=$next_pid:u32"},
}}

// The document's lines, with its working form of the first: +8($args):ustring
// would read the bytes of the address as the text.
var openatRawExample = example{"Documentation/trace/eprobetrace.rst, example 2", []documentLine{
	{
		file: "dynamic_events", line: "e:openat_start raw_syscalls.sys_enter nr=$id filename=+8($args):x64",
		ep:  "e:openat_start raw_syscalls.sys_enter file=+8($args):x64",
		why: "the condition is the eprobe's own, so that it needs no field for the number; the script calls the address file",
	},
	{file: "dynamic_events", line: "s:filename u64 file"},
	{
		file: "events/eprobes/openat_start/trigger", line: "hist:keys=common_pid:f=filename if nr == $NR",
		ep:  "hist:keys=common_pid:f=file",
		why: "what fails the condition never gets here",
	},
	{
		file: "events/raw_syscalls/sys_exit/trigger", line: "hist:keys=common_pid:file=$f:onmatch(eprobes.openat_start).trace(filename,$file) if id == $NR",
		ep:  "hist:keys=common_pid:file=$f+0:onmatch(eprobes.openat_start).trace(filename,$file) if id == $NR",
		why: "a variable that stands in an expression is used up, so that no address is reported twice",
	},
	{
		file: "dynamic_events", line: "e:openat synthetic.filename filename=+0($file):ustring",
		ep:  "e:openat synthetic.filename file=+0($file):ustring",
		why: "the script calls it file",
	},
}}

var openatExample = example{"Documentation/trace/eprobetrace.rst, example 3", []documentLine{
	{
		file: "dynamic_events", line: "s:filename u64 file",
		ep:  "s:openat_join u64 filename; u64 flags; s64 fd; u64 took",
		why: "the script asks for flags, result and time too, and leaves the name to ep",
	},
	{
		file: "events/syscalls/sys_enter_openat/trigger", line: "hist:keys=common_pid:f=filename",
		ep:  "hist:keys=common_pid:f=filename:g=flags:t=common_timestamp",
		why: "more is carried",
	},
	{
		file: "events/syscalls/sys_exit_openat/trigger", line: "hist:keys=common_pid:file=$f:onmatch(syscalls.sys_enter_openat).trace(filename,$file)",
		ep:  "hist:keys=common_pid:r=ret:d=common_timestamp-$t:onmatch(syscalls.sys_enter_openat).trace(openat_join,$f,$g,$r,$d)",
		why: "more is carried; the time, read in an expression, uses the entry up",
	},
	{
		file: "dynamic_events", line: "e:openat synthetic.filename filename=+0($file):ustring",
		ep:  "e:ep_openat/openat synthetic.openat_join file=+0($filename):ustring flags=$flags:s32 fd=$fd:s64 took=$took:u64",
		why: "the same read, with the other fields, in the script's own group",
	},
}}

var wakeupExample = example{"Documentation/trace/histogram.rst, wakeup latency", []documentLine{
	{
		file: "synthetic_events", line: "wakeup_latency u64 lat; pid_t pid; int prio",
		ep:  "wakeup_latency s32 pid; char[] comm; u64 lat",
		why: "the script asks for the name and not for the priority; s32 is pid_t",
	},
	{
		file: "events/sched/sched_waking/trigger", line: `hist:keys=pid:ts0=common_timestamp.usecs if comm=="cyclictest"`,
		ep:  "hist:keys=pid:ts0=common_timestamp",
		why: "of every thread, in nanoseconds",
	},
	{
		file: "events/sched/sched_switch/trigger",
		line: `hist:keys=next_pid:wakeup_lat=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).wakeup_latency($wakeup_lat,next_pid,next_prio) if next_comm=="cyclictest"`,
		ep:   "hist:keys=next_pid:p=next_pid:c=next_comm:wakeup_lat=common_timestamp-$ts0:onmatch(sched.sched_waking).trace(wakeup_latency,$p,$c,$wakeup_lat)",
		why:  "a variable for each value: kernels type bare fields otherwise, and some die of them",
	},
}}

var blkUpdateExample = example{"a kprobe as Documentation/trace/kprobetrace.rst has them, with arguments by number", []documentLine{
	{
		file: "dynamic_events", line: "p:blk_update blk_update_request request=$arg1 status=$arg2:u8 bytes=$arg3:u32",
		ep:  "p:blk_update blk_update_request request=$arg1:x64 status=$arg2:u8 bytes=$arg3:u32",
		why: "the script says the type that the kernel would take",
	},
}}

// document writes the lines of an example as they stand, demands that the
// kernel shows what they say, and removes them. It returns what the kernel shows
// of the lines in ep's form, which it writes, reads back and removes likewise.
func (b *bench) document(e example) []command.Command {
	nr, ok := b.live.Syscall("openat")
	if !ok {
		b.Fatalf("no number of openat")
	}
	number := strings.NewReplacer("$NR", strconv.Itoa(nr))
	var theirs, ours []documentLine
	for _, l := range e.lines {
		l.line, l.ep = number.Replace(l.line), number.Replace(l.ep)
		theirs = append(theirs, l)
		if l.ep != "" {
			if l.why == "" {
				b.Errorf("%s: %q has another form, and no reason for it", e.from, l.line)
			}
			l.line = l.ep
		}
		ours = append(ours, l)
	}
	b.byHand(e.from, theirs)
	return b.byHand(e.from+", in ep's form", ours)
}

// byHand writes lines, compares what the kernel shows with them, and removes
// all.
func (b *bench) byHand(what string, list []documentLine) []command.Command {
	before := b.state(nil)
	var want []command.Command
	var triggers []string
	for _, dynamic := range []bool{true, false} {
		for _, l := range list {
			c := b.parse(l)
			if _, hist := c.(*command.Hist); hist != dynamic {
				want = append(want, command.Shown(c))
				if hist {
					triggers = append(triggers, l.file)
				}
			}
		}
	}
	for _, l := range list {
		b.write(l.file, l.line, tracefs.Append)
	}
	shown := b.shown(triggers)
	if lines(want) != lines(shown) {
		b.Errorf("%s:\n%s\nthe kernel shows:\n%s", what, lines(want), lines(shown))
	}
	for _, l := range slices.Backward(list) {
		switch c := b.parse(l).(type) {
		case *command.Hist:
			// In its own words: a kernel that was told NAME(…) knows of no trace(NAME,…).
			b.write(l.file, "!"+l.line, tracefs.Append)
		default:
			undo := command.Undo(c)
			b.write(undo.File(), command.Line(undo), tracefs.Append)
		}
	}
	for _, file := range triggers {
		if b.fs.Exists(file) && strings.Contains(b.read(file), "hist:") {
			b.Errorf("%s: left in %s: %s", what, file, b.read(file))
		}
	}
	b.clock(before["trace_clock"])
	b.same(what, before, b.state(nil))
	return shown
}

func (b *bench) parse(l documentLine) command.Command {
	c, err := command.Parse(l.file, l.line)
	if err != nil {
		b.Fatalf("%s: %q: %v", l.file, l.line, err)
	}
	return c
}

// clock sets the clock that trace_clock showed.
func (b *bench) clock(shown string) {
	_, rest, _ := strings.Cut(shown, "[")
	name, _, ok := strings.Cut(rest, "]")
	if !ok {
		b.Fatalf("no clock in %q", shown)
	}
	b.write("trace_clock", name, tracefs.Truncate)
}
