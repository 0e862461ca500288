package object

import (
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"strings"
)

// IsGo reports whether the Go compiler made the program, or a part of it. Its
// functions have a calling convention of their own (GoArgFetch), and a probe
// at their return breaks the program, since Go moves its stacks and the kernel
// changes return addresses on them.
func (f *File) IsGo() bool {
	return f.elf.Section(".go.buildinfo") != nil || f.elf.Section(".note.go.buildid") != nil || f.goTable() != nil
}

// findGoCode returns where the functions of Go are: all the code if the file
// does not tell them from those of C.
func (f *File) findGoCode() span {
	if !f.IsGo() {
		return span{}
	}
	all := span{0, ^uint64(0)}
	tables, err := f.tables()
	if err != nil {
		return all
	}
	code := span{}
	for _, t := range tables {
		for i := range t.len() {
			switch {
			case t.isNamed(i, "runtime.text"):
				code.lo = t.at(i).value
			case t.isNamed(i, "runtime.etext"):
				code.hi = t.at(i).value
			}
		}
	}
	if code.lo < code.hi {
		return code
	}
	return all
}

// goTable returns the section of the table by which Go's runtime finds names of
// functions for its stack traces, which strip leaves; nil if there is none.
func (f *File) goTable() *elf.Section {
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if s := f.elf.Section(name); s != nil {
			return s
		}
	}
	return nil
}

// readGoTable makes a symbol table of the functions of a stripped Go program,
// nil if that cannot be.
//
// The table has addresses relative to runtime.text, which it does not tell
// since Go 1.26. That is where .text begins if the Go linker made the program;
// if C's made it, C's start code comes first, and no address would be certain.
func (f *File) readGoTable() (t *table) {
	text, pcln := f.elf.Section(".text"), f.goTable()
	if text == nil || pcln == nil || f.linkedByC() {
		return nil
	}
	defer func() {
		if recover() != nil {
			t = nil // debug/gosym trusts the table
		}
	}()
	data, err := f.data(pcln)
	if err != nil {
		return nil
	}
	symbols, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
	if err != nil {
		return nil
	}
	var strs strings.Builder
	strs.WriteByte(0)
	t = &table{size: 24, fromGo: true}
	for i := range symbols.Funcs {
		fn := &symbols.Funcs[i]
		if fn.Entry < text.Addr || fn.End < fn.Entry || fn.End-text.Addr > text.Size || strs.Len() > maxSection {
			return nil // not the .text that it is about
		}
		t.syms = binary.LittleEndian.AppendUint32(t.syms, uint32(strs.Len()))
		t.syms = append(t.syms, elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), 0, 1, 0) // in section 1: defined
		t.syms = binary.LittleEndian.AppendUint64(t.syms, fn.Entry)
		t.syms = binary.LittleEndian.AppendUint64(t.syms, fn.End-fn.Entry)
		strs.WriteString(fn.Name)
		strs.WriteByte(0)
	}
	t.strs = strs.String()
	return t
}

// linkedByC reports whether a C compiler's start code is in the program.
func (f *File) linkedByC() bool {
	for _, name := range []string{".init", ".init_array", ".comment", ".eh_frame"} {
		if f.elf.Section(name) != nil {
			return true
		}
	}
	return false
}
