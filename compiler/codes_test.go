package compiler_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hexops/autogold/v2"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// TestEveryCodeHasAnExample looks for each code of the stages up to the plan in
// the golden files: one that no script triggers is not known to work.
func TestEveryCodeHasAnExample(t *testing.T) {
	told := map[string]bool{}
	shown := regexp.MustCompile(`\[([a-z-]+)\]\n`)
	for _, dir := range []string{"testdata", "../lang"} {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || path.Ext(name) != ".golden" {
				return err
			}
			text, err := os.ReadFile(name)
			for _, m := range shown.FindAllStringSubmatch(string(text), -1) {
				told[m[1]] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, code := range codesIn(t, "../lang/diag/codes.go", "../lang/diag/codes_check.go") {
		if !told[code] && code != "format-failed" && code != "plan-refused" { // bugs, should they ever be
			t.Errorf("no golden file shows an error of code %s: add a script to testdata/errors", code)
		}
	}
}

func codesIn(t *testing.T, files ...string) []string {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^\t\w+ +Code += "([a-z-]+)"$`)
	var out []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			out = append(out, m[1])
		}
	}
	if len(out) < 50 {
		t.Fatalf("found only %d codes", len(out))
	}
	return out
}

// TestEventThatMayNotBeRead is the one mistake that no script makes: who runs ep
// may not read the format.
func TestEventThatMayNotBeRead(t *testing.T) {
	base, err := target.Embedded(target.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	o := &overlay{denied: path.Join(base.Tracefs(), "events/sched/sched_switch/format")}
	src, err := source.New("denied.ep", "trace sched.sched_switch { prev_pid }\n")
	if err != nil {
		t.Fatal(err)
	}
	_, list := compiler.Compile(src, overlaid(t, "live", o), compiler.Options{})
	var b strings.Builder
	if err := diag.Text(&b, list, diag.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	autogold.ExpectFile(t, autogold.Raw(b.String()), autogold.Dir("testdata/errors"))
}
