package command

import "github.com/eptrace/ep/lang/source"

// Cond is a condition as filters and triggers take it: *And, *Or, *Not or
// *Pred.
type Cond interface{ cond() }

type (
	// And holds if all of List do. List has two members or more.
	And struct{ List []Cond }
	// Or holds if one of List does. List has two members or more.
	Or struct{ List []Cond }
	// Not holds if X does not.
	Not struct{ X Cond }
	// Pred compares a field with a constant.
	Pred struct {
		Field  string
		Suffix string // "", "ustring" or "function"
		Op     string // == != < <= > >= & ~
		Value  Value
		Span   source.Span
	}
)

func (*And) cond()  {}
func (*Or) cond()   {}
func (*Not) cond()  {}
func (*Pred) cond() {}

// Value is what a Pred compares with.
type Value struct {
	Kind ValueKind
	Text string // a number or word as the kernel reads it, a string without its quotes, a CPU list
	Span source.Span
}

// ValueKind is the kind of a Value.
type ValueKind uint8

// The kinds of Value.
const (
	Number ValueKind = iota // 10, -2, 0x1f, or a function's name
	String                  // "text"; it may hold one kind of quote but not both
	CPUs                    // CPUS{0-3}
)
