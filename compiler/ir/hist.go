package ir

import (
	"slices"

	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// Emit says that an event is not emitted each time, but when Value exceeds all
// earlier ones (Max), or differs from the one before, of its Per.
type Emit struct {
	Max   bool
	Value Expr
	Per   []Expr
	Span  source.Span // of the value
}

// Hist is a histogram. Stages has one for each source that shares the table;
// its expressions are about the stage of the same index.
type Hist struct {
	Name   string
	Span   source.Span // of the name or, where it names itself, of the source
	Whole  source.Span
	Stages []*Stage
	Keys   []*HistKey // none: one row
	Values []*HistValue
	Sort   []HistSort
	Size   int // entries; 0 is the default
	Paused bool
}

// HistKey is one key. Exprs has its expression over each stage.
type HistKey struct {
	Name   string
	Span   source.Span
	Type   types.Type
	Exprs  []Expr
	Slot   Slot
	Bucket uint64 // width of a bucket, in the key's own unit
}

// Slot is how values are put together into one key.
type Slot uint8

// The slots.
const (
	Each    Slot = iota // each value for itself
	Log2                // by powers of two
	Buckets             // by ranges of equal width
)

// HistValue is what is added up for a key. Mean says that a reader divides by
// the count.
type HistValue struct {
	Name  string
	Span  source.Span
	Type  types.Type
	Exprs []Expr
	Mean  bool
}

// Sums returns the values of which each adds up something of its own, and for
// each of all values the index of its sum there: sum(x) and avg(x) share one.
func (h *Hist) Sums() (sums []*HistValue, of []int) {
	for _, v := range h.Values {
		i := slices.IndexFunc(sums, func(s *HistValue) bool {
			return slices.EqualFunc(s.Exprs, v.Exprs, func(a, b Expr) bool { return a.String() == b.String() })
		})
		if i < 0 {
			i = len(sums)
			sums = append(sums, v)
		}
		of = append(of, i)
	}
	return sums, of
}

// HistSort is one key or value to sort by; "count" is the number of events.
type HistSort struct {
	Name string
	Desc bool
	Span source.Span
}

// On is what the kernel does when something happens.
type On struct {
	Stage   *Stage
	Times   int // how often at most; 0 is without limit
	Actions []Action
	Span    source.Span // of the source
	Whole   source.Span
}

// Verb is what an Action does.
type Verb uint8

// The verbs. Start and Stop are of recording as a whole where an Action has no
// target.
const (
	Start Verb = iota
	Stop
	Snapshot
	Stack
)

// Action is one thing to do. At most one of Event, Kernel and Hist is set.
type Action struct {
	Verb  Verb
	Event *Event
	Group string // of an event of the target
	Name  string
	Hist  *Hist
	Span  source.Span
}
