package session

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/runtime/events"
	"github.com/eptrace/ep/runtime/tracefs"
)

// A snapshot swaps the instance's buffer for its second one: what was not read yet
// is then there, and a reader of the buffer misses it. So the second buffer is read
// too, when nothing swaps them any more: each record is shown once, from where it
// is. The next snapshot swaps the older one back; its records are then read from
// the buffer.

// snapshotTrigger is a trigger that takes snapshots.
type snapshotTrigger struct {
	file  string
	count int // how many it may take
	undo  string
}

// mostSnapshots is the count of a trigger that the script gives none. The kernel
// counts it down: only so can be told how many snapshots were taken, or whether
// any was.
const mostSnapshots = math.MaxInt32

// countSnapshots gives triggers that take snapshots a count, and a condition: with
// one the kernel has the record that is the cause in the buffer before the trigger
// acts (trace_event_buffer_lock_reserve, event_trigger_unlock_commit), without one
// behind it.
func (r *run) countSnapshots(p *plan.Plan) {
	for i := range p.Writes {
		w := &p.Writes[i]
		c, err := command.Parse(w.File, w.Data)
		t, ok := c.(*command.Trigger)
		if err != nil || !ok || t.Kind != command.Snapshot || t.Remove {
			continue
		}
		if t.Count < 0 {
			t.Count = mostSnapshots
		}
		if t.If == nil {
			t.If = always()
		}
		retrigger(w, t)
		file := w.File
		if w.Instanced {
			file = tracefs.In(p.Instance, file)
		}
		r.snapshots = append(r.snapshots, snapshotTrigger{file, t.Count, command.Line(command.Undo(t))})
	}
}

// endSnapshots removes the triggers that take snapshots, so that what is read stays
// where it is, and returns how many were taken.
func (r *run) endSnapshots() {
	for _, s := range r.snapshots {
		text, err := r.FS.Read(s.file)
		if err != nil {
			continue // its event is gone, which undoing reports
		}
		for line := range strings.Lines(string(text)) {
			c, err := command.Parse(s.file, strings.TrimSuffix(line, "\n"))
			if t, ok := c.(*command.Trigger); err == nil && ok && t.Kind == command.Snapshot && t.Count >= 0 {
				r.result.Snapshots += uint64(max(s.count-t.Count, 0))
			}
		}
		_ = r.FS.Write(s.file, s.undo, tracefs.Append) // undoing it again tells what is wrong
	}
}

// snapshot shows the records of the snapshot that was taken last. It returns what was
// lost of its buffer.
func (r *run) snapshot() []events.Loss {
	if len(r.snapshots) == 0 {
		return nil
	}
	var losses []events.Loss
	before := r.result.Records
	if r.result.Snapshots > 0 && r.reader != nil {
		reader, err := events.Open(r.FS.FS(), r.streams, events.Options{Instance: r.plan.Instance, Comms: r.comms, Snapshot: true})
		if err != nil {
			r.show(func() error { return r.Output.Problem(fmt.Errorf("read the snapshot: %w", err)) })
			return nil
		}
		defer func() { _ = reader.Close() }()
		over, cancel := context.WithCancel(context.Background())
		cancel()
		for rec, err := range reader.Records(over) {
			r.record(rec, err)
			if r.broken() != nil {
				return nil
			}
		}
		losses = reader.Losses()
	}
	r.result.InSnapshot = r.result.Records - before
	r.show(func() error { return r.Output.Snapshot(r.result.Snapshots, r.result.InSnapshot) })
	return losses
}
