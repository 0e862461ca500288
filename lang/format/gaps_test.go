package format

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/syntax"
)

// Scripts are right after any change of blanks only if line ends in braces stay
// where they are; and a comment may stand anywhere a line ends. So gaps are
// changed at random, and the laws checked of what is still a right script.

// shake returns text with other blanks and some comments between its words.
// Line ends are added and removed freely, in braces too; most results parse.
func shake(t testing.TB, text string, r *rand.Rand) string {
	script, _ := syntax.Parse(newSource(t, text))
	src := script.Source
	var b strings.Builder
	depth := 0
	ended := true
	for _, token := range script.Tokens() {
		word := src.Slice(token.Span)
		switch token.Kind {
		case syntax.TokenComment:
			b.WriteString(word)
			continue
		case syntax.TokenSpace:
			switch n := r.IntN(12); {
			case n < 6:
				b.WriteString(word)
			case strings.Contains(word, "\n"):
				b.WriteString(strings.Repeat("\n", 1+r.IntN(3)))
			case n < 8 && depth == 0:
				b.WriteString("\n")
			case n < 9 && (depth == 0 || !ended):
				b.WriteString(" # c\n\n# d\n")
			default:
				b.WriteString("   ")
			}
			continue
		}
		switch word {
		case "{":
			depth++
		case "}":
			depth--
		}
		ended = token.Kind != syntax.TokenOp || word == ")" || word == "]" || word == "}"
		b.WriteString(word)
		if token.Kind == syntax.TokenOp && r.IntN(10) == 0 && word != ")" && word != "]" && word != "}" && word != "=" && word != ":" {
			b.WriteString([]string{"\n", " # e\n", "\n# f\n", "\n\n"}[r.IntN(4)])
		}
	}
	return b.String()
}

// seeds are right scripts with much of the language.
func seeds(t testing.TB) []string {
	files, err := filepath.Glob("../syntax/testdata/scripts/*.ep")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	var out []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(text))
	}
	for _, test := range formatTests {
		out = append(out, test.text)
	}
	return out
}

func TestFormatLawsHoldForAnyBlanks(t *testing.T) {
	right := 0
	texts := seeds(t)
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		for _, text := range texts {
			shaken := shake(t, text, r)
			src := newSource(t, shaken)
			out, list := Format(src)
			if list.HasErrors() {
				if list[len(list)-1].Code == diag.FormatFailed {
					t.Fatalf("script:\n%s\nbecomes:\n%s", shaken, attempt(src))
				}
				continue
			}
			right++
			if again, _ := Format(newSource(t, out)); again != out {
				t.Fatalf("script:\n%s\nformatted:\n%s\nformatted again:\n%s", shaken, out, again)
			}
		}
	}
	if right < 500 {
		t.Errorf("only %d scripts of %d were right", right, 20*len(texts))
	}
}
