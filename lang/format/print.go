package format

import (
	"strings"
	"unicode/utf8"

	"github.com/eptrace/ep/lang/syntax"
)

// line is one line of the result.
type line struct {
	indent  int
	code    string
	comment string // behind the code, or alone
}

// printer makes the lines.
type printer struct {
	words []word
	end   []comment
	lines []line
	code  []byte // of the last line, until it is whole
}

func newPrinter(s *syntax.Script) *printer {
	p := &printer{}
	p.words, p.end = words(s)
	mark(s, p.words)
	return p
}

// script returns the whole text.
func (p *printer) script() string {
	for lo := 0; lo < len(p.words); {
		hi := lo + 1
		for hi < len(p.words) && !p.words[hi].statement {
			hi++
		}
		p.statement(newLayout(p.words, lo, hi))
		lo = hi
	}
	for _, c := range p.end {
		p.comment(c, 0)
	}
	p.alignComments()
	return p.text()
}

// comment prints a comment that has a line of its own.
func (p *printer) comment(c comment, column int) {
	if c.blank {
		p.blank()
	}
	p.lines = append(p.lines, line{indent: column, comment: c.text})
}

// blank prints an empty line, unless one is last or nothing is.
func (p *printer) blank() {
	if n := len(p.lines); n > 0 && p.lines[n-1] != (line{}) {
		p.lines = append(p.lines, line{})
	}
}

// statement prints the words of a layout.
func (p *printer) statement(l *layout) {
	pads := columns(l)
	for i := l.lo; i < l.hi; i++ {
		w := &p.words[i]
		if l.breaks(i) {
			p.endLine()
			p.newLine(l, i)
		} else if l.blankBefore(i) {
			p.code = append(p.code, ' ')
		}
		for range pads[i] {
			p.code = append(p.code, ' ')
		}
		p.code = append(p.code, w.text...)
		if w.trail != "" {
			p.lines[len(p.lines)-1].comment = w.trail
		}
	}
	p.endLine()
}

// endLine puts the code that was printed since newLine into its line.
func (p *printer) endLine() {
	if len(p.code) > 0 {
		p.lines[len(p.lines)-1].code = string(p.code)
		p.code = p.code[:0]
	}
}

// newLine prints what stands before word i, which begins a line.
func (p *printer) newLine(l *layout, i int) {
	w := &p.words[i]
	column := l.column[i-l.lo]
	inner := column
	if isCloser(w) {
		inner += indent
	}
	// Empty lines are kept between statements and between fields.
	blanks := w.statement || w.field || w.block && w.text == "}"
	first := i == l.open+1
	for k, c := range w.lead {
		c.blank = c.blank && blanks && (k > 0 || !first)
		p.comment(c, inner)
	}
	if w.blank && blanks && !isCloser(w) && (!first || len(w.lead) > 0) {
		p.blank()
	}
	p.lines = append(p.lines, line{indent: column})
}

// alignComments puts the comments behind consecutive lines of one indent into
// a column.
func (p *printer) alignComments() {
	for lo := 0; lo < len(p.lines); {
		hi, widest := lo, 0
		for hi < len(p.lines) && p.lines[hi].code != "" && p.lines[hi].comment != "" && p.lines[hi].indent == p.lines[lo].indent {
			widest = max(widest, utf8.RuneCountInString(p.lines[hi].code))
			hi++
		}
		for i := lo; i < hi; i++ {
			n := widest - utf8.RuneCountInString(p.lines[i].code)
			p.lines[i].code += strings.Repeat(" ", n+1)
		}
		lo = max(hi, lo+1)
	}
}

// text joins the lines.
func (p *printer) text() string {
	var b strings.Builder
	for _, l := range p.lines {
		if l.code != "" || l.comment != "" {
			b.WriteString(strings.Repeat(" ", l.indent))
			b.WriteString(l.code)
			b.WriteString(l.comment)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// columns returns how many blanks stand before some words, besides the one
// that does anyway, so that types and the `=` of fields stand in columns.
func columns(l *layout) map[int]int {
	pads := map[int]int{}
	var group []fieldLine
	flush := func() {
		align(group, pads)
		group = group[:0]
	}
	for i := l.lo; i < l.hi; i++ {
		if !l.words[i].field {
			continue
		}
		f, ok := l.fieldLine(i)
		if !ok {
			flush()
			continue
		}
		if l.words[i].blank || len(l.words[i].lead) > 0 && l.words[i].lead[0].blank {
			flush()
		}
		group = append(group, f)
	}
	flush()
	return pads
}

// fieldLine is a field that has a line for itself.
type fieldLine struct {
	name  int // columns of the name, with its colon if it has a type
	typ   int // index of the type's first word, 0 if it has none
	width int // columns of the type
	equal int // index of the `=`, 0 if it has none
}

// fieldLine measures the field that begins with word i. It returns false if the
// field shares its line or has several.
func (l *layout) fieldLine(i int) (f fieldLine, ok bool) {
	if !l.breaks(i) {
		return f, false
	}
	f.name = utf8.RuneCountInString(l.words[i].text)
	depth := 0
	for j := i + 1; ; j++ {
		w := &l.words[j]
		if l.breaks(j) {
			return f, w.field || w.block
		}
		if w.field || w.block {
			return f, false
		}
		switch {
		case isOpener(w):
			depth++
		case isCloser(w):
			depth--
		}
		named := j == i+1
		switch {
		case named && w.text == ":":
			f.name++
			f.typ = j + 1
		case depth == 0 && w.text == "=" && f.equal == 0:
			f.equal = j
		case f.typ > 0 && f.equal == 0 && w.text != ",":
			f.width += utf8.RuneCountInString(w.text)
			if j > f.typ && l.blankBefore(j) {
				f.width++
			}
		}
	}
}

// align sets the blanks for a group of fields on consecutive lines.
func align(group []fieldLine, pads map[int]int) {
	names, left := 0, 0
	for _, f := range group {
		if f.typ > 0 {
			names = max(names, f.name)
		}
	}
	for _, f := range group {
		if f.equal > 0 {
			left = max(left, f.left(names))
		}
	}
	for _, f := range group {
		if f.typ > 0 {
			pads[f.typ] = names - f.name
		}
		if f.equal > 0 {
			pads[f.equal] = left - f.left(names)
		}
	}
}

// left returns the columns before the `=` and its blank.
func (f fieldLine) left(names int) int {
	if f.typ > 0 {
		return names + 1 + f.width
	}
	return f.name
}
