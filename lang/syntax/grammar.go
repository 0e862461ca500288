package syntax

import (
	"sync"

	"fmt"
	"io"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/eptrace/ep/lang/source"
)

// The grammar is the tree: the `parser` tags of tree.go and expr.go. These
// rules keep it exact about where a mistake is:
//
//   - Lookahead is 0 and every alternative is left-factored: with more, an
//     optional part that went wrong is taken for absent, and the error is told
//     at its first token.
//   - Expressions and types are parsed by hand (parse_expr.go, parse_type.go),
//     fields too (parse_field.go), because they limit nesting and recover.
//   - Reserved words say `:Keyword`. The other words are plain identifiers.
//   - No alternative may match nothing.

// statement wraps an Item: participle's root must be a struct.
type statement struct {
	Item Item `parser:"@@"`
}

// Token types of participle. Those of our kinds are the kinds themselves.
const (
	typeNewline = lexer.TokenType(64 + iota) // a line end that separates fields
)

// The parsers are built when the first text is parsed: a program that parses none
// does not wait for them. They are immutable and may be used by several
// goroutines.
var (
	statementParser = sync.OnceValue(func() *participle.Parser[statement] {
		return participle.MustBuild[statement](options...)
	})
	fieldsParser = sync.OnceValue(func() *participle.Parser[Fields] {
		return participle.MustBuild[Fields](options...)
	})
)

var options = []participle.Option{
	participle.Lexer(definition{}),
	participle.Elide("Space", "Comment", "Invalid"),
	participle.UseLookahead(0),
	participle.Union[Item](&Event{}, &Hist{}, &On{}, &Trace{}, &Param{}, &Const{}, &Import{}, &Option{}),
	participle.ParseTypeWith(parseExpr),
	participle.ParseTypeWith(parseType),
}

// elided are the token types that the grammar does not see.
var elided = []lexer.TokenType{
	lexer.TokenType(TokenSpace), lexer.TokenType(TokenComment), lexer.TokenType(TokenInvalid),
}

// definition tells participle the names of the token types. The tokens
// themselves come from scan and arrange.
type definition struct{}

// Symbols implements lexer.Definition.
func (definition) Symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{
		"EOF":     lexer.EOF,
		"Space":   lexer.TokenType(TokenSpace),
		"Comment": lexer.TokenType(TokenComment),
		"Ident":   lexer.TokenType(TokenIdent),
		"Keyword": lexer.TokenType(TokenKeyword),
		"Context": lexer.TokenType(TokenContext),
		"Number":  lexer.TokenType(TokenNumber),
		"String":  lexer.TokenType(TokenString),
		"Char":    lexer.TokenType(TokenChar),
		"Op":      lexer.TokenType(TokenOp),
		"Invalid": lexer.TokenType(TokenInvalid),
		"Newline": typeNewline,
	}
}

// Lex implements lexer.Definition; it is never called.
func (definition) Lex(string, io.Reader) (lexer.Lexer, error) {
	return nil, fmt.Errorf("internal error: the lexer is scan")
}

// replay gives the words of a piece to participle. Where a blank stands
// between two words it gives a blank, since a node's EndPos is the place of
// the next raw token.
type replay struct {
	words []word
	next  int
	blank bool // the blank after words[next-1] has been given
}

// upgrade returns the lexer of some words, at least one.
func upgrade(words []word) *lexer.PeekingLexer {
	lex, err := lexer.Upgrade(&replay{words: words, blank: true}, elided...)
	if err != nil {
		panic("internal error: replay failed: " + err.Error())
	}
	return lex
}

// Next implements lexer.Lexer.
func (r *replay) Next() (lexer.Token, error) {
	if !r.blank {
		r.blank = true
		prev := &r.words[r.next-1]
		pos := lexer.Position{Offset: int(prev.end), Line: int(prev.line)}
		if r.next == len(r.words) {
			return lexer.EOFToken(pos), nil
		}
		switch w := &r.words[r.next]; {
		case w.sep && w.kind != TokenInvalid:
			return lexer.Token{Type: typeNewline, Value: "\n", Pos: pos}, nil
		case w.start > prev.end:
			return lexer.Token{Type: lexer.TokenType(TokenSpace), Pos: pos}, nil
		}
	}
	w := &r.words[r.next]
	r.next++
	r.blank = false
	if w.kind == TokenInvalid {
		// Without its text: participle lets a literal match an elided token.
		return lexer.Token{Type: lexer.TokenType(TokenInvalid), Pos: lexer.Position{Offset: int(w.start), Line: int(w.line)}}, nil
	}
	return lexer.Token{
		Type:  lexer.TokenType(w.kind),
		Value: w.text,
		Pos:   lexer.Position{Offset: int(w.start), Line: int(w.line)},
	}, nil
}

// Capture implements participle.Capture: a Kind is captured from its word.
func (k *Kind) Capture(values []string) error {
	for i := KindSyscall; i <= KindUSDT; i++ {
		if values[0] == i.String() {
			*k = i
			return nil
		}
	}
	return fmt.Errorf("internal error: %q is no kind of source", values[0])
}

// spanOf returns the place of t.
func spanOf(t *lexer.Token) source.Span {
	return source.Span{Start: source.Pos(t.Pos.Offset), End: source.Pos(t.Pos.Offset + len(t.Value))}
}
