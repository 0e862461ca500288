package check

// newerSyscalls are calls that architectures of after 2012 do not have, with
// the call that the C library makes in their place (include/uapi/asm-generic/
// unistd.h has no entry for them).
var newerSyscalls = map[string]string{
	"access": "faccessat", "alarm": "setitimer", "chmod": "fchmodat", "chown": "fchownat", "creat": "openat",
	"dup2": "dup3", "epoll_create": "epoll_create1", "epoll_wait": "epoll_pwait", "eventfd": "eventfd2",
	"fork": "clone", "futimesat": "utimensat", "getdents": "getdents64", "inotify_init": "inotify_init1",
	"lchown": "fchownat", "link": "linkat", "lstat": "newfstatat", "mkdir": "mkdirat", "mknod": "mknodat",
	"open": "openat", "pause": "ppoll", "pipe": "pipe2", "poll": "ppoll", "readlink": "readlinkat",
	"rename": "renameat2", "rmdir": "unlinkat", "select": "pselect6", "signalfd": "signalfd4",
	"stat": "newfstatat", "symlink": "symlinkat", "unlink": "unlinkat", "utime": "utimensat",
	"utimes": "utimensat", "vfork": "clone",
}

// newerSyscall returns the call that stands for name on the target.
func (c *checker) newerSyscall(name string) (string, bool) {
	newer, ok := newerSyscalls[name]
	if ok {
		_, ok = c.t.Syscall(newer)
	}
	return newer, ok
}
