package compiler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
)

// TestSuffixIsOnAllNamesThatAreMade: a script that runs twice makes nothing
// twice, and its streams have the names of the script.
func TestSuffixIsOnAllNamesThatAreMade(t *testing.T) {
	const script = `
event openat from syscall openat { file = str(filename), took = $elapsed }
event sched.slim from sched.sched_switch { prev_pid }
event lat from sched.sched_waking as a then sched.sched_switch as b by a.pid == b.next_pid { d = b.$time - a.$time }
event all from sched.sched_waking, sched.sched_wakeup { pid }
hist both from kmem.kmalloc, kmem.kfree by site = call_site as x64
trace openat, sched.slim, lat, all
trace syscall close.enter { fd }
`
	src, err := source.New("x.ep", script)
	if err != nil {
		t.Fatal(err)
	}
	tg, err := target.Embedded(target.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	names := func(suffix string) (made, streams []string) {
		p, list := compiler.Compile(src, tg, compiler.Options{Suffix: suffix})
		if p == nil {
			t.Fatalf("suffix '%s': %v", suffix, list)
		}
		for _, w := range p.Writes {
			if w.File == "dynamic_events" {
				made = append(made, strings.TrimPrefix(w.Undo.Data, "-:"))
			}
			if i := strings.Index(w.Data, ":name="); i >= 0 {
				name, _, _ := strings.Cut(w.Data[i+6:], ":")
				made = append(made, name)
			}
		}
		for _, s := range p.Streams {
			streams = append(streams, s.Name)
		}
		return made, streams
	}
	plain, streams := names("")
	for _, suffix := range []string{"_2", "_17"} {
		made, same := names(suffix)
		if len(made) != len(plain) {
			t.Fatalf("makes %q, without a suffix %q", made, plain)
		}
		for i, name := range made {
			base := strings.TrimRight(plain[i], "0123456789") // a number may stand behind
			if !strings.HasPrefix(name, base+suffix) || slices.Contains(plain, name) {
				t.Errorf("suffix '%s': '%s' for '%s'", suffix, name, plain[i])
			}
		}
		if !slices.Equal(same, streams) {
			t.Errorf("streams are %q, without a suffix %q", same, streams)
		}
	}
}
