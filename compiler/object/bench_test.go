package object

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkFunction opens the test program, of some megabytes, and finds one
// of its functions.
func BenchmarkFunction(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		f, err := Open(os.DirFS(filepath.Dir(exe)), "/"+filepath.Base(exe))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.Function("github.com/eptrace/ep/compiler/object.BenchmarkFunction"); err != nil {
			b.Fatal(err)
		}
		_ = f.Close() // it was only read
	}
}

// BenchmarkSystem is for the machine's own files, where they are there.
func BenchmarkSystem(b *testing.B) {
	for path, name := range map[string]string{
		"/bin/bash": "readline", "/lib/x86_64-linux-gnu/libc.so.6": "malloc", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6": "std::terminate()",
		"/usr/local/go/bin/go": "main.main",
	} {
		b.Run(filepath.Base(path), func(b *testing.B) {
			if f, err := Open(os.DirFS("/"), path); err != nil {
				b.Skip(err)
			} else {
				_ = f.Close() // it was only read
			}
			for b.Loop() {
				f, err := Open(os.DirFS("/"), path)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := f.Function(name); err != nil {
					b.Skip(err)
				}
				_ = f.Close() // it was only read
			}
		})
	}
}
