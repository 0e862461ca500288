package target

import "strconv"

// Registers returns the names that a probe's %NAME takes on a: those of
// arch/*/kernel/ptrace.c, regoffset_table. nil if ep has no table of a.
func (a Arch) Registers() []string {
	switch a {
	case X86_64:
		return append([]string{"ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip", "flags", "cs", "ss", "orig_ax"}, numbered("r", 8, 15)...)
	case I386:
		return []string{"ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip", "flags", "cs", "ss", "ds", "es", "fs", "gs", "orig_ax"}
	case ARM64:
		return append(numbered("x", 0, 30), "lr", "sp", "pc", "pstate")
	case ARM:
		return append(numbered("r", 0, 10), "fp", "ip", "sp", "lr", "pc", "cpsr", "ORIG_r0")
	case RISCV64:
		out := append(numbered("t", 0, 6), numbered("s", 0, 11)...)
		return append(append(out, numbered("a", 0, 7)...), "epc", "ra", "sp", "gp", "tp", "status", "badaddr", "cause", "orig_a0")
	}
	return nil
}

func numbered(prefix string, first, last int) []string {
	var out []string
	for i := first; i <= last; i++ {
		out = append(out, prefix+strconv.Itoa(i))
	}
	return out
}
