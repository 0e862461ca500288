package target

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// pack returns a saved target of files, and fails the test if it cannot.
func pack(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	p := NewPacker(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := p.Add(name, []byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// manyFiles has small files, large ones, empty ones, and names that sort
// before and after a '/'.
func manyFiles() map[string]string {
	files := map[string]string{
		"empty": "", "a/x": "1", "a-b/x": "2", "a.b": "3", "a/y/z": "4", "a0": "5",
		"large": strings.Repeat("0123456789abcdef", 20<<10), "larger/by/far": strings.Repeat("line\n", 200<<10),
		"last/empty": "", "last/one": "x",
	}
	for i := range 300 {
		files[fmt.Sprintf("many/%03d/format", i)] = strings.Repeat(fmt.Sprintf("field %d\n", i), i)
	}
	return files
}

func TestPackedFilesComeBack(t *testing.T) {
	files := manyFiles()
	data := pack(t, files)
	fsys, err := openPacked(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(fsys, slices.Collect(maps.Keys(files))...); err != nil {
		t.Error(err)
	}
	for name, want := range files {
		got, err := fs.ReadFile(fsys, name)
		if err != nil || string(got) != want {
			t.Errorf("%s: got %d bytes, %v, want %d", name, len(got), err, len(want))
		}
		info, err := fs.Stat(fsys, name)
		if err != nil || info.Size() != int64(len(want)) || info.IsDir() {
			t.Errorf("%s: got %v, %v", name, info, err)
		}
	}
	for _, name := range []string{"nope", "a/x/y", "man", "many/00", "a/"} {
		if _, err := fs.Stat(fsys, name); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: got %v, want that it is not there", name, err)
		}
	}
}

func TestPackingIsDeterministic(t *testing.T) {
	if !bytes.Equal(pack(t, manyFiles()), pack(t, manyFiles())) {
		t.Error("the same files gave different bytes")
	}
}

func TestPackerRefusesBadNames(t *testing.T) {
	for _, names := range [][]string{{"b", "a"}, {"a", "a"}, {""}, {"."}, {"/a"}, {"a/../b"}, {"a\nb"}} {
		p := NewPacker(&bytes.Buffer{})
		var err error
		for _, n := range names {
			err = errors.Join(err, p.Add(n, nil))
		}
		if err == nil {
			t.Errorf("%q: want an error", names)
		}
	}
}

func TestLoadRefusesOtherFiles(t *testing.T) {
	zipOf := func(entries ...string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for i := 0; i < len(entries); i += 2 {
			w, err := z.Create(entries[i])
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprint(w, entries[i+1])
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	good := pack(t, map[string]string{"a": "1"})
	for name, data := range map[string][]byte{
		"nothing":           nil,
		"text":              []byte("hello"),
		"cut":               good[:len(good)/2],
		"other archive":     zipOf("README", "x"),
		"no index":          zipOf("0", "x"),
		"later form":        zipOf("0", "x", "index", "ep target 2\n"),
		"past the entry":    zipOf("0", "x", "index", "ep target 1\n0 0 2 a\n"),
		"entry not there":   zipOf("0", "x", "index", "ep target 1\n1 0 1 a\n"),
		"bad number":        zipOf("0", "x", "index", "ep target 1\n0 -1 1 a\n"),
		"huge number":       zipOf("0", "x", "index", "ep target 1\n0 9223372036854775807 9223372036854775807 a\n"),
		"bad path":          zipOf("0", "x", "index", "ep target 1\n0 0 1 ../a\n"),
		"not sorted":        zipOf("0", "x", "index", "ep target 1\n0 0 1 b\n0 0 1 a\n"),
		"entries not named": zipOf("1", "x", "index", "ep target 1\n"),
	} {
		if _, err := Load(name, bytes.NewReader(data), int64(len(data))); !errors.Is(err, ErrNotTarget) {
			t.Errorf("%s: got %v, want ErrNotTarget", name, err)
		}
	}
	if _, err := Load("no tracefs", bytes.NewReader(good), int64(len(good))); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(pack(f, map[string]string{"sys/kernel/tracing/README": "x", "sys/kernel/tracing/events/a/b/format": "ID: 1\n"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		tg, err := Load("fuzz", bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		systems, _ := tg.Systems()
		for _, s := range systems {
			_, _ = tg.Events(s)
		}
		_, _ = tg.Format("a", "b")
		_, _ = tg.Symbol("x")
	})
}

// BenchmarkTwoFormats is what a short script costs: open a target, read two
// formats, decide one feature.
func BenchmarkTwoFormats(b *testing.B) {
	use := func(b *testing.B, open func() (*Target, error)) {
		for b.Loop() {
			tg, err := open()
			if err != nil {
				b.Fatal(err)
			}
			for _, e := range [][2]string{{"sched", "sched_switch"}, {"syscalls", "sys_enter_openat"}} {
				if _, err := tg.Format(e[0], e[1]); err != nil {
					b.Fatal(err)
				}
			}
			if !tg.Has(EprobeFilter) {
				b.Fatal("want eprobe filters")
			}
		}
	}
	b.Run("embedded", func(b *testing.B) { use(b, func() (*Target, error) { return Embedded(DefaultName) }) })
	data, err := embedded.ReadFile("embedded/" + DefaultName + embeddedSuffix)
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "saved.target")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("saved", func(b *testing.B) {
		var last *os.File
		use(b, func() (*Target, error) {
			if last != nil {
				_ = last.Close() // it was only read
			}
			f, err := os.Open(file)
			if err != nil {
				return nil, err
			}
			last = f
			return Load("saved", f, int64(len(data)))
		})
		_ = last.Close()
	})
	tg, err := Embedded(DefaultName)
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	if err := os.CopyFS(dir, tg.FS()); err != nil {
		b.Fatal(err)
	}
	b.Run("unpacked", func(b *testing.B) { use(b, func() (*Target, error) { return Open("unpacked", os.DirFS(dir)) }) })
}

func BenchmarkSymbol(b *testing.B) {
	for b.Loop() {
		tg, err := Embedded(DefaultName)
		if err != nil {
			b.Fatal(err)
		}
		if s, err := tg.Symbol("vfs_read"); err != nil || s != SymbolProbeable {
			b.Fatal(s, err)
		}
	}
}
