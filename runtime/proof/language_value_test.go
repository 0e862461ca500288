package proof

import (
	"fmt"
	"strings"

	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// valueCases prove that values come out as their types say.
var valueCases = []vm.Case{
	on("widths-and-signs", eprobes, proveWidths),
	on("texts", eprobes, proveTexts),
	on("first-byte", eprobes, proveFirstByte),
	on("context", eprobes, proveContext),
	on("kprobe", every, proveKprobe),
}

// proveWidths: numbers below zero, in fewer bits, and in hexadecimal.
func proveWidths(b *bench) {
	list := b.run(`
event at from syscall openat.enter { dfd, flags, hex: x32 = flags, mode, low: u8 = dfd as u8, wide: s64 = dfd }
event cwd from syscall openat.enter where dfd == -100 { dfd, mode }
event called from syscall openat { dfd, mode }
event seek from syscall lseek { offset, whence: u8 = whence as u8, ret = $ret }
trace at, cwd, called, seek`, func() error {
		openat(unix.AT_FDCWD, "/none", unix.O_RDONLY|unix.O_CLOEXEC, 0o751)
		openat(-7, "none", unix.O_WRONLY, 0)
		fd, err := scratch(b)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		for _, n := range []int64{1<<40 + 3, -5} {
			_, _ = unix.Seek(fd, n, 0) // the second is refused, which the record shows
		}
		return nil
	})
	rows := func(event string, names ...string) []string { return table(list, event, names...)[:2] }
	b.expect(list, rows("at", "dfd", "flags", "hex", "mode", "low", "wide"), "-100 524288 0x80000 489 156 -100", "-7 1 0x1 0 249 -7")
	b.expect(list, table(list, "cwd", "dfd", "mode")[:1], "-100 489")
	b.expect(list, rows("called", "dfd", "mode"), "-100 489", "-7 0")
	b.expect(list, table(list, "seek", "offset", "whence", "ret"), "1099511627779 0 1099511627779", "-5 0 -22")
}

// proveFirstByte: of a text whose length differs by record, here the name of the
// loopback device, which a datagram to this machine goes through.
func proveFirstByte(b *bench) {
	list := b.run(`
event first from net.net_dev_queue { c: u8 = name[0], name }
event lo from net.net_dev_queue where name[0] == 'l' { name }
event other from net.net_dev_queue where name[0] == 'o' { name }
trace first, lo, other`, func() error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Sendto(fd, []byte("x"), 0, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{127, 0, 0, 1}})
	})
	b.expect(list, table(list, "first", "c", "name")[:1], "108 lo")
	b.expect(list, table(list, "lo", "name")[:1], "lo")
	b.expect(list, table(list, "other", "name"))
}

// proveTexts: a text that lies in the record, one of any length, one behind a
// pointer, and what a join carries of each.
func proveTexts(b *bench) {
	path := b.TempDir() + "/" + strings.Repeat("long-", 20) + "name"
	list := b.run(`
event renamed from task.task_rename { oldcomm, newcomm, score = oom_score_adj }
event opened from syscall openat { file = str(filename) }
event after from task.task_rename as r then syscall getsid.enter as s by $tid { old = r.oldcomm, new = r.newcomm, pid = s.pid, name = s.$comm }
trace renamed, opened, after`, func() error {
		for _, name := range []string{"ep-first", "ep-second-name"} {
			if err := rename(name); err != nil {
				return err
			}
		}
		getsid(5)
		openat(unix.AT_FDCWD, path, unix.O_RDONLY, 0)
		return nil
	})
	renamed := of(list, "renamed", 0)
	if len(renamed) != 2 {
		b.Fatalf("got %d records, want 2:\n%s", len(renamed), show(list))
	}
	b.expect(list, table(renamed[1:], "renamed", "oldcomm", "newcomm", "score"), "ep-first ep-second-name 0")
	b.expect(list, table(list, "opened", "file"), path)
	b.expect(list, table(list, "after", "old", "new", "pid", "name"), "ep-first ep-second-name 5 ep-second-name")
}

// proveContext: thread, CPU, time and name of a single event.
func proveContext(b *bench) {
	list := b.run(`
event here from syscall getpgid.enter where pid == 77 { pid, tid = $tid, cpu = $cpu, at = $time }
event named from syscall getpgid.enter { pid, comm = $comm }
event own from sched.sched_process_exit { tid = $tid, pid }
trace here, named, own`, func() error {
		if err := rename("ep-context"); err != nil {
			return err
		}
		for cpu := range 2 {
			if err := pin(cpu); err != nil {
				return err
			}
			getpgid(77)
			getpgid(78)
		}
		return nil
	})
	here := of(list, "here", 0)
	if len(here) != 2 {
		b.Fatalf("got %d records, want 2:\n%s", len(here), show(list))
	}
	for cpu, r := range here {
		want := fmt.Sprintf("77 %d %d", r.tid, cpu)
		if got := fmt.Sprint(r.value["pid"], " ", r.value["tid"], " ", r.value["cpu"]); got != want || r.cpu != cpu {
			b.Errorf("got %s, want %s: %s", got, want, r)
		}
		at, err := r.number("at")
		// The kernel looks at its clock once for each of the two.
		if late := r.time - float64(at)/1e9; err != nil || late < -0.001 || late > 0.1 {
			b.Errorf("the record is %f s later than its time %d (%v): %s", late, at, err, r)
		}
	}
	b.expect(list, table(list, "named", "pid", "comm"), "77 ep-context", "78 ep-context", "77 ep-context", "78 ep-context")
}

// seekScript probes the function of tmpfs by which a file's place is set: its
// arguments are those of lseek.
const seekScript = `
event seek from kprobe shmem_file_llseek(_, offset: s64, whence: u32) where offset in { -3..-1, 5..9 } && whence == 0 {
  offset
  whence
  second = $reg(REG)
  arg = $arg(2)
  short: u8 = offset as u8
}
event seven from seek where offset == 7 { o = offset }
trace seek, seven`

// proveKprobe: arguments by position, a register, and a condition on them; and an
// event of a kprobe's event, which kernels let nobody hang an eprobe on.
func proveKprobe(b *bench) {
	register := "si"
	if b.Kernel().Arch == "arm64" {
		register = "x1"
	}
	list := b.run(strings.ReplaceAll(seekScript, "REG", register), func() error {
		fd, err := scratch(b)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		for _, n := range []int64{3, 5, 7, -2, -4, 9, 300} {
			_, _ = unix.Seek(fd, n, 0) // that a place below 0 is refused does not matter
		}
		_, _ = unix.Seek(fd, 6, 1)
		return nil
	})
	b.expect(list, table(list, "seek", "offset", "whence", "second", "arg", "short"),
		"5 0 0x5 0x5 5", "7 0 0x7 0x7 7", "-2 0 0xfffffffffffffffe 0xfffffffffffffffe 254", "9 0 0x9 0x9 9")
	b.expect(list, table(list, "seven", "o"), "7")
}
