package proof

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// spanCases prove what docs/language.md says of a call's two ends.
var spanCases = []vm.Case{
	on("span-where", eprobes, proveSpanWhere),
	on("span-ends", eprobes, proveSpanEnds),
	on("execve-enter", eprobes, proveExecve),
	on("execve-gone", eprobes, func(b *bench) {
		b.refused("proof.ep", "event ran from syscall execve { file = str(filename) }\ntrace ran", diag.MemoryGone)
	}),
}

// proveSpanWhere: a condition on a span is about the whole call. A call that
// fails it is no start for a later one, nor an end for an earlier.
func proveSpanWhere(b *bench) {
	dir := b.TempDir()
	missing, here, nowhere := filepath.Join(dir, "missing"), filepath.Join(dir, "here"), filepath.Join(dir, "no", "where")
	list := b.run(`
event bad from syscall openat where $ret < 0 && flags & O_CREAT {
  file = str(filename)
  flags
  ret = $ret
}
event failed from syscall openat where $ret < 0 { file = str(filename) }
event ended from syscall openat where $ret in { -2, -17 } { ret = $ret }
trace bad, failed, ended`, func() error {
		const create = unix.O_RDWR | unix.O_CREAT // 0x42 on every architecture
		for _, c := range []struct {
			path  string
			flags int
		}{
			{here, create},               // well: not bad
			{missing, unix.O_RDONLY},     // fails, without 0x40: not bad, though the call before had it
			{nowhere, create},            // bad
			{missing, unix.O_RDONLY},     // not bad again
			{here, create | unix.O_EXCL}, // bad: it exists
			{here, unix.O_RDONLY},        // well
			{missing, unix.O_WRONLY},     // not bad
			{here, create},               // well
		} {
			if fd := openat(unix.AT_FDCWD, c.path, c.flags, 0o600); fd >= 0 {
				if err := unix.Close(fd); err != nil {
					return err
				}
			}
		}
		return nil
	})
	b.expect(list, table(list, "bad", "file", "flags", "ret"), nowhere+" 66 -2", here+" 194 -17")
	b.expect(list, table(list, "failed", "file"), missing, nowhere, missing, here, missing)
	b.expect(list, table(list, "ended", "ret"), "-2", "-2", "-2", "-17", "-2")
}

// proveSpanEnds: one end alone, and all fields of a span without braces.
func proveSpanEnds(b *bench) {
	list := b.run(`
event begun from syscall dup3.enter { oldfd, newfd }
event over from syscall dup3.exit { $ret }
event all from syscall dup3
trace begun, over, all`, func() error {
		fd, err := scratch(b)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if err := unix.Dup3(fd, 321, 0); err != nil {
			return err
		}
		if err := unix.Close(321); err != nil {
			return err
		}
		_ = unix.Dup3(654, 321, unix.O_CLOEXEC) // EBADF
		return nil
	})
	ends := table(list, "begun", "newfd")
	b.expect(list, ends, "321", "321")
	b.expect(list, table(list, "over", "ret"), "321", "-9")
	b.expect(list, table(list, "all", "newfd", "flags", "ret"), "321 0 321", "321 524288 -9")
	for _, r := range of(list, "all", 0) {
		if took, err := r.number("elapsed"); err != nil || took <= 0 {
			b.Errorf("elapsed is %d (%v): %s", took, err, r)
		}
	}
}

// proveExecve: of a successful execve the path is known if it is read at the
// entry, by an absolute path of our own.
func proveExecve(b *bench) {
	self, err := os.Executable()
	if err != nil {
		b.Fatalf("%v", err)
	}
	link := filepath.Join(b.TempDir(), "ep-proof")
	if err := os.Symlink(self, link); err != nil {
		b.Fatalf("%v", err)
	}
	p := b.compile("proof.ep", `
event ran from syscall execve { file = enter(str(filename)), ret = $ret }
event exec from sched.sched_process_exec { filename, pid, old = old_pid }
trace ran, exec`)
	a := b.apply(p)
	defer a.undo()
	cmd := exec.Command(link, "-test.run=^$") // this very program, which finds no test of that name
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("run %s: %v\n%s", link, err, out)
	}
	pid := cmd.Process.Pid
	list := b.records("")
	b.expect(list, table(of(list, "ran", pid), "ran", "file", "ret"), link+" 0")
	found := of(list, "exec", pid)
	if len(found) != 1 || found[0].value["filename"] != link {
		b.Errorf("got %s, want one record of %s", show(found), link)
		return
	}
	for _, name := range []string{"pid", "old"} {
		if n, err := found[0].number(name); err != nil || n != int64(pid) {
			b.Errorf("%s is %d (%v), want %d", name, n, err, pid)
		}
	}
}
