package target

import (
	"strings"

	"github.com/eptrace/ep/lang/types"
)

// nameValues reads out of the print format what the fields' declarations do
// not tell: the names of values, and which numbers are addresses of functions,
// device numbers or IPv4 addresses. Only what is certain is taken.
//
//	PRINT := STRING {STRING} {',' ARG}
//	ARG   := a C expression; REC->f is a field's value
//	         __print_symbolic(ARG, {VALUE, STRING}, …)
//	         __print_flags(ARG, STRING, {VALUE, STRING}, …)
//
// include/trace/stages/stage3_trace_output.h names the macros. Values are
// expressions of numbers; the kernel replaces those enum constants that the
// event's author told it of, and a value with any other name in it is passed
// over.
func nameValues(f *Format) {
	number := map[string]string{"raw_syscalls": "id", "syscalls": "__syscall_nr"}[f.System]
	if field := f.Field(number); field != nil {
		if t, ok := field.Type.(types.Int); ok {
			t.Form = types.Sysnr
			field.Type = t
		}
	}
	args := splitArgs(f.Print)
	if len(args) == 0 {
		return
	}
	nameForms(f, conversions(args[0]), args[1:])
	for _, macro := range []string{"__print_symbolic", "__print_flags"} {
		for rest := f.Print; ; {
			at := strings.Index(rest, macro)
			if at < 0 {
				break
			}
			rest = rest[at+len(macro):]
			open := strings.TrimPrefix(rest, "_u64")
			if strings.HasPrefix(open, "(") {
				nameField(f, open[1:], macro == "__print_flags")
			}
		}
	}
}

// nameField takes the names out of one macro; s begins after its parenthesis.
func nameField(f *Format, s string, flags bool) {
	parts, after := splitTop(s)
	if len(parts) < 2 {
		return
	}
	field := f.Field(recField(parts[0], flags))
	if field == nil {
		return
	}
	t, ok := field.Type.(types.Int)
	if !ok {
		return
	}
	names := &types.Names{Flags: flags}
	if t.Names != nil {
		// Some events show a field in several ways; the first wins a name.
		names.List = append(names.List, t.Names.List...)
		names.Flags = t.Names.Flags
	}
	if flags {
		parts = parts[1:] // what stands between the names
	}
	for _, p := range parts[1:] {
		p = strings.TrimSpace(p)
		if !strings.HasPrefix(p, "{") || !strings.HasSuffix(p, "}") {
			continue
		}
		entry, _ := splitTop(p[1 : len(p)-1])
		if len(entry) != 2 {
			continue
		}
		name, ok := cString(entry[1])
		if !ok || name == "" {
			continue
		}
		if v, ok := evaluate(entry[0]); ok {
			addName(names, name, fit(v, t))
		}
	}
	// What stands for no flag at all: "(REC->f & M) ? __print_flags(…) : "R"".
	if flags {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(after), ":"); ok {
			if name, ok := cString(firstString(rest)); ok && name != "" {
				addName(names, name, 0)
			}
		}
	}
	if len(names.List) > 0 {
		t.Names = names
		field.Type = t
	}
}

func addName(n *types.Names, name string, value uint64) {
	if _, has := n.Value(name); !has {
		n.List = append(n.List, types.Name{Name: name, Value: value})
	}
}

// fit cuts v to t's width and extends its sign, as the field's value is.
func fit(v uint64, t types.Int) uint64 {
	if t.Size >= 8 {
		return v
	}
	bits := uint(t.Size * 8)
	v &= 1<<bits - 1
	if t.Signed && v>>(bits-1) != 0 {
		v |= ^uint64(0) << bits
	}
	return v
}

// nameForms gives fields the form in which the print format shows them.
func nameForms(f *Format, verbs, args []string) {
	if len(verbs) != len(args) {
		return // a conversion that is not known: nothing is certain
	}
	for i, verb := range verbs {
		var form types.Form
		switch {
		case strings.HasPrefix(verb, "pS") && verb != "pSpc", verb == "ps", verb == "pf", verb == "pF":
			form = types.Ksym
		case strings.HasPrefix(verb, "pI4"):
			form = types.IP
		case strings.HasSuffix(verb, "d") || strings.HasSuffix(verb, "u"):
			form = types.Dev
		default:
			continue
		}
		name := recField(args[i], false)
		if form == types.Dev {
			name = majorField(args[i])
		}
		field := f.Field(name)
		if field == nil {
			continue
		}
		switch t := field.Type.(type) {
		case types.Int:
			if t.Form == types.Dec && (form == types.Ksym && t.Size == field.Size && t.Size >= 4 || form == types.Dev && t.Size == 4) {
				t.Form, t.Signed = form, false
				field.Type = t
			}
		case types.Pointer:
			if form == types.Ksym {
				field.Type = types.Int{Size: field.Size, Form: form}
			}
		case types.Array:
			if form == types.IP && field.Size == 4 && field.Loc == InPlace {
				field.Type = types.Int{Size: 4, Form: form}
			}
		}
	}
}

// recField returns f if expr is REC->f, in casts and parentheses as may be; if
// masked, also if it is REC->f & M. It returns "" for anything else.
func recField(expr string, masked bool) string {
	s := strings.TrimSpace(expr)
	for {
		if rest, ok := stripCast(s); ok {
			s = rest
			continue
		}
		if inner, ok := stripParens(s); ok {
			s = inner
			continue
		}
		break
	}
	rest, ok := strings.CutPrefix(s, "REC->")
	if !ok {
		return ""
	}
	end := 0
	for end < len(rest) && isWord(rest[end]) {
		end++
	}
	tail := strings.TrimSpace(rest[end:])
	if tail == "" || masked && strings.HasPrefix(tail, "& ") && !strings.ContainsAny(tail, "?:") {
		return rest[:end]
	}
	return ""
}

// majorField returns f if expr is the major number of a device number in f:
// "((unsigned int) ((REC->f) >> 20))".
func majorField(expr string) string {
	s := strings.ReplaceAll(expr, "unsigned int", "")
	s = strings.NewReplacer("(", "", ")", "", " ", "").Replace(s)
	if s, ok := strings.CutSuffix(s, ">>20"); ok {
		if name, ok := strings.CutPrefix(s, "REC->"); ok {
			return identifier(name)
		}
	}
	return ""
}

// stripCast takes one cast away: "(void *)x" and "(unsigned long)x".
func stripCast(s string) (string, bool) {
	if !strings.HasPrefix(s, "(") {
		return s, false
	}
	end := strings.IndexByte(s, ')')
	if end < 0 || end == len(s)-1 {
		return s, false
	}
	for i := 1; i < end; i++ {
		if c := s[i]; !isWord(c) && c != ' ' && c != '*' {
			return s, false
		}
	}
	next := strings.TrimSpace(s[end+1:])
	if next == "" || !isWord(next[0]) && next[0] != '(' {
		return s, false // "(a) + b" is no cast
	}
	return next, true
}

// stripParens takes away one pair of parentheses around the whole.
func stripParens(s string) (string, bool) {
	if !strings.HasPrefix(s, "(") || !strings.HasSuffix(s, ")") {
		return s, false
	}
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 && i < len(s)-1 {
				return s, false
			}
		}
	}
	return strings.TrimSpace(s[1 : len(s)-1]), depth == 0
}
