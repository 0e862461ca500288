package eventsproof

import (
	"context"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/runtime/events"
	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// intervalScript makes two records of each call. The second is made inside an exit
// event that is recorded and then discarded, so that it stays as padding; and no
// absolute time comes between, since the entry is recorded too.
const intervalScript = `
option clock mono
option instance ` + instance + `
event asked from syscall getpgid { pid, took = $elapsed }
trace asked, syscalls.sys_enter_getpgid
trace syscalls.sys_exit_getpgid where ret == -12345
`

// intervalCalls is how many calls are made, with the arguments that no process
// has from firstPID on.
const (
	intervalCalls = 10_000
	firstPID      = 1 << 22
)

// runIntervals demands that the records of a call, read while calls are made, are
// stamped between two readings of the same clock around that call, and that the
// times of one CPU never go back.
func runIntervals(g *vm.G) {
	src, err := source.New("interval.ep", intervalScript)
	if err != nil {
		g.Fatalf("%v", err)
	}
	k, err := target.Open("live", os.DirFS("/"))
	if err != nil {
		g.Fatalf("%v", err)
	}
	p, list := compiler.Compile(src, k, compiler.Options{})
	if p == nil {
		g.Fatalf("%v", list)
	}
	before, after := make([]int64, intervalCalls), make([]int64, intervalCalls)
	within(g, "4096", func(dir string) {
		applied(g, p, func() {
			r, err := events.Open(os.DirFS(tracefs), p.Streams, events.Options{Instance: instance, Delay: 10 * time.Millisecond})
			if err != nil {
				g.Fatalf("%v", err)
			}
			defer r.Close()
			ctx, cancel := context.WithCancel(g.Context())
			defer cancel()
			go func() {
				defer cancel()
				runtime.LockOSThread()
				for i := range intervalCalls {
					before[i] = monotonic()
					_, _ = unix.Getpgid(firstPID + i) // there is no such process
					after[i] = monotonic()
					if i%50 == 49 {
						time.Sleep(5 * time.Millisecond)
					}
				}
			}()
			type stamp struct {
				call int
				at   int64
			}
			var stamps []stamp
			back := 0
			last := map[int]int64{} // by CPU
			for rec, err := range r.Records(ctx) {
				if err != nil {
					g.Errorf("%v", err)
					continue
				}
				at := int64(rec.Time)
				if at < last[rec.CPU] {
					back++
				}
				last[rec.CPU] = at
				pid := slices.IndexFunc(rec.Stream.Fields, func(f events.Field) bool { return f.Name == "pid" })
				if pid < 0 {
					continue
				}
				if call := int(rec.Values[pid].Int()) - firstPID; call >= 0 && call < intervalCalls {
					stamps = append(stamps, stamp{call, at})
				}
			}
			// Only now: a record may be read before its call has returned.
			early, late, worst := 0, 0, int64(0)
			for _, s := range stamps {
				switch {
				case s.at < before[s.call]:
					early++
					worst = max(worst, before[s.call]-s.at)
				case s.at > after[s.call]:
					late++
				}
			}
			g.Logf("%d records of %d calls: %d early (at most by %v), %d late, %d steps back", len(stamps), intervalCalls, early, time.Duration(worst), late, back)
			if len(stamps) != 2*intervalCalls || early+late+back > 0 {
				g.Errorf("expected all calls, none early, none late, no step back")
			}
		})
	})
}

// monotonic is the clock that option clock mono stamps records by, ns.
func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}
