package sourceproof

import (
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// severalCases prove events of several sources, of one of several, and of what
// may be absent.
var severalCases = []vm.Case{
	on("union", joins, proveUnion),
	on("union-glob", joins, proveGlob),
	on("alternatives", every, proveAlternatives),
	on("optional", every, proveOptional),
}

// syncs calls what the scripts here hang on, in this order.
func syncs(b *bench) func() error {
	return func() error {
		_, fd, err := scratch(b, "file", unix.O_RDWR)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if err := unix.Fallocate(fd, 0, 0, 100); err != nil {
			return err
		}
		if err := unix.Fsync(fd); err != nil {
			return err
		}
		if err := unix.Fallocate(fd, 0, -1, 100); err != unix.EINVAL {
			return err
		}
		return unix.Fdatasync(fd)
	}
}

func proveUnion(b *bench) {
	r := b.run(`
event any from func vfs_fallocate.enter, func noop_fsync.enter { who = $func, name = path(file), ino = file->f_inode->i_ino }
event ends from func vfs_fallocate.exit, func noop_fsync.exit { $func, r = $ret as s64 }
event some from func vfs_fallocate.enter, func noop_fsync.enter having who != "vfs_fallocate" { who = $func, name = path(file) }
event mixed from syscall fsync.enter, func vfs_fallocate.enter { who = $func, comm = $comm }
event more from any where who == "noop_fsync" { name, twice = who }
trace any, ends, some, mixed, more`, syncs(b))
	r.want("any", "who name", "vfs_fallocate file", "noop_fsync file", "vfs_fallocate file", "noop_fsync file")
	r.want("ends", "func r", "vfs_fallocate 0", "noop_fsync 0", "vfs_fallocate -22", "noop_fsync 0")
	r.want("some", "who name", "noop_fsync file", "noop_fsync file")
	r.want("mixed", "who", "vfs_fallocate", "fsync", "vfs_fallocate")
	r.want("more", "name twice", "file noop_fsync", "file noop_fsync")
	b.refused("event e from func vfs_fallocate.enter, func noop_fsync.enter { file, len }\ntrace e", diag.UnknownField)
	b.refused("event e from func vfs_fallocate.exit, func noop_fsync.enter { x = $ret }\ntrace e", diag.MisplacedValue)
}

func proveGlob(b *bench) {
	r := b.run("event any from syscall `f*sync`.enter { call = $func, fd }\n"+
		"event spans from syscall `f*sync` { call = $func, r = $ret }\n"+
		"event fns from func `vfs_fallocat[a-f]`.enter { $func }\ntrace any, spans, fns", syncs(b))
	rows := r.of("any", "call")
	if len(rows) != 2 || rows[0] != "fsync" || rows[1] != "fdatasync" {
		b.Errorf("got %q, want fsync, fdatasync", rows)
	}
	r.want("spans", "call r", "fsync 0", "fdatasync 0")
	r.want("fns", "func", "vfs_fallocate", "vfs_fallocate")
	b.refused("event e from func `vfs_no_such_*`.enter { $func }\ntrace e", diag.UnknownEvent)
}

func proveAlternatives(b *bench) {
	r := b.run(`
event a from func vfs_no_such.enter else func vfs_fallocate.enter { who = $func, len }
event b from func vfs_fallocate.enter else func vfs_no_such.enter { len }
event c from syscall no_such.enter else no.such else func vfs_fallocate.enter { len }
trace a, b, c`, syncs(b))
	r.want("a", "who len", "vfs_fallocate 100", "vfs_fallocate 100")
	r.want("b", "len", "100", "100")
	r.want("c", "len", "100", "100")
	b.refused("event e from func vfs_no_such.enter else no.such { $comm }\ntrace e", diag.UnknownEvent)
}

func proveOptional(b *bench) {
	r := b.run(`
event a from func vfs_no_such.enter? { x = $comm }
event b from a? { x }
event c from func vfs_fallocate.enter? { len }
trace a?, b?, c, no.such?`, syncs(b))
	r.want("c", "len", "100", "100")
	b.refused("event a from no.such? { x = $comm }\nevent b from a { x }\ntrace b", diag.UnknownEvent)
}
