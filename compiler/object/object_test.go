package object

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/eptrace/ep/compiler/target"
)

// programs are the files of testdata that make.sh makes.
var programs = []string{
	"program-x86_64", "loose-x86_64", "program-i386", "loose-arm64", "program-arm", "program-riscv64",
	"stripped-x86_64", "libep.so", "names-cpp", "names-rust-legacy", "names-rust-v0",
}

// openProgram opens a file of testdata.
func openProgram(t testing.TB, name string) *File {
	t.Helper()
	f, err := Open(os.DirFS("testdata"), "/"+name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestOpenTellsArchitectures(t *testing.T) {
	for name, want := range map[string]target.Arch{
		"program-x86_64": target.X86_64, "program-i386": target.I386, "loose-arm64": target.ARM64,
		"program-arm": target.ARM, "program-riscv64": target.RISCV64,
	} {
		if got := openProgram(t, name).Arch(); got != want {
			t.Errorf("architecture of %s: got %s, want %s", name, got, want)
		}
	}
}

func TestOpenRefusesWhatIsNoProgram(t *testing.T) {
	elf, err := os.ReadFile("testdata/program-x86_64")
	if err != nil {
		t.Fatal(err)
	}
	with := func(at int, bytes ...byte) *fstest.MapFile {
		b := append([]byte(nil), elf...)
		copy(b[at:], bytes)
		return &fstest.MapFile{Data: b}
	}
	fsys := fstest.MapFS{
		"script":  {Data: []byte("#!/bin/sh\n")},
		"empty":   {},
		"cut":     {Data: elf[:40]},
		"object":  with(16, 1),    // ET_REL
		"core":    with(16, 4),    // ET_CORE
		"big":     with(5, 2),     // ELFDATA2MSB
		"s390":    with(18, 22),   // EM_S390
		"good":    with(0),        //
		"dir/x":   with(0),        //
		"version": with(6, 77),    // EI_VERSION
		"class":   with(4, 3),     // no class
		"x32":     with(18, 0xfe), // no machine
	}
	for path, want := range map[string]error{
		"/script": ErrNotELF, "/empty": ErrNotELF, "/cut": ErrCorrupt, "/object": ErrNotELF, "/core": ErrNotELF,
		"/s390": ErrUnsupported, "/good": nil, "/dir": ErrNotELF, "/none": ErrNotFound, "/dir/../good": nil,
		"/version": ErrCorrupt, "/class": ErrCorrupt, "/x32": ErrUnsupported, "//good": nil,
	} {
		_, err := Open(fsys, path)
		if !errors.Is(err, want) {
			t.Errorf("Open(%q): got %v, want %v", path, err, want)
		}
	}
	if _, err := Open(fsys, "/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v: want fs.ErrNotExist in it too", err)
	}
	for _, path := range []string{"good", "", "/a\x00b", "/big"} {
		if _, err := Open(fsys, path); err == nil {
			t.Errorf("Open(%q) has no error", path)
		}
	}
}

// TestOpenStaysInTheRoot follows links of a copy of another machine's root,
// which mean files of that machine.
func TestOpenStaysInTheRoot(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "usr/lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("testdata/libep.so")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "usr/lib/libep.so.1.2"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"lib": "usr/lib", "usr/lib/libep.so.1": "libep.so.1.2", "usr/lib/libep.so": "/lib/libep.so.1",
		"up": "../../../../lib/libep.so", "loop": "/loop", "etc": "/nowhere",
	} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	fsys := os.DirFS(root)
	for _, path := range []string{"/lib/libep.so", "/usr/lib/libep.so", "/up", "/lib/../lib/./libep.so.1"} {
		f, err := Open(fsys, path)
		if err != nil {
			t.Errorf("Open(%q): %v", path, err)
			continue
		}
		if got, want := f.Path(), "/usr/lib/libep.so.1.2"; got != want {
			t.Errorf("path of %s: got %s, want %s", path, got, want)
		}
		_ = f.Close()
	}
	if _, err := Open(fsys, "/etc"); !errors.Is(err, ErrNotFound) {
		t.Errorf("link to nothing: got %v, want ErrNotFound", err)
	}
	if _, err := Open(fsys, "/loop"); err == nil {
		t.Error("a link to itself is opened")
	}
}

// sequential is a file system whose files can only be read from the begin.
type sequential struct{ fs.FS }

func (s sequential) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	return struct{ fs.File }{f}, err
}

func TestOpenReadsWithoutRandomAccess(t *testing.T) {
	f, err := Open(sequential{os.DirFS("testdata")}, "/program-x86_64")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Function("nine"); err != nil {
		t.Error(err)
	}
}
