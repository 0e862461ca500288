package object

import (
	"debug/elf"
	"encoding/binary"
	"strings"
)

// versions tells the versions of a library's symbols: memcpy@@GLIBC_2.14 is
// the one that programs are linked to now, memcpy@GLIBC_2.2.5 is kept for old
// ones. In .dynsym both are called memcpy.
type versions struct {
	bySymbol []byte            // .gnu.version: 16 bits a symbol
	names    map[uint16]string // .gnu.version_d
}

// The bits of a symbol's version. 0 and 1 are no version.
const (
	versionIndex  = 0x7fff
	versionHidden = 0x8000
)

// readVersions returns nil if the file has none, or none that can be read.
func (f *File) readVersions(strs string) *versions {
	var v versions
	for _, s := range f.elf.Sections {
		if s.Type != elf.SHT_GNU_VERSYM && s.Type != elf.SHT_GNU_VERDEF {
			continue
		}
		b, err := f.data(s)
		if err != nil {
			return nil
		}
		if s.Type == elf.SHT_GNU_VERSYM {
			v.bySymbol = b
		} else {
			v.names = versionNames(b, strs)
		}
	}
	if v.bySymbol == nil {
		return nil
	}
	return &v
}

// versionNames reads Elf_Verdef records (version, flags, index, count: 16 bits
// each; hash, aux, next: 32), each with its name in its first Elf_Verdaux.
func versionNames(b []byte, strs string) map[uint16]string {
	names := map[uint16]string{}
	for at := uint64(0); at+20 <= uint64(len(b)) && len(names) <= versionIndex; {
		index := binary.LittleEndian.Uint16(b[at+4:]) & versionIndex
		aux := at + uint64(binary.LittleEndian.Uint32(b[at+12:]))
		if aux+4 <= uint64(len(b)) {
			if name := uint64(binary.LittleEndian.Uint32(b[aux:])); name < uint64(len(strs)) {
				names[index], _, _ = strings.Cut(strs[name:], "\x00")
			}
		}
		next := uint64(binary.LittleEndian.Uint32(b[at+16:]))
		if next == 0 {
			break
		}
		at += next
	}
	return names
}

// of returns the version of e, "" if it has none, and whether it is the one
// that is meant by the bare name.
func (t *table) version(e entry) (name string, current bool) {
	if _, v, ok := strings.Cut(e.name, "@"); ok {
		v, current = strings.CutPrefix(v, "@")
		return v, current
	}
	if t.versions == nil || e.index*2+2 > len(t.versions.bySymbol) {
		return "", true
	}
	v := binary.LittleEndian.Uint16(t.versions.bySymbol[e.index*2:])
	return t.versions.names[v&versionIndex], v&versionHidden == 0
}
