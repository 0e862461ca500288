package syntax

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// parseType parses a type for participle. It returns NextMatch if none begins
// here.
//
//	type = name | "*" type | "user" "*" type | "[" NUM "]" type
func parseType(lex *lexer.PeekingLexer) (TypeExpr, error) {
	c := &cursor{lex: lex}
	if !c.beginsType() {
		return nil, participle.NextMatch
	}
	return c.typeExpr()
}

func (c *cursor) beginsType() bool {
	return c.peek().Type == lexer.TokenType(TokenIdent) || c.is("*") || c.is("[")
}

// mustType parses the type that must follow here.
func (c *cursor) mustType() (TypeExpr, error) {
	if !c.beginsType() {
		return nil, c.want("a type")
	}
	return c.typeExpr()
}

func (c *cursor) typeExpr() (TypeExpr, error) {
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer c.leave()
	t := *c.peek()
	switch {
	case c.accept("*"):
		elem, err := c.mustType()
		if err != nil {
			return nil, err
		}
		return &PointerType{Node: c.from(t.Pos), Elem: elem}, nil
	case c.is("["):
		return c.arrayType()
	}
	name := c.ident()
	next := c.peek()
	switch {
	case t.Value == "user" && c.is("*"):
		c.lex.Next()
		elem, err := c.mustType()
		if err != nil {
			return nil, err
		}
		return &PointerType{Node: c.from(t.Pos), User: true, Elem: elem}, nil
	case cWords[t.Value] && next.Type == lexer.TokenType(TokenIdent) && next.Pos.Line == t.Pos.Line:
		return nil, cType(spanOf(&t), t.Value, next.Value)
	}
	return &TypeName{Node: name.Node, Name: name}, nil
}

// cWords begin types of C that have more than one word.
var cWords = map[string]bool{
	"struct": true, "enum": true, "union": true, "unsigned": true, "signed": true,
	"const": true, "long": true, "short": true,
}

func (c *cursor) arrayType() (TypeExpr, error) {
	open := *c.lex.Next()
	n := *c.peek()
	if n.Type != lexer.TokenType(TokenNumber) {
		return nil, c.want("the array's length")
	}
	c.lex.Next()
	length := &Number{Node: c.from(n.Pos), Raw: n.Value}
	if !c.accept("]") {
		return nil, unclosedBracket(&open, "]", false, c.prev(), c.peek())
	}
	elem, err := c.mustType()
	if err != nil {
		return nil, err
	}
	return &ArrayType{Node: c.from(open.Pos), Len: length, Elem: elem}, nil
}
