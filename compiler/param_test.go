package compiler

import (
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler/emit"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// shellOf compiles a script, with params set, to shell lines; the list has what was
// told of it.
func shellOf(t *testing.T, text string, set map[string]string) (string, diag.List) {
	t.Helper()
	src, err := source.New("p.ep", text)
	if err != nil {
		t.Fatal(err)
	}
	k, err := target.Embedded("6.17-x86_64")
	if err != nil {
		t.Fatal(err)
	}
	p, list := Compile(src, k, Options{Set: set})
	if p == nil {
		return "", list
	}
	var b strings.Builder
	if err := emit.Echo(&b, p); err != nil {
		t.Fatal(err)
	}
	return withoutComments(b.String()), list
}

// withoutComments leaves out what the lines say of the script's own words.
func withoutComments(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// TestParamsMeanWhatTheirLiteralsMean: V in a condition is a literal, a const, the
// default of a param, or what the command line gives it, and the plan is the same.
func TestParamsMeanWhatTheirLiteralsMean(t *testing.T) {
	for _, tt := range []struct{ where, literal, typ, other string }{
		{"block.block_rq_issue where dev == V", `"8:0"`, "", `"9:1"`},
		{"block.block_rq_issue where dev == V", `"8:0"`, "dev", `"9:1"`},
		{"block.block_rq_issue where dev in { V }", `"8:0"`, "dev", `"9:1"`},
		{"raw_syscalls.sys_enter where (id as sysnr) == V", "openat", "sysnr", "read"},
		{"syscall openat where flags & V == V", "O_CREAT", "", "O_EXCL"},
		{"syscalls.sys_enter_mmap where prot & V", "PROT_EXEC", "u64", "PROT_READ"},
		{"syscalls.sys_enter_socket where family == V", "AF_INET", "", "AF_UNIX"},
		{"syscalls.sys_enter_kill where sig == V", "SIGKILL", "", "SIGTERM"},
		{"irq.softirq_entry where vec == V", `"TIMER"`, "", `"RCU"`},
		{"sched.sched_switch where prev_state & V", `"D"`, "", `"S"`},
		{"sched.sched_switch where next_comm == V", `"my-prog"`, "str", `"x"`},
		{"sched.sched_switch where next_comm ~ V", `"*W*"`, "", `"x"`},
		{"sched.sched_process_exec where filename == V", `"/usr/bin/x"`, "", `"x"`},
		{"sched.sched_switch where next_pid > V", "100", "", "7"},
		{"func inet_stream_connect where (uaddr as *sockaddr_in)->sin_addr.s_addr as ip == V", `"10.0.0.1"`, "ip", `"10.0.0.2"`},
	} {
		script := func(v string) string { return "trace " + strings.ReplaceAll(tt.where, "V", v) + "\n" }
		typ := ""
		if tt.typ != "" {
			typ = ": " + tt.typ
		}
		want, list := shellOf(t, script(tt.literal), nil)
		if list.HasErrors() {
			t.Errorf("%s: %v", script(tt.literal), list)
			continue
		}
		for _, form := range []struct {
			name, text string
			set        map[string]string
		}{
			{"const", "const v" + typ + " = " + tt.literal + "\n" + script("v"), nil},
			{"default", "param v" + typ + " = " + tt.literal + "\n" + script("v"), nil},
			{"set", "param v" + typ + " = " + tt.other + "\n" + script("v"), map[string]string{"v": strings.Trim(tt.literal, `"`)}},
			{"set quoted", "param v" + typ + " = " + tt.other + "\n" + script("v"), map[string]string{"v": tt.literal}},
			{"set without default", "param v" + typ + "\n" + script("v"), map[string]string{"v": strings.Trim(tt.literal, `"`)}},
		} {
			if tt.typ == "" && tt.literal == `"TIMER"` && form.set != nil && form.name == "set quoted" {
				continue
			}
			got, list := shellOf(t, form.text, form.set)
			if list.HasErrors() {
				t.Errorf("%s: %s%v", form.name, form.text, list)
			} else if got != want {
				t.Errorf("%s: %s makes\n%s\nthe literal\n%s", form.name, form.text, got, want)
			}
		}
	}
}

// TestSetTakesTextAsItIs: what follows the '=' is the text of a string param.
func TestSetTakesTextAsItIs(t *testing.T) {
	for _, text := range []string{"my-prog", "/usr/bin/x", "*W*", "kworker/0:1", "123", "a b", "1ms", "3+", "EPERM", "x==1"} {
		for _, param := range []string{`param v = "other"`, "param v: str"} {
			want, list := shellOf(t, `trace sched.sched_process_exec where filename ~ "`+text+`"`, nil)
			if list.HasErrors() {
				t.Fatal(list)
			}
			got, list := shellOf(t, param+"\ntrace sched.sched_process_exec where filename ~ v", map[string]string{"v": text})
			if list.HasErrors() || got != want {
				t.Errorf("%s with v=%s: %v\n%s\nwant\n%s", param, text, list, got, want)
			}
		}
	}
}

// TestSetSaysWhatItExpects, and is at no place of the script.
func TestSetSaysWhatItExpects(t *testing.T) {
	for _, tt := range []struct{ param, set, want string }{
		{"param v = 1ms", "fast", "--set v=fast: expected a duration such as 10ms"},
		{"param v = 1ms", "10", "--set v=10: expected a duration such as 10ms"},
		{"param v: us = 1ms", "10", "--set v=10: expected a duration such as 10ms"},
		{"param v: us", "fast", "--set v=fast: expected a duration such as 10ms"},
		{"param v = 1", "10ms", "--set v=10ms: expected a number"},
		{"param v: u8", "256", "--set v=256: expected a number from 0 to 255"},
		{"param v: dev", "sda", "--set v=sda: expected a value of type dev such as 8:0"},
		{"param v: ip", "10.0.0", "--set v=10.0.0: expected a value of type ip such as 10.0.0.1"},
		{"param v: sysnr", "no-call", "--set v=no-call: expected a value of type sysnr such as openat"},
	} {
		_, list := shellOf(t, tt.param+"\ntrace sched.sched_switch where prev_pid == 1", map[string]string{"v": tt.set})
		if len(list) != 1 || list[0].Message != tt.want || list[0].Span.Valid() {
			t.Errorf("%s, v=%s: got %v, want %q", tt.param, tt.set, list, tt.want)
		}
	}
}

// TestConditionsThatNeverHold: a script with one makes nothing of it, and says so.
func TestConditionsThatNeverHold(t *testing.T) {
	for _, tt := range []struct {
		text   string
		makes  []string // words of its plan
		leaves []string // words that are not in it
	}{
		{"hist kmem.kmalloc where bytes_req < 0 by call_site", nil, []string{"hist:"}},
		{"param verbose = 0\nhist kmem.kmalloc where verbose == 1 by call_site", nil, []string{"hist:"}},
		{"param verbose = 0\non kmem.kmalloc where verbose == 1 do snapshot", nil, []string{"snapshot"}},
		{"hist sched.sched_switch where prev_pid == 1 && prev_pid == 2 by next_pid", nil, nil},
		{"event e from kmem.kmalloc where bytes_req < 0\nhist e by call_site\non e do stop", nil, []string{"hist:", "traceoff"}},
		{"hist kmem.kmalloc where bytes_req < 0 by call_site\ntrace sched.sched_switch", []string{"sched_switch"}, []string{"hist:"}},
	} {
		got, list := shellOf(t, tt.text+"\n", nil)
		if list.HasErrors() {
			t.Errorf("%s: %v", tt.text, list)
			continue
		}
		if len(list) == 0 {
			t.Errorf("%s: no warning", tt.text)
		}
		for _, w := range tt.makes {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %q in\n%s", tt.text, w, got)
			}
		}
		for _, w := range tt.leaves {
			if strings.Contains(got, w) {
				t.Errorf("%s: %q is in\n%s", tt.text, w, got)
			}
		}
	}
}

// TestArgumentsCalledAsTheContext: a function may have an argument 'ret'.
func TestArgumentsCalledAsTheContext(t *testing.T) {
	for _, sig := range []string{"(file, ret)", "(elapsed, ret)", "(file, elapsed)"} {
		for _, end := range []string{"", ".enter", ".exit"} {
			if _, list := shellOf(t, "trace func vfs_read"+end+sig+"\n", nil); list.HasErrors() {
				t.Errorf("vfs_read%s%s: %v", end, sig, list)
			}
		}
	}
}

// TestPatternsOfKnownTexts: `$func` is known when the script is compiled.
func TestPatternsOfKnownTexts(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		holds   bool
	}{
		{"*switch", true}, {"sched_?witch", true}, {"sched_[a-s]*", true}, {"sched_[!a-r]*", true}, {"*x", false}, {"sched", false}, {"", false},
	} {
		got, list := shellOf(t, `event d from sched.sched_switch as b having f ~ "`+tt.pattern+`" { f = b.$func, p = b.prev_pid }`+"\ntrace d", nil)
		if list.HasErrors() || strings.Contains(got, "enable") != tt.holds {
			t.Errorf("%s: %v\n%s", tt.pattern, list, got)
		}
	}
}

// TestFirstByteOfADynamicText: only that is always there.
func TestFirstByteOfADynamicText(t *testing.T) {
	if got, list := shellOf(t, "trace net.net_dev_queue where name[0] == 'l' { c = name[0] }", nil); list.HasErrors() || !strings.Contains(got, "+0($name)") {
		t.Errorf("%v\n%s", list, got)
	}
	if _, list := shellOf(t, "trace net.net_dev_queue { c = name[1] }", nil); len(list) != 1 || list[0].Code != diag.IndexOutOfRange {
		t.Errorf("got %v, want an error that the text may end before", list)
	}
}

// TestConditionChoosesAmongSources: what never holds for one source leaves the others.
func TestConditionChoosesAmongSources(t *testing.T) {
	const text = `hist syscalls.sys_enter_read, syscalls.sys_enter_write where $func ~ "%s" by c = count`
	for pattern, want := range map[string]int{"*read": 1, "*write": 1, "*": 2, "*close": 0} {
		got, list := shellOf(t, strings.Replace(text, "%s", pattern, 1), nil)
		if n := strings.Count(got, "hist:keys=c"); n != want || list.HasErrors() || (len(list) > 0) != (want == 0) {
			t.Errorf("%s: %d histograms, want %d: %v\n%s", pattern, n, want, list, got)
		}
	}
}
