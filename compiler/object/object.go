// Package object reads what a compiler must know of a program or a library:
// where its functions and static probes are in the file, since the kernel
// takes a uprobe's place as a file and an offset, and how their arguments are
// fetched.
//
// It does not run anything, reads through an fs.FS, and reads no more than it
// is asked for. Read object.go first, then function.go for symbols and usdt.go
// for static probes.
package object

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/eptrace/ep/compiler/target"
)

// File is one ELF program or library. It does not change after it is opened,
// provided that the file on disk does not; what was read once is kept. All
// methods may be called from several goroutines.
type File struct {
	fsys fs.FS
	path string // absolute, without symbolic links as far as fsys tells them
	size uint64
	open io.Closer
	elf  *elf.File
	arch target.Arch

	tables  func() ([]*table, error)
	notes   func() ([]note, error)
	goCode  func() span
	debug   func() (*File, error) // the separate file of debug information
	program func() (*program, error)
}

// span is a range of addresses, the end not included.
type span struct{ lo, hi uint64 }

func (s span) has(addr uint64) bool { return s.lo <= addr && addr < s.hi }

// Open opens the program or library at an absolute path of the machine whose
// root fsys shows. Symbolic links are followed within fsys, absolute ones too,
// if fsys tells them (fs.ReadLinkFS); otherwise fsys follows them itself.
//
// The error is ErrNotFound, ErrNotELF, ErrUnsupported or ErrCorrupt, or what
// fsys says, such as fs.ErrPermission; all are wrapped.
func Open(fsys fs.FS, path string) (*File, error) {
	name, err := resolve(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	f, err := open(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return f, nil
}

// open opens a file by its name in fsys.
func open(fsys fs.FS, name string) (*File, error) {
	file, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	if err != nil {
		return nil, err
	}
	f := &File{fsys: fsys, path: "/" + name, open: file}
	if err := f.read(file); err != nil {
		_ = file.Close() // it was only read
		return nil, err
	}
	f.tables = sync.OnceValues(f.readTables)
	f.notes = sync.OnceValues(f.readNotes)
	f.goCode = sync.OnceValue(f.findGoCode)
	f.debug = sync.OnceValues(f.openDebug)
	f.program = sync.OnceValues(f.readDWARF)
	return f, nil
}

// read reads the headers.
func (f *File) read(file fs.File) (err error) {
	defer guard(&err)
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("not a regular file: %w", ErrNotELF)
	}
	at, ok := file.(io.ReaderAt)
	if !ok {
		data, err := io.ReadAll(io.LimitReader(file, maxBuffered+1))
		if err != nil {
			return err
		}
		if len(data) > maxBuffered {
			return errors.New("too large for a file system without random access")
		}
		at = bytes.NewReader(data)
	}
	var magic [4]byte
	if n, err := at.ReadAt(magic[:], 0); n < len(magic) && !errors.Is(err, io.EOF) {
		return err
	}
	if string(magic[:]) != elf.ELFMAG {
		return ErrNotELF
	}
	f.size = uint64(info.Size())
	f.elf, err = elf.NewFile(at)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return f.identify()
}

// maxBuffered is the size up to which a file is read as a whole if its file
// system knows no other way.
const maxBuffered = 256 << 20

// identify finds the architecture, and refuses what ep cannot probe.
func (f *File) identify() error {
	switch f.elf.Type {
	case elf.ET_EXEC, elf.ET_DYN:
	default:
		return fmt.Errorf("%w: it is an object file or a core", ErrNotELF)
	}
	if f.elf.Data != elf.ELFDATA2LSB {
		return fmt.Errorf("%w: big-endian", ErrUnsupported)
	}
	switch {
	case f.elf.Machine == elf.EM_X86_64 && f.elf.Class == elf.ELFCLASS64:
		f.arch = target.X86_64
	case f.elf.Machine == elf.EM_AARCH64 && f.elf.Class == elf.ELFCLASS64:
		f.arch = target.ARM64
	case f.elf.Machine == elf.EM_RISCV && f.elf.Class == elf.ELFCLASS64:
		f.arch = target.RISCV64
	case f.elf.Machine == elf.EM_386 && f.elf.Class == elf.ELFCLASS32:
		f.arch = target.I386
	case f.elf.Machine == elf.EM_ARM && f.elf.Class == elf.ELFCLASS32:
		f.arch = target.ARM
	case f.elf.Machine == elf.EM_X86_64:
		return fmt.Errorf("%w: x32, with 32-bit pointers", ErrUnsupported)
	default:
		return fmt.Errorf("%w: %v, %v", ErrUnsupported, f.elf.Machine, f.elf.Class)
	}
	return nil
}

// Close gives the file on disk back. What was not read before cannot be read
// any more. A File that is not closed is closed when it is no longer in use, if
// fsys is the operating system's.
func (f *File) Close() error { return f.open.Close() }

// Path returns the file's absolute path after all symbolic links: what a
// uprobe is to be given.
func (f *File) Path() string { return f.path }

// Arch returns the architecture that the file is for. That of the kernel may
// be another: x86_64 runs i386.
func (f *File) Arch() target.Arch { return f.arch }

// Fixed reports whether the program is loaded at the addresses that its
// symbols have: it is not position-independent.
func (f *File) Fixed() bool { return f.elf.Type == elf.ET_EXEC }

// offset returns where the byte at an address is in the file. code demands
// that it is in memory that may be executed and not written.
//
// A uprobe is set wherever the file is mapped, so the arithmetic is that of
// the program headers, not that of sections.
func (f *File) offset(addr uint64, code bool) (uint64, error) {
	for _, p := range f.elf.Progs {
		if p.Type != elf.PT_LOAD || addr < p.Vaddr || addr-p.Vaddr >= p.Filesz {
			continue
		}
		if code && p.Flags&elf.PF_X == 0 {
			return 0, fmt.Errorf("address 0x%x: %w", addr, ErrNotCode)
		}
		if code && p.Flags&elf.PF_W != 0 {
			return 0, fmt.Errorf("address 0x%x: %w", addr, ErrWritableCode)
		}
		off := p.Off + (addr - p.Vaddr)
		if off < p.Off || off >= f.size {
			return 0, corrupt("address 0x%x is past the end of the file", addr)
		}
		return off, nil
	}
	if !code {
		return 0, fmt.Errorf("address 0x%x is not in the file", addr)
	}
	return 0, fmt.Errorf("address 0x%x: %w", addr, ErrNotCode)
}

// section returns the name of the section that an address is in, "" if none.
func (f *File) section(addr uint64) string {
	for _, s := range f.elf.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Flags&elf.SHF_TLS == 0 && addr >= s.Addr && addr-s.Addr < s.Size {
			return s.Name
		}
	}
	return ""
}

// maxSection is the size up to which a section is read, and maxRatio how many
// times as large as the whole file one that is compressed may be: a few bytes
// can be made to unfold into gigabytes.
const (
	maxSection = 1 << 30
	maxRatio   = 32
)

// data reads a section.
func (f *File) data(s *elf.Section) (b []byte, err error) {
	defer guard(&err)
	if s.Type == elf.SHT_NOBITS {
		return nil, corrupt("section '%s' is empty", s.Name)
	}
	limit := f.size
	if s.Flags&elf.SHF_COMPRESSED != 0 {
		limit = f.size*maxRatio + 1<<20
	}
	if s.Size > min(limit, maxSection) {
		return nil, corrupt("section '%s' is larger than can be", s.Name)
	}
	b, err = s.Data()
	if err != nil {
		return nil, fmt.Errorf("section '%s': %w: %w", s.Name, ErrCorrupt, err)
	}
	return b, nil
}
