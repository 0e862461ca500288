package target

import "github.com/eptrace/ep/lang/types"

// openers are the calls that take the flags of open(2), with the argument that
// has them.
var openers = map[string]string{
	"sys_enter_open":              "flags",
	"sys_enter_openat":            "flags",
	"sys_enter_open_by_handle_at": "flags",
	"sys_enter_mq_open":           "oflag",
}

// nameOpenFlags names the flags of a call that opens something, on all kernels
// alike: most tell no names, and those that do tell some.
func nameOpenFlags(f *Format, a Arch) {
	if f.System != "syscalls" {
		return
	}
	field := f.Field(openers[f.Name])
	if field == nil {
		return
	}
	t, ok := field.Type.(types.Int)
	if !ok {
		return
	}
	t.Names = openFlags(a)
	field.Type = t
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
