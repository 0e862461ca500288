package object

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
)

// Symbol is a named place in a file.
type Symbol struct {
	Name      string // as the symbol table has it, without a version
	Demangled string // what a C++ or Rust compiler made it from; "" otherwise
	Value     uint64 // the address, as nm shows it
	Size      uint64 // bytes, 0 if not known
	Offset    uint64 // of its first byte in the file: a uprobe's place
	Section   string // "" if not known
	Kind      Kind
	Go        bool // a function that the Go compiler made: see GoArgFetch
}

// Kind is what a symbol stands for. The zero value is a Func.
type Kind uint8

// The kinds of Symbol.
const (
	Func     Kind = iota
	Indirect      // a resolver: it runs once and returns the function to call (GNU ifunc)
	Object        // data
	Label         // code without a type, from assembly
)

// String returns "function", "indirect function", "object" or "label".
func (k Kind) String() string {
	return [...]string{"function", "indirect function", "object", "label"}[k]
}

// Function returns the function called name: as the symbol table has it, with
// or without the version of a library's symbol (memcpy, memcpy@GLIBC_2.2.5;
// without it, that which programs are linked to now), or as its source has it
// (ns::f, ns::f(int), ns::f<int>). A name that a global and a static function
// have is the global one. If the file has been stripped, the file of debug
// information that belongs to it is asked too.
//
// The error is ErrNotFound, ErrImported, ErrNoSymbols, ErrNotCode,
// ErrWritableCode or an *AmbiguousError, wrapped.
func (f *File) Function(name string) (Symbol, error) {
	s, err := f.find(name, entry.mayBeCode)
	if err != nil {
		return Symbol{}, err
	}
	if s.Offset, err = f.offset(s.Value, true); err != nil {
		return Symbol{}, fmt.Errorf("'%s': %w", name, err)
	}
	return s, nil
}

// find returns the symbol called name among those that fit. Its Offset is not
// set.
func (f *File) find(name string, fits func(entry) bool) (Symbol, error) {
	tables, err := f.allTables()
	if err != nil {
		return Symbol{}, err
	}
	found := hits{fits: fits}
	for _, t := range tables {
		found.exact(t, name)
	}
	if len(found.list) == 0 {
		for _, t := range tables {
			found.demangled(t, name)
		}
	}
	best := found.best()
	switch {
	case len(best) == 1:
		return f.symbol(best[0]), nil
	case len(best) > 1:
		e := &AmbiguousError{Name: name}
		for _, h := range best {
			e.Candidates = append(e.Candidates, f.symbol(h))
		}
		return Symbol{}, e
	case found.imported:
		return Symbol{}, fmt.Errorf("'%s': %w", name, ErrImported)
	case found.other:
		return Symbol{}, fmt.Errorf("'%s': %w", name, ErrNotCode)
	}
	if len(tables) == 0 {
		return Symbol{}, fmt.Errorf("'%s': %w", name, ErrNoSymbols)
	}
	return Symbol{}, fmt.Errorf("'%s': %w", name, ErrNotFound)
}

// allTables returns the file's tables and, if it has no .symtab, those of its
// file of debug information.
func (f *File) allTables() ([]*table, error) {
	own, err := f.tables()
	if err != nil {
		return nil, err
	}
	if f.elf.SectionByType(elf.SHT_SYMTAB) != nil {
		return own, nil
	}
	debug, err := f.debug()
	if err != nil {
		return own, nil // most machines have none
	}
	more, err := debug.tables()
	if err != nil {
		return own, nil
	}
	return append(slices.Clone(own), more...), nil
}

// Stripped reports whether the file has no names but of what it exports, and no
// file of debug information on the machine tells the others.
func (f *File) Stripped() bool {
	if f.elf.SectionByType(elf.SHT_SYMTAB) != nil {
		return false
	}
	_, err := f.debug()
	tables, e := f.tables()
	return err != nil && e == nil && !slices.ContainsFunc(tables, func(t *table) bool { return t.fromGo })
}

// hit is a symbol that was looked for.
type hit struct {
	entry
	current bool // not an old version
}

// hits gathers symbols of one name.
type hits struct {
	fits            func(entry) bool
	list            []hit
	imported, other bool // there is one, but it is not defined here, or does not fit
}

// add adds the symbol, if it is one.
func (h *hits) add(t *table, e entry) {
	switch e.typ {
	case elf.STT_SECTION, elf.STT_FILE, elf.STT_TLS:
		return
	}
	_, current := t.version(e)
	switch {
	case e.section == elf.SHN_UNDEF:
		h.imported = true
	case e.section == elf.SHN_ABS || e.section == elf.SHN_COMMON || !h.fits(e):
		h.other = true
	default:
		h.list = append(h.list, hit{e, current})
	}
}

// exact adds the symbols that are called name in the table.
func (h *hits) exact(t *table, name string) {
	bare, version, versioned := strings.Cut(name, "@")
	version = strings.TrimPrefix(version, "@")
	if bare == "" {
		return
	}
	for i := range t.len() {
		if !t.isNamed(i, bare) {
			continue
		}
		e := t.at(i)
		if v, _ := t.version(e); versioned && v != version {
			continue
		}
		n := len(h.list)
		h.add(t, e)
		if versioned && len(h.list) > n {
			h.list[n].current = true
		}
	}
}

// best returns those that are meant, one for each address, by address.
func (h *hits) best() []hit {
	list := prefer(h.list, func(h hit) bool { return h.current })
	list = prefer(list, func(h hit) bool { return h.bind != elf.STB_LOCAL })
	// Of one address the symbol that says most.
	slices.SortStableFunc(list, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(rank(a.typ), rank(b.typ)), strings.Compare(a.name, b.name))
	})
	return slices.CompactFunc(list, func(a, b hit) bool { return a.value == b.value })
}

func rank(t elf.SymType) int {
	switch t {
	case elf.STT_GNU_IFUNC:
		return 0
	case elf.STT_FUNC:
		return 1
	}
	return 2
}

// prefer returns those of list for which ok holds, or all if it holds for none.
func prefer(list []hit, ok func(hit) bool) []hit {
	if !slices.ContainsFunc(list, ok) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(h hit) bool { return !ok(h) })
}

// symbol makes e a Symbol without an Offset.
func (f *File) symbol(h hit) Symbol {
	name, _, _ := strings.Cut(h.name, "@")
	s := Symbol{Name: strings.Clone(name), Demangled: demangled(name), Value: h.value, Size: h.size}
	switch h.typ {
	case elf.STT_FUNC:
	case elf.STT_GNU_IFUNC:
		s.Kind = Indirect
	case elf.STT_NOTYPE:
		s.Kind = Label
	default:
		s.Kind = Object
	}
	if f.arch == target.ARM && s.Kind != Object {
		s.Value &^= 1 // set in the symbols of Thumb functions
	}
	s.Section = f.section(s.Value)
	s.Go = f.goCode().has(s.Value)
	return s
}

// At returns the place in the file of the instruction at a virtual address, as
// nm and objdump show addresses, and the function that it is in. The symbol is
// the zero value if no function is known there. Whether an instruction begins
// there is not looked at.
//
// The error is ErrNotCode or ErrWritableCode, wrapped.
func (f *File) At(addr uint64) (offset uint64, sym Symbol, err error) {
	if offset, err = f.offset(addr, true); err != nil {
		return 0, Symbol{}, err
	}
	tables, err := f.allTables()
	if err != nil {
		return offset, Symbol{}, nil // the address stands without a name
	}
	var best hit
	for _, t := range tables {
		for e := range t.all {
			if f.arch == target.ARM {
				e.value &^= 1
			}
			if !e.mayBeCode() || e.section == elf.SHN_UNDEF || addr < e.value || addr-e.value >= max(e.size, 1) {
				continue
			}
			if best.name == "" || rank(e.typ) < rank(best.typ) || e.bind != elf.STB_LOCAL && best.bind == elf.STB_LOCAL {
				best = hit{entry: e}
			}
		}
	}
	if best.name == "" {
		return offset, Symbol{}, nil
	}
	sym = f.symbol(best)
	sym.Offset, err = f.offset(sym.Value, true)
	if errors.Is(err, ErrCorrupt) {
		return 0, Symbol{}, err
	}
	return offset, sym, nil
}

// Near returns the function's name that name was most likely meant to be, and
// whether there is one: a clone that the compiler made of it (name.isra.0), the
// same name in a namespace, or one that is spelt nearly so.
func (f *File) Near(name string) (string, bool) {
	tables, err := f.allTables()
	if err != nil || name == "" {
		return "", false
	}
	var names []string
	clone, inside := "", ""
	for _, t := range tables {
		for e := range t.all {
			if !f.isCode(e) {
				continue
			}
			n, _, _ := strings.Cut(e.name, "@")
			if rest, ok := strings.CutPrefix(n, name); ok && strings.HasPrefix(rest, ".") && (clone == "" || n < clone) {
				clone = n
			}
			if mangled(n) {
				n = f.nearMangled(name, n)
				if strings.HasSuffix(n, "::"+name) && (inside == "" || n < inside) {
					inside = n
				}
			}
			if n != "" && len(names) < maxNames {
				names = append(names, n)
			}
		}
	}
	for _, n := range []string{clone, inside} {
		if n != "" {
			return strings.Clone(n), true
		}
	}
	near, ok := diag.Near(name, names)
	return strings.Clone(near), ok
}

// isCode reports whether e is a function or a label in code. Labels that begin
// with '$' tell code from data for disassemblers of arm64, arm and riscv64.
func (f *File) isCode(e entry) bool {
	if !e.mayBeCode() || e.section == elf.SHN_UNDEF || e.name[0] == '$' {
		return false
	}
	if e.typ != elf.STT_NOTYPE {
		return true
	}
	_, err := f.offset(e.value, true)
	return err == nil
}

// maxNames is how many names are compared with a misspelt one.
const maxNames = 1 << 20
