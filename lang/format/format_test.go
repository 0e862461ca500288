package format

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hexops/autogold/v2"

	"github.com/eptrace/ep/lang/source"
)

func newSource(t testing.TB, text string) *source.Source {
	t.Helper()
	src, err := source.New("x.ep", text)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// formatted formats a right script, and checks that a second time changes
// nothing.
func formatted(t testing.TB, text string) string {
	t.Helper()
	out, list := Format(newSource(t, text))
	if len(list) > 0 {
		t.Fatalf("script:\n%s\ngot: %s", text, list[0].Message)
	}
	if again, _ := Format(newSource(t, out)); again != out {
		t.Errorf("formatted again, script:\n%s\ngot:\n%s\nwant:\n%s", text, again, out)
	}
	return out
}

// The scripts that show the language are in its style.
func TestFormatKeepsScriptsInStyle(t *testing.T) {
	files, err := filepath.Glob("../syntax/testdata/scripts/*.ep")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			autogold.ExpectFile(t, autogold.Raw(formatted(t, string(text))))
		})
	}
}
