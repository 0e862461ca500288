package sourceproof

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// placeCases prove where a probe is, and what is read or tested in ways of its
// own: a fixed number of bytes, the text behind an event's `char *`, a set of CPUs.
var placeCases = []vm.Case{
	on("kprobe-at-address", every, proveAddressed),
	on("probe-ip", joins, proveIP),
	on("text-of-a-length", every, proveTextLength),
	on("text-behind-field", joins, proveTextBehind),
	on("cpu-set", joins, proveCPUSet),
}

// addressOf returns where the kernel has a symbol.
func addressOf(b *bench, symbol string) uint64 {
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		b.Fatalf("%v", err)
	}
	defer func() { _ = f.Close() }()
	for s := bufio.NewScanner(f); s.Scan(); {
		if part := strings.Fields(s.Text()); len(part) >= 3 && part[2] == symbol {
			n, err := strconv.ParseUint(part[0], 16, 64)
			if err != nil {
				b.Fatalf("%v", err)
			}
			return n
		}
	}
	b.Fatalf("no symbol %s", symbol)
	return 0
}

// proveAddressed: a kprobe at the address of a function has its arguments.
func proveAddressed(b *bench) {
	at := fmt.Sprintf("%#x", addressOf(b, "vfs_fallocate"))
	var st unix.Stat_t
	r := b.run("event e from kprobe "+at+"(file: *file, mode: s32, offset: s64, len: s64) where len == 77 { ino = file->f_inode->i_ino, mode, len, again = $arg(4) as s64, $func }\ntrace e", func() error {
		_, fd, err := scratch(b, "file", unix.O_RDWR)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if err := unix.Fstat(fd, &st); err != nil {
			return err
		}
		for _, size := range []int64{76, 77} {
			if err := unix.Fallocate(fd, 0, 0, size); err != nil {
				return err
			}
		}
		return nil
	})
	r.want("e", "ino mode len again func", fmt.Sprintf("%d 0 77 77 %s", st.Ino, at))
	b.refused("trace kprobe 0x1000 { $comm }", diag.BadNumber)
}

// proveIP: where a probe is. An fprobe may say the place of its call, some bytes
// into the function.
func proveIP(b *bench) {
	at := addressOf(b, "vfs_fallocate")
	script := `
event enter from func vfs_fallocate.enter where $ip != 0 { place = $ip, len }
event exit from func vfs_fallocate.exit { place = $ip, $ret }
event span from func vfs_fallocate { place = $ip, first = enter($ip), took = $elapsed }
event inside from kprobe vfs_fallocate { place = $ip, double = $arg(4) as u64 * 2 }
trace enter, exit, span, inside`
	r := b.run(script, fallocates(b))
	near := func(list []string) {
		if len(list) == 0 {
			b.Errorf("no records: %s", r)
		}
		for _, row := range list {
			for _, text := range strings.Fields(row) {
				n, err := strconv.ParseUint(text, 0, 64)
				if err != nil || n < at || n > at+16 {
					b.Errorf("got %s, want %#x: %v", text, at, err)
				}
			}
		}
	}
	near(r.of("enter", "place"))
	near(r.of("exit", "place"))
	near(r.of("span", "place", "first"))
	near(r.of("inside", "place"))
	if b.live.Has(target.FilterFunction) {
		r = b.run("event e from func vfs_fallocate.enter where $ip == vfs_fallocate { len }\nevent n from func vfs_fallocate.enter where $ip == vfs_read { len }\ntrace e, n", fallocates(b))
		if len(r.of("e", "len")) == 0 || len(r.of("n", "len")) > 0 {
			b.Errorf("by function: %s", r)
		}
	}
}

// proveTextLength: bytes of memory as text, with and without its end.
func proveTextLength(b *bench) {
	r := b.run(`
event e from func vfs_fallocate.enter {
  four = str(file->f_path.dentry->d_name.name, 4)
  more = str(file->f_path.dentry->d_name.name, 20)
  from = str(file->f_path.dentry->d_name.name + 7, 3)
}
trace e`, func() error {
		_, fd, err := scratch(b, "a-name-of-some-length", unix.O_RDWR)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if err := unix.Fallocate(fd, 0, 0, 4096); err != nil {
			return err
		}
		_, fd2, err := scratch(b, "short", unix.O_RDWR)
		if err != nil {
			return err
		}
		defer unix.Close(fd2)
		return unix.Fallocate(fd2, 0, 0, 4096)
	})
	if got := r.of("e", "four", "more"); !slices.Equal(got, []string{"a-na a-name-of-some-lengt", "shor short"}) {
		b.Errorf("got %q of %s", got, r)
	}
	if got := r.of("e", "from"); len(got) != 2 || got[0] != "of-" {
		b.Errorf("got %q of %s", got, r)
	}
}

// proveTextBehind: an event's own `char *` is tested by what it points to, in the
// kernel's memory and in the caller's, also where an eprobe cannot read it.
func proveTextBehind(b *bench) {
	var path string
	r := b.run(`
event tick from rcu.rcu_utilization where str(s) ~ "*scheduler-tick" { what = str(s) }
event begins from rcu.rcu_utilization where str(s) == "Start scheduler-tick" { $tid }
event opens from syscalls.sys_enter_openat where str(filename) ~ "*/only-this" { flags: x64 }
trace tick, begins, opens`, func() error {
		for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); {
		}
		path = filepath.Join(b.TempDir(), "only-this")
		for _, p := range []string{path, path + "-not", path} {
			if err := os.WriteFile(p, nil, 0o600); err != nil {
				return err
			}
		}
		return nil
	})
	all, begins := r.by("tick", 0, "what"), r.by("begins", 0, "tid")
	half := 0
	for _, what := range all {
		switch what {
		case "Start scheduler-tick":
			half++
		case "End scheduler-tick":
		default:
			b.Errorf("got %q", what)
		}
	}
	if half == 0 || len(all) < half || len(begins) == 0 {
		b.Errorf("%d records, %d of them begin, %d begin by themselves", len(all), half, len(begins))
	}
	if got := r.of("opens", "flags"); len(got) != 2 {
		b.Errorf("opened %d times, want 2: %s", len(got), r)
	}
}

// proveCPUSet: the kernel takes a set of CPUs; of more than the machine has it
// refuses them itself.
func proveCPUSet(b *bench) {
	const script = "event e from ipi.ipi_send_cpumask where cpumask & 0x3 && cpumask != \"0\" { callback }\ntrace e"
	switch {
	case !b.live.HasEvent("ipi", "ipi_send_cpumask"):
		b.refused(script, diag.UnknownEvent)
	case !b.live.Has(target.FilterCPUs):
		b.refused(script, diag.MissingFeature)
	default:
		b.run(script, func() error { return nil })
	}
}
