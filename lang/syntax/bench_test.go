package syntax

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/eptrace/ep/lang/source"
)

// scriptOf returns a right script of about n bytes.
func scriptOf(t testing.TB, n int) *source.Source {
	t.Helper()
	files, err := filepath.Glob("testdata/scripts/*.ep")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	var one strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		one.Write(text)
		one.WriteByte('\n')
	}
	return newSource(t, strings.Repeat(one.String(), n/one.Len()+1))
}

func BenchmarkParse(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"10KB", 10 << 10}, {"1MB", 1 << 20}} {
		src := scriptOf(b, size.bytes)
		b.Run(size.name, func(b *testing.B) {
			b.SetBytes(int64(len(src.Text())))
			b.ReportAllocs()
			for b.Loop() {
				Parse(src)
			}
		})
	}
}

func BenchmarkScan(b *testing.B) {
	src := scriptOf(b, 10<<10)
	b.SetBytes(int64(len(src.Text())))
	for b.Loop() {
		scan(src, &mistakes{src: src})
	}
}

// Each of these texts is large in one way; the time must stay linear. The
// limit is far above what a slow machine takes for linear work.
func TestParseTakesLinearTime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 10_000
	for name, text := range map[string]string{
		"bad statements":      strings.Repeat("event e form a { x = }\n", n),
		"statements in parts": strings.Repeat("event e\n", n),
		"open braces":         strings.Repeat("trace a {\n", n),
		"one open block":      "trace a {\n" + strings.Repeat("x = (\n", n),
		"fields":              "trace a {\n" + strings.Repeat("x = f(y, 1)\n", n) + "}",
		"bad fields":          "trace a {\n" + strings.Repeat("x = = y\n", n) + "}",
		"clauses":             "event e from a\n" + strings.Repeat("then b by c\n", n),
		"bad clauses":         "event e from a\n" + strings.Repeat("then b by c size x\n", n),
		"sources":             "trace a" + strings.Repeat(", a.b", n),
		"set":                 "trace a where x in { 1" + strings.Repeat(", 1", n) + " }",
		"parentheses":         "trace a where " + strings.Repeat("(", n),
		"closing":             "trace a where x " + strings.Repeat(")", n),
		"braces":              "trace a " + strings.Repeat("{", n),
		"stars":               "trace a { x: " + strings.Repeat("*", n) + "u8 }",
		"not":                 "trace a where " + strings.Repeat("!", n) + "x",
		"sums":                "trace a where x" + strings.Repeat(" + x", n),
		"members":             "trace a where x" + strings.Repeat("->x", n),
		"semicolons":          "trace a " + strings.Repeat(";", n),
		"bad characters":      strings.Repeat("@ ", n),
		"quotes":              strings.Repeat("'", n),
		"strings":             strings.Repeat("\"\n", n),
		"comments":            "trace a " + strings.Repeat("/*", n),
		"blank lines":         "trace a { x\n" + strings.Repeat("\n", n) + "}",
		"invalid":             "trace a where x " + strings.Repeat("5 us ", n),
	} {
		start := time.Now()
		s, _ := Parse(newSource(t, text))
		Walk(s, func(Tree) bool { return true })
		if d := time.Since(start); d > time.Minute {
			t.Errorf("%s: %v", name, d)
		} else {
			t.Logf("%-20s %v", name, d.Round(time.Millisecond))
		}
	}
}

// What follows the last error that is shown is cut into tokens only. Before, each
// statement was parsed all the same, at 300 bytes for one of the text.
func TestParseStopsAfterTooManyErrors(t *testing.T) {
	for _, line := range []string{"event e form a { x = }\n", "trace a where x == @y\n"} {
		src := newSource(t, strings.Repeat(line, 20_000))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Parse(src)
		runtime.ReadMemStats(&after)
		if per := int(after.TotalAlloc-before.TotalAlloc) / len(src.Text()); per > 90 {
			t.Errorf("%q: %d bytes allocated for each byte of the text", line, per)
		}
	}
}
