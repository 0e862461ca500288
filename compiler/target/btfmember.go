package target

import (
	"fmt"
	"iter"

	"github.com/eptrace/ep/lang/types"
)

// Member is one member of a struct or union.
type Member struct {
	Name   string
	Type   types.Type // of a bitfield: the type that it was declared with
	Offset int        // bytes from the beginning of the struct that was asked for
	// BitOffset and BitSize are a bitfield's place in the Container bytes at
	// Offset, counted from their least significant bit on little-endian
	// machines. They are 0 for other members.
	BitOffset, BitSize int
	// Container is how many bytes to read for a bitfield: 1, 2, 4 or 8, the
	// fewest that hold all of it, aligned where that is possible.
	Container int
}

// Member returns the member of s that is called name; members of a struct or
// union without a name that s has are its own, as in C. The error is
// ErrNotFound or ErrNoBTF, wrapped.
func (t *Target) Member(s types.Struct, name string) (Member, error) {
	b, err := t.lockBTF()
	if err != nil {
		return Member{}, err
	}
	defer b.mu.Unlock()
	var found Member
	ok := false
	if d, id, known := b.structNumber(s); known && name != "" {
		for m := range d.members(id) {
			if string(m.name) == name {
				found, ok = b.member(d, m), true
				break
			}
		}
	}
	if !ok {
		return Member{}, fmt.Errorf("member '%s' of struct '%s': %w", name, s.Name, ErrNotFound)
	}
	return found, nil
}

// Members returns the names of s's members in their order, with those of
// structs and unions without a name in their place. The error is ErrNotFound
// or ErrNoBTF, wrapped.
func (t *Target) Members(s types.Struct) ([]string, error) {
	b, err := t.lockBTF()
	if err != nil {
		return nil, err
	}
	defer b.mu.Unlock()
	d, id, ok := b.structNumber(s)
	if !ok {
		return nil, fmt.Errorf("struct '%s': %w", s.Name, ErrNotFound)
	}
	var names []string
	for m := range d.members(id) {
		names = append(names, string(m.name))
	}
	return names, nil
}

// structNumber returns where s is told of.
func (b *btfs) structNumber(s types.Struct) (d *btfData, id uint32, ok bool) {
	d, id = b.kernel, s.ID
	if mark := s.ID >> btfTagShift; mark != 0 {
		if int(mark) > len(b.list) {
			return nil, 0, false
		}
		d, id = b.list[mark-1], s.ID&(1<<btfTagShift-1)
	}
	if id == 0 {
		if id, ok = b.find(d, s.Name, btfStruct, btfUnion); !ok {
			return nil, 0, false
		}
	}
	k := d.typ(id).kind
	return d, id, k == btfStruct || k == btfUnion
}

// Malformed BTF may have structs that hold themselves: btfNesting is how many
// structs without names may lie one in the other, and btfMembers how many
// members a struct may have with all of theirs. Real ones need 6 and 1,000.
const (
	btfNesting = 16
	btfMembers = 1 << 17
)

// rawMember is a member with its place in bits from the beginning of the
// struct that was asked for.
type rawMember struct {
	name       []byte
	typ        uint32
	bit, width int // width is 0 if it is no bitfield
}

// members yields the members of a struct in their order, with those of structs
// and unions without a name in their place.
func (d *btfData) members(id uint32) iter.Seq[rawMember] {
	return func(yield func(rawMember) bool) {
		left := btfMembers
		d.eachMember(id, 0, btfNesting, &left, yield)
	}
}

// eachMember calls yield for the members of a struct that begins at a bit of
// the one that was asked for; it returns false if that is to be the last.
func (d *btfData) eachMember(id uint32, bit, depth int, left *int, yield func(rawMember) bool) bool {
	t := d.typ(id)
	for i := range t.vlen {
		if *left--; *left < 0 {
			return false
		}
		m := d.rawMember(t, i)
		m.bit += bit
		if len(m.name) > 0 {
			if !yield(m) {
				return false
			}
			continue
		}
		// One without a name that is no struct is padding.
		if in, ok := d.anonymous(m.typ); ok && depth > 0 && !d.eachMember(in, m.bit, depth-1, left, yield) {
			return false
		}
	}
	return true
}

// rawMember returns member i of a struct. With kind_flag its place holds the
// width of a bitfield too.
func (d *btfData) rawMember(t btfType, i int) rawMember {
	m := rawMember{name: d.text(d.word(t, i*12)), typ: d.word(t, i*12+4)}
	place := d.word(t, i*12+8)
	if t.flag {
		m.bit, m.width = int(place&0xffffff), int(place>>24)
	} else {
		m.bit, m.width = d.oldBitfield(m.typ, int(place))
	}
	return m
}

// oldBitfield returns the place of a member of a struct without kind_flag.
// There a bitfield's type is an integer of its own that has fewer bits than
// its bytes hold.
func (d *btfData) oldBitfield(typ uint32, bit int) (at, width int) {
	for range btfDepth {
		t := d.typ(typ)
		switch t.kind {
		case btfTypedef, btfVolatile, btfConst, btfRestrict, btfTypeTag:
			typ = t.ref
			continue
		case btfInt:
			data := d.word(t, 0)
			offset, n := int(data>>16&0xff), int(data&0xff)
			if n > 0 && (offset > 0 || n < int(t.ref)*8) {
				return bit + offset, n
			}
		}
		break
	}
	return bit, 0
}

// anonymous returns the struct or union that a member without a name is.
func (d *btfData) anonymous(typ uint32) (id uint32, ok bool) {
	for range btfDepth {
		t := d.typ(typ)
		switch t.kind {
		case btfStruct, btfUnion:
			return typ, true
		case btfVolatile, btfConst:
			typ = t.ref
			continue
		}
		break
	}
	return 0, false
}

func (b *btfs) member(d *btfData, m rawMember) Member {
	out := Member{Name: string(m.name), Type: b.goType(d, m.typ), Offset: m.bit / 8}
	if m.width > 0 {
		out.BitSize = m.width
		out.Offset, out.BitOffset, out.Container = container(m.bit, m.width)
	}
	return out
}

// container returns the fewest bytes that hold the bits [bit, bit+width), as
// aligned as they can be, and where the bits are in them.
func container(bit, width int) (offset, bitOffset, size int) {
	for _, size := range []int{1, 2, 4, 8} {
		if at := bit / 8 / size * size; bit+width <= (at+size)*8 {
			return at, bit - at*8, size
		}
	}
	// Across the words of a packed struct. More than 64 bits there are none.
	at := bit / 8
	for _, size := range []int{2, 4, 8} {
		if bit+width <= (at+size)*8 {
			return at, bit - at*8, size
		}
	}
	return at, bit - at*8, 8
}
