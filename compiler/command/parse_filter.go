package command

import (
	"strconv"
	"strings"
)

// Conditions, as people write them and kernels read them:
//
//	cond  := or
//	or    := and {"||" and}
//	and   := unary {"&&" unary}
//	unary := {"!"} ("(" or ")" | pred)
//	pred  := FIELD[".ustring" | ".function"] OP VALUE
//	OP    := "==" | "!=" | "<=" | "<" | ">=" | ">" | "&" | "~"
//	VALUE := ["-"] WORD | "\"" … "\"" | "'" … "'" | "CPUS{" … "}"
//
// Blanks may stand between any two of them. A string has no escapes: it ends at
// the next quote of its kind. The name of a function goes on to the next blank.
// A condition that ends in an operator is refused here, although v6.17 and
// v7.2 take it. kernel/trace/trace_events_filter.c reads them.

// parseFilterFile reads the line of a filter file: "0" clears the filter, and
// "none" is what is read back then.
func parseFilterFile(event EventName, line string) (Command, error) {
	if s := trim(line); s == "0" || s == "none" {
		return &Filter{Event: event}, nil
	}
	cond, err := parseCond(line, 0)
	if err != nil {
		return nil, err
	}
	return &Filter{Event: event, If: cond}, nil
}

// parseCond reads all of s, which begins at offset base of its line.
func parseCond(s string, base int) (Cond, error) {
	p := &condParser{s: s, base: base}
	c, err := p.or(0)
	if err != nil {
		return nil, err
	}
	p.blanks()
	switch rest := p.s[p.i:]; {
	case rest == "":
		return c, nil
	case rest[0] == ')':
		return nil, p.fail("EPERM", "Too few '('", "want '&&' or '||'")
	case strings.IndexByte(`"'`, rest[0]) >= 0 && strings.Count(rest, rest[:1]) == 1:
		return nil, p.fail("ESRCH", "Missing matching quote", "want '&&' or '||'")
	}
	return nil, p.fail("EPERM", "Too many terms in predicate expression", "want '&&' or '||'")
}

// maxDepth bounds how deep conditions nest.
const maxDepth = 500

type condParser struct {
	s    string
	base int
	i    int // next byte
}

func (p *condParser) fail(errno, kernel, message string) error {
	return failed(errno, kernel, p.base+p.i, message)
}

func (p *condParser) blanks() {
	for p.i < len(p.s) && isBlank(p.s[p.i]) {
		p.i++
	}
}

// take reads token if it is next.
func (p *condParser) take(token string) bool {
	p.blanks()
	if !strings.HasPrefix(p.s[p.i:], token) {
		return false
	}
	p.i += len(token)
	return true
}

func (p *condParser) or(depth int) (Cond, error) {
	list, err := p.list("||", depth, p.and)
	if err != nil || len(list) == 1 {
		return one(list), err
	}
	return &Or{List: list}, nil
}

func (p *condParser) and(depth int) (Cond, error) {
	list, err := p.list("&&", depth, p.unary)
	if err != nil || len(list) == 1 {
		return one(list), err
	}
	return &And{List: list}, nil
}

func one(list []Cond) Cond {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func (p *condParser) list(between string, depth int, part func(int) (Cond, error)) ([]Cond, error) {
	var list []Cond
	for {
		c, err := part(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
		if !p.take(between) {
			return list, nil
		}
	}
}

func (p *condParser) unary(depth int) (Cond, error) {
	if depth > maxDepth {
		return nil, p.fail("", "", "condition nests too deep")
	}
	if p.take("!") {
		c, err := p.unary(depth + 1)
		if err != nil {
			return nil, err
		}
		return &Not{X: c}, nil
	}
	if !p.take("(") {
		return p.pred()
	}
	c, err := p.or(depth + 1)
	if err != nil {
		return nil, err
	}
	if !p.take(")") {
		return nil, p.fail("ENOENT", "Too many '('", "want ')'")
	}
	return c, nil
}

func (p *condParser) pred() (Cond, error) {
	c := &Pred{}
	p.blanks()
	start := p.i
	c.Field = p.word(isWord)
	if !isIdent(c.Field) {
		p.i = start
		return nil, p.noField()
	}
	if p.i < len(p.s) && p.s[p.i] == '.' {
		p.i++
		start = p.i
		c.Suffix = p.word(isWord)
		if c.Suffix != "ustring" && c.Suffix != "function" {
			p.i = start
			return nil, p.fail("", invalidOp, "want 'ustring' or 'function'")
		}
	}
	for _, op := range []string{"==", "!=", "<=", "<", ">=", ">", "&", "~"} {
		if p.take(op) {
			c.Op = op
			break
		}
	}
	if c.Op == "" {
		return nil, p.fail("", invalidOp, "want one of == != < <= > >= & ~")
	}
	p.blanks()
	start = p.i
	if err := p.value(c); err != nil {
		return nil, err
	}
	if spellPred(c) != nil {
		p.i = start
		return nil, p.noValue(c)
	}
	return c, nil
}

// word reads bytes that are of a kind.
func (p *condParser) word(is func(byte) bool) string {
	start := p.i
	for p.i < len(p.s) && is(p.s[p.i]) {
		p.i++
	}
	return p.s[start:p.i]
}

func (p *condParser) value(c *Pred) error {
	if p.i >= len(p.s) {
		return p.fail("", noQuotes, wantValue)
	}
	start := p.i
	switch quote := p.s[p.i]; {
	case quote == '"' || quote == '\'':
		end := strings.IndexByte(p.s[p.i+1:], quote)
		if end < 0 {
			return p.fail("ESRCH", "Missing matching quote", "want the quote that ends the string")
		}
		c.Value = Value{Kind: String, Text: p.s[p.i+1 : p.i+1+end]}
		p.i += end + 2
	case strings.HasPrefix(p.s[p.i:], "CPUS{"):
		end := strings.IndexByte(p.s[p.i:], '}')
		if end < 0 {
			return p.fail("", "Missing '}'", "want '}'")
		}
		c.Value = Value{Kind: CPUs, Text: p.s[p.i+len("CPUS{") : p.i+end]}
		p.i += end + 1
	default:
		if quote == '-' {
			p.i++
		}
		p.word(func(b byte) bool { return isWord(b) || b == '.' || b == '$' })
		c.Value.Text = p.s[start:p.i]
	}
	if spellValue(c.Value) != nil {
		p.i = start
		return p.noValue(c)
	}
	return nil
}

// The kernel's words for two mistakes.
const (
	invalidOp = "Invalid operator"
	noQuotes  = "Invalid value (did you forget quotes)?"
)

// isNumeric reports whether s begins as a number does.
func isNumeric(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && isDigit(s[0])
}

// noField refuses what stands where a field should. Words that begin with a digit
// are looked for among the fields; what is no word is not.
func (p *condParser) noField() error {
	switch {
	case p.i == len(p.s):
		return p.fail("", "Meaningless filter expression", "want a field")
	case isWord(p.s[p.i]):
		return p.fail("", "Field not found", "want a field")
	}
	return p.fail("EPERM", "Error", "want a field")
}

// noValue refuses what stands where a value should, or does not go with the
// operator.
func (p *condParser) noValue(c *Pred) error {
	const illegal = "Illegal operation for field type"
	want := "want a number, or text between quotes where the field is text"
	switch v := c.Value; {
	case c.Suffix == "function":
		return p.fail("", "Function not found", "want the name of a function, compared by == or !=")
	case v.Kind == String && len(v.Text) > MaxFilterString:
		return p.fail("", "Operand too long", "want at most "+strconv.Itoa(MaxFilterString)+" bytes of text")
	case v.Kind == String:
		return p.fail("", illegal, "text is compared by ==, != and ~ alone")
	case v.Kind == CPUs && c.Op != "==" && c.Op != "!=" && c.Op != "&":
		return p.fail("", illegal, "sets of CPUs are compared by ==, != and & alone")
	case v.Kind == CPUs:
		return p.fail("", "Invalid cpulist", "want a list of CPUs")
	case v.Text == "CPUS":
		return p.fail("", "Missing '{'", "want 'CPUS{'")
	case v.Text == "":
		want = wantValue
	case isNumeric(v.Text) && strings.ContainsAny(v.Text, "._$"):
		return p.fail("EPERM", "Too many terms in predicate expression", "want a whole number")
	case isNumeric(v.Text) && c.Op == "~":
		return p.fail("", illegal, "numbers have no patterns")
	case isNumeric(v.Text):
		return p.fail("", "Illegal integer value", "want a number that 64 bits hold, decimal, octal or 0x…")
	}
	return p.fail("", noQuotes, want)
}
