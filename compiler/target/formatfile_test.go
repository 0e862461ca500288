package target

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hexops/autogold/v2"

	"github.com/eptrace/ep/lang/types"
)

// parseLine parses one field line of an event of a system.
func parseLine(t *testing.T, system, line string) Field {
	t.Helper()
	f, err := ParseFormat(system, "x", []byte("name: x\nID: 1\nformat:\n\tfield:"+line+"\n\nprint fmt: \"\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Fields) != 1 {
		t.Fatalf("%q: got %d fields", line, len(f.Fields))
	}
	return f.Fields[0]
}

func TestFieldForms(t *testing.T) {
	u8, s32, u64 := types.Int{Size: 1}, types.Int{Size: 4, Signed: true}, types.Int{Size: 8}
	char := types.Int{Size: 1, Form: types.Char}
	for _, c := range []struct {
		name, line string
		want       Field
	}{
		{"int", "int pid;\toffset:8;\tsize:4;\tsigned:1;", Field{Name: "pid", Decl: "int", Offset: 8, Size: 4, Signed: true, Type: s32}},
		{"two words", "unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;", Field{Name: "ip", Decl: "unsigned long", Offset: 8, Size: 8, Type: u64}},
		{"unsigned alone", "unsigned n;\toffset:8;\tsize:4;\tsigned:0;", Field{Name: "n", Decl: "unsigned", Offset: 8, Size: 4, Type: types.Int{Size: 4}}},
		{"typedef", "pid_t pid;\toffset:8;\tsize:4;\tsigned:1;", Field{Name: "pid", Decl: "pid_t", Offset: 8, Size: 4, Signed: true, Type: s32}},
		{"bool", "bool ok;\toffset:8;\tsize:1;\tsigned:0;", Field{Name: "ok", Decl: "bool", Offset: 8, Size: 1, Type: types.Bool{}}},
		{"char", "char c;\toffset:8;\tsize:1;\tsigned:0;", Field{Name: "c", Decl: "char", Offset: 8, Size: 1, Type: char}},
		{"device", "dev_t dev;\toffset:8;\tsize:4;\tsigned:0;", Field{Name: "dev", Decl: "dev_t", Offset: 8, Size: 4, Type: types.Int{Size: 4, Form: types.Dev}}},
		{"big-endian", "__be16 port;\toffset:8;\tsize:2;\tsigned:0;", Field{Name: "port", Decl: "__be16", Offset: 8, Size: 2, Type: types.Int{Size: 2, Form: types.BE}}},
		{"enum", "enum zone_type z;\toffset:8;\tsize:4;\tsigned:0;", Field{Name: "z", Decl: "enum zone_type", Offset: 8, Size: 4, Type: types.Int{Size: 4}}},
		{"text of fixed size", "char comm[16];\toffset:8;\tsize:16;\tsigned:0;", Field{Name: "comm", Decl: "char[16]", Offset: 8, Size: 16, Array: true, Type: types.String{Cap: 16}}},
		{"size by a macro", "char comm[TASK_COMM_LEN];\toffset:8;\tsize:16;\tsigned:0;", Field{Name: "comm", Decl: "char[TASK_COMM_LEN]", Offset: 8, Size: 16, Array: true, Type: types.String{Cap: 16}}},
		{"numbers by a macro", "u32 x[N];\toffset:8;\tsize:12;\tsigned:0;", Field{Name: "x", Decl: "u32[N]", Offset: 8, Size: 12, Array: true, Type: types.Array{Elem: types.Int{Size: 4}, Len: 3}}},
		{"numbers", "unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;", Field{Name: "args", Decl: "unsigned long[6]", Offset: 16, Size: 48, Array: true, Type: types.Array{Elem: u64, Len: 6}}},
		{"long of 32 bits", "unsigned long args[6];\toffset:16;\tsize:24;\tsigned:0;", Field{Name: "args", Decl: "unsigned long[6]", Offset: 16, Size: 24, Array: true, Type: types.Array{Elem: types.Int{Size: 4}, Len: 6}}},
		{"bytes are no text", "u8 mac[6];\toffset:8;\tsize:6;\tsigned:0;", Field{Name: "mac", Decl: "u8[6]", Offset: 8, Size: 6, Array: true, Type: types.Array{Elem: u8, Len: 6}}},
		{"text of the record's length", "__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;", Field{Name: "name", Decl: "__data_loc char[]", Offset: 8, Size: 4, Array: true, Loc: DataLoc, Type: types.String{}}},
		{"relative place", "__rel_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;", Field{Name: "name", Decl: "__rel_loc char[]", Offset: 8, Size: 4, Array: true, Loc: RelLoc, Type: types.String{}}},
		{"numbers of the record's length", "__data_loc u64[] v;\toffset:8;\tsize:4;\tsigned:0;", Field{Name: "v", Decl: "__data_loc u64[]", Offset: 8, Size: 4, Array: true, Loc: DataLoc, Type: types.Array{Elem: u64}}},
		{"CPU mask", "__data_loc cpumask_t mask;\toffset:8;\tsize:4;\tsigned:0;", Field{Name: "mask", Decl: "__data_loc cpumask_t", Offset: 8, Size: 4, Loc: DataLoc, Type: types.Struct{Name: "cpumask_t"}}},
		{"text to the record's end", "char buf[];\toffset:16;\tsize:0;\tsigned:0;", Field{Name: "buf", Decl: "char[]", Offset: 16, Array: true, Type: types.String{}}},
		{"pointer to text", "const char * name;\toffset:8;\tsize:8;\tsigned:0;", Field{Name: "name", Decl: "const char *", Offset: 8, Size: 8, Type: types.Pointer{Elem: char}}},
		{"pointer to a struct", "struct page *page;\toffset:8;\tsize:8;\tsigned:0;", Field{Name: "page", Decl: "struct page *", Offset: 8, Size: 8, Type: types.Pointer{Elem: types.Struct{Name: "page"}}}},
		{"pointer to anything", "const void * p;\toffset:8;\tsize:8;\tsigned:0;", Field{Name: "p", Decl: "const void *", Offset: 8, Size: 8, Type: types.Pointer{Elem: types.Void{}}}},
		{"pointer to pointer", "const void * * p;\toffset:8;\tsize:8;\tsigned:0;", Field{Name: "p", Decl: "const void * *", Offset: 8, Size: 8, Type: types.Pointer{Elem: types.Pointer{Elem: types.Void{}}}}},
		{"function pointer", "void (*fn)(struct work *);\toffset:8;\tsize:8;\tsigned:0;", Field{Name: "fn", Decl: "void (*)()", Offset: 8, Size: 8, Type: types.Pointer{Elem: types.Void{}}}},
		{"attribute", `const char __attribute__((btf_type_tag("user"))) * s;` + "\toffset:8;\tsize:8;\tsigned:0;", Field{Name: "s", Decl: "const char *", Offset: 8, Size: 8, Type: types.Pointer{Elem: char, User: true}}},
		{"user pointer", "char __user * s;\toffset:8;\tsize:8;\tsigned:0;", Field{Name: "s", Decl: "char *", Offset: 8, Size: 8, Type: types.Pointer{Elem: char, User: true}}},
		{"no scalar", "uuid_t id;\toffset:8;\tsize:16;\tsigned:0;", Field{Name: "id", Decl: "uuid_t", Offset: 8, Size: 16, Type: types.Struct{Name: "uuid_t"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := parseLine(t, "s", c.line); got != c.want {
				t.Errorf("%q:\n got %+v\nwant %+v", c.line, got, c.want)
			}
		})
	}
}

func TestSyscallArgumentsKeepTheirWidth(t *testing.T) {
	for decl, want := range map[string]types.Type{
		"int fd":              types.Int{Size: 4, Signed: true},
		"unsigned int fd":     types.Int{Size: 4},
		"umode_t mode":        types.Int{Size: 2},
		"size_t n":            types.Int{Size: 8},
		"const clockid_t c":   types.Int{Size: 4, Signed: true},
		"loff_t pos":          types.Int{Size: 8, Signed: true},
		"unknown_t x":         types.Int{Size: 8},
		"const char * s":      types.Pointer{Elem: types.Int{Size: 1, Form: types.Char}, User: true},
		"struct timespec * t": types.Pointer{Elem: types.Struct{Name: "timespec"}, User: true},
	} {
		got := parseLine(t, "syscalls", decl+";\toffset:16;\tsize:8;\tsigned:0;")
		if got.Type != want || got.Size != 8 {
			t.Errorf("%s: got %v of %d bytes, want %v of 8", decl, got.Type, got.Size, want)
		}
	}
}

func TestCopiedArguments(t *testing.T) {
	for target, want := range map[string]bool{"6.17-x86_64": false, "7.2-x86_64": true, "7.3-x86_64": true} {
		tg, err := Embedded(target)
		if err != nil {
			t.Fatal(err)
		}
		f, err := tg.Format("syscalls", "sys_enter_openat")
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Copied("filename"); (got != nil) != want || got != nil && got.Type != (types.String{}) {
			t.Errorf("%s: got %+v, want one: %v", target, got, want)
		}
		if got := f.Copied("flags"); got != nil {
			t.Errorf("%s: got %+v for a number", target, got)
		}
	}
}

func TestBadFormats(t *testing.T) {
	for _, text := range []string{
		"", "name: x\n", "ID: x\n", "ID: -1\n", "ID: 1\n\tfield:int a;\n", "ID: 1\n\tfield:;\toffset:0;\tsize:4;\tsigned:0;\n",
		"ID: 1\n\tfield:int a;\toffset:-1;\tsize:4;\tsigned:0;\n",
	} {
		if f, err := ParseFormat("s", "e", []byte(text)); err == nil {
			t.Errorf("%q: got %+v, want an error", text, f)
		}
	}
}

// eachFormat calls f with every format of every embedded target.
func eachFormat(t testing.TB, f func(target string, format *Format)) {
	for _, name := range EmbeddedNames() {
		tg, err := Embedded(name)
		if err != nil {
			t.Fatal(err)
		}
		systems, err := tg.Systems()
		if err != nil {
			t.Fatal(err)
		}
		for _, system := range systems {
			events, err := tg.Events(system)
			if err != nil {
				t.Fatal(err)
			}
			for _, event := range events {
				format, err := tg.Format(system, event)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				f(name, format)
			}
		}
	}
}

// TestKindsOfFields counts what the fields of all events of all embedded
// kernels are, so that a change of the parser shows what it changes.
func TestKindsOfFields(t *testing.T) {
	counts := map[string]map[string]int{}
	opaque := map[string]bool{}
	eachFormat(t, func(target string, f *Format) {
		if counts[target] == nil {
			counts[target] = map[string]int{}
		}
		counts[target]["events"]++
		for _, field := range f.Fields {
			for _, kind := range kindsOf(field) {
				counts[target][kind]++
			}
			if _, ok := field.Type.(types.Struct); ok {
				opaque[fmt.Sprintf("%s (%d bytes)", field.Decl, field.Size)] = true
			}
		}
	})
	var b strings.Builder
	for _, target := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&b, "%s\n", target)
		for _, kind := range slices.Sorted(maps.Keys(counts[target])) {
			fmt.Fprintf(&b, "\t%5d %s\n", counts[target][kind], kind)
		}
	}
	fmt.Fprintf(&b, "cannot be read\n\t%s\n", strings.Join(slices.Sorted(maps.Keys(opaque)), "\n\t"))
	autogold.ExpectFile(t, autogold.Raw(b.String()))
}

func kindsOf(f Field) []string {
	switch t := f.Type.(type) {
	case types.Int:
		kinds := []string{"integer"}
		if t.Form != types.Dec {
			kinds = append(kinds, "integer in the form "+t.String())
		}
		if t.Names != nil {
			kinds = append(kinds, "integer with names")
		}
		return kinds
	case types.Struct:
		return []string{"cannot be read"}
	case types.Pointer:
		if t.User {
			return []string{"user pointer"}
		}
		return []string{"pointer"}
	case types.Array:
		return []string{"array of " + t.Elem.String()}
	case types.String:
		return []string{"string"}
	case types.Bool:
		return []string{"bool"}
	}
	return []string{fmt.Sprintf("%T", f.Type)}
}

// TestFormats shows whole formats as they are understood.
func TestFormats(t *testing.T) {
	for _, c := range []struct{ target, system, event string }{
		{"6.17-x86_64", "sched", "sched_switch"},
		{"6.17-x86_64", "syscalls", "sys_enter_openat"},
		{"6.17-x86_64", "raw_syscalls", "sys_enter"},
		{"6.17-x86_64", "irq", "softirq_raise"},
		{"6.17-x86_64", "kmem", "kmalloc"},
		{"6.17-x86_64", "block", "block_rq_issue"},
		{"6.17-x86_64", "tcp", "tcp_retransmit_skb"},
		{"6.17-x86_64", "timer", "timer_start"},
		{"7.3-x86_64", "syscalls", "sys_enter_openat"},
		{"5.10-x86_64", "sched", "sched_switch"},
		{"6.12-arm64", "ipi", "ipi_raise"},
	} {
		t.Run(c.target+" "+c.system+"."+c.event, func(t *testing.T) {
			tg, err := Embedded(c.target)
			if err != nil {
				t.Fatal(err)
			}
			f, err := tg.Format(c.system, c.event)
			if err != nil {
				t.Fatal(err)
			}
			autogold.ExpectFile(t, autogold.Raw(describe(f)))
		})
	}
}

// describe returns a format for a golden file.
func describe(f *Format) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.%s\n", f.System, f.Name)
	for _, list := range [][]Field{f.Common, f.Fields} {
		for _, field := range list {
			fmt.Fprintf(&b, "%s: %v (%s, %d bytes at %d", field.Name, field.Type, field.Decl, field.Size, field.Offset)
			if field.Signed {
				b.WriteString(", signed")
			}
			b.WriteString([]string{")", ", data_loc)", ", rel_loc)"}[field.Loc])
			b.WriteString("\n")
			if names := types.NamesOf(field.Type); names != nil {
				for _, n := range names.List {
					fmt.Fprintf(&b, "\t%q = %d\n", n.Name, int64(n.Value))
				}
				fmt.Fprintf(&b, "\tflags: %v\n", names.Flags)
			}
		}
	}
	return b.String()
}

func TestMissingEvents(t *testing.T) {
	tg, err := Embedded(DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{"sched", "nope"}, {"nope", "x"}, {"sched", "enable"}, {"", ""}, {"..", "x"}, {"sched", "../sched/sched_switch"}, {"sched/sched_switch", "."}} {
		if _, err := tg.Format(c[0], c[1]); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: got %v, want ErrNotFound", c, err)
		}
		if tg.HasEvent(c[0], c[1]) {
			t.Errorf("%q: want no such event", c)
		}
	}
	if _, err := tg.Events("nope"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func FuzzFormat(f *testing.F) {
	n := 0
	eachFormat(f, func(_ string, format *Format) {
		if n++; n%97 == 0 {
			f.Add(format.System, "ID: 1\nformat:\n\tfield:"+format.Fields[len(format.Fields)-1].Decl+" x;\toffset:8;\tsize:8;\tsigned:0;\n\nprint fmt: "+format.Print)
		}
	})
	f.Fuzz(func(t *testing.T, system, text string) {
		format, err := ParseFormat(system, "e", []byte(text))
		if err != nil {
			return
		}
		for _, field := range slices.Concat(format.Common, format.Fields) {
			if field.Type == nil || field.Name == "" || field.Size < 0 || field.Offset < 0 {
				t.Errorf("%q gives %+v", text, field)
			}
			_ = field.Type.String()
		}
	})
}
