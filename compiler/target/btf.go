package target

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/types"
)

// ErrNoBTF is what the methods that need the kernel's type information return,
// wrapped, if the target has none: the kernel was built without it, or the
// saved target does not hold it, or it holds none of the module in question.
var ErrNoBTF = errors.New("no type information (BTF)")

// btfs is what a target has opened of its type information.
type btfs struct {
	mu      sync.Mutex // held by the exported methods; the rest of these files do not lock
	open    bool
	kernel  *btfData
	err     error // why there is no kernel
	modules map[string]module
	list    []*btfData              // those of modules, by their mark less 1
	enums   map[uint32]*types.Names // by number, with its mark
	found   map[wanted]uint32       // what find found, 0 for nothing
}

// module is a module's type information, or why there is none.
type module struct {
	data *btfData
	err  error
}

// lockBTF opens the kernel's type information if that was not done yet, and
// returns with b.mu held if there is no error. Nothing of it is read before
// the first call, and all of it once.
func (t *Target) lockBTF() (*btfs, error) {
	b := &t.btf
	b.mu.Lock()
	if !b.open {
		b.open = true
		b.modules = map[string]module{}
		b.enums = map[uint32]*types.Names{}
		b.found = map[wanted]uint32{}
		b.kernel, b.err = t.openBTF(PathBTF, nil)
	}
	if b.err != nil {
		b.mu.Unlock()
		return nil, b.err
	}
	return b, nil
}

func (t *Target) openBTF(file string, base *btfData) (*btfData, error) {
	data, err := fs.ReadFile(t.fsys, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read '%s': %w", file, ErrNoBTF)
	}
	if err != nil {
		return nil, fmt.Errorf("read type information: %w", err)
	}
	d, err := parseBTF(data, base)
	if err != nil {
		return nil, fmt.Errorf("read '%s': %w", file, err)
	}
	return d, nil
}

// module returns the type information of a module, "" for the kernel itself.
func (b *btfs) module(t *Target, name string) (*btfData, error) {
	if name == "" {
		return b.kernel, nil
	}
	if m, ok := b.modules[name]; ok {
		return m.data, m.err
	}
	m := module{err: fmt.Errorf("module '%s': %w", name, ErrNoBTF)}
	if validName(name) && len(b.list) < btfMaxModules {
		m.data, m.err = t.openBTF(path.Join(path.Dir(PathBTF), name), b.kernel)
	}
	if m.err == nil {
		b.list = append(b.list, m.data)
		m.data.tag = uint32(len(b.list)) << btfTagShift
	}
	b.modules[name] = m
	return m.data, m.err
}

// find returns the first type of a name that is of the first of the kinds to
// have one; so does the kernel where it looks for one kind
// (btf_find_by_name_kind in kernel/bpf/btf.c).
func (b *btfs) find(d *btfData, name string, kinds ...btfKind) (id uint32, ok bool) {
	w := wanted{d, name, [8]btfKind{}}
	if copy(w.kinds[:], kinds) < len(kinds) {
		panic("internal error: too many kinds")
	}
	if id, ok := b.found[w]; ok {
		return id, id != 0
	}
	id = first(d, d.named(name, kinds...), kinds)
	b.found[w] = id
	return id, id != 0
}

// wanted is what find was asked for.
type wanted struct {
	in    *btfData
	name  string
	kinds [8]btfKind
}

// first returns the first number of the first of the kinds that has one, 0 if
// none has.
func first(d *btfData, ids []uint32, kinds []btfKind) uint32 {
	for _, k := range kinds {
		for _, id := range ids {
			if d.typ(id).kind == k {
				return id
			}
		}
	}
	return 0
}

// Struct returns the struct or union called name, without the word "struct",
// or the one that a typedef of that name stands for. Of several structs of one
// name it is the first, as for the kernel. The error is ErrNotFound or
// ErrNoBTF, wrapped.
func (t *Target) Struct(name string) (types.Struct, error) {
	b, err := t.lockBTF()
	if err != nil {
		return types.Struct{}, err
	}
	defer b.mu.Unlock()
	if id, ok := b.find(b.kernel, name, btfStruct, btfUnion, btfTypedef); ok {
		if s, ok := b.goType(b.kernel, id).(types.Struct); ok {
			return s, nil
		}
	}
	return types.Struct{}, fmt.Errorf("struct '%s': %w", name, ErrNotFound)
}

// Enum returns the enum called name, or the one that a typedef of that name
// stands for, with the names of its values. The error is ErrNotFound or
// ErrNoBTF, wrapped.
func (t *Target) Enum(name string) (types.Int, error) {
	b, err := t.lockBTF()
	if err != nil {
		return types.Int{}, err
	}
	defer b.mu.Unlock()
	if id, ok := b.find(b.kernel, name, btfEnum, btfEnum64, btfTypedef); ok {
		if i, ok := b.goType(b.kernel, id).(types.Int); ok && i.Names != nil {
			return i, nil
		}
	}
	return types.Int{}, fmt.Errorf("enum '%s': %w", name, ErrNotFound)
}

// TypeNamed returns the kernel's type that C calls name: a struct or union,
// else an enum, else a typedef, else a type of C itself. The error is
// ErrNotFound or ErrNoBTF, wrapped.
func (t *Target) TypeNamed(name string) (types.Type, error) {
	b, err := t.lockBTF()
	if err != nil {
		return types.Invalid{}, err
	}
	defer b.mu.Unlock()
	id, ok := b.find(b.kernel, name, btfStruct, btfUnion, btfEnum, btfEnum64, btfTypedef, btfInt, btfForward)
	if !ok {
		return types.Invalid{}, fmt.Errorf("type '%s': %w", name, ErrNotFound)
	}
	return b.goType(b.kernel, id), nil
}

// VarType returns the type of a variable of the kernel; false if the type
// information does not tell. It tells of per-cpu variables alone where it was
// made by pahole without --encode_btf_global_vars, which is usual.
func (t *Target) VarType(name string) (types.Type, bool) {
	b, err := t.lockBTF()
	if err != nil {
		return types.Invalid{}, false
	}
	defer b.mu.Unlock()
	id, ok := b.find(b.kernel, name, btfVar)
	if !ok {
		return types.Invalid{}, false
	}
	return b.goType(b.kernel, b.kernel.typ(id).ref), true
}

// IsPerCPU reports whether each CPU has a variable of this name of its own; false
// if there is no type information. The symbol of such a one is no address.
func (t *Target) IsPerCPU(name string) bool {
	b, err := t.lockBTF()
	if err != nil {
		return false
	}
	defer b.mu.Unlock()
	id, ok := b.find(b.kernel, name, btfVar)
	if !ok {
		return false
	}
	section, ok := b.find(b.kernel, ".data..percpu", btfDatasec)
	if !ok {
		return false
	}
	s := b.kernel.typ(section)
	for i := range s.vlen {
		if b.kernel.word(s, 12*i) == id {
			return true
		}
	}
	return false
}

// near returns the nearest name to name among those of a kind.
func near(d *btfData, name string, kind btfKind, prefix string) (string, bool) {
	var names []string
	for n := range d.names(kind, prefix) {
		if diff := len(n) - len(name); -3 <= diff && diff <= 3 {
			names = append(names, n)
		}
	}
	return diag.Near(name, names)
}

// sortedNames returns the names of a kind that begin with prefix, without it,
// sorted, each once.
func sortedNames(d *btfData, kind btfKind, prefix string) []string {
	names := slices.Sorted(d.names(kind, prefix))
	return slices.Compact(names)
}
