package events

import (
	"errors"
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// round reads what the CPUs have, each until it has nothing or its queue is
// full. It returns the time up to which records may be handed out, how many
// pages it read, and whether there was nothing at all.
func (r *Reader) round() (settled uint64, pages int, idle bool) {
	settled = r.latest
	for _, s := range r.sources {
		pages += r.fill(s)
	}
	idle = pages == 0
	for _, s := range r.sources {
		settled = min(settled, s.horizon())
		idle = idle && (s.dead || s.drained)
	}
	switch {
	case idle:
		settled = math.MaxUint64
	case pages == 0 && len(r.merger.heap) > 0:
		// All queues are full, so that nothing will change unless something is
		// handed out. Only a clock that went back can hold it.
		settled = max(settled, r.merger.heap[0].time)
	}
	return settled, pages, idle
}

// fill reads pages of one CPU and returns how many.
func (r *Reader) fill(s *source) int {
	s.drained = false
	pages := 0
	for !s.dead && s.queuedPages() < r.limit {
		if s.budget == 0 || s.absent {
			s.drained = true
			return pages
		}
		b := r.page()
		n, err := unix.Read(s.fd, b)
		switch {
		case errors.Is(err, unix.EINTR):
			r.free = append(r.free, b)
			continue
		case errors.Is(err, unix.EAGAIN), err == nil && n == 0:
			r.free = append(r.free, b)
			s.drained = true
			if pages > 0 && s.queuedPages() > 0 {
				r.latest = max(r.latest, s.queue[len(s.queue)-1].page.end())
			}
			return pages
		case errors.Is(err, unix.ENODEV):
			r.free = append(r.free, b)
			s.absent, s.drained = true, true
			r.poll(s, false)
			return pages
		case err != nil:
			r.free = append(r.free, b)
			s.dead = true
			r.poll(s, false)
			r.pending = append(r.pending, fmt.Errorf("read the buffer of CPU %d: %w", s.cpu, err))
			return pages
		}
		pages++
		r.add(s, b, n)
	}
	return pages
}

// page returns room for one page.
func (r *Reader) page() []byte {
	if n := len(r.free); n > 0 {
		b := r.free[n-1]
		r.free = r.free[:n-1]
		return b
	}
	return make([]byte, r.layout.size)
}

// add queues a page that was read.
func (r *Reader) add(s *source, b []byte, n int) {
	page, err := r.layout.Page(b[:n])
	if err != nil {
		s.loss.Bad++
		r.pending = append(r.pending, fmt.Errorf("CPU %d: %w", s.cpu, err))
		r.free = append(r.free, b)
		return
	}
	if !s.begun {
		// What was overwritten before Open is nobody's loss.
		s.begun = true
		page.Lost -= min(page.Lost, s.base.overrun)
		page.LostSome = page.LostSome && s.base.overrun == 0
	}
	if s.budget != unbounded {
		s.budget -= min(s.budget, page.count())
	}
	r.latest = max(r.latest, page.Start())
	if s.first > 0 && len(s.queue) == cap(s.queue) {
		s.queue = s.queue[:copy(s.queue, s.queue[s.first:])]
		s.first = 0
	}
	s.queue = append(s.queue, queued{page: page, bytes: b, start: page.Start()})
	if !s.has {
		if r.advance(s); s.has {
			r.merger.push(s)
		}
	}
}

// advance goes to s's next record of a stream.
func (r *Reader) advance(s *source) {
	s.has = false
	for s.first < len(s.queue) {
		q := &s.queue[s.first]
		q.page.carry(s.clock)
		r.count(s, &q.page)
		for {
			record, t, ok := q.page.Next()
			if !ok {
				break
			}
			s.loss.Read++
			if id := r.common.id(record); id >= 0 && id < len(r.byID) && r.byID[id] != nil {
				s.record, s.time, s.has = record, t, true
				return
			}
		}
		if err := q.page.Err(); err != nil {
			s.loss.Bad++
			r.pending = append(r.pending, fmt.Errorf("CPU %d: %w", s.cpu, err))
		}
		s.clock = q.page.clock
		r.free = append(r.free, q.bytes)
		*q = queued{}
		s.first++
	}
	s.queue, s.first = s.queue[:0], 0
}

// handOut yields the records up to a time, and errors that have come. It
// reports whether more are wanted.
func (r *Reader) handOut(settled uint64, yield func(*Record, error) bool) bool {
	for {
		for len(r.pending) > 0 {
			err := r.pending[0]
			r.pending = r.pending[1:]
			if !yield(nil, err) {
				return false
			}
		}
		if len(r.merger.heap) == 0 || r.merger.heap[0].time > settled {
			return true
		}
		s := r.merger.heap[0]
		if !r.yield(s, yield) {
			return false
		}
	}
}

// yield hands out a source's next record, once for each of its event's
// streams, and goes on to the one behind it.
func (r *Reader) yield(s *source, yield func(*Record, error) bool) bool {
	more := true
	if s.time < r.last {
		r.late++
	}
	r.last = max(r.last, s.time)
	r.rec.Time, r.rec.CPU, r.rec.Snapshot = s.time, s.cpu, r.opts.Snapshot
	r.rec.Lost, r.rec.LostSome = s.lost, s.lostSome
	s.lost, s.lostSome = 0, false
	for i, stream := range r.byID[r.common.id(s.record)] {
		stream.Decode(s.record, &r.rec)
		if r.opts.Comms != nil && i == 0 {
			r.rec.Comm = r.opts.Comms.Comm(r.rec.TID)
		}
		if more = yield(&r.rec, nil); !more {
			break
		}
		r.rec.Lost, r.rec.LostSome = 0, false
	}
	// Only now: the page may be used again from here on.
	r.advance(s)
	r.merger.fix()
	return more
}

// askEvery is how often a CPU's stats are read for a number of losses.
const askEvery = 100 * time.Millisecond

// count adds what was lost before a page to what is to be told.
func (r *Reader) count(s *source, page *Page) {
	if page.Lost > 0 && !s.uncounted {
		s.known += page.Lost
		s.lost += page.Lost
	}
	s.owed = s.owed || page.LostSome || page.Lost > 0 && s.uncounted
	s.uncounted = s.uncounted || page.LostSome
	page.Lost, page.LostSome = 0, false
	if !s.owed {
		return
	}
	now := time.Now()
	if now.Sub(s.asked) < askEvery {
		return
	}
	s.asked, s.owed = now, false
	if r.opts.Snapshot {
		s.lostSome = true
		return // the stats are those of the buffer
	}
	// What was overwritten behind the page is in the number too: it is told a
	// bit early, and all told together is right.
	if stats, err := readStats(r.fsys, r.dir, s.cpu); err == nil {
		if overrun, _, ok := stats.since(s.base); ok {
			if overrun > s.known {
				s.lost += overrun - s.known
				s.known = overrun
			}
			return // else an earlier number had it already
		}
	}
	s.lostSome = true
}

// unbounded is the budget of a CPU that is read as long as there is something.
const unbounded = math.MaxUint64

// finish yields as many records as are in the buffers now. Were they read until
// they are empty, a storm would never end.
func (r *Reader) finish(yield func(*Record, error) bool) {
	r.visit()
	for _, s := range r.sources {
		if r.opts.Snapshot {
			break // nothing is recorded there
		}
		if now, err := readStats(r.fsys, r.dir, s.cpu); err == nil {
			s.budget = now.entries
		}
	}
	defer func() {
		for _, s := range r.sources {
			s.budget = unbounded
		}
	}()
	for {
		settled, _, idle := r.round()
		if !r.handOut(settled, yield) || idle {
			return
		}
	}
}

// dead reports whether there is nothing left to read from.
func (r *Reader) dead() bool {
	for _, s := range r.sources {
		if !s.dead {
			return false
		}
	}
	return true
}

// rests reports whether to wait before the next round. A round that found little
// is followed by another at once, which settles what the first one found; what that
// finds can wait.
func (r *Reader) rests(pages int, idle bool) bool {
	rest := idle || r.again
	switch {
	case pages >= 2*len(r.sources):
		rest = false
		r.again = false
	default:
		r.again = !rest
	}
	return rest
}

// wait waits until Records is interrupted, or a buffer has much to read, or
// Delay has passed.
func (r *Reader) wait() {
	if r.opts.Rest != nil {
		r.opts.Rest()
	}
	// An error (EINTR) only makes the wait shorter.
	_, _ = unix.Poll(r.polls, int(r.opts.Delay.Milliseconds()))
}

// visit looks again at CPUs that had no buffer. The kernel makes it when a CPU first
// comes online, and keeps it when the CPU goes (ring_buffer.c,
// trace_rb_cpu_prepare).
func (r *Reader) visit() {
	for _, s := range r.sources {
		if s.absent {
			s.absent = false
			r.poll(s, true)
		}
	}
}

// poll takes a source into what is waited for, or out of it: polling a CPU that
// cannot be read returns at once.
func (r *Reader) poll(s *source, on bool) {
	for i, of := range r.sources {
		if of == s {
			r.polls[i].Fd = int32(s.fd)
			if !on {
				r.polls[i].Fd = -1
			}
		}
	}
}

// calm undoes interrupt.
func (r *Reader) calm() {
	var count [8]byte
	// EAGAIN says that it was calm.
	_, _ = unix.Read(r.wake, count[:])
}

// interrupt ends a wait; later ones return at once.
func (r *Reader) interrupt() {
	one := [8]byte{1}
	// It can only fail if the count is full already, which wakes as well.
	_, _ = unix.Write(r.wake, one[:])
}
