package object

import (
	"debug/elf"
	"encoding/binary"
	"strings"
)

// table is a symbol table of a file. It is searched in the form that it has on
// disk: a large program has half a million symbols, of which one is wanted.
type table struct {
	syms     []byte
	size     int    // of one symbol: 16 or 24
	strs     string // the names, each ended by a NUL
	versions *versions
	fromGo   bool // made of the table of Go's runtime
}

// entry is one symbol as the table has it.
type entry struct {
	name        string // with a version behind an '@', if the table has it so
	value, size uint64
	typ         elf.SymType
	bind        elf.SymBind
	section     elf.SectionIndex
	index       int
}

// readTables reads .symtab and .dynsym, those that there are.
func (f *File) readTables() ([]*table, error) {
	var tables []*table
	for _, kind := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		for _, s := range f.elf.Sections {
			// What strip leaves in a file of debug information has no bits.
			if s.Type != kind || s.Size == 0 {
				continue
			}
			t, err := f.readTable(s)
			if err != nil {
				return nil, err
			}
			tables = append(tables, t)
			break
		}
	}
	if f.elf.SectionByType(elf.SHT_SYMTAB) == nil {
		if t := f.readGoTable(); t != nil {
			tables = append(tables, t)
		}
	}
	return tables, nil
}

func (f *File) readTable(s *elf.Section) (*table, error) {
	if s.Link == 0 || int64(s.Link) >= int64(len(f.elf.Sections)) {
		return nil, corrupt("section '%s' has no names", s.Name)
	}
	syms, err := f.data(s)
	if err != nil {
		return nil, err
	}
	strs, err := f.data(f.elf.Sections[s.Link])
	if err != nil {
		return nil, err
	}
	t := &table{syms: syms, size: 24, strs: string(strs)}
	if f.elf.Class == elf.ELFCLASS32 {
		t.size = 16
	}
	if s.Type == elf.SHT_DYNSYM {
		t.versions = f.readVersions(t.strs)
	}
	return t, nil
}

// len returns how many symbols t has.
func (t *table) len() int { return len(t.syms) / t.size }

// nameAt returns the name of the i-th symbol, "" if it has none.
func (t *table) nameAt(i int) string {
	at := binary.LittleEndian.Uint32(t.syms[i*t.size:])
	if at == 0 || uint64(at) >= uint64(len(t.strs)) {
		return ""
	}
	name := t.strs[at:]
	end := strings.IndexByte(name, 0)
	if end < 0 {
		return ""
	}
	return name[:end]
}

// isNamed reports whether the i-th symbol is called name, or has it before an
// '@'. It is nameAt and a comparison, without looking for the name's end.
func (t *table) isNamed(i int, name string) bool {
	at := uint64(binary.LittleEndian.Uint32(t.syms[i*t.size:]))
	if at+uint64(len(name)) >= uint64(len(t.strs)) || !strings.HasPrefix(t.strs[at:], name) {
		return false
	}
	end := t.strs[at+uint64(len(name))]
	return end == 0 || end == '@'
}

// at returns the i-th symbol.
func (t *table) at(i int) entry {
	b := t.syms[i*t.size:][:t.size]
	e := entry{name: t.nameAt(i), index: i}
	var info byte
	var section uint16
	if t.size == 16 {
		// Elf32_Sym: name, value, size, info, other, section.
		e.value = uint64(binary.LittleEndian.Uint32(b[4:]))
		e.size = uint64(binary.LittleEndian.Uint32(b[8:]))
		info, section = b[12], binary.LittleEndian.Uint16(b[14:])
	} else {
		// Elf64_Sym: name, info, other, section, value, size.
		info, section = b[4], binary.LittleEndian.Uint16(b[6:])
		e.value = binary.LittleEndian.Uint64(b[8:])
		e.size = binary.LittleEndian.Uint64(b[16:])
	}
	e.typ, e.bind, e.section = elf.ST_TYPE(info), elf.ST_BIND(info), elf.SectionIndex(section)
	return e
}

// all calls yield for each symbol that has a name, until it returns false.
func (t *table) all(yield func(entry) bool) {
	for i := range t.len() {
		if e := t.at(i); e.name != "" && !yield(e) {
			return
		}
	}
}

// mayBeCode reports whether e is of a kind that functions and labels are.
func (e entry) mayBeCode() bool {
	return e.typ == elf.STT_FUNC || e.typ == elf.STT_GNU_IFUNC || e.typ == elf.STT_NOTYPE
}
