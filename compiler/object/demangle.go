package object

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// maxMangled is the length in bytes of the longest name that is demangled.
// Longer ones are machine-made beyond use.
const maxMangled = 8 << 10

// maxDemangled is the length of the longest name that comes of it, as a power
// of 2: a name of C++ may refer to its own parts again and again.
const maxDemangled = 14

// mangled reports whether a symbol's name looks like one of C++ or Rust.
func mangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R")
}

// demangled returns what a mangled name was made from, "" if it is not one.
func demangled(name string, options ...demangle.Option) (s string) {
	if !mangled(name) || len(name) > maxMangled {
		return ""
	}
	defer func() {
		if recover() != nil {
			s = ""
		}
	}()
	s, err := demangle.ToString(name, append(options, demangle.MaxLength(maxDemangled))...)
	if err != nil {
		return ""
	}
	return s
}

// demangled adds the symbols whose names in the source are name: with or
// without parameter types, template arguments and the type of the result.
func (h *hits) demangled(t *table, name string) {
	want := squeeze(name)
	word := lastWord(name)
	for i := range t.len() {
		n := t.nameAt(i)
		if !mangled(n) || !strings.Contains(n, word) {
			continue
		}
		n, _, _ = strings.Cut(n, "@")
		if sourceNamed(n, want) {
			h.add(t, t.at(i))
		}
	}
}

// sourceNamed reports whether the source's name for a symbol is want, which
// has no blanks.
func sourceNamed(symbol, want string) bool {
	full := squeeze(demangled(symbol))
	if full == "" {
		return false
	}
	if full == want {
		return true
	}
	noParams := squeeze(demangled(symbol, demangle.NoParams))
	if noParams == want {
		return true
	}
	// A template's full name begins with the type of its result.
	if _, rest, ok := strings.Cut(full, noParams); ok && noParams+rest == want {
		return true
	}
	if strings.HasPrefix(symbol, "_R") {
		return rustNamed(demangled(symbol), want)
	}
	return squeeze(demangled(symbol, demangle.NoParams, demangle.NoTemplateParams)) == want
}

// rustNamed reports whether a demangled name of Rust, a::<b::C>::f::<u32>, is
// want but for the types of generic functions and the brackets that the newer
// mangling has around a type with methods: <a::C>::f is a::C::f.
func rustNamed(full, want string) bool {
	if end := closing(full); end > 0 && full[0] == '<' && !strings.Contains(full[:end], " as ") {
		full = full[1:end] + full[end+1:]
	}
	full = squeeze(full)
	for full != want {
		at := strings.Index(full, "::<")
		if at < 0 {
			return false
		}
		end := closing(full[at+2:])
		if end < 0 {
			return false
		}
		full = full[:at] + full[at+2+end+1:]
	}
	return true
}

// closing returns where the bracket closes that s begins with, -1 if nowhere.
func closing(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '<':
			depth++
		case '>':
			if i > 0 && s[i-1] == '-' {
				continue // the arrow of a function's type
			}
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// squeeze takes blanks away: "f(unsigned int, char)" may be spelt with others.
// A blank between words goes too, on both sides of the comparison.
func squeeze(s string) string { return strings.ReplaceAll(s, " ", "") }

// lastWord returns the identifier that the mangled form of a name must have
// in it: the last before its parameters. It is "" if there is none, as for an
// operator.
func lastWord(name string) string {
	depth, end := 0, len(name)
scan:
	for i := range len(name) {
		switch name[i] {
		case '<':
			depth++
		case '>':
			depth--
		case '(':
			if depth == 0 && i > 0 && !strings.HasSuffix(name[:i], "::") {
				end = i
				break scan
			}
		}
	}
	name = name[:end]
	if strings.Contains(name, "operator") {
		return ""
	}
	if i := strings.IndexByte(name, '<'); i > 0 && strings.HasSuffix(name, ">") && !strings.Contains(name[i:], ">::") {
		name = name[:i]
	}
	for end = len(name); end > 0 && !identByte(name[end-1]); end-- {
	}
	start := end
	for start > 0 && identByte(name[start-1]) {
		start--
	}
	return name[start:end]
}

func identByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// nearMangled returns the source's name of a mangled symbol if it may be near
// to name, "" otherwise. Demangling is dear, so a name without "::" is looked
// for among those that have it in them, and one with it among all.
func (f *File) nearMangled(name, symbol string) string {
	if !strings.Contains(name, "::") && !strings.Contains(symbol, name) {
		return ""
	}
	return demangled(symbol, demangle.NoParams, demangle.NoTemplateParams)
}
