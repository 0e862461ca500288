package compiler

import (
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
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

// TestSumAndMeanShareAValue: the kernel adds up two values for each key.
func TestSumAndMeanShareAValue(t *testing.T) {
	k, err := target.Embedded("6.17-x86_64")
	if err != nil {
		t.Fatal(err)
	}
	compile := func(text string) (plan.Table, diag.List) {
		src, err := source.New("values.ep", text)
		if err != nil {
			t.Fatal(err)
		}
		p, list := Compile(src, k, Options{})
		if list.HasErrors() {
			return plan.Table{}, list
		}
		return p.Tables[0], nil
	}
	for _, tt := range []struct{ source, command, names string }{
		{"kmem.kmalloc", "hist:keys=common_cpu:vals=bytes_req,bytes_alloc:sort=bytes_req", "bytes_req bytes_req bytes_alloc"},
		// Several sources have hidden events, with names of the script's.
		{"kmem.kmalloc, kmem.kmalloc", "hist:keys=common_cpu:vals=all,other:sort=all:name=ep_values_h", "all all other"},
	} {
		table, list := compile("hist h from " + tt.source + " by cpu = $cpu { all = sum(bytes_req), each = avg(bytes_req), other = avg(bytes_alloc) } sort by all, each")
		if list != nil {
			t.Errorf("%s: %v", tt.source, list)
			continue
		}
		var names []string
		for _, v := range table.Values {
			names = append(names, v.Kernel)
		}
		if got := strings.Join(names, " "); got != tt.names || table.Hists[0].Command != tt.command {
			t.Errorf("%s: got %s of %s, want %s of %s", tt.source, got, table.Hists[0].Command, tt.names, tt.command)
		}
	}
	_, list := compile("hist kmem.kmalloc by $cpu { all = sum(bytes_req), each = avg(bytes_req), some = avg(bytes_req as u32), other = avg(bytes_alloc) }")
	if len(list) != 1 || list[0].Code != diag.TooManyFields {
		t.Errorf("three sums: got %v", list)
	}
}

// TestAHistogramOfTimesKeepsTheClock: made without a clock it would set the
// buffer's to another than the script says.
func TestAHistogramOfTimesKeepsTheClock(t *testing.T) {
	k, err := target.Embedded("6.17-x86_64")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ option, clock, command string }{
		{"option clock mono\n", "mono", ":clock=mono"},
		{"", "global", ""},
	} {
		src, err := source.New("times.ep", tt.option+"hist syscalls.sys_exit_close by $cpu { v = sum($time) }")
		if err != nil {
			t.Fatal(err)
		}
		p, list := Compile(src, k, Options{Instance: "mine"})
		if list.HasErrors() {
			t.Fatal(list)
		}
		set := -1
		for i, w := range p.Writes {
			if w.File == "trace_clock" && w.Data == tt.clock && w.Undo != nil {
				set = i
			}
			if strings.HasPrefix(w.Data, "hist:") && (set < 0 || !strings.HasSuffix(w.Data, tt.command)) {
				t.Errorf("option %q: the histogram is %q, and the clock was set: %v", tt.option, w.Data, set >= 0)
			}
		}
	}
}

// TestTheThreadsNameIsALongKey: the kernel takes it for a text without a fixed
// place.
func TestTheThreadsNameIsALongKey(t *testing.T) {
	k, err := target.Embedded("6.17-x86_64")
	if err != nil {
		t.Fatal(err)
	}
	src, err := source.New("names.ep", `
event work from syscall close.enter having comm != "x" { $comm }
hist sums from work by k0 = ($cpu - 3), k1 = $comm, k2 = comm`)
	if err != nil {
		t.Fatal(err)
	}
	if _, list := Compile(src, k, Options{Instance: "mine"}); len(list) != 1 || list[0].Code != diag.TooManyKeys {
		t.Errorf("got %v, want one error [%s]", list, diag.TooManyKeys)
	}
}

// TestAMarkersValueIsReadInAnExpression: as a parameter the kernel does not find
// it ("Couldn't find param").
func TestAMarkersValueIsReadInAnExpression(t *testing.T) {
	p, list := compileFor(t, `
event work from ftrace.print as a where buf ~ "end*"
  then syscall write.exit as b by $tid
{ from = a.$cpu, on = b.$cpu, delta = b.$time - a.$time }
trace work`)
	if p == nil {
		t.Fatal(list)
	}
	for _, w := range p.Writes {
		if strings.Contains(w.Data, ".trace(work,") && !strings.Contains(w.Data, "work_from_read=$work_from+0:") {
			t.Errorf("got %s", w.Data)
		}
	}
}

// TestBitsOfACPUAreNotTested: the kernel's filter takes the test, and it holds for
// none.
func TestBitsOfACPUAreNotTested(t *testing.T) {
	for _, where := range []string{"$cpu & 1", "$cpu & 3 == 3", "!($cpu & 2)"} {
		_, list := compileFor(t, "event e from syscall close.enter where "+where+" { fd }\ntrace e")
		if len(list) != 1 || list[0].Code != diag.CannotFilter {
			t.Errorf("%s: got %v, want one error [%s]", where, list, diag.CannotFilter)
		}
	}
}

// compileFor compiles a script for 6.17.
func compileFor(t *testing.T, text string) (*plan.Plan, diag.List) {
	t.Helper()
	k, err := target.Embedded("6.17-x86_64")
	if err != nil {
		t.Fatal(err)
	}
	src, err := source.New("test.ep", text)
	if err != nil {
		t.Fatal(err)
	}
	return Compile(src, k, Options{Instance: "mine"})
}
