package object

import (
	"debug/dwarf"
	"strings"

	"github.com/eptrace/ep/lang/types"
)

// Encodings of a base type, DW_ATE_*.
const (
	encodingBool         = 0x02
	encodingFloat        = 0x04
	encodingSigned       = 0x05
	encodingSignedChar   = 0x06
	encodingUnsigned     = 0x07
	encodingUnsignedChar = 0x08
	encodingUTF          = 0x10
)

// maxPointers is how many pointers to pointers are followed.
const maxPointers = 8

// maxEnum is how many names of an enum are kept.
const maxEnum = 1 << 12

// typeOf returns the type that an entry has, Void if it has none. Types are
// read one entry after another, not by Data.Type, which would read all members
// of all structs that can be reached. pointers is how many there are around.
func (p *program) typeOf(e *dwarf.Entry, pointers int) types.Type {
	name := "" // the outermost, which C calls a struct without a tag by
	for range maxChain {
		off, ok := p.attribute(e, dwarf.AttrType).(dwarf.Offset)
		if !ok {
			return types.Void{}
		}
		if e = p.entry(off); e == nil {
			return types.Void{}
		}
		switch e.Tag {
		case dwarf.TagTypedef:
			if name == "" {
				name, _ = e.Val(dwarf.AttrName).(string)
			}
		case dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagAtomicType:
		default:
			return p.typeAt(e, name, pointers)
		}
	}
	return types.Void{}
}

// typeAt returns the type that an entry defines.
func (p *program) typeAt(e *dwarf.Entry, name string, pointers int) types.Type {
	own, _ := e.Val(dwarf.AttrName).(string)
	if own != "" {
		name = own
	}
	size64, _ := e.Val(dwarf.AttrByteSize).(int64)
	size := int(min(max(size64, 0), 1<<30))
	switch e.Tag {
	case dwarf.TagBaseType:
		encoding, _ := e.Val(dwarf.AttrEncoding).(int64)
		return baseType(name, encoding, size)
	case dwarf.TagEnumerationType:
		if fits(size) {
			n, signed := p.enum(e)
			return types.Int{Size: size, Signed: signed, Names: n}
		}
	case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
		if pointers == maxPointers {
			return types.Pointer{Elem: types.Void{}, User: true}
		}
		return types.Pointer{Elem: p.typeOf(e, pointers+1), User: true}
	case dwarf.TagSubroutineType:
		return types.Void{} // behind a pointer
	case dwarf.TagArrayType:
		return p.arrayOf(e, size)
	}
	return types.Struct{Name: name, ID: uint32(e.Offset), Size: size, File: p.path}
}

func baseType(name string, encoding int64, size int) types.Type {
	switch encoding {
	case encodingBool:
		if size == 1 {
			return types.Bool{}
		}
		if fits(size) {
			return types.Int{Size: size}
		}
	case encodingSigned, encodingUnsigned, encodingSignedChar, encodingUnsignedChar, encodingUTF:
		if !fits(size) {
			break // __int128
		}
		t := types.Int{Size: size, Signed: encoding == encodingSigned || encoding == encodingSignedChar}
		if name == "char" && size == 1 {
			t.Form = types.Char
		}
		return t
	}
	return types.Struct{Name: name, Size: size}
}

func fits(size int) bool { return size == 1 || size == 2 || size == 4 || size == 8 }

// enum returns the names of an enum's values, the same at each call, and
// whether one is negative.
func (p *program) enum(e *dwarf.Entry) (names *types.Names, signed bool) {
	if encoded, ok := p.attribute(e, dwarf.AttrType).(dwarf.Offset); ok { // since DWARF 3
		if base := p.entry(encoded); base != nil {
			encoding, _ := base.Val(dwarf.AttrEncoding).(int64)
			signed = encoding == encodingSigned || encoding == encodingSignedChar
		}
	}
	if names = p.names[e.Offset]; names == nil {
		names = &types.Names{}
		p.names[e.Offset] = names
		r := p.data.Reader()
		r.Seek(e.Offset)
		if _, err := r.Next(); err != nil || !e.Children {
			return names, signed
		}
		for len(names.List) < maxEnum {
			v, err := r.Next()
			if err != nil || v == nil || v.Tag == 0 {
				break
			}
			if v.Tag == dwarf.TagEnumerator {
				name, _ := v.Val(dwarf.AttrName).(string)
				value, _ := v.Val(dwarf.AttrConstValue).(int64)
				names.List = append(names.List, types.Name{Name: strings.Clone(name), Value: uint64(value)})
			}
			if v.Children {
				r.SkipChildren()
			}
		}
	}
	for _, n := range names.List {
		signed = signed || int64(n.Value) < 0
	}
	return names, signed
}
