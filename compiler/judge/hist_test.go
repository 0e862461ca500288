package judge_test

import (
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler/judge"
	"github.com/eptrace/ep/compiler/target"
)

const (
	switches = "events/sched/sched_switch/trigger"
	waking   = "events/sched/sched_waking/trigger"
)

// line returns a write to a file, opened to append.
func line(file, text string) judge.Write { return judge.Write{File: file, Text: text} }

func judgeOf(t testing.TB, kernel string, before ...judge.Write) *judge.Judge {
	t.Helper()
	tg, err := target.Embedded(kernel + "-x86_64")
	if err != nil {
		t.Fatal(err)
	}
	j := judge.New(tg)
	for _, w := range before {
		if v := j.Write(w); !v.Accepted {
			t.Fatalf("%s: %v", w.Text, v.Refusal)
		}
	}
	return j
}

func TestRefusalsSayWhatIsWrongAndWhere(t *testing.T) {
	synth := line("dynamic_events", "s:lat u64 us; pid_t pid")
	start := line(waking, "hist:keys=pid:ts0=common_timestamp.usecs")
	for _, c := range []struct {
		name   string
		before []judge.Write
		write  judge.Write
		want   string
		mark   string // what is marked of the text
	}{
		{"field", nil, line(switches, "hist:keys=prev_pit"),
			"event sched.sched_switch has no field 'prev_pit'; did you mean 'prev_pid'? [EINVAL: Couldn't find field]", "prev_pit"},
		{"modifier", nil, line(switches, "hist:keys=prev_pid.lgo2"), "no such modifier at 'lgo2' [EINVAL: Invalid field modifier]", "lgo2"},
		{"modifier of a value", nil, line(switches, "hist:keys=prev_pid:vals=next_pid.log2"),
			"a value cannot be summed in that form [EINVAL: Invalid field modifier]", "next_pid"},
		{"sort", nil, line(switches, "hist:keys=prev_pid:sort=prev_pdi"),
			"'prev_pdi' is neither a key nor a value; did you mean 'prev_pid'? [EINVAL: Sort field must be a key or a val]", "prev_pdi"},
		{"variable", []judge.Write{start}, line(switches, "hist:keys=next_pid:d=common_timestamp.usecs-$ts1"),
			"no histogram here has a variable 'ts1'; did you mean 'ts0'? [EINVAL: Couldn't find variable]", "$ts1"},
		{"units", []judge.Write{start}, line(switches, "hist:keys=next_pid:d=common_timestamp-$ts0"),
			"one side of '-' is in microseconds, by '.usecs', and the other is not [EINVAL: Timestamp units in expression don't match]", ""},
		{"event", nil, line(switches, "hist:keys=next_pid:onmatch(sched.sched_wakin).trace(lat,next_pid)"),
			"there is no event sched.sched_wakin; did you mean 'sched.sched_waking'? [EINVAL: Invalid subsystem or event name]", "sched.sched_wakin"},
		{"synthetic event", []judge.Write{synth}, line(switches, "hist:keys=next_pid:onmatch(sched.sched_waking).trace(lta,next_pid)"),
			"there is no synthetic event 'lta'; did you mean 'lat'? [EINVAL: Couldn't find synthetic event]", "lta"},
		{"type", []judge.Write{synth}, line(switches, "hist:keys=next_pid:x=next_prio:onmatch(sched.sched_waking).trace(lat,$x,next_pid)"),
			"'$x' does not fit the field 'u64 us' of synthetic.lat: it is int, of 4 bytes [EINVAL: Param type doesn't match synthetic event field type]", "$x"},
		{"sign", []judge.Write{line("dynamic_events", "s:prio s32 prio")}, line(switches, "hist:keys=next_pid:onmatch(sched.sched_waking).trace(prio,next_prio)"),
			"'next_prio' does not fit the field 's32 prio' of synthetic.prio: it is int without a sign [EINVAL: Param type doesn't match synthetic event field type]", "next_prio"},
		{"count", []judge.Write{synth}, line(switches, "hist:keys=next_pid:x=common_timestamp.usecs:onmatch(sched.sched_waking).trace(lat,$x)"),
			"synthetic.lat has 2 fields, and there are 1 parameters [EINVAL: Param count doesn't match synthetic event field count]", "lat"},
		{"taken", []judge.Write{start}, line(waking, "hist:keys=prio:ts0=pid"),
			"sched.sched_waking has a variable 'ts0' already [EINVAL: Variable already defined]", "ts0"},
		{"busy", []judge.Write{start, line(switches, "hist:keys=next_pid:y=$ts0")}, line(waking, "!hist:keys=pid:ts0=common_timestamp.usecs"),
			"another histogram refers to its variables; that has to go first [EBUSY]", ""},
		{"keys", nil, line(switches, "hist:keys=prev_comm,next_comm,prev_pid,next_pid"), "4 keys; the kernel takes 3 [EINVAL]", ""},
		{"shown", nil, line(switches, "hist:keys=prev_pid:size=2048 [active]"),
			"'[active]' is how the kernel shows the histogram, not how it is written [EINVAL: Couldn't find field]", "[active]"},
		{"same kind", []judge.Write{line(switches, "traceoff")}, line(switches, "traceon:1"),
			"the event has a trigger 'traceoff' already, and has only one of its kind [EEXIST]", "traceon"},
		{"target", nil, line(switches, "enable_event:sched:sched_wakin"),
			"there is no event sched.sched_wakin; did you mean 'sched.sched_waking'? [EINVAL]", "sched:sched_wakin"},
		{"synthetic exists", []judge.Write{synth}, line("synthetic_events", "lat u64 a"),
			"there is a synthetic event 'lat' already [EEXIST: Event already exists]", "lat"},
		{"synthetic type", nil, line("dynamic_events", "s:lat u64* a"), "no type of a synthetic event's field at 'u64*' [EINVAL: Invalid type]", "u64*"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := judgeOf(t, "6.17", c.before...).Write(c.write)
			if v.Accepted {
				t.Fatalf("%s: accepted", c.write.Text)
			}
			if got := v.Refusal.Error(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := c.write.Text[v.Refusal.Lo:v.Refusal.Hi]; got != c.mark {
				t.Errorf("marked %q, want %q", got, c.mark)
			}
		})
	}
}

func TestTrapsAreTold(t *testing.T) {
	start := line(waking, "hist:keys=pid:ts0=common_timestamp.usecs")
	for _, c := range []struct {
		kernel string
		before []judge.Write
		write  judge.Write
		want   string // part of what is told
	}{
		{"6.17", nil, line(switches, "hist:keys=prev_pid:x=next_pid*2,z=$x+1"), "'$x' is not its value but the first operand"},
		{"6.17", nil, line(switches, "hist:keys=prev_pid:vals=next_prio/3"), "rounds up"},
		{"6.17", nil, line(switches, "hist:keys=prev_pid:y=sched.sched_waking.next_pid"), "is the field 'next_pid' of sched.sched_switch"},
		{"6.17", nil, line(switches, "!hist:keys=prev_pid"), "nothing is removed"},
		{"6.17", []judge.Write{line(switches, "hist:keys=prev_pid if prev_pid > 0")}, line(switches, "!hist:keys=prev_pid if prev_pid>0"), "the condition is not written like that"},
		{"6.17", []judge.Write{start}, line(switches, "hist:keys=next_comm:y=$ts0"), "'$ts0' is never found"},
		{"6.17", []judge.Write{start, line(switches, "hist:keys=next_pid:a=common_timestamp.usecs-$ts0")},
			line(switches, "hist:keys=next_pid:b=common_timestamp.usecs-$ts0"), "used up by the first"},
		{"6.17", []judge.Write{line("dynamic_events", "s:com char[] c"), line(waking, "hist:keys=pid")},
			line(switches, "hist:keys=next_pid:onmatch(sched.sched_waking).trace(com,comm)"), "'comm' is that of sched.sched_switch, not the field of sched.sched_waking"},
		{"6.17", []judge.Write{line("dynamic_events", "s:syn u64 v")}, line("events/synthetic/syn/trigger", "hist:keys=v.stacktrace"), "stops with a fault"},
		{"7.2", []judge.Write{line("dynamic_events", "s:syn int c"), line(waking, "hist:keys=common_cpu")},
			line(switches, "hist:keys=common_cpu:onmatch(sched.sched_waking).trace(syn,target_cpu)"), "stops with a fault"},
		{"6.1", []judge.Write{line(switches, "snapshot"), line(switches, "stacktrace")}, line(switches, "traceoff"), "this kernel may hang"},
		{"6.17", nil, line(switches, "traceoff:0"), "never does anything"},
		{"6.17", []judge.Write{line("dynamic_events", "e:foo sched.sched_switch"), line("events/eprobes/foo/trigger", "traceoff"),
			{Op: judge.Mkdir, File: "instances/i"}}, line("instances/i/events/eprobes/foo/trigger", "hist:keys=common_pid"), "runs in another instance already"},
	} {
		v := judgeOf(t, c.kernel, c.before...).Write(c.write)
		if !v.Accepted {
			t.Errorf("%s: %v", c.write.Text, v.Refusal)
			continue
		}
		if got := strings.Join(v.Misleads, "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.write.Text, got, c.want)
		}
	}
}

// What a chain of histograms holds is free again when it is taken down in the
// right order, and busy in the wrong one.
func TestTearingDown(t *testing.T) {
	build := []judge.Write{
		line("dynamic_events", "s:lat u64 us"),
		line(waking, "hist:keys=pid:ts0=common_timestamp.usecs"),
		line(switches, "hist:keys=next_pid:us=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).trace(lat,$us)"),
		line("events/synthetic/lat/trigger", "hist:keys=us.log2"),
		line(switches, "enable_event:synthetic:lat"),
	}
	undo := []string{"-:synthetic/lat", "!" + build[1].Text, "!" + build[2].Text, "!" + build[3].Text, "!enable_event:synthetic:lat"}
	for _, kernel := range kernels {
		j := judgeOf(t, kernel, build...)
		for _, i := range []int{0, 1} {
			if v := j.Write(line(build[i].File, undo[i])); v.Accepted || v.Refusal.Errno != "EBUSY" {
				t.Errorf("%s: %s is not busy", kernel, undo[i])
			}
		}
		for i := len(undo) - 1; i >= 0; i-- {
			v := j.Write(line(build[i].File, undo[i]))
			if !v.Accepted || strings.Contains(strings.Join(v.Misleads, ""), "nothing is removed") {
				t.Errorf("%s: %s: %v %v", kernel, undo[i], v.Refusal, v.Misleads)
			}
		}
		for _, w := range build {
			if v := j.Write(w); !v.Accepted {
				t.Errorf("%s: again: %s: %v", kernel, w.Text, v.Refusal)
			}
		}
	}
}

// `: > FILE` opens and writes nothing: what the file held goes, and there is no
// text to refuse.
func TestOpeningAloneClears(t *testing.T) {
	made := line(switches, "hist:keys=prev_pid")
	j := judgeOf(t, "6.17", made, line("dynamic_events", "p:k vfs_read"), line("set_graph_function", "vfs_read"))
	for _, file := range []string{switches, "kprobe_events", "set_graph_function"} {
		if v := j.Write(judge.Write{Op: judge.Clear, File: file}); !v.Accepted {
			t.Errorf("%s: %v", file, v.Refusal)
		}
	}
	if v := j.Write(made); !v.Accepted {
		t.Errorf("the histogram is still there: %v", v.Refusal)
	}
	for _, w := range []judge.Write{line("dynamic_events", "-:k"), line("set_graph_function", "!vfs_read"), line(switches, "")} {
		if v := j.Write(w); v.Accepted {
			t.Errorf("%s <- %q is accepted", w.File, w.Text)
		}
	}
}
