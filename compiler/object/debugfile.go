package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"path"
	"strings"
)

// debugRoot is where distributions lay files of debug information.
const debugRoot = "usr/lib/debug"

// openDebug opens the file of debug information that belongs to f: by its
// build ID, else by its .gnu_debuglink. It has the same symbols and addresses,
// and none of the code. The error is ErrNoDWARF, wrapped, if there is none.
func (f *File) openDebug() (*File, error) {
	if id := f.buildID(); len(id) > 2 {
		name := path.Join(debugRoot, ".build-id", id[:2], id[2:]+".debug")
		if d, err := f.openDebugAt(name); err == nil && d.buildID() == id {
			return d, nil
		}
	}
	name, sum, ok := f.debugLink()
	if !ok {
		return nil, ErrNoDWARF
	}
	dir := path.Dir(f.path[1:])
	for _, candidate := range []string{path.Join(dir, name), path.Join(dir, ".debug", name), path.Join(debugRoot, dir, name)} {
		if "/"+candidate == f.path {
			continue
		}
		d, err := f.openDebugAt(candidate)
		if err != nil {
			continue
		}
		if got, err := d.checksum(); err == nil && got == sum {
			return d, nil
		}
		_ = d.Close() // it was only read
	}
	return nil, ErrNoDWARF
}

func (f *File) openDebugAt(name string) (*File, error) {
	name, err := resolve(f.fsys, "/"+name)
	if err != nil {
		return nil, err
	}
	d, err := open(f.fsys, name)
	if err != nil {
		return nil, err
	}
	if d.arch != f.arch {
		_ = d.Close() // it was only read
		return nil, fmt.Errorf("of another architecture: %w", ErrNoDWARF)
	}
	return d, nil
}

// buildID returns the linker's name for the file's contents, in hexadecimal;
// "" if it has none.
func (f *File) buildID() string {
	s := f.elf.Section(".note.gnu.build-id")
	if s == nil || s.Size > 1<<10 {
		return ""
	}
	b, err := f.data(s)
	if err != nil || len(b) < 16 || binary.LittleEndian.Uint32(b) != 4 || string(b[12:16]) != "GNU\x00" {
		return ""
	}
	size := uint64(binary.LittleEndian.Uint32(b[4:]))
	if 16+size > uint64(len(b)) {
		return ""
	}
	return hex.EncodeToString(b[16 : 16+size])
}

// debugLink reads .gnu_debuglink: a file's name, NUL, padding to 4, and the
// CRC-32 of its bytes.
func (f *File) debugLink() (name string, sum uint32, ok bool) {
	s := f.elf.Section(".gnu_debuglink")
	if s == nil || s.Size > 1<<12 {
		return "", 0, false
	}
	b, err := f.data(s)
	if err != nil {
		return "", 0, false
	}
	end := bytes.IndexByte(b, 0)
	if end <= 0 {
		return "", 0, false
	}
	at := align4(uint64(end) + 1)
	name = string(b[:end])
	if at+4 > uint64(len(b)) || strings.Contains(name, "/") || name == ".." {
		return "", 0, false
	}
	return name, binary.LittleEndian.Uint32(b[at:]), true
}

// checksum returns the CRC-32 of the whole file.
func (f *File) checksum() (uint32, error) {
	at, err := f.fsys.Open(f.path[1:])
	if err != nil {
		return 0, err
	}
	defer at.Close()
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, at); err != nil {
		return 0, err
	}
	return h.Sum32(), nil
}

// hasDWARF reports whether the file describes its functions itself.
func (f *File) hasDWARF() bool {
	s := f.elf.Section(".debug_info")
	return s != nil && s.Type != elf.SHT_NOBITS
}
