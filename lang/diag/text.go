package diag

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/eptrace/ep/lang/source"
)

// TextOptions say how Text prints. The zero value is plain text of any width.
type TextOptions struct {
	// Color adds ANSI colours. Nothing is detected here: whether the reader is
	// a terminal is the caller's to know.
	Color bool
	// Width is the number of columns of the reader's screen; longer lines of a
	// script are cut to the part around the mistake. 0 cuts nothing.
	Width int
}

// Text prints l for a person, one Diagnostic after the other as they are in l:
//
//	sched.ep:4:12: error: event 'sched.sched_switch' has no field 'prev_pit' [unknown-field]
//		pid = prev_pit
//		      ^^^^^^^^
//	note: did you mean 'prev_pid'?
//
// The line of the script loses its leading blanks; a Span over several lines
// is underlined to the end of its first. Control characters are shown as
// U+FFFD, so that a script cannot write to the reader's terminal. Fixes are
// for editors and are not printed. The error is w's.
func Text(w io.Writer, l List, opts TextOptions) error {
	p := printer{opts: opts}
	for _, d := range l {
		p.diagnostic(d)
	}
	_, err := w.Write(p.buf.Bytes())
	return err
}

// The ANSI codes in use.
const (
	bold   = "\x1b[1m"
	red    = "\x1b[1;31m"
	yellow = "\x1b[1;33m"
	cyan   = "\x1b[1;36m"
	reset  = "\x1b[0m"
)

type printer struct {
	buf  bytes.Buffer
	opts TextOptions
}

// paint writes s, in color if colours are wanted.
func (p *printer) paint(color, s string) {
	if !p.opts.Color {
		p.buf.WriteString(s)
		return
	}
	p.buf.WriteString(color)
	p.buf.WriteString(s)
	p.buf.WriteString(reset)
}

func (p *printer) diagnostic(d Diagnostic) {
	if at := place(d.Source, d.Span); at != "" {
		p.paint(bold, at+":")
		p.buf.WriteByte(' ')
	}
	color := red
	if d.Severity == Warning {
		color = yellow
	}
	p.paint(color, d.Severity.String()+":")
	fmt.Fprintf(&p.buf, " %s [%s]\n", clean(d.Message), d.Code)
	if d.Source != nil && d.Span.Valid() {
		p.snippet(d.Source, d.Span, color)
	}
	for _, n := range d.Notes {
		p.paint(cyan, "note:")
		p.buf.WriteByte(' ')
		src := n.Source
		if src == nil {
			src = d.Source
		}
		if n.Span.Valid() && src != nil {
			p.buf.WriteString(place(src, n.Span) + ": ")
		}
		p.buf.WriteString(clean(n.Message) + "\n")
	}
}

// place returns "file:line:col", "file" if sp is nowhere, "" without a Source.
func place(src *source.Source, sp source.Span) string {
	if src == nil {
		return ""
	}
	if !sp.Valid() {
		return clean(src.Name())
	}
	return fmt.Sprintf("%s:%v", clean(src.Name()), src.Position(sp.Start))
}

// indent is the column at which the text of a snippet starts: a tab's.
const indent = 8

// snippet prints the line that sp starts in, with carets under sp.
func (p *printer) snippet(src *source.Source, sp source.Span, color string) {
	at := src.Position(sp.Start)
	line := src.Line(at.Line)
	start := min(at.Col-1, len(line))
	end := min(start+sp.Len(), len(line))
	if t := len(strings.TrimRight(line, " \t")); end > t && start < t {
		end = t
	}
	blanks := len(line) - len(strings.TrimLeft(line, " \t"))
	from := min(blanks, start)
	before, marked, after := line[from:start], line[start:end], line[end:]
	if p.opts.Width > 0 {
		before, marked, after = cut(before, marked, after, p.opts.Width-indent-1)
	}
	p.buf.WriteString("\t" + clean(before) + clean(marked) + clean(after) + "\n\t")
	for _, r := range clean(before) {
		if r == '\t' {
			p.buf.WriteByte('\t')
			continue
		}
		p.buf.WriteString("  "[:runeWidth(r)])
	}
	p.paint(color, strings.Repeat("^", max(textWidth(marked), 1)))
	p.buf.WriteByte('\n')
}

// cut shortens the three parts of a line to width columns in all, the marked
// one last. What is left out is shown as "…".
func cut(before, marked, after string, width int) (string, string, string) {
	width = max(width, 20)
	if textWidth(before)+textWidth(marked)+textWidth(after) <= width {
		return before, marked, after
	}
	if w := textWidth(marked); w > width-2 {
		return ellipsis(before), keepFirst(marked, width-2), "…"
	}
	room := width - textWidth(marked)
	left := min(textWidth(before), max(room*2/3, room-textWidth(after)))
	if left < textWidth(before) {
		before = "…" + keepLast(before, left-1)
	}
	if right := room - left; right < textWidth(after) {
		after = keepFirst(after, right-1) + "…"
	}
	return before, marked, after
}

// ellipsis returns "…" for any text, "" for none.
func ellipsis(s string) string {
	if s == "" {
		return ""
	}
	return "…"
}

// keepFirst returns the longest beginning of s that takes at most width columns.
func keepFirst(s string, width int) string {
	for i, r := range s {
		if width -= runeWidth(r); width < 0 {
			return s[:i]
		}
	}
	return s
}

// keepLast returns the longest end of s that takes at most width columns.
func keepLast(s string, width int) string {
	over := textWidth(s) - width
	for i, r := range s {
		if over <= 0 {
			return s[i:]
		}
		over -= runeWidth(r)
	}
	return ""
}
