package sourceproof

import (
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/runtime/vm"
)

// refusedCases are what a kernel would refuse, or take and then do something
// else: ep says so first, with the code.
var refusedCases = []vm.Case{
	on("refused-symbols", every, func(b *bench) {
		b.refused("trace func vfs_falocate.enter { $comm }", diag.UnknownSymbol)
		b.refused("trace func jiffies.enter { $comm }", diag.NotProbeable)
		wrapper := "__x64_sys_openat"
		if !isX86(b.Kernel()) {
			wrapper = "__arm64_sys_openat"
		}
		b.refused("trace func "+wrapper+".enter { $comm }", diag.SyscallWrapper)
		b.refused("trace kprobe "+wrapper+" { $comm }", diag.SyscallWrapper)
	}),
	on("refused-members", every, func(b *bench) {
		b.refused("trace func vfs_fallocate.enter { ino = file->f_inod }", diag.UnknownField)
		b.refused("trace func vfs_fallocate.enter { ino = file.f_inode }", diag.NotAPointer)
		b.refused("trace func vfs_fallocate.enter { ino = file->f_inode->i_uid->val }", diag.NotAPointer)
		b.refused("trace func vfs_fallocate.enter { all = *file }", diag.NotStorable)
		b.refused("trace func vfs_fallocate.enter { deep = *file->private_data }", diag.UnknownPointee)
		b.refused("trace func vfs_fallocate.enter { name = path(file->f_inode) }", diag.BadArgument)
		b.refused("trace func vfs_fallocate.enter { x = enter(file->f_inode->i_ino) }", diag.MisplacedValue)
		b.refused("trace func vfs_fallocate.enter { $ret }", diag.MisplacedValue)
		b.refused("trace func vfs_fallocate.exit { took = $elapsed }", diag.MisplacedValue)
	}),
	on("refused-spans", func(k vm.Kernel) bool { return !k.AtLeast(6, 0) }, func(b *bench) {
		b.refused("trace func vfs_fallocate { len, $ret }", diag.MissingFeature)
		b.refused("trace func vfs_fallocate { took = $elapsed }", diag.MissingFeature)
		b.refused("event e from func vfs_fallocate.enter, func noop_fsync.enter { $func }\ntrace e", diag.MissingFeature)
	}),
}
