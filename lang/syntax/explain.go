package syntax

import (
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// Participle says at which token the grammar and the text part. What to say
// about it is found here, from the words around and the clauses before.

// explain returns what is wrong at word i of a statement (len(words) is its
// end), and which words to pass over so that the rest can be parsed: none if
// that would leave no statement.
func explain(head string, words []word, i int) (m *mistake, from, to int) {
	o := outlineOf(head, words)
	e := explainer{outline: o, i: i, got: nothing, prev: nothing}
	if i < len(words) {
		e.got = words[i]
	}
	for e.prevAt = i - 1; e.prevAt >= 0 && words[e.prevAt].kind == TokenInvalid; e.prevAt-- {
	}
	if e.prevAt >= 0 {
		e.prev = words[e.prevAt]
	}
	if head == "" {
		return notStatement(firstOf(words)), 0, 0
	}
	e.expectation = expect(words[:e.prevAt+1])
	if open := e.openBracket(); open >= 0 {
		m = e.inBrackets(open)
		if e.words[open].is("{") {
			return m, 0, 0 // what would be left is no block
		}
		from, to = e.clause()
		return m, from, to
	}
	if what := e.wanted(); what != "" {
		m = e.want(what)
		if names := e.namesAfterColon(); names != nil {
			m = colonAfterKind(e.got.span(), e.prev.text, names)
		} else if e.prev.kind == TokenString && e.prevAt > 0 && kindOf(e.words[e.prevAt-1].text) < KindUfunc {
			m = nameInQuotes(e.prev)
		}
		if from, to = e.clause(); m.d.Code == diag.ReservedWord && to == i {
			to = o.after(i + 1)
		}
		return m, from, to
	}
	return e.unexpected()
}

// firstOf returns the first word that the parser sees.
func firstOf(words []word) word {
	for _, w := range words {
		if w.kind != TokenInvalid {
			return w
		}
	}
	panic("internal error: a statement without words")
}

type explainer struct {
	outline
	expectation
	i      int
	got    word // nothing at the end
	prev   word
	prevAt int
}

// token makes a word a token again, for the messages.
func (w *word) token() *lexer.Token {
	return &lexer.Token{
		Type: lexer.TokenType(w.kind), Value: w.text,
		Pos: lexer.Position{Offset: int(w.start), Line: int(w.line)},
	}
}

// want says that something is missing before word i.
func (e *explainer) want(what string) *mistake {
	if e.i == len(e.words) {
		eof := lexer.EOFToken(lexer.Position{Offset: int(e.prev.end)})
		return wantAfter(what, e.prev.token(), &eof)
	}
	if e.prev.is(".") && e.got.is("*") {
		return glob(e.got.span())
	}
	if e.got.kind == TokenKeyword && wantsName(what) && !e.followsName(e.got.text) && e.got.line == e.prev.line {
		return reserved(e.got)
	}
	return wantAfter(what, e.prev.token(), e.got.token())
}

// namesAfterColon returns what follows a colon that stands directly behind the
// word that begins a source, nil if none does.
func (e *explainer) namesAfterColon() []string {
	if !e.got.is(":") || kindOf(e.prev.text) == KindName || kindOf(e.prev.text) >= KindUfunc {
		return nil
	}
	var names []string
	for j := e.i; j+1 < len(e.words) && e.words[j].is(":") && e.words[j+1].kind == TokenIdent; j += 2 {
		names = append(names, e.words[j+1].text)
	}
	return names
}

// followsName reports whether the word could come next if a name were there.
func (e *explainer) followsName(word string) bool {
	name := e.prev
	name.kind, name.text, name.start = TokenIdent, "x", e.prev.end
	return expect(append(e.words[:e.prevAt+1:e.prevAt+1], name)).has(word)
}

// wantsName reports whether what is expected is or begins with a name.
func wantsName(what string) bool {
	return what[0] != '\'' && !strings.HasSuffix(what, "in quotes") && what != nouns["Number"] && what != nouns["TypeExpr"] && what != nouns["Action"]
}

// openBracket returns the innermost bracket that is open before word i, -1 if
// none is.
func (e *explainer) openBracket() int {
	var open []int
	for j := range e.words[:e.i] {
		w := &e.words[j]
		if w.kind != TokenOp {
			continue
		}
		switch top := len(open) - 1; w.text {
		case "(", "[", "{":
			open = append(open, j)
		case ")", "]":
			if top >= 0 && !e.words[open[top]].is("{") {
				open = open[:top]
			}
		case "}":
			for top > 0 && !e.words[open[top]].is("{") {
				top--
			}
			open = open[:max(top, 0)]
		}
	}
	if len(open) == 0 {
		return -1
	}
	return open[len(open)-1]
}

// inBrackets says what is wrong within parentheses of the grammar (a signature,
// a param's name, an emit) or that the fields' brace is not closed.
func (e *explainer) inBrackets(open int) *mistake {
	bracket, what := e.words[open], e.required
	if bracket.is("{") {
		return e.unclosed(bracket, "}", false)
	}
	if e.prevAt == open && len(e.wants) > 0 {
		what = e.wants[0]
	}
	if what == "" || what[0] == '\'' {
		return e.unclosed(bracket, ")", e.has(","))
	}
	return e.want(what)
}

func (e *explainer) unclosed(open word, closer string, list bool) *mistake {
	got := lexer.EOFToken(lexer.Position{Offset: int(e.prev.end)})
	if e.i < len(e.words) {
		got = *e.got.token()
	}
	prev := e.prev.token()
	o := open.token()
	if e.prev.start == open.start {
		prev = o
	}
	return unclosedBracket(o, closer, list, prev, &got)
}

// wanted returns what must come at word i, "" if nothing must or if it is a
// clause behind a whole one.
func (e *explainer) wanted() string {
	if last, _ := e.before(e.i); last.at != e.prevAt && e.missing(e.expectation) != "" {
		return ""
	}
	return e.required
}

// beginsSource reports whether the word before i is the first of a source.
func (e *explainer) beginsSource() bool {
	return e.prevAt > 0 && strings.HasPrefix(expect(e.words[:e.prevAt]).required, nouns["Source"])
}

// clause returns the words to pass over if the clause before word i is wrong.
func (e *explainer) clause() (from, to int) {
	last, then := e.before(e.i)
	if then >= 0 {
		to = len(e.words)
		for _, c := range e.clauses {
			if c.at >= e.i && !inStage(c.name) {
				to = c.at
				break
			}
		}
		return then, to
	}
	switch last.name {
	case "", "from", "do", "=":
		return 0, 0
	}
	to = e.after(e.i)
	if last.name == "emit" && to < len(e.words) && e.words[to].is("per") {
		to = e.after(to + 1)
	}
	return last.at, to
}

// found is what is wrong, and which words to pass over.
type found struct {
	m        *mistake
	from, to int
}

// unexpected says what is wrong with word i behind a whole clause. The first that
// has something to say about it says it.
func (e *explainer) unexpected() (m *mistake, from, to int) {
	last, _ := e.before(e.i)
	missing := e.missing(e.expectation)
	if e.i >= len(e.words) {
		if missing == "" {
			return e.want("more"), 0, 0
		}
		return e.want("'" + missing + "'"), 0, 0
	}
	here := found{from: e.i, to: e.after(e.i + 1)}
	if e.got.line > e.prev.line && e.given("{", e.i) >= 0 && e.after(e.i) > e.i {
		here.to = len(e.words) // text behind a whole statement, likely one itself
	}
	for _, say := range []func(here found, last, missing string) found{
		e.strayMark, e.strayOperator, e.habit, e.absentClause, e.misplacedClause, e.strayWord,
	} {
		if f := say(here, last.name, missing); f.m != nil {
			return f.m, f.from, f.to
		}
	}
	return cannotStand(e.got, e.allowed(e.expectation), e.head), here.from, here.to
}

// strayMark is about marks that belong to no clause.
func (e *explainer) strayMark(here found, _, _ string) found {
	got, next := e.got, nothing
	if e.i+1 < len(e.words) {
		next = e.words[e.i+1]
	}
	switch {
	case got.kind == TokenOp && (got.is(")") || got.is("]") || got.is("}")):
		here.m = closesNothing(got.span(), got.text)
	case got.is(".") && e.prev.is("?") && next.end > 0:
		return found{questionBeforeEnd(source.Span{Start: e.prev.start, End: next.end}, next.text), here.from, e.after(e.i + 2)}
	case e.adjacentMark():
		m, from := e.unquoted()
		return found{m, from, e.skipRun()}
	case got.is(":") && e.prev.kind == TokenIdent && next.kind == TokenIdent && e.head != "option":
		return found{notJoined(source.Span{Start: e.prev.start, End: next.end}, got.span(), e.prev.text, next.text), here.from, e.i + 2}
	}
	return here
}

// strayOperator is about operators of other languages, and '='.
func (e *explainer) strayOperator(here found, last, missing string) found {
	got := e.got
	switch {
	case got.is("=") && (last == "by" && e.head == "event" || last == "where" || last == "having"),
		got.kind == TokenIdent && wrongOperators[got.text] != "":
		here.m = wrongOperator(got.span(), got.text)
	case got.is(":=") && (missing == "=" || e.head == "param"):
		return found{m: colonEqualsOperator(got.span())}
	case got.is("=") && e.head == "option":
		here.m = assignedOption(got.span())
	}
	return here
}

// habit is about what other languages have or place otherwise.
func (e *explainer) habit(here found, last, missing string) found {
	switch got := e.got; {
	case last == "print" && e.head == "trace" && got.kind == TokenIdent && !got.is("paused"):
		here.m = valuesOfPrint(got)
	case misplacedWords[e.head+" after "+last+": "+got.text].message != "":
		here.m = misplacedWord(got, e.head+" after "+last+": "+got.text)
	case misplacedWords[e.head+": "+got.text].message != "":
		here.m = misplacedWord(got, e.head+": "+got.text)
	case misplacedWords[got.text].message != "" && missing == "":
		here.m = misplacedWord(got, got.text)
	case got.is("{") && !slices.Contains(clausesOf(e.head), "{") && e.head != "const":
		return found{noFields(got, e.head), here.from, e.skipBraces()}
	}
	return here
}

// absentClause is about a clause that must come here, and misspelt ones.
func (e *explainer) absentClause(here found, _, missing string) found {
	got, allowed := e.got, e.allowed(e.expectation)
	near, ok := "", false
	if got.kind == TokenIdent {
		near, ok = diag.Near(got.text, allowed)
	}
	switch {
	case ok && missing == "":
		here.m = misspelt(diag.MisplacedClause, got, "clause", near)
	case ok && near == missing:
		return found{m: misspelt(diag.MisplacedClause, got, "clause", near)}
	case missing == "do" && foreignClauses[got.text] == "where" && slices.Contains(allowed, "where"):
		here.m = misspelt(diag.MisplacedClause, got, "clause", "where")
	case missing != "" && (e.head != "on" || !slices.Contains(clausesOf(e.head), got.text)):
		here.m = e.want("'" + missing + "'")
		if missing == "by" {
			wantKeys(here.m)
		}
		here.from, here.to = e.clause()
	}
	return here
}

// misplacedClause is about clauses of the language in a wrong place.
func (e *explainer) misplacedClause(here found, _, _ string) found {
	got := e.got
	if got.is("{") {
		here.to = e.skipBraces()
	}
	switch {
	case got.kind == TokenOp && !got.is("{"):
	case slices.Contains(clausesOf(e.head), got.text):
		if at := e.given(got.text, e.i); at >= 0 {
			here.m = clauseTwice(got, e.words[at].span())
		} else if late := e.lateClause(got.text, e.i); late != "" && late != got.text {
			here.m = clauseOrder(got, late, orderOf(e.head))
		}
	case isClause(got.text):
		here.m = noSuchClause(e.head, got, orderOf(e.head))
	}
	return here
}

// strayWord is about words of other languages and misspelt kinds of source.
func (e *explainer) strayWord(here found, _, _ string) found {
	form, other := foreignKinds[e.prev.text], foreignClauses[e.got.text]
	near, ok := diag.Near(e.prev.text, kindWords[1:])
	switch {
	case form != "" && e.beginsSource():
		here.m = foreignKind(e.prev, form)
	case other != "" && slices.Contains(e.allowed(e.expectation), other):
		if e.i+1 < len(e.words) && e.words[e.i+1].is("by") { // order by, group by
			here.to = e.after(e.i + 2)
		}
		here.m = misspelt(diag.MisplacedClause, e.got, "clause", other)
	case ok && e.prev.kind == TokenIdent && e.got.kind == TokenIdent && e.beginsSource():
		here.m = misspelt(diag.Syntax, e.prev, "kind of source", near)
	}
	return here
}

// adjacentMark reports whether word i stands directly behind a name, as in
// `my-event` and `foo.isra.0`.
func (e *explainer) adjacentMark() bool {
	if e.prev.kind != TokenIdent && e.prev.kind != TokenNumber || e.prev.end != e.got.start {
		return false
	}
	return e.got.is("-") || e.got.is(".") || e.got.is("*") || e.got.is("/") || e.got.kind == TokenNumber
}

func marksRun(w *word) bool {
	switch w.kind {
	case TokenIdent, TokenKeyword, TokenNumber:
		return w.text[0] != '`'
	}
	return w.is("-") || w.is(".") || w.is("*") || w.is("/")
}

// unquoted says that the unblanked words around word i want backticks, and
// returns the word after their first name. The group of an event stays outside.
func (e *explainer) unquoted() (m *mistake, from int) {
	lo, hi := e.prevAt, e.skipRun()
	for lo > 0 && e.words[lo-1].end == e.words[lo].start && marksRun(&e.words[lo-1]) {
		lo--
	}
	from = lo + 1
	inGroup := lo == 0 || kindOf(e.words[lo-1].text) == KindName && !e.words[lo-1].is(":")
	if inGroup && e.words[lo+1].is(".") && lo+2 < hi {
		lo += 2
	}
	text := ""
	for j := lo; j < hi; j++ {
		text += e.words[j].text
	}
	sp := source.Span{Start: e.words[lo].start, End: e.words[hi-1].end}
	if hi-lo == 3 && e.words[lo+1].is("/") && inGroup {
		return notJoined(sp, sp, e.words[lo].text, e.words[lo+2].text), from
	}
	return nameWithMarks(sp, text), from
}

func (e *explainer) skipRun() int {
	hi := e.i + 1
	for hi < len(e.words) && e.words[hi].start == e.words[hi-1].end && marksRun(&e.words[hi]) {
		hi++
	}
	return hi
}

// skipBraces returns the word after the block that begins at word i.
func (e *explainer) skipBraces() int {
	depth := 0
	for j := e.i; j < len(e.words); j++ {
		switch {
		case e.words[j].kind != TokenOp:
		case e.words[j].is("{"):
			depth++
		case e.words[j].is("}"):
			if depth--; depth == 0 {
				return j + 1
			}
		}
	}
	return len(e.words)
}

// kindOf returns the kind of source that begins with the word, KindName if none
// does.
func kindOf(s string) Kind { return Kind(max(slices.Index(kindWords[1:], s)+1, 0)) }
