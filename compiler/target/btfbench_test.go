package target

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkMember is what a script with one struct member costs: open a
// target, find the struct and the member.
func BenchmarkMember(b *testing.B) {
	use := func(b *testing.B, open func() (*Target, error)) {
		b.ReportAllocs()
		for b.Loop() {
			tg, err := open()
			if err != nil {
				b.Fatal(err)
			}
			s, err := tg.Struct("file")
			if err != nil {
				b.Fatal(err)
			}
			if _, err := tg.Member(s, "f_inode"); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("embedded", func(b *testing.B) { use(b, func() (*Target, error) { return Embedded(DefaultName) }) })
	data, err := embedded.ReadFile("embedded/" + DefaultName + embeddedSuffix)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("saved", func(b *testing.B) {
		file := filepath.Join(b.TempDir(), "saved.target")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			b.Fatal(err)
		}
		use(b, func() (*Target, error) {
			f, err := os.Open(file)
			if err != nil {
				return nil, err
			}
			b.Cleanup(func() { _ = f.Close() }) // it was only read
			return Load("saved", f, int64(len(data)))
		})
	})
	b.Run("raw", func(b *testing.B) {
		tg, err := Embedded(DefaultName)
		if err != nil {
			b.Fatal(err)
		}
		dir := b.TempDir()
		if err := os.CopyFS(dir, tg.FS()); err != nil {
			b.Fatal(err)
		}
		use(b, func() (*Target, error) { return Open("raw", os.DirFS(dir)) })
	})
}

// BenchmarkBTF is what parts of it cost once the file is read.
func BenchmarkBTF(b *testing.B) {
	tg, err := Embedded(DefaultName)
	if err != nil {
		b.Fatal(err)
	}
	data, err := fs.ReadFile(tg.FS(), PathBTF)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := parseBTF(data, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	d, err := parseBTF(bytes.Clone(data), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("name", func(b *testing.B) {
		for b.Loop() {
			if len(d.named("task_struct", btfStruct)) != 1 {
				b.Fatal("want one")
			}
		}
	})
	b.Run("proto", func(b *testing.B) {
		for b.Loop() {
			if _, err := tg.FuncProto("", "vfs_read"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("near", func(b *testing.B) {
		for b.Loop() {
			if n, _ := tg.NearFunc("vfs_raed"); n != "vfs_read" {
				b.Fatal(n)
			}
		}
	})
}
