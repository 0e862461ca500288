package sourceproof

import (
	"fmt"
	"os"
	"strings"

	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// functionCases prove probes on one end of a function, and on an instruction.
//
// vfs_fallocate is their subject: it takes a file, a mode, and two numbers with
// sign, returns an int, and nobody else calls it.
var functionCases = []vm.Case{
	on("func-enter", every, proveEnter),
	on("func-exit", every, proveExit),
	on("func-forced", every, proveForced),
	on("func-declared", every, proveDeclared),
	on("func-param", every, proveNameFromParam),
	on("kprobe", every, proveKprobe),
	on("kprobe-offset", every, proveKprobeOffset),
	on("func-composed", joins, proveComposed),
	on("ksym", func(k vm.Kernel) bool { return k.AtLeast(6, 4) }, proveKsym),
	on("addr", every, proveAddr),
	on("per-cpu", func(k vm.Kernel) bool { return k.AtLeast(7, 3) }, provePerCPU),
	on("module", every, proveModule),
	on("user-pointer", every, proveUserPointer),
}

// fallocates calls fallocate in ways of which two are refused.
func fallocates(b *bench) func() error {
	return func() error {
		_, fd, err := scratch(b, "file", unix.O_RDWR)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if err := unix.Fallocate(fd, 0, 0, 4096); err != nil {
			return fmt.Errorf("fallocate: %w", err)
		}
		if err := unix.Fallocate(fd, 0, -5, 7); err != unix.EINVAL {
			return fmt.Errorf("got %v, want EINVAL", err)
		}
		if err := unix.Fallocate(fd, 0x40000000, 1<<40, 9); err != unix.EOPNOTSUPP {
			return fmt.Errorf("got %v, want EOPNOTSUPP", err)
		}
		return nil
	}
}

// entries and results are what fallocates makes.
var (
	entries = []string{"0 0 4096", "0 -5 7", "1073741824 1099511627776 9"}
	results = []string{"0", "-22", "-95"}
)

func proveEnter(b *bench) {
	r := b.run("event e from func vfs_fallocate.enter { mode, offset, len }\ntrace e", fallocates(b))
	r.want("e", "mode offset len", entries...)
	r = b.run("event e from func vfs_fallocate.enter where offset < 0 || len == 9 { len, comm = $comm }\ntrace e", fallocates(b))
	r.want("e", "len", "7", "9")
}

func proveExit(b *bench) {
	r := b.run("event e from func vfs_fallocate.exit { $ret }\nevent bad from func vfs_fallocate.exit where $ret < -22 { $ret }\ntrace e, bad", fallocates(b))
	r.want("e", "ret", results...)
	r.want("bad", "ret", "-95")
	const both = "event wide from func vfs_fallocate.exit { len, r = $ret as s64 }\ntrace wide"
	if !b.Kernel().AtLeast(6, 9) {
		codes := []diag.Code{diag.MissingFeature}
		b.refused("trace func vfs_fallocate.exit { len, $ret }", codes...)
		return
	}
	r = b.run(both, fallocates(b))
	r.want("wide", "len r", "4096 0", "7 -22", "9 -95")
}

// proveForced: the same by either mechanism.
func proveForced(b *bench) {
	const script = "event e from func vfs_fallocate.enter { mode, offset, len }\nevent x from func vfs_fallocate.exit { $ret }\ntrace e, x"
	r := b.run("option functions kprobe\noption maxactive 7\n"+script, fallocates(b))
	r.want("e", "mode offset len", entries...)
	r.want("x", "ret", results...)
	if !fprobes(b.Kernel()) {
		b.refused("option functions fprobe\n"+script, diag.MissingFeature, diag.MissingFeature)
		return
	}
	r = b.run("option functions fprobe\n"+script, fallocates(b))
	r.want("e", "mode offset len", entries...)
	r.want("x", "ret", results...)
}

// proveDeclared: arguments by position, whatever they are called.
func proveDeclared(b *bench) {
	r := b.run("event e from func vfs_fallocate.enter(_, how: x32, _, much) { how, much }\ntrace e", fallocates(b))
	r.want("e", "how much", "0x0 4096", "0x0 7", "0x40000000 9")
	b.refused("trace func vfs_fallocate.enter(file: u32) { file }", diag.MismatchedTypes)
	b.refused("trace func vfs_fallocate.enter(a, b, c, d, e) { e }", diag.BadArgument)
}

func proveNameFromParam(b *bench) {
	r := b.run("param fn = \"vfs_fallocate\"\nevent e from func (fn).enter { len, who = $func }\ntrace e", fallocates(b))
	r.want("e", "len who", "4096 vfs_fallocate", "7 vfs_fallocate", "9 vfs_fallocate")
}

// argumentRegisters are the registers of a function's second and third argument,
// and the one that points to the instruction.
func argumentRegisters(k vm.Kernel) (second, third, ip string) {
	if isX86(k) {
		return "si", "dx", "ip"
	}
	return "x1", "x2", "pc"
}

func proveKprobe(b *bench) {
	second, third, _ := argumentRegisters(b.Kernel())
	r := b.run(fmt.Sprintf(`
event e from kprobe vfs_fallocate(file: *file, mode, offset: s64) {
  mode: u32
  offset
  byNumber = $arg(4) as s64
  byRegister = $reg(%s) as u32
  third = $reg(%s) as s64
  word = $stack(0)
  ino = file->f_inode->i_ino
}
trace e`, second, third), fallocates(b))
	r.want("e", "mode offset byNumber", entries...)
	r.want("e", "byRegister third byNumber", entries...)
}

// proveKprobeOffset: an instruction inside a function, found by trying where
// instructions begin.
func proveKprobeOffset(b *bench) {
	if isX86(b.Kernel()) {
		b.Skipf("instructions of x86 have no fixed length")
	}
	r := b.run("event e from kprobe vfs_fallocate+8 { word = $stack(0) }\ntrace e", fallocates(b))
	if got := r.of("e", "word"); len(got) != 3 {
		b.Errorf("got %d records, want 3: %s", len(got), r)
	}
	b.refused("trace kprobe vfs_fallocate+8(a) { a }", diag.MisplacedValue)
}

// proveComposed: an event on an event on a probe, with a condition at each level.
func proveComposed(b *bench) {
	r := b.run(`
event one from func vfs_fallocate.enter where len < 4096 { file, mode, offset, len, ino = file->f_inode->i_ino }
event two from one where len > 7 || offset < 0 { len, name = path(file), narrow = len as u8, ino }
event three from two where narrow == 9 { len, name, same = ino }
trace one, two, three`, fallocates(b))
	r.want("one", "offset len", "-5 7", "1099511627776 9")
	r.want("two", "len name narrow", "7 file 7", "9 file 9")
	r.want("three", "len name", "9 file")
}

// proveKsym: an address compared by the function that it is in.
func proveKsym(b *bench) {
	_, _, ip := argumentRegisters(b.Kernel())
	r := b.run(fmt.Sprintf(`
event here from kprobe vfs_fallocate(_, _, _, n) where $reg(%[1]s) as ksym == "vfs_fallocate" { n: s64 }
event elsewhere from kprobe vfs_fallocate(_, _, _, n) where $reg(%[1]s) as ksym == "vfs_read" { n: s64 }
trace here, elsewhere`, ip), fallocates(b))
	r.want("here", "n", "4096", "7", "9")
	r.want("elsewhere", "n")
}

// proveAddr: variables of the kernel, read by their symbols.
func proveAddr(b *bench) {
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		b.Fatalf("uname: %v", err)
	}
	r := b.run(`
event e from kprobe vfs_fallocate {
  release = (addr(init_uts_ns) as *uts_namespace)->name.release
  first = (addr(init_uts_ns) as *uts_namespace)->name.sysname[0]
  threads = *(addr(nr_threads) as *s32)
}
trace e`, fallocates(b))
	row := unix.ByteSliceToString(uts.Release[:]) + " 'L'"
	r.want("e", "release first", row, row, row)
	stat, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		b.Fatalf("%v", err)
	}
	_, threads, _ := strings.Cut(strings.Fields(string(stat))[3], "/")
	b.Logf("threads: %v, now %s", r.of("e", "threads"), threads)
	for _, n := range r.of("e", "threads") {
		if len(n) != len(threads) {
			b.Errorf("got %s threads, want about %s", n, threads)
		}
	}
}

// provePerCPU: variables that each CPU has for itself: the thread that runs on it
// is the one that calls.
func provePerCPU(b *bench) {
	r := b.run(`
event e from func vfs_fallocate.enter {
  name    = (*addr(current_task))->comm
  current = (*addr(current_task))->pid
  running = addr(runqueues)->curr->pid
  comm    = $comm
}
trace e`, fallocates(b))
	name, current, running, comm := r.of("e", "name"), r.of("e", "current"), r.of("e", "running"), r.of("e", "comm")
	if len(name) == 0 {
		b.Errorf("no record")
	}
	for i := range name {
		if name[i] != comm[i] || current[i] != running[i] || current[i] == "0" {
			b.Errorf("got %s %s, want %s %s", name[i], current[i], comm[i], running[i])
		}
	}
}

// proveModule: a function of a module that is not loaded is waited for.
func proveModule(b *bench) {
	r := b.run(`
event entry from func ep_no_module:ep_no_function.enter(a: u32, b) { a, b }
event both from func ep_no_module:ep_no_function.exit(): s32 { $ret }
event inst from kprobe ep_no_module:ep_no_function(a) { a }
trace entry, both, inst`, func() error { return nil })
	r.want("entry", "a")
}

// proveUserPointer: the caller's memory, through an argument of a function whose
// type in most kernels does not say whose memory it is.
func proveUserPointer(b *bench) {
	const fn = "do_sys_openat2"
	if _, err := b.live.FuncProto("", fn); err != nil {
		b.Skipf("%v", err)
	}
	r := b.run("event e from kprobe "+fn+"(dfd: s32, name: user *char) { dfd, name = str(name), second = name[1] }\ntrace e", func() error {
		_, err := unix.Open("/no/such/file/of/ep", unix.O_RDONLY, 0)
		if err != unix.ENOENT {
			return fmt.Errorf("got %v, want ENOENT", err)
		}
		return nil
	})
	r.want("e", "dfd name second", "-100 /no/such/file/of/ep 'n'")
}
