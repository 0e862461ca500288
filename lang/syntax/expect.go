package syntax

import (
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2/lexer"
)

// The grammar is said once, in the tags of tree.go. zgrammar.go holds what
// participle prints of it, as data; what messages and the recovery know of
// clauses, their order and what may follow comes from there.

// production is a rule of the grammar: alternatives, each a sequence.
type production struct {
	name string
	alts [][]term
}

// term is one of a literal, a token's kind, the name of a production, and a group.
type term struct {
	literal, token, name string
	group                [][]term
	look                 byte // '=' or '!' if the group only looks ahead
	repeat               byte // '?', '*' or '+'
}

// rule returns the alternatives of a production, nil for one parsed by hand.
func rule(name string) [][]term {
	for i := range grammar {
		if grammar[i].name == name {
			return grammar[i].alts
		}
	}
	return nil
}

// ruleOf returns the production whose first word is the statement's head.
func ruleOf(head string) [][]term {
	for _, alt := range rule("Item") {
		if alts := rule(alt[0].name); alts[0][0].literal == head {
			return alts
		}
	}
	return nil
}

// heads returns the words that statements begin with.
var heads = sync.OnceValue(func() []string {
	var list []string
	for _, alt := range rule("Item") {
		list = append(list, rule(alt[0].name)[0][0].literal)
	}
	return list
})

// clausesOf returns the words that begin the clauses of a statement, in their
// order; "{" stands for the fields.
func clausesOf(head string) []string {
	var list []string
	for _, alt := range ruleOf(head) {
		list = clausesIn(list, alt[1:])
	}
	return list
}

func clausesIn(list []string, seq []term) []string {
	for i, t := range seq {
		behindWord := i > 0 && seq[i-1].literal != "" && seq[i-1].repeat == 0
		switch {
		case t.look != 0:
			continue
		case t.literal != "" && !behindWord && (isLetter(t.literal[0]) || strings.Contains(":=", t.literal)) && !slices.Contains(list, t.literal):
			list = append(list, t.literal)
		case t.name == "Stage" || t.name == "Then" || t.name == "Emit":
			list = clausesIn(list, rule(t.name)[0])
		case t.name == "Fields":
			list = append(list, "{")
		}
		for _, alt := range t.group {
			list = clausesIn(list, alt)
		}
	}
	return list
}

// clauseSet has the words that begin a clause of any statement with sources.
var clauseSet = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, head := range heads() {
		for _, c := range clausesOf(head) {
			set[c] = isLetter(c[0])
		}
	}
	return set
})

// isClause reports whether some statement has the clause, other than fields.
func isClause(s string) bool { return clauseSet()[s] }

// stageClauses are the clauses that each stage may have.
var stageClauses = sync.OnceValue(func() []string { return append(clausesIn(nil, rule("Stage")[0]), "by") })

// inStage reports whether the clause belongs to one stage, and may be in each.
func inStage(name string) bool { return slices.Contains(stageClauses(), name) }

// expectation is what the grammar takes behind some words.
type expectation struct {
	wants    []string // in the grammar's order: 'words' quoted, others in nouns
	required string   // the one that must come, "" if the statement may end
}

// has reports whether the literal is expected.
func (x expectation) has(literal string) bool { return slices.Contains(x.wants, "'"+literal+"'") }

// expect returns what the grammar takes behind words, which begin a statement.
func expect(words []word) expectation {
	m := &matcher{lex: upgrade(words)}
	if m.production("Item") && m.lex.Peek().EOF() {
		m.required = ""
	}
	return m.expectation
}

// matcher follows the grammar through the words. What it looks for at their end
// is what is expected there.
type matcher struct {
	expectation
	lex  *lexer.PeekingLexer
	open []begun
	mute int  // lookahead groups around
	lost bool // an alternative was begun that does not match: there is no way back
}

// begun is a production that is being matched, and where it began.
type begun struct {
	name string
	at   int
}

func (m *matcher) production(name string) bool {
	m.open = append(m.open, begun{name, m.lex.Cursor()})
	defer func() { m.open = m.open[:len(m.open)-1] }()
	if alts := rule(name); alts != nil {
		return m.alternatives(alts)
	}
	if m.lex.Peek().EOF() {
		return m.miss("")
	}
	var err error
	switch name {
	case "Expr":
		_, err = parseExpr(m.lex)
	case "TypeExpr":
		_, err = parseType(m.lex)
	case "Field":
		err = new(Field).Parse(m.lex)
	}
	return err == nil
}

func (m *matcher) alternatives(alts [][]term) bool {
	at := m.lex.MakeCheckpoint()
	for _, seq := range alts {
		if m.sequence(seq) {
			return true
		}
		if m.lost = m.lost || m.lex.Cursor() != at.Cursor(); m.lost {
			break
		}
	}
	return false
}

func (m *matcher) sequence(seq []term) bool {
	for i := range seq {
		if !m.term(&seq[i]) {
			return false
		}
	}
	return true
}

func (m *matcher) term(t *term) bool {
	at := m.lex.MakeCheckpoint()
	switch {
	case t.look != 0:
		m.mute++
		ok := m.alternatives(t.group)
		m.mute--
		m.lost = false
		m.lex.LoadCheckpoint(at)
		return ok == (t.look == '=')
	case t.repeat == 0:
		return m.once(t)
	}
	n := 0
	for n == 0 || t.repeat != '?' {
		if !m.once(t) {
			break
		}
		n++
	}
	return !m.lost && (n > 0 || t.repeat != '+')
}

func (m *matcher) once(t *term) bool {
	next := m.lex.Peek()
	switch {
	case t.name != "":
		return m.production(t.name)
	case t.group != nil:
		return m.alternatives(t.group)
	case next.EOF():
		return m.miss(t.literal)
	case t.literal != "":
		if next.Value != t.literal || keywords[t.literal] != (next.Type == lexer.TokenType(TokenKeyword)) {
			return false
		}
	case next.Type != tokenTypes[t.token]:
		return false
	}
	m.lex.Next()
	return true
}

// miss notes that the literal, or else what the outermost production that
// begins here stands for, is expected at the end. It returns false.
func (m *matcher) miss(literal string) bool {
	if m.mute > 0 {
		return false
	}
	rule, what := m.open[len(m.open)-1].name, "'"+literal+"'"
	if noun := nouns[rule+" "+literal]; noun != "" {
		what = noun
	}
	for _, b := range m.open[1:] { // the first is Item
		if b.at == m.lex.Cursor() {
			rule, what = b.name, nouns[b.name]
			break
		}
	}
	if end := m.lex.RawCursor(); end > 0 {
		if noun := nouns[m.lex.Range(end-1, end)[0].Value+" "+rule]; noun != "" {
			what = noun
		}
	}
	if !slices.Contains(m.wants, what) {
		m.wants = append(m.wants, what)
	}
	m.required = what
	return false
}

// nouns are what messages call the productions: in general, and behind a word.
var nouns = map[string]string{
	"QName": "a name", "Ident": "a name", "Stage": "a source", "Source": "a source", "Alt": "a source", "One": "a source",
	"Func": "a function's name", "Path": "the file's path in quotes", "String": "a string in quotes", "Number": "a number",
	"Sig": "a signature", "Par": "a parameter", "Let": "a name", "Then": "'then'", "Key": "a key", "Emit": "'emit'",
	"Fields": "'{'", "Field": "a field", "SortKey": "a name", "Action": "an action", "Expr": "an expression", "TypeExpr": "a type",
	"hist Stage": "a source or a name", "( Ident": "a param's name", ": Ident": "a function's name",
	"on Ident": "'max' or 'change'", "import String": "the module's path in quotes", "One :": "':' and a function's name",
	"ufunc Func": "the file's path in quotes", "uprobe Func": "the file's path in quotes", "usdt Func": "the file's path in quotes",
}

// tokenTypes are the kinds of token by their name in the printed grammar.
var tokenTypes = map[string]lexer.TokenType{
	"ident": lexer.TokenType(TokenIdent), "number": lexer.TokenType(TokenNumber),
	"string": lexer.TokenType(TokenString), "newline": typeNewline,
}
