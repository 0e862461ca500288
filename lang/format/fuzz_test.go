package format

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
)

// FuzzFormat checks the laws of Format for any text: formatting again changes
// nothing, and words and comments are the same before and after (which Format
// checks by itself, with an error).
func FuzzFormat(f *testing.F) {
	files, err := filepath.Glob("../syntax/testdata/scripts/*.ep")
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
	for _, test := range formatTests {
		f.Add(test.text)
	}
	for _, text := range []string{ // once formatted for ever, and taken for a bug here
		"hist kte as ksym{bytes=sum(byt site=call_site as ksym{bytes=sum(bytes_req)}sort by byte",
		"trace s{(.\ntrace",
		"event A from A000.in{A\nA}", // a name, not the operator before a set
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		src, err := source.New("x.ep", text)
		if err != nil {
			t.Skip("not a text")
		}
		out, list := Format(src)
		if list.HasErrors() {
			if list[len(list)-1].Code == diag.FormatFailed {
				t.Fatalf("script:\n%s\nbecomes:\n%s", text, attempt(src))
			}
			if out != text {
				t.Fatal("a wrong script was changed")
			}
			t.Skip("a wrong script is left as it is")
		}
		again, list := Format(newSource(t, out))
		if len(list) > 0 {
			t.Fatalf("formatted:\n%s\ngot: %s", out, list[0].Message)
		}
		if again != out {
			t.Errorf("script:\n%s\nformatted:\n%s\nformatted again:\n%s", text, out, again)
		}
	})
}

// attempt returns what Format would have made of src.
func attempt(src *source.Source) string {
	script, _ := syntax.Parse(src)
	return newPrinter(script).script()
}

func BenchmarkFormat(b *testing.B) {
	text, err := os.ReadFile("../syntax/testdata/scripts/wakeup.ep")
	if err != nil {
		b.Fatal(err)
	}
	all := ""
	for len(all) < 10<<10 {
		all += string(text) + "\n"
	}
	src := newSource(b, all)
	b.SetBytes(int64(len(all)))
	for b.Loop() {
		Format(src)
	}
}
