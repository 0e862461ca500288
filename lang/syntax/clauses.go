package syntax

import (
	"slices"
	"strings"
)

// orderOf shows the clauses of a statement in their order, or its whole form if
// it has none that begin with a word.
func orderOf(head string) string {
	switch head {
	case "param", "const":
		return head + " NAME: TYPE = VALUE"
	case "import":
		return "import \"PATH\" as NAME"
	case "option":
		return "option NAME VALUE"
	}
	return strings.NewReplacer("{", "{ fields }", "sort", "sort by").Replace(strings.Join(clausesOf(head), ", "))
}

// clauseAt is a clause of a piece and where its first word is.
type clauseAt struct {
	name string
	at   int
}

// outline is what a piece shows without being parsed: its clauses, in order.
type outline struct {
	head    string
	words   []word
	clauses []clauseAt
}

// outlineOf finds the clauses of the statement: clause words where no bracket
// is open that do not stand for a name.
func outlineOf(head string, words []word) outline {
	o := outline{head: head, words: words}
	depth, prev := 0, -1
	for i := range words {
		w := &words[i]
		if w.kind == TokenInvalid {
			continue
		}
		if depth == 0 && (i > 0 || o.head == "") && o.isClause(i, prev) {
			o.clauses = append(o.clauses, clauseAt{w.text, i})
		}
		if w.kind == TokenOp {
			switch w.text {
			case "(", "[", "{":
				depth++
			case ")", "]":
				depth = max(depth-1, 0)
			case "}":
				depth = 0
			}
		}
		prev = i
	}
	return o
}

// isClause reports whether word i begins a clause, prev being the word before.
func (o *outline) isClause(i, prev int) bool {
	w, p := &o.words[i], &nothing
	if prev >= 0 {
		p = &o.words[prev]
	}
	switch w.kind {
	case TokenOp:
		switch w.text {
		case "{":
			return !(p.kind == TokenKeyword && p.is("in"))
		case ":":
			return o.head == "param" || o.head == "const"
		case "=":
			return (o.head == "param" || o.head == "const") && !p.is("=")
		}
		return false
	case TokenKeyword:
		return !(w.is("by") && p.is("sort")) && !(w.is("as") && o.head == "import") && isClause(w.text)
	case TokenIdent:
		return isClause(w.text) && !demands(p) && kindOf(p.text) == KindName
	}
	return false
}

// before returns the last clause that begins before word i, named "" if that is
// the head, and where the `then` is whose stage or keys it belongs to, or -1.
func (o *outline) before(i int) (last clauseAt, then int) {
	last, then = clauseAt{"", 0}, -1
	for _, c := range o.clauses {
		if c.at >= i {
			break
		}
		switch c.name {
		case "then":
			then = c.at
		default:
			if !inStage(c.name) {
				then = -1
			}
		}
		last = c
	}
	return last, then
}

// after returns the first word from i on that begins a clause, or the end.
func (o *outline) after(i int) int {
	for _, c := range o.clauses {
		if c.at >= i {
			return c.at
		}
	}
	return len(o.words)
}

// allowed returns the clauses that may begin behind the expectation's words.
func (o *outline) allowed(x expectation) []string {
	var list []string
	for _, c := range clausesOf(o.head) {
		if x.has(c) {
			list = append(list, c)
		}
	}
	return list
}

// missing returns the clause that must come next, "" if none must.
func (o *outline) missing(x expectation) string {
	name := strings.Trim(x.required, "'")
	if x.has(name) && (name == "=" || slices.Contains(clausesOf(o.head), name)) {
		return name
	}
	return ""
}

// given returns where clause name stands before word i, or -1. Clauses that may
// stand in each stage count from the last `then`.
func (o *outline) given(name string, i int) int {
	at := -1
	for _, c := range o.clauses {
		if c.at >= i {
			break
		}
		switch {
		case c.name == name:
			at = c.at
		case c.name == "then" && inStage(name):
			at = -1
		}
	}
	return at
}

// lateClause returns the clause before word i that should stand after name.
func (o *outline) lateClause(name string, i int) string {
	order := clausesOf(o.head)
	rank := slices.Index(order, name)
	for _, c := range o.clauses {
		if c.at >= i {
			break
		}
		if rank >= 0 && slices.Index(order, c.name) > rank && !inStage(c.name) {
			return c.name
		}
	}
	last, _ := o.before(i)
	return last.name
}
