package command

import (
	"strings"
)

// The expressions of a hist:
//
//	EXPR    := "-(" SUM ")" | SUM
//	SUM     := PRODUCT {("+" | "-") PRODUCT}
//	PRODUCT := OPERAND {("*" | "/") OPERAND}
//	OPERAND := NUMBER | [SYS.EV.]"$"NAME | [SYS.EV.]FIELD[.MODIFIER]
//
// Read back, some kernels add to an operand: v6.12 to v7.3 print the name of
// the CPU field twice, the timestamp's modifier on a variable, and v6.17 puts
// the dollar before the event and may repeat all of it. That is undone here.

func parseExprs(s string, at int) ([]HistExpr, error) {
	var list []HistExpr
	for item := range strings.SplitSeq(s, ",") {
		if item == "" {
			return nil, logged("Couldn't find field", at, wantOperand)
		}
		x, err := parseExpr(item, at)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
		at += len(item) + 1
	}
	return list, nil
}

// parseExpr reads `-(SUM)` where there is no other minus. Else the kernel parts
// what begins so at the last plus or minus, wherever that stands.
func parseExpr(s string, at int) (HistExpr, error) {
	inner, ok := strings.CutPrefix(s, "-(")
	if !ok {
		return parseSum(s, at)
	}
	ops := strings.ReplaceAll(s, ".sym-offset", ".sym_offset") // of the same length
	if strings.LastIndexByte(ops, '-') > 0 {
		i := strings.LastIndexAny(ops, "+-")
		x, err := parseExpr(s[:i], at)
		if err != nil {
			return nil, err
		}
		y, err := parseSum(s[i+1:], at+i+1)
		return &HistBinary{X: x, Op: s[i], Y: y}, err
	}
	inner, ok = strings.CutSuffix(inner, ")")
	switch {
	case !ok && strings.Contains(inner, ")"):
		return nil, logged("Unary minus not supported in sub-expressions", at+len(s), "want ')'")
	case !ok:
		return nil, errAt(at+len(s), "want ')'")
	case inner == "":
		return nil, logged("Couldn't find field", at+2, wantOperand)
	}
	x, err := parseSum(inner, at+2)
	if err != nil {
		return nil, err
	}
	return &HistNeg{X: x}, nil
}

func parseSum(s string, at int) (HistExpr, error) {
	var sum, product HistExpr // product is not yet part of sum
	var sumOp, op byte
	for {
		x, n, err := parseOperand(s, at)
		if err != nil {
			return nil, err
		}
		switch {
		case product == nil:
			product = x
		case op == '*' || op == '/':
			product = &HistBinary{X: product, Op: op, Y: x}
		default:
			sum, sumOp = join(sum, sumOp, product), op
			product = x
		}
		s, at = s[n:], at+n
		if s == "" {
			return join(sum, sumOp, product), nil
		}
		if op = s[0]; strings.IndexByte("+-*/", op) < 0 {
			return nil, logged("Couldn't find field", at, "want an operator")
		}
		s, at = s[1:], at+1
	}
}

func join(x HistExpr, op byte, y HistExpr) HistExpr {
	if x == nil {
		return y
	}
	return &HistBinary{X: x, Op: op, Y: y}
}

// parseOperand reads one operand at the start of s, and returns its length.
func parseOperand(s string, at int) (x HistExpr, n int, err error) {
	for n < len(s) && (isWord(s[n]) || s[n] == '.' || s[n] == '$') {
		n++
	}
	text := s[:n]
	switch {
	case text == "" && (s == "" || strings.IndexByte("+-*/", s[0]) >= 0):
		return nil, 0, errAt(at, wantOperand)
	case text == "":
		return nil, 0, logged("Couldn't find field", at, wantOperand)
	case strings.Contains(text, "$"):
		x, ok := parseRef(text)
		if !ok {
			return nil, 0, logged("Couldn't find field", at, "want a variable")
		}
		return x, n, nil
	}
	if num, err := parseUint(text); err == nil {
		return HistNum{N: num}, n, nil
	}
	if strings.HasSuffix(text, ".sym") && strings.HasPrefix(s[n:], "-offset") {
		n += len("-offset")
	}
	if strings.HasSuffix(text, ".buckets") || strings.HasSuffix(text, ".bucket") {
		if strings.HasPrefix(s[n:], "=") {
			for n++; n < len(s) && isWord(s[n]); n++ {
			}
		}
	}
	f, ok := parseHistField(s[:n])
	switch {
	case ok:
		return f, n, nil
	case isDigit(text[0]):
		return nil, 0, logged("Expecting numeric literal", at, "want a number")
	case isIdent(f.Name) && f.Modifier != "" && !strings.Contains(f.Modifier, "."):
		return nil, 0, logged("Invalid field modifier", at+len(f.Name)+1, "no such modifier")
	}
	return nil, 0, logged("Couldn't find field", at, wantOperand)
}

const wantOperand = "want a field, a variable or a number"

// parseHistField reads `FIELD[.MODIFIER]` or `SYS.EV.FIELD`.
func parseHistField(s string) (HistField, bool) {
	if parts := strings.Split(s, "."); len(parts) == 3 {
		f := HistField{Event: EventName{Group: parts[0], Name: parts[1]}, Name: parts[2]}
		return f, spellHistField(f) == nil
	}
	var f HistField
	f.Name, f.Modifier, _ = strings.Cut(s, ".")
	if n, ok := strings.CutPrefix(f.Modifier, "bucket="); ok {
		f.Modifier = "buckets=" + n
	}
	if strings.HasSuffix(s, ".") {
		return f, false
	}
	f.Name = undouble(f.Name)
	if stackName(f.Name) == "common_stacktrace" {
		f.Modifier = strings.TrimSuffix(f.Modifier, "stacktrace")
	}
	return f, spellHistField(f) == nil
}

// undouble undoes what v6.17 makes of the field of the CPU when read back: its
// name behind "common_cpu".
func undouble(name string) string {
	switch name {
	case "common_cpucommon_cpu", "common_cpucpu", "common_cpuCPU":
		return strings.TrimPrefix(name, "common_cpu")
	}
	return name
}

// parseRef reads a reference to a variable, which has a dollar.
func parseRef(s string) (HistRef, bool) {
	before, after, _ := strings.Cut(s, "$")
	name, rest, _ := strings.Cut(after, ".")
	var r HistRef
	switch {
	case before != "":
		// SYS.EV.$NAME, read back with a modifier.
		group, ev, _ := strings.Cut(strings.TrimSuffix(before, "."), ".")
		r = HistRef{Event: EventName{Group: group, Name: ev}, Name: name}
		if !strings.HasSuffix(before, ".") || r.Event.Group == "" || strings.Contains(ev, ".") {
			return r, false
		}
	case !strings.Contains(rest, "."):
		// $NAME, read back with a modifier.
		r = HistRef{Name: name}
	default:
		// $SYS.EV.NAME as v6.17 reads it back, perhaps more than once, with a
		// modifier.
		var ok bool
		if r, ok = parseTornRef(after); !ok {
			return r, false
		}
		return r, spellTerm(r) == nil
	}
	if rest != "" && spellHistField(HistField{Name: "x", Modifier: rest}) != nil || strings.HasSuffix(s, ".") {
		return r, false
	}
	return r, spellTerm(r) == nil
}

// parseTornRef reads SYS.EV.NAME once, or repeated without anything between,
// and perhaps a modifier behind.
func parseTornRef(s string) (HistRef, bool) {
	texts := []string{s}
	if i := strings.LastIndexByte(s, '.'); spellHistField(HistField{Name: "x", Modifier: s[i+1:]}) == nil {
		texts = append(texts, s[:i])
	}
	for _, text := range texts {
		for n := 1; n <= len(text); n++ {
			if len(text)%n != 0 || strings.Repeat(text[:n], len(text)/n) != text {
				continue
			}
			if p := strings.Split(text[:n], "."); len(p) == 3 {
				return HistRef{Event: EventName{Group: p[0], Name: p[1]}, Name: p[2]}, true
			}
		}
	}
	return HistRef{}, false
}
