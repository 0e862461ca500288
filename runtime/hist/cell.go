package hist

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/eptrace/ep/lang/types"
	"github.com/eptrace/ep/runtime/events"
)

// stack reports whether c is a column of stacks, which stand below their row.
func (c *Column) stack() bool {
	_, ok := c.Type.(types.Stack)
	return ok
}

// right reports whether c is aligned to the right: what is mostly a number is.
func (c *Column) right() bool {
	switch t := c.Type.(type) {
	case types.Int:
		switch t.Form {
		case types.Dec, types.Hex, types.BE, types.Errno:
			return t.Names == nil || c.Slots != Each
		}
		return c.Slots != Each
	case types.String, types.Stack, types.Bool:
		return false
	}
	return true
}

// text returns a key as a person reads it.
func (c *Column) text(k *Key, n *events.Names) string {
	switch {
	case c.Slots != Each:
		return c.slotText(k)
	}
	if _, ok := c.Type.(types.String); ok && k.Text == "" {
		return `""`
	}
	return string(c.shape.AppendText(nil, c.value(k), n, false))
}

// value returns a key as a record would have it.
func (c *Column) value(k *Key) events.Value {
	switch c.Type.(type) {
	case types.String:
		return events.Value{Data: []byte(k.Text)}
	case types.Stack:
		return events.Value{Symbols: k.Stack}
	}
	return events.Value{Num: k.Num, Symbols: []string{k.Text}}
}

// slotText returns "17..32", both ends in the slot, "5" of one number, and
// "..1" of a slot that has all numbers below.
func (c *Column) slotText(k *Key) string {
	var dst []byte
	if !c.open(k) {
		dst = c.shape.AppendText(dst, events.Value{Num: k.Num}, &events.Names{}, false)
		if k.Num == k.Last {
			return string(dst)
		}
	}
	dst = append(dst, ".."...)
	return string(c.shape.AppendText(dst, events.Value{Num: k.Last}, &events.Names{}, false))
}

// open reports whether a slot has no least number.
func (c *Column) open(k *Key) bool {
	return c.Slots == Log2 && types.Signed(c.Type) && k.Num == 1<<63
}

// maxEmpty is how many empty slots of equal width are shown in a row. There are
// never more than 63 powers of two.
const maxEmpty = 16

// between returns the empty slots between two, in the order of the two, or, if
// they are too many, all = false.
func (c *Column) between(a, b *Key) (empty []Key, all bool) {
	down := compareKeys(c, a, b) > 0
	if down {
		a, b = b, a
	}
	for k := c.next(a); k.Num != b.Num; k = c.next(&k) {
		if c.Slots == Width && len(empty) == maxEmpty || len(empty) > 64 {
			return nil, false
		}
		empty = append(empty, k)
	}
	if down {
		slices.Reverse(empty)
	}
	return empty, true
}

// next returns the slot after k. Arithmetic is modulo 2^64, as the kernel's is:
// the last slot of negative numbers ends at -1.
func (c *Column) next(k *Key) Key {
	first := k.Last + 1
	if c.Slots == Log2 {
		if bits.Len64(k.Last) == 64 {
			return Key{Num: first, Last: math.MaxUint64}
		}
		return Key{Num: first, Last: 2 * k.Last}
	}
	last := first + c.Width - 1
	if last < first {
		last = math.MaxUint64
	}
	return Key{Num: first, Last: last}
}

// valueText returns a value as a person reads it.
func (r *Row) valueText(i int, n *events.Names) string {
	c := &r.table.Values[i]
	if !c.Mean {
		return string(c.shape.AppendText(nil, events.Value{Num: r.Values[i].Sum}, n, false))
	}
	if r.Count == 0 {
		return "-"
	}
	mean := r.number(i)
	if d, ok := c.Type.(types.Duration); ok {
		ns := int64(math.Round(mean * float64(d.Unit.NS())))
		return string(nanoseconds.AppendText(nil, events.Value{Num: uint64(ns)}, n, false))
	}
	return meanText(mean)
}

// nanoseconds shows means of durations, which are finer than their unit.
var nanoseconds = events.NewShape(types.Duration{Unit: types.NS, Size: 8, Signed: true})

// meanText returns a mean with up to two places.
func meanText(mean float64) string {
	s := strconv.FormatFloat(mean, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
