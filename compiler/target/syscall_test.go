package target

import (
	"slices"
	"strings"
	"testing"

	"github.com/eptrace/ep/lang/types"
)

func TestSyscallNumbers(t *testing.T) {
	for _, c := range []struct {
		arch, name string
		nr         int
	}{
		{"x86_64", "read", 0}, {"x86_64", "openat", 257}, {"aarch64", "openat", 56}, {"aarch64", "clone3", 435},
		{"armv7l", "openat", 322}, {"riscv64", "openat", 56}, {"riscv64", "riscv_hwprobe", 258}, {"i686", "openat", 295}, {"i686", "_llseek", 140},
	} {
		tg := machine(t, map[string]string{PathArch: c.arch})
		if nr, ok := tg.Syscall(c.name); nr != c.nr || !ok {
			t.Errorf("%s %s: got %d, %v, want %d", c.arch, c.name, nr, ok, c.nr)
		}
		if name, ok := tg.SyscallName(c.nr); name != c.name || !ok {
			t.Errorf("%s %d: got %q, %v, want %q", c.arch, c.nr, name, ok, c.name)
		}
	}
	if _, ok := machine(t, map[string]string{PathArch: "aarch64"}).Syscall("open"); ok {
		t.Error("arm64 has no open")
	}
	unknown := machine(t, nil)
	if _, ok := unknown.Syscall("read"); ok || len(unknown.Syscalls()) != 0 {
		t.Error("want no system calls of an architecture that is not known")
	}
}

func TestSyscallTablesAreSorted(t *testing.T) {
	for _, arch := range []Arch{X86_64, I386, ARM64, ARM, RISCV64} {
		table := syscallTable(arch)
		if len(table) < 300 || !slices.IsSortedFunc(table, func(a, b syscall) int { return strings.Compare(a.name, b.name) }) {
			t.Errorf("%s: %d calls, or not sorted", arch, len(table))
		}
		numbers := map[int]string{}
		for _, s := range table {
			if other, ok := numbers[s.nr]; ok {
				t.Errorf("%s: %s and %s are both %d", arch, s.name, other, s.nr)
			}
			numbers[s.nr] = s.name
		}
	}
}

func TestSyscallEvents(t *testing.T) {
	tg, err := Embedded("6.17-x86_64")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"openat": "openat", "fstat": "newfstat", "uname": "newuname", "umount2": "umount", "sendfile": "sendfile64",
		"newstat": "newstat", "uselib": "", "nope": "",
	} {
		if got, ok := tg.SyscallEvent(name); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// TestSyscallsHaveEvents checks that every event of a system call can be asked
// for by the call's own name, so that eventNames is whole.
func TestSyscallsHaveEvents(t *testing.T) {
	for _, name := range EmbeddedNames() {
		tg, err := Embedded(name)
		if err != nil {
			t.Fatal(err)
		}
		events, err := tg.Events("syscalls")
		if err != nil {
			t.Fatal(err)
		}
		reached := map[string]bool{}
		for _, call := range tg.Syscalls() {
			if e, ok := tg.SyscallEvent(call); ok {
				reached["sys_enter_"+e] = true
			}
		}
		for _, e := range events {
			// fchroot of 7.3 is newer than the table.
			if strings.HasPrefix(e, "sys_enter_") && !reached[e] && e != "sys_enter_fchroot" {
				t.Errorf("%s: no system call is traced by %s", name, e)
			}
		}
	}
}

// TestOpenFlagsHaveNames: on kernels that tell no names, and on those that do, by
// the numbers of the architecture.
func TestOpenFlagsHaveNames(t *testing.T) {
	for _, name := range EmbeddedNames() {
		k, err := Embedded(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := k.Format("syscalls", "sys_enter_openat")
		if err != nil {
			t.Fatal(err)
		}
		names := types.NamesOf(f.Field("flags").Type)
		directory := uint64(0x10000)
		if strings.HasSuffix(name, "-arm64") {
			directory = 0x4000
		}
		for flag, want := range map[string]uint64{"O_RDONLY": 0, "O_CREAT": 0x40, "O_CLOEXEC": 0x80000, "O_DIRECTORY": directory} {
			if got, ok := names.Value(flag); !ok || got != want {
				t.Errorf("%s: %s is %#x (%t), want %#x", name, flag, got, ok, want)
			}
		}
	}
}
