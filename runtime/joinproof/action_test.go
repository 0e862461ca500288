package joinproof

import (
	"fmt"
	"strings"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/tracefs"
	"github.com/eptrace/ep/runtime/vm"
)

var actionCases = []vm.Case{
	newCase("stop", proveStop),
	newCase("snapshot", proveSnapshot),
	newCase("start-event", proveStartEvent),
	newCase("start-hist", proveStartHist),
	newCase("start-stop", proveStartStop),
	newCase("stack", proveStack),
	newCase("top-level", proveTopLevel),
}

// proveStop: recording stops with the record that meets the condition, on a
// derived event and on the kernel's own.
func proveStop(m *machine) {
	for _, script := range []string{`
event seen from syscall lseek.enter where $tid == %[1]d { offset }
trace seen
on seen where offset > 5 times 1 do stop`, `
trace syscall lseek.enter where $tid == %[1]d { offset }
on syscalls.sys_enter_lseek where $tid == %[1]d && offset == 6 do stop`, `
event seen from syscall lseek where $tid == %[1]d { offset, $ret, took = $elapsed }
event one from seen where offset == 7 { offset }
trace seen
on one do stop`,
	} {
		inThread(func(tid int) {
			on := ""
			rec := m.run(fmt.Sprintf(script, tid), func() {
				for i := range int64(6) {
					badSeek(i, 1000)
				}
				on = m.text("tracing_on")
				for i := range int64(6) {
					badSeek(6+i, 1000)
				}
				on += m.text("tracing_on")
			})
			if on != "1\n0\n" {
				m.g.Errorf("got tracing_on %q", on)
			}
			for name, rows := range rec.rows {
				// The last record is that which stopped, if it got in before.
				if n := len(rows); n < 6 || n > 8 {
					m.g.Errorf("%s: got %d records", name, n)
				}
			}
			if len(rec.rows) == 0 {
				m.g.Errorf("got no records")
			}
		})
	}
}

// proveSnapshot: the snapshot is the buffer as it was when the condition came,
// and once only.
func proveSnapshot(m *machine) {
	inThread(func(tid int) {
		snapshot := ""
		rec := m.run(fmt.Sprintf(`
event seen from syscall lseek.enter where $tid == %d { offset }
trace seen
on seen where offset >= 5 times 1 do snapshot`, tid), func() {
			for i := range int64(10) {
				badSeek(i, 1000)
			}
			snapshot = m.text("snapshot")
		})
		// A snapshot swaps the buffers: what came before is in it alone.
		inside := strings.Count(snapshot, "offset=")
		if !strings.Contains(snapshot, "offset=4") || strings.Contains(snapshot, "offset=7") || inside+len(rec.rows["seen"]) != 10 {
			m.g.Errorf("got %d records after, and a snapshot of\n%s", len(rec.rows["seen"]), snapshot)
		}
	})
}

// proveStartEvent: a paused trace begins and ends as it is said, on a derived
// event and on one of the kernel.
func proveStartEvent(m *machine) {
	inThread(func(tid int) {
		rec := m.run(fmt.Sprintf(`
event seen from syscall lseek.enter where $tid == %[1]d { offset }
event go from syscall madvise.enter where $tid == %[1]d { start }
event worked from syscall lseek.enter as a where $tid == %[1]d
  then syscall getppid.enter as b by $tid
{
  offset = a.offset
  took = b.$time - a.$time
}
trace seen paused
trace worked paused
trace syscalls.sys_enter_getppid paused
on go where start == 1 do start seen, start worked, start syscalls.sys_enter_getppid
on go where start == 2 do stop seen, stop worked, stop syscalls.sys_enter_getppid`, tid), func() {
			for i := range int64(10) {
				switch i {
				case 3:
					badAdvice(1, 0, 1000)
				case 7:
					badAdvice(2, 0, 1000)
				}
				badSeek(i, 1000)
				getppid()
			}
		})
		m.sameNumbers("seen", rec.rows["seen"], "offset", []uint64{3, 4, 5, 6})
		m.sameNumbers("worked", rec.rows["worked"], "offset", []uint64{3, 4, 5, 6})
		n := 0
		for _, r := range rec.rows["syscalls.sys_enter_getppid"] {
			if r.tid == int32(tid) {
				n++
			}
		}
		if n != 4 {
			m.g.Errorf("got %d records of 4: %v", n, rec.rows)
		}
	})
}

// proveStartHist: a paused table counts between its start and its stop.
func proveStartHist(m *machine) {
	inThread(func(tid int) {
		rec := m.run(fmt.Sprintf(`
event go from syscall madvise.enter where $tid == %[1]d { start }
event seen from syscall lseek.enter where $tid == %[1]d { offset, whence }
hist calls paused from seen by whence { sum = sum(offset) }
hist both paused from syscall lseek.enter, syscall getppid.enter where $tid == %[1]d by tid = $tid
on go where start == 1 do start calls, start both
on go where start == 2 do stop calls, stop both`, tid), func() {
			for i := range int64(10) {
				switch i {
				case 3:
					badAdvice(1, 0, 1000)
				case 7:
					badAdvice(2, 0, 1000)
				}
				badSeek(i, 1000)
				getppid()
			}
		})
		if both := rec.tables["both"]; len(both) != 1 || both[0].num("hitcount") != 2*4 {
			m.g.Errorf("got %v: want four of each call", both)
		}
		table := rec.tables["calls"]
		if len(table) != 1 || table[0].num("hitcount") != 4 || table[0].num("offset") != 3+4+5+6 || table[0].num("whence") != 1000 {
			m.g.Errorf("got %v", table)
		}
	})
}

// proveStartStop: start and stop of tracing on one event, which the kernel has
// one trigger for.
func proveStartStop(m *machine) {
	inThread(func(tid int) {
		rec := m.run(fmt.Sprintf(`
event go from syscall madvise.enter where $tid == %[1]d { start }
event seen from syscall lseek.enter where $tid == %[1]d { offset }
trace seen
on go where start == 1 do start
on go where start == 2 do stop`, tid), func() {
			for i := range int64(10) {
				badAdvice([]uint64{0, 0, 2, 0, 1, 0, 2, 0, 0, 1}[i], 0, 1000)
				badSeek(i, 1000)
			}
		})
		m.sameNumbers("seen", rec.rows["seen"], "offset", []uint64{0, 1, 4, 5, 9})
	})
}

// proveStack: the stack follows the record, as often as is said.
func proveStack(m *machine) {
	inThread(func(tid int) {
		trace := ""
		m.run(fmt.Sprintf(`
event seen from syscall lseek.enter where $tid == %d { offset }
trace seen
on seen where offset >= 5 times 2 do stack`, tid), func() {
			for i := range int64(10) {
				badSeek(i, 1000)
			}
			trace = m.text("trace")
		})
		if n := strings.Count(trace, "<stack trace>"); n != 2 || strings.Index(trace, "<stack trace>") < strings.Index(trace, "offset=4") {
			m.g.Errorf("got %d stacks in\n%s", n, trace)
		}
	})
}

// proveTopLevel: actions and joins at the top level, beside a trigger of
// somebody else's, which stays.
func proveTopLevel(m *machine) {
	const theirs = "events/syscalls/sys_enter_lseek/trigger"
	if err := m.fs.Write(theirs, "traceoff:5 if whence == 77", tracefs.Append); err != nil {
		m.g.Fatalf("%v", err)
	}
	defer func() {
		if err := m.fs.Write(theirs, "!traceoff", tracefs.Append); err != nil {
			m.g.Errorf("%v", err)
		}
	}()
	inThread(func(tid int) {
		p, err := m.compile(fmt.Sprintf(`
event seen from syscall lseek.enter as a where $tid == %[1]d
  then syscall getppid.enter as b by $tid
{
  offset = a.offset
  took   = b.$time - a.$time
}
trace seen
on syscalls.sys_enter_lseek where $tid == %[1]d && offset == 6 do stop`, tid), compiler.Options{})
		if err != nil {
			m.g.Fatalf("%v", err)
		}
		before := m.state(p)
		rec := m.carryOut(p, func() {
			for i := range int64(10) {
				badSeek(i, 1000)
				getppid()
			}
		})
		m.sameNumbers("seen", rec.rows["seen"], "offset", []uint64{0, 1, 2, 3, 4, 5})
		if after := m.state(p); after != before {
			m.g.Errorf("got\n%s\nafter, want\n%s", after, before)
		}
	})
}

// undone applies a plan and takes it back, and compares all that it may have
// changed.
func (m *machine) undone(name string, opts compiler.Options, text string) {
	p, err := m.compile(text, opts)
	if err != nil {
		m.g.Logf("%s: not here: %v", name, err)
		return
	}
	before := m.state(p)
	a, err := apply.Apply(m.g.Context(), m.fs, p)
	if err != nil {
		m.g.Errorf("%s: %v", name, err)
		return
	}
	for range 3 {
		badSeek(1, 1000)
		nap(ms)
	}
	if err := a.Undo(); err != nil {
		m.g.Errorf("%s: %v", name, err)
	}
	m.put("tracing_on", "1") // which a script may have stopped
	if after := m.state(p); after != before {
		m.g.Errorf("%s: got\n%s\nafter, want\n%s", name, after, before)
	}
}
