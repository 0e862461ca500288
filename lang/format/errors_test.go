package format

import (
	"strings"
	"testing"
	"time"
)

func TestFormatLeavesWrongScripts(t *testing.T) {
	const text = "trace   a\nevent e form a {x}"
	out, list := Format(newSource(t, text))
	if out != text || !list.HasErrors() {
		t.Errorf("got %q with %d errors, want the text with errors", out, len(list))
	}
}

// A script on one line, or with very many comments, takes no more time than
// any other.
func TestFormatTakesLinearTime(t *testing.T) {
	const n = 5_000
	for name, text := range map[string]string{
		"one line":    "trace a { x" + strings.Repeat(", y", n) + " }",
		"one clause":  "trace a where x" + strings.Repeat(" + x", 900) + " in { 1" + strings.Repeat(", 2", n) + " }",
		"lines":       "trace a { x = f(1" + strings.Repeat(",\n1", n) + ") }",
		"fields":      "trace a {" + strings.Repeat("\nx: u8 = 1 # c", n) + "\n}",
		"statements":  strings.Repeat("trace a # c\n", n),
		"comments":    "trace a" + strings.Repeat("\n# c", n),
		"clauses":     "event e from a" + strings.Repeat("\nthen b by x", n),
		"blank lines": "trace a" + strings.Repeat("\n", n) + "trace b",
	} {
		start := time.Now()
		formatted(t, text)
		if d := time.Since(start); d > time.Minute {
			t.Errorf("%s: %v", name, d)
		} else {
			t.Logf("%-12s %v", name, d.Round(time.Millisecond))
		}
	}
}
