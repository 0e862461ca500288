// Package types holds the types of ep's values and the rules between them.
//
// A type says what a value means, not only how wide it is: a duration keeps
// its unit, a pointer its address space and what it points to, an integer the
// names its values have. The kernel knows less; the compiler carries the rest.
// Read types.go first, then rules.go.
package types

import (
	"fmt"
	"strings"
)

// Type is the type of a value. The implementations are Int, Bool, Duration,
// String, Pointer, Array, Struct, Stack, Void, Untyped and Invalid, all used
// by value and comparable with ==, save that Names are compared by identity.
type Type interface {
	// String returns the type as a script writes it.
	String() string
	typ()
}

// Form is how an integer is shown to a person and written in a script.
type Form uint8

// The forms of an Int.
const (
	Dec   Form = iota // 42
	Hex               // 0x2a
	Char              // 'c'
	BE                // big-endian in memory: be16, be32
	IP                // an IPv4 address in network order
	Dev               // a device number, major and minor
	Errno             // a negative errno by name
	Sysnr             // a system call number by name
	Ksym              // a kernel address by symbol
)

// Int is an integer of Size bytes.
type Int struct {
	Size   int // 1, 2, 4 or 8
	Signed bool
	Form   Form
	Names  *Names // names of values, nil if it has none
}

// Bool is the type of conditions; in a record it takes one byte.
type Bool struct{}

// Duration is a length of time, or a time since the clock's start, counted in
// Unit. Size and Signed tell how it is kept.
type Duration struct {
	Unit   Unit
	Size   int
	Signed bool
}

// Unit is a unit of time.
type Unit uint8

// The units of time. A Duration's zero unit is NS.
const (
	NS Unit = iota
	US
	MS
	S
)

// NS returns how many nanoseconds one u is.
func (u Unit) NS() uint64 { return [...]uint64{1, 1_000, 1_000_000, 1_000_000_000}[u] }

// String returns "ns", "us", "ms" or "s".
func (u Unit) String() string { return [...]string{"ns", "us", "ms", "s"}[u] }

// String is text that a record holds. Cap is the size in bytes of its place,
// NUL included, if the place is fixed; 0 if its length differs by record.
type String struct{ Cap int }

// Pointer is an address of an Elem. Elem is never nil; Void if unknown.
type Pointer struct {
	Elem Type
	User bool // the address is one of user space
}

// Array is Len values of Elem in a row; Len 0 means that each record has its
// own number of them.
type Array struct {
	Elem Type
	Len  int
}

// Struct is a C struct or union. Its members are the target's to tell, by ID if
// that is not 0, else by Name, or those of the program whose it is. One without a
// name has an ID.
type Struct struct {
	Name string
	ID   uint32 // the type's number in the target's BTF or, of a program, in its debug information
	Size int    // bytes, 0 if not known
	File string // path of the program whose struct it is, "" for the kernel
}

// Stack is a stack of return addresses.
type Stack struct{}

// Void is what a pointer to unknown memory points to.
type Void struct{}

// Untyped is a whole constant that has no width yet; it takes the type of what
// it stands opposite.
type Untyped struct{}

// Invalid is the type of an expression that is wrong, so that one mistake is
// reported once.
type Invalid struct{}

func (Int) typ()      {}
func (Bool) typ()     {}
func (Duration) typ() {}
func (String) typ()   {}
func (Pointer) typ()  {}
func (Array) typ()    {}
func (Struct) typ()   {}
func (Stack) typ()    {}
func (Void) typ()     {}
func (Untyped) typ()  {}
func (Invalid) typ()  {}

// String returns the type as a script writes it: "s32", "x64", "be16", "ksym".
func (t Int) String() string {
	switch t.Form {
	case Hex:
		return fmt.Sprintf("x%d", t.Size*8)
	case Char:
		return "char"
	case BE:
		return fmt.Sprintf("be%d", t.Size*8)
	case IP:
		return "ip"
	case Dev:
		return "dev"
	case Errno:
		return "errno"
	case Sysnr:
		return "sysnr"
	case Ksym:
		return "ksym"
	}
	if t.Signed {
		return fmt.Sprintf("s%d", t.Size*8)
	}
	return fmt.Sprintf("u%d", t.Size*8)
}

func (Bool) String() string       { return "bool" }
func (t Duration) String() string { return t.Unit.String() }
func (String) String() string     { return "str" }
func (t Struct) String() string {
	if t.Name == "" {
		return "struct"
	}
	return t.Name
}
func (Stack) String() string   { return "stack" }
func (Void) String() string    { return "void" }
func (Untyped) String() string { return "number" }
func (Invalid) String() string { return "invalid" }

func (t Pointer) String() string {
	if t.User {
		return "user *" + t.Elem.String()
	}
	return "*" + t.Elem.String()
}

func (t Array) String() string {
	if t.Len == 0 {
		return "[]" + t.Elem.String()
	}
	return fmt.Sprintf("[%d]%s", t.Len, t.Elem)
}

// Name is one name of a value.
type Name struct {
	Name  string
	Value uint64 // the value's bits, sign-extended to 64
}

// Names are the names that a type's values have: the flags or symbols of an
// event's print format, or an enum's. A pointer to it is part of an Int and is
// compared by identity. It is immutable after it is made.
type Names struct {
	Flags bool // values are sets of bits, shown as A|B
	List  []Name
}

// Value returns the value called name.
func (n *Names) Value(name string) (uint64, bool) {
	if n == nil {
		return 0, false
	}
	for _, e := range n.List {
		if e.Name == name {
			return e.Value, true
		}
	}
	return 0, false
}

// Names returns the names alone, in the order of List.
func (n *Names) Names() []string {
	if n == nil {
		return nil
	}
	out := make([]string, len(n.List))
	for i, e := range n.List {
		out[i] = e.Name
	}
	return out
}

// String lists the names, for messages.
func (n *Names) String() string {
	var b strings.Builder
	for i, e := range n.List {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(e.Name)
	}
	return b.String()
}
