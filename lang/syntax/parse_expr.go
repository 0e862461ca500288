package syntax

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/eptrace/ep/lang/source"
)

// Expressions are parsed by precedence climbing. Levels, loosest first:
//
//	1  ||
//	2  &&
//	3  == != < <= > >= ~ in     one at most: comparisons do not chain
//	4  + - |
//	5  * / &
//	   - ! *                    before an operand
//	   as T
//	   . -> [ ] ( )
//
// As in Go, `f & M == M` is `(f & M) == M`.

const (
	levelCompare = 3
	levelSum     = 4
	levelLast    = 5
)

// maxDepth limits how deep expressions and types nest, maxChain how many
// operators of one level follow each other: passes over the tree recurse.
const (
	maxDepth = 200
	maxChain = 1000
)

var levels = map[string]int{
	"||": 1, "&&": 2,
	"==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3, "~": 3,
	"+": 4, "-": 4, "|": 4,
	"*": 5, "/": 5, "&": 5,
}

// level returns the level of the binary operator t, 0 if it is none.
func level(t *lexer.Token) int {
	switch t.Type {
	case lexer.TokenType(TokenOp):
		return levels[t.Value]
	case lexer.TokenType(TokenKeyword):
		if t.Value == "in" {
			return levelCompare
		}
	}
	return 0
}

// cursor reads the tokens of expressions, types and fields.
type cursor struct {
	lex   *lexer.PeekingLexer
	depth int
}

// parseExpr parses an expression for participle. It returns NextMatch if none
// begins here.
func parseExpr(lex *lexer.PeekingLexer) (Expr, error) {
	if !beginsExpr(lex.Peek()) {
		return nil, participle.NextMatch
	}
	c := &cursor{lex: lex}
	x, err := c.binary(1)
	if err != nil {
		return nil, err
	}
	if bad := c.afterExpr(); bad != nil {
		return nil, bad
	}
	return x, nil
}

func beginsExpr(t *lexer.Token) bool {
	switch TokenKind(t.Type) {
	case TokenIdent, TokenContext, TokenNumber, TokenString, TokenChar:
		return true
	case TokenOp:
		switch t.Value {
		case "(", "-", "!", "*":
			return true
		}
	}
	return false
}

func (c *cursor) peek() *lexer.Token { return c.lex.Peek() }

// is reports whether the next token is the operator op.
func (c *cursor) is(op string) bool {
	t := c.peek()
	return t.Type == lexer.TokenType(TokenOp) && t.Value == op
}

// accept moves over the operator op if it is next.
func (c *cursor) accept(op string) bool {
	if c.is(op) {
		c.lex.Next()
		return true
	}
	return false
}

// prev returns the last token that was read, nil at the start.
func (c *cursor) prev() *lexer.Token {
	end := c.lex.RawCursor()
	if end == 0 {
		return nil
	}
	return &c.lex.Range(end-1, end)[0]
}

// from returns the place of what was read since the token at start.
func (c *cursor) from(start lexer.Position) Node {
	return Node{Position(start), Position(c.lex.RawPeek().Pos)}
}

// since returns the place of what was read since the node x began.
func (c *cursor) since(x Expr) Node {
	return c.from(lexer.Position{Offset: int(x.Span().Start)})
}

// want returns the mistake that something is missing here.
func (c *cursor) want(what string) error {
	t := c.peek()
	prev := c.prev()
	name := isHead(t.Value) || prev != nil && prev.Value == "=" && (t.Value == "from" || t.Value == "by" || t.Value == "in")
	if t.Type == lexer.TokenType(TokenKeyword) && name && prev != nil && prev.Pos.Line == t.Pos.Line {
		return reserved(word{text: t.Value, start: spanOf(t).Start, end: spanOf(t).End})
	}
	return wantAfter(what, prev, t)
}

// enter counts a level of nesting; leave must follow unless it fails.
func (c *cursor) enter() error {
	if c.depth++; c.depth > maxDepth {
		return tooDeep(spanOf(c.peek()))
	}
	return nil
}

func (c *cursor) leave() { c.depth-- }

// operand parses what must follow an operator or bracket.
func (c *cursor) operand(level int) (Expr, error) {
	if !beginsExpr(c.peek()) {
		return nil, c.want("an expression")
	}
	return c.binary(level)
}

// binary parses operators of at least the given level.
func (c *cursor) binary(min int) (Expr, error) {
	if min > levelLast {
		return c.unary()
	}
	x, err := c.binary(min + 1)
	if err != nil {
		return nil, err
	}
	for n := 0; level(c.peek()) == min; n++ {
		if n > 0 && min == levelCompare {
			return nil, chained(spanOf(c.peek()), x, c.peek().Value)
		}
		if n == maxChain {
			return nil, tooLong(spanOf(c.peek()))
		}
		op := *c.lex.Next()
		if op.Value == "in" {
			if x, err = c.in(x); err != nil {
				return nil, err
			}
			continue
		}
		if !beginsExpr(c.peek()) {
			return nil, c.want("an expression")
		}
		y, err := c.binary(min + 1)
		if err != nil {
			return nil, err
		}
		x = &Binary{Node: c.since(x), X: x, Op: Op(op.Value), OpSpan: spanOf(&op), Y: y}
	}
	return x, nil
}

// in parses the set after `x in`. A comma may stand after its last member.
func (c *cursor) in(x Expr) (Expr, error) {
	open := *c.peek()
	if !c.accept("{") {
		return nil, c.want("'{'")
	}
	if err := c.enter(); err != nil {
		return nil, err
	}
	n := &In{X: x}
	for {
		r, err := c.member()
		if err != nil {
			return nil, err
		}
		n.Set = append(n.Set, r)
		if !c.accept(",") || c.is("}") {
			break
		}
	}
	if !c.accept("}") {
		return nil, c.unclosed(&open, "}", true)
	}
	c.leave()
	n.Node = c.since(x)
	return n, nil
}

// member parses `value` or `low..high` of a set.
func (c *cursor) member() (*Range, error) {
	if !beginsExpr(c.peek()) {
		return nil, c.want("a value")
	}
	lo, err := c.binary(levelSum)
	if err != nil {
		return nil, err
	}
	r := &Range{Lo: lo}
	if c.accept("..") {
		if r.Hi, err = c.operand(levelSum); err != nil {
			return nil, err
		}
	}
	r.Node = c.since(lo)
	return r, nil
}

// unary parses an operand with the operators before it.
func (c *cursor) unary() (Expr, error) {
	t := *c.peek()
	if !c.is("-") && !c.is("!") && !c.is("*") {
		return c.cast()
	}
	if err := c.enter(); err != nil {
		return nil, err
	}
	c.lex.Next()
	if !beginsExpr(c.peek()) {
		return nil, c.want("an expression")
	}
	x, err := c.unary()
	if err != nil {
		return nil, err
	}
	c.leave()
	return &Unary{Node: c.from(t.Pos), Op: Op(t.Value), OpSpan: spanOf(&t), X: x}, nil
}

// cast parses `x as T`.
func (c *cursor) cast() (Expr, error) {
	x, err := c.postfix()
	if err != nil {
		return nil, err
	}
	for n := 0; c.peek().Type == lexer.TokenType(TokenKeyword) && c.peek().Value == "as"; n++ {
		if n == maxChain {
			return nil, tooLong(spanOf(c.peek()))
		}
		c.lex.Next()
		t, err := c.mustType()
		if err != nil {
			return nil, err
		}
		if c.is(".") || c.is("->") || c.is("[") {
			return nil, castBeforeMember(spanOf(c.peek()), source.Join(x.Span(), t.Span()), c.peek().Value)
		}
		x = &Cast{Node: c.since(x), X: x, Type: t}
	}
	return x, nil
}

// postfix parses members, indexes and calls.
func (c *cursor) postfix() (Expr, error) {
	x, err := c.primary()
	if err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		if n == maxChain {
			return nil, tooLong(spanOf(c.peek()))
		}
		switch {
		case c.is("."), c.is("->"):
			x, err = c.selector(x)
		case c.is("["):
			x, err = c.indexed(x)
		case c.is("("):
			f, ok := x.(*Ident)
			if !ok {
				return nil, notCallable(spanOf(c.peek()), x)
			}
			call := &Call{Func: f}
			if call.Args, err = c.args(); err == nil {
				call.Node = c.since(x)
				x = call
			}
		default:
			return x, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// selector parses `.m`, `->m` or `.$m`.
func (c *cursor) selector(x Expr) (Expr, error) {
	op := c.lex.Next().Value
	n := &Selector{X: x, Arrow: op == "->"}
	switch t := *c.peek(); {
	case t.Type == lexer.TokenType(TokenIdent):
		n.Sel = c.ident()
	case t.Type == lexer.TokenType(TokenContext) && !n.Arrow:
		sel, err := c.context()
		if err != nil {
			return nil, err
		}
		n.Sel = sel
	default:
		return nil, c.want("a name")
	}
	n.Node = c.since(x)
	return n, nil
}

func (c *cursor) indexed(x Expr) (Expr, error) {
	if err := c.enter(); err != nil {
		return nil, err
	}
	open := *c.lex.Next()
	i, err := c.operand(1)
	if err != nil {
		return nil, err
	}
	if !c.accept("]") {
		return nil, c.unclosed(&open, "]", false)
	}
	c.leave()
	return &Index{Node: c.since(x), X: x, I: i}, nil
}

// args parses arguments in parentheses; the result is not nil.
func (c *cursor) args() ([]Expr, error) {
	if err := c.enter(); err != nil {
		return nil, err
	}
	open := *c.lex.Next()
	list := []Expr{}
	for !c.is(")") {
		x, err := c.operand(1)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
		if !c.accept(",") {
			break
		}
		if c.is(")") {
			return nil, c.want("an expression")
		}
	}
	if !c.accept(")") {
		return nil, c.unclosed(&open, ")", true)
	}
	c.leave()
	return list, nil
}

// primary parses a name, a literal or parentheses.
func (c *cursor) primary() (Expr, error) {
	t := *c.peek()
	switch TokenKind(t.Type) {
	case TokenIdent:
		return c.ident(), nil
	case TokenContext:
		return c.context()
	case TokenNumber:
		c.lex.Next()
		return &Number{Node: c.from(t.Pos), Raw: t.Value}, nil
	case TokenString:
		c.lex.Next()
		return &String{Node: c.from(t.Pos), Raw: t.Value}, nil
	case TokenChar:
		c.lex.Next()
		return &Char{Node: c.from(t.Pos), Raw: t.Value}, nil
	}
	if !c.is("(") {
		return nil, c.want("an expression")
	}
	if err := c.enter(); err != nil {
		return nil, err
	}
	c.lex.Next()
	x, err := c.operand(1)
	if err != nil {
		return nil, err
	}
	if !c.accept(")") {
		return nil, c.unclosed(&t, ")", false)
	}
	c.leave()
	return &Paren{Node: c.from(t.Pos), X: x}, nil
}

// ident reads the name that is next.
func (c *cursor) ident() *Ident {
	t := *c.lex.Next()
	return &Ident{Node: c.from(t.Pos), Raw: t.Value}
}

// context reads the `$name` that is next, and its arguments.
func (c *cursor) context() (Expr, error) {
	t := *c.lex.Next()
	n := &Context{Name: t.Value[1:]}
	if c.is("(") {
		args, err := c.args()
		if err != nil {
			return nil, err
		}
		n.Args = args
	}
	n.Node = c.from(t.Pos)
	return n, nil
}

// unclosed returns what is wrong where a bracket should close. List says that
// a comma would be right too.
func (c *cursor) unclosed(open *lexer.Token, closer string, list bool) error {
	if bad := c.afterExpr(); bad != nil {
		return bad
	}
	return unclosedBracket(open, closer, list, c.prev(), c.peek())
}

// afterExpr returns a mistake if what stands behind a whole expression is an
// operator of another language.
func (c *cursor) afterExpr() error {
	t := c.peek()
	switch TokenKind(t.Type) {
	case TokenIdent:
		if wrongOperators[t.Value] != "" {
			return wrongOperator(spanOf(t), t.Value)
		}
		if prev := c.prev(); prev.Value == "not" {
			return wrongOperator(spanOf(prev), "not")
		}
	case TokenOp:
		if t.Value == "!" {
			save := c.lex.MakeCheckpoint()
			c.lex.Next()
			next := *c.peek()
			c.lex.LoadCheckpoint(save)
			if next.Value == "~" || next.Value == "in" {
				return negatedOperator(source.Join(spanOf(t), spanOf(&next)), next.Value)
			}
		}
		if _, ok := wrongOperators[t.Value]; ok {
			return wrongOperator(spanOf(t), t.Value)
		}
	}
	return nil
}
