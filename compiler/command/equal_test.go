package command

import (
	"testing"
)

func mustParse(t testing.TB, file, line string) Command {
	t.Helper()
	c, err := Parse(file, line)
	if err != nil {
		t.Fatalf("%s: %q: %v", file, line, err)
	}
	return c
}

func TestEqualKnowsWhatTheKernelFillsIn(t *testing.T) {
	const dynamic, trigger, filter = "dynamic_events", "events/sched/sched_switch/trigger", "events/sched/sched_switch/filter"
	for _, c := range []struct {
		name, file, a, b string
		want             bool
	}{
		{"group and name", dynamic, "e sched/sched_switch", "e:eprobes/sched_switch sched.sched_switch", true},
		{"group alone", dynamic, "e:g/ sched/sched_switch", "e:g.sched_switch sched.sched_switch", true},
		{"type", dynamic, "e sched/sched_switch a=$prev_pid", "e sched/sched_switch a=$prev_pid:x64", true},
		{"other type", dynamic, "e sched/sched_switch a=$prev_pid", "e sched/sched_switch a=$prev_pid:u64", false},
		{"type that BTF gives", dynamic, "p vfs_read a=$arg1", "p vfs_read a=$arg1:x64", false},
		{"names of arguments", dynamic, "p vfs_read $arg1 file", "p vfs_read arg1=$arg1 file=file", true},
		{"bases of numbers", dynamic, `p vfs_read a=+0x10(%di) b=\010`, `p vfs_read a=+16(%di):x64 b=\8`, true},
		{"condition", dynamic, "e sched/sched_switch if prev_pid > 0", "e sched/sched_switch", false},
		{"blanks of a condition", dynamic, `e sched/sched_switch if prev_comm == "a   b"`, `e sched/sched_switch if prev_comm=="a b"`, true},
		{"return", dynamic, "r vfs_read", "p:r_vfs_read_0 vfs_read+0%return", true},
		{"return by a value", dynamic, "f:x vfs_read a=$retval", "f:x vfs_read%return a=$retval", true},
		{"synthetic group", dynamic, "s:x char a[16];", "s:synthetic/x\tchar[16] a", true},
		{"task's name and a field", dynamic, "e sched/sched_waking a=$comm", "e sched/sched_waking a=$COMM", false},
		{"defaults of a hist", trigger, "hist:key=pid", "hist:keys=pid:vals=hitcount:sort=hitcount:size=2048 [active]", true},
		{"order of parts", trigger, "hist:size=200:vals=a,hitcount:keys=pid", "hist:keys=pid:values=a:size=256", true},
		{"modifiers of sort keys", trigger, "hist:keys=a.log2,b.buckets=10:sort=a,b.descending", "hist:keys=a.log2,b.buckets=10:sort=a.log2,b.buckets=10.descending [active]", true},
		{"order of keys", trigger, "hist:keys=a,b", "hist:keys=b,a", false},
		{"clock", trigger, "hist:keys=pid:ts=common_timestamp", "hist:keys=pid:ts=common_timestamp:clock=global", true},
		{"clock of no use", trigger, "hist:keys=pid:clock=mono", "hist:keys=pid", true},
		{"other clock", trigger, "hist:keys=pid:ts=common_timestamp:clock=mono", "hist:keys=pid:ts=common_timestamp", false},
		{"variables", trigger, "hist:keys=pid:a=x,b=$a", "hist:keys=pid:a=x:b=x", true},
		{"call", trigger, "hist:keys=pid:onmatch(a.b).syn($x, y1)", "hist:keys=pid:onmatch(a.b).trace(syn,$x,y1)", true},
		{"stack", trigger, "hist:keys=stacktrace", "hist:keys=common_stacktrace", true},
		{"own field", trigger, "hist:keys=comm", "hist:keys=common_comm", false},
		{"state", trigger, "hist:keys=pid:pause", "hist:keys=pid [paused]", true},
		{"count", trigger, "traceoff", "traceoff:unlimited", true},
		{"counted", trigger, "traceoff:5", "traceoff:count=5", true},
		{"parentheses", filter, "a == 1 && (b == 2 && !(!(c == 3)))", "a==1&&b==0x2&&(c==3)", true},
		{"other parentheses", filter, "a == 1 && (b == 2 || c == 3)", "a == 1 && b == 2 || c == 3", false},
		{"quotes", filter, `comm == "a"`, `comm == 'a'`, true},
		{"no filter", filter, "0", "none", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := mustParse(t, c.file, c.a), mustParse(t, c.file, c.b)
			if got := Equal(a, b); got != c.want {
				t.Errorf("got %v for\n%s\n%s", got, printed(Normal(a)), printed(Normal(b)))
			}
		})
	}
}

func TestEqualTellsFilesApart(t *testing.T) {
	a := mustParse(t, "events/sched/sched_switch/trigger", "traceoff")
	b := mustParse(t, "events/sched/sched_waking/trigger", "traceoff")
	if Equal(a, b) {
		t.Error("triggers of two events are equal")
	}
}

func TestNormalLeavesItsArgument(t *testing.T) {
	for _, c := range examples() {
		before := Line(c)
		Normal(c)
		Shown(c)
		EqualButNames([]Command{c}, []Command{c})
		if after := Line(c); after != before {
			t.Errorf("got %q, want %q", after, before)
		}
	}
}

func TestEqualButNamesRenamesVariables(t *testing.T) {
	const waking, switched = "events/sched/sched_waking/trigger", "events/sched/sched_switch/trigger"
	list := func(first, second string) []Command {
		return []Command{mustParse(t, waking, first), mustParse(t, switched, second)}
	}
	a := list("hist:keys=pid:ts0=common_timestamp.usecs,p=prio",
		"hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).trace(syn,$lat,$p):onmax($lat).save(next_comm)")
	for _, c := range []struct {
		name string
		b    []Command
		want bool
	}{
		{"the same", a, true},
		{"other names", list("hist:keys=pid:x=common_timestamp.usecs,y=prio",
			"hist:keys=next_pid:z=common_timestamp.usecs-sched.sched_waking.$x:onmatch(sched.sched_waking).trace(syn,$z,$y):onmax($z).save(next_comm)"), true},
		{"one name on two events", list("hist:keys=pid:x=common_timestamp.usecs,y=prio",
			"hist:keys=next_pid:y=common_timestamp.usecs-$x:onmatch(sched.sched_waking).trace(syn,$y,sched.sched_waking.$y):onmax($y).save(next_comm)"), true},
		{"crossed names", list("hist:keys=pid:x=common_timestamp.usecs,y=prio",
			"hist:keys=next_pid:z=common_timestamp.usecs-$y:onmatch(sched.sched_waking).trace(syn,$z,$x):onmax($z).save(next_comm)"), false},
		{"other parameter", list("hist:keys=pid:x=common_timestamp.usecs,y=prio",
			"hist:keys=next_pid:z=common_timestamp.usecs-$x:onmatch(sched.sched_waking).trace(syn,$z,$z):onmax($z).save(next_comm)"), false},
		{"fewer commands", a[:1], false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := EqualButNames(a, c.b); got != c.want {
				t.Errorf("got %v", got)
			}
			if got := EqualButNames(c.b, a); got != c.want {
				t.Errorf("got %v the other way", got)
			}
		})
	}
}
