package judge

import (
	"fmt"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

const badString = "String accepts only memory argument"

// typed judges a's type after its value and returns the field of the record.
func (p *probe) typed(a command.Arg, v fetched) (target.Field, error) {
	f := target.Field{Name: a.Name}
	if err := p.knownType(a.Type); err != nil {
		return f, err
	}
	base := a.Type.Base
	if v.text && p.kind != eprobe {
		if base != "" && base != "string" || a.Type.Count > 0 {
			return f, no("EINVAL", "$comm and immediate-string only accepts string type", "text has the type string alone")
		}
		base = "string"
	}
	if base == "" && v.btf != nil {
		f = fieldOfType(v.btf, p.j.t.Arch().WordSize())
		f.Name = a.Name
		return f, nil
	}
	switch base {
	case "%pd", "%pD":
		base = "string"
	case "string", "ustring":
		if v.btf != nil {
			switch fits, pointer := stringFits(v.btf); {
			case !fits:
				return f, no("EINVAL", "This type does not fit for string.", "'%s' is no text", v.btf)
			case pointer:
				v.memory = true
			}
		}
		if !v.memory {
			return f, no("EINVAL", badString, "text is read from memory: +0(…):%s", base)
		}
	case "symstr":
		if !v.code && (!v.deref || v.user) {
			return f, no("EINVAL", "Symbol String doesn't accept data/userdata", "a symbol's name is made of an address, not of text")
		}
		base = "string"
	}
	if a.Type.Count > 0 {
		text := base == "string" || base == "ustring"
		if a.Type.Base == "symstr" || !text && (!v.deref || v.user) {
			return f, no("EINVAL", badString, "an array is read from memory of the kernel: +0(…):%s[%d]", base, a.Type.Count)
		}
	}
	return recordField(a.Name, base, a.Type), nil
}

// knownType refuses a type that the kernel has not.
func (p *probe) knownType(t command.FetchType) error {
	has := true
	switch t.Base {
	case "char":
		has = p.j.t.Has(target.CharType)
	case "ustring":
		has = p.j.t.Has(target.UserString)
	case "%pd", "%pD":
		has = p.j.t.Has(target.PathFetch) && p.kind != eprobe && p.kind != uprobe
	case "symstr":
		has = p.j.t.Has(target.SymstrType) && (p.kind != uprobe || !p.j.t.Version().AtLeast(userTypesGone))
	case "symbol":
		has = p.kind != uprobe || !p.j.t.Version().AtLeast(userTypesGone)
	}
	if !has {
		return no("EINVAL", "Unknown type is specified", "this kernel has no type '%s' here", t.Base).at(p.line, ":"+t.Base)
	}
	return nil
}

// userTypesGone is the first version whose uprobes refuse symbol and symstr:
// 6.1.192 takes them and 6.12.117 does not; they went with the types' rework.
var userTypesGone = target.Version{Major: 6, Minor: 5}

// stringFits reports whether the kernel makes text of a value of type t, and
// whether t points to it. An integer it looks at as if it were a pointer, and
// finds a character behind one of 8 bytes: its size is taken for the number of
// a type, and the 8th is a character.
func stringFits(t types.Type) (fits, pointer bool) {
	switch t := t.(type) {
	case types.String:
		return true, false
	case types.Array:
		return isChar(t.Elem), false
	case types.Pointer:
		return isChar(t.Elem), true
	case types.Int:
		return t.Size == 8, true
	}
	return false, false
}

func isChar(t types.Type) bool {
	switch t := t.(type) {
	case types.Int:
		return t.Size == 1
	case types.Bool:
		return true
	case types.String:
		return true
	}
	return false
}

// recordField is the field of an argument by its type: the table of
// kernel/trace/trace_probe.c, probe_fetch_types, and its print function.
func recordField(name, base string, t command.FetchType) target.Field {
	f := target.Field{Name: name, Decl: "u64", Size: 8}
	switch base {
	case "string", "ustring":
		f.Decl, f.Size, f.Loc, f.Signed = "__data_loc char[]", 4, target.DataLoc, true
	case "b":
		f.Decl, f.Size = fmt.Sprintf("u%d", t.Of), t.Of/8
	case "char":
		f.Decl, f.Size = "u8", 1
	case "", "symbol":
	default:
		f.Decl = strings.Replace(base, "x", "u", 1)
		f.Signed = base[0] == 's'
		f.Size = map[string]int{"8": 1, "16": 2, "32": 4, "64": 8}[base[1:]]
	}
	if t.Count > 0 {
		if f.Loc == target.DataLoc {
			f.Decl = fmt.Sprintf("__data_loc char[][%d]", t.Count)
		} else {
			f.Decl = fmt.Sprintf("%s[%d]", f.Decl, t.Count)
		}
		f.Size *= t.Count
		f.Array = true
	}
	return f
}

// fieldOfType is the field of an argument whose type the kernel takes from its
// own types.
func fieldOfType(t types.Type, word int) target.Field {
	f := target.Field{Decl: "u64", Size: 8}
	switch t := t.(type) {
	case types.Int:
		f.Size, f.Signed = t.Size, t.Signed
	case types.Bool:
		f.Size = 1
	default:
		f.Size = word
	}
	f.Decl = fmt.Sprintf("u%d", 8*f.Size)
	if f.Signed {
		f.Decl = fmt.Sprintf("s%d", 8*f.Size)
	}
	return f
}
