package docs_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// libraries are the packages that programs of others may import: all but the
// commands and what is for tests alone.
func libraries(t *testing.T) []listed {
	t.Helper()
	var list []listed
	for _, p := range ours(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if matches(name, "cmd/...") || strings.HasSuffix(name, "proof") || name == "runtime/vm" {
			continue
		}
		list = append(list, p)
	}
	return list
}

// modulesBelow lists the modules that packages bring with them.
func modulesBelow(t *testing.T, dir string, env []string, packages ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}"}, packages...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	list := strings.Fields(string(out))
	slices.Sort(list)
	return slices.Compact(list)
}

// What the compiler brings with it, and the library as a whole.
var (
	compilerModules = []string{
		"github.com/alecthomas/participle/v2",
		module,
		"github.com/ianlancetaylor/demangle",
		"github.com/klauspost/compress",
	}
	libraryModules = append(slices.Clone(compilerModules), "golang.org/x/sys")
)

func TestLibraryBringsWhatItNeedsAlone(t *testing.T) {
	if got := modulesBelow(t, "..", nil, "./compiler"); !slices.Equal(got, compilerModules) {
		t.Errorf("the compiler brings %q, want %q", got, compilerModules)
	}
	var all []string
	for _, p := range libraries(t) {
		all = append(all, p.ImportPath)
	}
	if got := modulesBelow(t, "..", nil, all...); !slices.Equal(got, libraryModules) {
		t.Errorf("the library brings %q, want %q", got, libraryModules)
	}
}

// TestProgramOutsideBuilds builds a program of another module that uses the
// library, from what is on this machine alone.
func TestProgramOutsideBuilds(t *testing.T) {
	const dir = "../testdata/outside"
	offline := []string{"GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off"}
	cmd := exec.Command("go", "build", "-o", filepath.Join(t.TempDir(), "outside"), ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), offline...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := append(slices.Clone(libraryModules), "example.com/outside")
	slices.Sort(want)
	if got := modulesBelow(t, dir, offline, "."); !slices.Equal(got, want) {
		t.Errorf("it needs %q, want %q", got, want)
	}
}

// talkers may write to the process's own streams: one that has become another
// program than its caller's, and generators, which are no part of a build.
var talkers = []string{"runtime/session/child.go"}

// TestLibraryIsQuietAndKeepsNothing finds what a library must not do: print, end
// the process, or change a variable of a package.
func TestLibraryIsQuietAndKeepsNothing(t *testing.T) {
	for _, p := range libraries(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		fset := token.NewFileSet()
		var files []*ast.File
		vars := map[string]bool{}
		for _, file := range p.GoFiles {
			tree, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, tree)
			for _, d := range tree.Decls {
				g, ok := d.(*ast.GenDecl)
				if !ok || g.Tok != token.VAR {
					continue
				}
				for _, s := range g.Specs {
					for _, v := range s.(*ast.ValueSpec).Names {
						vars[v.Name] = true
					}
				}
			}
		}
		for i, tree := range files {
			quiet := !slices.Contains(talkers, name+"/"+p.GoFiles[i])
			for _, d := range tree.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || f.Body == nil {
					continue
				}
				if f.Recv == nil && f.Name.Name == "init" {
					t.Errorf("%v: an init", fset.Position(f.Pos()))
				}
				ast.Inspect(f.Body, func(n ast.Node) bool {
					if quiet {
						if what := spoken(n); what != "" {
							t.Errorf("%v: %s; a library says nothing by itself", fset.Position(n.Pos()), what)
						}
					}
					for _, left := range changed(n) {
						if id := root(left); id != nil && vars[id.Name] && !local(id, f) {
							t.Errorf("%v: the package's variable '%s' is changed", fset.Position(n.Pos()), id.Name)
						}
					}
					return true
				})
			}
		}
	}
}

// spoken returns what a node does to the process's own streams, "" if nothing.
func spoken(n ast.Node) string {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		x, ok := n.X.(*ast.Ident)
		if !ok || x.Obj != nil {
			return ""
		}
		full := x.Name + "." + n.Sel.Name
		switch full {
		case "os.Stdout", "os.Stderr", "os.Stdin", "os.Exit", "fmt.Print", "fmt.Printf", "fmt.Println":
			return full
		}
		if x.Name == "log" || x.Name == "slog" {
			return full
		}
	case *ast.CallExpr:
		if x, ok := n.Fun.(*ast.Ident); ok && x.Obj == nil && (x.Name == "print" || x.Name == "println") {
			return x.Name
		}
	}
	return ""
}

// changed returns what a statement assigns to.
func changed(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	}
	return nil
}

// root returns the variable that an expression is a part of, nil if it is behind
// a pointer or a call.
func root(x ast.Expr) *ast.Ident {
	for {
		switch e := x.(type) {
		case *ast.Ident:
			return e
		case *ast.SelectorExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.ParenExpr:
			x = e.X
		default:
			return nil
		}
	}
}

// local reports whether a name in f is declared there.
func local(id *ast.Ident, f *ast.FuncDecl) bool {
	return id.Obj != nil && id.Obj.Pos() >= f.Pos() && id.Obj.Pos() < f.End()
}

// TestExamplesAreThere wants an example of what each package of the library is
// for: go doc shows it, and go test runs it.
func TestExamplesAreThere(t *testing.T) {
	for _, name := range []string{
		"compiler", "compiler/plan", "compiler/emit", "compiler/target", "compiler/command",
		"lang/diag", "lang/format", "runtime/apply", "runtime/events", "runtime/hist", "runtime/session", "runtime/symbol",
	} {
		text, err := os.ReadFile("../" + name + "/example_test.go")
		if err != nil || !bytes.Contains(text, []byte("\nfunc Example")) {
			t.Errorf("%s has no example: %v", name, err)
		}
	}
}
