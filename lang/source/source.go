// Package source holds a script's text and the arithmetic of places in it.
//
// A place is a byte offset (Pos); a piece of text is a half-open range of
// them (Span). Lines and columns are computed only when a place is shown.
// The package knows nothing of the language.
package source

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// Pos is a byte offset from 0 in the text of one Source.
type Pos int32

// NoPos is the place of what does not stand in any text.
const NoPos Pos = -1

// Span is the half-open byte range [Start, End) of one Source. The zero value
// is the empty range at the start of the text; NoSpan is "nowhere".
type Span struct{ Start, End Pos }

// NoSpan is the range of what the compiler made itself.
var NoSpan = Span{NoPos, NoPos}

// Valid reports whether s is a place in a text.
func (s Span) Valid() bool { return s.Start >= 0 && s.End >= s.Start }

// Len returns the length in bytes; 0 if s is not valid.
func (s Span) Len() int {
	if !s.Valid() {
		return 0
	}
	return int(s.End - s.Start)
}

// Contains reports whether t lies within s.
func (s Span) Contains(t Span) bool {
	return s.Valid() && t.Valid() && s.Start <= t.Start && t.End <= s.End
}

// Join returns the smallest Span that covers both. A Span that is not valid
// adds nothing.
func Join(a, b Span) Span {
	switch {
	case !a.Valid():
		return b
	case !b.Valid():
		return a
	}
	return Span{min(a.Start, b.Start), max(a.End, b.End)}
}

// Position is a place as a person reads it: line and column count from 1,
// the column in bytes.
type Position struct{ Line, Col int }

// String returns "line:col".
func (p Position) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Col) }

// Source is one script's name and text. It is immutable and may be shared
// between goroutines.
type Source struct {
	name  string
	text  string
	lines []Pos // offset of each line's first byte
}

// MaxSize is the largest text in bytes that New takes: places are 32 bits.
const MaxSize = 1 << 30

// New returns the Source of a text. The name is shown before each place; it is
// what the user called the script (a path, "-" or a module's name).
//
// It returns an error if the text is not valid UTF-8, has a NUL byte, or is
// larger than MaxSize; the error's text says where.
func New(name, text string) (*Source, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("%s: script is larger than %d bytes", name, MaxSize)
	}
	s := &Source{name: name, text: text, lines: []Pos{0}}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			s.lines = append(s.lines, Pos(i+1))
		}
	}
	if i := strings.IndexByte(text, 0); i >= 0 {
		return nil, fmt.Errorf("%s:%v: script holds a NUL byte; it is not text", name, s.Position(Pos(i)))
	}
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("%s:%v: script is not valid UTF-8", name, s.Position(Pos(invalidAt(text))))
	}
	return s, nil
}

// invalidAt returns the offset of the first byte that is not valid UTF-8.
func invalidAt(text string) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(text)
}

// Name returns the script's name as the user wrote it.
func (s *Source) Name() string { return s.name }

// Text returns the whole text.
func (s *Source) Text() string { return s.text }

// Slice returns the text of sp, "" if sp is not a place in s.
func (s *Source) Slice(sp Span) string {
	if !sp.Valid() || int(sp.End) > len(s.text) {
		return ""
	}
	return s.text[sp.Start:sp.End]
}

// Position returns the line and column of p. If p is NoPos or past the end, it
// returns the place after the last byte.
func (s *Source) Position(p Pos) Position {
	if p < 0 || int(p) > len(s.text) {
		p = Pos(len(s.text))
	}
	i := sort.Search(len(s.lines), func(i int) bool { return s.lines[i] > p }) - 1
	return Position{Line: i + 1, Col: int(p-s.lines[i]) + 1}
}

// Line returns the text of line n, counted from 1, without its line end; ""
// if there is no such line.
func (s *Source) Line(n int) string {
	if n < 1 || n > len(s.lines) {
		return ""
	}
	start, end := int(s.lines[n-1]), len(s.text)
	if n < len(s.lines) {
		end = int(s.lines[n]) - 1
	}
	return strings.TrimSuffix(s.text[start:end], "\r")
}
