package target

import (
	"slices"
	"strings"
)

//go:generate go run gensyscalls.go

// syscall is one system call of one architecture.
type syscall struct {
	name string
	nr   int
}

// syscallTable returns the system calls of an architecture, sorted by name, nil
// if ep has no table for it. The names and numbers are those of the kernel's
// asm/unistd.h; arm's are of its EABI.
func syscallTable(a Arch) []syscall {
	switch a {
	case X86_64:
		return syscallsX86_64[:]
	case I386:
		return syscallsI386[:]
	case ARM64:
		return syscallsARM64[:]
	case ARM:
		return syscallsARM[:]
	case RISCV64:
		return syscallsRISCV64[:]
	}
	return nil
}

// Syscall returns the number of a system call on t's architecture. ok is false
// if the architecture has no call of the name, or is not known. A call of the
// table may be newer than t's kernel.
func (t *Target) Syscall(name string) (nr int, ok bool) {
	table := syscallTable(t.system.arch)
	i, ok := slices.BinarySearchFunc(table, name, func(s syscall, name string) int { return strings.Compare(s.name, name) })
	if !ok {
		return 0, false
	}
	return table[i].nr, true
}

// SyscallName returns the name of the system call that has a number on t's
// architecture.
func (t *Target) SyscallName(nr int) (name string, ok bool) {
	for _, s := range syscallTable(t.system.arch) {
		if s.nr == nr {
			return s.name, true
		}
	}
	return "", false
}

// Syscalls returns the names of all system calls of t's architecture, sorted.
func (t *Target) Syscalls() []string {
	table := syscallTable(t.system.arch)
	names := make([]string, len(table))
	for i, s := range table {
		names[i] = s.name
	}
	return names
}

// eventNames are the calls whose event bears another name than the call: events
// are named for the function in the kernel.
var eventNames = map[string][]string{
	"fadvise64":   {"fadvise64_64"},
	"fstat":       {"newfstat"},
	"lstat":       {"newlstat"},
	"mmap2":       {"mmap_pgoff"},
	"personality": {"arm64_personality"},
	"sendfile":    {"sendfile64"},
	"stat":        {"newstat"},
	"umount2":     {"umount"},
	"uname":       {"newuname"},
}

// SyscallEvent returns the name that a system call has in the events
// syscalls.sys_enter_NAME and sys_exit_NAME. ok is false if the target has no
// such events. A name that only the events know ("newstat") is taken too.
func (t *Target) SyscallEvent(name string) (event string, ok bool) {
	names := append(eventNames[name], name)
	if short, ok := strings.CutSuffix(name, "32"); ok && t.system.arch.WordSize() == 4 {
		// getuid32 and its like replace calls of 16 bits.
		names = append([]string{short}, names...)
	}
	for _, n := range names {
		// i386 and arm still have stat, lstat and uname of old.
		if t.HasEvent("syscalls", "sys_enter_"+n) {
			return n, true
		}
	}
	return "", false
}
