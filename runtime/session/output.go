package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/eptrace/ep/runtime/events"
	"github.com/eptrace/ep/runtime/hist"
)

// Output shows what a run finds. Its methods are called one at a time; an error
// ends the run.
type Output interface {
	// Begin comes first. clock is nil if no records are to be read.
	Begin(streams []*events.Stream, clock *events.Clock) error
	Record(r *events.Record) error
	// Problem shows an error after which reading goes on.
	Problem(err error) error
	// Tables shows the histograms, at an interval or, last, at the end.
	Tables(list []*hist.Table, last bool) error
	// Snapshot says how many snapshots were taken and how many records the last has.
	// It comes behind these records, which say that they are of it, if the script
	// takes snapshots.
	Snapshot(taken, records uint64) error
	// Losses comes last, if records were read.
	Losses(list []events.Loss) error
	// Flush writes what waits in memory.
	Flush() error
}

// Format says how the outputs of this package look.
type Format struct {
	Names events.Names
	Wall  bool // times are the time of day
	Hist  hist.Options
	// Redraw has the tables of an interval take the place of those before, as a
	// terminal can.
	Redraw bool
	// Problems is where Text tells of problems; nil drops them. JSON has them in
	// its lines.
	Problems io.Writer
}

// buffered is a writer that keeps lines together.
type buffered struct {
	w   io.Writer
	buf []byte
}

// full is from how many bytes on lines wait no longer.
const full = 32 << 10

func (b *buffered) spill() error {
	if len(b.buf) < full {
		return nil
	}
	return b.Flush()
}

// Flush writes what waits.
func (b *buffered) Flush() error {
	if len(b.buf) == 0 {
		return nil
	}
	_, err := b.w.Write(b.buf)
	b.buf = b.buf[:0]
	if err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// text is the Output for people.
type text struct {
	buffered
	f     Format
	lines events.Text
	some  bool // something was written
	snap  bool // a record of a snapshot was
	drawn int  // lines of the tables that were drawn last
}

// NewText returns an Output of lines for people.
func NewText(w io.Writer, f Format) Output { return &text{buffered: buffered{w: w}, f: f} }

func (t *text) Begin(_ []*events.Stream, clock *events.Clock) error {
	t.lines = events.Text{Names: t.f.Names, Times: events.TimeForm{Wall: t.f.Wall, Clock: clock}}
	return nil
}

func (t *text) Record(r *events.Record) error {
	t.some, t.drawn = true, 0
	if r.Snapshot && !t.snap {
		t.snap = true
		t.buf = append(t.buf, "-- snapshot --\n"...)
	}
	t.buf = t.lines.AppendRecord(t.buf, r)
	return t.spill()
}

func (t *text) Problem(err error) error {
	if t.f.Problems == nil {
		return nil
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(t.f.Problems, "ep: %s\n", events.Plain(err.Error()))
	return nil
}

func (t *text) Tables(list []*hist.Table, last bool) error {
	if len(list) == 0 {
		return nil
	}
	var b bytes.Buffer
	for i, h := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		if err := h.Render(&b, t.f.Hist); err != nil {
			return err
		}
	}
	if t.f.Redraw && t.drawn > 0 {
		t.buf = fmt.Appendf(t.buf, "\x1b[%dA\x1b[J", t.drawn)
	} else if t.some {
		t.buf = append(t.buf, '\n')
	}
	t.some = true
	t.drawn = bytes.Count(b.Bytes(), []byte("\n"))
	t.buf = append(t.buf, b.Bytes()...)
	return t.Flush()
}

func (t *text) Snapshot(taken, records uint64) error {
	t.some = true
	last := ""
	if taken > 1 {
		last = fmt.Sprintf(", the last of %d", taken)
	}
	switch {
	case taken == 0:
		t.buf = append(t.buf, "-- no snapshot was taken --\n"...)
	case records == 0:
		t.buf = fmt.Appendf(t.buf, "-- snapshot: taken, but without records%s --\n", last)
	default:
		s := "s"
		if records == 1 {
			s = ""
		}
		t.buf = fmt.Appendf(t.buf, "-- end of the snapshot: %d record%s%s --\n", records, s, last)
	}
	return t.Flush()
}

func (t *text) Losses([]events.Loss) error { return t.Flush() }

// jsonLines is the Output for programs.
type jsonLines struct {
	buffered
	f     Format
	lines events.JSON
}

// NewJSON returns an Output of lines of JSON, which docs/output.md describes.
func NewJSON(w io.Writer, f Format) Output { return &jsonLines{buffered: buffered{w: w}, f: f} }

func (j *jsonLines) Begin(streams []*events.Stream, clock *events.Clock) error {
	j.lines = events.JSON{Names: j.f.Names, Times: events.TimeForm{Wall: j.f.Wall, Clock: clock}}
	j.buf = j.lines.AppendHeader(j.buf, streams)
	return j.Flush()
}

func (j *jsonLines) Record(r *events.Record) error {
	j.buf = j.lines.AppendRecord(j.buf, r)
	return j.spill()
}

func (j *jsonLines) Problem(err error) error {
	j.buf = j.lines.AppendError(j.buf, err)
	return j.Flush()
}

func (j *jsonLines) Tables(list []*hist.Table, _ bool) error {
	for _, t := range list {
		j.buf = t.AppendJSON(j.buf, &j.f.Names)
	}
	return j.Flush()
}

func (j *jsonLines) Snapshot(taken, records uint64) error {
	j.buf = fmt.Appendf(j.buf, "{\"snapshot\":{\"taken\":%d,\"records\":%d}}\n", taken, records)
	return j.Flush()
}

func (j *jsonLines) Losses(list []events.Loss) error {
	j.buf = j.lines.AppendLosses(j.buf, list)
	return j.Flush()
}

// ErrStuck says that an output was given up: who is to read it does not, and the
// run was told to end.
var ErrStuck = errors.New("nobody reads it")

// patience is how long a write may take after the run was told to end.
const patience = time.Second

// Patient returns a writer to w that gives a write up if it is not done some time
// after ctx ends: its reader may have stopped, as a pager does, and what was made
// in the kernel is to be taken back nevertheless. The error is then ErrStuck, and
// that of all writes after it.
func Patient(ctx context.Context, w io.Writer) io.Writer { return &patient{ctx: ctx, w: w} }

type patient struct {
	ctx   context.Context
	w     io.Writer
	stuck bool
}

type written struct {
	n   int
	err error
}

func (p *patient) Write(b []byte) (int, error) {
	if p.stuck {
		return 0, ErrStuck
	}
	done := make(chan written, 1)
	go func() {
		n, err := p.w.Write(b)
		done <- written{n, err}
	}()
	select {
	case r := <-done:
		return r.n, r.err
	case <-p.ctx.Done():
	}
	select {
	case r := <-done:
		return r.n, r.err
	case <-time.After(patience):
		p.stuck = true
		return 0, ErrStuck
	}
}
