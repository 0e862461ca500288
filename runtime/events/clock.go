package events

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Clock is the trace clock of an instance and what its times mean elsewhere.
// A time of it is a Record's Time. Its methods may be called from several
// goroutines.
//
// The clocks of the kernel (trace.c, trace_clocks) are told apart so:
//
//   - mono, mono_raw, boot and tai are clocks that programs can read: exact.
//   - global, local, perf and uptime count ns, but programs cannot read them.
//     The kernel tells their time in µs (per_cpu/cpuN/stats), and that is
//     compared. They drift from the others, so comparing is repeated.
//   - counter, x86-tsc and ppc-tb count something else than ns.
type Clock struct {
	name string
	fsys fs.FS
	dir  string                  // of the instance
	at   atomic.Pointer[offsets] // nil if not known
}

// offsets are what must be added to a time of the trace clock, ns.
type offsets struct {
	wall int64 // for CLOCK_REALTIME
	boot int64 // for CLOCK_BOOTTIME
}

// Name returns the kernel's name of the clock: "local", "global", "mono", …
func (c *Clock) Name() string { return c.name }

// IsTime reports whether the clock counts nanoseconds.
func (c *Clock) IsTime() bool { return !notTime[c.name] }

var notTime = map[string]bool{"counter": true, "x86-tsc": true, "ppc-tb": true}

// Wall returns the time of day at t. ok is false if the clock is no time or
// could not be compared.
func (c *Clock) Wall(t uint64) (wall time.Time, ok bool) {
	at := c.at.Load()
	if at == nil {
		return time.Time{}, false
	}
	return time.Unix(0, int64(t)+at.wall), true
}

// Boot returns the ns since the machine started, sleep included, at t.
func (c *Clock) Boot(t uint64) (ns uint64, ok bool) {
	at := c.at.Load()
	if at == nil {
		return 0, false
	}
	return uint64(int64(t) + at.boot), true
}

// readable are the trace clocks that clock_gettime reads.
var readable = map[string]int32{
	"mono": unix.CLOCK_MONOTONIC, "mono_raw": unix.CLOCK_MONOTONIC_RAW,
	"boot": unix.CLOCK_BOOTTIME, "tai": unix.CLOCK_TAI,
}

// readClock reads an instance's trace_clock, "[local] global mono …", and
// compares the chosen clock with the machine's. A comparison that cannot be
// had leaves the times unknown; the error is about trace_clock.
func readClock(fsys fs.FS, dir string) (*Clock, error) {
	text, err := fs.ReadFile(fsys, path.Join(dir, "trace_clock"))
	if err != nil {
		return nil, fmt.Errorf("read trace_clock: %w", err)
	}
	_, rest, open := strings.Cut(string(text), "[")
	name, _, shut := strings.Cut(rest, "]")
	if !open || !shut {
		return nil, fmt.Errorf("read trace_clock: no clock is chosen in %q", text)
	}
	c := &Clock{name: name, fsys: fsys, dir: dir}
	c.compare()
	return c, nil
}

// compare sets the offsets from the best of a few tries: the shorter the time
// between two readings, the closer is what was read between them.
func (c *Clock) compare() {
	if !c.IsTime() {
		return
	}
	best := int64(-1)
	for range 5 {
		before := gettime(unix.CLOCK_BOOTTIME)
		trace, err := c.now()
		wall := gettime(unix.CLOCK_REALTIME)
		after := gettime(unix.CLOCK_BOOTTIME)
		if err != nil {
			return
		}
		if took := after - before; best < 0 || took < best {
			best = took
			middle := before + took/2
			boot := middle - trace
			c.at.Store(&offsets{boot: boot, wall: boot + wall - after})
		}
	}
}

// now returns the clock's time, ns.
func (c *Clock) now() (int64, error) {
	if id, ok := readable[c.name]; ok {
		return gettime(id), nil
	}
	text, err := fs.ReadFile(c.fsys, path.Join(c.dir, "per_cpu/cpu0/stats"))
	if err != nil {
		return 0, err
	}
	_, rest, ok := bytes.Cut(text, []byte("now ts: "))
	if !ok {
		return 0, errors.New("stats has no 'now ts'")
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	// "%5llu.%06lu": seconds and µs.
	sec, frac, _ := strings.Cut(strings.TrimSpace(string(line)), ".")
	s, err := strconv.ParseInt(sec, 10, 64)
	if err != nil {
		return 0, err
	}
	us, err := strconv.ParseInt(frac, 10, 64)
	if err != nil {
		return 0, err
	}
	return s*1e9 + us*1e3, nil
}

// gettime returns a clock of this machine in ns. All that are asked for exist
// since Linux 3.10.
func gettime(id int32) int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		panic(fmt.Errorf("internal error: clock_gettime(%d): %w", id, err))
	}
	return t.Nano()
}
