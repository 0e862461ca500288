// Package hist reads the histograms of a plan: it finds them among all that an
// event's hist file shows, parses the kernel's text into typed tables, and
// renders these for people and for programs.
//
// It reads alone: hists are made by runtime/apply. Read hist.go first, then
// file.go (which hist of a file is ours), row.go (the kernel's form of a row),
// order.go (rows that are one, and sorting), and render.go and json.go.
package hist

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/types"
	"github.com/eptrace/ep/runtime/events"
)

// ErrNotFound says that an event has no histogram of the plan's: it was not
// made, or somebody removed it.
var ErrNotFound = errors.New("the event has no such histogram")

// Table is what a histogram held when it was read. It is a copy, and belongs to
// the caller.
type Table struct {
	Name   string // as the script calls it
	Keys   []Column
	Values []Column // besides the count
	Rows   []Row    // in the script's order; without one, see order.go

	Hits    uint64 // events that were counted
	Dropped uint64 // events that were not counted, for all entries were taken
	Entries int    // entries of the kernel's, of which several may be one row
	Size    int    // entries that the kernel has room for
	Paused  bool   // nothing is counted now

	// Unread is how many entries had no form that is known: text in a key that
	// looks like the end of its row can do that. They are in no row.
	Unread int
	// Left is how many rows Limit took away, and LeftCount the sum of their
	// counts.
	Left      int
	LeftCount uint64

	sort []plan.Sort
}

// Slots is how numbers are put together into one key.
type Slots uint8

// The slots.
const (
	Each  Slots = iota // each number for itself
	Log2               // above a power of two up to the next; the first is all up to 1
	Width              // ranges of equal width
)

// Column is a key or a value of a Table.
type Column struct {
	Name  string
	Type  types.Type // what a value means
	Slots Slots      // of a key
	Width uint64     // of a slot of Width
	Mean  bool       // a value that is the mean of what was counted, not the sum

	shape *events.Shape
}

// Row is one row of a Table.
type Row struct {
	Keys   []Key
	Count  uint64  // events
	Values []Value // one for each of Table.Values

	table *Table
	total uint64 // the count of all slots of the row's other keys
}

// Key is a key of one row. What is set follows from its column's type.
type Key struct {
	// Num is a number's bits, extended by its sign to 64 bits; of a slot those
	// of the least number in it, and Last those of the greatest.
	Num, Last uint64
	// Text is text, without blanks at its end, which the kernel's padding
	// hides. Of a number of type ksym it is the symbol as the kernel wrote it,
	// "MODULE:NAME+0x1f", "" if it knew none.
	Text string
	// Stack is a stack, where the event happened first: "NAME+0x1f".
	Stack []string
}

// Int returns a number's value as a signed one.
func (k Key) Int() int64 { return int64(k.Num) }

// Value is what was added up for one row.
type Value struct {
	// Sum is the sum's bits, modulo 2^64.
	Sum uint64
}

// Int returns the sum as a signed number.
func (v Value) Int() int64 { return int64(v.Sum) }

// Key returns the key of the column called name; the zero Key if there is none.
func (r *Row) Key(name string) Key {
	if i := find(r.table.Keys, name); i >= 0 {
		return r.Keys[i]
	}
	return Key{}
}

// Sum returns the sum of the value called name, 0 if there is none. It is the
// sum also where the script asks for the mean.
func (r *Row) Sum(name string) Value {
	if i := find(r.table.Values, name); i >= 0 {
		return r.Values[i]
	}
	return Value{}
}

// Number returns the value called name as the script means it: the sum, or the
// mean, in the unit of the column's type; 0 if there is none.
func (r *Row) Number(name string) float64 {
	if i := find(r.table.Values, name); i >= 0 {
		return r.number(i)
	}
	return 0
}

func (r *Row) number(i int) float64 {
	c := &r.table.Values[i]
	sum := float64(r.Values[i].Sum)
	if types.Signed(c.Type) {
		sum = float64(r.Values[i].Int())
	}
	if !c.Mean {
		return sum
	}
	if r.Count == 0 {
		return 0
	}
	return sum / float64(r.Count)
}

func find(columns []Column, name string) int {
	for i := range columns {
		if columns[i].Name == name {
			return i
		}
	}
	return -1
}

// Read reads a histogram of an instance, "" for the top level, of the tracefs
// that fsys shows. The kernel makes the text of a whole hist file when it is
// opened; it is parsed as it is read, and only the table is kept.
//
// The error is ErrNotFound, wrapped, if an event has no such histogram, and
// fs.ErrNotExist, wrapped, if there is no such event.
func Read(fsys fs.FS, instance string, p plan.Table) (*Table, error) {
	t := newTable(p)
	dir := "."
	if instance != "" {
		dir = path.Join("instances", instance)
	}
	seen := map[string]bool{}
	var b builder
	for _, h := range p.Hists {
		f, err := newFormat(p, h)
		if err != nil {
			return nil, fmt.Errorf("histogram '%s': %w", p.Name, err)
		}
		// Hists of one name have one table (trace_events_hist.c,
		// hist_register_trigger), which each of their files shows.
		if name := f.hist.Name; name != "" {
			if seen[name] {
				continue
			}
			seen[name] = true
		}
		if err := readFile(fsys, path.Join(dir, "events", h.Group, h.Event, "hist"), f, t, &b); err != nil {
			return nil, fmt.Errorf("histogram '%s' of '%s.%s': %w", p.Name, h.Group, h.Event, err)
		}
	}
	t.order()
	return t, nil
}

func readFile(fsys fs.FS, name string, f *format, t *Table, b *builder) error {
	file, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return parse(file, f, t, b)
}

// newTable returns the table of p, without rows.
func newTable(p plan.Table) *Table {
	t := &Table{Name: p.Name, sort: p.Sort}
	for _, k := range p.Keys {
		c := Column{Name: k.Name, Type: k.Type, shape: events.NewShape(k.Type)}
		switch {
		case k.Log2:
			c.Slots = Log2
		case k.Bucket > 0:
			c.Slots, c.Width = Width, k.Bucket
		}
		t.Keys = append(t.Keys, c)
	}
	for _, v := range p.Values {
		t.Values = append(t.Values, Column{Name: v.Name, Type: v.Type, Mean: v.Mean, shape: events.NewShape(sumType(v.Type))})
	}
	return t
}

// sumType is the type of a sum of values of type t: a number or a duration.
// Names of single values mean nothing of a sum.
func sumType(t types.Type) types.Type {
	if d, ok := t.(types.Duration); ok {
		d.Size = 8
		return d
	}
	return types.Int{Size: 8, Signed: types.Signed(t)}
}

// Limit keeps the first n rows, and notes in Left and LeftCount what it takes
// away. Negative n keeps all.
func (t *Table) Limit(n int) {
	if n < 0 || n >= len(t.Rows) {
		return
	}
	for i := range t.Rows[n:] {
		t.LeftCount += t.Rows[n+i].Count
	}
	t.Left += len(t.Rows) - n
	t.Rows = t.Rows[:n]
}

// counted returns the sum of all counts.
func (t *Table) counted() uint64 {
	n := t.LeftCount
	for i := range t.Rows {
		n += t.Rows[i].Count
	}
	return n
}

// format is the form of the rows of one hist.
type format struct {
	hist  *command.Hist
	keys  []keyFormat // all that the kernel has; plan's columns, or one that means nothing
	plain bool        // the keys are no columns
	vals  []valFormat
	// columns has for each of the plan's values which of vals it is of: a sum
	// and its mean are of one.
	columns []int
}

// keyFormat is how the kernel prints a key.
type keyFormat struct {
	as     keyForm
	first  uint64 // the least number of a log2's first slot
	signed bool
	beyond bool // wide buckets of what log2 cannot group: 0, and what is above 2^63
	shape  *events.Shape
}

// keyForm is a way to print a key.
type keyForm uint8

const (
	formDec keyForm = iota
	formHex
	formSym
	formSyscall
	formExec
	formLog2
	formBuckets
	formString
	formStack
)

// valFormat is how the kernel prints a value.
type valFormat struct {
	name string
	hex  bool
}
