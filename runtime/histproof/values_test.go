package histproof

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/eptrace/ep/runtime/hist"
	"github.com/eptrace/ep/runtime/vm"
)

// countNegative has results that are negative, in keys and in sums.
func countNegative(g *vm.G) {
	const missing, denied = 9, 4
	got := run(g, `
hist errors from syscalls.sys_exit_openat where $tid == TID by e = ret as errno { all = sum(ret), each = avg(ret) } sort by e
hist plain from syscalls.sys_exit_openat where $tid == TID by ret, $comm { all = sum(ret) }
hist ranges from syscalls.sys_exit_openat where $tid == TID by b = bucket(ret, 10) { all = sum(ret) } sort by b
hist slots from syscalls.sys_exit_openat where $tid == TID by slot = log2(ret) { all = sum(ret) }
hist one from syscalls.sys_exit_openat where $tid == TID { all = sum(ret) }
`, "syscalls/sys_exit_openat", func() error {
		for range missing {
			if _, err := unix.Open("/no/such/file", unix.O_RDONLY, 0); err != unix.ENOENT {
				return fmt.Errorf("open nothing: %w", err)
			}
		}
		for range denied {
			if _, err := unix.Open("/proc", unix.O_RDWR, 0); err != unix.EISDIR {
				return fmt.Errorf("open a folder: %w", err)
			}
		}
		return nil
	})
	const all = -2*missing - 21*denied
	want := map[string]uint64{"-2": missing, "-21": denied}
	equal(g, "errors", rows(got["errors"], func(r *hist.Row) string { return fmt.Sprint(r.Key("e").Int()) }), want)
	equal(g, "plain", rows(got["plain"], func(r *hist.Row) string { return fmt.Sprint(r.Key("ret").Int()) }), want)
	for name, t := range got {
		sum := int64(0)
		for i := range t.Rows {
			sum += t.Rows[i].Sum("all").Int()
		}
		if sum != all || total(t) != missing+denied {
			g.Errorf("%s: got %d events, sum %d, want %d, %d", name, total(t), sum, missing+denied, all)
		}
	}
	errors := got["errors"].Rows
	if len(errors) == 2 && (errors[0].Number("each") != -21 || errors[1].Number("each") != -2) {
		g.Errorf("errors: means are %v and %v", errors[0].Number("each"), errors[1].Number("each"))
	}
	for i := range got["ranges"].Rows {
		k := got["ranges"].Rows[i].Key("b")
		if k.Int() >= 0 || int64(k.Last) >= 0 || k.Int() > int64(k.Last) {
			g.Errorf("ranges: got %d..%d", k.Int(), int64(k.Last))
		}
	}
	if s := got["slots"].Rows; len(s) != 1 || s[0].Key("slot").Last != 1 {
		g.Errorf("slots: got %+v", s)
	}
}

// countDurations has sleeps of known length.
func countDurations(g *vm.G) {
	const n, sleep = 8, 5 * time.Millisecond
	start := time.Now()
	got := run(g, `
event nap from syscall nanosleep where $tid == TID { took = $elapsed }
hist slots from nap by slot = log2(took as us) { all = sum(took), each = avg(took) } sort by slot
hist ranges from nap by b = bucket(took as us, 1ms) { each = avg(took as us) }
`, "syscalls/sys_enter_nanosleep", func() error { return nap(n, sleep) })
	took := time.Since(start)
	all := int64(0)
	for i := range got["slots"].Rows {
		r := &got["slots"].Rows[i]
		all += r.Sum("all").Int()
		if last := r.Key("slot").Last; last < 8192 {
			g.Errorf("slots: got %d..%d us", r.Key("slot").Num, last)
		}
		// A mean lies in its slot.
		if us := r.Number("each") / 1000; us < float64(r.Key("slot").Num) || us >= float64(r.Key("slot").Last)+1 {
			g.Errorf("slots: got a mean of %v us in %d..%d", us, r.Key("slot").Num, r.Key("slot").Last)
		}
	}
	if all < int64(n*sleep) || all > int64(took) {
		g.Errorf("slots: got %v in all, want between %v and %v", time.Duration(all), n*sleep, took)
	}
	for name, t := range got {
		if total(t) != n {
			g.Errorf("%s: got %d events, want %d", name, total(t), n)
		}
	}
	for i := range got["ranges"].Rows {
		if k := got["ranges"].Rows[i].Key("b"); k.Num < 5000 || k.Num%1000 != 0 || k.Last != k.Num+999 {
			g.Errorf("ranges: got %d..%d us", k.Num, k.Last)
		}
	}
}

// countNames has values that the event's print format names.
func countNames(g *vm.G) {
	got := run(g, `
hist soft from irq.softirq_entry by vec
hist slept from sched.sched_switch where prev_pid == TID by prev_state
`, "irq/softirq_entry", func() error { return nap(5, 2*time.Millisecond) })
	var b strings.Builder
	for _, t := range got {
		if err := t.Render(&b, hist.Options{}); err != nil {
			g.Fatalf("%v", err)
		}
	}
	for _, want := range []string{"TIMER", "\nS "} {
		if !strings.Contains(b.String(), want) {
			g.Errorf("nothing is named %q:\n%s", want, b.String())
		}
	}
}

// countSources has two events in one table.
func countSources(g *vm.G) {
	got := run(g, `
hist sizes from syscalls.sys_enter_read, syscalls.sys_enter_pread64 where $tid == TID by n = count { bytes = sum(count) }
hist all from syscalls.sys_enter_read, syscalls.sys_enter_pread64 where $tid == TID { bytes = sum(count) }
`, "syscalls/sys_enter_read", func() error {
		if err := zeros(10, 10, 20); err != nil {
			return err
		}
		fd, err := unix.Open("/dev/zero", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		for _, n := range []int{10, 30} {
			if _, err := unix.Pread(fd, make([]byte, n), 0); err != nil {
				return err
			}
		}
		return nil
	})
	equal(g, "sizes", rows(got["sizes"], func(r *hist.Row) string { return fmt.Sprint(r.Key("n").Num) }), map[string]uint64{"10": 3, "20": 1, "30": 1})
	all := got["all"]
	if len(all.Rows) != 1 || all.Rows[0].Count != 5 || all.Rows[0].Sum("bytes").Sum != 80 {
		g.Errorf("all: got %+v", all.Rows)
	}
}

// countFull has more keys than entries.
func countFull(g *vm.G) {
	const keys, size = 400, 128
	var sizes []int
	for i := range keys {
		sizes = append(sizes, i+1)
	}
	t := run(g, "hist full from syscalls.sys_enter_read where $tid == TID by n = count size 128\n", "syscalls/sys_enter_read", func() error { return zeros(sizes...) })["full"]
	if len(t.Rows) > size || total(t)+t.Dropped != keys || t.Dropped < keys-size || t.Size != size {
		g.Errorf("got %d rows, %d counted, %d dropped, size %d", len(t.Rows), total(t), t.Dropped, t.Size)
	}
	notes := strings.Join(t.Notes(), "\n")
	if !strings.Contains(notes, fmt.Sprintf("%d events were not counted, because all 128 entries", t.Dropped)) {
		g.Errorf("it says %q", notes)
	}
}

// countPaused has a histogram that something starts.
func countPaused(g *vm.G) {
	t := run(g, `
hist late paused from syscalls.sys_enter_read where $tid == TID by n = count
on syscalls.sys_enter_getppid where $tid == TID do start late
`, "syscalls/sys_enter_pread64", func() error {
		if err := zeros(1, 2, 3); err != nil {
			return err
		}
		unix.Getppid()
		return zeros(4, 5)
	})["late"]
	equal(g, "late", rows(t, func(r *hist.Row) string { return fmt.Sprint(r.Key("n").Num) }), map[string]uint64{"4": 1, "5": 1})
	if t.Paused {
		g.Errorf("it is paused still")
	}
	t = run(g, "hist never paused from syscalls.sys_enter_read by n = count\n", "syscalls/sys_enter_read", func() error { return zeros(1) })["never"]
	if !t.Paused || len(t.Rows) != 0 {
		g.Errorf("never: got %+v", t)
	}
}

// countNothing has no events.
func countNothing(g *vm.G) {
	t := run(g, "hist none from syscalls.sys_enter_read where $tid == -1 by $comm, slot = log2(count)\n", "syscalls/sys_enter_read", func() error { return zeros(1) })["none"]
	if len(t.Rows) != 0 || t.Hits != 0 || t.Dropped != 0 {
		g.Errorf("got %+v", t)
	}
}
