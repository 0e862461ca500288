package format

import (
	"sort"
	"strings"

	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
)

// comment is one comment, without its line end.
type comment struct {
	text  string
	blank bool // an empty line stands before it
}

// word is a significant token with the comments around it.
type word struct {
	text  string
	start source.Pos
	lead  []comment // on lines of their own before it
	trail string    // on its line behind it; "" for none
	blank bool      // an empty line stands before it, behind its lead
	line  bool      // it begins a line in the text
	in    bool      // it is the operator 'in', and not a name

	role
}

// role is what the tree says of a word.
type role struct {
	tightBefore bool // no blank before it
	tightAfter  bool // no blank behind it
	operator    bool // a binary operator
	statement   bool // the first of a statement
	clause      int  // it begins a clause: 1, or 2 for a clause of a clause
	match       int  // of a bracket: the index of its partner; else -1
	block       bool // a brace around fields
	field       bool // the first of a field
	set         bool // a brace around a set
}

// words returns the significant tokens of a script and the comments behind the
// last.
func words(s *syntax.Script) (list []word, end []comment) {
	var lead []comment
	blank, line := false, true
	for _, t := range s.Tokens() {
		text := s.Source.Slice(t.Span)
		switch t.Kind {
		case syntax.TokenSpace:
			n := strings.Count(text, "\n")
			line = line || n > 0
			// A line end before the first word is an empty line, but not one to keep.
			blank = blank || n > 1 && (len(list) > 0 || len(lead) > 0)
		case syntax.TokenComment:
			text = strings.TrimRight(text, " \t\r\f\v")
			if !line && len(list) > 0 && len(lead) == 0 {
				list[len(list)-1].trail = text
				break
			}
			lead = append(lead, comment{text, blank})
			blank = false
		default:
			list = append(list, word{text: text, start: t.Span.Start, lead: lead, blank: blank, line: line, in: t.Kind == syntax.TokenKeyword && text == "in", role: role{match: -1}})
			lead, blank, line = nil, false, false
		}
	}
	return list, lead
}

// mark gives the words their roles.
type marker struct {
	words []word
}

func mark(s *syntax.Script, list []word) {
	m := &marker{list}
	m.brackets()
	for _, item := range s.Items {
		m.words[m.at(item)].statement = true
		m.clauses(item)
	}
	syntax.Walk(s, func(n syntax.Tree) bool {
		m.node(n)
		return true
	})
}

// brackets pairs the brackets and marks what blanks depend on the word alone.
func (m *marker) brackets() {
	var open []int
	for i := range m.words {
		w := &m.words[i]
		switch w.text {
		case "(", "[":
			w.tightAfter = true
			open = append(open, i)
		case "{":
			w.set = i > 0 && m.words[i-1].in
			w.block = !w.set
			open = append(open, i)
		case ")", "]", "}":
			w.tightBefore = w.text != "}"
			if len(open) > 0 {
				o := open[len(open)-1]
				open = open[:len(open)-1]
				w.match, m.words[o].match = o, i
				w.set, w.block = m.words[o].set, m.words[o].block
			}
		case ",", "?":
			w.tightBefore = true
		case ".", "->", "..", ":":
			w.tightBefore, w.tightAfter = true, true
		}
	}
}

// at returns the index of the first word of n.
func (m *marker) at(n syntax.Tree) int { return m.from(n.Span().Start) }

// after returns the index of the first word behind n.
func (m *marker) after(n syntax.Tree) int { return m.from(n.Span().End) }

func (m *marker) from(p source.Pos) int {
	return sort.Search(len(m.words), func(i int) bool { return m.words[i].start >= p })
}

// node marks the words of one node, not those of its parts.
func (m *marker) node(n syntax.Tree) {
	switch n := n.(type) {
	case *syntax.Unary:
		m.words[m.from(n.OpSpan.Start)].tightAfter = true
	case *syntax.Binary:
		m.words[m.from(n.OpSpan.Start)].operator = true
	case *syntax.Call:
		m.words[m.after(n.Func)].tightBefore = true
	case *syntax.Context:
		if n.Args != nil {
			m.words[m.at(n)+1].tightBefore = true
		}
	case *syntax.Index:
		m.words[m.after(n.X)].tightBefore = true
	case *syntax.Emit:
		m.words[m.after(n.On)].tightBefore = true
	case *syntax.Sig:
		m.words[m.at(n)].tightBefore = true
		m.colon(n.Result)
	case *syntax.Par:
		m.colon(n.Type)
	case *syntax.Field:
		m.words[m.at(n)].field = true
		m.colon(n.Type)
	case *syntax.Param:
		m.colon(n.Type)
	case *syntax.Const:
		m.colon(n.Type)
	case *syntax.PointerType:
		i := m.at(n)
		if n.User {
			i++
		}
		m.words[i].tightAfter = true
	case *syntax.ArrayType:
		m.words[m.after(n.Len)].tightAfter = true
	case *syntax.One:
		if n.Offset != nil {
			plus := &m.words[m.at(n.Offset)-1]
			plus.tightBefore, plus.tightAfter = true, true
		}
	}
}

// colon puts a blank between a colon and the type behind it.
func (m *marker) colon(t syntax.TypeExpr) {
	if t != nil {
		m.words[m.at(t)-1].tightAfter = false
	}
}

// clauses marks the first words of an item's clauses.
func (m *marker) clauses(item syntax.Item) {
	switch n := item.(type) {
	case *syntax.Event:
		m.clause(1, m.at(n.From)-1)
		m.stage(2, n.From)
		for _, t := range n.Then {
			m.clause(1, m.at(t))
			m.stage(2, t.Stage)
			m.clause(2, m.at(t.By[0])-1)
		}
		if n.Size != nil {
			m.clause(1, m.at(n.Size)-1)
		}
		if n.Having != nil {
			m.clause(1, m.at(n.Having)-1)
		}
		if n.Emit != nil {
			m.clause(1, m.at(n.Emit))
			if len(n.Emit.Per) > 0 {
				m.clause(2, m.at(n.Emit.Per[0])-1)
			}
		}
	case *syntax.Hist:
		if n.Name != nil {
			m.clause(1, m.at(n.Stage)-1)
		}
		m.stage(1, n.Stage)
		if len(n.By) > 0 {
			m.clause(1, m.at(n.By[0])-1)
		}
		if len(n.Sort) > 0 {
			m.clause(1, m.at(n.Sort[0])-2)
		}
		if n.Size != nil {
			m.clause(1, m.at(n.Size)-1)
		}
	case *syntax.On:
		m.stage(1, n.Stage)
		if n.Times != nil {
			m.clause(1, m.at(n.Times)-1)
		}
		m.clause(1, m.at(n.Do[0])-1)
	case *syntax.Trace:
		m.stage(1, n.Stage)
		end := m.after(n.Stage)
		if n.Fields != nil {
			end = m.after(n.Fields)
		}
		if n.Paused {
			m.clause(1, end)
		}
		if n.Print != nil {
			m.clause(1, m.at(n.Print)-1)
		}
	}
}

func (m *marker) clause(level, i int) { m.words[i].clause = level }

func (m *marker) stage(level int, s *syntax.Stage) {
	if s.Where != nil {
		m.clause(level, m.at(s.Where)-1)
	}
	if len(s.Lets) > 0 {
		m.clause(level, m.at(s.Lets[0])-1)
	}
}
