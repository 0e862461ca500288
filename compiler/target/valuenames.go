package target

import "github.com/eptrace/ep/lang/types"

// This file names values whose names kernels do not tell, or do not all tell.

// nameMore names the values of f that have names on all kernels alike, whatever
// the kernel's format tells.
func nameMore(f *Format, a Arch) {
	if f.System != "syscalls" && f.System != "signal" {
		return
	}
	for i := range f.Fields {
		field := &f.Fields[i]
		if t, ok := field.Type.(types.Int); ok {
			if names := namesOf(f.Name, field.Name, a); names != nil {
				t.Names = names
				field.Type = t
			}
		}
	}
}

// namesOf returns the names of the values of an event's field, nil if it has none.
func namesOf(event, field string, a Arch) *types.Names {
	switch field {
	case "sig":
		switch event {
		case "signal_generate", "signal_deliver", "sys_enter_kill", "sys_enter_tkill", "sys_enter_tgkill", "sys_enter_pidfd_send_signal",
			"sys_enter_rt_sigaction", "sys_enter_rt_sigqueueinfo", "sys_enter_rt_tgsigqueueinfo":
			return signals
		}
	case "oflag":
		if event == "sys_enter_mq_open" {
			return openFlags(a)
		}
	case "flags":
		switch event {
		case "sys_enter_open", "sys_enter_openat", "sys_enter_open_by_handle_at":
			return openFlags(a)
		case "sys_enter_mmap":
			return mapFlags(a)
		}
	case "prot":
		switch event {
		case "sys_enter_mmap", "sys_enter_mprotect", "sys_enter_pkey_mprotect":
			return protections
		}
	case "family":
		switch event {
		case "sys_enter_socket", "sys_enter_socketpair":
			return families
		}
	}
	return nil
}

// openFlags returns the names of open(2)'s flags, which the kernel's
// include/uapi/asm-generic/fcntl.h has, and arch/arm and arch/arm64
// include/uapi/asm/fcntl.h for these two. Flags of several bits come before those
// of one of them.
func openFlags(a Arch) *types.Names {
	directory, nofollow, direct, large := uint64(0x10000), uint64(0x20000), uint64(0x4000), uint64(0x8000)
	if a == ARM || a == ARM64 {
		directory, nofollow, direct, large = 0x4000, 0x8000, 0x10000, 0x20000
	}
	return &types.Names{Flags: true, List: []types.Name{
		{Name: "O_RDONLY", Value: 0},
		{Name: "O_WRONLY", Value: 0x1},
		{Name: "O_RDWR", Value: 0x2},
		{Name: "O_CREAT", Value: 0x40},
		{Name: "O_EXCL", Value: 0x80},
		{Name: "O_NOCTTY", Value: 0x100},
		{Name: "O_TRUNC", Value: 0x200},
		{Name: "O_APPEND", Value: 0x400},
		{Name: "O_NONBLOCK", Value: 0x800},
		{Name: "O_SYNC", Value: 0x101000},
		{Name: "O_DSYNC", Value: 0x1000},
		{Name: "O_TMPFILE", Value: 0x400000 | directory},
		{Name: "O_DIRECTORY", Value: directory},
		{Name: "O_NOFOLLOW", Value: nofollow},
		{Name: "O_DIRECT", Value: direct},
		{Name: "O_LARGEFILE", Value: large},
		{Name: "O_NOATIME", Value: 0x40000},
		{Name: "O_CLOEXEC", Value: 0x80000},
		{Name: "O_PATH", Value: 0x200000},
	}}
}

// CommonName returns the value of a name that all kernels of an architecture have,
// whatever has the value.
func CommonName(a Arch, name string) (uint64, bool) {
	for _, names := range []*types.Names{signals, openFlags(a), mapFlags(a), protections, families} {
		if v, ok := names.Value(name); ok {
			return v, true
		}
	}
	return 0, false
}

// Signals returns the names of the signals, as include/uapi/asm-generic/signal.h
// has them, for all architectures that ep knows.
func Signals() *types.Names { return signals }

var signals = &types.Names{List: []types.Name{
	{Name: "SIGHUP", Value: 1},
	{Name: "SIGINT", Value: 2},
	{Name: "SIGQUIT", Value: 3},
	{Name: "SIGILL", Value: 4},
	{Name: "SIGTRAP", Value: 5},
	{Name: "SIGABRT", Value: 6},
	{Name: "SIGBUS", Value: 7},
	{Name: "SIGFPE", Value: 8},
	{Name: "SIGKILL", Value: 9},
	{Name: "SIGUSR1", Value: 10},
	{Name: "SIGSEGV", Value: 11},
	{Name: "SIGUSR2", Value: 12},
	{Name: "SIGPIPE", Value: 13},
	{Name: "SIGALRM", Value: 14},
	{Name: "SIGTERM", Value: 15},
	{Name: "SIGSTKFLT", Value: 16},
	{Name: "SIGCHLD", Value: 17},
	{Name: "SIGCONT", Value: 18},
	{Name: "SIGSTOP", Value: 19},
	{Name: "SIGTSTP", Value: 20},
	{Name: "SIGTTIN", Value: 21},
	{Name: "SIGTTOU", Value: 22},
	{Name: "SIGURG", Value: 23},
	{Name: "SIGXCPU", Value: 24},
	{Name: "SIGXFSZ", Value: 25},
	{Name: "SIGVTALRM", Value: 26},
	{Name: "SIGPROF", Value: 27},
	{Name: "SIGWINCH", Value: 28},
	{Name: "SIGIO", Value: 29},
	{Name: "SIGPWR", Value: 30},
	{Name: "SIGSYS", Value: 31},
}}

// protections are of include/uapi/asm-generic/mman-common.h.
var protections = &types.Names{Flags: true, List: []types.Name{
	{Name: "PROT_NONE", Value: 0},
	{Name: "PROT_READ", Value: 0x1},
	{Name: "PROT_WRITE", Value: 0x2},
	{Name: "PROT_EXEC", Value: 0x4},
	{Name: "PROT_GROWSDOWN", Value: 0x1000000},
	{Name: "PROT_GROWSUP", Value: 0x2000000},
}}

// mapFlags returns the names of mmap(2)'s flags, of
// include/uapi/asm-generic/mman-common.h and mman.h; x86 has one of its own.
func mapFlags(a Arch) *types.Names {
	list := []types.Name{
		{Name: "MAP_SHARED_VALIDATE", Value: 0x3},
		{Name: "MAP_SHARED", Value: 0x1},
		{Name: "MAP_PRIVATE", Value: 0x2},
		{Name: "MAP_FIXED", Value: 0x10},
		{Name: "MAP_ANONYMOUS", Value: 0x20},
		{Name: "MAP_GROWSDOWN", Value: 0x100},
		{Name: "MAP_DENYWRITE", Value: 0x800},
		{Name: "MAP_EXECUTABLE", Value: 0x1000},
		{Name: "MAP_LOCKED", Value: 0x2000},
		{Name: "MAP_NORESERVE", Value: 0x4000},
		{Name: "MAP_POPULATE", Value: 0x8000},
		{Name: "MAP_NONBLOCK", Value: 0x10000},
		{Name: "MAP_STACK", Value: 0x20000},
		{Name: "MAP_HUGETLB", Value: 0x40000},
		{Name: "MAP_SYNC", Value: 0x80000},
		{Name: "MAP_FIXED_NOREPLACE", Value: 0x100000},
	}
	if a == X86_64 || a == I386 {
		list = append(list, types.Name{Name: "MAP_32BIT", Value: 0x40})
	}
	return &types.Names{Flags: true, List: list}
}

// families are of include/linux/socket.h.
var families = &types.Names{List: []types.Name{
	{Name: "AF_UNSPEC", Value: 0},
	{Name: "AF_UNIX", Value: 1},
	{Name: "AF_INET", Value: 2},
	{Name: "AF_BRIDGE", Value: 7},
	{Name: "AF_INET6", Value: 10},
	{Name: "AF_KEY", Value: 15},
	{Name: "AF_NETLINK", Value: 16},
	{Name: "AF_PACKET", Value: 17},
	{Name: "AF_RDS", Value: 21},
	{Name: "AF_PPPOX", Value: 24},
	{Name: "AF_CAN", Value: 29},
	{Name: "AF_TIPC", Value: 30},
	{Name: "AF_BLUETOOTH", Value: 31},
	{Name: "AF_ALG", Value: 38},
	{Name: "AF_NFC", Value: 39},
	{Name: "AF_VSOCK", Value: 40},
	{Name: "AF_KCM", Value: 41},
	{Name: "AF_QIPCRTR", Value: 42},
	{Name: "AF_SMC", Value: 43},
	{Name: "AF_XDP", Value: 44},
	{Name: "AF_MCTP", Value: 45},
}}
