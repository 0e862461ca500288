package docs_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/eptrace/ep"

// importRule says who may import what. In a name, "/..." stands for all below.
type importRule struct {
	what string   // the imported package
	only []string // who alone may import it; a leading "!" says who may not instead
}

// importRules are those of architecture.md, "Who may import whom". They are
// about imports outside of tests.
var importRules = []importRule{
	{"github.com/alecthomas/participle/v2/...", []string{"lang/syntax"}},
	{"github.com/alecthomas/kong/...", []string{"cmd/..."}},
	{"github.com/cilium/ebpf/...", []string{"compiler/target", "runtime/..."}},
	{"github.com/klauspost/compress/...", []string{"compiler/target"}},
	{"golang.org/x/term/...", []string{"cmd/..."}},
	{"github.com/fatih/color/...", nil},
	{"github.com/hexops/autogold/v2/...", nil},
	{"github.com/rogpeppe/go-internal/...", nil},
	{"testing/...", []string{"runtime/vm"}},
	{"os/...", []string{"!lang/...", "!compiler/..."}},
	{"net/...", []string{"!lang/...", "!compiler/..."}},
	{"syscall/...", []string{"!lang/...", "!compiler/..."}},
	{"golang.org/x/sys/...", []string{"!lang/...", "!compiler/..."}},
	{module + "/cmd/...", nil},
	{module + "/compiler/...", []string{"!lang/...", "!stdlib"}},
	{module + "/runtime/...", []string{"!lang/...", "!compiler/...", "!stdlib"}},
	{module + "/lang/...", []string{"!stdlib"}},
	{module + "/compiler", []string{"cmd/..."}},
	{module + "/compiler/check", []string{"compiler"}},
	{module + "/compiler/lower", []string{"compiler"}},
	{module + "/compiler/judge", []string{"compiler", "cmd/..."}},
	{"mvdan.cc/sh/...", []string{"cmd/..."}},
	{module + "/compiler/ir", []string{"compiler", "compiler/check", "compiler/lower"}},
	{module + "/compiler/emit", []string{"compiler", "cmd/..."}},
	{module + "/lang/syntax", []string{"lang/format", "compiler", "compiler/check", "cmd/..."}},
	{module + "/lang/format", []string{"cmd/..."}},
}

// leaves are packages that import no package of ours but those listed.
var leaves = map[string][]string{
	"lang/source": {},
	"lang/diag":   {"lang/source"},
	"lang/types":  {"lang/source"},
	"lang/syntax": {"lang/source", "lang/diag"},
	"lang/format": {"lang/source", "lang/diag", "lang/syntax"},
	"stdlib":      {},
}

// listed is what `go list -json` says of a package.
type listed struct {
	ImportPath string
	Standard   bool
	Dir        string
	GoFiles    []string
	Imports    []string
	Module     *struct {
		Path string
		Main bool
	}
	DepOnly bool
}

func TestImportsKeepTheRules(t *testing.T) {
	for _, p := range ours(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		for _, imported := range p.Imports {
			for _, r := range importRules {
				if matches(imported, r.what) && !r.allows(name) {
					t.Errorf("%s imports %s; docs/architecture.md forbids it", name, imported)
				}
			}
			allowed, leaf := leaves[name]
			if own, ok := strings.CutPrefix(imported, module+"/"); ok && leaf && !slices.Contains(allowed, own) {
				t.Errorf("%s imports %s; of ours it may import only %q", name, own, allowed)
			}
		}
	}
}

// TestLanguageAndCompilerHaveNoClock finds calls that a list of imports does
// not show.
func TestLanguageAndCompilerHaveNoClock(t *testing.T) {
	for _, p := range ours(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if !matches(name, "lang/...") && !matches(name, "compiler/...") {
			continue
		}
		for _, file := range p.GoFiles {
			fset := token.NewFileSet()
			tree, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && (sel.Sel.Name == "Now" || sel.Sel.Name == "Since") {
					t.Errorf("%v: time.%s; the language and the compiler have no clock", fset.Position(n.Pos()), sel.Sel.Name)
				}
				return true
			})
		}
	}
}

// TestDependenciesAreInTheTable demands a line in architecture.md for each
// module that our code or tests import.
func TestDependenciesAreInTheTable(t *testing.T) {
	text, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mod)) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		path, version, ok := strings.Cut(line, " ")
		if !ok || !strings.HasPrefix(version, "v") || strings.Contains(version, "// indirect") {
			continue
		}
		if !strings.Contains(string(text), "| "+path+" |") {
			t.Errorf("architecture.md has no line for %s: what does it save, at what weight?", path)
		}
	}
}

// TestPackagesAreInTheTable demands that architecture.md says what each package
// is for.
func TestPackagesAreInTheTable(t *testing.T) {
	text, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ours(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if name != "docs" && !strings.Contains(string(text), "| `"+name+"` |") && !strings.Contains(string(text), "**"+name) {
			t.Errorf("architecture.md has no line for %s", name)
		}
	}
}

// ours returns our own packages.
func ours(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-deps", "-json=ImportPath,Standard,Dir,GoFiles,Imports,Module,DepOnly", "./...")
	cmd.Dir = ".."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var found []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if p.Module != nil && p.Module.Main {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		t.Fatal("go list shows no package of ours")
	}
	return found
}

// matches reports whether a package path is pattern, or below it where the
// pattern ends in "/...".
func matches(path, pattern string) bool {
	base, all := strings.CutSuffix(pattern, "/...")
	return path == base || all && strings.HasPrefix(path, base+"/")
}

func (r importRule) allows(name string) bool {
	if len(r.only) > 0 && strings.HasPrefix(r.only[0], "!") {
		for _, who := range r.only {
			if matches(name, who[1:]) {
				return false
			}
		}
		return true
	}
	for _, who := range r.only {
		if matches(name, who) {
			return true
		}
	}
	return false
}
