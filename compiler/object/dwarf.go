package object

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/lang/types"
)

// Param is a parameter of a function as its source has it.
type Param struct {
	Name string // "" if it has none
	Type types.Type
	// Fetch is how a uprobe at the function's entry gets it, nil if that does
	// not follow from the parameters' types: numbers of floating point,
	// structs by value, and integers behind these.
	Fetch command.Fetch
}

// program is what the debug information of a file is read by. debug/dwarf
// keeps what it has read and takes one reader at a time.
type program struct {
	mu    sync.Mutex
	data  *dwarf.Data
	path  string                        // of the file that it tells of
	names map[dwarf.Offset]*types.Names // of the enums met
}

// readDWARF reads the debug information of the file or of that which belongs
// to it.
func (f *File) readDWARF() (p *program, err error) {
	defer guard(&err)
	path := f.path
	if !f.hasDWARF() {
		d, err := f.debug()
		if err != nil {
			return nil, err
		}
		if !d.hasDWARF() {
			return nil, ErrNoDWARF
		}
		f = d
	}
	sections := map[string][]byte{}
	for _, name := range []string{"info", "abbrev", "str", "ranges", "addr", "str_offsets", "rnglists", "line_str"} {
		if s := f.elf.Section(".debug_" + name); s != nil {
			if sections[name], err = f.data(s); err != nil {
				return nil, err
			}
		}
	}
	data, err := dwarf.New(sections["abbrev"], nil, nil, sections["info"], nil, nil, sections["ranges"], sections["str"])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	for _, name := range []string{"addr", "str_offsets", "rnglists", "line_str"} {
		if err := data.AddSection(".debug_"+name, sections[name]); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
	}
	return &program{data: data, path: path, names: map[dwarf.Offset]*types.Names{}}, nil
}

// Params returns the parameters of a function of f, in order, and the type of
// its result, Void if it has none. Pointers are to user memory; what is no
// integer, bool, enum or pointer is a Struct by name. The error is ErrNoDWARF,
// wrapped, if neither the file nor the file of debug information that belongs
// to it tells. The first call for a large file may take a second.
func (f *File) Params(sym Symbol) (params []Param, result types.Type, err error) {
	p, err := f.program()
	if err != nil {
		return nil, nil, fmt.Errorf("parameters of '%s': %w", sym.Name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if params, result, err = p.params(sym.Value); err != nil {
		return nil, nil, fmt.Errorf("parameters of '%s': %w", sym.Name, err)
	}
	f.place(sym, params, result)
	return params, result, nil
}

func (p *program) params(addr uint64) (params []Param, result types.Type, err error) {
	defer guard(&err)
	r, fn, err := p.function(addr)
	if err != nil {
		return nil, nil, err
	}
	for depth := 1; fn.Children && depth > 0; {
		e, err := r.Next()
		if err != nil || e == nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrCorrupt, errors.Join(err, io.ErrUnexpectedEOF))
		}
		switch {
		case e.Tag == 0:
			depth--
			continue
		case e.Tag == dwarf.TagFormalParameter:
			if out, _ := e.Val(dwarf.AttrVarParam).(bool); out {
				break // a result of Go
			}
			name, _ := p.attribute(e, dwarf.AttrName).(string)
			params = append(params, Param{Name: name, Type: p.typeOf(e, 0)})
		}
		if e.Children {
			r.SkipChildren()
		}
	}
	return params, p.typeOf(fn, 0), nil
}

// function returns the entry of the function that begins at an address, and a
// reader of what is inside.
func (p *program) function(addr uint64) (*dwarf.Reader, *dwarf.Entry, error) {
	r := p.data.Reader()
	unit, err := r.SeekPC(addr)
	if errors.Is(err, dwarf.ErrUnknownPC) {
		return nil, nil, ErrNoDWARF
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	for depth := 0; unit.Children; {
		e, err := r.Next()
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		switch {
		case e == nil:
			return nil, nil, ErrNoDWARF
		case e.Tag == 0:
			if depth--; depth < 0 {
				return nil, nil, ErrNoDWARF
			}
		case e.Tag == dwarf.TagSubprogram:
			if low, ok := e.Val(dwarf.AttrLowpc).(uint64); ok && low == addr {
				return r, e, nil
			}
			if e.Children {
				r.SkipChildren()
			}
		case e.Children:
			depth++ // a namespace or a type may have functions in it
		}
	}
	return nil, nil, ErrNoDWARF
}

// attribute returns an attribute of an entry, or of the entry that it is an
// instance of or completes.
func (p *program) attribute(e *dwarf.Entry, attr dwarf.Attr) any {
	for range maxChain {
		if v := e.Val(attr); v != nil {
			return v
		}
		off, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if off, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				return nil
			}
		}
		if e = p.entry(off); e == nil {
			return nil
		}
	}
	return nil
}

// maxChain is how many entries are followed, so that one that leads to itself
// does not.
const maxChain = 32

func (p *program) entry(off dwarf.Offset) *dwarf.Entry {
	r := p.data.Reader()
	r.Seek(off)
	e, err := r.Next()
	if err != nil {
		return nil
	}
	return e
}
