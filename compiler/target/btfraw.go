package target

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
)

// BTF is the kernel's own description of its types: a header, a section of
// types, a section of strings.
//
//	header   magic u16 = 0xeb9f, version u8 = 1, flags u8, length u32,
//	         types at u32, their length u32, strings at u32, their length u32;
//	         both places count from the header's end
//	type     name u32, info u32, size or type u32, then what its kind has
//	info     bits 0-15 vlen, bits 24-28 kind, bit 31 kind_flag
//
// Types are numbered in their order from 1; 0 is void. Names are offsets into
// the strings, which end with a NUL each. A module's BTF is split: its numbers
// and its offsets of strings go on where the kernel's end
// (Documentation/bpf/btf.rst; include/uapi/linux/btf.h).
//
// It is read here rather than by a library because a script needs some ten of
// the kernel's 130,000 types: nothing is decoded and no index is made but the
// places of the types, a hundredth of the work.
type btfData struct {
	base    *btfData // the kernel's, if this is a module's
	tag     uint32   // what the numbers of its own types are marked with; 0 for the kernel's
	big     bool     // big-endian
	types   []byte
	strings []byte
	at      []uint32 // where each of its own types begins, in types
	first   uint32   // the number of the first of them
}

// btfKind is the kind of a type in BTF.
type btfKind uint8

// The kinds, as include/uapi/linux/btf.h numbers them.
const (
	btfVoid btfKind = iota
	btfInt
	btfPointer
	btfArray
	btfStruct
	btfUnion
	btfEnum
	btfForward
	btfTypedef
	btfVolatile
	btfConst
	btfRestrict
	btfFunc
	btfFuncProto
	btfVar
	btfDatasec
	btfFloat
	btfDeclTag
	btfTypeTag
	btfEnum64
	btfKinds // how many there are
)

// btfExtra is what follows the 12 bytes that all types have: bytes once, and
// bytes for each of vlen.
var btfExtra = [btfKinds]struct{ once, each int }{
	btfInt: {4, 0}, btfArray: {12, 0}, btfStruct: {0, 12}, btfUnion: {0, 12}, btfEnum: {0, 8},
	btfFuncProto: {0, 8}, btfVar: {4, 0}, btfDatasec: {0, 12}, btfDeclTag: {4, 0}, btfEnum64: {0, 12},
}

const (
	btfMagic      = 0xeb9f
	btfTypeSize   = 12
	btfMaxTypes   = 1 << btfTagShift
	btfTagShift   = 24 // the bits of a Struct's ID from here tell the module
	btfMaxModules = 1<<(32-btfTagShift) - 1
)

// btfType is one type, decoded as far as its kind's own part.
type btfType struct {
	kind  btfKind
	flag  bool
	vlen  int
	name  uint32
	ref   uint32 // the size, or the number of another type
	extra []byte // what the kind has
}

var errBTF = errors.New("malformed BTF")

// parseBTF reads the encoding. data is kept and must not change. base is nil
// for the kernel's own. It takes any bytes; the error wraps errBTF.
func parseBTF(data []byte, base *btfData) (*btfData, error) {
	d := &btfData{base: base}
	if len(data) < 24 {
		return nil, fmt.Errorf("%w: %d bytes", errBTF, len(data))
	}
	d.big = binary.BigEndian.Uint16(data) == btfMagic
	if !d.big && binary.LittleEndian.Uint16(data) != btfMagic {
		return nil, fmt.Errorf("%w: no magic number", errBTF)
	}
	if base != nil && base.big != d.big {
		return nil, fmt.Errorf("%w: its byte order is not the kernel's", errBTF)
	}
	if data[2] != 1 {
		return nil, fmt.Errorf("%w: version %d", errBTF, data[2])
	}
	header := uint64(d.u32(data[4:]))
	section := func(at int) ([]byte, error) {
		lo := header + uint64(d.u32(data[at:]))
		hi := lo + uint64(d.u32(data[at+4:]))
		if header < 24 || hi > uint64(len(data)) {
			return nil, fmt.Errorf("%w: section [%d, %d) of %d bytes", errBTF, lo, hi, len(data))
		}
		return data[lo:hi:hi], nil
	}
	var err error
	if d.types, err = section(8); err != nil {
		return nil, err
	}
	if d.strings, err = section(16); err != nil {
		return nil, err
	}
	d.first = 1
	if base != nil {
		d.first = base.first + uint32(len(base.at))
	}
	return d, d.findTypes()
}

// findTypes finds where each type begins: only the lengths tell.
func (d *btfData) findTypes() error {
	d.at = make([]uint32, 0, len(d.types)/24)
	for at := 0; at < len(d.types); {
		if len(d.types)-at < btfTypeSize {
			return fmt.Errorf("%w: a type is cut off", errBTF)
		}
		info := d.u32(d.types[at+4:])
		kind := btfKind(info >> 24 & 0x1f)
		if kind == btfVoid || kind >= btfKinds {
			// A kernel newer than this program: without the kind's size
			// nothing after it can be found.
			return fmt.Errorf("%w: type %d is of unknown kind %d", errBTF, d.first+uint32(len(d.at)), kind)
		}
		if d.first+uint32(len(d.at)) >= btfMaxTypes {
			return fmt.Errorf("%w: more than %d types", errBTF, btfMaxTypes)
		}
		d.at = append(d.at, uint32(at))
		x := btfExtra[kind]
		at += btfTypeSize + x.once + x.each*int(info&0xffff)
		if at > len(d.types) {
			return fmt.Errorf("%w: a type is cut off", errBTF)
		}
	}
	return nil
}

// typ returns the type of a number, without a mark; void if there is none.
func (d *btfData) typ(id uint32) btfType {
	if id < d.first {
		if d.base == nil {
			return btfType{}
		}
		return d.base.typ(id)
	}
	if int(id-d.first) >= len(d.at) {
		return btfType{}
	}
	b := d.types[d.at[id-d.first]:]
	info := d.u32(b[4:])
	t := btfType{
		kind: btfKind(info >> 24 & 0x1f), flag: info>>31 != 0, vlen: int(info & 0xffff),
		name: d.u32(b), ref: d.u32(b[8:]),
	}
	x := btfExtra[t.kind]
	t.extra = b[btfTypeSize:][:x.once+x.each*t.vlen]
	return t
}

// u32 returns the number that b begins with.
func (d *btfData) u32(b []byte) uint32 {
	if d.big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// word returns the 32-bit number at byte i of what a kind has.
func (d *btfData) word(t btfType, i int) uint32 { return d.u32(t.extra[i:]) }

// text returns the string at an offset; nil if there is none.
func (d *btfData) text(at uint32) []byte {
	if d.base != nil {
		n := uint32(len(d.base.strings))
		if at < n {
			return d.base.text(at)
		}
		at -= n
	}
	if uint64(at) >= uint64(len(d.strings)) {
		return nil
	}
	s, _, ended := bytes.Cut(d.strings[at:], []byte{0})
	if !ended {
		return nil
	}
	return s
}

// named returns the numbers of those types of d's own that have a name and are
// of one of the kinds, in their order.
//
// The string is looked for first, as the section holds each only once; then it
// is enough to compare numbers. One look takes about a millisecond, an
// index of all names some twenty.
func (d *btfData) named(name string, kinds ...btfKind) []uint32 {
	var want uint32
	for _, k := range kinds {
		want |= 1 << k
	}
	var ids []uint32
	for at := range d.offsets(name) {
		for i, place := range d.at {
			b := d.types[place:][:8]
			if d.u32(b) == at && want>>(d.u32(b[4:])>>24&0x1f)&1 != 0 {
				ids = append(ids, d.first+uint32(i))
			}
		}
	}
	return ids
}

// offsets yields where a name is among the strings, the base's included.
func (d *btfData) offsets(name string) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if name == "" {
			return
		}
		var before uint32
		if d.base != nil {
			before = uint32(len(d.base.strings))
			for at := range d.base.offsets(name) {
				if !yield(at) {
					return
				}
			}
		}
		want := []byte(name + "\x00")
		for from := 0; ; from++ {
			i := bytes.Index(d.strings[from:], want)
			if i < 0 {
				return
			}
			from += i
			if from > 0 && d.strings[from-1] == 0 && !yield(before+uint32(from)) {
				return
			}
		}
	}
}

// names yields the names of d's own types of one kind that begin with prefix,
// without it. A name may come several times.
func (d *btfData) names(kind btfKind, prefix string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, place := range d.at {
			b := d.types[place:][:8]
			if btfKind(d.u32(b[4:])>>24&0x1f) != kind {
				continue
			}
			name, ok := bytes.CutPrefix(d.text(d.u32(b)), []byte(prefix))
			if ok && len(name) > 0 && !yield(string(name)) {
				return
			}
		}
	}
}
