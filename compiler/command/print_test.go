package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hexops/autogold/v2"

	"github.com/eptrace/ep/lang/source"
)

func event(group, name string) EventName { return EventName{Group: group, Name: name} }

func span(start, end source.Pos) source.Span { return source.Span{Start: start, End: end} }

// examples has a command of each kind with each of its parts.
func examples() []Command {
	ts0 := HistRef{Event: event("sched", "sched_waking"), Name: "ts0"}
	return []Command{
		&Eprobe{EventName: event("sched", "switch"), On: event("sched", "sched_switch"), Args: []Arg{
			{Name: "prev", Fetch: FieldOf{Name: "prev_pid"}, Type: FetchType{Base: "u32"}},
			{Name: "text", Fetch: Deref{X: FieldOf{Name: "prev_comm"}}, Type: FetchType{Base: "u8", Count: 16}},
			{Name: "user", Fetch: Deref{Off: -8, User: true, X: Deref{Off: 16, X: FieldOf{Name: "args"}}}, Type: FetchType{Base: "string"}},
			{Name: "task", Fetch: Comm{}, Type: FetchType{Base: "string"}},
			{Name: "bits", Fetch: FieldOf{Name: "prev_prio"}, Type: FetchType{Base: "b", Bits: 4, Offset: 28, Of: 32}},
		}, If: &And{List: []Cond{
			&Pred{Field: "prev_pid", Op: ">", Value: Value{Text: "0"}},
			&Or{List: []Cond{
				&Pred{Field: "prev_comm", Op: "~", Value: Value{Kind: String, Text: `a"*`}},
				&Not{X: &Pred{Field: "cpu", Op: "&", Value: Value{Kind: CPUs, Text: "0-3"}}},
			}},
		}}},
		&Kprobe{EventName: event("ep", "read"), Symbol: "vfs_read", Offset: 4, Args: []Arg{
			{Name: "a", Fetch: ArgN{N: 1}},
			{Name: "b", Fetch: Reg{Name: "di"}},
			{Name: "c", Fetch: StackN{N: 2}},
			{Name: "d", Fetch: At{Symbol: "jiffies_64", Off: -8}, Type: FetchType{Base: "u64"}},
			{Name: "e", Fetch: At{Addr: 0xffffffff81000000}},
			{Name: "f", Fetch: Imm{N: -1}},
			{Name: "g", Fetch: Imm{N: -1, Unsigned: true}},
			{Name: "h", Fetch: ImmString{Text: "hi"}},
			{Name: "i", Fetch: Comm{}},
		}},
		&Kprobe{EventName: event("ep", "ret"), Return: true, MaxActive: 64, Module: "ext4", Symbol: "ext4_sync_file",
			Args: []Arg{{Name: "ret", Fetch: RetVal{}, Type: FetchType{Base: "s64"}}}},
		&Kprobe{EventName: event("ep", "addr"), Offset: 0xffffffff81000000},
		&Fprobe{EventName: event("ep", "exit"), Return: true, Symbol: "vfs_read", Args: []Arg{
			{Name: "ino", Fetch: Var{Path: "file->f_inode->i_ino"}}, {Fetch: Special{Text: "$arg*"}}}},
		&Tprobe{EventName: event("ep", "raw"), Tracepoint: "sched_switch", Args: []Arg{
			{Name: "pid", Fetch: Typecast{Struct: "task_struct", X: Var{Path: "next"}, Path: "pid"}},
			{Name: "up", Fetch: Typecast{Struct: "task_struct", Member: "real_parent", X: Deref{Off: 8, X: ArgN{N: 2}}, Path: "pid"}},
		}},
		&Uprobe{EventName: event("ep", "malloc"), Path: "/lib/libc.so.6", Offset: 0x1000, RefCtr: 0x10,
			Args: []Arg{{Name: "file", Fetch: FileAt{Off: 16}}}},
		&Uprobe{EventName: event("ep", "done"), Return: true, Path: "/bin/true", Offset: 0x20},
		&Synthetic{Name: "wake_lat", Fields: []SynthField{{Type: "s32", Name: "pid"}, {Type: "unsigned long[]", Name: "stack"}}},
		&Delete{EventName: event("sched", "switch")},
		&Delete{EventName: event("sched", ""), Words: ""},
		&Delete{EventName: event("", "switch"), Words: "sched.sched_switch prev=$prev_pid:u32"},
		&Hist{Event: event("sched", "sched_switch"),
			Keys: []HistExpr{HistField{Name: "next_pid"}, HistField{Name: "prev_prio", Modifier: "buckets=10"}},
			Vals: []HistExpr{HistField{Name: "next_prio", Modifier: "hex"}},
			Vars: []HistVar{
				{Name: "lat", Expr: &HistBinary{X: HistField{Name: "common_timestamp", Modifier: "usecs"}, Op: '-', Y: ts0}},
				{Name: "neg", Expr: &HistNeg{X: &HistBinary{X: HistNum{N: 1}, Op: '+', Y: HistField{Name: "next_pid"}}}},
			},
			Sort: []HistSort{{Name: "next_prio", Desc: true}, {Name: "next_pid"}},
			Size: 4096, Name: "shared", Clock: "mono", State: "pause", NoHitcount: true,
			Actions: []HistAction{
				{Handler: "onmatch", Match: event("sched", "sched_waking"), Do: "trace", Synth: "wake_lat",
					Params: []HistExpr{HistRef{Name: "lat"}, HistField{Event: event("sched", "sched_waking"), Name: "prio"}}},
				{Handler: "onmax", Var: "lat", Do: "save", Params: []HistExpr{HistField{Name: "next_comm"}}},
				{Handler: "onchange", Var: "neg", Do: "snapshot"},
			},
			If: &Pred{Field: "next_pid", Op: "!=", Value: Value{Text: "0"}}},
		&Hist{Event: event("kmem", "kmalloc"), Remove: true, Keys: []HistExpr{HistField{Name: "call_site", Modifier: "sym-offset"}}},
		&Trigger{Event: event("sched", "sched_switch"), Kind: Stacktrace, Count: 5},
		&Trigger{Event: event("sched", "sched_switch"), Kind: EnableEvent, Target: event("sched", "sched_waking"), Count: -1,
			If: &Pred{Field: "comm", Op: "==", Value: Value{Kind: String, Text: "it's"}}},
		&Trigger{Event: event("sched", "sched_switch"), Kind: Traceoff, Count: 0, Remove: true},
		&Filter{Event: event("workqueue", "workqueue_execute_start"), If: &Not{X: &Pred{Field: "function", Suffix: "function",
			Op: "==", Value: Value{Text: "vmstat_update"}}}},
		&Filter{Event: event("sched", "")},
		&Enable{Event: event("ep", "switch"), On: true},
	}
}

func TestPrintWritesOneLineForOneFile(t *testing.T) {
	var b strings.Builder
	for _, c := range examples() {
		if err := Check(c); err != nil {
			t.Fatalf("%#v: %v", c, err)
		}
		fmt.Fprintf(&b, "%s %s\n", mode(c), c.File())
		fmt.Fprintf(&b, "  do   %s\n", Line(c))
		if undo := Undo(c); undo != nil {
			fmt.Fprintf(&b, "  undo %s\n", Line(undo))
		}
	}
	autogold.ExpectFile(t, autogold.Raw(b.String()))
}

func mode(c Command) string {
	if Truncates(c) {
		return ">"
	}
	return ">>"
}

func TestPrintedCommandsParseToTheSame(t *testing.T) {
	for _, c := range examples() {
		got, err := Parse(c.File(), Line(c))
		if err != nil {
			t.Errorf("%q: %v", Line(c), err)
			continue
		}
		if Line(got) != Line(c) || !Equal(got, c) || !Equal(c, Shown(c)) && Line(Shown(c)) == Line(Normal(c)) {
			t.Errorf("got  %q\nwant %q", Line(got), Line(c))
		}
		if undo := Undo(c); undo != nil && undo.File() != c.File() {
			t.Errorf("%q is undone in %s", Line(c), undo.File())
		}
	}
}

func TestUndoOfAStateIsTheOther(t *testing.T) {
	h := &Hist{Event: event("a", "b"), Keys: []HistExpr{HistField{Name: "pid"}}}
	line := func(state string) string {
		h.State = state
		if undo := Undo(h); undo != nil {
			return Line(undo)
		}
		return "nothing"
	}
	autogold.Expect("!hist:keys=pid").Equal(t, line(""))
	autogold.Expect("!hist:keys=pid").Equal(t, line("pause"))
	autogold.Expect("hist:keys=pid:pause").Equal(t, line("continue"))
	autogold.Expect("nothing").Equal(t, line("clear"))
}

// TestOriginsCoverWhatAScriptWrote shows the bytes of each Span under the line.
func TestOriginsCoverWhatAScriptWrote(t *testing.T) {
	probe := &Eprobe{
		EventName: EventName{Group: "ep", Name: "switch", Span: span(10, 16)},
		On:        EventName{Group: "sched", Name: "sched_switch", Span: span(20, 38)},
		Args: []Arg{
			{Name: "pid", Span: span(40, 54), Fetch: FieldOf{Name: "prev_pid", Span: span(46, 54)}, Type: FetchType{Base: "s32"}},
			{Name: "made", Span: source.NoSpan, Fetch: FieldOf{Name: "prev_prio"}},
			{Name: "len", Span: span(60, 80), Fetch: Deref{Off: 8, Span: span(66, 80), X: FieldOf{Name: "args", Span: span(68, 72)}}},
		},
		If: &And{List: []Cond{
			&Pred{Field: "prev_pid", Op: ">", Value: Value{Text: "0", Span: span(96, 97)}, Span: span(85, 97)},
			&Not{X: &Pred{Field: "comm", Op: "==", Value: Value{Kind: String, Text: "sh", Span: span(110, 114)}, Span: span(101, 114)}},
		}},
	}
	hist := &Hist{
		Event: EventName{Group: "sched", Name: "sched_switch", Span: span(0, 18)},
		Keys:  []HistExpr{HistField{Name: "next_pid", Span: span(20, 28)}},
		Vars: []HistVar{{Name: "lat", Span: span(30, 50), Expr: &HistBinary{
			X: HistField{Name: "common_timestamp", Modifier: "usecs", Span: span(36, 38)}, Op: '-',
			Y: HistRef{Name: "ts0", Span: span(41, 50)}, Span: span(36, 50)}}},
		Sort: []HistSort{{Name: "next_pid", Desc: true, Span: span(55, 60)}},
		Actions: []HistAction{{Handler: "onmatch", Match: EventName{Group: "sched", Name: "sched_waking", Span: span(70, 88)},
			Do: "trace", Synth: "wake_lat", Params: []HistExpr{HistRef{Name: "lat", Span: span(90, 93)}}, Span: span(65, 99)}},
	}
	synth := &Synthetic{Name: "wake_lat", Span: span(5, 13), Fields: []SynthField{
		{Type: "s32", Name: "pid", Span: span(15, 22)}, {Type: "u64", Name: "lat", Span: span(24, 31)}}}
	trigger := &Trigger{Event: event("a", "b"), Kind: EnableEvent, Count: -1, Span: span(1, 9),
		Target: EventName{Group: "sched", Name: "sched_waking", Span: span(3, 5)}}
	var b strings.Builder
	for _, c := range []Command{probe, hist, synth, trigger} {
		text, origins := Print(c)
		b.WriteString(text + "\n")
		for _, o := range origins {
			fmt.Fprintf(&b, "%s%s %d-%d\n", strings.Repeat(" ", o.Lo), strings.Repeat("^", o.Hi-o.Lo), o.Span.Start, o.Span.End)
		}
	}
	autogold.ExpectFile(t, autogold.Raw(b.String()))
}

func TestOriginsNestOuterFirst(t *testing.T) {
	for _, c := range examples() {
		_, origins := Print(c)
		if len(origins) != 0 {
			t.Errorf("%q: origins of what no script has: %v", Line(c), origins)
		}
	}
	_, origins := Print(&Delete{EventName: EventName{Group: "a", Name: "b", Span: span(3, 4)}})
	autogold.Expect([]Origin{{
		Lo: 2,
		Hi: 5,
		Span: source.Span{
			Start: source.Pos(3),
			End:   source.Pos(4),
		},
	}}).Equal(t, origins)
}

func BenchmarkPrint(b *testing.B) {
	list := examples()
	for b.Loop() {
		for _, c := range list {
			Print(c)
		}
	}
}
