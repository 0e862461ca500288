package hist

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/eptrace/ep/runtime/events"
)

// grid gathers lines of which some have cells, and aligns these.
type grid struct {
	table    *Table
	opts     *Options
	lines    []line
	slotOnly int // 1 + the only key that has a column, 0 if all have
}

// line is text, or cells with perhaps a bar.
type line struct {
	mark  mark
	text  string
	cells []string
	bar   *bar
}

// mark is how a line stands out on a terminal.
type mark string

const (
	plain  mark = ""
	bold   mark = "\x1b[1m"
	yellow mark = "\x1b[33m"
	green  mark = "\x1b[32m"
	reset       = "\x1b[0m"
)

// bar is a count to be shown as a length, of the most that one of the same
// histogram has.
type bar struct{ n, most uint64 }

func newBar(n, most uint64) *bar { return &bar{n, most} }

// column is how a column of cells is laid out.
type column struct {
	name  string
	right bool
	width int
}

func (g *grid) line(m mark, text string) {
	g.lines = append(g.lines, line{mark: m, text: events.Plain(text)})
}

func (g *grid) cells(cells []string, b *bar) {
	for i := range cells {
		cells[i] = events.Plain(cells[i])
	}
	g.lines = append(g.lines, line{cells: cells, bar: b})
}

// shown reports whether the i-th key has a column.
func (g *grid) shown(i int) bool {
	return !g.table.Keys[i].stack() && (g.slotOnly == 0 || i == g.slotOnly-1)
}

// shares reports whether rows have a column with their share.
func (g *grid) shares() bool { return g.opts.Percent && len(g.table.Rows) > 1 }

func (g *grid) columns() []column {
	var out []column
	for i := range g.table.Keys {
		if c := &g.table.Keys[i]; g.shown(i) {
			out = append(out, column{name: c.Name, right: c.right()})
		}
	}
	out = append(out, column{name: "count", right: true})
	for i := range g.table.Values {
		out = append(out, column{name: g.table.Values[i].Name, right: true})
	}
	if g.shares() {
		out = append(out, column{name: "share", right: true})
	}
	return out
}

// The bounds of what is cut to fit the width.
const (
	minText = 12 // a text is not cut to less
	minBar  = 8  // a shorter bar is left out
	maxBar  = 40
	gap     = "  "
)

// layout returns the columns with their widths, and the length of bars.
func (g *grid) layout() ([]column, int) {
	columns := g.columns()
	total := -len(gap)
	bars := false
	for _, l := range g.lines {
		for i, c := range l.cells {
			columns[i].width = max(columns[i].width, width(c))
		}
		bars = bars || l.bar != nil
	}
	for _, c := range columns {
		total += c.width + len(gap)
	}
	if g.opts.Width == 0 {
		return columns, maxBar
	}
	for total > g.opts.Width {
		widest := -1
		for i, c := range columns {
			if !c.right && c.width > minText && (widest < 0 || c.width > columns[widest].width) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		columns[widest].width--
		total--
	}
	length := min(g.opts.Width-total-len(gap)-len("||"), maxBar)
	if !bars || length < minBar {
		length = 0
	}
	return columns, length
}

func (g *grid) text() []byte {
	columns, barLength := g.layout()
	var b strings.Builder
	for i := range g.lines {
		l := &g.lines[i]
		start := b.Len()
		g.mark(&b, l.mark)
		if l.cells == nil {
			// What is said in words is said whole.
			text := l.text
			if l.mark == plain && g.opts.Width > 0 {
				text = cut(text, g.opts.Width)
			}
			b.WriteString(text)
		}
		pad := 0
		for k, cell := range l.cells {
			c := &columns[k]
			if k > 0 {
				pad += len(gap)
			}
			if !c.right {
				cell = cut(cell, c.width)
			}
			free := c.width - width(cell)
			if c.right {
				pad, free = pad+free, 0
			}
			blanks(&b, pad)
			b.WriteString(cell)
			pad = free
		}
		if l.bar != nil && barLength > 0 {
			blanks(&b, pad+len(gap))
			b.WriteByte('|')
			g.mark(&b, green)
			marks := l.bar.marks(barLength)
			b.WriteString(marks)
			if g.opts.Color {
				b.WriteString(reset)
			}
			blanks(&b, barLength-len(marks))
			b.WriteByte('|')
		}
		if g.opts.Color && l.mark != plain && b.Len() > start {
			b.WriteString(reset)
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

func (g *grid) mark(b *strings.Builder, m mark) {
	if g.opts.Color {
		b.WriteString(string(m))
	}
}

func blanks(b *strings.Builder, n int) { b.WriteString(strings.Repeat(" ", max(n, 0))) }

// marks returns the bar: '.' stands for less than half a mark.
func (b *bar) marks(length int) string {
	if b.n == 0 || b.most == 0 {
		return ""
	}
	n := int(float64(b.n)/float64(b.most)*float64(length) + 0.5)
	if n == 0 {
		return "."
	}
	return strings.Repeat("#", n)
}

// width returns how many columns s takes, if each character takes one.
func width(s string) int { return utf8.RuneCountInString(s) }

// cut returns s in at most n columns, with a mark where something is missing.
func cut(s string, n int) string {
	if width(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:max(n-1, 0)]) + "…"
}

// sortByTotal sorts groups of rows: that with the most events comes first.
func sortByTotal(order []string, groups map[string][]Row) {
	slices.SortStableFunc(order, func(a, b string) int {
		switch x, y := groups[a][0].total, groups[b][0].total; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
}
