package syntax

// follow says, for each statement and the clause that was read last, which may
// come next; "" stands for the statement's head. "{" is the block of fields.
// The grammar in tree.go decides; this table is for words about it, and for
// finding where parsing can go on.
var follow = map[string]map[string][]string{
	"event": {
		"":       {"from"},
		"from":   {"as", "where", "let", "then", "size", "having", "emit", "{"},
		"as":     {"where", "let", "then", "size", "having", "emit", "{"},
		"where":  {"let", "then", "size", "having", "emit", "{"},
		"let":    {"then", "size", "having", "emit", "{"},
		"then":   {"as", "where", "let", "by"},
		"by":     {"then", "size", "having", "emit", "{"},
		"size":   {"having", "emit", "{"},
		"having": {"emit", "{"},
		"emit":   {"per", "{"},
		"per":    {"{"},
	},
	"hist": {
		"":       {"paused", "from", "as", "where", "let", "by", "{", "sort", "size"},
		"paused": {"from"},
		"from":   {"as", "where", "let", "by", "{", "sort", "size"},
		"as":     {"where", "let", "by", "{", "sort", "size"},
		"where":  {"let", "by", "{", "sort", "size"},
		"let":    {"by", "{", "sort", "size"},
		"by":     {"{", "sort", "size"},
		"{":      {"sort", "size"},
		"sort":   {"size"},
	},
	"on": {
		"":      {"as", "where", "let", "times", "do"},
		"as":    {"where", "let", "times", "do"},
		"where": {"let", "times", "do"},
		"let":   {"times", "do"},
		"times": {"do"},
	},
	"trace": {
		"":       {"as", "where", "let", "{", "paused", "print"},
		"as":     {"where", "let", "{", "paused", "print"},
		"where":  {"let", "{", "paused", "print"},
		"let":    {"{", "paused", "print"},
		"{":      {"paused", "print"},
		"paused": {"print"},
	},
	"param":  {"": {":", "="}, ":": {"="}},
	"const":  {"": {":", "="}, ":": {"="}},
	"import": {"": {"as"}},
	"option": {},
}

// orders are the clauses of each statement in their order, as shown.
var orders = map[string]string{
	"event":  "from, then … by, size, having, emit, { fields }",
	"hist":   "from, by, { values }, sort by, size",
	"on":     "where, times, do",
	"trace":  "where, { fields }, paused, print",
	"param":  "param NAME: TYPE = VALUE",
	"const":  "const NAME = VALUE",
	"import": "import \"PATH\" as NAME",
	"option": "option NAME VALUE",
}

// ranks orders the clauses for "stands before".
var ranks = map[string][]string{
	"event": {"from", "as", "where", "let", "then", "by", "size", "having", "emit", "per", "{"},
	"hist":  {"paused", "from", "as", "where", "let", "by", "{", "sort", "size"},
	"on":    {"as", "where", "let", "times", "do"},
	"trace": {"as", "where", "let", "{", "paused", "print"},
}

// isClause reports whether some statement has the clause.
func isClause(s string) bool {
	return s != "{" && (indexOf(ranks["event"], s) >= 0 || indexOf(ranks["hist"], s) >= 0 ||
		indexOf(ranks["on"], s) >= 0 || indexOf(ranks["trace"], s) >= 0)
}

func indexOf(list []string, s string) int {
	for i, x := range list {
		if x == s {
			return i
		}
	}
	return -1
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
		switch w.text {
		case "size", "times", "sort", "print", "per", "paused":
			return !demands(p) && kindOf(p.text) == KindName
		}
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

// allowed returns the clauses that may begin at word i.
func (o *outline) allowed(i int) []string {
	last, then := o.before(i)
	list := follow[o.head][last.name]
	if o.head == "hist" && last.name == "" {
		list = list[2:] // a name before would have been seen
	}
	if then < 0 || last.name == "then" || last.name == "by" {
		return list
	}
	// In a `then` stage the keys come next.
	var out []string
	for _, c := range list {
		switch c {
		case "as", "where", "let":
			out = append(out, c)
		}
	}
	return append(out, "by")
}

// missing returns the clause that must come next at word i, "" if none must.
func (o *outline) missing(i int) string {
	last, then := o.before(i)
	switch {
	case o.head == "event" && last.name == "":
		return "from"
	case then >= 0 && last.name != "by":
		return "by"
	case o.head == "on" && last.name != "do":
		return "do"
	case o.head == "const" && last.name != "=":
		return "="
	case o.head == "hist" && last.name == "paused":
		return "from"
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

// inStage reports whether the clause belongs to one stage, and may stand in each.
func inStage(name string) bool {
	return name == "as" || name == "where" || name == "let" || name == "by"
}

// lateClause returns the clause before word i that should stand after name.
func (o *outline) lateClause(name string, i int) string {
	order := ranks[o.head]
	rank := indexOf(order, name)
	for _, c := range o.clauses {
		if c.at >= i {
			break
		}
		if rank >= 0 && indexOf(order, c.name) > rank && !inStage(c.name) {
			return c.name
		}
	}
	last, _ := o.before(i)
	return last.name
}
