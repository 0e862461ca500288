package target

import (
	"encoding/binary"
	"testing"
	"testing/fstest"
)

// madeBTF builds type information by hand: what real kernels have seldom or no
// more, and what is wrong on purpose.
type madeBTF struct {
	order   binary.AppendByteOrder
	types   []byte
	strings []byte
	last    uint32 // number of the last type
	before  uint32 // bytes of the kernel's strings, for a module's
}

func newBTF() *madeBTF { return &madeBTF{order: binary.LittleEndian, strings: []byte{0}} }

// module returns what a module of that kernel begins with.
func (m *madeBTF) module() *madeBTF {
	return &madeBTF{order: m.order, last: m.last, before: uint32(len(m.strings))}
}

// text adds a string and returns where it is.
func (m *madeBTF) text(s string) uint32 {
	if s == "" {
		return 0
	}
	at := m.before + uint32(len(m.strings))
	m.strings = append(append(m.strings, s...), 0)
	return at
}

// add adds a type and returns its number. rest are the numbers that its kind
// has, of which each each make one of vlen.
func (m *madeBTF) add(kind btfKind, flag bool, name string, ref uint32, each int, rest ...uint32) uint32 {
	info := uint32(kind) << 24
	if flag {
		info |= 1 << 31
	}
	if each > 0 {
		info |= uint32(len(rest) / each)
	}
	for _, w := range append([]uint32{m.text(name), info, ref}, rest...) {
		m.types = m.order.AppendUint32(m.types, w)
	}
	m.last++
	return m.last
}

const madeSigned = 1 << 24

// integer adds an integer of a size in bytes; how holds its encoding.
func (m *madeBTF) integer(name string, size, how uint32) uint32 {
	return m.add(btfInt, false, name, size, 0, how|size*8)
}

func (m *madeBTF) bytes() []byte {
	b := m.order.AppendUint16(nil, btfMagic)
	b = append(b, 1, 0)
	for _, w := range []int{24, 0, len(m.types), len(m.types), len(m.strings)} {
		b = m.order.AppendUint32(b, uint32(w))
	}
	return append(append(b, m.types...), m.strings...)
}

// target returns a target with these types, and with those of modules.
func (m *madeBTF) target(t testing.TB, modules map[string]*madeBTF) *Target {
	t.Helper()
	files := fstest.MapFS{"README": {}, "events/a/b/format": {}, PathBTF: {Data: m.bytes()}}
	for name, m := range modules {
		files["sys/kernel/btf/"+name] = &fstest.MapFile{Data: m.bytes()}
	}
	tg, err := Open("made", files)
	if err != nil {
		t.Fatal(err)
	}
	return tg
}
