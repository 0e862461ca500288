package events

import (
	"math"
	"time"
)

// The per-CPU streams are merged so. Pages are read CPU by CPU, round by
// round, and queued. A record may be handed out when no CPU can still come up
// with an earlier one:
//
//   - A CPU that was read until it was empty, after a record of time t had been
//     read anywhere, has handed over all that it had recorded by t. So a round
//     settles everything up to the latest time that the rounds before it saw,
//     which is looked for in the last page of each CPU; if it found nothing new
//     at all, it settles everything.
//   - A CPU whose queue is full may hold anything after the start of the last
//     page of its queue.
//
// No clock but the records' own is needed. How long a record waits is bounded
// by the time of two rounds, and memory by the queues: while they are full
// nothing is read, and the kernel counts what it overwrites meanwhile. Clocks
// that differ between CPUs (local) leave records out of order by as much.

// source is the ring buffer of one CPU, as far as it was read.
type source struct {
	cpu     int
	fd      int
	dead    bool // reading failed for good
	absent  bool // the CPU has not been online since the instance was made
	drained bool // the last round read until there was nothing

	queue []queued  // pages not done with, oldest first
	first int       // index of the oldest in queue
	clock pageClock // where the last page that was done with ended

	// The record that comes next, if has.
	has    bool
	record []byte
	time   uint64

	// What was lost: all that is known, and what of it no record told yet. In
	// a storm pages are too full for a number, and the CPU's stats are asked,
	// now and then.
	known     uint64
	lost      uint64
	lostSome  bool
	uncounted bool // the kernel marked losses without a number
	owed      bool // a mark came since the stats were asked
	asked     time.Time

	begun  bool   // a page has been read
	budget uint64 // records that are still to be read before the end
	base   stats
	loss   Loss
}

// queued is one page in a queue.
type queued struct {
	page  Page
	bytes []byte // what Page is made of; goes back to the free ones
	start uint64
}

func (s *source) queuedPages() int { return len(s.queue) - s.first }

// horizon returns the time from which on s may still come up with records
// that are not in its queue, given what its last round found.
func (s *source) horizon() uint64 {
	if s.dead || s.drained || s.queuedPages() == 0 {
		return math.MaxUint64
	}
	return s.queue[len(s.queue)-1].start
}

// merger hands out the records of all sources by time.
type merger struct {
	heap []*source // those that have a record, the earliest at 0
}

func (a *source) before(b *source) bool {
	return a.time < b.time || a.time == b.time && a.cpu < b.cpu
}

// push adds a source that has a record.
func (m *merger) push(s *source) {
	m.heap = append(m.heap, s)
	i := len(m.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !m.heap[i].before(m.heap[up]) {
			return
		}
		m.heap[i], m.heap[up] = m.heap[up], m.heap[i]
		i = up
	}
}

// fix restores the order after the first source went on to its next record, or
// removes it if it has none.
func (m *merger) fix() {
	h := m.heap
	if !h[0].has {
		last := len(h) - 1
		h[0] = h[last]
		h[last] = nil
		m.heap = h[:last]
		h = m.heap
	}
	for i := 0; ; {
		least := i
		for _, down := range [2]int{2*i + 1, 2*i + 2} {
			if down < len(h) && h[down].before(h[least]) {
				least = down
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
