package eventsproof

import (
	"context"
	"os"
	"path"
	"time"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/runtime/events"
	"github.com/eptrace/ep/runtime/vm"
)

// cpu1Online turns CPU 1 off and on.
const cpu1Online = "/sys/devices/system/cpu/cpu1/online"

// runHotplug begins to read while a CPU is offline, so that the instance has no buffer
// for it, and has calls made on it once it is online, and others after it was off
// again for a while: each is read, nothing is said to be lost or wrong.
func runHotplug(g *vm.G) {
	turn := func(on string) {
		if err := os.WriteFile(cpu1Online, []byte(on), 0); err != nil {
			g.Fatalf("%v", err)
		}
	}
	turn("0")
	g.Cleanup(func() { _ = os.WriteFile(cpu1Online, []byte("1"), 0) })
	const calls = 1000
	within(g, "1024", func(dir string) {
		r, err := events.Open(os.DirFS(tracefs), []plan.Stream{static}, events.Options{Instance: instance})
		if err != nil {
			g.Fatalf("%v", err)
		}
		defer r.Close()
		put(g, path.Join(dir, "events", static.Group, static.Event, "enable"), "1")
		ctx, cancel := context.WithCancel(g.Context())
		defer cancel()
		go func() {
			defer cancel()
			callOnce := func(cpu int) {
				done := make(chan struct{})
				go func() { defer close(done); callOn(g, cpu, calls) }()
				<-done
			}
			callOnce(0)
			time.Sleep(500 * time.Millisecond) // the CPU that is not there is read, and passed over
			turn("1")
			callOnce(1)
			time.Sleep(1500 * time.Millisecond) // it is looked for once a second
			callOnce(1)
			turn("0")
			time.Sleep(500 * time.Millisecond)
			turn("1")
			callOnce(1) // and read at the end
		}()
		got := map[int]int{}
		for rec, err := range r.Records(ctx) {
			if err != nil {
				g.Errorf("%v", err)
				continue
			}
			got[rec.CPU]++
			if rec.Lost > 0 || rec.LostSome {
				g.Errorf("a record says that others are lost: %+v", rec)
			}
		}
		g.Logf("records by CPU: %v", got)
		if got[0] != calls || got[1] != 3*calls {
			g.Errorf("got %v, want %d of CPU 0 and %d of CPU 1", got, calls, 3*calls)
		}
		for _, l := range r.Losses() {
			if l.Lost() > 0 || l.Left > 0 || !l.Exact {
				g.Errorf("%+v", l)
			}
		}
	})
}
