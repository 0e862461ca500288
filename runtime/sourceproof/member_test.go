package sourceproof

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// memberCases prove the ways from a pointer to a value.
var memberCases = []vm.Case{
	on("members-of-file", every, proveFile),
	on("members-of-task", every, proveTask),
	on("members-where", every, proveMemberCondition),
	on("members-in-join", joins, proveMembersInJoin),
	on("user-struct", joins, proveUserStruct),
	on("user-strings", joins, proveArguments),
	on("dentry", every, proveDentry),
}

// proveFile: numbers of every width, structs in structs, and text, of a file.
func proveFile(b *bench) {
	var st unix.Stat_t
	var path string
	r := b.run(`
event e from func vfs_fallocate.enter where len == 4096 {
  ino  = file->f_inode->i_ino
  mode = file->f_inode->i_mode
  uid  = file->f_inode->i_uid.val
  size = file->f_inode->i_size
  bits = file->f_inode->i_blkbits
  flags = file->f_flags
  dev  = file->f_inode->i_sb->s_dev as dev
  perm = bits(file->f_inode->i_mode, 0, 9)
  fs   = str(file->f_inode->i_sb->s_type->name)
  id   = file->f_inode->i_sb->s_id
  i0   = file->f_inode->i_sb->s_id[0]
  name = path(file)
  same = dentry(file->f_path.dentry)
  long = str(file->f_path.dentry->d_name.name)
  dir  = dentry(file->f_path.dentry->d_parent)
  n    = file->f_path.dentry->d_name.len
  ino2 = (*file->f_inode).i_ino
  ino3 = (*file).f_path.dentry->d_inode->i_ino
}
trace e`, func() (err error) {
		var fd int
		path, fd, err = scratch(b, "a-file-name", unix.O_RDWR|unix.O_APPEND)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if err := unix.Fchown(fd, 1234, 5); err != nil {
			return err
		}
		if err := unix.Fstat(fd, &st); err != nil {
			return err
		}
		return unix.Fallocate(fd, 0, 0, 4096)
	})
	name, dir := filepath.Base(path), filepath.Base(filepath.Dir(path))
	r.want("e", "ino ino2 ino3 mode uid size", fmt.Sprintf("%d %d %d %d 1234 12", st.Ino, st.Ino, st.Ino, st.Mode))
	r.want("e", "bits perm", fmt.Sprintf("12 %d", 0o640))
	r.want("e", "dev", fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev)))
	r.want("e", "fs id i0", "tmpfs tmpfs 't'")
	r.want("e", "name same long dir n", fmt.Sprintf("%s %s %s %s %d", name, name, name, dir, len(name)))
	for _, flags := range r.of("e", "flags") {
		var n int
		if _, err := fmt.Sscan(flags, &n); err != nil || n&unix.O_APPEND == 0 || n&unix.O_ACCMODE != unix.O_RDWR {
			b.Errorf("flags are %s: %v", flags, err)
		}
	}
}

// proveTask: arrays of numbers and of structs, bits, embedded structs, pointers in
// arrays, and what a struct ends with, of a new process.
func proveTask(b *bench) {
	var uts unix.Utsname
	var limit unix.Rlimit
	var pid, parent int
	r := b.run(`
event e from func wake_up_new_task.enter {
  pid    = p->pid
  tgid   = p->tgid
  parent = p->real_parent->pid
  comm   = p->comm
  c1     = p->comm[1]
  mine   = p->real_parent->comm
  prio   = p->static_prio
  signal = p->exit_signal
  reset  = p->real_parent->sched_reset_on_fork
  fresh  = p->sched_reset_on_fork
  soft   = p->signal->rlim[7].rlim_cur
  hard   = p->signal->rlim[7].rlim_max
  number = p->thread_pid->numbers[0].nr
  other  = p->signal->pids[1]->numbers[0].nr
  host   = p->nsproxy->uts_ns->name.nodename
  cpus   = bits(p->cpus_mask.bits[0], 0, 2)
}
trace e`, func() (err error) {
		if err := unix.Uname(&uts); err != nil {
			return err
		}
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			return err
		}
		name := []byte("the-parent\x00")
		if err := unix.Prctl(unix.PR_SET_NAME, pointer(name), 0, 0, 0); err != nil {
			return err
		}
		// What the child is to be reset to; nice goes back from -5 to 0 with it.
		if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Flags: 1, Nice: -5}, 0); err != nil {
			return fmt.Errorf("set the policy: %w", err)
		}
		parent = unix.Gettid()
		pid, err = child()
		return err
	})
	r.want("e", "pid tgid number other", fmt.Sprintf("%d %d %d %d", pid, pid, pid, pid))
	r.want("e", "parent mine comm c1", fmt.Sprintf("%d the-parent the-parent 'h'", parent))
	r.want("e", "prio signal", "120 17")
	r.want("e", "reset fresh cpus", "1 0 3")
	if got := r.of("e", "soft", "hard"); len(got) != 1 || !strings.HasSuffix(got[0], fmt.Sprintf(" %d", limit.Max)) {
		b.Errorf("limits are %q, want %+v", got, limit)
	}
	r.want("e", "host", unix.ByteSliceToString(uts.Nodename[:]))
}

// proveMemberCondition: conditions on what is behind pointers, of every type.
func proveMemberCondition(b *bench) {
	r := b.run(`
event name from func vfs_fallocate.enter where path(file) == "second" { len }
event glob from func vfs_fallocate.enter where path(file) ~ "*ird" { len }
event size from func vfs_fallocate.enter where file->f_inode->i_size > 12 { len }
event perm from func vfs_fallocate.enter where file->f_inode->i_mode & 0o040 && len < 3 { len }
event bits from func vfs_fallocate.enter where bits(file->f_inode->i_mode, 5, 1) == 1 { len }
event dots from func vfs_fallocate.enter where file->f_inode->i_sb->s_id == "tmpfs" { len }
event wide from func vfs_fallocate.enter where file->f_inode->i_mode as u64 < 70000 && bits(mode as u32, 0, 8) != 256 && len == 200 { len, m: u64 = file->f_inode->i_mode }
event never from func vfs_fallocate.enter where file->f_inode->i_mode as u64 == 98688 || file->f_inode->i_mode as u64 > 70000 { len }
event none from func vfs_fallocate.enter where file->f_inode->i_sb->s_id[0] == 'x' { len }
trace name, glob, size, perm, bits, dots, wide, never, none`, func() error {
		for i, name := range []string{"first", "second", "third"} {
			path, fd, err := scratch(b, name, unix.O_RDWR)
			if err != nil {
				return err
			}
			if name == "second" {
				err = os.Chmod(path, 0o600)
			}
			for err == nil {
				err = unix.Fallocate(fd, 0, 0, int64(100*(i+1)))
				if err == nil {
					err = unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, 0, int64(i+1))
				}
				break
			}
			_ = unix.Close(fd)
			if err != nil {
				return err
			}
		}
		return nil
	})
	r.want("name", "len", "200", "2")
	r.want("glob", "len", "300", "3")
	r.want("size", "len", "1", "2", "3")
	r.want("perm", "len", "1")
	r.want("bits", "len", "100", "1", "300", "3")
	r.want("dots", "len", "100", "1", "200", "2", "300", "3")
	r.want("none", "len")
	r.want("wide", "len m", fmt.Sprint("200 ", unix.S_IFREG|0o600))
	r.want("never", "len")
}

// proveMembersInJoin: of two functions, values of the first that are read when it
// happens (let), and when the second does.
func proveMembersInJoin(b *bench) {
	r := b.run(`
event both from func vfs_fallocate.enter as a let then_size = file->f_inode->i_size
  then func noop_fsync.enter as b by a.file == b.file
{ before = a.then_size, after = a.file->f_inode->i_size, name = path(b.file), a.len, b.datasync }
trace both`, func() error {
		_, fd, err := scratch(b, "joined", unix.O_RDWR)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		_, other, err := scratch(b, "other", unix.O_RDWR)
		if err != nil {
			return err
		}
		defer unix.Close(other)
		if err := unix.Fallocate(fd, 0, 0, 999); err != nil {
			return err
		}
		if err := unix.Fsync(other); err != nil {
			return err
		}
		return unix.Fdatasync(fd)
	})
	r.want("both", "before after name len datasync", "12 999 joined 999 1")
}

// proveUserStruct: a struct of the caller, and an array in it.
func proveUserStruct(b *bench) {
	r := b.run(`
event e from syscall openat2 { file = str(filename), flags = how->flags, mode = how->mode as x64, usize, ret = $ret as s64 }
event s from syscall nanosleep { sec = rqtp->tv_sec, ns = rqtp->tv_nsec, $ret }
trace e, s`, func() error {
		_, err := unix.Openat2(unix.AT_FDCWD, "/nowhere/at/all", &unix.OpenHow{Flags: unix.O_RDWR | unix.O_CREAT, Mode: 0o741})
		if err != unix.ENOENT {
			return fmt.Errorf("got %v, want ENOENT", err)
		}
		return unix.Nanosleep(&unix.Timespec{Nsec: 12345}, nil)
	})
	r.want("e", "file flags mode usize ret", fmt.Sprintf("/nowhere/at/all %d 0x1e1 24 -2", unix.O_RDWR|unix.O_CREAT))
	// Go itself sleeps too.
	if got := r.of("s", "sec", "ns", "ret"); !slices.Contains(got, "0 12345 0") {
		b.Errorf("got %q, want 12345 ns among them", got)
	}
}

// proveArguments: pointers to pointers to text, in user memory, which execve
// takes away.
func proveArguments(b *bench) {
	var pid int
	r := b.run(`
event exec from syscall execve {
  file  = enter(str(filename))
  first = enter(str(*argv))
  third = enter(str(argv[2]))
  $ret
}
trace exec`, func() (err error) {
		pid, err = child("something new")
		return err
	})
	r.wantBy("exec", pid, "file first third ret", "/proc/self/exe ep-child-program something new 0")
}

// proveDentry: names of directory entries, from a function that takes them.
func proveDentry(b *bench) {
	const fn = "vfs_unlink"
	proto, err := b.live.FuncProto("", fn)
	if err != nil {
		b.Fatalf("%v", err)
	}
	arg := ""
	for _, p := range proto.Params {
		if p.Type.String() == "*dentry" {
			arg = p.Name
		}
	}
	r := b.run("event e from func "+fn+".enter { name = dentry("+arg+"), dir = dentry("+arg+"->d_parent) }\ntrace e", func() error {
		path, fd, err := scratch(b, "to be removed", unix.O_RDONLY)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Unlink(path)
	})
	got := r.of("e", "name")
	if len(got) != 1 || got[0] != "to be removed" {
		b.Errorf("got %s, want 'to be removed'", r)
	}
}
