// Package docs_test holds the tests of the pages in this folder and of the
// rules that they state. There is no other code here.
package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
)

// block is one fenced block of a page.
type block struct {
	page   string
	line   int // of the block's first line, from 1
	lang   string
	marker string // the comment on the line before the fence, "" if there is none
	text   string
}

// Markers of an ```ep block.
const (
	fragment = "<!-- fragment -->" // a piece of a script: neither parsed nor checked
	wrong    = "<!-- wrong: "      // has errors, which a command below shows
)

// pages are all pages for users and carriers-on.
func pages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append(found, "../README.md")
}

func blocks(t *testing.T, page string) []block {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	before, open := "", false
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimRight(line, "\n")
		lang, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !open:
			b := block{page: page, line: n + 1, lang: lang}
			if strings.HasPrefix(before, "<!--") {
				b.marker = before
			}
			all, open = append(all, b), true
		case fence:
			open = false
		case open:
			all[len(all)-1].text += line + "\n"
		}
		if line != "" {
			before = line
		}
	}
	if open {
		t.Errorf("%s: a fenced block is not closed", page)
	}
	return all
}

// TestScriptsInPagesCompile parses every ```ep block, and checks it against
// the default target unless it is marked.
func TestScriptsInPagesCompile(t *testing.T) {
	tgt, err := target.Embedded(target.DefaultName)
	if err != nil {
		t.Logf("scripts are only parsed: %v", err)
	}
	for _, page := range pages(t) {
		for _, b := range blocks(t, page) {
			if b.lang != "ep" || b.marker == fragment {
				continue
			}
			// Lines before the text put places where they are in the page.
			src, err := source.New(b.page, strings.Repeat("\n", b.line-1)+b.text)
			if err != nil {
				t.Errorf("%s:%d: %v", b.page, b.line, err)
				continue
			}
			_, list := syntax.Parse(src)
			if !list.HasErrors() && tgt != nil {
				_, list = compiler.Compile(src, tgt, compiler.Options{})
				if strings.HasPrefix(b.marker, wrong) {
					if !list.HasErrors() {
						t.Errorf("%s:%d: the script compiles, and is marked %s", b.page, b.line, b.marker)
					}
					list = nil
				}
			}
			if list.HasErrors() {
				t.Errorf("%s:%d: a script has errors:\n%s", b.page, b.line, render(t, list))
			}
		}
	}
}

// TestScriptsInPagesAreThoseOfTestdata keeps a block that follows a comment
// `<!-- testdata/scripts/NAME -->` equal to that file.
func TestScriptsInPagesAreThoseOfTestdata(t *testing.T) {
	for _, page := range pages(t) {
		for _, b := range blocks(t, page) {
			name, ok := strings.CutPrefix(b.marker, "<!-- testdata/")
			if !ok {
				continue
			}
			name = "testdata/" + strings.TrimSuffix(name, " -->")
			text, err := os.ReadFile(filepath.Join("..", name))
			if err != nil {
				t.Errorf("%s:%d: %v", b.page, b.line, err)
				continue
			}
			if string(text) == b.text {
				continue
			}
			if *update {
				rewrite(t, page, b.text, string(text))
				continue
			}
			t.Errorf("%s:%d: the block is not %s (`make golden` mends it)", b.page, b.line, name)
		}
	}
}

func rewrite(t *testing.T, page, was, is string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), was) != 1 {
		t.Fatalf("%s: the block is there more than once", page)
	}
	if err := os.WriteFile(page, []byte(strings.Replace(string(text), was, is, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func render(t *testing.T, l diag.List) string {
	t.Helper()
	var b strings.Builder
	if err := diag.Text(&b, l, diag.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// link is a relative link of Markdown.
var link = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)

func TestLinksInPagesLeadSomewhere(t *testing.T) {
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: link to %s: %v", page, m[1], err)
			}
		}
	}
}
