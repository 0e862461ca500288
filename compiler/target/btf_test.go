package target

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/eptrace/ep/lang/types"
)

// say renders a type in all that a comparison needs.
func say(t types.Type) string {
	switch t := t.(type) {
	case types.String:
		return fmt.Sprintf("str(%d)", t.Cap)
	case types.Struct:
		return fmt.Sprintf("struct %s(%d)", t.Name, t.Size)
	case types.Pointer:
		if t.User {
			return "user *" + strings.SplitN(say(t.Elem), "(", 2)[0]
		}
		return "*" + strings.SplitN(say(t.Elem), "(", 2)[0]
	case types.Array:
		return fmt.Sprintf("[%d]%s", t.Len, say(t.Elem))
	}
	return t.String()
}

func sayProto(p *Proto) string {
	var params []string
	for _, a := range p.Params {
		params = append(params, a.Name+": "+say(a.Type))
	}
	if p.Variadic {
		params = append(params, "…")
	}
	return "(" + strings.Join(params, ", ") + "): " + say(p.Result)
}

// TestMembersOfKernels looks at members whose types and places are known from
// the kernel's source, on every embedded kernel.
func TestMembersOfKernels(t *testing.T) {
	eachKernel(t, func(t *testing.T, tg *Target) {
		inExecve := "2"
		if tg.Version() == (Version{6, 12}) {
			inExecve = "3" // both sched_rt_mutex and user_dumpable are before it
		}
		for _, c := range []struct{ in, name, want string }{
			{"task_struct", "pid", "s32"},
			{"task_struct", "comm", "str(16)"},
			{"task_struct", "mm", "*struct mm_struct"},
			{"task_struct", "in_execve", "u32 +" + inExecve + ":1 of 1"},
			{"file", "f_inode", "*struct inode"},
			{"file", "f_path", "struct path(16)"},
			{"inode", "i_ino", "u64"},
			{"inode", "i_rdev", "dev"},
			{"qstr", "len", "u32"}, // in a struct in a union, both without names
			{"sk_buff", "pkt_type", "u8 +0:3 of 1"},
			{"sock_common", "skc_dport", "be16"}, // in a union in a struct in …
			{"sock_common", "skc_daddr", "be32"},
			{"net_device", "name", "str(16)"},
			{"kiocb", "ki_complete", "*void"}, // a function
			{"linux_dirent64", "d_name", "[0]char"},
		} {
			s, err := tg.Struct(c.in)
			if err != nil {
				t.Errorf("%s: %v", c.in, err)
				continue
			}
			m, err := tg.Member(s, c.name)
			got := fmt.Sprint(err)
			if err == nil {
				got = say(m.Type)
			}
			if m.BitSize > 0 {
				got += fmt.Sprintf(" +%d:%d of %d", m.BitOffset, m.BitSize, m.Container)
			}
			if got != c.want || m.Name != c.name {
				t.Errorf("%s.%s: got %s, want %s", c.in, c.name, got, c.want)
			}
			names, err := tg.Members(s)
			if err != nil || !slices.Contains(names, c.name) {
				t.Errorf("members of %s: got %q, %v", c.in, names, err)
			}
		}
		sock, err := tg.Struct("sock")
		if err != nil {
			t.Fatal(err)
		}
		// A struct in a struct: its place is that of the first member.
		if m, err := tg.Member(sock, "__sk_common"); err != nil || m.Offset != 0 || say(m.Type) != "struct sock_common(136)" {
			t.Errorf("__sk_common: got %+v, %v", m, err)
		}
		if _, err := tg.Member(sock, "skc_dport"); !errors.Is(err, ErrNotFound) {
			t.Errorf("a member of a member with a name: got %v, want ErrNotFound", err)
		}
	})
}

func TestPrototypesOfKernels(t *testing.T) {
	eachKernel(t, func(t *testing.T, tg *Target) {
		long := "s64"
		blockError, prevState, printk := "u8", ", prev_state: u32", "_printk"
		switch v := tg.Version(); {
		case v == Version{5, 10}:
			blockError, prevState, printk = "s32", "", "printk"
		case v.AtLeast(Version{6, 17}):
			long = "s32"
		}
		for name, want := range map[string]string{
			"vfs_read":       "(file: *struct file, buf: user *char, count: u64, pos: *s64): s64",
			"do_sys_openat2": "(dfd: s32, filename: user *char, how: *struct open_how): " + long,
			printk:           "(fmt: *char, …): s32",
		} {
			p, err := tg.FuncProto("", name)
			if err != nil || sayProto(p) != want {
				t.Errorf("%s: got %v, %v, want %s", name, p, err, want)
			}
		}
		for name, want := range map[string]string{
			"sched_switch":      "(preempt: bool, prev: *struct task_struct, next: *struct task_struct" + prevState + "): void",
			"block_rq_complete": "(rq: *struct request, error: " + blockError + ", nr_bytes: u32): void",
			"sys_enter":         "(regs: *struct pt_regs, id: s64): void",
		} {
			p, err := tg.TracepointProto(name)
			if err != nil || sayProto(p) != want {
				t.Errorf("%s: got %v, %v, want %s", name, p, err, want)
			}
		}
		names, err := tg.Tracepoints()
		if err != nil || len(names) < 600 || !slices.Contains(names, "sched_switch") || !slices.IsSorted(names) {
			t.Errorf("got %d tracepoints, %v", len(names), err)
		}
		if near, ok := tg.NearFunc("vfs_raed"); near != "vfs_read" || !ok {
			t.Errorf("near vfs_raed: got %q", near)
		}
	})
}

func TestNamedTypesOfKernels(t *testing.T) {
	eachKernel(t, func(t *testing.T, tg *Target) {
		for name, want := range map[string]string{
			"kuid_t": "struct kuid_t(4)", "atomic_t": "struct atomic_t(4)", "dev_t": "dev", "__be16": "be16",
			"size_t": "u64", "loff_t": "s64", "bool": "bool", "u8": "u8", "char": "char", "int": "s32", "__int128": "struct __int128(16)",
		} {
			if got, err := tg.TypeNamed(name); err != nil || say(got) != want {
				t.Errorf("%s: got %v, %v, want %s", name, got, err, want)
			}
		}
		pid, err := tg.Enum("pid_type")
		if err != nil || pid.Size != 4 || pid.Names.Flags {
			t.Errorf("pid_type: got %v of %d bytes, %v", pid.Names, pid.Size, err)
		}
		if v, ok := pid.Names.Value("PIDTYPE_SID"); v != 3 || !ok {
			t.Errorf("PIDTYPE_SID: got %d", v)
		}
		if again, _ := tg.TypeNamed("pid_type"); again != types.Type(pid) {
			t.Error("an enum asked for twice is two types")
		}
		mode, err := tg.Enum("hrtimer_mode")
		if v, ok := mode.Names.Value("HRTIMER_MODE_REL_PINNED"); err != nil || v != 3 || !ok || mode.Names.Flags {
			t.Errorf("hrtimer_mode: got %v, %v", mode.Names, err)
		}
		if flags, err := tg.Enum("trace_iterator_flags"); err == nil && !flags.Names.Flags {
			t.Errorf("trace_iterator_flags are no flags: %v", flags.Names)
		}
		if v, ok := tg.VarType("runqueues"); tg.Version() != (Version{5, 10}) && (!ok || say(v) != say(mustStruct(t, tg, "rq"))) {
			t.Errorf("runqueues: got %v, %v", v, ok)
		}
	})
}

func mustStruct(t *testing.T, tg *Target, name string) types.Struct {
	t.Helper()
	s, err := tg.Struct(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// eachKernel runs a test on each embedded target.
func eachKernel(t *testing.T, test func(t *testing.T, tg *Target)) {
	for _, name := range EmbeddedNames() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tg, err := Embedded(name)
			if err != nil {
				t.Fatal(err)
			}
			test(t, tg)
		})
	}
}

func TestNoBTF(t *testing.T) {
	tg := machine(t, nil)
	_, err := tg.Struct("file")
	_, err2 := tg.FuncProto("", "vfs_read")
	_, err3 := tg.Tracepoints()
	for _, err := range []error{err, err2, err3} {
		if !errors.Is(err, ErrNoBTF) {
			t.Errorf("got %v, want ErrNoBTF", err)
		}
	}
	if _, ok := tg.VarType("runqueues"); ok {
		t.Error("a variable without types")
	}
	bad, err := Open("bad", fstest.MapFS{"README": {}, "events/a/b/format": {}, PathBTF: {Data: []byte("hello")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bad.Struct("file"); err == nil || errors.Is(err, ErrNoBTF) || errors.Is(err, ErrNotFound) {
		t.Errorf("malformed: got %v", err)
	}
}

func TestBTFNotFound(t *testing.T) {
	tg, err := Embedded(DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	_, e1 := tg.Struct("nosuch")
	_, e2 := tg.Struct("pid_t") // a typedef of no struct
	_, e3 := tg.Enum("file")
	_, e4 := tg.TypeNamed("")
	_, e5 := tg.FuncProto("", "file")
	_, e6 := tg.TracepointProto("nosuch")
	_, e7 := tg.Member(types.Struct{Name: "nosuch"}, "x")
	_, e8 := tg.Member(mustStruct(t, tg, "file"), "")
	_, e9 := tg.Members(types.Struct{ID: 1 << 30})
	for i, err := range []error{e1, e2, e3, e4, e5, e6, e7, e8, e9} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%d: got %v, want ErrNotFound", i+1, err)
		}
	}
	if _, err := tg.FuncProto("nosuch", "f"); !errors.Is(err, ErrNoBTF) {
		t.Errorf("a module without types: got %v, want ErrNoBTF", err)
	}
	if _, err := tg.FuncProto("../vmlinux", "f"); !errors.Is(err, ErrNoBTF) {
		t.Errorf("a bad name of a module: got %v, want ErrNoBTF", err)
	}
}

func TestBTFFromSeveralGoroutines(t *testing.T) {
	tg, err := Embedded(DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	enums := make([]types.Int, 8)
	for i := range enums {
		wg.Go(func() {
			_, _ = tg.FuncProto("", "vfs_read")
			enums[i], _ = tg.Enum("pid_type")
		})
	}
	wg.Wait()
	for _, e := range enums {
		if e != enums[0] || e.Names == nil {
			t.Error("an enum is two types")
		}
	}
}
