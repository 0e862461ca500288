package syntax

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/eptrace/ep/lang/diag"
)

// Parse parses one field; participle calls it. It fails for no text but the
// end of the braces: a mistake is kept in the field, and the rest of the field
// passed over, so that the next is parsed.
//
//	field = name ( ":" type [ "=" expr ] | "=" expr | "." ( anyname | CTX ) | ) | CTX [ ":" type ]
func (f *Field) Parse(lex *lexer.PeekingLexer) error {
	c := &cursor{lex: lex}
	start := *c.peek()
	if start.EOF() || c.is("}") {
		return participle.NextMatch
	}
	before := c.lex.RawCursor()
	err := c.field(f)
	if err == nil && !c.endsField() {
		err = c.trailing(f)
	}
	if err != nil {
		f.mistake = asMistake(err)
		c.skipField()
		c.skipValue()
		if f.Name == nil && f.Value == nil || f.Name != nil && f.Value == nil && f.hasValue {
			end := Position(c.lex.RawPeek().Pos)
			f.Value = &BadExpr{Node{end, end}}
		}
	}
	f.Node = c.from(start.Pos)
	if c.lex.RawCursor() == before { // the separator stands where a field should
		f.Node = f.Value.(*BadExpr).Node
	}
	return nil
}

// field parses into f until the field is whole or wrong.
func (c *cursor) field(f *Field) error {
	t := *c.peek()
	switch TokenKind(t.Type) {
	case TokenContext:
		x, err := c.context()
		if err != nil {
			return err
		}
		f.Value = x
		if c.accept(":") {
			f.Type, err = c.mustType()
		}
		return err
	case TokenIdent:
	default:
		return c.wantField()
	}
	name := c.ident()
	if c.is(".") {
		x, err := c.selector(name)
		if err != nil {
			return err
		}
		f.Value = x
		return nil
	}
	f.Name = name
	if c.accept(":") {
		if c.is("=") {
			return colonEquals(spanOf(c.prev()))
		}
		var err error
		if f.Type, err = c.mustType(); err != nil {
			return err
		}
	}
	if !c.accept("=") {
		return nil
	}
	f.hasValue = true
	x, err := c.operand(1)
	if err != nil {
		return err
	}
	f.Value = x
	return c.afterExpr()
}

// endsField reports whether the next token separates or ends fields.
func (c *cursor) endsField() bool {
	t := c.peek()
	return t.EOF() || t.Type == typeNewline || c.is(",") || c.is("}")
}

// skipField passes over the rest of a wrong field, brackets whole.
func (c *cursor) skipField() {
	depth := 0
	for {
		t := c.peek()
		if t.EOF() || t.Type == typeNewline && depth == 0 {
			return
		}
		if t.Type == lexer.TokenType(TokenOp) {
			switch t.Value {
			case "(", "[", "{":
				depth++
			case ")", "]":
				depth = max(depth-1, 0)
			case "}":
				if depth == 0 {
					return
				}
				depth--
			case ",":
				if depth == 0 {
					return
				}
			}
		}
		c.lex.Next()
	}
}

// skipValue passes over a value that stands on the line after its `=`. What
// may be a field is left.
func (c *cursor) skipValue() {
	if prev := c.prev(); c.peek().Type != typeNewline || prev == nil || prev.Value != "=" && prev.Value != ":" {
		return
	}
	save := c.lex.MakeCheckpoint()
	c.lex.Next()
	if t := c.peek(); t.Type == lexer.TokenType(TokenIdent) || c.is("}") {
		c.lex.LoadCheckpoint(save)
		return
	}
	c.skipField()
}

func (c *cursor) wantField() error {
	t := c.peek()
	switch {
	case c.is("{"):
		return nestedBraces(spanOf(t))
	case level(t) > 0 && c.prev().Type == typeNewline:
		return lineBeginsWithOperator(spanOf(t), t.Value)
	case level(t) > 0 || beginsExpr(t):
		return fieldWithoutName(spanOf(t), t.Value)
	}
	if prev := c.prev(); prev.Value == "{" || prev.Value == "," {
		return wantFirst("a field", t)
	}
	return c.want("a field")
}

// namedValue is how the value that begins with first, and goes on at the next token,
// is written with a name: that of its last member.
func (c *cursor) namedValue(first string) string {
	if c.is("(") {
		return "NAME = " + first + "(…)"
	}
	save := c.lex.MakeCheckpoint()
	defer c.lex.LoadCheckpoint(save)
	name, text := "NAME", first
	for c.is("->") || c.is(".") {
		text += c.lex.Next().Value
		if t := c.peek(); t.Type == lexer.TokenType(TokenIdent) {
			name = t.Value
			text += c.lex.Next().Value
		}
	}
	return name + " = " + text
}

// trailing returns what is wrong with the token after a whole field.
func (c *cursor) trailing(f *Field) error {
	t := c.peek()
	switch {
	case f.Name == nil && f.Value != nil && f.Type == nil && (c.is("=") || c.is(":")):
		return fieldWantsName(f.Value.Span(), t.Value)
	case f.Value == nil || f.Name == nil:
		if c.is(".") || c.is("->") || c.is("[") || c.is("(") || level(t) > 0 {
			m := fieldWithoutName(spanOf(t), t.Value)
			if f.Name != nil && (c.is("(") || c.is("->")) {
				m.d.Notes = nil
				m.note("write '%s'", c.namedValue(f.Name.Raw))
			}
			return m
		}
		if f.Name != nil && f.Type == nil && isClause(f.Name.Raw) {
			return clauseInBraces(f.Name.Span(), f.Name.Raw)
		}
	case c.is("="):
		return wrongOperator(spanOf(t), "=")
	}
	if c.is(":=") {
		return colonEqualsOperator(spanOf(t))
	}
	if t.Value == "as" && f.Type == nil {
		switch {
		case f.Name == nil:
			return fieldWithoutName(spanOf(t), t.Value)
		case f.Value == nil:
			return typeOfField(spanOf(t), f.Name.Raw)
		}
	}
	if isClause(t.Value) && (t.Type == lexer.TokenType(TokenKeyword) || hasMeaning(t.Value)) {
		m := wantAfter("'}'", c.prev(), t)
		m.d.Code = diag.UnclosedBracket
		return m
	}
	return wantAfter("',' or a line end", c.prev(), t)
}
