package sourceproof

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// proveCastFault: a file's private data are there for a pipe and NULL for a file of
// tmpfs, which a cast to another pointer does not change.
func proveCastFault(b *bench) {
	r := b.run(`
event e from func vfs_write.enter where count in { 5, 6 } { count, p = file->private_data, q = *(file->private_data as *u64) }
event zero from e where p == 0 { count, q }
event good from func vfs_write.enter where count in { 5, 6 } && *(file->private_data as *u64) != 0x123456789 { count }
trace e
trace zero
trace good`, pipes(b))
	r.want("zero", "count q", "6 (fault)", "6 (fault)", "6 (fault)")
	r.want("good", "count", "5", "5", "5")
	for i, q := range r.of("e", "q") {
		if (q == "(fault)") != (i%2 == 1) {
			b.Errorf("record %d of e: q is %s", i, q)
		}
	}
	if got := len(r.of("e", "q")); got != 6 {
		b.Errorf("e has %d records, want 6", got)
	}
}

// proveWildFault: what a script makes a pointer may lead anywhere: to memory, to a
// hole in that of the program, to one in that of the kernel, or to no address at all.
func proveWildFault(b *bench) {
	r := b.run(`
event e from func do_sys_openat2.enter where dfd == -77 { n = *((filename as u64) as *u64), flags = *((how as u64) as *u64) }
event d from e where n > 0 { n, flags }
event not from func do_sys_openat2.enter where dfd == -77 && !(*((filename as u64) as *u64) == 3) { at = filename as u64 }
event moved from func do_sys_openat2.enter where dfd == -77 { n = *((filename as u64 + 8) as *u32) }
trace e
trace d
trace not
trace moved`, func() error {
		good := [2]uint64{0x0102030405060708, 0x01020304}
		for _, at := range []uintptr{0, 0xdead000, 0xffffdead00000000, 0xdead000000000000} {
			for _, p := range []uintptr{uintptr(unsafe.Pointer(&good[0])), at} {
				_, _, _ = unix.Syscall6(unix.SYS_OPENAT, ^uintptr(76), p, unix.O_NOFOLLOW, 0, 0, 0) // there is no such folder
			}
		}
		return nil
	})
	const flags = " 163840" // O_NOFOLLOW, and O_LARGEFILE, which the kernel adds
	const n = "72623859790382856"
	pair := []string{n + flags, "(fault)" + flags}
	var each, read, moved []string
	for range 4 {
		each, read = append(each, pair...), append(read, pair[0])
		moved = append(moved, "16909060", "(fault)")
	}
	r.want("e", "n flags", each...)
	r.want("d", "n flags", read...)
	r.want("moved", "n", moved...)
	if got := len(r.of("not", "at")); got != 4 {
		b.Errorf("not has %d records, want the 4 that could be read", got)
	}
}
