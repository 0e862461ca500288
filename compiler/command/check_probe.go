package command

import (
	"errors"
	"fmt"
	"strings"
)

// spellArgs checks the arguments of an eprobe or another probe.
func spellArgs(args []Arg, ofEprobe bool) error {
	for _, a := range args {
		special, ok := a.Fetch.(Special)
		switch {
		case a.Name == "" && ok && special.Text == "$arg*":
		case !isIdent(a.Name) || len(a.Name) > MaxArgName:
			return fmt.Errorf("argument name %q", a.Name)
		}
		if err := first(spellFetch(a.Fetch), spellDollar(a.Fetch, ofEprobe), spellType(a.Type)); err != nil {
			return fmt.Errorf("argument '%s': %w", a.Name, err)
		}
	}
	return nil
}

// spellType checks what stands behind the colon of an argument.
func spellType(t FetchType) error {
	switch t.Base {
	case "b":
		if t.Count < 0 || t.Count > MaxArray || t.Bits < 1 || t.Offset < 0 || t.Bits+t.Offset > t.Of {
			return errors.New("bit field out of its container")
		}
		switch t.Of {
		case 8, 16, 32, 64:
			return nil
		}
		return fmt.Errorf("bit field of %d bits", t.Of)
	case "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "x8", "x16", "x32", "x64",
		"char", "string", "ustring", "symbol", "symstr", "%pd", "%pD":
		if t.Count < 0 || t.Count > MaxArray || t.Bits != 0 || t.Offset != 0 || t.Of != 0 {
			return fmt.Errorf("%d elements of type %s", t.Count, t.Base)
		}
		return nil
	case "":
		if t != (FetchType{}) {
			return errors.New("type without a base")
		}
		return nil
	}
	return fmt.Errorf("type %q", t.Base)
}

func spellFetch(f Fetch) error {
	switch f := f.(type) {
	case FieldOf:
		if f.Name == "COMM" {
			return errors.New("field COMM, which is the task's name")
		}
		return spellIdent("field", f.Name)
	case ArgN:
		if f.N < 1 {
			return fmt.Errorf("$arg%d", f.N)
		}
	case StackN:
		if f.N < 0 {
			return fmt.Errorf("$stack%d", f.N)
		}
	case RetVal, Comm, StackAddr, FileAt, Imm:
	case Reg:
		if !isToken(f.Name) {
			return fmt.Errorf("register %q", f.Name)
		}
	case At:
		if f.Symbol != "" {
			return spellSymbol(f.Symbol)
		}
		if f.Off != 0 {
			return errors.New("offset from an address")
		}
	case ImmString:
		return spellImmString(f.Text)
	case Deref:
		if _, isText := f.X.(ImmString); isText || f.X == nil {
			return errors.New("dereference of no address")
		}
		return spellFetch(f.X)
	case Var:
		if !isArrowPath(f.Path) {
			return fmt.Errorf("variable %q", f.Path)
		}
	case Typecast:
		return spellTypecast(f)
	case Special:
		return spellSpecial(f.Text)
	default:
		return fmt.Errorf("no such fetch: %T", f)
	}
	return nil
}

// spellImmString is for the text of \"…": there are no escapes, words are
// parted before quotes are seen, a comment sign counts in it, and a colon begins
// the type. Kernels up to v7.3 look for the last quote and so take one in the
// text; that is not relied on.
func spellImmString(s string) error {
	bad := func(c byte) bool { return isBlank(c) || isControl(c) || c == '#' || c == '"' || c == ':' }
	for i := range len(s) {
		if bad(s[i]) {
			return fmt.Errorf("immediate string %q", s)
		}
	}
	return nil
}

// spellDollar checks that f means what it says in its kind of probe: to an eprobe
// everything with a dollar is a field, to the others nothing is.
func spellDollar(f Fetch, ofEprobe bool) error {
	isField, isOther := false, false
	switch f := f.(type) {
	case FieldOf:
		isField = true
	case ArgN, RetVal, StackAddr, StackN:
		isOther = true
	case Special:
		isOther = f.Text[0] == '$'
	case Deref:
		return spellDollar(f.X, ofEprobe)
	case Typecast:
		return spellDollar(f.X, ofEprobe)
	}
	if ofEprobe && isOther {
		return errors.New("an eprobe has only its event's fields")
	}
	if !ofEprobe && isField {
		return errors.New("field of an event that is none of an eprobe's")
	}
	return nil
}

func spellTypecast(f Typecast) error {
	if err := spellIdent("struct", f.Struct); err != nil {
		return err
	}
	if f.Member != "" && !isArrowPath(f.Member) {
		return fmt.Errorf("member %q", f.Member)
	}
	if f.Path != "" && !isArrowPath(f.Path) {
		return fmt.Errorf("members %q", f.Path)
	}
	if _, isText := f.X.(ImmString); isText || f.X == nil {
		return errors.New("typecast of no address")
	}
	return spellFetch(f.X)
}

// spellSpecial is for the forms that are kept as text. They stay one fetch: no
// blank, no colon before a type, no comment, and parentheses that match.
func spellSpecial(s string) error {
	depth := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case !isWord(c) && !strings.ContainsRune("$*@+-.>,%", rune(c)):
			return fmt.Errorf("fetch %q", s)
		}
		if depth < 0 {
			return fmt.Errorf("fetch %q", s)
		}
	}
	if depth != 0 || !isSpecial(s) {
		return fmt.Errorf("fetch %q", s)
	}
	return nil
}

// isSpecial reports whether s has the shape of a Special.
func isSpecial(s string) bool {
	switch {
	case s == "$arg*", s == "$current":
		return true
	case strings.HasPrefix(s, "this_cpu_read("), strings.HasPrefix(s, "this_cpu_ptr("):
		return strings.IndexByte(s, ')') == len(s)-1
	}
	s, ok := strings.CutPrefix(s, "$")
	first, _, _ := strings.Cut(strings.ReplaceAll(s, "->", "."), ".")
	isVar := first == "current" || first == "retval" ||
		strings.HasPrefix(first, "arg") && len(first) > 3 && all(first[3:], isDigit)
	return ok && isVar && len(s) > len(first) && isArrowPath(s)
}

func hasArrow(s string) bool { return strings.Contains(s, "->") || strings.Contains(s, ".") }

// isArrowPath reports whether s is identifiers between arrows and dots.
func isArrowPath(s string) bool {
	for _, part := range strings.Split(strings.ReplaceAll(s, "->", "."), ".") {
		if !isIdent(part) {
			return false
		}
	}
	return true
}
