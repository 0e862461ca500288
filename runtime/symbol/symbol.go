// Package symbol tells which function of the kernel an address is in, from
// /proc/kallsyms.
//
// The list is read when the first address is asked for, and kept in sorted
// arrays: 200,000 symbols take less than 10 MB. Programs in user space have no
// place here. symbol.go is what is asked, read.go reads the list.
package symbol

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

// ErrHidden says that the kernel shows all addresses as zero, as it does to who
// is not root, and to all if the setting kernel.kptr_restrict is 2.
var ErrHidden = errors.New("the kernel hides its addresses (see the setting kernel.kptr_restrict)")

// Kernel knows the symbols of one kernel. Its methods may be called from
// several goroutines. What is loaded into the kernel after the list was read is
// not in it.
type Kernel struct {
	fsys fs.FS
	once sync.Once
	err  error
	list list
}

// list is the symbols by address, each with the end of its name in names: the
// start is the end of the one before.
type list struct {
	addrs []uint64
	ends  []uint32
	names string
}

// New returns the symbols of the kernel whose /proc fsys shows. Nothing is read
// yet.
func New(proc fs.FS) *Kernel { return &Kernel{fsys: proc} }

// Load reads the list, if that was not done before. The error is ErrHidden, or
// about the file: fs.ErrNotExist if the kernel was built without it, or
// fs.ErrPermission, both wrapped. Then no address has a symbol.
func (k *Kernel) Load() error {
	k.once.Do(func() { k.list, k.err = read(k.fsys) })
	return k.err
}

// maxOffset bounds how far behind a symbol an address may be to be in it. The
// list has no sizes, so that the last symbol before a gap would have the gap.
const maxOffset = 1 << 20

// Symbol returns the symbol at or before addr and how many bytes after its
// start addr is. Those of modules are written as in a script: "MODULE:NAME". If
// several symbols are at one address it is the first of the list, as for the
// kernel's own %pS (kernel/kallsyms.c, get_symbol_pos). ok is false if there is
// none within 1 MiB, or no list; Load tells why.
func (k *Kernel) Symbol(addr uint64) (name string, offset uint64, ok bool) {
	if k.Load() != nil {
		return "", 0, false
	}
	return k.list.find(addr)
}

// Len returns the number of different addresses that have a symbol, 0 if there
// is no list.
func (k *Kernel) Len() int {
	_ = k.Load() // it has no list then
	return len(k.list.addrs)
}

func (l *list) find(addr uint64) (name string, offset uint64, ok bool) {
	i, exact := slices.BinarySearch(l.addrs, addr)
	if !exact {
		i--
	}
	if i < 0 || addr-l.addrs[i] >= maxOffset {
		return "", 0, false
	}
	return l.name(i), addr - l.addrs[i], true
}

func (l *list) name(i int) string {
	start := uint32(0)
	if i > 0 {
		start = l.ends[i-1]
	}
	return l.names[start:l.ends[i]]
}

// Of returns the name that a script has for a symbol of a module; module is ""
// for the kernel itself.
func Of(module, name string) string {
	if module == "" || strings.HasPrefix(module, builtin) {
		return name
	}
	return module + ":" + name
}
