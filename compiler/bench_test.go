package compiler_test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/lang/source"
)

// large makes a script of n events of one kind.
var large = []struct {
	name string
	make func(b *strings.Builder, i int)
}{
	{"independent", func(b *strings.Builder, i int) {
		fmt.Fprintf(b, "event e%d from sched.sched_switch where prev_pid > %d { prev_pid, next_comm }\n", i, i)
	}},
	{"chained", func(b *strings.Builder, i int) {
		if i%100 == 0 {
			fmt.Fprintf(b, "event e%d from sched.sched_switch { pid = prev_pid, next_pid }\n", i)
			return
		}
		fmt.Fprintf(b, "event e%d from e%d { pid, next_pid }\n", i, i-1)
	}},
	{"joins", func(b *strings.Builder, i int) {
		fmt.Fprintf(b, "event lat%d from sched.sched_waking as wake then sched.sched_switch as run by wake.pid == run.next_pid having lat > %dus\n"+
			"{ pid = run.next_pid, lat = run.$time - wake.$time }\n", i, i+1)
	}},
	{"spans", func(b *strings.Builder, i int) {
		fmt.Fprintf(b, "event open%d from syscall openat where $ret > %d { file = str(filename), $ret }\n", i, i)
	}},
	{"traces", func(b *strings.Builder, i int) {
		fmt.Fprintf(b, "trace sched.sched_switch where prev_pid == %d { prev_pid, $time }\n", i)
	}},
	{"params", func(b *strings.Builder, i int) {
		fmt.Fprintf(b, "param p%d: us = %dus\n", i, i+1)
	}},
}

func largeScript(t testing.TB, n int, add func(*strings.Builder, int)) *source.Source {
	t.Helper()
	var b strings.Builder
	for i := range n {
		add(&b, i)
	}
	src, err := source.New("large.ep", b.String())
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func compileLarge(t testing.TB, src *source.Source) {
	t.Helper()
	if p, list := compiler.Compile(src, keptTarget(t, "7.2-x86_64"), compiler.Options{}); p == nil {
		t.Fatalf("%v: %s", list[0].Code, list[0].Message)
	}
}

// BenchmarkCompileLarge shows that the time per event does not grow with the
// script: compare cpu-ns/event of 1000 and 10000, which a busy machine changes
// little.
func BenchmarkCompileLarge(b *testing.B) {
	for _, kind := range large {
		for _, n := range []int{1000, 10000} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, n), func(b *testing.B) {
				src := largeScript(b, n, kind.make)
				compileLarge(b, src)
				b.ReportAllocs()
				start := processorTime(b)
				for b.Loop() {
					compileLarge(b, src)
				}
				b.ReportMetric(float64((processorTime(b)-start).Nanoseconds())/float64(b.N*n), "cpu-ns/event")
			})
		}
	}
}

// TestNothingIsQuadratic compiles scripts of which one is eight times as long as
// the other: the processors' time may grow little more than that. It is generous,
// for the collector's share differs; the benchmark is exact.
func TestNothingIsQuadratic(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, kind := range large {
		t.Run(kind.name, func(t *testing.T) {
			took := func(src *source.Source) time.Duration {
				least := time.Hour
				for range 3 {
					start := processorTime(t)
					compileLarge(t, src)
					least = min(least, processorTime(t)-start)
				}
				return least
			}
			few, many := largeScript(t, 250, kind.make), largeScript(t, 2000, kind.make)
			short, long := took(few), took(many)
			if long > 8*5/2*short {
				t.Errorf("250 take %v, 2000 take %v: more than 8 times", short, long)
			}
		})
	}
}

// processorTime is what the process has taken of the processors so far.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestOnlyNamedFormatsAreRead counts the format files that are opened: those of
// the events that a script names, however many the target has.
func TestOnlyNamedFormatsAreRead(t *testing.T) {
	o := &overlay{}
	tg := overlaid(t, "counted", o)
	if p, list := compiler.Compile(script(t, "wakeup.ep"), tg, compiler.Options{}); p == nil {
		t.Fatal(list)
	}
	got := o.formats()
	slices.Sort(got)
	for i := range got {
		got[i] = strings.TrimPrefix(got[i], tg.Tracefs()+"/")
	}
	want := []string{"events/sched/sched_switch/format", "events/sched/sched_waking/format"}
	if !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}
