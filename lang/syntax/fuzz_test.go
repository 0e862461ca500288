package syntax

import (
	"os"
	"path/filepath"
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
