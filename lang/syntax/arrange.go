package syntax

import (
	"maps"
	"slices"
	"strings"

	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// Between scanner and parser stands one pass over the significant tokens, with
// a stack of open brackets. It decides what a token alone cannot tell:
//
//   - where a statement begins, so that each is parsed by itself and a mistake
//     in one costs no other;
//   - which line ends in a block of fields separate two fields;
//   - which reserved words are plain names, by their place;
//   - the mistakes of single tokens, "100 us" and ";".
//
// A statement begins at a whole head only: its word first on a line and a name
// behind it, in brackets or not; or its word alone where no bracket is open.
// So an unclosed bracket swallows no statement, and a field named 'event' is a
// field.

// word is a significant token as the statement parser sees it.
type word struct {
	kind  TokenKind
	text  string
	start source.Pos
	end   source.Pos
	line  int32 // from 1
	sep   bool  // a line end that separates fields stands before it
}

func (w *word) span() source.Span { return source.Span{Start: w.start, End: w.end} }

// is reports whether w is the operator, keyword or plain word text.
func (w *word) is(text string) bool { return w.text == text }

// piece is the words of one statement. Head is the statement's word, "" for
// text that is no statement.
type piece struct {
	head  string
	words []word
}

// bracket is what an open bracket is.
type bracket byte

const (
	paren  bracket = '(' // also [
	set    bracket = 's' // the braces after `in`
	fields bracket = '{'
)

func isHead(s string) bool { return keywords[s] && slices.Contains(heads(), s) }

// arranger is the state of the pass.
type arranger struct {
	text   string
	tokens []Token
	words  []word
	index  []int32 // of each word's token
	open   []bracket
	errs   *mistakes
	starts []int // indexes of the words that begin a statement
	last   int   // the last word placed that the parser sees, -1 before the first
}

// arrange cuts the significant tokens into statements, and text that is none
// but begins a line like one. It sets the kind of
// those tokens whose kind depends on their place.
func arrange(src *source.Source, tokens []Token, errs *mistakes) []piece {
	a := &arranger{text: src.Text(), tokens: tokens, errs: errs, last: -1}
	a.collect()
	for i := range a.words {
		a.word(i)
		if a.words[i].kind != TokenInvalid {
			a.last = i
		}
	}
	return a.pieces()
}

// collect makes the words and counts their lines.
func (a *arranger) collect() {
	a.words = make([]word, 0, len(a.tokens)/2+1)
	a.index = make([]int32, 0, len(a.tokens)/2+1)
	line := int32(1)
	for i, t := range a.tokens {
		s := a.text[t.Span.Start:t.Span.End]
		kind := t.Kind
		if kind == TokenInvalid && s == ";" {
			kind = TokenOp
		}
		if kind.Significant() {
			a.words = append(a.words, word{kind: kind, text: s, start: t.Span.Start, end: t.Span.End, line: line})
			a.index = append(a.index, int32(i))
			continue
		}
		line += int32(strings.Count(s, "\n"))
	}
}

func (a *arranger) setKind(i int, k TokenKind) {
	a.words[i].kind = k
	a.tokens[a.index[i]].Kind = k
}

// nothing stands before the first word and after the last.
var nothing = word{kind: TokenSpace}

func (a *arranger) at(i int) *word {
	if i < 0 || i >= len(a.words) {
		return &nothing
	}
	return &a.words[i]
}

func (a *arranger) innermost() bracket {
	if len(a.open) == 0 {
		return 0
	}
	return a.open[len(a.open)-1]
}

// word places word i, given all before it.
func (a *arranger) word(i int) {
	w, prev := a.at(i), a.at(a.last)
	newLine := i > 0 && w.line > prev.line
	if a.beginsStatement(i, newLine) {
		a.open = a.open[:0]
		a.starts = append(a.starts, i)
		return
	}
	if newLine && a.innermost() != fields && a.inFields() && a.beginsField(i) {
		a.dropTo(fields)
		w.sep = true
	}
	if newLine && a.innermost() == fields && !prev.is("{") && !goesOn(prev) && !w.is("}") {
		w.sep = true
	}
	switch w.kind {
	case TokenKeyword:
		if a.isName(i) {
			a.setKind(i, TokenIdent)
		}
	case TokenIdent:
		if prev.kind == TokenNumber && prev.line == w.line && isUnit(w.text) && endsInDigit(prev.text) {
			a.errs.add(blankUnit(source.Span{Start: prev.start, End: w.end}, prev.text, w.text))
			a.setKind(i, TokenInvalid)
		}
	case TokenOp:
		a.bracket(i)
	}
}

func isUnit(s string) bool { return units[s] != 0 || nearUnits[strings.ToLower(s)] != "" }

func endsInDigit(s string) bool {
	return isDigit(s[len(s)-1]) || strings.HasPrefix(s, "0x")
}

// bracket keeps the stack for the operator word i. A closing brace closes what
// is open within its braces.
func (a *arranger) bracket(i int) {
	w := a.at(i)
	switch w.text {
	case "(", "[":
		a.open = append(a.open, paren)
	case "{":
		b := fields
		if p := a.at(a.last); p.kind == TokenKeyword && p.is("in") {
			b = set
		}
		a.open = append(a.open, b)
	case ")", "]":
		if a.innermost() == paren {
			a.open = a.open[:len(a.open)-1]
		}
	case "}":
		for len(a.open) > 0 && a.innermost() == paren {
			a.open = a.open[:len(a.open)-1]
		}
		if len(a.open) > 0 {
			a.open = a.open[:len(a.open)-1]
		}
	case ";":
		// Between fields it was meant as the separator that it is not.
		if a.innermost() == fields {
			w.text = ","
			return
		}
		w.kind = TokenInvalid
	}
}

func (a *arranger) inFields() bool {
	for _, b := range a.open {
		if b == fields {
			return true
		}
	}
	return false
}

// dropTo forgets the brackets within the innermost one of kind b.
func (a *arranger) dropTo(b bracket) {
	for a.innermost() != b {
		a.open = a.open[:len(a.open)-1]
	}
}

// beginsField reports whether word i starts `name =` or `name:`, which stands
// in no bracket within a field: one was left open.
func (a *arranger) beginsField(i int) bool {
	w, next := a.at(i), a.at(i+1)
	return (w.kind == TokenIdent || w.kind == TokenKeyword) && (next.is("=") || next.is(":")) && next.line == w.line
}

// isName reports whether the reserved word i is a plain name in its place.
func (a *arranger) isName(i int) bool {
	prev := a.at(a.last)
	switch {
	case prev.is(".") || prev.is("->"):
		return prev.end == a.at(i).start
	case a.innermost() == paren:
		return prev.is("(") || prev.is(",")
	case a.innermost() == fields && (prev.is("{") || prev.is(",") || a.at(i).sep):
		return true
	case a.at(i+1).is("=") && len(a.open) == 0:
		return prev.is("by") || prev.is(",") // a key's name
	}
	return a.stageName(i)
}

// stageName reports whether the reserved word i is meant as the name of a stage:
// after `as`, which is said to be wrong, or before a dot.
func (a *arranger) stageName(i int) bool {
	w, prev, next := a.at(i), a.at(a.last), a.at(i+1)
	if (next.is(".") || next.is("->")) && next.start == w.end && a.at(i+2).start == next.end {
		return true
	}
	if !prev.is("as") || prev.line != w.line {
		return false
	}
	switch w.text {
	case "on", "in", "from", "event", "hist", "trace", "param", "const":
		a.errs.add(reserved(*w))
		return true
	}
	return false
}

// beginsStatement reports whether word i is a statement's first. A misspelt
// word that stands where only a statement can is put right, with an error.
func (a *arranger) beginsStatement(i int, newLine bool) bool {
	w, prev, next := a.at(i), a.at(a.last), a.at(i+1)
	named := next.line == w.line && (next.kind == TokenIdent || next.kind == TokenString)
	first := i == 0 || newLine
	switch {
	case w.kind == TokenKeyword && isHead(w.text):
		switch {
		case prev.is(".") || prev.is("->"):
			return false
		case w.is("on") && prev.is("emit"):
			return false
		case w.is("on") && !first && !prev.is("as") && a.wantsKeys(i):
			a.errs.add(onForBy(*w))
			w.text = "by"
			return false
		case first && (named || len(a.open) == 0):
			return true
		}
		return len(a.open) == 0 && named && !demands(prev)
	case w.kind == TokenIdent && first && len(a.open) == 0 && !demands(prev) && !hasMeaning(w.text):
		head, ok := diag.Near(w.text, heads())
		if !ok || !named {
			return a.foreignStatement(i)
		}
		a.errs.add(misspelt(diag.UnknownStatement, *w, "statement", head))
		a.words[i].kind, a.words[i].text = TokenKeyword, head
		return true
	}
	return false
}

// wantsKeys reports whether word i stands in a stage of a join that has no keys
// yet.
func (a *arranger) wantsKeys(i int) bool {
	for j := i - 1; j >= 0 && len(a.starts) > 0 && j > a.starts[len(a.starts)-1]; j-- {
		if w := a.at(j); w.kind == TokenKeyword && (w.is("then") || w.is("by")) {
			return w.is("then")
		}
	}
	return false
}

// foreignStatement reports whether word i, which no clause begins with, stands
// where statements begin: in the first column.
func (a *arranger) foreignStatement(i int) bool {
	w := a.at(i)
	if i == 0 || a.text[w.start-1] != '\n' || foreignClauses[w.text] != "" || wrongOperators[w.text] != "" {
		return false
	}
	_, isClause := diag.Near(w.text, slices.Collect(maps.Keys(clauseSet())))
	return !isClause
}

// pieces returns the statements; a piece has no head if its words are none.
func (a *arranger) pieces() []piece {
	var out []piece
	from, head := 0, ""
	end := func(to int) {
		for from < to && a.words[from].kind == TokenInvalid {
			from++
		}
		if to > from {
			out = append(out, piece{head, a.words[from:to:to]})
		}
	}
	for _, i := range a.starts {
		end(i)
		from, head = i, ""
		if isHead(a.words[i].text) {
			head = a.words[i].text
		}
	}
	end(len(a.words))
	return out
}

// goesOn reports whether a line that ends in w goes on with the next.
func goesOn(w *word) bool {
	switch w.kind {
	case TokenKeyword:
		return w.is("as") || w.is("in")
	case TokenOp:
		switch w.text {
		case ")", "]", "}", "=", ":", "?":
			return false
		}
		return true
	}
	return false
}

// demands reports whether something must follow w in the same statement.
func demands(w *word) bool {
	switch w.kind {
	case TokenKeyword:
		return true
	case TokenOp:
		switch w.text {
		case ")", "]", "}", "?":
			return false
		}
		return true
	}
	return false
}

// hasMeaning reports whether a word that is not reserved may begin a line within a
// statement: a clause's, an action's, or one of a source's parts.
func hasMeaning(s string) bool {
	switch s {
	case "desc", "max", "change", "enter", "exit":
		return true
	}
	return isClause(s) || isVerb(s)
}
