package types

// Basic returns the type called name in a script: u8 … s64, x8 … x64, bool,
// char, str, ns us ms s, be16 be32 ip dev errno sysnr ksym. Names of structs
// and enums are not basic.
func Basic(name string) (Type, bool) {
	t, ok := basic[name]
	return t, ok
}

// BasicNames returns the names that Basic knows, in the reference's order.
func BasicNames() []string {
	return []string{
		"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "x8", "x16", "x32", "x64",
		"bool", "char", "str", "ns", "us", "ms", "s", "be16", "be32", "ip", "dev", "errno", "sysnr", "ksym",
	}
}

var basic = map[string]Type{
	"u8": Int{Size: 1}, "u16": Int{Size: 2}, "u32": Int{Size: 4}, "u64": Int{Size: 8},
	"s8": Int{Size: 1, Signed: true}, "s16": Int{Size: 2, Signed: true},
	"s32": Int{Size: 4, Signed: true}, "s64": Int{Size: 8, Signed: true},
	"x8": Int{Size: 1, Form: Hex}, "x16": Int{Size: 2, Form: Hex},
	"x32": Int{Size: 4, Form: Hex}, "x64": Int{Size: 8, Form: Hex},
	"bool": Bool{}, "char": Int{Size: 1, Form: Char}, "str": String{},
	"ns": Duration{Unit: NS, Size: 8}, "us": Duration{Unit: US, Size: 8},
	"ms": Duration{Unit: MS, Size: 8}, "s": Duration{Unit: S, Size: 8},
	"be16": Int{Size: 2, Form: BE}, "be32": Int{Size: 4, Form: BE},
	"ip": Int{Size: 4, Form: IP}, "dev": Int{Size: 4, Form: Dev},
	"errno": Int{Size: 4, Signed: true, Form: Errno},
	"sysnr": Int{Size: 8, Signed: true, Form: Sysnr}, "ksym": Int{Size: 8, Form: Ksym},
}

// Size returns how many bytes a value of t takes in a record, 0 if that is not
// fixed or not known.
func Size(t Type) int {
	switch t := t.(type) {
	case Int:
		return t.Size
	case Bool:
		return 1
	case Duration:
		return t.Size
	case String:
		return t.Cap
	case Pointer:
		return 8
	case Array:
		return t.Len * Size(t.Elem)
	case Struct:
		return t.Size
	}
	return 0
}

// Signed reports whether values of t may be negative.
func Signed(t Type) bool {
	switch t := t.(type) {
	case Int:
		return t.Signed
	case Duration:
		return t.Signed
	}
	return false
}

// Scalar reports whether a value of t is one number: an integer, a bool, a
// duration, a pointer or a constant.
func Scalar(t Type) bool {
	switch t.(type) {
	case Int, Bool, Duration, Pointer, Untyped:
		return true
	}
	return false
}

// Numeric reports whether arithmetic makes sense on t.
func Numeric(t Type) bool {
	switch t.(type) {
	case Int, Duration, Untyped:
		return true
	}
	return false
}

// NamesOf returns the names of t's values, nil if they have none.
func NamesOf(t Type) *Names {
	if i, ok := t.(Int); ok {
		return i.Names
	}
	return nil
}

// Bounds returns the least and the greatest value of a scalar t, as a signed
// and an unsigned number.
func Bounds(t Type) (least int64, greatest uint64) {
	n := Size(t)
	if n == 0 || n > 8 {
		n = 8
	}
	bits := uint(n * 8)
	if Signed(t) {
		return -1 << (bits - 1), 1<<(bits-1) - 1
	}
	if bits == 64 {
		return 0, 1<<64 - 1
	}
	return 0, 1<<bits - 1
}

// IsInvalid reports whether t is the type of something already reported.
func IsInvalid(t Type) bool {
	_, bad := t.(Invalid)
	return bad
}

// BigEndian reports whether a number of type t lies in memory with its greatest
// byte first, which no architecture that ep knows does by itself: to the kernel
// it is another number.
func BigEndian(t Type) bool {
	i, ok := t.(Int)
	return ok && (i.Form == BE || i.Form == IP)
}

// SameBytes reports whether numbers of a and b that are equal have equal bytes,
// so far as the order of the bytes decides it.
func SameBytes(a, b Type) bool {
	return BigEndian(a) == BigEndian(b) && SameWidth(a, b)
}

// SameWidth reports whether the bytes of a number of a can be read as one of b,
// and of b as one of a: if either is big-endian, both need the same number.
func SameWidth(a, b Type) bool {
	return !BigEndian(a) && !BigEndian(b) || Size(a) == Size(b)
}
