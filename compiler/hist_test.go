package compiler

import (
	"testing"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
)

// TestHistsThatAreOneToTheKernelAreParted: it looks neither at the size nor at
// the width of buckets.
func TestHistsThatAreOneToTheKernelAreParted(t *testing.T) {
	src, err := source.New("twice.ep", `
hist a from syscalls.sys_enter_read by n = count
hist b from syscalls.sys_enter_read by count2 = count size 4096
hist c from syscalls.sys_enter_read by n = bucket(count, 10)
hist d from syscalls.sys_enter_read by n = bucket(count, 100)
hist e from syscalls.sys_enter_read where $tid == 1 by n = count
hist f from syscalls.sys_enter_read by n = log2(count)
`)
	if err != nil {
		t.Fatal(err)
	}
	k, err := target.Embedded("6.17-x86_64")
	if err != nil {
		t.Fatal(err)
	}
	p, list := Compile(src, k, Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	for i, want := range []string{"sys_enter_read", "b_seen", "sys_enter_read", "d_seen", "sys_enter_read", "sys_enter_read"} {
		if h := p.Tables[i].Hists[0]; h.Event != want {
			t.Errorf("%s: is on %s.%s, want %s", p.Tables[i].Name, h.Group, h.Event, want)
		}
	}
}
