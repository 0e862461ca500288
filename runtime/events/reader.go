// Package events reads the records of traced events: the pages of the ring
// buffers of all CPUs (per_cpu/cpuN/trace_pipe_raw), decoded by the events'
// format files and by what a plan knows of the fields' types, merged by time.
// Nothing is parsed out of the kernel's text.
//
// It reads one instance and changes nothing there: what is enabled, which clock
// is used and how large the buffers are is the caller's. Read reader.go first,
// then page.go (the kernel's pages), decode.go (fields), merge.go (order), and
// text.go and json.go (lines).
package events

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"golang.org/x/sys/unix"
)

// Options say how to read. The zero value is fit for use.
type Options struct {
	// Instance is the instance's name; "" is the top level.
	Instance string
	// Snapshot has the instance's snapshot read instead of its buffer. Nothing may
	// take another meanwhile.
	Snapshot bool
	// Comms tells Record.Comm. If nil, it stays empty.
	Comms Comms
	// Delay is how long records may lie in buffers that are not busy; 0 is
	// 200 ms. The reader wakes up so often and no oftener, for each time is itself an
	// event that may be traced. (Kernels also wake it when a buffer is half full,
	// or as buffer_percent says.)
	Delay time.Duration
	// Rest is called each time before Records waits. It may be nil.
	Rest func()
	// Memory is how much is read ahead, bytes; 0 is 8 MiB. At least two pages
	// a CPU are taken.
	Memory int
}

// Reader reads the records of streams. Only one goroutine may use it at a
// time, and there may be no other reader of the instance: what one reads, the
// other misses.
type Reader struct {
	fsys    fs.FS
	dir     string
	opts    Options
	layout  Layout
	clock   *Clock
	streams []*Stream
	byID    [][]*Stream // by common_type
	common  common
	sources []*source
	files   []*os.File
	wake    int // an eventfd that ends a wait
	polls   []unix.PollFd
	limit   int      // pages in a queue
	free    [][]byte // pages to read into

	merger  merger
	latest  uint64    // the latest start of a page so far
	visited time.Time // when what is done once a second was done
	again   bool      // the round was one right behind another that found little
	late    uint64
	last    uint64 // the time of the record before
	pending []error
	rec     Record
}

// Open makes ready to read the streams of an instance of the tracefs that fsys
// shows. Files that it opens must be *os.File, as those of os.Root.FS and
// os.DirFS are. Records that are in the buffers already are read too.
//
// The error says what could not be read, or which event or field is missing;
// fs.ErrNotExist and fs.ErrPermission are wrapped.
func Open(fsys fs.FS, streams []plan.Stream, opts Options) (*Reader, error) {
	r := &Reader{fsys: fsys, dir: ".", opts: opts, wake: -1}
	if opts.Instance != "" {
		r.dir = path.Join("instances", opts.Instance)
	}
	if r.opts.Delay <= 0 {
		r.opts.Delay = 200 * time.Millisecond
	}
	if r.opts.Memory <= 0 {
		r.opts.Memory = 8 << 20
	}
	if err := r.open(streams); err != nil {
		_ = r.Close() // nothing was read
		return nil, err
	}
	return r, nil
}

func (r *Reader) open(streams []plan.Stream) error {
	header, err := fs.ReadFile(r.fsys, path.Join(r.dir, "events/header_page"))
	if err != nil {
		return fmt.Errorf("read header_page: %w", err)
	}
	event, err := fs.ReadFile(r.fsys, path.Join(r.dir, "events/header_event"))
	if err != nil {
		return fmt.Errorf("read header_event: %w", err)
	}
	if r.layout, err = ParseLayout(header, event); err != nil {
		return err
	}
	if r.clock, err = readClock(r.fsys, r.dir); err != nil {
		return err
	}
	r.visited = time.Now()
	for _, s := range streams {
		if err := r.addStream(s); err != nil {
			return err
		}
	}
	if r.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return fmt.Errorf("eventfd: %w", err)
	}
	return r.openCPUs()
}

// addStream reads the format of a stream's event as it is now.
func (r *Reader) addStream(s plan.Stream) error {
	name := path.Join(r.dir, "events", s.Group, s.Event, "format")
	text, err := fs.ReadFile(r.fsys, name)
	if err != nil {
		return fmt.Errorf("read format of '%s.%s': %w", s.Group, s.Event, err)
	}
	f, err := target.ParseFormat(s.Group, s.Event, text)
	if err != nil {
		return err
	}
	stream, err := NewStream(s, f)
	if err != nil {
		return err
	}
	r.streams = append(r.streams, stream)
	r.common = stream.common // that of all events
	if stream.ID > math.MaxUint16 {
		return fmt.Errorf("event '%s.%s' has number %d: more than a record can say", s.Group, s.Event, stream.ID)
	}
	for len(r.byID) <= stream.ID {
		r.byID = append(r.byID, nil)
	}
	r.byID[stream.ID] = append(r.byID[stream.ID], stream)
	return nil
}

func (r *Reader) openCPUs() error {
	entries, err := fs.ReadDir(r.fsys, path.Join(r.dir, "per_cpu"))
	if err != nil {
		return fmt.Errorf("list CPUs: %w", err)
	}
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), "cpu")
		cpu, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue
		}
		if err := r.openCPU(cpu); err != nil {
			return err
		}
	}
	if len(r.sources) == 0 {
		return fmt.Errorf("list CPUs: %w", fs.ErrNotExist)
	}
	slices.SortFunc(r.sources, func(a, b *source) int { return a.cpu - b.cpu })
	for _, s := range r.sources {
		r.polls = append(r.polls, unix.PollFd{Fd: int32(s.fd), Events: unix.POLLIN})
	}
	r.polls = append(r.polls, unix.PollFd{Fd: int32(r.wake), Events: unix.POLLIN})
	r.limit = min(max(r.opts.Memory/(r.layout.size*len(r.sources)), 2), 256)
	return nil
}

func (r *Reader) openCPU(cpu int) error {
	name := "trace_pipe_raw"
	if r.opts.Snapshot {
		name = "snapshot_raw"
	}
	file, err := r.fsys.Open(path.Join(r.dir, "per_cpu", "cpu"+strconv.Itoa(cpu), name))
	if err != nil {
		return fmt.Errorf("open the buffer of CPU %d: %w", cpu, err)
	}
	f, ok := file.(*os.File)
	if !ok {
		_ = file.Close() // of no use
		return fmt.Errorf("open the buffer of CPU %d: no file of this machine", cpu)
	}
	r.files = append(r.files, f)
	conn, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("open the buffer of CPU %d: %w", cpu, err)
	}
	s := &source{cpu: cpu, budget: unbounded, loss: Loss{CPU: cpu}}
	// The descriptor stays good: r.files keeps the file until Close.
	if ctlErr := conn.Control(func(fd uintptr) { s.fd, err = int(fd), unix.SetNonblock(int(fd), true) }); ctlErr != nil || err != nil {
		return fmt.Errorf("open the buffer of CPU %d: %w", cpu, errors.Join(ctlErr, err))
	}
	if r.opts.Snapshot {
		s.begun = true
		s.loss.Overrun, s.loss.Exact = snapshotOverrun(r.fsys, r.dir, cpu)
	} else if s.base, err = readStats(r.fsys, r.dir, cpu); err != nil {
		return fmt.Errorf("read stats of CPU %d: %w", cpu, err)
	}
	r.sources = append(r.sources, s)
	return nil
}

// Close closes what Open opened. What was not read stays in the buffers, save
// for what Records had read ahead.
func (r *Reader) Close() error {
	var errs []error
	for _, f := range r.files {
		errs = append(errs, f.Close())
	}
	if r.wake >= 0 {
		errs = append(errs, unix.Close(r.wake))
	}
	r.files, r.sources, r.wake = nil, nil, -1
	return errors.Join(errs...)
}

// Streams returns what is read, in the order of Open's streams. The slice is
// the Reader's.
func (r *Reader) Streams() []*Stream { return r.streams }

// Clock returns the clock of the records.
func (r *Reader) Clock() *Clock { return r.clock }

// Late returns how many records were handed out after a later one. With a
// clock that is the same on all CPUs (all but local) there are hardly any.
func (r *Reader) Late() uint64 { return r.late }

// Records hands out the records by time until ctx ends; then as many as were
// in the buffers at that time, and then it ends. To end at a certain record,
// turn tracing off (tracing_on) before ctx ends.
//
// An error comes with a nil Record. It is about one page or one CPU, and
// reading goes on, unless no CPU can be read any more. A loop that is left
// early may be taken up by calling Records again.
func (r *Reader) Records(ctx context.Context) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		interrupted := make(chan struct{})
		stop := context.AfterFunc(ctx, func() {
			defer close(interrupted)
			r.interrupt()
		})
		defer func() {
			if !stop() {
				<-interrupted // it uses what Close closes
				r.calm()
			}
		}()
		for {
			ending := ctx.Err() != nil
			if ending {
				r.finish(yield)
				return
			}
			settled, pages, idle := r.round()
			if !r.handOut(settled, yield) || r.dead() {
				return
			}
			if r.rests(pages, idle) {
				r.wait()
			}
			if now := time.Now(); now.Sub(r.visited) > time.Second {
				r.visited = now
				r.clock.compare()
				r.visit()
			}
		}
	}
}

// Losses returns what was read and lost so far, by CPU. It reads the kernel's
// counts, so it must be called before the instance is removed to be exact.
func (r *Reader) Losses() []Loss {
	out := make([]Loss, 0, len(r.sources))
	for _, s := range r.sources {
		l := s.loss
		l.told = s.known
		if r.opts.Snapshot {
			l.Overrun = max(l.Overrun, l.told)
			out = append(out, l)
			continue
		}
		l.Overrun = s.known
		if now, err := readStats(r.fsys, r.dir, s.cpu); err == nil {
			if overrun, dropped, ok := now.since(s.base); ok {
				l.Overrun, l.Dropped, l.Left, l.Exact = overrun, dropped, now.entries, true
			}
		}
		out = append(out, l)
	}
	return out
}
