package lower

import (
	"fmt"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// record is an event that the kernel has, or will have once the plan's writes
// are done, as what is built on it sees it.
type record struct {
	name    command.EventName
	kind    kind
	columns []column
	depth   int          // how many events the kernel is in the midst of when it records this one, itself included
	gate    command.Cond // about own columns; all that is built on the record must add it
	recipe  *recipe      // of a probe that others can be composed with; else nil
	marker  bool         // ftrace's own record of a marker (marker.go)
}

// kind is what a record is made by.
type kind uint8

const (
	static kind = iota // the kernel's own
	eprobe
	probed
	synthetic
)

// column is one field of a record.
type column struct {
	name    string
	typ     types.Type // what it means
	size    int        // bytes that hists and filters see; 0 for text, arrays and stacks
	signed  bool       // the kernel's belief
	kernel  string     // the kernel's type, for a reader
	charPtr bool       // declared `char *`, which some kernels' eprobes cannot read
	inPlace int        // bytes of an array that lies in the record
	exact   bool       // the number is as the script means it, though kept wider
	tested  bool       // a filter knows it, and nothing else does
	behind  bool       // a filter reads the text behind the `char *`
	suffix  string     // how a filter is told whose memory it is
}

// nested gives r its depth: one more than that of the event that it is made of,
// which is nil for a probe's. The kernel writes the record of the one when the
// other's is not yet finished, and keeps the times of MAX_NEST such at once
// (kernel/trace/ring_buffer.c): of a deeper one it warns, and its time is wrong.
func (l *lowerer) nested(r, of *record) bool {
	r.depth = 1
	if of != nil {
		r.depth = of.depth + 1
	}
	if r.depth > ir.MaxNested {
		if l.far != nil {
			l.tooFar(l.far)
			return false
		}
		l.tooNested(r.name.Span, r.name.Name, ir.MaxNested)
		return false
	}
	return true
}

// column returns the column called name, nil if there is none.
func (r *record) column(name string) *column {
	for i := range r.columns {
		if r.columns[i].name == name {
			return &r.columns[i]
		}
	}
	return nil
}

// whole reports whether the kernel has the value as the script means it: a number
// of the same width and sign, or a text. A difference of times may do without the
// sign: other readers of the event then see a negative one as a large one, which
// costs less than another event for each.
func (c *column) whole() bool {
	switch c.typ.(type) {
	case types.String:
		return c.inPlace == 0
	case types.Struct: // a set of CPUs
		return c.tested
	case types.Array, types.Stack, types.Invalid:
		return false
	}
	_, time := c.typ.(types.Duration)
	return c.exact || c.size == types.Size(c.typ) && (c.signed == types.Signed(c.typ) || time && c.signless())
}

// signless reports whether the kernel keeps a number with a sign as 64 bits
// without one, as histograms do with all that they compute. The bits are the same;
// only a filter's order is not, which cond.go sees to.
func (c *column) signless() bool { return c.size == 8 && !c.signed && types.Signed(c.typ) }

// staticRecord returns the record of an event that the target has.
func (l *lowerer) staticRecord(f *target.Format) *record {
	key := f.System + "." + f.Name
	if r, ok := l.static[key]; ok {
		return r
	}
	r := &record{name: command.EventName{Group: f.System, Name: f.Name}, kind: static, depth: 1}
	for i := range f.Fields {
		c := staticColumn(&f.Fields[i])
		c.behind = c.charPtr && l.t.Has(target.FilterUstring) // before, it trusted the address
		r.columns = append(r.columns, c)
	}
	if f.System == markerSystem {
		r.asMarker()
	}
	l.static[key] = r
	return r
}

func staticColumn(f *target.Field) column {
	c := column{name: f.Name, typ: f.Type, kernel: f.Decl}
	switch t := f.Type.(type) {
	case types.Int, types.Bool, types.Duration:
		c.size, c.signed = f.Size, f.Signed
	case types.Pointer:
		c.size, c.signed = f.Size, f.Signed
		// kernel/trace/trace_events_filter.c, filter_assign_type: `char *`
		// and `const char *` are FILTER_PTR_STRING.
		if e, ok := t.Elem.(types.Int); ok && e.Form == types.Char {
			c.charPtr = true
		}
	case types.Array:
		c.inPlace = f.Size
	case types.Struct: // FILTER_CPUMASK
		c.tested = t.Name == "cpumask_t" && f.Loc == target.DataLoc
	}
	return c
}

// argColumn is the column that a probe's argument for x becomes.
func argColumn(name string, x ir.Expr, ft command.FetchType) column {
	c := column{name: name, typ: x.Type(), kernel: fetchTypeName(ft)}
	switch t := x.Type().(type) {
	case types.String:
		c.typ = types.String{}
		if n := textLength(x); n > 0 {
			c.typ, c.inPlace = t, n
		}
	case types.Array:
		c.inPlace = types.Size(t)
	default:
		c.size, c.signed = types.Size(t), types.Signed(t)
		if ft.Bits != 0 {
			b := bitsIn(x)
			c.size, c.signed, c.exact = ft.Of/8, false, !types.Signed(b.T) && holdsBits(t, b)
		}
	}
	return c
}

// payload is how many bytes an argument takes in a probe's record: a text takes
// a word that says where it is.
func payload(ft command.FetchType) int {
	size := 8
	switch {
	case ft.Bits != 0:
		size = ft.Of / 8
	case ft.Base == "string" || ft.Base == "ustring":
		size = 4
	case ft.Base == "char":
		size = 1
	default:
		for bits, n := range map[string]int{"8": 1, "16": 2, "32": 4} {
			if len(ft.Base) > 1 && ft.Base[1:] == bits {
				size = n
			}
		}
	}
	return size * max(ft.Count, 1)
}

func fetchTypeName(ft command.FetchType) string {
	switch {
	case ft.Bits != 0:
		return fmt.Sprintf("u%d", ft.Of)
	case ft.Count != 0:
		return fmt.Sprintf("%s[%d]", ft.Base, ft.Count)
	}
	return ft.Base
}

// substitute puts for each field of a stage what value says it stands for.
func substitute(x ir.Expr, stage int, value func(name string, ref *ir.FieldRef) ir.Expr) ir.Expr {
	return ir.Rewrite(x, func(x ir.Expr) ir.Expr {
		if ref, ok := x.(*ir.FieldRef); ok && ref.Stage == stage {
			return value(ref.Name, ref)
		}
		return x
	})
}
