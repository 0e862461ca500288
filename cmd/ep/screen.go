package main

import (
	"bytes"
	"io"
	"os"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/eptrace/ep/runtime/events"
)

// A screen passes text on to a terminal with control characters escaped. Files,
// processes and scripts bear names that others chose, and every command prints some
// of them, so this is done once, for all text that is written to a terminal. Line
// ends, tabs and the colours that ep itself writes stay.
//
// Records and histograms are written past it: they redraw lines, and
// runtime/events has already escaped their values.
type screen struct {
	file *os.File
	rest []byte // the start of a character or a colour whose end is still to come
}

// colours are the marks that lang/diag and runtime/hist write.
var colours = [][]byte{
	[]byte("\x1b[0m"), []byte("\x1b[1m"), []byte("\x1b[31m"), []byte("\x1b[32m"), []byte("\x1b[33m"),
	[]byte("\x1b[1;31m"), []byte("\x1b[1;33m"), []byte("\x1b[1;36m"),
}

// onScreen returns w, by way of a screen if it is a terminal. The returned function
// writes what is left.
func onScreen(w io.Writer) (io.Writer, func()) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return w, func() {} // a file gets every byte
	}
	s := &screen{file: f}
	return s, s.end
}

// past returns the writer behind a screen.
func past(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		s.end()
		return s.file
	}
	return w
}

// Write writes text, all but an unfinished end.
func (s *screen) Write(text []byte) (int, error) {
	var out []byte
	out, s.rest = escapeControls(append(s.rest, text...))
	if _, err := s.file.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// end writes what no more text has finished.
func (s *screen) end() {
	_, _ = s.file.WriteString(events.PlainLines(string(s.rest))) // nobody is left to be told
	s.rest = nil
}

// escapeControls returns text as a terminal may have it, and its end that more text
// could complete to a character or a colour.
func escapeControls(text []byte) (out, rest []byte) {
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\x1b')
		if n < 0 {
			n = len(text) - unfinished(text)
			return append(out, events.PlainLines(string(text[:n]))...), bytes.Clone(text[n:])
		}
		out = append(out, events.PlainLines(string(text[:n]))...)
		text = text[n:]
		mark, partial := colourAt(text)
		if partial {
			return out, bytes.Clone(text)
		}
		if mark == 0 {
			out, mark = append(out, `\x1b`...), 1
		} else {
			out = append(out, text[:mark]...)
		}
		text = text[mark:]
	}
	return out, nil
}

// colourAt returns the length of the colour that text begins with, 0 if there is
// none, and whether text ends within one.
func colourAt(text []byte) (length int, partial bool) {
	for _, c := range colours {
		if bytes.HasPrefix(text, c) {
			return len(c), false
		}
		partial = partial || bytes.HasPrefix(c, text)
	}
	return 0, partial
}

// unfinished returns how many bytes at the end of text start a character that is not
// complete.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if end := text[len(text)-n:]; utf8.RuneStart(end[0]) {
			if utf8.FullRune(end) {
				return 0
			}
			return n
		}
	}
	return 0
}
