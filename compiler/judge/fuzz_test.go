package judge_test

import (
	"testing"

	"github.com/eptrace/ep/compiler/judge"
)

// FuzzWrites: whatever is written, and after whatever, there is a verdict that
// marks no more than the text, and the state can be gone on with.
func FuzzWrites(f *testing.F) {
	for _, a := range askedLines(f) {
		before := judge.Write{}
		if len(a.before) > 0 {
			before = a.before[len(a.before)-1]
		}
		f.Add(before.File, before.Text, a.write.File, a.write.Text)
	}
	j := judgeOf(f, "6.17")
	f.Fuzz(func(t *testing.T, file1, text1, file2, text2 string) {
		j.Reset()
		for _, w := range []judge.Write{
			{File: "dynamic_events", Text: "s:syn u64 a; char[] b\ne:foo sched.sched_switch a=$prev_pid:s32"},
			{Op: judge.Mkdir, File: "instances/i1"},
			{File: waking, Text: "hist:keys=pid:x=prio,ts=common_timestamp.usecs"},
			{File: file1, Text: text1}, {File: file2, Text: text2}, {Op: judge.Truncate, File: file1, Text: text2},
			{File: file2, Text: "!" + text2}, {Op: judge.Rmdir, File: "instances/i1"}, {Op: judge.Truncate, File: waking, Text: "traceoff"},
			{Op: judge.Truncate, File: "dynamic_events"},
		} {
			v := j.Write(w)
			if v.Accepted != (v.Refusal == nil) {
				t.Fatalf("%s <- %q: accepted %t, refusal %v", w.File, w.Text, v.Accepted, v.Refusal)
			}
			if r := v.Refusal; r != nil && (r.Lo < 0 || r.Hi < r.Lo || r.Hi > len(w.Text) || r.Reason == "") {
				t.Fatalf("%s <- %q: %+v", w.File, w.Text, r)
			}
		}
	})
}
