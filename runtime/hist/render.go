package hist

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/eptrace/ep/runtime/events"
)

// Options say how Render does it. The zero value is fit for use.
type Options struct {
	// Width is how many columns a line may have; 0 is without limit. Bars and
	// texts become shorter, numbers do not.
	Width int
	// Percent adds a last column with the share that a row has of all counted, if
	// there are several.
	Percent bool
	// Color marks up with the escape sequences of a terminal.
	Color bool
	// Names are what numbers are named by.
	Names events.Names
}

// Render writes the table for people: a title, the rows in columns, stacks
// below their row, and what is to be known of it, such as events that were not
// counted. A table that is sorted by its slots, or not at all, has the look of
// a histogram: one for each of the other keys, with the empty slots between,
// and bars. The error is w's.
func (t *Table) Render(w io.Writer, o Options) error {
	g := &grid{table: t, opts: &o}
	g.line(bold, t.title())
	if len(t.Rows) > 0 {
		slot := t.slot()
		if slot >= 0 && (len(t.sort) == 0 || t.sort[0].Name == t.Keys[slot].Name) {
			g.slotOnly = slot + 1
			g.header()
			g.histograms(slot)
		} else {
			g.header()
			g.rows(t.Rows, slot)
		}
	}
	for _, note := range t.Notes() {
		g.line(yellow, note)
	}
	_, err := w.Write(g.text())
	return err
}

func (t *Table) title() string {
	paused := ""
	if t.Paused {
		paused = " (paused)"
	}
	n := t.counted()
	if n == 0 {
		return t.Name + paused + ": no events"
	}
	return fmt.Sprintf("%s%s: %s", t.Name, paused, number(n, "event"))
}

// number returns "1 event", "2 events".
func number(n uint64, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return strconv.FormatUint(n, 10) + " " + of + "s"
}

// maxSize is the greatest number of entries that a kernel makes.
const maxSize = 1 << 17

// Notes returns what is to be known of the table besides its rows, one sentence
// each: rows left out by Limit, events that were not counted and what would
// help, entries that could not be read.
func (t *Table) Notes() []string {
	var out []string
	if t.Left > 0 {
		out = append(out, fmt.Sprintf("%s, of %s", number(uint64(t.Left), "more row"), number(t.LeftCount, "event")))
	}
	if t.Dropped > 0 {
		help := "a greater 'size' in the script makes room"
		if t.Size >= maxSize {
			help = "no table can be larger, but log2(), bucket() and 'where' make fewer keys"
		}
		were := "were"
		if t.Dropped == 1 {
			were = "was"
		}
		out = append(out, fmt.Sprintf("%s %s not counted, because all %d entries of the table are taken: %s",
			number(t.Dropped, "event"), were, t.Size, help))
	}
	if t.Unread > 0 {
		entries := "entries"
		if t.Unread == 1 {
			entries = "entry"
		}
		out = append(out, fmt.Sprintf("%d %s could not be read: a text in it looks like the end of its row", t.Unread, entries))
	}
	return out
}

// header adds the names of the columns.
func (g *grid) header() {
	var cells []string
	for _, c := range g.columns() {
		cells = append(cells, c.name)
	}
	g.cells(cells, nil)
	g.lines[len(g.lines)-1].mark = bold
}

// rows adds rows; those of a table with slots have bars.
func (g *grid) rows(rows []Row, slot int) {
	most := uint64(0)
	for i := range rows {
		most = max(most, rows[i].Count)
	}
	for i := range rows {
		r := &rows[i]
		var bar *bar
		if slot >= 0 {
			bar = newBar(r.Count, most)
		}
		g.cells(g.row(r, r.Keys), bar)
		g.stacks(r)
	}
}

// row returns the cells of a row: keys, count, values, share.
func (g *grid) row(r *Row, keys []Key) []string {
	var cells []string
	for i := range keys {
		if c := &g.table.Keys[i]; g.shown(i) {
			cells = append(cells, c.text(&keys[i], &g.opts.Names))
		}
	}
	cells = append(cells, strconv.FormatUint(r.Count, 10))
	for i := range g.table.Values {
		cells = append(cells, r.valueText(i, &g.opts.Names))
	}
	if g.shares() {
		cells = append(cells, share(r.Count, g.table.counted()))
	}
	return cells
}

func share(n, of uint64) string {
	return strconv.FormatFloat(100*float64(n)/float64(max(of, 1)), 'f', 1, 64) + "%"
}

// stacks adds the stacks of a row, a line for each function.
func (g *grid) stacks(r *Row) {
	for i := range r.Keys {
		if !g.table.Keys[i].stack() {
			continue
		}
		for _, f := range r.Keys[i].Stack {
			g.line(plain, "    "+f)
		}
		if len(r.Keys[i].Stack) == 0 {
			g.line(plain, "    (no stack)")
		}
	}
}

// histograms adds a histogram for each group of rows that differ by their slot
// alone, that with the most events first.
func (g *grid) histograms(slot int) {
	groups := map[string][]Row{}
	var order []string
	for _, r := range g.table.Rows {
		id := r.group(slot)
		if groups[id] == nil {
			order = append(order, id)
		}
		groups[id] = append(groups[id], r)
	}
	sortByTotal(order, groups)
	for _, id := range order {
		rows := groups[id]
		if len(g.table.Keys) > 1 {
			g.line(plain, g.groupTitle(&rows[0], slot))
			g.stacks(&rows[0])
		}
		g.histogram(rows, slot)
	}
}

// groupTitle returns "comm=cat fd=3: 5 events".
func (g *grid) groupTitle(r *Row, slot int) string {
	var words []string
	for i := range r.Keys {
		if c := &g.table.Keys[i]; i != slot && !c.stack() {
			words = append(words, c.Name+"="+c.text(&r.Keys[i], &g.opts.Names))
		}
	}
	if len(words) == 0 {
		return number(r.total, "event") + ":"
	}
	return strings.Join(words, " ") + ": " + number(r.total, "event")
}

// histogram adds the slots of rows, and the empty ones between.
func (g *grid) histogram(rows []Row, slot int) {
	c := &g.table.Keys[slot]
	most := uint64(0)
	for i := range rows {
		most = max(most, rows[i].Count)
	}
	for i := range rows {
		r := &rows[i]
		if i > 0 {
			empty, all := c.between(&rows[i-1].Keys[slot], &r.Keys[slot])
			for k := range empty {
				none := Row{Keys: make([]Key, len(r.Keys)), Values: make([]Value, len(r.Values)), table: g.table}
				none.Keys[slot] = empty[k]
				g.cells(g.row(&none, none.Keys), newBar(0, most))
			}
			if !all {
				g.line(plain, "    ...")
			}
		}
		g.cells(g.row(r, r.Keys), newBar(r.Count, most))
	}
}
