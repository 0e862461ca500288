package compiler_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexops/autogold/v2"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/emit"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// scripts returns the seed scripts, as a user at the top of the repository
// would name them.
func scripts(t *testing.T) []*source.Source {
	t.Helper()
	files, err := filepath.Glob("../testdata/scripts/*.ep")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d scripts and %v", len(files), err)
	}
	var list []*source.Source
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		src, err := source.New("testdata/scripts/"+filepath.Base(file), string(text))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, src)
	}
	return list
}

func script(t *testing.T, name string) *source.Source {
	t.Helper()
	for _, src := range scripts(t) {
		if filepath.Base(src.Name()) == name {
			return src
		}
	}
	t.Fatalf("no script %s", name)
	return nil
}

func embedded(t *testing.T, name string) *target.Target {
	t.Helper()
	target, err := target.Embedded(name)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// rendering is what a user sees of a script that is compiled for a target: the
// warnings or errors, and the lines.
func rendering(t *testing.T, src *source.Source, to *target.Target) string {
	t.Helper()
	p, list := compiler.Compile(src, to, compiler.Options{})
	if (p == nil) != list.HasErrors() {
		t.Errorf("%s for %s: got plan %v and %d errors: want exactly one of both", src.Name(), to.Name(), p, list.Count(diag.Error))
	}
	var b strings.Builder
	if err := diag.Text(&b, list, diag.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if p != nil {
		if err := emit.Echo(&b, p); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// TestScripts keeps what each seed script becomes on each embedded target.
// runtime/proof has the same plans carried out by real kernels.
func TestScripts(t *testing.T) {
	for _, src := range scripts(t) {
		name := strings.TrimSuffix(filepath.Base(src.Name()), ".ep")
		for _, to := range target.EmbeddedNames() {
			t.Run(name+"/"+to, func(t *testing.T) {
				autogold.ExpectFile(t, autogold.Raw(rendering(t, src, embedded(t, to))))
			})
		}
	}
}

// withoutSyscalls is a machine whose kernel was built without
// CONFIG_FTRACE_SYSCALLS: it has raw_syscalls, but no event of a single call.
type withoutSyscalls struct{ fs.FS }

func (w withoutSyscalls) Open(name string) (fs.File, error) {
	if hidden(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return w.FS.Open(name)
}

func (w withoutSyscalls) ReadDir(name string) ([]fs.DirEntry, error) {
	if hidden(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	list, err := fs.ReadDir(w.FS, name)
	return slices.DeleteFunc(list, func(e fs.DirEntry) bool { return hidden(name + "/" + e.Name()) }), err
}

func hidden(name string) bool {
	return strings.Contains(name+"/", "/events/syscalls/")
}

// TestSyscallsWithoutTheirEvents: a call's span is made of raw_syscalls where
// the kernel has nothing else and can read its arguments, and refused where it
// cannot.
func TestSyscallsWithoutTheirEvents(t *testing.T) {
	for _, name := range target.EmbeddedNames() {
		t.Run(name, func(t *testing.T) {
			to, err := target.Open(name+" without syscall events", withoutSyscalls{embedded(t, name).FS()})
			if err != nil {
				t.Fatal(err)
			}
			if to.HasEvent("syscalls", "sys_enter_openat") || !to.HasEvent("raw_syscalls", "sys_enter") {
				t.Fatal("the target still has syscalls.sys_enter_openat, or has lost raw_syscalls.sys_enter")
			}
			autogold.ExpectFile(t, autogold.Raw(rendering(t, script(t, "openat.ep"), to)))
		})
	}
}

// TestOrigins shows the way back from the bytes of each write of a plan to the
// script: an indent for each origin that lies within another.
func TestOrigins(t *testing.T) {
	for _, name := range []string{"openat.ep", "wakeup.ep"} {
		t.Run(strings.TrimSuffix(name, ".ep"), func(t *testing.T) {
			src := script(t, name)
			p, list := compiler.Compile(src, embedded(t, target.DefaultName), compiler.Options{})
			if p == nil {
				t.Fatal(list)
			}
			var b strings.Builder
			for _, w := range p.Writes {
				printOrigins(&b, src, w)
			}
			autogold.ExpectFile(t, autogold.Raw(b.String()))
		})
	}
}

func printOrigins(b *strings.Builder, src *source.Source, w plan.Write) {
	fmt.Fprintf(b, "%s\n%s\n", w.File, w.Data)
	for i, o := range w.Origin {
		depth := 1
		for _, outer := range w.Origin[:i] {
			if outer.Lo <= o.Lo && o.Hi <= outer.Hi {
				depth++
			}
		}
		at := src.Position(o.Span.Start)
		text := strings.Join(strings.Fields(src.Slice(o.Span)), " ")
		fmt.Fprintf(b, "%s%d-%d %s <- %d:%d %s\n", strings.Repeat("  ", depth), o.Lo, o.Hi, w.Data[o.Lo:o.Hi], at.Line, at.Col, text)
	}
	b.WriteByte('\n')
}

// TestOriginsLieInTheirTexts: an origin that does not would point an error of
// the kernel at the wrong place, or at none.
func TestOriginsLieInTheirTexts(t *testing.T) {
	for _, src := range scripts(t) {
		for _, to := range target.EmbeddedNames() {
			p, _ := compiler.Compile(src, embedded(t, to), compiler.Options{})
			if p == nil {
				continue
			}
			for _, w := range p.Writes {
				if len(w.Origin) == 0 {
					t.Errorf("%s for %s: no origin of %q", src.Name(), to, w.Data)
				}
				for _, o := range w.Origin {
					if o.Lo < 0 || o.Lo >= o.Hi || o.Hi > len(w.Data) || !o.Span.Valid() || int(o.Span.End) > len(src.Text()) {
						t.Errorf("%s for %s: origin %+v of %q", src.Name(), to, o, w.Data)
					}
				}
			}
		}
	}
}

// TestEveryWriteIsUndone: what a plan makes it also takes back, and the objects
// that it takes back are those that it made.
func TestEveryWriteIsUndone(t *testing.T) {
	for _, src := range scripts(t) {
		for _, to := range target.EmbeddedNames() {
			p, _ := compiler.Compile(src, embedded(t, to), compiler.Options{})
			if p == nil {
				continue
			}
			for _, w := range p.Writes {
				if w.Undo == nil || w.Undo.Undo != nil || w.Undo.File != w.File || w.Undo.Mode != w.Mode || w.Undo.Instanced != w.Instanced {
					t.Errorf("%s for %s: %q is undone by %+v", src.Name(), to, w.Data, w.Undo)
				}
			}
		}
	}
}

// TestCompileIsDeterministic: the same script and target give the same plan,
// also by several goroutines at a time.
func TestCompileIsDeterministic(t *testing.T) {
	src, to := script(t, "openat.ep"), embedded(t, target.DefaultName)
	want := rendering(t, src, to)
	for range 4 {
		t.Run("again", func(t *testing.T) {
			t.Parallel()
			if got := rendering(t, src, to); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestEveryWriteSaysWhy: ep explain has nothing else to say it by.
func TestEveryWriteSaysWhy(t *testing.T) {
	for _, src := range scripts(t) {
		for _, name := range target.EmbeddedNames() {
			p, _ := compiler.Compile(src, embedded(t, name), compiler.Options{})
			if p == nil {
				continue
			}
			for _, w := range p.Writes {
				if w.Why == "" || strings.HasSuffix(w.Why, ".") {
					t.Errorf("%s for %s: %s: got reason %q, want a clause", src.Name(), name, w.Data, w.Why)
				}
			}
		}
	}
}
