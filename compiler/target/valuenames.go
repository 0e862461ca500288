package target

import "github.com/eptrace/ep/lang/types"

// This file names values whose names kernels do not tell, or do not all tell.

// openers are the calls that take the flags of open(2), with the argument that
// has them.
var openers = map[string]string{
	"syscalls/sys_enter_open":              "flags",
	"syscalls/sys_enter_openat":            "flags",
	"syscalls/sys_enter_open_by_handle_at": "flags",
	"syscalls/sys_enter_mq_open":           "oflag",
}

// signallers are the events that have the number of a signal, with the field that
// has it.
var signallers = map[string]string{
	"signal/signal_generate":               "sig",
	"signal/signal_deliver":                "sig",
	"syscalls/sys_enter_kill":              "sig",
	"syscalls/sys_enter_tkill":             "sig",
	"syscalls/sys_enter_tgkill":            "sig",
	"syscalls/sys_enter_pidfd_send_signal": "sig",
	"syscalls/sys_enter_rt_sigaction":      "sig",
	"syscalls/sys_enter_rt_sigqueueinfo":   "sig",
	"syscalls/sys_enter_rt_tgsigqueueinfo": "sig",
}

// nameMore names the values of f that are named on all kernels alike, whatever
// the kernel's format tells.
func nameMore(f *Format, a Arch) {
	event := f.System + "/" + f.Name
	if field := f.Field(openers[event]); field != nil {
		named(field, openFlags(a))
	}
	if field := f.Field(signallers[event]); field != nil {
		named(field, signals)
	}
}

func named(f *Field, names *types.Names) {
	if t, ok := f.Type.(types.Int); ok {
		t.Names = names
		f.Type = t
	}
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
