package events

import "github.com/eptrace/ep/lang/types"

// Shape shows values of one type as lines of events do, to those that have them
// from elsewhere: histograms have. It may be used by several goroutines.
type Shape struct{ show show }

// NewShape returns how values of type t are shown.
func NewShape(t types.Type) *Shape { return &Shape{newShow(t)} }

// FromKernel returns the number of s's type that the kernel prints as the number
// n: in its own order of bytes, and with a sign or without.
func (s *Shape) FromKernel(n uint64) uint64 { return s.show.fromKernel(n) }

// AppendText appends v as Text does. In a list of fields (quote), text that
// could be taken for more than one value is quoted.
func (s *Shape) AppendText(dst []byte, v Value, n *Names, quote bool) []byte {
	return s.show.appendValue(dst, &v, n, quote)
}

// AppendJSON appends v as JSON does.
func (s *Shape) AppendJSON(dst []byte, v Value, n *Names) []byte {
	return s.show.appendJSON(dst, &v, n)
}

// AppendJSONString appends text as a JSON string. What is no UTF-8 becomes
// U+FFFD.
func AppendJSONString(dst, text []byte) []byte { return appendJSONString(dst, text) }
