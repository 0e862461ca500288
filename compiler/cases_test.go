package compiler_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexops/autogold/v2"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/format"
	"github.com/eptrace/ep/lang/source"
)

// cases returns the scripts for what people do by hand: real uses, and the
// examples of the kernel's document of histograms.
func cases(t testing.TB) []*source.Source {
	t.Helper()
	var list []*source.Source
	for _, folder := range []string{"cases", "histogram", "tools"} {
		files, err := filepath.Glob("../testdata/scripts/" + folder + "/*.ep")
		if err != nil || len(files) == 0 {
			t.Fatalf("got %d scripts and %v", len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			src, err := source.New("testdata/scripts/"+folder+"/"+filepath.Base(file), string(text))
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, src)
		}
	}
	return list
}

// TestCases keeps what each of them becomes on each embedded target, or why it
// cannot. runtime/joinproof has the plans carried out by real kernels.
func TestCases(t *testing.T) {
	for _, src := range cases(t) {
		name := strings.TrimSuffix(strings.TrimPrefix(src.Name(), "testdata/scripts/"), ".ep")
		for _, to := range target.EmbeddedNames() {
			t.Run(name+"/"+to, func(t *testing.T) {
				autogold.ExpectFile(t, autogold.Raw(rendering(t, src, embedded(t, to))))
			})
		}
	}
}

// TestCasesSayWhatWasWrittenByHand: without that they show nothing.
func TestCasesSayWhatWasWrittenByHand(t *testing.T) {
	for _, src := range cases(t) {
		if !strings.Contains(src.Text(), "\n# by hand") {
			t.Errorf("%s has no line '# by hand: ...'", src.Name())
		}
	}
}

// TestCasesAreInTheOneStyle: they are read as examples of it.
func TestCasesAreInTheOneStyle(t *testing.T) {
	for _, src := range cases(t) {
		got, list := format.Format(src)
		if list.HasErrors() || got != src.Text() {
			t.Errorf("%s: got %v and\n%s", src.Name(), list, got)
		}
	}
}
