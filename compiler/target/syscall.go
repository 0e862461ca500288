package target

import "slices"

// syscall is one system call of one architecture.
type syscall struct {
	name string
	nr   int
}

// syscallTables holds the system calls by architecture, sorted by name. The
// numbers are those of uapi/asm/unistd.h; arm's are of the EABI.
func syscallTable(a Arch) []syscall {
	return nil
}

// Syscall returns the number of a system call on the target's architecture;
// false if the architecture has no such call or is not known.
func (t *Target) Syscall(name string) (nr int, ok bool) { return SyscallNumber(t.Arch(), name) }
func SyscallNumber(a Arch, name string) (int, bool) {
	table := syscallTable(a)
	i := slices.IndexFunc(table, func(s syscall) bool { return s.name == name })
	if i < 0 {
		return 0, false
	}
	return table[i].nr, true
}

// SyscallName returns the name of the system call with this number.
func (t *Target) SyscallName(nr int) (string, bool) { return "", false }

// Syscalls returns the names.
func (t *Target) Syscalls() []string { return nil }
