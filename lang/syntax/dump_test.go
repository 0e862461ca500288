package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// dump prints a tree on one line: (type parts…), a leaf as its text.
func dump(n Tree) string {
	var b strings.Builder
	dumpTo(&b, n)
	return b.String()
}

func dumpTo(b *strings.Builder, n Tree) {
	switch n := n.(type) {
	case *Ident:
		b.WriteString(n.Raw)
		return
	case *Number:
		b.WriteString(n.Raw)
		return
	case *String:
		b.WriteString(n.Raw)
		return
	case *Char:
		b.WriteString(n.Raw)
		return
	case *TypeName:
		b.WriteString(":" + n.Name.Raw)
		return
	}
	fmt.Fprintf(b, "(%s%s", strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", n), "*syntax.")), flags(n))
	Children(n, func(c Tree) {
		b.WriteByte(' ')
		dumpTo(b, c)
	})
	b.WriteByte(')')
}

// flags are what a node holds besides its parts.
func flags(n Tree) string {
	set := func(word string, ok bool) string {
		if ok {
			return " " + word
		}
		return ""
	}
	switch n := n.(type) {
	case *Context:
		return " $" + n.Name + set("()", n.Args != nil)
	case *Selector:
		return set("->", n.Arrow)
	case *Unary:
		return " " + string(n.Op)
	case *Binary:
		return " " + string(n.Op)
	case *Alt:
		return set("?", n.Optional)
	case *One:
		return " " + n.Kind.String()
	case *Func:
		return set("param", n.Param)
	case *Hist:
		return set("paused", n.Paused)
	case *Trace:
		return set("paused", n.Paused)
	case *SortKey:
		return set("desc", n.Desc)
	case *PointerType:
		return set("user", n.User)
	}
	return ""
}

// newSource returns the Source of a script in a test.
func newSource(t testing.TB, text string) *source.Source {
	t.Helper()
	src, err := source.New("x.ep", text)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// parseRight parses a text that must have no mistakes.
func parseRight(t testing.TB, text string) *Script {
	t.Helper()
	s, list := Parse(newSource(t, text))
	if len(list) > 0 {
		t.Fatalf("script:\n%s\ngot errors:\n%s", text, render(list))
	}
	return s
}

// render prints Diagnostics as a person sees them.
func render(list diag.List) string {
	var b strings.Builder
	if err := diag.Text(&b, list, diag.TextOptions{}); err != nil {
		panic(err)
	}
	return b.String()
}

// checkSpans fails if a node's place is not in its parent's, or parts overlap.
func checkSpans(t testing.TB, n Tree) {
	t.Helper()
	Walk(n, func(n Tree) bool {
		end := n.Span().Start
		Children(n, func(c Tree) {
			if !n.Span().Contains(c.Span()) || c.Span().Start < end {
				t.Errorf("%T %v: part %T %v is out of place", n, n.Span(), c, c.Span())
			}
			end = c.Span().End
		})
		return true
	})
}
