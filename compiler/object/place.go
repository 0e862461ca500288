package object

import (
	"strings"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// place sets the Fetch of those parameters whose place follows from their
// types: integers and pointers of a word at most take the next register or
// stack word, numbers of floating point have registers of their own, and
// behind anything else no place is certain.
func (f *File) place(sym Symbol, params []Param, result types.Type) {
	if isClone(sym.Name) || !oneWord(result, f.arch) && !isFloat(result) && result != (types.Void{}) {
		// The compiler may have taken parameters away, or put one before
		// them, where a struct is returned to.
		return
	}
	words, floats := 0, 0
	for i := range params {
		p := &params[i]
		switch {
		case oneWord(p.Type, f.arch):
			words++
			fetch, ok := f.ArgFetch(sym, words)
			if !ok {
				return
			}
			p.Fetch = fetch
		case isFloat(p.Type) && f.arch.WordSize() == 8 && floats < 8:
			floats++
		default:
			return
		}
	}
}

// isClone reports whether a compiler made the function from another one, with
// parameters of its own: name.isra.0, name.constprop.0, name.part.0.
func isClone(name string) bool {
	for _, mark := range []string{".isra.", ".constprop.", ".part.", ".cold"} {
		if strings.Contains(name, mark) {
			return true
		}
	}
	return false
}

// oneWord reports whether a value of t takes one register of integers.
func oneWord(t types.Type, a target.Arch) bool {
	switch t := t.(type) {
	case types.Bool, types.Pointer:
		return true
	case types.Int:
		return t.Size <= a.WordSize()
	}
	return false
}

// isFloat reports whether t is float or double, by the names that C, Go and
// Rust have for them.
func isFloat(t types.Type) bool {
	s, ok := t.(types.Struct)
	if !ok {
		return false
	}
	switch s.Name {
	case "float", "double", "float32", "float64", "f32", "f64":
		return s.Size == 4 || s.Size == 8
	}
	return false
}
