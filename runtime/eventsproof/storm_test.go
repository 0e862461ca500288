package eventsproof

import (
	"context"
	"io"
	"os"
	"path"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/runtime/events"
	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// storm makes a known number of events on two CPUs while a Reader renders
// them, and holds decoded and lost against it.
type storm struct {
	name      string
	event     plan.Stream
	probe     string // makes the event, if the kernel has it not
	calls     int    // on each of two CPUs
	bufferKB  string
	overwrite string
}

var static = plan.Stream{Group: "syscalls", Event: "sys_enter_getppid"}

var storms = []storm{
	{name: "million", event: static, calls: 600_000, bufferKB: "4096", overwrite: "1"},
	{name: "overrun", event: static, calls: 200_000, bufferKB: "64", overwrite: "1"},
	{name: "dropped", event: static, calls: 200_000, bufferKB: "64", overwrite: "0"},
	{name: "eprobe", event: plan.Stream{Group: "epproof", Event: "storm"}, probe: "e:epproof/storm syscalls.sys_enter_getppid nr=$__syscall_nr:s32",
		calls: 200_000, bufferKB: "1024", overwrite: "1"},
}

func runStorms(g *vm.G) {
	runtime.GOMAXPROCS(4) // the two that call have a processor each
	for _, s := range storms {
		if s.probe != "" {
			if err := write("dynamic_events", s.probe); err != nil {
				g.Logf("%s: not here: %v", s.name, err)
				continue
			}
		}
		within(g, s.bufferKB, func(dir string) { s.run(g, dir) })
		if s.probe != "" {
			if err := write("dynamic_events", "-:epproof/storm"); err != nil {
				g.Errorf("%v", err)
			}
		}
	}
}

func (s *storm) run(g *vm.G, dir string) {
	put(g, path.Join(dir, "options/overwrite"), s.overwrite)
	r, err := events.Open(os.DirFS(tracefs), []plan.Stream{s.event}, events.Options{
		Instance: instance,
		Comms:    events.NewTaskNames(os.DirFS("/proc"), os.DirFS(tracefs)),
	})
	if err != nil {
		g.Fatalf("%v", err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(g.Context())
	defer cancel()
	enable := path.Join(dir, "events", s.event.Group, s.event.Event, "enable")
	put(g, enable, "1")
	start := time.Now()
	go func() {
		defer cancel()
		var both sync.WaitGroup
		for cpu := range 2 {
			both.Go(func() { callOn(g, cpu, s.calls) })
		}
		both.Wait()
		if err := os.WriteFile(path.Join(tracefs, dir, "tracing_on"), []byte("0"), 0); err != nil {
			g.Errorf("%v", err)
		}
	}()
	var decoded, told, bytes uint64
	some := false
	j := events.JSON{Times: events.TimeForm{Clock: r.Clock()}}
	line := make([]byte, 0, 4096)
	for rec, err := range r.Records(ctx) {
		if err != nil {
			g.Errorf("%s: %v", s.name, err)
			continue
		}
		decoded++
		told += rec.Lost
		some = some || rec.LostSome
		line = j.AppendRecord(line[:0], rec)
		n, _ := io.Discard.Write(line)
		bytes += uint64(n)
	}
	took := time.Since(start)
	put(g, enable, "0")
	var lost, overrun, read, left uint64
	for _, l := range r.Losses() {
		if !l.Exact || l.Bad > 0 {
			g.Errorf("%s: %+v", s.name, l)
		}
		lost += l.Lost()
		left += l.Left
		overrun += l.Overrun
		read += l.Read
	}
	produced := uint64(2 * s.calls)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		g.Fatalf("%v", err)
	}
	_, hwm, _ := strings.Cut(string(status), "VmHWM:")
	hwm, _, _ = strings.Cut(hwm, "\n")
	g.Logf("%s: produced %d = decoded %d + lost %d (%d told in the stream) in %v; %d MB of JSON; most memory %s; %d late",
		s.name, produced, decoded, lost, told, took.Round(time.Millisecond), bytes>>20, strings.TrimSpace(hwm), r.Late())
	if decoded+lost != produced || read != decoded || left != 0 {
		g.Errorf("%s: decoded %d (read %d) + lost %d and %d left is not %d", s.name, decoded, read, lost, left, produced)
	}
	if some || told > overrun {
		g.Errorf("%s: %d told as lost (some uncounted: %v), the kernel counted %d", s.name, told, some, overrun)
	}
}

// callOn calls getppid n times on one CPU.
func callOn(g *vm.G, cpu, n int) {
	runtime.LockOSThread() // the thread is pinned: it ends with this goroutine
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		g.Errorf("pin to CPU %d: %v", cpu, err)
	}
	for range n {
		unix.Getppid()
	}
}
