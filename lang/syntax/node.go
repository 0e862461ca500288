// Package syntax turns a script's text into a tree: the grammar as Go structs,
// the lexer rules, the parser with its recovery, and Walk.
//
// Parse always returns a tree; what is wrong is in its Diagnostics. Names are
// not looked up and types not checked here. Read tree.go and expr.go first.
package syntax

import "github.com/eptrace/ep/lang/source"

// Node is the place of a tree node. It is embedded in every one.
type Node struct{ Pos, EndPos Position }

// Position is a byte offset as the lexer gives it.
type Position struct{ Offset int }

// Span returns the text that the node stands for, from its first significant
// token to the end of its last.
func (n Node) Span() source.Span {
	return source.Span{Start: source.Pos(n.Pos.Offset), End: source.Pos(n.EndPos.Offset)}
}

// Token is one token of the text.
type Token struct {
	Kind TokenKind
	Span source.Span
}

// TokenKind is the kind of a Token.
type TokenKind uint8
