package syntax

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/eptrace/ep/lang/source"
)

// addScripts seeds a fuzz test with right scripts and with every mistake.
func addScripts(f *testing.F) {
	files, err := filepath.Glob("testdata/scripts/*.ep")
	if err != nil || len(files) == 0 {
		f.Fatal("no scripts", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, group := range mistakeGroups {
		for _, script := range group.scripts {
			f.Add(script)
		}
	}
}

// FuzzParse checks the laws of Parse for any text: it does not panic, tokens
// joined are the text, places nest, errors are sorted and within the text.
func FuzzParse(f *testing.F) {
	addScripts(f)
	f.Fuzz(func(t *testing.T, text string) {
		src, err := source.New("x.ep", text)
		if err != nil {
			t.Skip()
		}
		s, list := Parse(src)
		at := source.Pos(0)
		for _, token := range s.Tokens() {
			if token.Span.Start != at || token.Span.End <= at {
				t.Fatalf("token %v %v does not follow %d", token.Kind, token.Span, at)
			}
			at = token.Span.End
		}
		if int(at) != len(text) {
			t.Fatalf("tokens end at %d of %d", at, len(text))
		}
		checkSpans(t, s)
		if len(list) > maxErrors+1 {
			t.Errorf("%d errors", len(list))
		}
		bad := false
		for i, d := range list {
			if d.Span.Start < 0 || d.Span.End < d.Span.Start || int(d.Span.End) > len(text) {
				t.Errorf("error %q has place %v", d.Message, d.Span)
			}
			if i > 0 && list[i-1].Span.Start > d.Span.Start {
				t.Errorf("error %q is not in order", d.Message)
			}
		}
		for _, item := range s.Items {
			if _, ok := item.(*Bad); ok {
				bad = true
			}
		}
		if bad && len(list) == 0 {
			t.Error("a bad statement without an error")
		}
		ParseValue(src)
	})
}

// FuzzBrackets checks that a text whose brackets do not pair has an error: the
// recovery must not pass over what was never told.
func FuzzBrackets(f *testing.F) {
	addScripts(f)
	for _, text := range swallowed {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		src, err := source.New("x.ep", text)
		if err != nil {
			t.Skip("not a text")
		}
		if s, list := Parse(src); len(list) == 0 && !paired(s) {
			t.Errorf("no error, and the brackets do not pair:\n%s", text)
		}
	})
}

// FuzzTreeHasAllTokens checks that a text without an error is all in its tree:
// the tokens that the tree's values spell are the tokens of the text.
func FuzzTreeHasAllTokens(f *testing.F) {
	addScripts(f)
	for _, text := range swallowed {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		src, err := source.New("x.ep", text)
		if err != nil {
			t.Skip("not a text")
		}
		s, list := Parse(src)
		if len(list) > 0 {
			t.Skip("a text with an error")
		}
		if got, want := spell(s), tokensOf(s); !slices.Equal(got, want) {
			t.Errorf("script:\n%s\ntree: %q\ntext: %q", text, got, want)
		}
	})
}

// swallowed are texts whose brackets the recovery once passed over in silence.
var swallowed = []string{
	"trace sched.sched_switch { p = (prev_pid",
	"trace syscall openat { f = str(filename, fd = $ret",
	"hist sched.sched_switch by x = prev_pid { b = sum(prev_prio { c = 1 } sort by x",
	"hist kte as ksym{bytes=sum(byt site=call_site as ksym{bytes=sum(bytes_req)}sort by byte",
	"trace s{(.\ntrace",
	"trace a { x = (y\n z = 1 }\ntrace b",
	"trace a { x = y in { 1, (2 }",
	"trace a { x = [",
	"trace a { x: [4",
}

// paired reports whether each bracket of the text has its partner.
func paired(s *Script) bool {
	partner := map[string]string{")": "(", "]": "[", "}": "{"}
	var open []string
	for _, t := range s.Tokens() {
		if t.Kind != TokenOp {
			continue
		}
		switch text := s.Source.Slice(t.Span); text {
		case "(", "[", "{":
			open = append(open, text)
		case ")", "]", "}":
			if len(open) == 0 || open[len(open)-1] != partner[text] {
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) == 0
}

// tokensOf returns the tokens of the text but the commas, which the tree does not
// keep: one may stand after a set's last member, and a line end for one in fields.
func tokensOf(s *Script) []string {
	var out []string
	for _, t := range s.Tokens() {
		if text := s.Source.Slice(t.Span); t.Kind != TokenSpace && t.Kind != TokenComment && text != "," {
			out = append(out, text)
		}
	}
	return out
}
