package target

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/eptrace/ep/lang/types"
)

// TestTypesThatAreRare is about types that the embedded kernels do not have, or
// have in other forms.
func TestTypesThatAreRare(t *testing.T) {
	m := newBTF()
	char := m.integer("char", 1, madeSigned)
	u32 := m.integer("unsigned int", 4, 0)
	u64 := m.integer("long unsigned int", 8, 0)
	m.add(btfStruct, false, "full", 12, 3, m.text("x"), u32, 0)
	one := func(kind btfKind, name string, of uint32) uint32 { return m.add(kind, false, name, of, 0) }
	pointer := func(to uint32) uint32 { return one(btfPointer, "", to) }
	array := func(of, n uint32) uint32 { return m.add(btfArray, false, "", 0, 0, of, u32, n) }
	want := map[string]string{}
	add := func(name string, of uint32, is string) {
		one(btfTypedef, name, of)
		want[name] = is
	}
	add("user_t", pointer(one(btfTypeTag, "user", one(btfConst, "", char))), "user *char")
	add("rcu_t", pointer(one(btfTypeTag, "rcu", char)), "*char")
	add("declared_t", pointer(one(btfForward, "full", 0)), "*struct full")
	add("unknown_t", pointer(one(btfForward, "nowhere", 0)), "*struct nowhere")
	add("function_t", pointer(m.add(btfFuncProto, false, "", 0, 2)), "*void")
	add("memory_t", pointer(one(btfConst, "", 0)), "*void")
	add("pp_t", pointer(pointer(one(btfVolatile, "", u64))), "**u64")
	add("rows_t", array(array(u32, 3), 2), "[2][3]u32")
	add("texts_t", array(array(char, 16), 2), "[2]str(16)")
	add("flexible_t", array(u64, 0), "[0]u64")
	add("float_t", one(btfFloat, "double", 8), "struct double(8)")
	add("wide_t", m.integer("__int128", 16, madeSigned), "struct __int128(16)")
	add("nameless_t", m.add(btfStruct, true, "", 4, 3, m.text("v"), u32, 0), "struct nameless_t(4)")
	add("negative_t", m.add(btfEnum, true, "", 4, 2, m.text("NONE"), ^uint32(0)), "s32")
	add("wide_enum_t", m.add(btfEnum64, false, "", 8, 3, m.text("TOP"), 0, 1<<31), "u64")
	add("dev_t", u32, "dev")
	tg := m.target(t, nil)
	for name, want := range want {
		if got, err := tg.TypeNamed(name); err != nil || say(got) != want {
			t.Errorf("%s: got %v, %v, want %s", name, got, err, want)
		}
	}
	for name, want := range map[string]types.Name{"negative_t": {Name: "NONE", Value: ^uint64(0)}, "wide_enum_t": {Name: "TOP", Value: 1 << 63}} {
		if e, err := tg.Enum(name); err != nil || e.Names.List[0] != want {
			t.Errorf("%s: got %v, %v, want %v", name, e.Names, err, want)
		}
	}
	// A dev_t that is not the kernel's own is a number.
	m = newBTF()
	one(btfTypedef, "dev_t", m.integer("long unsigned int", 8, 0))
	if got, err := m.target(t, nil).TypeNamed("dev_t"); err != nil || say(got) != "u64" {
		t.Errorf("dev_t of 64 bits: got %v, %v", got, err)
	}
}

func TestFlagsAreToldFromNumbers(t *testing.T) {
	for _, c := range []struct {
		values []uint64
		want   bool
	}{
		{[]uint64{0, 1, 2}, false},
		{[]uint64{1, 2, 4}, true},
		{[]uint64{0, 1, 2, 4, 8}, true},
		{[]uint64{0, 1, 2, 3, 4}, false},
		{[]uint64{1, 2, 4, 8, 15}, true},
		{[]uint64{0, 1, 2, 3, 4, 5, 6, 7, 8}, false},
		{nil, false},
	} {
		var names []types.Name
		for _, v := range c.values {
			names = append(names, types.Name{Value: v})
		}
		if got := areFlags(names); got != c.want {
			t.Errorf("%v: got %v, want %v", c.values, got, c.want)
		}
	}
}

// TestBitfieldsOfBothKinds is about structs with kind_flag and those of before,
// whose bitfields have integers of their own, of fewer bits than bytes hold.
func TestBitfieldsOfBothKinds(t *testing.T) {
	m := newBTF()
	u32 := m.integer("unsigned int", 4, 0)
	u64 := m.integer("long unsigned int", 8, 0)
	three := m.add(btfInt, false, "unsigned int", 4, 0, 3)
	shifted := m.add(btfInt, false, "unsigned int", 4, 0, 5<<16|2) // 2 bits, 5 further on
	m.add(btfStruct, false, "old", 16, 3,
		m.text("word"), u32, 0, m.text("a"), three, 32, m.text("b"), shifted, 32, m.text("c"), three, 38)
	at := func(bit, width uint32) uint32 { return width<<24 | bit }
	inner := m.add(btfStruct, true, "", 8, 3, m.text("d"), u64, at(10, 40), m.text(""), u32, at(50, 6), m.text("e"), u32, at(56, 8))
	union := m.add(btfUnion, true, "", 8, 3, m.text(""), inner, at(0, 0), m.text("all"), u64, at(0, 0))
	m.add(btfStruct, true, "new", 24, 3, m.text("f"), u32, at(31, 2), m.text(""), union, at(128, 0), m.text("g"), u64, at(60, 8))
	tg := m.target(t, nil)
	for _, c := range []struct {
		in, name string
		want     Member
	}{
		{"old", "word", Member{Offset: 0}},
		{"old", "a", Member{Offset: 4, BitSize: 3, Container: 1}},
		{"old", "b", Member{Offset: 4, BitOffset: 5, BitSize: 2, Container: 1}},
		{"old", "c", Member{Offset: 4, BitOffset: 6, BitSize: 3, Container: 2}},
		{"new", "d", Member{Offset: 16, BitOffset: 10, BitSize: 40, Container: 8}},
		{"new", "e", Member{Offset: 23, BitSize: 8, Container: 1}},
		{"new", "all", Member{Offset: 16}},
		{"new", "f", Member{Offset: 0, BitOffset: 31, BitSize: 2, Container: 8}},
		{"new", "g", Member{Offset: 7, BitOffset: 4, BitSize: 8, Container: 2}}, // packed: over the end of a word
	} {
		got, err := tg.Member(mustStruct(t, tg, c.in), c.name)
		c.want.Name, c.want.Type = c.name, got.Type
		if err != nil || got != c.want {
			t.Errorf("%s.%s: got %+v, %v, want %+v", c.in, c.name, got, err, c.want)
		}
	}
	names, err := tg.Members(mustStruct(t, tg, "new"))
	if want := []string{"f", "d", "e", "all", "g"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("got members %q, %v, want %q", names, err, want)
	}
}

func TestModules(t *testing.T) {
	m := newBTF()
	u32 := m.integer("unsigned int", 4, 0)
	shared := m.add(btfStruct, false, "shared", 4, 3, m.text("x"), u32, 0)
	name := m.text("from_kernel") // a string that modules use
	a, b := m.module(), m.module()
	for _, mod := range []*madeBTF{a, b} {
		own := mod.add(btfStruct, false, "own", 8, 3, mod.text("y"), shared, 32, name, u32, 0)
		arg := mod.add(btfPointer, false, "", own, 0)
		mod.add(btfFunc, false, "work", mod.add(btfFuncProto, false, "", u32, 2, mod.text("p"), arg), 0)
	}
	b.add(btfFunc, false, "more", b.add(btfFuncProto, false, "", 0, 2, b.text("e"), b.add(btfEnum, false, "own_enum", 4, 2, b.text("ONE"), 1)), 0)
	tg := m.target(t, map[string]*madeBTF{"a": a, "b": b})
	var structs []types.Struct
	for _, module := range []string{"a", "b"} {
		p, err := tg.FuncProto(module, "work")
		if err != nil || sayProto(p) != "(p: *struct own): u32" {
			t.Fatalf("%s:work: got %v, %v", module, p, err)
		}
		s := p.Params[0].Type.(types.Pointer).Elem.(types.Struct)
		structs = append(structs, s)
		names, err := tg.Members(s)
		if want := []string{"y", "from_kernel"}; err != nil || !slices.Equal(names, want) {
			t.Errorf("%s: got members %q, %v, want %q", module, names, err, want)
		}
		y, err := tg.Member(s, "y")
		if err != nil || y.Type != types.Type(mustStruct(t, tg, "shared")) {
			t.Errorf("%s: own.y is %v, %v, want the kernel's struct", module, y, err)
		}
	}
	if structs[0] == structs[1] {
		t.Error("structs of two modules are one type")
	}
	if p, err := tg.FuncProto("b", "more"); err != nil || types.NamesOf(p.Params[0].Type).String() != "ONE" {
		t.Errorf("b:more: got %v, %v", p, err)
	}
	if _, err := tg.FuncProto("", "work"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a module's function in the kernel: got %v, want ErrNotFound", err)
	}
	if _, err := tg.FuncProto("a", "more"); !errors.Is(err, ErrNotFound) {
		t.Errorf("another module's function: got %v, want ErrNotFound", err)
	}
}

func TestBigEndianBTF(t *testing.T) {
	m := newBTF()
	m.order = binary.BigEndian
	m.add(btfStruct, false, "s", 4, 3, m.text("x"), m.integer("int", 4, madeSigned), 0)
	tg := m.target(t, nil)
	if got, err := tg.Member(mustStruct(t, tg, "s"), "x"); err != nil || say(got.Type) != "s32" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestBTFThatGoesRound is about types that hold themselves: there is an end.
func TestBTFThatGoesRound(t *testing.T) {
	m := newBTF()
	m.add(btfTypedef, false, "a", 1, 0)
	m.add(btfPointer, false, "", 2, 0)
	m.add(btfTypedef, false, "p", 2, 0)
	m.add(btfArray, false, "", 0, 0, 4, 4, 9)
	m.add(btfTypedef, false, "r", 4, 0)
	var nameless []uint32
	for range 1000 {
		nameless = append(nameless, 0, 6, 8)
	}
	m.add(btfStruct, false, "s", 1, 3, nameless...)
	m.add(btfPointer, false, "", 8, 0)
	m.add(btfConst, false, "", 8, 0)
	m.add(btfTypedef, false, "c", 7, 0)
	tg := m.target(t, nil)
	start := time.Now()
	for _, name := range []string{"a", "p", "r", "c"} {
		if _, err := tg.TypeNamed(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if names, err := tg.Members(mustStruct(t, tg, "s")); err != nil || len(names) != 0 {
		t.Errorf("got %q, %v", names, err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

// FuzzBTF gives garbage to all methods. What is found in garbage does not
// matter, as long as it is found without a panic and soon.
func FuzzBTF(f *testing.F) {
	m := newBTF()
	u32 := m.integer("unsigned int", 4, 0)
	inner := m.add(btfUnion, true, "", 4, 3, m.text("m"), u32, 3<<24|5, 0, u32, 0)
	s := m.add(btfStruct, true, "s", 8, 3, m.text("n"), u32, 0, 0, inner, 32)
	p := m.add(btfPointer, false, "", s, 0)
	proto := m.add(btfFuncProto, false, "", p, 2, m.text("a"), p, 0, 0)
	m.add(btfFunc, false, "f", proto, 0)
	m.add(btfTypedef, false, "btf_trace_t", m.add(btfPointer, false, "", proto, 0), 0)
	m.add(btfVar, false, "v", u32, 0, 1)
	m.add(btfEnum64, true, "e", 8, 3, m.text("ONE"), 1, 0)
	m.add(btfArray, false, "", 0, 0, p, u32, 3)
	m.add(btfForward, false, "s", 0, 0)
	m.add(btfDatasec, false, ".data", 4, 3, 8, 0, 4)
	mod := m.module()
	mod.add(btfFunc, false, "g", m.last-5, 0)
	f.Add(m.types, m.strings, mod.types, mod.strings)
	f.Add(m.bytes(), []byte{0}, mod.bytes(), []byte{0})
	f.Fuzz(func(t *testing.T, kernelTypes, kernelText, moduleTypes, moduleText []byte) {
		_, _ = parseBTF(kernelTypes, nil) // as a whole file
		file := func(types, text []byte) []byte {
			return (&madeBTF{order: binary.LittleEndian, types: types, strings: text}).bytes()
		}
		d, err := parseBTF(file(kernelTypes, kernelText), nil)
		if err != nil {
			return
		}
		b := &btfs{kernel: d, enums: map[uint32]*types.Names{}, found: map[wanted]uint32{}}
		all := []*btfData{d}
		if mod, err := parseBTF(file(moduleTypes, moduleText), d); err == nil {
			mod.tag = 1 << btfTagShift
			b.list = append(b.list, mod)
			all = append(all, mod)
		}
		for _, d := range all {
			for i := range min(len(d.at), 200) {
				useType(b, d, d.first+uint32(i))
			}
			_ = sortedNames(d, btfTypedef, tracepointTypedef)
			_, _ = near(d, "foo", btfFunc, "")
		}
	})
}

// useType asks all that there is to ask of a type.
func useType(b *btfs, d *btfData, id uint32) {
	t := d.typ(id)
	_ = say(b.goType(d, id))
	_, _ = b.find(d, string(d.text(t.name)), btfStruct, btfFunc, btfTypedef)
	if t.kind == btfFuncProto {
		p := b.proto(d, t)
		b.nameParams(d, "t", p)
		_ = sayProto(p)
	}
	n := 0
	if _, _, ok := b.structNumber(d.structType(id, t)); ok {
		for m := range d.members(id) {
			_ = b.member(d, m)
			if n++; n > 100 {
				break
			}
		}
	}
}
