package compiler_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/eptrace/ep/compiler/target"
)

// overlay shows the files of over, then those of under, and counts what is
// opened. The path denied may not be opened, and absent is not there.
type overlay struct {
	over   fstest.MapFS
	under  fs.FS
	denied string
	absent string

	mu     sync.Mutex
	opened map[string]int
}

func (o *overlay) Open(name string) (fs.File, error) {
	if name == o.denied && name != "" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	if name == o.absent && name != "" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	o.mu.Lock()
	if o.opened == nil {
		o.opened = map[string]int{}
	}
	o.opened[name]++
	o.mu.Unlock()
	f, err := o.over.Open(name)
	if err == nil {
		if info, err := f.Stat(); err == nil && !info.IsDir() {
			return f, nil
		}
	}
	return o.under.Open(name)
}

// Stat implements fs.StatFS: to ask whether a file is there is not to read it.
func (o *overlay) Stat(name string) (fs.FileInfo, error) {
	if _, ok := o.over[name]; ok {
		return fs.Stat(o.over, name)
	}
	return fs.Stat(o.under, name)
}

// formats lists the events whose format files were opened.
func (o *overlay) formats() []string {
	var out []string
	for name := range o.opened {
		if path.Base(name) == "format" {
			out = append(out, name)
		}
	}
	return out
}

func overlaid(t testing.TB, name string, o *overlay) *target.Target {
	t.Helper()
	base, err := target.Embedded(target.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	o.under = base.FS()
	tg, err := target.Open(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return tg
}

// withoutBTF is the default target without type information.
func withoutBTF(t testing.TB) *target.Target {
	return overlaid(t, "no-btf", &overlay{absent: target.PathBTF})
}

// withSymbols is the default target with a few symbols.
func withSymbols(t testing.TB) *target.Target {
	file := func(lines ...string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(strings.Join(lines, "\n") + "\n")}
	}
	base, err := target.Embedded(target.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	return overlaid(t, "symbols", &overlay{over: fstest.MapFS{
		path.Join(base.Tracefs(), target.FileFunctions): file(
			"vfs_read", "vfs_write", "do_exit", "twice", "twice [ext4]", "poked", "__x64_sys_openat",
			"vfs_fallocate", "made.isra.0", "made.constprop.1", "tcp_sendmsg", "wake_up_new_task"),
		target.PathKallsyms:  file("0000000000000000 T vfs_read", "0000000000000000 t __schedule", "0000000000000000 D jiffies"),
		target.PathBlacklist: file("0x0-0x0\tpoked"),
	}})
}

// withPrograms is the default target with the programs that compiler/object is
// tested with.
func withPrograms(t testing.TB) *target.Target {
	t.Helper()
	over := fstest.MapFS{"bin/script": {Data: []byte("#!/bin/sh\n")}}
	for name, file := range map[string]string{"program": "program-x86_64", "stripped": "stripped-x86_64", "i386": "program-i386", "arm64": "loose-arm64", "cpp": "names-cpp"} {
		data, err := os.ReadFile(filepath.Join("object/testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		over["bin/"+name] = &fstest.MapFile{Data: data}
	}
	return overlaid(t, "programs", &overlay{over: over})
}
