package events

import (
	"slices"

	"github.com/eptrace/ep/lang/types"
)

// Symbolizer tells which function a kernel address is in. It is called from
// the goroutine that renders, and should answer from memory.
type Symbolizer interface {
	// Symbol returns the function that holds addr, and how many bytes behind
	// its start addr is.
	Symbol(addr uint64) (name string, offset uint64, ok bool)
}

// Syscalls tells the names of system calls; *target.Target does.
type Syscalls interface {
	SyscallName(nr int) (name string, ok bool)
}

// Texts tells the texts that events of the kernel point to and that stay where they
// are. It is called from the goroutine that renders, and should answer from memory.
type Texts interface {
	// Text returns the text at addr.
	Text(addr uint64) (text string, ok bool)
}

// Names is what values are named by that no format tells. Each may be nil; then
// addresses and numbers are shown.
type Names struct {
	Symbols  Symbolizer
	Syscalls Syscalls
	Texts    Texts
}

// show is how values of one type are shown, worked out once.
type show struct {
	as     as
	digits            // of a number
	unit   types.Unit // of asDuration and asUnit
	names  *valueNames
	elem   *show // of asArray
}

// as is a way to show a value.
type as uint8

const (
	asDec as = iota
	asHex
	asChar
	asBool
	asIP
	asDev
	asErrno
	asSysnr
	asKsym
	asPointed // a text of the kernel, behind its address
	asEnum
	asFlags
	asDuration // in the unit that suits: 1.23ms
	asUnit     // a whole number of one unit: 1234us
	asText
	asArray
	asStack
	asBytes
)

// newShow returns how values of type t are shown.
func newShow(t types.Type) show {
	x := show{digits: digitsOf(t)}
	switch t := t.(type) {
	case types.Int:
		switch t.Form {
		case types.Hex:
			x.as = asHex
		case types.Char:
			x.as = asChar
		case types.IP:
			x.as = asIP
		case types.Dev:
			x.as = asDev
		case types.Errno:
			x.as = asErrno
		case types.Sysnr:
			x.as = asSysnr
		case types.Ksym:
			x.as = asKsym
		}
		if t.Names != nil && len(t.Names.List) > 0 {
			x.as = asEnum
			if t.Names.Flags {
				x.as = asFlags
			}
			x.names = newValueNames(t.Names)
		}
	case types.Bool:
		x.as = asBool
	case types.Duration:
		x.as, x.unit = asDuration, t.Unit
	case types.String:
		x.as = asText
	case types.Pointer:
		x.as = asHex
		if e, ok := t.Elem.(types.Int); ok && e.Form == types.Char && !t.User {
			x.as = asPointed
		}
	case types.Stack:
		x.as = asStack
	case types.Array:
		x.as = asBytes
		if types.Scalar(t.Elem) {
			elem := newShow(t.Elem)
			x.as, x.elem = asArray, &elem
		}
	default:
		x.as = asBytes
	}
	return x
}

// valueNames finds the names of a type's values.
type valueNames struct {
	list   []types.Name // of flags, in the order in which the kernel tries them
	zero   string       // of flags: what stands for none
	values []types.Name // of an enum, by value
}

func newValueNames(n *types.Names) *valueNames {
	out := &valueNames{}
	if n.Flags {
		for _, e := range n.List {
			if e.Value == 0 {
				out.zero = e.Name
			} else {
				out.list = append(out.list, e)
			}
		}
		return out
	}
	out.values = slices.Clone(n.List)
	slices.SortStableFunc(out.values, func(a, b types.Name) int {
		switch {
		case a.Value < b.Value:
			return -1
		case a.Value > b.Value:
			return 1
		}
		return 0
	})
	return out
}

// find returns the name of an enum's value, "" if it has none.
func (n *valueNames) find(v uint64) string {
	lo, hi := 0, len(n.values)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if n.values[mid].Value < v {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(n.values) && n.values[lo].Value == v {
		return n.values[lo].Name
	}
	return ""
}

// recast returns how a value of x's type is shown as type t, which a form asks
// for. What cannot be (text as a number, a number as text) stays as it is. A
// duration of t is shown in whole units of t; scale is the unit it has before.
func (x show) recast(t types.Type) (y show, scale types.Unit) {
	y = newShow(t)
	if x.as >= asText || y.as >= asText {
		return x, x.unit
	}
	scale = x.unit
	if x.as != asDuration {
		scale = y.unit // a plain number becomes one of that unit
	}
	if y.as == asDuration {
		y.as, y.signed = asUnit, x.signed
	}
	return y, scale
}
