package syntax

import "github.com/eptrace/ep/lang/source"

// Expr is an expression: *Ident, *Context, *Number, *String, *Char, *Selector,
// *Index, *Call, *Unary, *Binary, *In, *Cast, *Paren or *BadExpr.
type Expr interface {
	Span() source.Span
	expr()
}

// Ident is a name. Raw is its text, backticks included.
type Ident struct {
	Node
	Raw string `parser:"@Ident"`
}

// Text returns the name itself, without backticks.
func (n *Ident) Text() string {
	if len(n.Raw) >= 2 && n.Raw[0] == '`' {
		return n.Raw[1 : len(n.Raw)-1]
	}
	return n.Raw
}

// Context is a value of the context: `$tid`, or with arguments `$reg(ax)`,
// `$stack(2)`, `$arg(1)`. Name has no dollar.
type Context struct {
	Node
	Name string
	Args []Expr // nil where there are no parentheses
}

// Number is a whole number with its unit, as written: "10", "0x1f", "1_000",
// "500us", "512KiB".
type Number struct {
	Node
	Raw string `parser:"@Number"`
}

// String is a quoted text. Raw is as written, quotes included.
type String struct {
	Node
	Raw string `parser:"@String"`
}

// Char is a character, as written: 'c'.
type Char struct {
	Node
	Raw string `parser:"@Char"`
}

// Selector is `X.Sel` or, if Arrow, `X->Sel`. Sel is an *Ident or, after a
// stage's name, a *Context (`off.$kstack`).
type Selector struct {
	Node
	X     Expr
	Arrow bool
	Sel   Expr
}

// Index is `X[I]`.
type Index struct {
	Node
	X Expr
	I Expr
}

// Call is `Func(Args)`.
type Call struct {
	Node
	Func *Ident
	Args []Expr
}

// Op is an operator as written: "&&", "==", "~", "|", "-", "!", "*" …
type Op string

// Unary is `Op X` with Op one of - ! *.
type Unary struct {
	Node
	Op     Op
	OpSpan source.Span
	X      Expr
}

// Binary is `X Op Y` with Op one of || && == != < <= > >= ~ + - | * / &.
type Binary struct {
	Node
	X      Expr
	Op     Op
	OpSpan source.Span
	Y      Expr
}

// In is `X in { … }`.
type In struct {
	Node
	X   Expr
	Set []*Range
}

// Range is one member of a set: a value, or `Lo..Hi` with both ends in it. Hi
// is nil for a single value.
type Range struct {
	Node
	Lo Expr
	Hi Expr
}

// Cast is `X as Type`.
type Cast struct {
	Node
	X    Expr
	Type TypeExpr
}

// Paren is `(X)`.
type Paren struct {
	Node
	X Expr
}

// BadExpr stands where an expression is missing. The parser has reported it.
type BadExpr struct{ Node }

func (*Ident) expr()    {}
func (*Context) expr()  {}
func (*Number) expr()   {}
func (*String) expr()   {}
func (*Char) expr()     {}
func (*Selector) expr() {}
func (*Index) expr()    {}
func (*Call) expr()     {}
func (*Unary) expr()    {}
func (*Binary) expr()   {}
func (*In) expr()       {}
func (*Cast) expr()     {}
func (*Paren) expr()    {}
func (*BadExpr) expr()  {}

// Unparen returns e without the parentheses around it.
func Unparen(e Expr) Expr {
	for {
		p, ok := e.(*Paren)
		if !ok {
			return e
		}
		e = p.X
	}
}
