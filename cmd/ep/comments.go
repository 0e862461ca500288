package main

import (
	"strings"

	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
)

// about returns what a script says of itself: the comment that it begins with,
// without the marks; "" if it begins otherwise, or if that comment is about its
// first statement.
func about(src *source.Source) string {
	n := 1
	if strings.HasPrefix(src.Line(n), "#!") {
		n++
	}
	first := n
	for isComment(src.Line(n)) {
		n++
	}
	if strings.TrimSpace(src.Line(n)) != "" {
		return ""
	}
	return uncommented(src, first, n)
}

// aboutLine returns the comment whose last line is just above line n.
func aboutLine(src *source.Source, n int) string {
	first := n
	for first > 1 && isComment(src.Line(first-1)) && !strings.HasPrefix(src.Line(first-1), "#!") {
		first--
	}
	return uncommented(src, first, n)
}

func isComment(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") }

// uncommented returns the text of the comment lines from first up to end.
func uncommented(src *source.Source, first, end int) string {
	var b strings.Builder
	for n := first; n < end; n++ {
		line := strings.TrimPrefix(strings.TrimSpace(src.Line(n)), "#")
		b.WriteString(strings.TrimPrefix(line, " ") + "\n")
	}
	return strings.TrimSpace(b.String())
}

// paramEntry is a param of a module, as `ep list -v` tells of it.
type paramEntry struct {
	Name  string `json:"name"`
	Type  string `json:"type,omitempty"`  // as it is written; "" if the value tells
	Value string `json:"value,omitempty"` // the default; "" if it has none
	Doc   string `json:"doc,omitempty"`
}

// paramsOf returns the params of a script, with the comments above them.
func paramsOf(src *source.Source) []paramEntry {
	tree, _ := syntax.Parse(src)
	var list []paramEntry
	for _, item := range tree.Items {
		p, ok := item.(*syntax.Param)
		if !ok {
			continue
		}
		e := paramEntry{Name: p.Name.Text(), Doc: aboutLine(src, src.Position(p.Span().Start).Line)}
		if p.Type != nil {
			e.Type = src.Slice(p.Type.Span())
		}
		if p.Value != nil {
			e.Value = src.Slice(p.Value.Span())
		}
		list = append(list, e)
	}
	return list
}

// String returns the param as a command line sets it: "--set min=1ms".
func (p *paramEntry) String() string {
	value := p.Value
	if value == "" {
		value = strings.ToUpper(p.Type)
	}
	return "--set " + p.Name + "=" + strings.Trim(value, `"`)
}
