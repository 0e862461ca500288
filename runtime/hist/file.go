package hist

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/types"
	"github.com/eptrace/ep/runtime/events"
)

// A hist file shows all hists of an event, those of others too
// (kernel/trace/trace_events_hist.c, hist_show and hist_trigger_show):
//
//	FILE   := HIST {"\n\n" HIST}
//	HIST   := "# event histogram\n#\n# trigger info: " LINE "\n#\n\n" {ROW "\n"} "\nTotals:\n" TOTALS
//	TOTALS := "    Hits: " N "\n    Entries: " N "\n    Dropped: " N "\n"
//
// LINE is what the trigger file reads back. ROW is in row.go.

const (
	infoMark   = "# trigger info: "
	totalsMark = "\nTotals:\n"
)

// newFormat returns the form of the rows of h.
func newFormat(p plan.Table, h plan.Hist) (*format, error) {
	c, err := parseTrigger(h.Group, h.Event, h.Command)
	if err != nil {
		return nil, fmt.Errorf("the plan's command: %w", err)
	}
	f := &format{hist: c, plain: len(p.Keys) == 0}
	if !f.plain && len(c.Keys) != len(p.Keys) {
		return nil, fmt.Errorf("the plan's command has %d keys for %d columns", len(c.Keys), len(p.Keys))
	}
	for i, x := range c.Keys {
		k, ok := x.(command.HistField)
		if !ok {
			return nil, errors.New("the plan's command has a key that is no field")
		}
		var typ types.Type = types.Int{Size: 8}
		if !f.plain {
			typ = p.Keys[i].Type
		}
		key := newKeyFormat(k, typ)
		key.beyond = key.as == formBuckets && !f.plain && p.Keys[i].Log2
		f.keys = append(f.keys, key)
	}
	for _, x := range c.Vals {
		v, ok := x.(command.HistField)
		if ok && v.Name == "hitcount" {
			continue
		}
		if !ok {
			return nil, errors.New("the plan's command has a value that is no field")
		}
		f.vals = append(f.vals, valFormat{name: v.Name, hex: v.Modifier == "hex"})
	}
	for _, v := range p.Values {
		i := slices.IndexFunc(f.vals, func(val valFormat) bool { return val.name == v.Kernel })
		if i < 0 {
			return nil, fmt.Errorf("the plan's command has no value '%s' for the column '%s'", v.Kernel, v.Name)
		}
		f.columns = append(f.columns, i)
	}
	return f, nil
}

func newKeyFormat(k command.HistField, t types.Type) keyFormat {
	f := keyFormat{as: formOf(k, t), signed: types.Signed(t), shape: events.NewShape(t)}
	if f.as == formLog2 && f.signed {
		f.first = 1 << 63
	}
	return f
}

func formOf(k command.HistField, t types.Type) keyForm {
	word, _, _ := strings.Cut(k.Modifier, "=")
	switch word {
	case "hex":
		return formHex
	case "sym", "sym-offset":
		return formSym
	case "syscall":
		return formSyscall
	case "execname":
		return formExec
	case "log2":
		return formLog2
	case "buckets", "bucket":
		return formBuckets
	case "stacktrace":
		return formStack
	}
	switch t.(type) {
	case types.Stack:
		return formStack
	case types.String:
		return formString
	}
	return formDec
}

// parseTrigger parses a line of an event's trigger file that is a hist.
func parseTrigger(group, event, line string) (*command.Hist, error) {
	c, err := command.Parse("events/"+group+"/"+event+"/trigger", line)
	if err != nil {
		return nil, err
	}
	h, ok := c.(*command.Hist)
	if !ok {
		return nil, errors.New("it is no hist")
	}
	return h, nil
}

// is reports whether the line that a hist file shows is of f's hist. Whether it
// is paused is told apart.
func (f *format) is(line string) (paused, ok bool) {
	got, err := parseTrigger(f.hist.Event.Group, f.hist.Event.Name, line)
	if err != nil {
		return false, false // one of others, in words of theirs
	}
	paused = got.State == "pause"
	want := *f.hist
	got.State, want.State = "", ""
	return paused, command.Equal(command.Shown(got), command.Shown(&want))
}

// parse adds the rows of f's hist in r, and its totals, to t.
func parse(r io.Reader, f *format, t *Table, b *builder) error {
	w := &window{r: r}
	for {
		line, err := w.line()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return ErrNotFound
			}
			return err
		}
		info, ok := bytes.CutPrefix(line, []byte(infoMark))
		if !ok {
			continue
		}
		paused, ours := f.is(string(bytes.TrimRight(info, "\n")))
		if !ours {
			continue
		}
		t.Paused = t.Paused || paused
		t.Size = max(t.Size, command.Normal(f.hist).(*command.Hist).Size)
		return f.table(w, t, b)
	}
}

// table reads what follows the line of a hist.
func (f *format) table(w *window, t *Table, b *builder) error {
	b.begin(t)
	for {
		text, err := w.fill()
		if err != nil {
			return err
		}
		switch {
		case len(text) == 0:
			return io.ErrUnexpectedEOF
		case bytes.HasPrefix(text, []byte(totalsMark)):
			w.skip(len(totalsMark))
			return f.totals(w, t)
		case text[0] == '{':
			row, n, ok := f.row(text, b)
			if ok {
				t.add(row, b)
			} else {
				t.Unread++
				n = nextRow(text)
			}
			w.skip(n)
		case text[0] == '\n' || text[0] == '#':
			w.skip(lineLength(text))
		default:
			w.skip(nextRow(text)) // the rest of an entry that was not read
		}
	}
}

// nextRow returns how far it is to what looks like the next row, or the totals.
func nextRow(text []byte) int {
	n := len(text)
	for _, mark := range []string{"\n{ ", totalsMark} {
		if i := bytes.Index(text[1:n], []byte(mark)); i >= 0 {
			n = i + 1
			if mark[1] == '{' {
				n++
			}
		}
	}
	return n
}

func lineLength(text []byte) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

func (f *format) totals(w *window, t *Table) error {
	entries := uint64(0)
	for _, total := range []struct {
		name string
		to   *uint64
	}{{"Hits", &t.Hits}, {"Entries", &entries}, {"Dropped", &t.Dropped}} {
		line, err := w.line()
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ": ")
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil || name != total.name {
			return fmt.Errorf("want the total '%s', got %.40q", total.name, line)
		}
		*total.to += n
	}
	t.Entries += int(min(entries, 1<<31))
	return nil
}

// window is the part of a file that is looked at: a row never takes more than
// windowSize, which is 31 lines of a stack with the longest names and more.
type window struct {
	r     io.Reader
	buf   []byte
	at    int // of what is not used up
	ended bool
}

const windowSize = 64 << 10

// fill returns at least windowSize bytes, or all that there are to the end.
func (w *window) fill() ([]byte, error) {
	if !w.ended && len(w.buf)-w.at < windowSize {
		n := copy(w.buf, w.buf[w.at:])
		if cap(w.buf) < 4*windowSize {
			w.buf = append(make([]byte, 0, 4*windowSize), w.buf[:n]...)
		}
		w.buf, w.at = w.buf[:n], 0
		for len(w.buf) < windowSize && !w.ended {
			n, err := w.r.Read(w.buf[len(w.buf):cap(w.buf)])
			w.buf = w.buf[:len(w.buf)+n]
			if errors.Is(err, io.EOF) {
				w.ended = true
			} else if err != nil {
				return nil, err
			}
		}
	}
	return w.buf[w.at:], nil
}

func (w *window) skip(n int) { w.at += n }

// line returns the next line with its end, or a part of one that is longer than
// the window; at the end of the file io.EOF. It is good until the next call.
func (w *window) line() ([]byte, error) {
	text, err := w.fill()
	if err != nil {
		return nil, err
	}
	if len(text) == 0 {
		return nil, io.EOF
	}
	text = text[:lineLength(text)]
	w.skip(len(text))
	return text, nil
}
