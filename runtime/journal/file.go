package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// A journal is lines of JSON, told apart by their first key:
//
//	{"version":1,"kind":"run",…}          Head, the first line
//	{"step":{"kind":"command",…}}         one more step, numbered from 0
//	{"begin":[LO,HI]}                     the steps [LO,HI) are going to be done
//	{"done":[LO,HI]}                      they are done
//	{"undone":[LO,HI]}                    they were taken back, or were never done
//	{"complete":true}                     nothing of it is to be taken back
//
// A line counts once its newline is there: the last may be torn. Lines whose key
// is not known are passed over; what changes the meaning of others gets a new
// version.

// version is that of the form above.
const version = 1

// maxFile bounds what is read of a file, in bytes, and with it the memory that
// one that is none can take.
const maxFile = 64 << 20

// line is any line but the first.
type line struct {
	Step     *Step `json:"step,omitempty"`
	Begin    *span `json:"begin,omitempty"`
	Done     *span `json:"done,omitempty"`
	Undone   *span `json:"undone,omitempty"`
	Complete *bool `json:"complete,omitempty"`
}

// span is the steps from the first number to before the second.
type span [2]int

// errNoHead is that of a file which its process was killed before it wrote the
// first line to: it has done nothing yet.
var errNoHead = fmt.Errorf("%w: no first line", ErrUnreadable)

// Parse reads a journal. Any bytes will do; the error is ErrUnreadable, wrapped,
// if the first line is no Head of a known version, or a later line is nonsense.
func Parse(text []byte) (*Journal, error) {
	first, rest, ok := bytes.Cut(text, []byte("\n"))
	if !ok {
		return nil, errNoHead
	}
	j := &Journal{}
	if err := json.Unmarshal(first, &j.Head); err != nil {
		return nil, fmt.Errorf("%w: line 1: %w", ErrUnreadable, err)
	}
	if j.Version != version {
		return nil, fmt.Errorf("%w: version %d, want %d", ErrUnreadable, j.Version, version)
	}
	for n := 2; ; n++ {
		var one []byte
		if one, rest, ok = bytes.Cut(rest, []byte("\n")); !ok {
			return j, nil // what is left is a torn line, or nothing
		}
		var l line
		if err := json.Unmarshal(one, &l); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrUnreadable, n, err)
		}
		if !j.take(l) {
			return nil, fmt.Errorf("%w: line %d: steps that are not there", ErrUnreadable, n)
		}
	}
}

// take adds a line.
func (j *Journal) take(l line) bool {
	if l.Step != nil {
		j.Steps = append(j.Steps, *l.Step)
		j.States = append(j.States, Planned)
	}
	if l.Complete != nil {
		j.Complete = *l.Complete
	}
	return j.set(l.Begin, Begun) && j.set(l.Done, Done) && j.set(l.Undone, Undone)
}

func (j *Journal) set(s *span, to State) bool {
	if s == nil {
		return true
	}
	if s[0] < 0 || s[0] > s[1] || s[1] > len(j.States) {
		return false
	}
	for i := s[0]; i < s[1]; i++ {
		j.States[i] = to
	}
	return true
}

// Writer writes the journal of one run. A nil Writer notes nothing. Its methods
// are for one goroutine.
type Writer struct {
	dir  *Dir
	id   string
	file *os.File
	torn bool // the file ends in a part of a line
}

// errTorn says that nothing can be noted behind a part of a line.
var errTorn = errors.New("an earlier write failed")

// ID returns the name of the journal's file.
func (w *Writer) ID() string { return w.id }

// Plan notes steps that are going to be done. They are numbered on from those
// before.
func (w *Writer) Plan(steps []Step) error {
	if w == nil {
		return nil
	}
	var text bytes.Buffer
	for i := range steps {
		if err := encode(&text, line{Step: &steps[i]}); err != nil {
			return err
		}
	}
	return w.write(text.Bytes(), true)
}

// Begin notes that the steps [lo, hi) are going to be done, next.
func (w *Writer) Begin(lo, hi int) error { return w.note(line{Begin: &span{lo, hi}}) }

// Done notes that they are done.
func (w *Writer) Done(lo, hi int) error { return w.note(line{Done: &span{lo, hi}}) }

// Undone notes that they are taken back.
func (w *Writer) Undone(lo, hi int) error { return w.note(line{Undone: &span{lo, hi}}) }

// Complete notes that what is done is to stay, or with false that it is in work
// again.
func (w *Writer) Complete(yes bool) error { return w.note(line{Complete: &yes}) }

func (w *Writer) note(l line) error {
	if w == nil {
		return nil
	}
	var text bytes.Buffer
	if err := encode(&text, l); err != nil {
		return err
	}
	return w.write(text.Bytes(), false)
}

// write appends lines. A process that is killed loses nothing of what it wrote;
// synced is for a power loss, after which the kernel has forgotten too, so that
// it is done once, where the folder may be on a disk.
//
// A write that fails, as on a full disk, may leave a part of a line, which the next
// one would make nonsense of: it is cut off.
func (w *Writer) write(text []byte, sync bool) error {
	if w.torn {
		return fmt.Errorf("write the journal: %w", errTorn)
	}
	info, err := w.file.Stat()
	if err == nil {
		_, err = w.file.Write(text)
	}
	if err != nil {
		if info != nil {
			w.torn = w.file.Truncate(info.Size()) != nil
		}
		return fmt.Errorf("write the journal: %w", err)
	}
	if !sync {
		return nil
	}
	if err := w.file.Sync(); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

// Close closes the file and leaves it where it is.
func (w *Writer) Close() error {
	if w == nil || w.file == nil {
		return nil
	}
	err := w.file.Close()
	w.file = nil
	return err
}

// Remove removes the journal: nothing of it is left in the kernel.
func (w *Writer) Remove() error {
	if w == nil {
		return nil
	}
	_ = w.Close() // it goes away
	return w.dir.Remove(w.id)
}

func encode(to *bytes.Buffer, v any) error {
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}
