package ir

import (
	"fmt"
	"go/constant"
	"strings"

	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// Expr is a typed expression: *Const, *FieldRef, *Own, *Context, *Addr, *Str, *Load,
// *Unary, *Binary, *In, *Cast, *Bits or *Early.
type Expr interface {
	Type() types.Type
	Span() source.Span
	// String returns a normal form: equal text means the same value.
	String() string
}

// At is what every expression has: its type and its place.
type At struct {
	T  types.Type
	Sp source.Span
}

// Type returns the expression's type.
func (a At) Type() types.Type { return a.T }

// Span returns where the expression stands in the script.
func (a At) Span() source.Span { return a.Sp }

type (
	// Const is a value known now: a whole number, a string or a bool. A
	// duration's is in nanoseconds, whatever its type's unit.
	Const struct {
		At
		Value constant.Value
	}
	// FieldRef is a field of a stage's record.
	FieldRef struct {
		At
		Stage int
		Name  string
	}
	// Own is a field of the event being defined; it occurs in having.
	Own struct {
		At
		Field *Field
	}
	// Context is a value of the context of a stage's event.
	Context struct {
		At
		Stage int
		Kind  ContextKind
		Reg   string // of Reg; of IP, the field of a probe's record that has it
		N     int    // of StackWord and Arg
	}
	// Addr is the address of a variable of the kernel.
	Addr struct {
		At
		Symbol string
		PerCPU bool // each CPU has its own: that of the CPU where it happens
	}
	// Str is the text behind a pointer, of at most Max bytes if Max is not 0.
	Str struct {
		At
		X   Expr
		Max int
	}
	// Load is the value Off bytes behind X: behind a pointer, or in an array
	// of the record.
	Load struct {
		At
		X   Expr
		Off int64
	}
	// Unary is -X or !X.
	Unary struct {
		At
		Op string
		X  Expr
	}
	// Binary is X Op Y: || && == != < <= > >= ~ + - * / & |.
	Binary struct {
		At
		Op   string
		X, Y Expr
	}
	// In is whether X is one of a set of constants.
	In struct {
		At
		X   Expr
		Set []Range
	}
	// Cast is X taken as another type.
	Cast struct {
		At
		X Expr
	}
	// Bits is Width bits of X from bit Offset.
	Bits struct {
		At
		X             Expr
		Offset, Width int
	}
	// Early is X as it was when Stage happened; of a span, at its entry.
	// Memory behind a pointer is read then and not when the event fires.
	Early struct {
		At
		Stage int
		X     Expr
	}
)

// Range is a set's member: Lo alone if Hi is nil, else Lo to Hi, both in it.
type Range struct{ Lo, Hi *Const }

// ContextKind is a value of the context.
type ContextKind uint8

// The values of the context.
const (
	Tid ContextKind = iota // the thread that runs
	Comm
	CPU
	Time // of the event, ns of the trace clock
	Kstack
	Ret // of a call
	Elapsed
	IP
	Func
	Reg
	StackWord
	Arg
)

var contextNames = [...]string{"tid", "comm", "cpu", "time", "kstack", "ret", "elapsed", "ip", "func", "reg", "stack", "arg"}

// String returns the name without the dollar.
func (k ContextKind) String() string { return contextNames[k] }

func (e *Const) String() string {
	if e.Value.Kind() == constant.String {
		return e.Value.ExactString()
	}
	return fmt.Sprintf("%s:%s", e.Value.ExactString(), e.T)
}
func (e *FieldRef) String() string { return fmt.Sprintf("#%d.%s", e.Stage, e.Name) }
func (e *Own) String() string      { return "own." + e.Field.Name }
func (e *Context) String() string {
	switch e.Kind {
	case Reg:
		return fmt.Sprintf("#%d.$reg(%s)", e.Stage, e.Reg)
	case StackWord, Arg:
		return fmt.Sprintf("#%d.$%s(%d)", e.Stage, e.Kind, e.N)
	}
	return fmt.Sprintf("#%d.$%s", e.Stage, e.Kind)
}
func (e *Addr) String() string { return "addr(" + e.Symbol + ")" }
func (e *Str) String() string {
	if e.Max != 0 {
		return fmt.Sprintf("str(%s, %d)", e.X, e.Max)
	}
	return fmt.Sprintf("str(%s)", e.X)
}
func (e *Load) String() string   { return fmt.Sprintf("%s@%d:%s", e.X, e.Off, e.T) }
func (e *Unary) String() string  { return e.Op + e.X.String() }
func (e *Binary) String() string { return fmt.Sprintf("(%s %s %s)", e.X, e.Op, e.Y) }
func (e *In) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "(%s in {", e.X)
	for i, r := range e.Set {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(r.Lo.String())
		if r.Hi != nil {
			b.WriteString(".." + r.Hi.String())
		}
	}
	return b.String() + "})"
}
func (e *Cast) String() string  { return fmt.Sprintf("(%s as %s)", e.X, e.T) }
func (e *Bits) String() string  { return fmt.Sprintf("bits(%s, %d, %d)", e.X, e.Offset, e.Width) }
func (e *Early) String() string { return fmt.Sprintf("#%d(%s)", e.Stage, e.X) }

// Conjuncts returns the conditions that together are e: the sides of its
// outermost &&.
func Conjuncts(e Expr) []Expr {
	if e == nil {
		return nil
	}
	if b, ok := e.(*Binary); ok && b.Op == "&&" {
		return append(Conjuncts(b.X), Conjuncts(b.Y)...)
	}
	return []Expr{e}
}

// And returns the condition that all of list hold, nil for none.
func And(list ...Expr) Expr {
	var out Expr
	for _, e := range list {
		switch {
		case e == nil:
		case out == nil:
			out = e
		default:
			out = &Binary{At{types.Bool{}, source.Join(out.Span(), e.Span())}, "&&", out, e}
		}
	}
	return out
}
