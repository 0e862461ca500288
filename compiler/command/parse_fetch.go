package command

import (
	"math"
	"strconv"
	"strings"
)

// A probe's arguments:
//
//	ARG   := [NAME=]FETCH[:TYPE]
//	FETCH := $FIELD                                of an eprobe
//	       | $argN | $arg* | $retval | $comm | $COMM | $stack | $stackN
//	       | %REG | @ADDR | @SYM[(+|-)OFF] | @+OFF | \N | \-N | \"TEXT"
//	       | (+|-)[u]OFF(FETCH)
//	       | VAR{(->|.)MEMBER} | $retval{…} | $current[{…}]
//	       | (STRUCT[,MEMBER])X->MEMBER{(->|.)MEMBER}   X a word or (FETCH)
//	       | this_cpu_read(FETCH) | this_cpu_ptr(FETCH)
//	TYPE  := BASE["[" N "]"] | bBITS@OFFSET/OF | %pd | %pD
//
// Numbers are decimal, 0x…, or octal with a leading 0. Without NAME= the kernel
// calls it argN by its position, or by itself if it is one name (since v6.5).
// kernel/trace/trace_probe.c reads them.

// parseArgs reads the arguments of a probe of kind e, p, r, f, t, or u for a
// uprobe.
func parseArgs(kind byte, list []word) ([]Arg, error) {
	var args []Arg
	for i, w := range list {
		a, err := parseArg(kind, i+1, w)
		if err != nil {
			return nil, err
		}
		args = append(args, a)
	}
	return args, nil
}

func parseArg(kind byte, n int, w word) (a Arg, err error) {
	if kind != 'e' && kind != 'u' && strings.HasPrefix(w.text, everyArg) {
		a.Fetch = Special{Text: everyArg} // what follows is not looked at
		return a, nil
	}
	name, body, named := strings.Cut(w.text, "=")
	at := w.at + len(name) + 1
	if !named {
		body, at = w.text, w.at
	}
	switch {
	case !named:
	case name == "":
		return a, logged("Argument name is not specified", w.at, "want a name before '='")
	case len(name) > MaxArgName:
		return a, logged("Argument name is too long", w.at, "no name of an argument")
	case !isIdent(name):
		return a, logged("Argument name must follow the same rules as C identifiers", w.at, "no name of an argument")
	}
	if body == "" {
		return a, logged("No argument expression", at, wantValue)
	}
	fetch, typ := cutType(body)
	if len(fetch) < len(body) {
		if a.Type, err = parseFetchType(typ, at+len(fetch)+1); err != nil {
			return a, err
		}
	}
	if a.Fetch, err = parseFetch(kind, fetch, at); err != nil {
		return a, err
	}
	if named {
		a.Name = name
		return a, nil
	}
	a.Name = "arg" + strconv.Itoa(n)
	if f, ok := a.Fetch.(Var); ok && isIdent(f.Path) {
		a.Name = f.Path
	}
	return a, nil
}

// everyArg stands for all parameters of a function.
const everyArg = "$arg*"

// cutType parts a body at the colon before its type. There is no other colon in
// it: the kernel looks for the first.
func cutType(body string) (fetch, typ string) {
	fetch, typ, _ = strings.Cut(body, ":")
	return fetch, typ
}

func parseFetchType(s string, at int) (t FetchType, err error) {
	base, n, isArray := strings.Cut(s, "[")
	if isArray {
		n, after, closed := strings.Cut(n, "]")
		switch {
		case !closed:
			return t, logged("Array is not closed", at+len(s), "want ']'")
		case after != "":
			return t, logged("Array has wrong suffix", at+len(s)-len(after), "want nothing after ']'")
		}
		want := "want a count of 1 to " + strconv.Itoa(MaxArray)
		if t.Count, err = parseSmall(n); err != nil || t.Count < 1 {
			return t, logged("Invalid array size", at, want)
		}
		if t.Count > MaxArray {
			return t, logged("Array number is too big", at, want)
		}
	}
	t.Base = base
	if of, ok := strings.CutPrefix(base, "b"); ok {
		t.Base = "b"
		return t, t.parseBits(of, at)
	}
	if t.Base == "" || spellType(t) != nil {
		return t, logged("Unknown type is specified", at, "no such type")
	}
	return t, nil
}

// parseBits reads BITS@OFFSET/OF, which stands after a 'b'.
func (t *FetchType) parseBits(s string, at int) error {
	const want = "want bBITS@OFFSET/OF"
	before, of, ok := strings.Cut(s, "/")
	var err error
	if t.Of, err = parseSmall(of); !ok || err != nil || t.Of != 8 && t.Of != 16 && t.Of != 32 && t.Of != 64 {
		return logged("Unknown type is specified", at, want)
	}
	bits, off, ok := strings.Cut(before, "@")
	var err1, err2 error
	t.Bits, err1 = parseSmall(bits)
	t.Offset, err2 = parseSmall(off)
	if !ok || first(err1, err2) != nil || strings.ContainsAny(before, "+-") || spellType(*t) != nil {
		return logged("Invalid bitfield", at, want)
	}
	return nil
}

// parseSmall reads a number that an int holds anywhere.
func parseSmall(s string) (int, error) {
	n, err := parseUint(s)
	if err != nil || n > math.MaxInt32 {
		return 0, errNumber
	}
	return int(n), nil
}

// maxNesting bounds how deep fetches nest here. The kernel's limit is 16 steps.
const maxNesting = 64

func parseFetch(kind byte, s string, at int) (Fetch, error) {
	return fetchParser{kind}.fetch(s, at, 0)
}

// fetchParser reads the arguments of one kind of probe.
type fetchParser struct{ kind byte }

// The kernel's words for what cannot be read, and one of ours.
const (
	badVariable = "Invalid $-variable specified"
	badValue    = "Invalid fetch argument"
	wantValue   = "want a value"
)

func (p fetchParser) fetch(s string, at, depth int) (Fetch, error) {
	if s == "" || depth > maxNesting {
		return nil, logged(badValue, at, wantValue)
	}
	switch s[0] {
	case '$':
		return p.dollar(s, at)
	case '%':
		if !isToken(s[1:]) {
			return nil, logged("Invalid register name", at, "want a register")
		}
		return Reg{Name: s[1:]}, nil
	case '@':
		return p.memory(s, at)
	case '\\':
		return parseImm(s, at)
	case '+', '-':
		return p.deref(s, at, depth)
	case '(':
		return p.typecast(s, at, depth)
	}
	if isSpecial(s) && spellSpecial(s) == nil {
		return Special{Text: s}, nil
	}
	if isArrowPath(s) {
		return Var{Path: s}, nil
	}
	// The kernel looks among its types for what begins with a letter.
	switch c := s[0] | 0x20; {
	case s[0] != '_' && (c < 'a' || c > 'z'):
		return nil, logged(badValue, at, wantValue)
	case p.kind == 'e' || p.kind == 'u':
		return nil, logged("BTF is not available or not supported", at, wantValue)
	case strings.Contains(strings.ReplaceAll(s, "->", ""), "-"):
		return nil, logged("Failed to parse single hyphen. Forgot '>'?", at, wantValue)
	case strings.HasSuffix(s, "->") && isArrowPath(strings.TrimSuffix(s, "->")):
		return nil, failed("ENOENT", "This field is not found.", at, "want a member after '->'")
	}
	return nil, failed("ENOENT", "This variable is not found at this probe point", at, wantValue)
}

// dollar reads what begins with a dollar. To an eprobe it is a field of its
// event: `$comm` too, though it is the task's name if there is no such field.
func (p fetchParser) dollar(s string, at int) (Fetch, error) {
	name := s[1:]
	switch {
	case name == "COMM" || name == "comm" && p.kind != 'e':
		return Comm{}, nil
	case p.kind == 'e':
		if !isIdent(name) {
			return nil, logged(badVariable, at, "want a field")
		}
		return FieldOf{Name: name}, nil
	case name == "retval":
		return RetVal{}, nil
	case name == "stack":
		return StackAddr{}, nil
	}
	if digits, ok := strings.CutPrefix(name, "stack"); ok && all(digits, isDigit) {
		if n, err := strconv.ParseUint(digits, 10, 31); err == nil {
			return StackN{N: int(n)}, nil
		}
	}
	if digits, ok := strings.CutPrefix(name, "arg"); ok && digits != "" && isDigit(digits[0]) && all(digits, isDigit) {
		n, err := strconv.ParseUint(digits, 10, 31)
		if err != nil || n == 0 {
			return nil, logged("Invalid argument number", at, "arguments are counted from 1")
		}
		return ArgN{N: int(n)}, nil
	}
	if isSpecial(s) && spellSpecial(s) == nil {
		return Special{Text: s}, nil
	}
	return nil, logged(badVariable, at, "no such variable")
}

// memory is `@ADDRESS`, `@SYMBOL` or `@+OFFSET`.
func (p fetchParser) memory(s string, at int) (Fetch, error) {
	body := s[1:]
	if off, ok := strings.CutPrefix(body, "+"); ok {
		n, err := parseUint(off)
		switch {
		case err == nil:
			return FileAt{Off: n}, nil
		case p.kind != 'u':
			return nil, logged("File offset is not available with kprobe", at, "only a uprobe has a file")
		}
		return nil, logged("Invalid file offset value", at, "want an offset")
	}
	if body != "" && isDigit(body[0]) {
		n, err := parseUint(body)
		if err != nil {
			return nil, failed(rangeErrno(err), "Invalid memory address", at, "want an address")
		}
		return At{Addr: n}, nil
	}
	if p.kind == 'u' && spellSymbol(body) != nil {
		return nil, logged("Symbol is not available with uprobe", at, "want an address")
	}
	f := At{Symbol: body}
	if i := strings.IndexAny(body, "+-"); i >= 0 {
		off, err := parseInt(body[i:])
		if err != nil {
			return nil, failed(rangeErrno(err), "", at+1+i, "want an offset")
		}
		f.Symbol, f.Off = body[:i], off
	}
	if !isSymbol(f.Symbol) {
		return nil, failed("ENOENT", "", at, "want a symbol")
	}
	return f, nil
}

func parseImm(s string, at int) (Fetch, error) {
	body := s[1:]
	if text, ok := strings.CutPrefix(body, `"`); ok {
		// The kernel looks at the last character alone.
		if !strings.HasSuffix(text, `"`) {
			return nil, logged(`String is not closed with '"'`, at, `want a string between \" and "`)
		}
		return ImmString{Text: strings.TrimSuffix(text, `"`)}, nil
	}
	var n int64
	var u uint64
	err := errNumber
	switch {
	case body == "":
	case isDigit(body[0]):
		u, err = parseUint(body)
		n = int64(u)
	case body[0] == '-':
		n, err = parseInt(body)
	case body[0] == '+':
		n, err = parseInt(body[1:])
	}
	if err != nil {
		return nil, failed(rangeErrno(err), "Invalid immediate value", at, "want a number")
	}
	return Imm{N: n, Unsigned: u > math.MaxInt64}, nil
}

func (p fetchParser) deref(s string, at, depth int) (Fetch, error) {
	open := strings.IndexByte(s, '(')
	if open < 0 {
		return nil, logged("Dereference needs a brace", at, wantDeref)
	}
	f := Deref{}
	off := s[:open]
	if len(off) > 1 && off[1] == 'u' {
		f.User = true
		off = off[:1] + off[2:]
	}
	var err error
	if f.Off, err = parseInt(strings.TrimPrefix(off, "+")); err != nil {
		return nil, failed(rangeErrno(err), "Invalid dereference offset", at, "want an offset")
	}
	end := strings.LastIndexByte(s, ')') // what follows it is not looked at
	if end < open {
		return nil, logged("Dereference brace is not closed", at+len(s), wantDeref)
	}
	f.X, err = p.fetch(s[open+1:end], at+open+1, depth+1)
	return f, err
}

const wantDeref = "want OFFSET(VALUE)"

func (p fetchParser) typecast(s string, at, depth int) (Fetch, error) {
	end := strings.IndexByte(s, ')')
	if end < 0 {
		return nil, logged(badValue, at, "want ')'")
	}
	f := Typecast{}
	f.Struct, f.Member, _ = strings.Cut(s[1:end], ",")
	inner, path := s[end+1:], ""
	innerAt := at + end + 1
	if n := operandLen(inner); n < len(inner) {
		rest, ok := strings.CutPrefix(inner[n:], "->")
		if !ok {
			return nil, logged(badValue, innerAt+n, "want '->'")
		}
		inner, path = inner[:n], rest
		if path == "" {
			return nil, logged(badValue, at+len(s), "want a member")
		}
	}
	f.Path = path
	if strings.HasPrefix(inner, "(") {
		if len(inner) < 3 || inner[len(inner)-1] != ')' {
			return nil, logged(badValue, innerAt, "want a value in parentheses")
		}
		inner = inner[1 : len(inner)-1]
		innerAt++
	}
	var err error
	if f.X, err = p.fetch(inner, innerAt, depth+1); err != nil {
		return nil, err
	}
	if spellTypecast(f) != nil {
		return nil, logged(badValue, at, "want a typecast")
	}
	return f, nil
}

// operandLen returns the length of what a typecast is of: up to the arrow, but
// not within parentheses. A "(" without its ")" is all of s.
func operandLen(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
			if depth == 0 && s[0] == '(' {
				return i + 1
			}
		case '-':
			if depth == 0 && strings.HasPrefix(s[i:], "->") {
				return i
			}
		}
	}
	return len(s)
}
