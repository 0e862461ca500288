package docs_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the made parts of docs anew")

// TestErrorsPageIsUpToDate makes errors.md from the doc comments of the codes
// in lang/diag.
func TestErrorsPageIsUpToDate(t *testing.T) {
	got := errorsPage(codes(t))
	if *update {
		if err := os.WriteFile("errors.md", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("errors.md")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("docs/errors.md is not what the doc comments of lang/diag say: run `make golden`")
	}
}

func TestCodesAreWellFormed(t *testing.T) {
	seen := map[string]string{}
	for _, c := range codes(t) {
		if other, twice := seen[c.code]; twice {
			t.Errorf("codes %s and %s are both %q", c.name, other, c.code)
		}
		seen[c.code] = c.name
		if c.code == "" || strings.Trim(c.code, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			t.Errorf("code %s is %q; want small letters and hyphens", c.name, c.code)
		}
		if !strings.HasPrefix(c.doc, c.name+": ") {
			t.Errorf("the doc comment of code %s begins %.30q; want %q", c.name, c.doc, c.name+": ")
		}
	}
}

// code is one diag.Code as its source declares it.
type code struct {
	name, code, doc string
}

func codes(t *testing.T) []code {
	t.Helper()
	files, err := filepath.Glob("../lang/diag/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []code
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				typ, ok := v.Type.(*ast.Ident)
				if !ok || typ.Name != "Code" {
					continue
				}
				lit, ok := v.Values[0].(*ast.BasicLit)
				if !ok {
					t.Fatalf("code %s is no literal", v.Names[0].Name)
				}
				text, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				doc := v.Doc
				if doc == nil {
					doc = g.Doc
				}
				all = append(all, code{v.Names[0].Name, text, doc.Text()})
			}
		}
	}
	if len(all) == 0 {
		t.Fatal("no codes in lang/diag")
	}
	sort.Slice(all, func(i, j int) bool { return all[i].code < all[j].code })
	return all
}

// errorsPage renders the codes as Markdown: a heading for each, its text, and
// its indented examples as code.
func errorsPage(all []code) string {
	var b strings.Builder
	b.WriteString("<!-- Made by `make golden` from the doc comments in lang/diag. Do not edit. -->\n\n")
	b.WriteString("# Errors and warnings\n\n")
	fmt.Fprintf(&b, "Each message ends with its code in brackets. There are %d; a code is never renamed\n", len(all))
	b.WriteString("and never used again for something else, so that tools may depend on it.\n")
	for _, c := range all {
		fmt.Fprintf(&b, "\n## %s\n\n", c.code)
		text := strings.TrimPrefix(c.doc, c.name+": ")
		if text != "" {
			text = strings.ToUpper(text[:1]) + text[1:]
		}
		writeDoc(&b, text)
	}
	return b.String()
}

// writeDoc writes the text of a doc comment: paragraphs as one line each,
// indented lines as code.
func writeDoc(b *strings.Builder, text string) {
	for i, part := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		if strings.HasPrefix(part, "\t") {
			b.WriteString("```text\n" + strings.ReplaceAll("\n"+part, "\n\t", "\n")[1:] + "\n```\n")
			continue
		}
		b.WriteString(strings.ReplaceAll(part, "\n", " ") + "\n")
	}
}
