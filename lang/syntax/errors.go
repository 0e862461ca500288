package syntax

import (
	"fmt"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// mistake is a Diagnostic on its way through participle, whose Error interface
// it implements.
type mistake struct {
	d diag.Diagnostic
	// gap is the text in which something is missing. If a bad token stands
	// there, that one has been reported, and this mistake only follows from it.
	gap source.Span
}

// Error implements error.
func (m *mistake) Error() string { return m.d.Message }

// Message implements participle.Error.
func (m *mistake) Message() string { return m.d.Message }

// Position implements participle.Error.
func (m *mistake) Position() lexer.Position { return lexer.Position{Offset: int(m.d.Span.Start)} }

func newMistake(code diag.Code, sp source.Span, format string, args ...any) *mistake {
	return &mistake{d: diag.Diagnostic{Code: code, Span: sp, Message: fmt.Sprintf(format, args...)}, gap: source.NoSpan}
}

// note adds what to do.
func (m *mistake) note(format string, args ...any) *mistake {
	m.d.Notes = append(m.d.Notes, diag.Note{Span: source.NoSpan, Message: fmt.Sprintf(format, args...)})
	return m
}

// at adds another place.
func (m *mistake) at(sp source.Span, format string, args ...any) *mistake {
	m.d.Notes = append(m.d.Notes, diag.Note{Span: sp, Message: fmt.Sprintf(format, args...)})
	return m
}

// fix adds an edit that mends the mistake.
func (m *mistake) fix(sp source.Span, text string) *mistake {
	m.d.Fixes = append(m.d.Fixes, diag.Fix{Span: sp, Text: text})
	return m
}

// asMistake returns err as what it always is inside our own parsers.
func asMistake(err error) *mistake {
	m, ok := err.(*mistake)
	if !ok {
		panic("internal error: not a mistake: " + err.Error())
	}
	return m
}

// quote shows a piece of the text, shortened.
func quote(s string) string {
	const longest = 40
	if r := []rune(s); len(r) > longest {
		s = string(r[:longest]) + "…"
	}
	return "'" + s + "'"
}

// wantAfter says that something is missing between prev and got. If got is on
// a later line, the place is the end of prev. Prev may be nil.
func wantAfter(what string, prev, got *lexer.Token) *mistake {
	if prev == nil || prev.Type == typeNewline {
		return wantFirst(what, got)
	}
	end := source.Pos(prev.Pos.Offset + len(prev.Value))
	if got.EOF() || got.Type == typeNewline || got.Pos.Line > prev.Pos.Line {
		m := newMistake(diag.Syntax, source.Span{Start: end, End: end}, "expected %s after %s", what, quote(prev.Value))
		m.gap = source.Span{Start: end, End: source.Pos(got.Pos.Offset)}
		return m
	}
	m := newMistake(diag.Syntax, spanOf(got), "expected %s after %s, found %s", what, quote(prev.Value), quote(got.Value))
	m.gap = source.Span{Start: end, End: source.Pos(got.Pos.Offset)}
	return m
}

func wantFirst(what string, got *lexer.Token) *mistake {
	if got.EOF() {
		return newMistake(diag.Syntax, source.Span{Start: source.Pos(got.Pos.Offset), End: source.Pos(got.Pos.Offset)}, "expected %s", what)
	}
	return newMistake(diag.Syntax, spanOf(got), "expected %s, found %s", what, quote(got.Value))
}

// unclosedBracket says that closer is missing. List tells that a comma would
// be right too.
func unclosedBracket(open *lexer.Token, closer string, list bool, prev, got *lexer.Token) *mistake {
	what := "'" + closer + "'"
	if list {
		what = "',' or " + what
	}
	m := wantAfter(what, prev, got)
	m.d.Code = diag.UnclosedBracket
	if open != prev {
		m.at(spanOf(open), "%s is opened here", quote(open.Value))
	}
	return m
}

func closesNothing(sp source.Span, closer string) *mistake {
	return newMistake(diag.UnclosedBracket, sp, "'%s' closes nothing", closer)
}

func unterminated(src *source.Source, sp source.Span, quoteMark byte) *mistake {
	text := src.Slice(sp)
	switch quoteMark {
	case '`':
		return newMistake(diag.UnterminatedString, sp, "expected '`' before the end of the line")
	case '\'':
		return newMistake(diag.UnterminatedString, sp, "expected ''' before the end of the line")
	}
	m := newMistake(diag.UnterminatedString, sp, "expected '\"' before the end of the line")
	if strings.HasSuffix(text, `\"`) {
		m.note(`'\"' is a quote within the string; a backslash is '\\'`)
	}
	return m
}

func emptyBackticks(sp source.Span) *mistake {
	return newMistake(diag.Syntax, sp, "expected a name between the backticks")
}

func badComment(sp source.Span, mark string) *mistake {
	m := newMistake(diag.BadComment, sp, "a comment starts with '#', not '%s'", mark)
	if mark == "//" {
		m.fix(sp, "#")
	}
	return m
}

func semicolon(sp source.Span) *mistake {
	return newMistake(diag.BadCharacter, sp, "unexpected ';'").
		note("a statement ends where the next begins; fields are separated by a comma or a line end").fix(sp, "")
}

func badCharacter(sp source.Span, text string, letters bool) *mistake {
	m := newMistake(diag.BadCharacter, sp, "%s has no meaning here", quote(text))
	switch {
	case letters:
		m.note("names consist of the letters a to z and A to Z, digits and '_'; put other names in backticks")
	case text == "$":
		m.note("write '$' directly before the name of a context value: $tid")
	case text == "\\":
		m.note("a statement can continue on the next line without a mark")
	case strings.Contains("“”„‘’«", text):
		m.note("write strings in plain double quotes")
	}
	return m
}

func badNumber(sp source.Span, raw string, err error) *mistake {
	m := newMistake(diag.BadNumber, sp, "bad number '%s': %v", raw, err)
	switch err {
	case errFraction:
		if isDigit(raw[len(raw)-1]) {
			return m.note("use a smaller unit: 1500us for 1.5ms; write an address in quotes: \"10.0.0.1\"")
		}
		m.note("use a smaller unit: 1500us for 1.5ms")
	case errLeadingZero:
		m.note("write octal as 0o%s", strings.TrimLeft(raw, "0_"))
	case errNoNumber:
		i := 0
		for i < len(raw) && isDigit(raw[i]) {
			i++
		}
		if unit, ok := nearUnits[strings.ToLower(raw[i:])]; ok {
			return m.note("did you mean '%s%s'?", raw[:i], unit).fix(sp, raw[:i]+unit)
		}
		m.note("units are ns us ms s KiB MiB GiB; put a name that starts with a digit in backticks: `%s`", raw)
	}
	return m
}

func blankUnit(sp source.Span, number, unit string) *mistake {
	if units[unit] == 0 {
		unit = nearUnits[strings.ToLower(unit)]
	}
	return newMistake(diag.BadNumber, sp, "unexpected space between a number and its unit").
		note("write '%s%s'", number, unit).fix(sp, number+unit)
}

func badEscape(sp source.Span, err error) *mistake {
	return newMistake(diag.BadString, sp, "%v in a string", err).
		note(`escapes are \" \\ \n \t and \xNN; a backslash is \\`)
}

func singleQuotes(sp source.Span, body string) *mistake {
	return newMistake(diag.BadString, sp, "single quotes hold one character; write a string in double quotes").
		fix(sp, `"`+strings.ReplaceAll(body, `"`, `\"`)+`"`)
}

func badChar(sp source.Span) *mistake {
	return newMistake(diag.BadString, sp, "%v", errChar).note(`escapes are \' \\ \n \t \0 and \xNN`)
}

// misspelt says that a word is unknown as what it should be, and like one that is.
func misspelt(code diag.Code, got word, what, near string) *mistake {
	return newMistake(code, got.span(), "unknown %s '%s'", what, got.text).note("did you mean '%s'?", near).fix(got.span(), near)
}

func notStatement(got word) *mistake {
	m := newMistake(diag.UnknownStatement, got.span(), "expected a statement, found %s", quote(got.text))
	switch {
	case isHead(got.text):
	case kindOf(got.text) != KindName:
		return m.note("write a source after 'trace', 'hist', 'on' or 'event NAME from'")
	case foreignHeads[got.text] != "":
		return m.note("did you mean '%s'?", foreignHeads[got.text])
	}
	return m.note("statements are %s", strings.Join(heads(), ", "))
}

func reserved(got word) *mistake {
	if got.is("hist") {
		return newMistake(diag.ReservedWord, got.span(), "'hist' is a reserved word").
			note("to group a key by powers of two, write 'log2(x)'; to use it as a name, put it in backticks: `hist`").fix(got.span(), "`hist`")
	}
	return newMistake(diag.ReservedWord, got.span(), "'%s' is a reserved word", got.text).
		note("to use it as a name, put it in backticks: `%s`", got.text).fix(got.span(), "`"+got.text+"`")
}

func nameWithMarks(sp source.Span, text string) *mistake {
	return newMistake(diag.Syntax, sp, "a name with such characters must be in backticks").
		note("write `%s`", text).fix(sp, "`"+text+"`")
}

func wrongOperator(sp source.Span, op string) *mistake {
	right := wrongOperators[op]
	switch {
	case op == "=":
		return newMistake(diag.BadOperator, sp, "'=' does not compare").note("write '=='").fix(sp, "==")
	case right == "~":
		return newMistake(diag.BadOperator, sp, "unknown operator '%s'", op).
			note("write '~' and a glob, where '*' matches any string and '?' one character").fix(sp, right)
	case right != "":
		return newMistake(diag.BadOperator, sp, "unknown operator '%s'", op).note("write '%s'", right).fix(sp, right)
	}
	m := newMistake(diag.BadOperator, sp, "unknown operator '%s'", op)
	switch op {
	case "<<", ">>":
		m.note("multiply or divide by a power of two; 'bits(x, offset, width)' extracts bits")
	case "%", "mod":
		m.note("for the remainder by a power of two, mask the low bits: 'x & 7'")
	}
	return m
}

func negatedOperator(sp source.Span, op string) *mistake {
	return newMistake(diag.BadOperator, sp, "unknown operator '!%s'", op).note("write '!(x %s …)'", op)
}

func chained(sp source.Span, first Expr, op string) *mistake {
	return newMistake(diag.ChainedComparison, sp, "comparisons do not chain: '%s' follows another", op).
		at(first.Span(), "the first comparison").note("join two with '&&', or put parentheses around one")
}

func castBeforeMember(sp, cast source.Span, op string) *mistake {
	m := newMistake(diag.Syntax, sp, "a cast before '%s' must be in parentheses", op).at(cast, "put them around this")
	if op == "[" {
		m.note("write an array type as [N]T")
	}
	return m
}

func notCallable(sp source.Span, x Expr) *mistake {
	m := newMistake(diag.Syntax, sp, "only a name can be called")
	if s, ok := x.(*Selector); ok {
		if of, ok := s.Sel.(*Ident); ok && globOf[strings.ToLower(of.Raw)] != "" {
			text := "x"
			if id, ok := s.X.(*Ident); ok {
				text = id.Raw
			}
			return m.note("write '%s ~ %s'", text, globOf[strings.ToLower(of.Raw)])
		}
		m.note("functions are called by name: str(p), enter(E)")
	}
	return m
}

func cType(sp source.Span, word, name string) *mistake {
	if word == "struct" || word == "enum" || word == "union" {
		return newMistake(diag.Syntax, sp, "unexpected '%s' before a type's name", word).
			note("write '%s'; a pointer to it is '*%s'", name, name)
	}
	return newMistake(diag.Syntax, sp, "unknown type '%s'", word).note("integer types are u8 u16 u32 u64 and s8 s16 s32 s64")
}

func tooDeep(sp source.Span) *mistake {
	return newMistake(diag.TooDeep, sp, "nested more than %d deep", maxDepth)
}

func tooLong(sp source.Span) *mistake {
	return newMistake(diag.TooDeep, sp, "more than %d operators in a row", maxChain).
		note("to compare with many values, write 'in { … }'")
}

func statementTooLong(sp source.Span) *mistake {
	return newMistake(diag.TooDeep, sp, "a statement has more than %d words", maxWords)
}

func tooManyErrors(end source.Pos) *mistake {
	return newMistake(diag.TooManyErrors, source.Span{Start: end, End: end}, "too many errors: the first %d are shown", maxErrors)
}

// Fields.

func nestedBraces(sp source.Span) *mistake {
	return newMistake(diag.Syntax, sp, "braces of fields do not nest")
}

func lineBeginsWithOperator(sp source.Span, op string) *mistake {
	return newMistake(diag.Syntax, sp, "expected a field, found '%s'", op).
		note("to continue a line, end it with the operator; the next line cannot begin with it")
}

func colonEquals(sp source.Span) *mistake {
	return newMistake(diag.Syntax, source.Span{Start: sp.End, End: sp.End}, "expected a type after ':'").
		note("write a field without a type as 'name = value'")
}

func colonEqualsOperator(sp source.Span) *mistake {
	return newMistake(diag.BadOperator, sp, "unknown operator ':='").note("write '='").fix(sp, "=")
}

func fieldWantsName(sp source.Span, got string) *mistake {
	return newMistake(diag.Syntax, sp, "expected a field's name before '%s'", got).
		note("a field is 'name', 'name = value', 'name: type' or 'name: type = value'")
}

func fieldWithoutName(sp source.Span, got string) *mistake {
	return newMistake(diag.Syntax, sp, "a field that is more than 'a.f' must have a name, found '%s'", got).
		note("write 'name = value'")
}

// typeOfField says where the type of a field stands: `as` makes a value.
func typeOfField(sp source.Span, name string) *mistake {
	return newMistake(diag.Syntax, sp, "'as' cannot follow the name of a field").
		note("write '%s: TYPE', or 'NAME = %s as TYPE'", name, name)
}

func clauseInBraces(sp source.Span, clause string) *mistake {
	return newMistake(diag.MisplacedClause, sp, "'%s' cannot be inside the braces of the fields", clause)
}

// Clauses.

func clauseTwice(got word, first source.Span) *mistake {
	return newMistake(diag.MisplacedClause, got.span(), "'%s' is given twice", got.text).at(first, "it is given here first")
}

func clauseOrder(got word, later, order string) *mistake {
	return newMistake(diag.MisplacedClause, got.span(), "%s must come before %s", quote(got.text), quote(later)).
		note("the order is: %s", order)
}

func noSuchClause(head string, got word, order string) *mistake {
	m := newMistake(diag.MisplacedClause, got.span(), "%s has no %s", article(head), quote(got.text))
	if order != "" {
		m.note("its parts are: %s", order)
	}
	return m
}

func glob(sp source.Span) *mistake {
	return newMistake(diag.Syntax, sp, "a glob must be in backticks").note("write `*`").fix(sp, "`*`")
}

func noFields(got word, head string) *mistake {
	return newMistake(diag.MisplacedClause, got.span(), "%s has no fields", article(head))
}

func cannotStand(got word, allowed []string, head string) *mistake {
	m := newMistake(diag.Syntax, got.span(), "unexpected %s", quote(got.text))
	if len(allowed) == 0 {
		return m.note("%s ends here", article(head))
	}
	return m.note("%s can continue with %s", article(head), anyOf(allowed))
}

// anyOf returns "'a', 'b' or 'c'".
func anyOf(words []string) string {
	q := make([]string, len(words))
	for i, w := range words {
		q[i] = "'" + w + "'"
	}
	if len(q) == 1 {
		return q[0]
	}
	return strings.Join(q[:len(q)-1], ", ") + " or " + q[len(q)-1]
}

func article(head string) string {
	switch head {
	case "event", "import", "option":
		return "an " + head
	case "on":
		return "an 'on'"
	}
	return "a " + head
}

// Sources, emits and actions that the grammar takes and the language does not.

func noEnd(kind Kind, end *Ident, name string) *mistake {
	m := newMistake(diag.Syntax, end.Span(), "a %v has no '.%s'", kind, end.Text())
	if kind == KindTracepoint && name != "" {
		return m.note("write the event as '%s.%s', without 'tracepoint'; a raw tracepoint has no group: 'tracepoint %s'", name, end.Text(), end.Text())
	}
	if name != "" {
		m.note("put a name with a dot in backticks: `%s.%s`", name, end.Text())
	}
	return m
}

func badEnd(end *Ident, name string) *mistake {
	m := newMistake(diag.Syntax, end.Span(), "expected 'enter' or 'exit' after '.', found '%s'", end.Text())
	if name != "" {
		m.note("put a name with a dot in backticks: `%s.%s`", name, end.Text())
	}
	return m
}

func noOffset(kind Kind, sp source.Span) *mistake {
	return newMistake(diag.Syntax, sp, "a %v has no offset", kind).note("to probe one instruction, write 'kprobe SYM+N' or 'uprobe \"PATH\":SYM+N'")
}

func noPath(kind Kind, sp source.Span) *mistake {
	return newMistake(diag.Syntax, sp, "a %v has no file", kind).note("to probe a program's function, write 'ufunc \"PATH\":F'")
}

func wantPath(kind Kind, sp source.Span) *mistake {
	form := "F"
	if kind == KindUSDT {
		form = "provider:name"
	}
	return newMistake(diag.Syntax, sp, "expected the file's path in quotes after '%v'", kind).note("write '%v \"PATH\":%s'", kind, form)
}

func wantProvider(sp source.Span) *mistake {
	return newMistake(diag.Syntax, sp, "expected 'provider:name' after the path of a usdt")
}

func badEmit(on *Ident) *mistake {
	return newMistake(diag.Syntax, on.Span(), "expected 'max' or 'change' after 'emit on', found '%s'", on.Text())
}

func badAction(verb *Ident) *mistake {
	m := newMistake(diag.Syntax, verb.Span(), "unknown action '%s'", verb.Text())
	if ours := foreignActions[verb.Text()]; ours != "" {
		return m.note("did you mean '%s'?", ours).fix(verb.Span(), ours)
	}
	return m.note("actions are start, stop, snapshot and stack")
}

func noTarget(verb *Ident, target source.Span) *mistake {
	return newMistake(diag.Syntax, target, "'%s' does not take a name", verb.Text()).note("separate actions with commas")
}

func wantComma(verb *Ident, next *QName) *mistake {
	return newMistake(diag.Syntax, next.Span(), "expected ',' after '%s', found '%s'", verb.Text(), next.Name.Raw).
		note("to name an event so, use backticks")
}

func joinAssigns(sp source.Span) *mistake {
	return newMistake(diag.BadOperator, sp, "'=' does not compare").
		note("a key of a join is one name for both sides, or 'a.f == b.g'")
}
