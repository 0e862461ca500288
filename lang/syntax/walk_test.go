package syntax

import (
	"strings"
	"testing"

	"github.com/eptrace/ep/lang/diag"
)

func TestWalkStopsWhereToldTo(t *testing.T) {
	s := parseRight(t, "trace a where f(x) { y = z } hist b by c")
	var names []string
	Walk(s, func(n Tree) bool {
		if id, ok := n.(*Ident); ok {
			names = append(names, id.Text())
		}
		_, isFields := n.(*Fields)
		return !isFields
	})
	if got, want := strings.Join(names, " "), "a f x b c"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTokensJoinedAreTheText(t *testing.T) {
	const text = "\ufeff# c\r\ntrace a { from, x = 1 } // d\n ; @"
	s, _ := Parse(newSource(t, text))
	var got, kinds strings.Builder
	for _, token := range s.Tokens() {
		got.WriteString(s.Source.Slice(token.Span))
		if token.Kind != TokenSpace {
			kinds.WriteString(token.Kind.String() + " ")
		}
	}
	if got.String() != text {
		t.Errorf("got %q, want %q", got.String(), text)
	}
	const want = "comment keyword ident op ident op ident op number op invalid invalid invalid "
	if kinds.String() != want {
		t.Errorf("got %s, want %s", kinds.String(), want)
	}
}

func TestParseValue(t *testing.T) {
	for _, test := range []struct{ text, want, err string }{
		{"10ms", "10ms", ""},
		{" -5 ", "(unary - 5)", ""},
		{`"vfs_read"`, `"vfs_read"`, ""},
		{"vfs_read", "vfs_read", ""},
		{"A | B # c", "(binary | A B)", ""},
		{"", "(badexpr)", "expected a value"},
		{"# c", "(badexpr)", "expected a value"},
		{")", "(badexpr)", "expected a value, found ')'"},
		{"1 2", "(badexpr)", "unexpected '2'"},
		{"x = 3", "(badexpr)", "'=' does not compare"},
		{"trace a", "(badexpr)", "expected a value, found 'trace'"},
		{"10 ms", "10", "unexpected space between a number and its unit"},
		{"'ab'", "'ab'", "single quotes hold one character; write a string in double quotes"},
	} {
		x, list := ParseValue(newSource(t, test.text))
		err := ""
		if len(list) > 0 {
			err = list[0].Message
		}
		if got := dump(x); got != test.want || err != test.err || len(list) > 1 {
			t.Errorf("%q: got %s, error %q (%d), want %s, error %q", test.text, got, err, len(list), test.want, test.err)
		}
	}
}

func TestErrorsAreCapped(t *testing.T) {
	_, list := Parse(newSource(t, strings.Repeat("trace a where x = 3 { y = 'ab' }\n", 1000)))
	if len(list) != maxErrors+1 {
		t.Fatalf("got %d errors, want %d", len(list), maxErrors+1)
	}
	if got := list[maxErrors].Code; got != diag.TooManyErrors {
		t.Errorf("the last is [%s]", got)
	}
	// The first errors of the text are told, whatever found them.
	if line := list[maxErrors-1].Source.Position(list[maxErrors-1].Span.Start).Line; line != maxErrors/2 {
		t.Errorf("the last but one is on line %d, want %d", line, maxErrors/2)
	}
}

func TestNestingIsLimited(t *testing.T) {
	for name, text := range map[string]string{
		"parentheses": strings.Repeat("(", 201) + "x" + strings.Repeat(")", 201),
		"calls":       strings.Repeat("f(", 201) + "x" + strings.Repeat(")", 201),
		"indexes":     strings.Repeat("x[", 201) + "1" + strings.Repeat("]", 201),
		"unary":       strings.Repeat("!", 201) + "x",
		"types":       "x as " + strings.Repeat("*", 201) + "u8",
		"chain":       "x" + strings.Repeat(" + x", 1001),
		"members":     "x" + strings.Repeat(".x", 1001),
		"sets":        strings.Repeat("x in { (", 101) + "1" + strings.Repeat(") }", 101),
	} {
		_, list := Parse(newSource(t, "trace a where "+text+" { y }"))
		if len(list) != 1 || list[0].Code != diag.TooDeep {
			t.Errorf("%s: got\n%s", name, render(list))
		}
	}
	parseRight(t, "trace a where "+strings.Repeat("(", 199)+"x"+strings.Repeat(")", 199)+strings.Repeat(" + 1", 999))
}
