package check

import "github.com/eptrace/ep/compiler/target"

// registers returns the names that a probe's %NAME takes on an architecture:
// the tables of arch/*/kernel/ptrace.c, regoffset_table.
func registers(a target.Arch) []string {
	switch a {
	case target.X86_64:
		return []string{"ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip", "flags", "cs", "ss", "orig_ax",
			"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}
	case target.I386:
		return []string{"ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip", "flags", "cs", "ss", "ds", "es", "fs", "gs", "orig_ax"}
	case target.ARM64:
		return append(numbered("x", 31), "lr", "sp", "pc", "pstate")
	case target.ARM:
		return append(numbered("r", 11), "fp", "ip", "sp", "lr", "pc", "cpsr", "ORIG_r0")
	case target.RISCV64:
		out := append(numbered("t", 7), numbered("s", 12)...)
		return append(append(out, numbered("a", 8)...), "epc", "ra", "sp", "gp", "tp", "status", "badaddr", "cause", "orig_a0")
	}
	return nil
}

func numbered(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = prefix + itoa(i)
	}
	return out
}
