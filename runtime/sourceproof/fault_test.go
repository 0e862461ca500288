package sourceproof

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// faultCases prove that what could not be read is not shown as a value. Each reads
// a good value before the bad one, which would be left in the record.
var faultCases = []vm.Case{
	on("faults-null", every, proveNull),
	on("faults-condition", every, proveNullCondition),
	on("faults-join", joins, proveNullJoin),
	on("faults-text", joins, proveTextFault),
	on("faults-user", every, proveUserFault),
	on("faults-empty", every, proveEmpty),
	on("faults-cast", every, proveCastFault),
	on("faults-wild", every, proveWildFault),
}

// pipes writes to a pipe of 8 buffers, which its inode points to, and to a file of
// tmpfs, whose inode has NULL there: 3 times 5 and 6 bytes.
func pipes(b *bench) func() error {
	return func() error {
		var p [2]int
		if err := unix.Pipe(p[:]); err != nil {
			return err
		}
		defer unix.Close(p[0])
		defer unix.Close(p[1])
		if _, err := unix.FcntlInt(uintptr(p[1]), unix.F_SETPIPE_SZ, 8*os.Getpagesize()); err != nil {
			return err
		}
		fd, err := unix.Open(filepath.Join(b.TempDir(), "null"), unix.O_CREAT|unix.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		for range 3 {
			if _, err := unix.Write(p[1], []byte("12345")); err != nil {
				return err
			}
			if _, err := unix.Write(fd, []byte("123456")); err != nil {
				return err
			}
		}
		return nil
	}
}

var alternating = []string{"5 8", "6 (fault)", "5 8", "6 (fault)", "5 8", "6 (fault)"}

func proveNull(b *bench) {
	r := b.run(`
event e from func vfs_write.enter where count in { 5, 6 } { count, n = file->f_inode->i_pipe->ring_size }
event d from e where count > 4 { count, n }
trace e
trace d`, pipes(b))
	r.want("e", "count n", alternating...)
	r.want("d", "count n", alternating...)
}

func proveNullCondition(b *bench) {
	r := b.run(`
event is from func vfs_write.enter where count in { 5, 6 } && file->f_inode->i_pipe->ring_size == 8 { count }
event not from func vfs_write.enter where count in { 5, 6 } && !(file->f_inode->i_pipe->ring_size == 4) { count }
event or from func vfs_write.enter where count in { 5, 6 } && (count == 6 || file->f_inode->i_pipe->ring_size > 0) { count }
trace is
trace not
trace or`, pipes(b))
	r.want("is", "count", "5", "5", "5")
	r.want("not", "count", "5", "5", "5")
	r.want("or", "count", "5", "6", "5", "6", "5", "6")
}

func proveNullJoin(b *bench) {
	r := b.run(`
event span from func vfs_write where count in { 5, 6 } { count, n = enter(file->f_inode->i_pipe->ring_size), $elapsed }
event more from func vfs_write.enter where count in { 5, 6 } { count, n = file->f_inode->i_pipe->ring_size * 2 }
event pair from func vfs_write.enter as a where count in { 5, 6 } let n = file->f_inode->i_pipe->ring_size
  then func vfs_write.exit as z by $tid
  { a.count, n = a.n }
trace span
trace more
trace pair`, pipes(b))
	r.want("span", "count n", alternating...)
	r.want("pair", "count n", alternating...)
	double := slices.Clone(alternating)
	for i := range double {
		double[i] = strings.Replace(double[i], " 8", " 16", 1)
	}
	r.want("more", "count n", double...)
}

// proveTextFault: of a new process's arguments, the array is there or not.
func proveTextFault(b *bench) {
	r := b.run(`
event e from syscall execve.enter { a = str(argv[0]), who = $comm, path = str(filename) }
event not from syscall execve.enter where str(argv[0]) != "good" { path = str(filename) }
event kept from syscall execve as e { a = enter(str(argv[0])), $ret }
trace e
trace not
trace kept`, func() error {
		path := append([]byte("/no-such-program"), 0)
		good := append([]byte("good"), 0)
		argv := []*byte{&good[0], nil}
		for range 2 {
			for _, at := range []uintptr{uintptr(unsafe.Pointer(&argv[0])), 0xdead000} {
				_, _, _ = unix.Syscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(&path[0])), at, 0) // there is no such program
			}
		}
		return nil
	})
	r.want("e", "a path", "good /no-such-program", "(fault) /no-such-program", "good /no-such-program", "(fault) /no-such-program")
	r.want("not", "path")
	r.want("kept", "a", "good", "(fault)", "good", "(fault)")
}

// proveUserFault: numbers behind pointers of a program that are good, NULL, not
// mapped, and mapped without the right to read.
func proveUserFault(b *bench) {
	closed, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		b.Fatalf("%v", err)
	}
	b.Cleanup(func() { _ = unix.Munmap(closed) })
	r := b.run(`
trace func do_sys_openat2.enter where dfd == -77 { n = *(filename as user *u32) }`, func() error {
		good := []byte{1, 2, 0, 0, 0}
		for _, at := range []uintptr{0, 0xdead000, uintptr(unsafe.Pointer(unsafe.SliceData(closed)))} {
			for _, p := range []uintptr{uintptr(unsafe.Pointer(&good[0])), at} {
				_, _, _ = unix.Syscall6(unix.SYS_OPENAT, ^uintptr(76), p, 0, 0, 0, 0) // there is no such folder
			}
		}
		return nil
	})
	want := []string{"513", "(fault)", "513", "(fault)", "513", "(fault)"}
	if b.live.Has(target.QuirkEmptyUserText) { // these tell a NULL only
		for i, got := range r.of("do_sys_openat2_enter", "n") {
			if i < 2 && got != want[i] || i%2 == 0 && got != want[i] {
				b.Errorf("record %d: got %s, want %s", i, got, want[i])
			}
		}
		return
	}
	r.want("do_sys_openat2_enter", "n", want...)
}

// proveEmpty: an empty string of a program is told from one that is not there,
// where the kernel tells.
func proveEmpty(b *bench) {
	r := b.run(`trace func do_sys_openat2.enter where dfd == -77 { s = str(filename as user *char), who = $comm }`, func() error {
		texts := [][]byte{append([]byte("some"), 0), {0}}
		for _, at := range []uintptr{uintptr(unsafe.Pointer(&texts[0][0])), uintptr(unsafe.Pointer(&texts[1][0])), 0} {
			_, _, _ = unix.Syscall6(unix.SYS_OPENAT, ^uintptr(76), at, 0, 0, 0, 0) // there is no such folder
		}
		return nil
	})
	if b.live.Has(target.QuirkEmptyUserText) {
		r.want("do_sys_openat2_enter", "s", "some", "(fault or empty)", "(fault or empty)")
		return
	}
	r.want("do_sys_openat2_enter", "s", "some", "", "(fault)")
}
