package format

import "unicode/utf8"

// Where lines break is decided for each statement by itself:
//
//  1. Breaks of the text are kept before clauses, between fields, and behind
//     operators, commas and opening brackets. One before an operator or comma
//     moves behind it, for in braces it would end the field. Comments force one.
//  2. While a line is longer than width, the first of these is done that
//     changes anything: spread a block that stands on one line, if what is before
//     it fits; begin a line with each clause; spread the block; begin a line with
//     each clause of the clauses on that line.
//
// Every step only adds breaks that step 1 keeps, so that formatting again
// changes nothing.

// width is the number of columns that a line should fit in, without the
// comment behind it.
const width = 100

// indent is the number of blanks of one level.
const indent = 2

// layout decides the breaks of words[lo:hi], one statement.
type layout struct {
	words       []word
	lo, hi      int
	broken      []bool // for each of these words: it begins a line
	inside      []int  // for each: the innermost bracket that is open, or -1
	column      []int  // for each that begins a line: its column
	open, close int    // the braces of the block of fields, or hi
}

func newLayout(words []word, lo, hi int) *layout {
	n := hi - lo
	l := &layout{words: words, lo: lo, hi: hi, open: hi, close: hi,
		broken: make([]bool, n), inside: make([]int, n), column: make([]int, n)}
	l.nest()
	l.keep()
	l.settle()
	return l
}

func (l *layout) breaks(i int) bool { return l.broken[i-l.lo] }

func (l *layout) set(i int) { l.broken[i-l.lo] = true }

// nest finds the bracket around each word and the block. A bracket itself is
// not inside.
func (l *layout) nest() {
	open := []int{-1}
	for i := l.lo; i < l.hi; i++ {
		w := &l.words[i]
		if isCloser(w) {
			open = open[:len(open)-1]
		}
		l.inside[i-l.lo] = open[len(open)-1]
		if isOpener(w) {
			open = append(open, i)
			if w.block {
				l.open, l.close = i, w.match
			}
		}
	}
}

// forced reports whether a comment stands between word i and the one before.
func (l *layout) forced(i int) bool {
	return len(l.words[i].lead) > 0 || i > l.lo && l.words[i-1].trail != ""
}

// keep sets the breaks that the text has.
func (l *layout) keep() {
	l.set(l.lo)
	for i := l.lo + 1; i < l.hi; i++ {
		w, prev := &l.words[i], &l.words[i-1]
		switch {
		case l.forced(i):
			l.set(i)
		case !w.line || i == l.open:
		case w.clause > 0 || w.field:
			l.set(i)
		case w.operator || w.text == ",":
			if i+1 < l.hi && !isCloser(&l.words[i+1]) {
				l.set(i + 1)
			}
		case prev.operator || prev.text == "," || isOpener(prev):
			if !isCloser(w) {
				l.set(i)
			}
		}
	}
}

func isOpener(w *word) bool { return w.match >= 0 && (w.text == "(" || w.text == "[" || w.text == "{") }

func isCloser(w *word) bool { return w.match >= 0 && !isOpener(w) }

// settle sets the breaks that follow from others, then those for long lines. It
// ends because a step reports a change only where it added a break.
func (l *layout) settle() {
	for {
		l.follow()
		l.place()
		changed := false
		long := l.longLines()
		for _, step := range []func([2]int) bool{l.spreadShortBlock, l.breakClauses, l.spreadBlock, l.breakInner} {
			for _, line := range long {
				changed = step(line) || changed
			}
			if changed {
				break
			}
		}
		if !changed {
			return
		}
	}
}

// follow closes brackets as they are opened, makes a block with a break in it
// begin and end with one, and puts the block of a broken head on a line.
func (l *layout) follow() {
	for i := l.lo; i < l.hi; i++ {
		if w := &l.words[i]; isOpener(w) && i+1 < w.match && l.breaks(i+1) {
			l.set(w.match)
		}
	}
	for i := l.open + 1; i <= l.close && i < l.hi; i++ {
		if l.breaks(i) {
			l.set(l.open + 1)
			l.set(l.close)
			break
		}
	}
	for i := l.lo + 1; i < l.open; i++ {
		if l.open < l.hi && l.words[i].clause > 0 && l.breaks(i) {
			l.set(l.open)
			break
		}
	}
}

// place computes the columns of the lines.
func (l *layout) place() {
	start, clause := l.lo, l.lo // of the line, and of the clause or field
	lineOf := make([]int, l.hi-l.lo)
	for i := l.lo; i < l.hi; i++ {
		w := &l.words[i]
		if w.field || i == l.open || i == l.close || w.clause > 0 && l.breaks(i) {
			clause = i
		}
		if l.breaks(i) {
			start = i
			l.column[i-l.lo] = l.columnOf(i, clause, lineOf)
		}
		lineOf[i-l.lo] = l.column[start-l.lo]
		if i == clause && w.field {
			lineOf[i-l.lo] = indent
		}
	}
}

// columnOf returns the column of word i, which begins a line. Clause is the
// first word of its clause or field; lines holds, for each word before, the
// column of its line.
func (l *layout) columnOf(i, clause int, lines []int) int {
	w := &l.words[i]
	switch {
	case w.statement || w.block:
		return 0
	case w.field:
		return indent
	case w.clause > 0:
		return indent * w.clause
	case isCloser(w):
		return lines[w.match-l.lo]
	}
	around := l.inside[i-l.lo]
	if around < 0 || around == l.open {
		return lines[clause-l.lo] + indent
	}
	column, hanging := lines[around-l.lo], l.breaks(around+1)
	switch prev := &l.words[i-1]; {
	case !hanging || i == around+1 || prev.text == ",":
		return column + indent
	}
	return column + 2*indent
}

// longLines returns the lines, as ranges of words, that are too wide.
func (l *layout) longLines() [][2]int {
	var long [][2]int
	for from := l.lo; from < l.hi; {
		to := from + 1
		for to < l.hi && !l.breaks(to) {
			to++
		}
		if l.columns(from, to) > width {
			long = append(long, [2]int{from, to})
		}
		from = to
	}
	return long
}

// columns returns the columns that words from to to take, on one line that
// begins with the first.
func (l *layout) columns(from, to int) int {
	n := l.column[from-l.lo]
	for i := from; i < to; i++ {
		if i > from && l.blankBefore(i) {
			n++
		}
		n += utf8.RuneCountInString(l.words[i].text)
	}
	return n
}

// blankBefore reports whether a blank stands before word i on its line.
func (l *layout) blankBefore(i int) bool {
	w, prev := &l.words[i], &l.words[i-1]
	return !w.tightBefore && !prev.tightAfter && !(w.text == "}" && prev.text == "{")
}

// spreadShortBlock spreads the block if the line fits up to its brace.
func (l *layout) spreadShortBlock(line [2]int) bool {
	return line[0] <= l.open && l.open < line[1] && l.columns(line[0], l.open+1) <= width && l.spreadBlock(line)
}

// spreadBlock gives each field of a block on the line a line.
func (l *layout) spreadBlock(line [2]int) bool {
	if l.open < line[0] || l.close >= line[1] {
		return false
	}
	changed := false
	for i := l.open; i < l.close; i++ {
		if l.words[i].field && !l.breaks(i) {
			l.set(i)
			changed = true
		}
	}
	return changed
}

// breakClauses begins a line with each clause of the statement's head. Behind
// a spread block they stay on the line of its brace.
func (l *layout) breakClauses(line [2]int) bool {
	if line[0] > l.open && line[0] <= l.close {
		return false
	}
	changed := false
	for i := l.lo + 1; i < l.hi; i++ {
		behind := i > l.close && l.breaks(l.close)
		if l.words[i].clause == 1 && !l.breaks(i) && !behind {
			l.set(i)
			changed = true
		}
	}
	return changed
}

// breakInner begins a line with each clause of the clauses on the line.
func (l *layout) breakInner(line [2]int) bool {
	changed := false
	for i := line[0] + 1; i < line[1]; i++ {
		if l.words[i].clause == 2 && !l.breaks(i) {
			l.set(i)
			changed = true
		}
	}
	return changed
}
