// Package syntax turns a script's text into a tree: the grammar as Go structs,
// the lexer, the parser with its recovery, and Walk.
//
// Parse always returns a tree; what is wrong is in its Diagnostics. Names are
// not looked up and types not checked here. Read tree.go and expr.go first:
// their `parser` tags are the grammar. Then parse.go, which says how a text
// becomes statements.
package syntax

import (
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/eptrace/ep/lang/source"
)

// Node is the place of a tree node. It is embedded in every one.
type Node struct{ Pos, EndPos Position }

// Position is a place as the parser library keeps it. Offset counts bytes from
// 0 and is the truth; Line counts from 1; the other fields are not set.
type Position = lexer.Position

// Span returns the text that the node stands for, from its first significant
// token to the end of its last.
func (n Node) Span() source.Span {
	return source.Span{Start: source.Pos(n.Pos.Offset), End: source.Pos(n.EndPos.Offset)}
}
