package sourceproof

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// splitCases prove what takes two events in one moment: one that reads memory,
// and one that computes with what was read, or reads on from there.
var splitCases = []vm.Case{
	on("compute-with-members", joins, proveComputedMembers),
	on("compute-at-both-ends", joins, proveGrowth),
	on("signed-members", joins, proveSignedMember),
	on("far-members", joins, proveFarMember),
	on("two-values", joins, proveTwoValues),
}

// proveComputedMembers: arithmetic and masks of what is read, as values and as
// conditions.
func proveComputedMembers(b *bench) {
	var st unix.Stat_t
	r := b.run(`
event e from func vfs_fallocate.enter where file->f_inode->i_size * 2 == 24 && len > 1 {
  twice = file->f_inode->i_ino * 2 + 1
  half  = file->f_inode->i_size / 5
  sum   = file->f_inode->i_size + len
  perm  = file->f_inode->i_mode & 0x1ff
  parts = file->f_inode->i_mode & 0xf180
  name  = path(file)
}
trace e`, func() error {
		_, fd, err := scratch(b, "twelve", unix.O_RDWR)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if err := unix.Fstat(fd, &st); err != nil {
			return err
		}
		for _, size := range []int64{1, 300, 301} { // the first is too small, and by the third the file has grown
			if err := unix.Fallocate(fd, 0, 0, size); err != nil {
				return err
			}
		}
		return nil
	})
	r.want("e", "twice half sum", fmt.Sprintf("%d 2 312", st.Ino*2+1))
	r.want("e", "perm parts name", fmt.Sprintf("%d %d twelve", 0o640, st.Mode&0xf180))
}

// proveGrowth: a value at the exit less the same at the entry.
func proveGrowth(b *bench) {
	r := b.run(`
event e from func vfs_fallocate where $ret == 0 {
  grown = file->f_inode->i_size - enter(file->f_inode->i_size)
  ino   = file->f_inode->i_ino / 1
  took  = $elapsed
}
event small from func vfs_fallocate where file->f_inode->i_size - enter(file->f_inode->i_size) < 100 { len }
trace e, small`, func() error {
		_, fd, err := scratch(b, "grows", unix.O_RDWR)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		for _, size := range []int64{5000, 5050} {
			if err := unix.Fallocate(fd, 0, 0, size); err != nil {
				return err
			}
		}
		return nil
	})
	r.want("e", "grown", "4988", "50")
	r.want("small", "len", "5050")
}

// proveSignedMember: a number below zero stays what it is when it is widened.
func proveSignedMember(b *bench) {
	const knob = "/proc/sys/kernel/panic"
	old, err := os.ReadFile(knob)
	if err != nil {
		b.Fatalf("%v", err)
	}
	defer func() {
		if err := os.WriteFile(knob, old, 0o644); err != nil {
			b.Errorf("%v", err)
		}
	}()
	r := b.run(`
event e from func vfs_fallocate.enter {
  plain = *(addr(panic_timeout) as *s32)
  wide: s64 = *(addr(panic_timeout) as *s32)
  bits  = (*(addr(panic_timeout) as *u32)) as u64
  twice = *(addr(panic_timeout) as *s32) * 2
}
event span from func vfs_fallocate { plain = *(addr(panic_timeout) as *s32), took = $elapsed }
trace e, span`, func() error {
		if err := os.WriteFile(knob, []byte("-7"), 0o644); err != nil {
			return err
		}
		_, fd, err := scratch(b, "file", unix.O_RDWR)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Fallocate(fd, 0, 0, 4096)
	})
	r.want("span", "plain", "-7")
	r.want("e", "plain wide bits twice", fmt.Sprintf("-7 -7 %d -14", uint32(1<<32-7)))
}

// proveFarMember: more pointers behind each other than one argument of a probe
// reads, from a file to the root of its file system again and again.
func proveFarMember(b *bench) {
	var root, own unix.Stat_t
	around := strings.Repeat("->i_sb->s_root->d_inode", 4)
	r := b.run(`
event e from func vfs_fallocate.enter {
  far  = file->f_inode`+around+`->i_ino
  name = dentry(file->f_inode`+around+`->i_sb->s_root)
  fs   = file->f_inode`+around+`->i_sb->s_id
  near = file->f_inode->i_ino
}
event span from func vfs_fallocate { far = file->f_inode`+around+`->i_ino, took = $elapsed }
trace e, span`, func() error {
		path, fd, err := scratch(b, "file", unix.O_RDWR)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if err := unix.Fstat(fd, &own); err != nil {
			return err
		}
		for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
			var st unix.Stat_t
			if err := unix.Stat(dir, &st); err != nil {
				return err
			}
			if st.Dev != own.Dev {
				break
			}
			root = st
			if dir == "/" {
				break
			}
		}
		return unix.Fallocate(fd, 0, 0, 4096)
	})
	r.want("e", "far name fs near", fmt.Sprintf("%d / tmpfs %d", root.Ino, own.Ino))
	r.want("span", "far", fmt.Sprint(root.Ino))
}

// proveTwoValues: two values of one record held against each other.
func proveTwoValues(b *bench) {
	r := b.run(`
event same from func vfs_fallocate.enter where file->f_inode->i_size == len { len }
event part from syscall write where $ret != count { count, $ret }
event low from syscall dup3 where oldfd < newfd { oldfd, newfd }
trace same, part, low`, func() error {
		_, fd, err := scratch(b, "file", unix.O_RDWR)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		for _, size := range []int64{11, 12, 13} {
			if err := unix.Fallocate(fd, 0, 0, size); err != nil {
				return err
			}
		}
		if _, err := unix.Write(fd, []byte("all")); err != nil {
			return err
		}
		_, _ = unix.Write(-1, []byte("none"))
		for _, pair := range [][2]int{{fd, 700}, {700, 600}, {600, 601}} {
			if err := unix.Dup3(pair[0], pair[1], unix.O_CLOEXEC); err != nil {
				return err
			}
			defer unix.Close(pair[1])
		}
		return nil
	})
	r.want("same", "len", "12")
	r.want("part", "count ret", "4 -EBADF")
	r.want("low", "newfd", "700", "601")
}
