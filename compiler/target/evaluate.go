package target

import (
	"strconv"
	"strings"
)

// evaluate returns the value of a C expression of numbers, as 64 bits; false
// if it has anything else in it. Arithmetic is on 64 bits and unsigned, which
// gives the right bits for all that print formats hold.
//
//	EXPR := UNARY {OP UNARY}      OP := * + - << >> & ^ |, C's precedence
//	UNARY := NUMBER | '(' EXPR ')' | CAST UNARY | ('-'|'~'|'+') UNARY
func evaluate(s string) (uint64, bool) {
	e := expr{s: s}
	v, ok := e.binary(0)
	e.blank()
	return v, ok && e.at == len(e.s)
}

type expr struct {
	s     string
	at    int
	depth int
}

// maxDepth bounds the nesting of parentheses; real ones have about 10.
const maxDepth = 64

func (e *expr) blank() {
	for e.at < len(e.s) && (e.s[e.at] == ' ' || e.s[e.at] == '\t') {
		e.at++
	}
}

// binaryOps are C's operators by precedence, the loosest first.
var binaryOps = [...][]string{{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*"}}

func (e *expr) binary(level int) (uint64, bool) {
	if level == len(binaryOps) {
		return e.unary()
	}
	v, ok := e.binary(level + 1)
	for ok {
		op := ""
		e.blank()
		for _, o := range binaryOps[level] {
			// "||" and "&&" are no sums of bits.
			if strings.HasPrefix(e.s[e.at:], o) && !strings.HasPrefix(e.s[e.at:], o+o) {
				op = o
			}
		}
		if op == "" {
			return v, true
		}
		e.at += len(op)
		var w uint64
		if w, ok = e.binary(level + 1); !ok {
			break
		}
		switch op {
		case "|":
			v |= w
		case "^":
			v ^= w
		case "&":
			v &= w
		case "<<":
			v <<= w
		case ">>":
			v >>= w
		case "+":
			v += w
		case "-":
			v -= w
		case "*":
			v *= w
		}
	}
	return 0, false
}

func (e *expr) unary() (uint64, bool) {
	if e.depth++; e.depth > maxDepth {
		return 0, false
	}
	defer func() { e.depth-- }()
	e.blank()
	if e.at == len(e.s) {
		return 0, false
	}
	switch c := e.s[e.at]; {
	case c == '-' || c == '~' || c == '+':
		e.at++
		v, ok := e.unary()
		switch c {
		case '-':
			v = -v
		case '~':
			v = ^v
		}
		return v, ok
	case c == '(':
		if size, ok := e.cast(); ok {
			v, ok := e.unary()
			if size > 0 && size < 8 {
				v &= 1<<(size*8) - 1
			}
			return v, ok
		}
		e.at++
		v, ok := e.binary(0)
		e.blank()
		if !ok || e.at == len(e.s) || e.s[e.at] != ')' {
			return 0, false
		}
		e.at++
		return v, true
	case '0' <= c && c <= '9':
		return e.number()
	}
	return 0, false
}

// cast passes over "(unsigned long)" and returns how wide the value becomes; 0
// if the type is not known, or keeps its sign, so that the value is left.
func (e *expr) cast() (size int, ok bool) {
	end := strings.IndexByte(e.s[e.at:], ')')
	if end < 0 {
		return 0, false
	}
	name := strings.TrimSpace(e.s[e.at+1 : e.at+end])
	if name == "" || '0' <= name[0] && name[0] <= '9' {
		return 0, false
	}
	for i := range len(name) {
		if !isWord(name[i]) && name[i] != ' ' {
			return 0, false
		}
	}
	w := typedefWidth(name, 8)
	if w.size == 0 && !strings.HasPrefix(name, "__force ") && !strings.HasSuffix(name, "_t") {
		return 0, false // an enum constant in parentheses
	}
	e.at += end + 1
	if w.signed {
		return 0, true
	}
	return w.size, true
}

func (e *expr) number() (uint64, bool) {
	start := e.at
	for e.at < len(e.s) && isWord(e.s[e.at]) {
		e.at++
	}
	text := strings.TrimRight(e.s[start:e.at], "uUlL")
	if strings.Contains(text, "_") {
		return 0, false
	}
	v, err := strconv.ParseUint(text, 0, 64)
	return v, err == nil
}
