package object

import (
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

func TestFunctionByName(t *testing.T) {
	for _, c := range []struct {
		file, name, want string // want is the symbol's name
		value            uint64
	}{
		{"program-x86_64", "nine", "nine", 0x401014},
		{"program-x86_64", "_start", "_start", 0x401000},
		{"stripped-x86_64", "nine", "nine", 0x401014},
		{"program-arm", "nine", "nine", 0x100ee},
		{"libep.so", "copy", "copy", 0x1034},
		{"libep.so", "copy@EP_1.0", "copy", 0x1023},
		{"libep.so", "copy@@EP_2.0", "copy", 0x1034},
		{"libep.so", "copy@EP_2.0", "copy", 0x1034},
		{"libep.so", "chosen", "chosen", 0x1040},
		{"names-cpp", "_ZN2ns1fEi", "_ZN2ns1fEi", 0x401012},
		{"names-cpp", "ns::f(int)", "_ZN2ns1fEi", 0x401012},
		{"names-cpp", "ns::f( unsigned int,const char* )", "", 0},
		{"names-cpp", "ns::f(unsigned int, char const*)", "_ZN2ns1fEjPKc", 0x401016},
		{"names-cpp", "ns::once", "_ZN2ns4onceEPNS_3boxE", 0x40101c},
		{"names-cpp", "ns::once(ns::box *)", "_ZN2ns4onceEPNS_3boxE", 0x40101c},
		{"names-cpp", "plain", "_Z5plaini", 0x401022},
		{"names-cpp", "ns::box::get", "_ZNK2ns3box3getEl", 0x401006},
		{"names-cpp", "ns::box::box", "_ZN2ns3boxC1Ei", 0x401000},
		{"names-cpp", "ns::box::~box()", "_ZN2ns3boxD1Ev", 0x401004},
		{"names-cpp", "ns::box::operator+=", "_ZN2ns3boxpLEi", 0x40100c},
		{"names-cpp", "ns::twice<int>", "_ZN2ns5twiceIiEET_S1_", 0x401026},
		{"names-cpp", "ns::twice<long>(long)", "_ZN2ns5twiceIlEET_S1_", 0x40102a},
		{"names-cpp", "int ns::twice<int>(int)", "_ZN2ns5twiceIiEET_S1_", 0x401026},
		{"names-cpp", "ns::(anonymous namespace)::hidden", "_ZN2ns12_GLOBAL__N_16hiddenEi", 0x40101f},
		{"names-rust-legacy", "names::inner::Thing::new", "_ZN5names5inner5Thing3new17hf0bdf14956ffbf9eE", 0x201270},
		{"names-rust-legacy", "<names::inner::Thing as names::inner::Grow>::grow", "_ZN58_$LT$names..inner..Thing$u20$as$u20$names..inner..Grow$GT$4grow17h666d1c18ea8b8433E", 0x201250},
		{"names-rust-legacy", "names::inner::same", "_ZN5names5inner4same17h7769aae44a3c8216E", 0x201260},
		{"names-rust-v0", "names::inner::same::<u32>", "_RINvNtCs4T4zK9Otvt5_5names5inner4samemEB4_", 0x201250},
		{"names-rust-v0", "names::inner::same", "_RINvNtCs4T4zK9Otvt5_5names5inner4samemEB4_", 0x201250},
		{"names-rust-v0", "names::inner::Thing::new", "_RNvMs_NtCs4T4zK9Otvt5_5names5innerNtB4_5Thing3new", 0x201260},
	} {
		s, err := openProgram(t, c.file).Function(c.name)
		if c.want == "" {
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("%s, '%s': got %+v and %v, want ErrNotFound", c.file, c.name, s, err)
			}
			continue
		}
		if err != nil || s.Name != c.want || s.Value != c.value {
			t.Errorf("%s, '%s': got '%s' at 0x%x and %v, want '%s' at 0x%x", c.file, c.name, s.Name, s.Value, err, c.want, c.value)
		}
	}
}

func TestFunctionSaysWhyNot(t *testing.T) {
	for _, c := range []struct {
		file, name string
		want       error
	}{
		{"program-x86_64", "none", ErrNotFound},
		{"program-x86_64", "", ErrNotFound},
		{"program-x86_64", "@", ErrNotFound},
		{"program-x86_64", "nin", ErrNotFound},
		{"program-x86_64", "total", ErrNotCode},
		{"program-x86_64", "twin", ErrAmbiguous},
		{"program-x86_64", "program.c", ErrNotFound},
		{"libep.so", "elsewhere", ErrImported},
		{"libep.so", "copy@EP_3.0", ErrNotFound},
		{"names-cpp", "ns::f", ErrAmbiguous},
		{"names-cpp", "ns::twice", ErrAmbiguous},
		{"names-cpp", "f", ErrNotFound},
		{"names-cpp", "box", ErrNotFound},
	} {
		s, err := openProgram(t, c.file).Function(c.name)
		if !errors.Is(err, c.want) {
			t.Errorf("%s, '%s': got %+v and %v, want %v", c.file, c.name, s, err, c.want)
		}
	}
	_, err := openProgram(t, "names-cpp").Function("ns::f")
	if got, want := err.Error(), "'ns::f' is ambiguous: 'ns::f(int)' at 0x401012, 'ns::f(unsigned int, char const*)' at 0x401016"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestFunctionOfStrippedProgram(t *testing.T) {
	data, err := os.ReadFile("testdata/stripped-x86_64")
	if err != nil {
		t.Fatal(err)
	}
	debug, err := os.ReadFile("testdata/stripped-x86_64.debug")
	if err != nil {
		t.Fatal(err)
	}
	alone := fstest.MapFS{"bin/x": {Data: data}}
	f, err := Open(alone, "/bin/x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Function("nine"); !errors.Is(err, ErrNoSymbols) {
		t.Errorf("got %v, want ErrNoSymbols", err)
	}
	id := f.buildID()
	for _, path := range []string{
		"bin/stripped-x86_64.debug", "bin/.debug/stripped-x86_64.debug", "usr/lib/debug/bin/stripped-x86_64.debug",
		"usr/lib/debug/.build-id/" + id[:2] + "/" + id[2:] + ".debug",
	} {
		f, err := Open(fstest.MapFS{"bin/x": {Data: data}, path: {Data: debug}}, "/bin/x")
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Function("nine")
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if params, _, err := f.Params(s); err != nil || len(params) != 9 || s.Offset != 0x1014 {
			t.Errorf("%s: got offset 0x%x, %v and %v", path, s.Offset, params, err)
		}
	}
	wrong := append([]byte(nil), debug...)
	wrong[len(wrong)-1] ^= 1
	f, err = Open(fstest.MapFS{"bin/x": {Data: data}, "bin/stripped-x86_64.debug": {Data: wrong}}, "/bin/x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Function("nine"); !errors.Is(err, ErrNoSymbols) {
		t.Errorf("a file of other debug information is taken: %v", err)
	}
}

func TestAtIsByAddress(t *testing.T) {
	f := openProgram(t, "loose-x86_64")
	for _, c := range []struct {
		addr, offset uint64
		name         string
		err          error
	}{
		{0x1016, 0x1016, "nine", nil},
		{0x1020, 0x1020, "nine", nil},
		{0x1000, 0x1000, "_start", nil},
		{0x30f4, 0, "", ErrNotCode},
		{0x999999, 0, "", ErrNotCode},
	} {
		offset, s, err := f.At(c.addr)
		if offset != c.offset || s.Name != c.name || !errors.Is(err, c.err) {
			t.Errorf("0x%x: got offset 0x%x in '%s' and %v, want 0x%x in '%s' and %v", c.addr, offset, s.Name, err, c.offset, c.name, c.err)
		}
	}
	if offset, s, err := openProgram(t, "program-x86_64").At(0x40101a); err != nil || offset != 0x101a || s.Offset != 0x1014 {
		t.Errorf("got offset 0x%x, %+v and %v", offset, s, err)
	}
}

func TestNear(t *testing.T) {
	for _, c := range []struct{ file, name, want string }{
		{"program-x86_64", "nine_", "nine"},
		{"program-x86_64", "nohting", "nothing"},
		{"program-x86_64", "totl", ""},
		{"stripped-x86_64", "nohting", "nothing"},
		{"names-cpp", "once", "ns::once"},
		{"names-cpp", "ns::onec", "ns::once"},
		{"names-rust-v0", "grow", "<names::inner::Thing as names::inner::Grow>::grow"},
		{"names-rust-legacy", "names::inner::Thing::nwe", "names::inner::Thing::new"},
		{"program-x86_64", "", ""},
	} {
		got, ok := openProgram(t, c.file).Near(c.name)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: near '%s': got '%s', want '%s'", c.file, c.name, got, c.want)
		}
	}
}

// TestGoFunctions looks into the test program itself.
func TestGoFunctions(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(os.DirFS(filepath.Dir(exe)), "/"+filepath.Base(exe))
	if err != nil {
		t.Fatal(err)
	}
	if !f.IsGo() {
		t.Error("a program of Go is not known as one")
	}
	s, err := f.Function("github.com/eptrace/ep/compiler/object.TestGoFunctions")
	if f.Stripped() && f.linkedByC() {
		t.Skip("the test program is stripped and linked by a C compiler, as with -race")
	}
	if err != nil {
		t.Fatal(err)
	}
	if !s.Go {
		t.Errorf("got %+v: want a function of Go", s)
	}
	if f.Fixed() && s.Value != uint64(reflect.ValueOf(TestGoFunctions).Pointer()) {
		t.Errorf("got 0x%x, want 0x%x", s.Value, reflect.ValueOf(TestGoFunctions).Pointer())
	}
	if openProgram(t, "program-x86_64").IsGo() {
		t.Error("a program of C is taken for one of Go")
	}
}

func TestWritableCodeIsRefused(t *testing.T) {
	data, err := os.ReadFile("testdata/program-x86_64")
	if err != nil {
		t.Fatal(err)
	}
	e, err := elf.NewFile(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range e.Progs {
		if p.Flags&elf.PF_X != 0 && p.Type == elf.PT_LOAD {
			data[64+56*i+4] |= byte(elf.PF_W) // p_flags of an Elf64_Phdr
		}
	}
	f, err := Open(fstest.MapFS{"x": {Data: data}}, "/x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Function("nine"); !errors.Is(err, ErrWritableCode) {
		t.Errorf("got %v, want ErrWritableCode", err)
	}
}

func TestFileIsForManyGoroutines(t *testing.T) {
	f := openProgram(t, "stripped-x86_64")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := f.Function("nine")
			if err != nil {
				t.Error(err)
			}
			if _, _, err := f.Params(s); err != nil {
				t.Error(err)
			}
			if _, err := f.USDT("ep", "loop"); err != nil {
				t.Error(err)
			}
			f.Near("nothin")
		})
	}
	wg.Wait()
}
