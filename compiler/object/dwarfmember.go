package object

import (
	"debug/dwarf"
	"fmt"
	"strings"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// maxNested is how many structs without a name are looked for a member in, one
// in the other.
const maxNested = 16

// Member returns the member of a struct of this file's debug information that is
// called name; members of structs and unions without a name that it has are its
// own. s is as Params or Member gave it. The error is target.ErrNotFound or
// ErrNoDWARF, wrapped.
func (f *File) Member(s types.Struct, name string) (m target.Member, err error) {
	defer guard(&err)
	p, err := f.program()
	if err != nil {
		return m, fmt.Errorf("members of '%s': %w", s.Name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	ok := false
	p.members(dwarf.Offset(s.ID), 0, maxNested, func(e *dwarf.Entry, at int) bool {
		if own, _ := e.Val(dwarf.AttrName).(string); own != name {
			return true
		}
		m, ok = p.member(e, name, at), true
		return false
	})
	if !ok {
		return m, fmt.Errorf("member '%s' of struct '%s': %w", name, s.Name, target.ErrNotFound)
	}
	return m, nil
}

// Members returns the names of the members of a struct of this file's debug
// information, in their order.
func (f *File) Members(s types.Struct) (names []string, err error) {
	defer guard(&err)
	p, err := f.program()
	if err != nil {
		return nil, fmt.Errorf("members of '%s': %w", s.Name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.members(dwarf.Offset(s.ID), 0, maxNested, func(e *dwarf.Entry, _ int) bool {
		name, _ := e.Val(dwarf.AttrName).(string)
		names = append(names, strings.Clone(name))
		return true
	})
	return names, nil
}

// members calls yield for the members of the struct at off, with the byte that
// the struct begins at; it returns false if that is to be the last.
func (p *program) members(off dwarf.Offset, at, depth int, yield func(e *dwarf.Entry, at int) bool) bool {
	r := p.data.Reader()
	r.Seek(off)
	s, err := r.Next()
	if err != nil || s == nil || !s.Children {
		return true
	}
	for {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return true
		}
		if e.Children {
			r.SkipChildren()
		}
		if e.Tag != dwarf.TagMember || e.Val(dwarf.AttrExternal) != nil {
			continue
		}
		if name, _ := e.Val(dwarf.AttrName).(string); name != "" {
			if !yield(e, at) {
				return false
			}
			continue
		}
		if in, ok := p.typeOf(e, maxPointers).(types.Struct); ok && depth > 0 && !p.members(dwarf.Offset(in.ID), at+place(e), depth-1, yield) {
			return false
		}
	}
}

// place is the byte of a struct at which a member lies. One of a union says none.
func place(e *dwarf.Entry) int {
	n, _ := e.Val(dwarf.AttrDataMemberLoc).(int64)
	return int(min(max(n, 0), 1<<30))
}

// member describes a member of a struct that begins at a byte. Of bits, DWARF
// counts from the struct's beginning (DW_AT_data_bit_offset, since DWARF 4), or
// from the most significant bit of the member's type (DW_AT_bit_offset).
func (p *program) member(e *dwarf.Entry, name string, at int) target.Member {
	m := target.Member{Name: name, Type: p.typeOf(e, 0), Offset: at + place(e)}
	width, ok := e.Val(dwarf.AttrBitSize).(int64)
	if !ok || width < 1 || width > 64 {
		return m
	}
	bit, ok := e.Val(dwarf.AttrDataBitOffset).(int64)
	if !ok {
		old, _ := e.Val(dwarf.AttrBitOffset).(int64)
		size, sized := e.Val(dwarf.AttrByteSize).(int64)
		if !sized {
			size = int64(types.Size(m.Type))
		}
		bit = int64(place(e))*8 + size*8 - old - width
	}
	bit += int64(at) * 8
	for _, size := range []int64{1, 2, 4, 8} {
		if from := bit / 8 / size * size; bit+width <= (from+size)*8 {
			m.Offset, m.BitOffset, m.BitSize, m.Container = int(from), int(bit-from*8), int(width), int(size)
			break
		}
	}
	return m
}

// arrayOf returns an array's type: a text if it is of chars, as a member of a
// struct of the kernel is. One of several dimensions, or of no length, is not
// known.
func (p *program) arrayOf(e *dwarf.Entry, size int) types.Type {
	unknown := types.Struct{Name: "array", Size: size}
	r := p.data.Reader()
	r.Seek(e.Offset)
	if _, err := r.Next(); err != nil || !e.Children {
		return unknown
	}
	n := int64(0)
	for {
		d, err := r.Next()
		if err != nil || d == nil || d.Tag == 0 {
			break
		}
		if d.Tag != dwarf.TagSubrangeType || n != 0 {
			return unknown
		}
		count, ok := d.Val(dwarf.AttrCount).(int64)
		if !ok {
			last, ok := d.Val(dwarf.AttrUpperBound).(int64)
			if !ok {
				return unknown
			}
			count = last + 1
		}
		n = count
	}
	if n < 1 || n > 1<<20 {
		return unknown
	}
	elem := p.typeOf(e, 1)
	if i, ok := elem.(types.Int); ok && i.Form == types.Char {
		return types.String{Cap: int(n)}
	}
	return types.Array{Elem: elem, Len: int(n)}
}
