package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// scanner cuts a text into tokens. It never fails: what is no token becomes a
// TokenInvalid with a Diagnostic, and a literal that is malformed keeps its
// kind, so that one mistake does not make a second in the parser.
type scanner struct {
	src    *source.Source
	text   string
	pos    int
	tokens []Token
	errs   *mistakes
}

// scan returns the tokens of src, whose texts joined are the text.
func scan(src *source.Source, errs *mistakes) []Token {
	s := &scanner{src: src, text: src.Text(), errs: errs}
	s.tokens = make([]Token, 0, len(s.text)/3+1)
	for s.pos < len(s.text) {
		start := s.pos
		kind := s.next()
		s.tokens = append(s.tokens, Token{kind, s.span(start)})
	}
	return s.tokens
}

func (s *scanner) span(start int) source.Span {
	return source.Span{Start: source.Pos(start), End: source.Pos(s.pos)}
}

// next moves pos over one token, at least one byte, and returns its kind.
func (s *scanner) next() TokenKind {
	c := s.text[s.pos]
	switch {
	case isSpace(c):
		for s.pos < len(s.text) && isSpace(s.text[s.pos]) {
			s.pos++
		}
		return TokenSpace
	case c == '#':
		s.toLineEnd()
		return TokenComment
	case isLetter(c):
		start := s.pos
		s.word()
		if keywords[s.text[start:s.pos]] {
			return TokenKeyword
		}
		return TokenIdent
	case isDigit(c):
		return s.number()
	case c == '"':
		return s.str()
	case c == '\'':
		return s.char()
	case c == '`':
		return s.backticks()
	case c == '$' && s.pos+1 < len(s.text) && isLetter(s.text[s.pos+1]):
		s.pos++
		s.word()
		return TokenContext
	case c == '/' && s.at(1) == '/':
		start := s.pos
		s.toLineEnd()
		s.errs.add(badComment(source.Span{Start: source.Pos(start), End: source.Pos(start + 2)}, "//"))
		return TokenInvalid
	case c == '/' && s.at(1) == '*':
		start := s.pos
		if i := strings.Index(s.text[start+2:], "*/"); i >= 0 {
			s.pos = start + 2 + i + 2
		} else {
			s.toLineEnd()
		}
		s.errs.add(badComment(source.Span{Start: source.Pos(start), End: source.Pos(start + 2)}, "/*"))
		return TokenInvalid
	}
	if n := operator(s.text[s.pos:]); n > 0 {
		s.pos += n
		return TokenOp
	}
	if c == ';' {
		s.pos++
		s.errs.add(semicolon(s.span(s.pos - 1)))
		return TokenInvalid
	}
	return s.invalid()
}

// at returns the byte n places on, 0 at the end.
func (s *scanner) at(n int) byte {
	if s.pos+n < len(s.text) {
		return s.text[s.pos+n]
	}
	return 0
}

// toLineEnd moves to the end of the line, before its "\n" or "\r\n".
func (s *scanner) toLineEnd() {
	s.pos = s.lineEnd()
}

func (s *scanner) lineEnd() int {
	end := len(s.text)
	if i := strings.IndexByte(s.text[s.pos:], '\n'); i >= 0 {
		end = s.pos + i
	}
	for end > s.pos+1 && s.text[end-1] == '\r' {
		end--
	}
	return end
}

func (s *scanner) word() {
	for s.pos < len(s.text) && (isLetter(s.text[s.pos]) || isDigit(s.text[s.pos])) {
		s.pos++
	}
}

// number reads digits with what stands directly behind them: a unit, or
// whatever makes it no number.
func (s *scanner) number() TokenKind {
	start := s.pos
	s.word()
	if s.at(0) == '.' && isDigit(s.at(1)) {
		s.pos++
		s.word()
	}
	n := Number{Raw: s.text[start:s.pos]}
	if _, _, err := n.Value(); err != nil {
		s.errs.add(badNumber(s.span(start), n.Raw, err))
	}
	return TokenNumber
}

// str reads a string. It ends with its line, closed or not.
func (s *scanner) str() TokenKind {
	start, end := s.pos, s.lineEnd()
	for s.pos++; s.pos < end; s.pos++ {
		switch s.text[s.pos] {
		case '\\':
			if s.pos+1 < end {
				s.pos++
			}
		case '"':
			s.pos++
			if _, at, err := unquote(s.text[start+1 : s.pos-1]); err != nil {
				s.errs.add(badEscape(source.Span{
					Start: source.Pos(start + 1 + at),
					End:   source.Pos(start + 1 + at + escapeLen(s.text[start+1+at:s.pos-1])),
				}, err))
			}
			return TokenString
		}
	}
	s.pos = end
	s.errs.add(unterminated(s.src, s.span(start), '"'))
	return TokenString
}

// backticks reads a name in backticks.
func (s *scanner) backticks() TokenKind {
	start, end := s.pos, s.lineEnd()
	if i := strings.IndexByte(s.text[start+1:end], '`'); i >= 0 {
		s.pos = start + 1 + i + 1
		if i == 0 {
			s.errs.add(emptyBackticks(s.span(start)))
		}
		return TokenIdent
	}
	s.pos = end
	s.errs.add(unterminated(s.src, s.span(start), '`'))
	return TokenIdent
}

// char reads a character literal. More than one character between single
// quotes is a string to the parser: that is what was meant.
func (s *scanner) char() TokenKind {
	start, end := s.pos, s.lineEnd()
	for i := start + 1; i < end; i++ {
		if s.text[i] == '\\' {
			i++
			continue
		}
		if s.text[i] != '\'' {
			continue
		}
		s.pos = i + 1
		c := Char{Raw: s.text[start:s.pos]}
		if _, err := c.Value(); err == nil {
			return TokenChar
		}
		if body, _, err := unquote(s.text[start+1 : i]); err == nil && utf8.RuneCountInString(body) != 1 {
			s.errs.add(singleQuotes(s.span(start), s.text[start+1:i]))
			return TokenString
		}
		s.errs.add(badChar(s.span(start)))
		return TokenChar
	}
	s.pos++
	s.errs.add(unterminated(s.src, s.span(start), '\''))
	return TokenInvalid
}

// invalid passes over a run of what is in no token. A byte order mark is a
// blank.
func (s *scanner) invalid() TokenKind {
	start := s.pos
	r, n := utf8.DecodeRuneInString(s.text[s.pos:])
	s.pos += n
	if r == '\uFEFF' && start == 0 {
		return TokenSpace
	}
	if close, ok := curlyQuotes[r]; ok {
		if i := strings.Index(s.text[s.pos:s.lineEnd()], close); i >= 0 {
			s.pos += i + len(close)
		}
		s.errs.add(badCharacter(source.Span{Start: source.Pos(start), End: source.Pos(start + n)}, string(r), false))
		return TokenInvalid
	}
	letters := unicode.IsLetter(r)
	for letters && s.pos < len(s.text) {
		r, n := utf8.DecodeRuneInString(s.text[s.pos:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
			break
		}
		s.pos += n
	}
	s.errs.add(badCharacter(s.span(start), s.text[start:s.pos], letters))
	return TokenInvalid
}

// curlyQuotes open a string in a text that a word processor has touched; the
// values close it.
var curlyQuotes = map[rune]string{'“': "”", '„': "“", '”': "”", '‘': "’", '’': "’", '«': "»"}

// The operators by length. Some are of other languages and lexed as one, so
// that the parser can name what to write instead.
var (
	operators3 = []string{"===", "!==", "..="}
	operators2 = []string{"||", "&&", "==", "!=", "<=", ">=", "->", "..", "<<", ">>", "+=", "-=", "|=", ":=", "<>", "=>", "=~"}
)

const operators1 = "{}()[],.:=?+-*/&|!~<>%^"

// operator returns the length of the operator that text starts with, or 0.
func operator(text string) int {
	if len(text) >= 3 {
		for _, op := range operators3 {
			if text[:3] == op {
				return 3
			}
		}
	}
	if len(text) >= 2 && strings.IndexByte(operators1, text[1]) >= 0 {
		for _, op := range operators2 {
			if text[:2] == op {
				return 2
			}
		}
	}
	if strings.IndexByte(operators1, text[0]) >= 0 {
		return 1
	}
	return 0
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// mistakes gathers Diagnostics up to a number, so that a text that is no
// script at all does not fill the screen or the memory.
type mistakes struct {
	src  *source.Source
	list diag.List
	more bool // some were left out
}

// maxErrors is how many mistakes of one text are told.
const maxErrors = 50

func (m *mistakes) add(d *mistake) {
	if m.full() {
		m.more = true
		return
	}
	d.d.Severity = diag.Error
	d.d.Source = m.src
	m.list = append(m.list, d.d)
}

func (m *mistakes) full() bool { return len(m.list) >= maxErrors }
