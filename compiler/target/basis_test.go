package target

import "testing"

func TestBasisSaysWhatDecides(t *testing.T) {
	for f, want := range map[Feature]string{
		Eprobes:                `README has "<attached-group>.<attached-event>", CONFIG_EPROBE_EVENTS is not off`,
		FprobeMaxactive:        "release 6.5 or later, before 6.14, needs fprobe events",
		SyscallEvents:          "tracefs has events/syscalls/sys_enter_read/format",
		FilterUstring:          "release 5.17 or later (or 5.10.262 or later, before 5.11)",
		QuirkEprobePointerByte: "release 5.15 or later, before 6.1.192; or release 6.2 or later, before 6.12.117; or release 6.13 or later, before 7.2.13",
	} {
		if got := Basis(f); got != want {
			t.Errorf("Basis(%q) = %q, want %q", f, got, want)
		}
	}
}
