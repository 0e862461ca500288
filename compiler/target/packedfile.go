package target

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"time"
)

// openFile is a file of a packedFS; it begins to read at the first Read.
type openFile struct {
	fsys *packedFS
	file *packedFile
	r    io.ReadCloser
}

func (f *openFile) Stat() (fs.FileInfo, error) {
	return packedInfo{path.Base(f.file.path), int64(f.file.size), false}, nil
}

func (f *openFile) Read(b []byte) (int, error) {
	if f.r == nil {
		r, err := f.fsys.reader(f.file)
		if err != nil {
			return 0, &fs.PathError{Op: "read", Path: f.file.path, Err: err}
		}
		f.r = r
	}
	return f.r.Read(b)
}

func (f *openFile) Close() error {
	if f.r == nil {
		return nil
	}
	return f.r.Close()
}

// openDir is a folder of a packedFS.
type openDir struct {
	fsys *packedFS
	name string
	rest []fs.DirEntry
	read bool
}

func (d *openDir) Stat() (fs.FileInfo, error) { return packedInfo{path.Base(d.name), 0, true}, nil }

func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: errors.New("is a directory")}
}

func (d *openDir) Close() error { return nil }

func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if !d.read {
		var err error
		if d.rest, err = d.fsys.ReadDir(d.name); err != nil {
			return nil, err
		}
		d.read = true
	}
	if n <= 0 || n > len(d.rest) {
		if n > 0 && len(d.rest) == 0 {
			return nil, io.EOF
		}
		n = len(d.rest)
	}
	got := d.rest[:n:n]
	d.rest = d.rest[n:]
	return got, nil
}

// packedInfo describes a file or folder.
type packedInfo struct {
	name string
	size int64
	dir  bool
}

func (i packedInfo) Name() string { return i.name }
func (i packedInfo) Size() int64  { return i.size }
func (i packedInfo) IsDir() bool  { return i.dir }
func (i packedInfo) Sys() any     { return nil }

// ModTime returns the zero time: a target does not say when it was made.
func (i packedInfo) ModTime() time.Time { return time.Time{} }

func (i packedInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}
