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
	name, body, named := strings.Cut(w.text, "=")
	at := w.at + len(name) + 1
	if !named {
		body, at = w.text, w.at
	}
	fetch, typ := cutType(body)
	if a.Fetch, err = parseFetch(kind, fetch, at); err != nil {
		return a, err
	}
	if len(fetch) < len(body) {
		if a.Type, err = parseFetchType(typ, at+len(fetch)+1); err != nil {
			return a, err
		}
	}
	if named {
		if a.Name = name; !isIdent(name) || len(name) > MaxArgName {
			return a, errAt(w.at, "no name of an argument")
		}
		return a, nil
	}
	a.Name = "arg" + strconv.Itoa(n)
	switch f := a.Fetch.(type) {
	case Var:
		if isIdent(f.Path) {
			a.Name = f.Path
		}
	case Special:
		if f.Text == "$arg*" {
			a.Name = ""
		}
	}
	return a, nil
}

// cutType parts a body at the colon before its type. There is no other colon in
// it: the kernel looks for the first.
func cutType(body string) (fetch, typ string) {
	fetch, typ, _ = strings.Cut(body, ":")
	return fetch, typ
}

func parseFetchType(s string, at int) (t FetchType, err error) {
	base := s
	if strings.HasSuffix(s, "]") {
		before, n, ok := strings.Cut(s[:len(s)-1], "[")
		base = before
		if t.Count, err = parseSmall(n); !ok || err != nil || t.Count < 1 || t.Count > MaxArray {
			return t, errAt(at, "want a count of 1 to %d", MaxArray)
		}
	}
	t.Base = base
	if strings.HasPrefix(base, "b") {
		bits, rest, ok1 := strings.Cut(base[1:], "@")
		off, of, ok2 := strings.Cut(rest, "/")
		var err1, err2, err3 error
		t.Base = "b"
		t.Bits, err1 = parseSmall(bits)
		t.Offset, err2 = parseSmall(off)
		t.Of, err3 = parseSmall(of)
		if !ok1 || !ok2 || first(err1, err2, err3) != nil || t.Bits == 0 {
			return t, errAt(at, "want bBITS@OFFSET/OF")
		}
	}
	if t.Base == "" || spellType(t) != nil {
		return t, errAt(at, "no such type")
	}
	return t, nil
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

func (p fetchParser) fetch(s string, at, depth int) (Fetch, error) {
	if s == "" || depth > maxNesting {
		return nil, errAt(at, "want a value")
	}
	switch s[0] {
	case '$':
		return p.dollar(s, at)
	case '%':
		if !isToken(s[1:]) {
			return nil, errAt(at, "want a register")
		}
		return Reg{Name: s[1:]}, nil
	case '@':
		return parseAt(s, at)
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
	if !isArrowPath(s) {
		return nil, errAt(at, "want a value")
	}
	return Var{Path: s}, nil
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
			return nil, errAt(at, "want a field")
		}
		return FieldOf{Name: name}, nil
	case name == "retval":
		return RetVal{}, nil
	case name == "stack":
		return StackAddr{}, nil
	}
	if digits, ok := strings.CutPrefix(name, "stack"); ok && all(digits, isDigit) {
		if n, err := strconv.ParseInt(digits, 10, 32); err == nil {
			return StackN{N: int(n)}, nil
		}
	}
	if digits, ok := strings.CutPrefix(name, "arg"); ok && all(digits, isDigit) {
		if n, err := strconv.ParseInt(digits, 10, 32); err == nil && n > 0 {
			return ArgN{N: int(n)}, nil
		}
	}
	if isSpecial(s) && spellSpecial(s) == nil {
		return Special{Text: s}, nil
	}
	return nil, errAt(at, "no such variable")
}

func parseAt(s string, at int) (Fetch, error) {
	body := s[1:]
	if off, ok := strings.CutPrefix(body, "+"); ok {
		n, err := parseUint(off)
		if err != nil {
			return nil, errAt(at, "want an offset")
		}
		return FileAt{Off: n}, nil
	}
	if body != "" && isDigit(body[0]) {
		n, err := parseUint(body)
		if err != nil {
			return nil, errAt(at, "want an address")
		}
		return At{Addr: n}, nil
	}
	f := At{Symbol: body}
	if i := strings.IndexAny(body, "+-"); i >= 0 {
		off, err := parseSigned(body[i:])
		if err != nil {
			return nil, errAt(at+1+i, "want an offset")
		}
		f.Symbol, f.Off = body[:i], off
	}
	if spellSymbol(f.Symbol) != nil {
		return nil, errAt(at, "want a symbol")
	}
	return f, nil
}

// parseSigned reads a number that has a sign. After a plus the kernel takes a
// minus, too.
func parseSigned(s string) (int64, error) {
	if strings.HasPrefix(s, "+-") {
		s = s[1:]
	}
	n, err := parseUint(s[1:])
	switch {
	case err != nil:
		return 0, err
	case s[0] == '-' && n <= 1<<63:
		return -int64(n), nil
	case s[0] == '+' && n <= math.MaxInt64:
		return int64(n), nil
	}
	return 0, errNumber
}

func parseImm(s string, at int) (Fetch, error) {
	body := s[1:]
	if text, ok := strings.CutPrefix(body, `"`); ok {
		text, ok = strings.CutSuffix(text, `"`)
		if !ok || spellImmString(text) != nil {
			return nil, errAt(at, `want a string between \" and "`)
		}
		return ImmString{Text: text}, nil
	}
	if strings.HasPrefix(body, "-") {
		n, err := parseSigned(body)
		if err != nil {
			return nil, errAt(at, "want a number")
		}
		return Imm{N: n}, nil
	}
	n, err := parseUint(body)
	if err != nil {
		return nil, errAt(at, "want a number")
	}
	return Imm{N: int64(n), Unsigned: n > math.MaxInt64}, nil
}

func (p fetchParser) deref(s string, at, depth int) (Fetch, error) {
	open := strings.IndexByte(s, '(')
	if open < 0 || s[len(s)-1] != ')' {
		return nil, errAt(at, "want OFFSET(VALUE)")
	}
	f := Deref{}
	off := s[:open]
	if len(off) > 1 && off[1] == 'u' {
		f.User = true
		off = off[:1] + off[2:]
	}
	var err error
	if f.Off, err = parseSigned(off); err != nil {
		return nil, errAt(at, "want an offset")
	}
	f.X, err = p.fetch(s[open+1:len(s)-1], at+open+1, depth+1)
	return f, err
}

func (p fetchParser) typecast(s string, at, depth int) (Fetch, error) {
	end := strings.IndexByte(s, ')')
	if end < 0 {
		return nil, errAt(at, "want ')'")
	}
	f := Typecast{}
	f.Struct, f.Member, _ = strings.Cut(s[1:end], ",")
	inner, path := s[end+1:], ""
	innerAt := at + end + 1
	if n := operandLen(inner); n < len(inner) {
		rest, ok := strings.CutPrefix(inner[n:], "->")
		if !ok {
			return nil, errAt(innerAt+n, "want '->'")
		}
		inner, path = inner[:n], rest
		if path == "" {
			return nil, errAt(at+len(s), "want a member")
		}
	}
	f.Path = path
	if strings.HasPrefix(inner, "(") {
		if len(inner) < 3 || inner[len(inner)-1] != ')' {
			return nil, errAt(innerAt, "want a value in parentheses")
		}
		inner = inner[1 : len(inner)-1]
		innerAt++
	}
	var err error
	if f.X, err = p.fetch(inner, innerAt, depth+1); err != nil {
		return nil, err
	}
	if spellTypecast(f) != nil {
		return nil, errAt(at, "want a typecast")
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
