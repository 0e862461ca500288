package target

import (
	"bytes"
	"io/fs"
	"testing"

	"github.com/cilium/ebpf/btf"
)

// TestBTFAgreesWithAnotherReader compares every struct and every function of
// three targets with what the library of cilium/ebpf reads, which takes it a
// second for each.
func TestBTFAgreesWithAnotherReader(t *testing.T) {
	for _, name := range []string{"5.10-x86_64", "6.17-arm64", "7.3-x86_64"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, spec := bothReaders(t, name)
			structs, funcs := 0, 0
			for id := uint32(1); id <= uint32(len(d.at)) && !t.Failed(); id++ {
				typ, err := spec.TypeByID(btf.TypeID(id))
				if err != nil {
					t.Fatal(err)
				}
				switch typ := typ.(type) {
				case *btf.Struct:
					structs++
					compareMembers(t, d, id, typ.Name, typ.Size, typ.Members)
				case *btf.Union:
					structs++
					compareMembers(t, d, id, typ.Name, typ.Size, typ.Members)
				case *btf.Func:
					funcs++
					compareParams(t, d, id, typ)
				}
			}
			_, err := spec.TypeByID(btf.TypeID(len(d.at) + 1))
			if err == nil || structs < 5000 || funcs < 20000 {
				t.Errorf("got %d types, %d structs, %d functions", len(d.at), structs, funcs)
			}
		})
	}
}

func bothReaders(t *testing.T, name string) (*btfData, *btf.Spec) {
	t.Helper()
	tg, err := Embedded(name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := fs.ReadFile(tg.FS(), PathBTF)
	if err != nil {
		t.Fatal(err)
	}
	d, err := parseBTF(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := btf.LoadSpecFromReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return d, spec
}

func compareMembers(t *testing.T, d *btfData, id uint32, name string, size uint32, members []btf.Member) {
	t.Helper()
	got := d.typ(id)
	if string(d.text(got.name)) != name || got.ref != size || got.vlen != len(members) {
		t.Errorf("type %d: got %q of %d bytes, want %q of %d", id, d.text(got.name), got.ref, name, size)
		return
	}
	for i, m := range members {
		r := d.rawMember(got, i)
		if string(r.name) != m.Name || r.bit != int(m.Offset) || r.width != int(m.BitfieldSize) {
			t.Errorf("member %d of %s: got %q at bit %d, %d bits, want %q at %d, %d",
				i, name, r.name, r.bit, r.width, m.Name, m.Offset, m.BitfieldSize)
		}
	}
}

func compareParams(t *testing.T, d *btfData, id uint32, f *btf.Func) {
	t.Helper()
	want, ok := f.Type.(*btf.FuncProto)
	got := d.typ(id)
	proto := d.typ(got.ref)
	if !ok || got.kind != btfFunc || proto.kind != btfFuncProto || proto.vlen != len(want.Params) || string(d.text(got.name)) != f.Name {
		t.Errorf("type %d: got %q, %d parameters, want %v", id, d.text(got.name), proto.vlen, f)
		return
	}
	for i, p := range want.Params {
		if n := d.text(d.word(proto, i*8)); string(n) != p.Name {
			t.Errorf("parameter %d of %s: got %q, want %q", i, f.Name, n, p.Name)
		}
	}
}
