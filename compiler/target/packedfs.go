package target

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A saved target is one zip archive. A target has 1,500 small files that are
// much alike, and a script needs two of them, so that one zip entry for each
// would be slow to open and large. The files are packed instead, in the order
// of their paths, into entries of about 64 KiB named "0", "1", …; a file that
// is larger has an entry alone. The entry "index" says what is where:
//
//	ep target 1
//	ENTRY OFFSET SIZE PATH
//	…
//
// one line a file, sorted by path, decimal numbers, PATH from the machine's
// root. Folders are those that the paths name. Packer writes it, packedFS
// reads it.
//
// Entries of more than 128 KiB, which are the types and the lists of symbols,
// are compressed by Zstandard: they are read whole, and it inflates five times
// as fast as Deflate.
const (
	indexEntry  = "index"
	indexHeader = "ep target 1\n"
	packSize    = 64 << 10

	zstdWindow    = 1 << 20 // of what Packer writes
	zstdMaxWindow = 8 << 20 // of what may be read: as much memory as this is taken
)

// packedFS shows a saved target as the file system that it was saved from. It
// is safe for several goroutines.
type packedFS struct {
	entries []*zip.File // by number
	files   []packedFile

	mu    sync.Mutex
	packs map[int][]byte // the entries that were inflated, save the large ones
}

// packedFile is one file: bytes [offset, offset+size) of an entry.
type packedFile struct {
	path                string
	entry, offset, size int
}

// ErrNotTarget is what Load returns, wrapped, for a file that is no saved
// target, or one of a later form.
var ErrNotTarget = errors.New("not a saved target")

func openPacked(r io.ReaderAt, size int64) (*packedFS, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotTarget, err)
	}
	z.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstd.WithDecoderMaxWindow(zstdMaxWindow)))
	p := &packedFS{packs: map[int][]byte{}}
	var index []byte
	for _, f := range z.File {
		if f.Name == indexEntry {
			if index, err = inflate(f); err != nil {
				return nil, fmt.Errorf("read index: %w", err)
			}
			continue
		}
		if f.Name != strconv.Itoa(len(p.entries)) {
			return nil, fmt.Errorf("%w: entry %q", ErrNotTarget, f.Name)
		}
		p.entries = append(p.entries, f)
	}
	text, ok := strings.CutPrefix(string(index), indexHeader)
	if !ok {
		return nil, ErrNotTarget
	}
	p.files = make([]packedFile, 0, strings.Count(text, "\n"))
	for line := range strings.Lines(text) {
		f, ok := parseIndexLine(strings.TrimSuffix(line, "\n"))
		if !ok || f.entry >= len(p.entries) ||
			uint64(f.offset)+uint64(f.size) > p.entries[f.entry].UncompressedSize64 ||
			len(p.files) > 0 && p.files[len(p.files)-1].path >= f.path {
			return nil, fmt.Errorf("%w: index line %q", ErrNotTarget, line)
		}
		p.files = append(p.files, f)
	}
	return p, nil
}

func parseIndexLine(line string) (packedFile, bool) {
	var f packedFile
	for _, n := range []*int{&f.entry, &f.offset, &f.size} {
		word, rest, _ := strings.Cut(line, " ")
		v, err := strconv.Atoi(word)
		if err != nil || v < 0 {
			return f, false
		}
		*n, line = v, rest
	}
	f.path = line
	return f, fs.ValidPath(f.path) && f.path != "."
}

// inflate returns the whole of a zip entry.
func inflate(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	// An archive may lie about its size: the buffer grows with what is there.
	var b bytes.Buffer
	b.Grow(int(min(f.UncompressedSize64+512, 4*packSize)))
	_, err = b.ReadFrom(r)
	return b.Bytes(), err
}

// find returns the file at name, or whether it is a folder.
func (p *packedFS) find(name string) (f *packedFile, dir bool) {
	i, ok := slices.BinarySearchFunc(p.files, name, func(f packedFile, s string) int { return strings.Compare(f.path, s) })
	if ok {
		return &p.files[i], false
	}
	if name == "." {
		return nil, true
	}
	// Paths like "a-b" sort between "a" and "a/b".
	i, _ = slices.BinarySearchFunc(p.files, name+"/", func(f packedFile, s string) int { return strings.Compare(f.path, s) })
	return nil, i < len(p.files) && strings.HasPrefix(p.files[i].path, name+"/")
}

// Open opens a file or a folder. Opening reads nothing.
func (p *packedFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, dir := p.find(name)
	switch {
	case f != nil:
		return &openFile{fsys: p, file: f}, nil
	case dir:
		return &openDir{fsys: p, name: name}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// Stat tells of a file or folder without opening it.
func (p *packedFS) Stat(name string) (fs.FileInfo, error) {
	f, dir := p.find(name)
	switch {
	case f != nil:
		return packedInfo{path.Base(name), int64(f.size), false}, nil
	case dir:
		return packedInfo{path.Base(name), 0, true}, nil
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

// ReadDir lists a folder, sorted by name.
func (p *packedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	f, dir := p.find(name)
	if f != nil || !dir {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	prefix := name + "/"
	if name == "." {
		prefix = ""
	}
	var entries []fs.DirEntry
	i, _ := slices.BinarySearchFunc(p.files, prefix, func(f packedFile, s string) int { return strings.Compare(f.path, s) })
	for i < len(p.files) && strings.HasPrefix(p.files[i].path, prefix) {
		child, _, isDir := strings.Cut(p.files[i].path[len(prefix):], "/")
		info := packedInfo{child, int64(p.files[i].size), isDir}
		if isDir {
			info.size = 0
		}
		entries = append(entries, fs.FileInfoToDirEntry(info))
		for i++; isDir && i < len(p.files) && strings.HasPrefix(p.files[i].path, prefix+child+"/"); {
			i++
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// ReadFile returns the contents of a file, in a slice of the caller's own.
func (p *packedFS) ReadFile(name string) ([]byte, error) {
	f, _ := p.find(name)
	if f == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	r, err := p.reader(f)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	defer r.Close()
	// An archive may lie about sizes: what is more than this grows as it comes.
	var b bytes.Buffer
	b.Grow(min(f.size, 16<<20) + bytes.MinRead)
	_, err = b.ReadFrom(r)
	return b.Bytes(), err
}

// reader returns f's contents: out of memory if its entry is a small one,
// inflated as it is read if it is large.
func (p *packedFS) reader(f *packedFile) (io.ReadCloser, error) {
	entry := p.entries[f.entry]
	if entry.UncompressedSize64 > 2*packSize {
		r, err := entry.Open()
		if err != nil {
			return nil, err
		}
		if f.offset == 0 && uint64(f.size) == entry.UncompressedSize64 {
			return r, nil // read to its end, so that its checksum is compared
		}
		if _, err := io.CopyN(io.Discard, r, int64(f.offset)); err != nil {
			_ = r.Close() // the error that matters is the one before
			return nil, err
		}
		return limited{io.LimitReader(r, int64(f.size)), r}, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	data, ok := p.packs[f.entry]
	if !ok {
		var err error
		if data, err = inflate(entry); err != nil {
			return nil, err
		}
		p.packs[f.entry] = data
	}
	if len(data) < f.offset+f.size {
		return nil, io.ErrUnexpectedEOF
	}
	return io.NopCloser(bytes.NewReader(data[f.offset : f.offset+f.size])), nil
}

type limited struct {
	io.Reader
	io.Closer
}
