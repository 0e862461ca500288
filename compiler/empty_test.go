package compiler_test

import (
	"testing"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// TestEmptyScript: a script that says nothing is told so, at no place of it.
func TestEmptyScript(t *testing.T) {
	to, err := target.Embedded(target.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "# a comment\n"} {
		src, err := source.New("empty.ep", text)
		if err != nil {
			t.Fatal(err)
		}
		p, list := compiler.Compile(src, to, compiler.Options{})
		if p == nil || len(list) != 1 || list[0].Code != diag.Unused || list[0].Severity != diag.Warning || list[0].Span.Valid() {
			t.Errorf("%q: %v, expected one warning without a place", text, list)
		}
	}
}
