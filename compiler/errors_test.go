package compiler_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/hexops/autogold/v2"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// A mistaken script says in its comments what is wrong with it:
//
//	# target: 6.12-x86_64      on a line of its own: the target, if not the default
//	# set: min=1ms             what the command line gives a param
//	# expect: unknown-param    what is wrong nowhere in the script
//	trace a.b #! unknown-event the codes of what is wrong in this line, in order
type mistaken struct {
	name   string
	src    *source.Source
	target string
	set    map[string]string
	want   []string // "LINE CODE", and "0 CODE" for nowhere
}

func readMistaken(t *testing.T, path string) mistaken {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(path)
	m := mistaken{name: strings.TrimSuffix(name, ".ep"), target: target.DefaultName, set: map[string]string{}}
	if m.src, err = source.New(name, string(text)); err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if v, ok := strings.CutPrefix(line, "# target: "); ok {
			m.target = v
		}
		if v, ok := strings.CutPrefix(line, "# set: "); ok {
			k, v, _ := strings.Cut(v, "=")
			m.set[k] = v
		}
		if v, ok := strings.CutPrefix(line, "# expect: "); ok {
			m.want = append(m.want, "0 "+v)
		}
		if _, codes, ok := strings.Cut(line, "#! "); ok {
			for code := range strings.FieldsSeq(codes) {
				m.want = append(m.want, strconv.Itoa(n)+" "+code)
			}
		}
	}
	return m
}

// places lists what is wrong in which line, as mistaken.want does.
func places(src *source.Source, list diag.List) []string {
	var out []string
	for _, d := range list {
		line := 0
		if d.Span.Valid() {
			line = src.Position(d.Span.Start).Line
		}
		out = append(out, strconv.Itoa(line)+" "+string(d.Code))
	}
	return out
}

func mistakes(t *testing.T) []mistaken {
	t.Helper()
	paths, err := filepath.Glob("../testdata/errors/*.ep")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts in testdata/errors: %v", err)
	}
	var out []mistaken
	for _, p := range paths {
		out = append(out, readMistaken(t, p))
	}
	return out
}

// TestMistakesAreToldWhereTheyAre compiles every script of testdata/errors: all
// of its mistakes are told, each once, where its comments say. The golden files
// are what a person reads.
func TestMistakesAreToldWhereTheyAre(t *testing.T) {
	for _, m := range mistakes(t) {
		t.Run(m.name, func(t *testing.T) {
			p, list := compiler.Compile(m.src, openTarget(t, m.target), compiler.Options{Set: m.set})
			if (p == nil) != list.HasErrors() {
				t.Errorf("plan is nil: %t, errors: %t", p == nil, list.HasErrors())
			}
			got := places(m.src, list)
			sort.Strings(got)
			want := append([]string{}, m.want...)
			sort.Strings(want)
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("mistakes by line:\ngot  %q\nwant %q", got, want)
			}
			var b strings.Builder
			if err := diag.Text(&b, list, diag.TextOptions{}); err != nil {
				t.Fatal(err)
			}
			autogold.ExpectFile(t, autogold.Raw(b.String()), autogold.Dir("testdata/errors"))
		})
	}
}

// TestEveryMistakeSaysWhatToDo holds each error to the form that users rely on:
// one clause, and a note unless the message says it all.
func TestEveryMistakeSaysWhatToDo(t *testing.T) {
	for _, m := range mistakes(t) {
		_, list := compiler.Compile(m.src, openTarget(t, m.target), compiler.Options{Set: m.set})
		for _, d := range list {
			at := fmt.Sprintf("%s: %s", m.name, d.Message)
			if d.Message == "" || strings.HasSuffix(d.Message, ".") || strings.Contains(d.Message, "\n") {
				t.Errorf("%s: want one clause without a period", at)
			}
			if len(d.Notes) == 0 && !saysItAll(d) {
				t.Errorf("%s: no note says what to do", at)
			}
		}
	}
}

// saysItAll reports whether a message needs no note: it says what is wanted.
func saysItAll(d diag.Diagnostic) bool {
	switch d.Code {
	case diag.BadNumber, diag.BadComment, diag.TooDeep, diag.TooManyErrors:
		return true
	}
	return strings.Contains(d.Message, "want ")
}

// openTarget opens an embedded target, or one of those made of the default one:
// "symbols" has a few symbols, which embedded targets do not have, "programs" has
// programs, and "no-btf" has no type information.
func openTarget(t testing.TB, name string) *target.Target {
	t.Helper()
	switch name {
	case "symbols":
		return withSymbols(t)
	case "programs":
		return withPrograms(t)
	case "no-btf":
		return withoutBTF(t)
	}
	tg, err := target.Embedded(name)
	if err != nil {
		t.Fatal(err)
	}
	return tg
}
