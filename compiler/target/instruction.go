package target

// longest is more bytes than any function of the kernel has. How long one is,
// its symbols do not tell.
const longest = 1 << 18

// InsideInstruction reports whether it is certain that no instruction of a
// kernel's function begins off bytes after its first, so that a kprobe there is
// refused. It is known of how functions begin that can be traced: on x86-64 with
// the call of five bytes that function tracing uses (__fentry__), after an
// endbr64 of four bytes where the kernel was built with CONFIG_X86_KERNEL_IBT; on
// arm64 all instructions have four bytes.
func (t *Target) InsideInstruction(off uint64) bool {
	switch t.Arch() {
	case X86_64:
		first := t.entryBytes()
		return off > 0 && off < first || off > first && off < first+5 || off >= longest
	case ARM64:
		return off%4 != 0 || off >= longest
	}
	return false
}

// EntryOffset reports whether off bytes after a function's first the kernel
// still sees its entry, where its arguments are: at the first, and after the
// endbr64 (arch_adjust_kprobe_addr of arch/x86/kernel/kprobes/core.c).
func (t *Target) EntryOffset(off uint64) bool {
	return off == 0 || off == t.entryBytes()
}

// entryBytes returns how many bytes stand before the call for function tracing.
func (t *Target) entryBytes() uint64 {
	if on, _ := t.Config("CONFIG_X86_KERNEL_IBT"); on && t.Arch() == X86_64 {
		return 4
	}
	return 0
}
