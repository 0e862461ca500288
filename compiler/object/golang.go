package object

import "debug/elf"

// IsGo reports whether the Go compiler made the program, or a part of it. Its
// functions have a calling convention of their own (GoArgFetch), and a probe
// at their return breaks the program, since Go moves its stacks and the kernel
// changes return addresses on them.
func (f *File) IsGo() bool {
	return f.elf.Section(".go.buildinfo") != nil || f.elf.Section(".gopclntab") != nil ||
		f.elf.Section(".note.go.buildid") != nil
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
	if s := f.elf.Section(".text"); s != nil && s.Type != elf.SHT_NOBITS {
		return span{s.Addr, s.Addr + s.Size}
	}
	return all
}
