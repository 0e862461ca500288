package joinproof

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/runtime/tracefs"
	"github.com/eptrace/ep/runtime/vm"
)

var trapCases = []vm.Case{newCase("traps", proveTraps), newCase("trap-keys", proveKeysThatNeverMatch)}

// trap is a script, and the lines that look like it.
type trap struct {
	name     string
	script   string      // of an event "ours"
	events   []string    // by hand: of an event "naive"
	triggers [][2]string // by hand: file and line
	ours     []uint64    // the value of each record of the script
	naive    []uint64    // and by hand, which is wrong
}

const seek, advice, parent = "syscalls/sys_enter_lseek", "syscalls/sys_enter_madvise", "syscalls/sys_enter_getppid"

// traps are over this: lseek 10, madvise, madvise, lseek 9, lseek -9, madvise.
func traps(tid int) []trap {
	mine := fmt.Sprintf(" if common_pid==%d", tid)
	event := func(rest string) string { return fmt.Sprintf(rest+"\ntrace ours", tid) }
	join := "event ours from syscall lseek.enter as a where $tid == %[1]d then syscall madvise.enter as b where $tid == %[1]d by $tid "
	return []trap{
		{"a start is used once", event(join + "{ value = a.offset }"),
			[]string{"s:naive u64 value"},
			[][2]string{{seek, "hist:keys=common_pid:nv=offset" + mine}, {advice, "hist:keys=common_pid:nw=$nv:onmatch(syscalls.sys_enter_lseek).trace(naive,$nw)" + mine}},
			[]uint64{10, minus(9)}, []uint64{10, 10, minus(9)}},
		{"a division rounds down", event("event ours from syscall lseek.enter where $tid == %[1]d && offset > 0 { value = (offset as u64) / 3 }"),
			[]string{"s:naive u64 value"},
			[][2]string{{seek, "hist:keys=common_cpu:nv=offset/3:onmatch(syscalls.sys_enter_lseek).trace(naive,$nv)" + mine + "&&offset<1000"}},
			[]uint64{3, 3}, []uint64{4, 3}},
		{"a division of a number below zero rounds down", event("event ours from syscall lseek.enter where $tid == %[1]d && offset < 0 { value = offset / 2 }"),
			[]string{"s:naive u64 value"},
			[][2]string{{seek, "hist:keys=common_cpu:nv=offset/2:onmatch(syscalls.sys_enter_lseek).trace(naive,$nv)" + mine + "&&offset>1000"}},
			[]uint64{minus(5)}, []uint64{1<<63 - 5}},
		{"a value is computed with as it is", event("event ours from syscall lseek.enter where $tid == %[1]d && offset > 0 { twice = offset * 2, value = offset * 2 + 1 }"),
			[]string{"s:naive u64 value"},
			[][2]string{{seek, "hist:keys=common_cpu:nx=offset*2,nz=$nx+1:onmatch(syscalls.sys_enter_lseek).trace(naive,$nz)" + mine + "&&offset<1000"}},
			[]uint64{21, 19}, []uint64{11, 10}},
		{"each consumer finds the start", event(join + "{ value = a.offset, took = b.$time - a.$time }\n" +
			"event other from syscall lseek.enter as a where $tid == %[1]d then syscall madvise.enter as b where $tid == %[1]d by $tid { took = b.$time - a.$time }\ntrace other"),
			[]string{"s:naive_other u64 value", "s:naive u64 value"},
			[][2]string{{seek, "hist:keys=common_pid:nv=offset" + mine},
				{advice, "hist:keys=common_pid:nw=$nv+0:onmatch(syscalls.sys_enter_lseek).trace(naive_other,$nw)" + mine},
				{advice, "hist:keys=common_pid:nu=$nv+0:onmatch(syscalls.sys_enter_lseek).trace(naive,$nu)" + mine}},
			[]uint64{10, minus(9)}, nil},
		{"an event does not follow itself", event("event ours from syscall lseek.enter as a where $tid == %[1]d then syscall lseek.enter as b where $tid == %[1]d by $tid { value = b.offset - a.offset }"),
			[]string{"s:naive u64 value"},
			[][2]string{{seek, "hist:keys=common_pid:nv=offset" + mine}, {seek, "hist:keys=common_pid:nw=offset-$nv:onmatch(syscalls.sys_enter_lseek).trace(naive,$nw)" + mine}},
			[]uint64{minus(1), minus(18)}, []uint64{0, 0, 0}},
	}
}

func minus(n int64) uint64 { return uint64(-n) }

// proveTraps: where the kernel does something else than the lines say, a script
// still means what it says.
func proveTraps(m *machine) {
	work := func() {
		badSeek(10, 1000)
		badAdvice(1, 1, 1000)
		badAdvice(2, 1, 1000)
		badSeek(9, 1000)
		badSeek(-9, 1000)
		badAdvice(3, 1, 1000)
	}
	inThread(func(tid int) {
		for _, t := range traps(tid) {
			rec := m.run(t.script, work)
			m.sameNumbers(t.name, rec.rows["ours"], "value", t.ours)
			if other, ok := rec.rows["other"]; ok && len(other) != len(t.ours) {
				m.g.Errorf("%s: the other event has %d records, want %d", t.name, len(other), len(t.ours))
			}
			if got := m.byHand(t, work); !slices.Equal(got, t.naive) {
				m.g.Errorf("%s: by hand: got %d, want the wrong %d", t.name, got, t.naive)
			}
		}
	})
}

var naiveRecord = regexp.MustCompile(`: naive: value=(\d+)`)

// byHand carries out a trap's lines, and returns the values of its records.
func (m *machine) byHand(t trap, work func()) []uint64 {
	if err := m.fs.MakeInstance(instance); err != nil {
		m.g.Fatalf("%v", err)
	}
	var undo []func() error
	write := func(name, line, back string) {
		if err := m.fs.Write(name, line, tracefs.Append); err != nil {
			m.g.Errorf("%s: %s: %v", t.name, line, err)
			return
		}
		undo = append(undo, func() error { return m.fs.Write(name, back, tracefs.Append) })
	}
	for _, line := range t.events {
		name, _, _ := cutWord(line[2:])
		write("dynamic_events", line, "-:synthetic/"+name)
	}
	for _, tr := range t.triggers {
		write(tracefs.In(instance, path.Join("events", tr[0], "trigger")), tr[1], "!"+tr[1])
	}
	for _, line := range t.events {
		name, _, _ := cutWord(line[2:])
		write(tracefs.In(instance, path.Join("events/synthetic", name, "enable")), "1", "0")
	}
	work()
	var out []uint64
	for _, match := range naiveRecord.FindAllStringSubmatch(m.text("trace"), -1) {
		n, err := strconv.ParseUint(match[1], 10, 64)
		if err != nil {
			m.g.Errorf("%v", err)
		}
		out = append(out, n)
	}
	for _, u := range slices.Backward(undo) {
		if err := u(); err != nil {
			m.g.Errorf("%s: %v", t.name, err)
		}
	}
	if err := m.fs.RemoveInstance(instance); err != nil {
		m.g.Errorf("%v", err)
	}
	return out
}

var word = regexp.MustCompile(`^(\w+) (.*)$`)

func cutWord(line string) (first, rest string, ok bool) {
	match := word.FindStringSubmatch(line)
	if match == nil {
		return line, "", false
	}
	return match[1], match[2], true
}

// proveKeysThatNeverMatch: the kernel takes a join of a thread's number with its
// name, and a filter that gates no table; ep takes neither.
func proveKeysThatNeverMatch(m *machine) {
	if _, err := m.compile("event never from sched.sched_waking as a then sched.sched_switch as b by a.comm == b.next_pid { pid = b.next_pid }\ntrace never", compiler.Options{}); err == nil {
		m.g.Errorf("a join of a name with a number compiles")
	}
	inThread(func(tid int) {
		rec := m.run(fmt.Sprintf(`
event sum from syscall madvise.enter where $tid == %d having value > 10 { value = start + len_in }
hist sums from sum by value
trace sum`, tid), func() {
			for i := range uint64(20) {
				badAdvice(i, 1, 1000)
			}
		})
		if len(rec.tables["sums"]) != 10 || len(rec.rows["sum"]) != 10 {
			m.g.Errorf("got %d rows and %d records, want 10", len(rec.tables["sums"]), len(rec.rows["sum"]))
		}
	})
}
