package syntax

import "github.com/eptrace/ep/lang/source"

// Token is one token of the text.
type Token struct {
	Kind TokenKind
	Span source.Span
}

// TokenKind is the kind of a Token. The zero value is a blank.
type TokenKind uint8

// The kinds of token. A word that is reserved is a TokenKeyword, save where it
// is a plain name: after a dot, in an argument list, at the start of a field.
// TokenInvalid is text that the parser has reported and passed over.
const (
	TokenSpace TokenKind = iota // blanks and line ends
	TokenComment
	TokenIdent
	TokenKeyword
	TokenContext // $name
	TokenNumber
	TokenString
	TokenChar
	TokenOp // operators, brackets, separators
	TokenInvalid
)

// String returns the kind's name, for test failures.
func (k TokenKind) String() string {
	return [...]string{"space", "comment", "ident", "keyword", "context", "number",
		"string", "char", "op", "invalid"}[k]
}

// Significant reports whether the parser sees a token of this kind.
func (k TokenKind) Significant() bool {
	return k != TokenSpace && k != TokenComment && k != TokenInvalid
}

// Tokens returns every token of the text in order, blanks and comments
// included: their texts joined are the text. The caller must not change it.
func (s *Script) Tokens() []Token { return s.tokens }

// Span returns the whole text.
func (s *Script) Span() source.Span {
	return source.Span{Start: 0, End: source.Pos(len(s.Source.Text()))}
}

// keywords are the reserved words of the language.
var keywords = map[string]bool{
	"event": true, "hist": true, "on": true, "trace": true, "param": true,
	"const": true, "import": true, "option": true, "from": true, "then": true,
	"where": true, "let": true, "by": true, "having": true, "emit": true,
	"do": true, "as": true, "in": true, "else": true,
}

// units are what may follow the digits of a number.
var units = map[string]uint64{
	"ns": 1, "us": 1, "ms": 1, "s": 1,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
}
