package target

import (
	"math/bits"

	"github.com/eptrace/ep/lang/types"
)

// btfDepth is how many types may hang one in the other: a typedef of a typedef
// of a const pointer … Real ones need about ten; malformed ones may go round.
const btfDepth = 64

// goType returns what a type of BTF is in ep.
//
// An integer of 1, 2, 4 or 8 bytes is an Int, char has Form Char and bool is
// Bool; an enum is an Int with Names. Typedefs, const, volatile and restrict
// are looked through, save that the typedefs of typedefForms give a Form. An
// array of char is a String, another an Array, of Arrays if it has several
// dimensions; one without a length (a flexible member) is an Array of Len 0. A
// pointer to a function points to Void. A struct that is only declared is the
// one of that name where there is one. A struct without a name that a typedef
// stands for (atomic_t) has the typedef's: ep knows it by its ID, but the
// kernel knows no struct of that name.
//
// What ep has no word for (floating point, __int128) is a Struct without
// members that has its name and size, so that it can be pointed to and skipped.
func (b *btfs) goType(d *btfData, id uint32) types.Type { return b.depthType(d, id, btfDepth) }

func (b *btfs) depthType(d *btfData, id uint32, depth int) types.Type {
	form, alias := types.Dec, ""
	for ; depth > 0; depth-- {
		t := d.typ(id)
		switch t.kind {
		case btfTypedef:
			alias = string(d.text(t.name))
			if f, ok := typedefForms[alias]; ok && form == types.Dec {
				form = f
			}
			id = t.ref
		case btfVolatile, btfConst, btfRestrict, btfTypeTag:
			id = t.ref
		case btfInt:
			return d.intType(id, t, form)
		case btfEnum, btfEnum64:
			return types.Int{Size: enumSize(t), Signed: t.flag, Names: b.names(d, id, t)}
		case btfPointer:
			return b.pointerType(d, t, depth-1)
		case btfArray:
			elem := b.depthType(d, d.word(t, 0), depth-1)
			n := int(d.word(t, 8))
			if elem == (types.Int{Size: 1, Form: types.Char}) && n > 0 {
				return types.String{Cap: n}
			}
			return types.Array{Elem: elem, Len: n}
		case btfStruct, btfUnion:
			s := d.structType(id, t)
			if s.Name == "" {
				s.Name = alias // a struct without a name is best told by its typedef's
			}
			return s
		case btfForward:
			return b.forwardType(d, id, t)
		case btfFloat:
			return d.structType(id, t)
		default:
			return types.Void{} // void, a function, or nothing that has values
		}
	}
	return types.Void{}
}

// typedefForms are the typedefs that tell what an integer means. dev_t is the
// kernel's own, of 32 bits (include/linux/kdev_t.h).
var typedefForms = map[string]types.Form{
	"dev_t":  types.Dev,
	"__be16": types.BE,
	"__be32": types.BE,
	"__be64": types.BE,
}

// intType returns an integer's type. DWARF, and so BTF, tells char from
// unsigned char by their names alone; the encoding "char" is not used.
func (d *btfData) intType(id uint32, t btfType, form types.Form) types.Type {
	const signed, boolean = 1, 4
	encoding := d.word(t, 0) >> 24 & 0x0f
	size := int(t.ref)
	switch {
	case size != 1 && size != 2 && size != 4 && size != 8:
		return d.structType(id, t)
	case encoding&boolean != 0 && size == 1:
		return types.Bool{}
	case size == 1 && string(d.text(t.name)) == "char":
		return types.Int{Size: 1, Form: types.Char}
	case form == types.Dev && size != 4:
		form = types.Dec
	}
	return types.Int{Size: size, Signed: encoding&signed != 0, Form: form}
}

func (d *btfData) structType(id uint32, t btfType) types.Struct {
	if id >= d.first {
		id |= d.tag
	}
	return types.Struct{Name: string(d.text(t.name)), ID: id, Size: int(t.ref)}
}

// pointerType returns a pointer's type. The tag "user" stands between a
// pointer and what it points to; only kernels built by clang, or by gcc 16,
// have it.
func (b *btfs) pointerType(d *btfData, t btfType, depth int) types.Type {
	p := types.Pointer{Elem: types.Void{}}
	id := t.ref
	for range depth {
		to := d.typ(id)
		switch to.kind {
		case btfTypeTag:
			if tag := string(d.text(to.name)); tag == "user" || tag == "__user" {
				p.User = true
			}
		case btfVolatile, btfConst, btfRestrict:
		default:
			p.Elem = b.depthType(d, id, depth)
			return p
		}
		id = to.ref
	}
	return p
}

// forwardType returns the struct that a declaration is about.
func (b *btfs) forwardType(d *btfData, id uint32, t btfType) types.Type {
	kind := btfStruct
	if t.flag {
		kind = btfUnion
	}
	name := string(d.text(t.name))
	for _, in := range []*btfData{d, d.base} {
		if in == nil {
			continue
		}
		if full, ok := b.find(in, name, kind); ok {
			return in.structType(full, in.typ(full))
		}
	}
	t.ref = 0 // not a size
	return d.structType(id, t)
}

func enumSize(t btfType) int {
	switch t.ref {
	case 1, 2, 4, 8:
		return int(t.ref)
	}
	return 4
}

// names returns the names of an enum's values, the same for each asking.
func (b *btfs) names(d *btfData, id uint32, t btfType) *types.Names {
	if id < d.first && d.base != nil {
		d = d.base
	}
	key := id | d.tag
	if n := b.enums[key]; n != nil {
		return n
	}
	n := &types.Names{List: make([]types.Name, 0, t.vlen)}
	each := btfExtra[t.kind].each
	for i := range t.vlen {
		value := uint64(d.word(t, i*each+4))
		switch {
		case t.kind == btfEnum64:
			value |= uint64(d.word(t, i*each+8)) << 32
		case t.flag:
			value = uint64(int64(int32(value)))
		}
		n.List = append(n.List, types.Name{Name: string(d.text(d.word(t, i*each))), Value: value})
	}
	n.Flags = areFlags(n.List)
	b.enums[key] = n
	return n
}

// areFlags reports whether an enum's values are clearly sets of bits: three
// single bits at least, and few others. {0, 1, 2} and {0, 1, 2, 3, 4} are not.
func areFlags(names []types.Name) bool {
	var single uint64
	others := 0
	for _, n := range names {
		switch bits.OnesCount64(n.Value) {
		case 0:
		case 1:
			single |= n.Value
		default:
			others++
		}
	}
	n := bits.OnesCount64(single)
	return n >= 3 && others*4 <= n
}
