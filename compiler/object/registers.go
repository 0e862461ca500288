package object

import (
	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
)

// ArgRegisters returns the registers, by the kernel's names, that hold a C
// function's integer and pointer arguments at its entry, in their order. None
// means that all are on the stack (i386), or an unknown architecture. The
// caller owns the slice.
func ArgRegisters(a target.Arch) []string {
	switch a {
	case target.X86_64:
		return []string{"di", "si", "dx", "cx", "r8", "r9"}
	case target.ARM64:
		return []string{"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"}
	case target.ARM:
		return []string{"r0", "r1", "r2", "r3"}
	case target.RISCV64:
		return []string{"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"}
	}
	return nil
}

// ArgFetch returns how a uprobe at a C function's entry gets its n-th argument,
// counted from 1, if all arguments are integers or pointers of a word at most;
// false if n or the architecture has none.
//
// Words of the stack are $stackN where a word is the kernel's own, and memory
// at the stack pointer for 32-bit programs, which a 64-bit kernel may run:
// $stackN counts in the kernel's words. kernel/trace/trace_uprobe.c,
// adjust_stack_addr.
func ArgFetch(a target.Arch, n int) (command.Fetch, bool) {
	regs := ArgRegisters(a)
	if n < 1 || n > maxArg || regs == nil && a != target.I386 {
		return nil, false
	}
	if n <= len(regs) {
		return command.Reg{Name: regs[n-1]}, true
	}
	word := n - 1 - len(regs)
	if a == target.X86_64 || a == target.I386 {
		word++ // the first word is where the function returns to
	}
	if a.WordSize() == 4 {
		return command.Deref{Off: int64(word) * 4, X: command.Reg{Name: "sp"}}, true
	}
	return command.StackN{N: word}, true
}

// maxArg is the highest number of an argument. Functions have fewer.
const maxArg = 255

// goRegisters are those of Go's own calling convention (ABIInternal), which
// has no arguments on the stack before these are used up.
func goRegisters(a target.Arch) []string {
	switch a {
	case target.X86_64:
		return []string{"ax", "bx", "cx", "di", "si", "r8", "r9", "r10", "r11"}
	case target.ARM64:
		return []string{"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15"}
	case target.RISCV64:
		return []string{"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"}
	}
	return nil
}

// GoArgFetch is ArgFetch for a function of Go since 1.17 (riscv64: 1.19). n
// counts words: a string is two, a slice three.
func GoArgFetch(a target.Arch, n int) (command.Fetch, bool) {
	regs := goRegisters(a)
	if n < 1 || n > len(regs) {
		return nil, false
	}
	return command.Reg{Name: regs[n-1]}, true
}

// ArgFetch is the package's ArgFetch, or GoArgFetch for a function of Go.
func (f *File) ArgFetch(sym Symbol, n int) (command.Fetch, bool) {
	if sym.Go {
		return GoArgFetch(f.arch, n)
	}
	return ArgFetch(f.arch, n)
}
