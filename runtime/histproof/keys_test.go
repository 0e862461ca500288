package histproof

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/eptrace/ep/runtime/hist"
	"github.com/eptrace/ep/runtime/symbol"
	"github.com/eptrace/ep/runtime/vm"
)

// countSizes has reads of known sizes as plain keys, slots and sums.
func countSizes(g *vm.G) {
	sizes := []int{0, 1, 2, 3, 16, 17, 32, 33, 999, 1000, 1999, 2000, 4096, 4097, 65536, 65536, 65536, 0}
	got := run(g, `
hist plain from syscalls.sys_enter_read where $tid == TID by n = count
hist hexes from syscalls.sys_enter_read where $tid == TID by n = count as x64 sort by n
hist sums from syscalls.sys_enter_read where $tid == TID { bytes = sum(count), each = avg(count), fds = sum(fd) }
hist slots from syscalls.sys_enter_read where $tid == TID by slot = log2(count) { bytes = sum(count) }
hist ranges from syscalls.sys_enter_read where $tid == TID by b = bucket(count, 1000) { bytes = sum(count), each = avg(count) } sort by b desc
hist both from syscalls.sys_enter_read where $tid == TID by fd, slot = log2(count), b = bucket(count, 100)
`, "syscalls/sys_enter_read", func() error { return zeros(sizes...) })
	plain, slots, ranges := map[string]uint64{}, map[string]uint64{}, map[string]uint64{}
	all := uint64(0)
	for _, n := range sizes {
		plain[fmt.Sprint(n)]++
		slots[log2Slot(n)]++
		ranges[fmt.Sprintf("%d..%d", n/1000*1000, n/1000*1000+999)]++
		all += uint64(n)
	}
	number := func(r *hist.Row) string { return fmt.Sprint(r.Key("n").Num) }
	equal(g, "plain", rows(got["plain"], number), plain)
	equal(g, "hexes", rows(got["hexes"], number), plain)
	equal(g, "slots", rows(got["slots"], slotOf("slot")), slots)
	equal(g, "ranges", rows(got["ranges"], slotOf("b")), ranges)
	equal(g, "both", rows(got["both"], slotOf("slot")), slots)
	sums := got["sums"]
	if len(sums.Rows) != 1 || sums.Rows[0].Count != uint64(len(sizes)) || sums.Rows[0].Sum("bytes").Sum != all ||
		sums.Rows[0].Number("each") != float64(all)/float64(len(sizes)) || sums.Rows[0].Sum("fds").Sum != got["both"].Rows[0].Key("fd").Num*uint64(len(sizes)) {
		g.Errorf("sums: got %+v, want %d events of %d bytes", sums.Rows, len(sizes), all)
	}
	for _, name := range []string{"slots", "ranges"} {
		n := uint64(0)
		for i := range got[name].Rows {
			n += got[name].Rows[i].Sum("bytes").Sum
		}
		if n != all {
			g.Errorf("%s: got %d bytes, want %d", name, n, all)
		}
	}
}

// countGreatest has sizes that the kernel's log2 cannot group, as one key and as two.
func countGreatest(g *vm.G) {
	sizes := []uint64{0, 0, 1, 2, 1<<62 + 1, 1<<63 - 1, 1 << 63, 1<<63 + 1, math.MaxUint64, math.MaxUint64}
	want := map[string]uint64{"0..1": 3, "2..2": 1, "4611686018427387905..9223372036854775808": 3, "9223372036854775809..18446744073709551615": 3}
	got := run(g, `
hist one from syscalls.sys_enter_read where $tid == TID by slot = log2(count) { all = sum(count) } sort by slot
hist two from syscalls.sys_enter_read where $tid == TID by slot = log2(count), again = log2(count)
`, "syscalls/sys_enter_read", func() error {
		for _, n := range sizes {
			// No file has this number: the call fails after its event.
			unix.Syscall(unix.SYS_READ, 1<<20, 0, uintptr(n))
		}
		return nil
	})
	all := uint64(0)
	for _, n := range sizes {
		all += n
	}
	equal(g, "one", rows(got["one"], slotOf("slot")), want)
	equal(g, "two", rows(got["two"], slotOf("slot")), want)
	equal(g, "again", rows(got["two"], slotOf("again")), want)
	for i := range got["one"].Rows {
		all -= got["one"].Rows[i].Sum("all").Sum
	}
	if n := got["one"].Hits; all != 0 || n != uint64(len(sizes)) {
		g.Errorf("one: counted %d of %d events, and the sum differs by %d", n, len(sizes), all)
	}
}

// log2Slot returns the slot of n, as hist documents it.
func log2Slot(n int) string {
	last := 1
	for last < n {
		last *= 2
	}
	if last == 1 {
		return "0..1"
	}
	return fmt.Sprintf("%d..%d", last/2+1, last)
}

func slotOf(name string) func(*hist.Row) string {
	return func(r *hist.Row) string { return fmt.Sprintf("%d..%d", r.Key(name).Num, r.Key(name).Last) }
}

// countTasks has names of tasks that look like the rest of a row.
func countTasks(g *vm.G) {
	comms := []string{"plain", "a, b } hit", "x}\ny", " {", strings.Repeat("l", 15)}
	tid := 0
	got := run(g, `
hist comms from syscalls.sys_enter_getppid where $tid == TID by $comm, $cpu
hist tids from syscalls.sys_enter_getppid where $tid == TID by $cpu, $comm, $tid { n = sum($tid) }
`, "syscalls/sys_enter_getppid", func() error {
		tid = unix.Gettid()
		for i, c := range comms {
			if err := rename(c); err != nil {
				return err
			}
			for range i + 1 {
				unix.Getppid()
			}
		}
		return nil
	})
	want := map[string]uint64{}
	for i, c := range comms {
		want[c] = uint64(i + 1)
	}
	for _, name := range []string{"comms", "tids"} {
		equal(g, name, rows(got[name], func(r *hist.Row) string { return r.Key("comm").Text }), want)
	}
	for i := range got["tids"].Rows {
		r := &got["tids"].Rows[i]
		if r.Key("tid").Int() != int64(tid) || r.Sum("n").Int() != int64(r.Count)*r.Key("tid").Int() {
			g.Errorf("tids: got %+v", r)
		}
	}
}

// rename names the thread.
func rename(name string) error {
	b, err := unix.BytePtrFromString(name)
	if err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(b)), 0, 0, 0)
}

// countCalls has calls by their names.
func countCalls(g *vm.G) {
	const n = 37
	got := run(g, `
hist calls from raw_syscalls.sys_enter where $tid == TID by nr = id as sysnr
hist plain from raw_syscalls.sys_enter where $tid == TID by id
`, "raw_syscalls/sys_enter", func() error {
		for range n {
			unix.Getppid()
		}
		return nil
	})
	for name, key := range map[string]string{"calls": "nr", "plain": "id"} {
		calls := rows(got[name], func(r *hist.Row) string { return fmt.Sprint(r.Key(key).Int()) })
		if calls[fmt.Sprint(unix.SYS_GETPPID)] != n {
			g.Errorf("%s: got %d, want %d", name, calls[fmt.Sprint(unix.SYS_GETPPID)], n)
		}
	}
}

// countSymbols has addresses that the kernel and kallsyms name alike.
func countSymbols(g *vm.G) {
	got := run(g, `hist sites from kmem.kmalloc where $tid == TID by site = call_site as ksym, gfp_flags { bytes = sum(bytes_req) } sort by bytes desc
`, "kmem/kmalloc", func() error {
		for range 20 {
			// Something that allocates.
			if _, err := os.ReadDir("/proc/self/fd"); err != nil {
				return err
			}
			if _, err := os.ReadFile("/proc/self/mounts"); err != nil {
				return err
			}
		}
		return nil
	})["sites"]
	k := symbol.New(os.DirFS("/proc"))
	if err := k.Load(); err != nil {
		g.Fatalf("%v", err)
	}
	g.Logf("%d symbols", k.Len())
	if len(got.Rows) < 2 {
		g.Fatalf("got %d rows", len(got.Rows))
	}
	for i := range got.Rows {
		r := &got.Rows[i]
		if name, offset, ok := k.Symbol(r.Key("site").Num); !ok || name != r.Key("site").Text || offset == 0 {
			g.Errorf("%#x: got %s+%#x, the kernel says %s", r.Key("site").Num, name, offset, r.Key("site").Text)
		}
		if i > 0 && r.Sum("bytes").Sum > got.Rows[i-1].Sum("bytes").Sum {
			g.Errorf("row %d is not in order", i)
		}
	}
}

// countStacks has the stacks of sleeps. A timer may run out before its thread
// has gone to sleep, if the machine is busy.
func countStacks(g *vm.G) {
	const n = 12
	got := run(g, `hist stacks from sched.sched_switch where prev_pid == TID by $kstack, prev_state, prev_comm sort by kstack, count desc
`, "sched/sched_switch", func() error { return nap(n, 10*time.Millisecond) })["stacks"]
	sleeps := uint64(0)
	for i := range got.Rows {
		r := &got.Rows[i]
		stack := strings.Join(r.Key("kstack").Stack, ";")
		if strings.Contains(stack, "nanosleep") && r.Key("prev_state").Num == 1 {
			sleeps += r.Count
		}
		if stack == "" || r.Key("prev_comm").Text == "" {
			g.Errorf("got stack %q of %q", stack, r.Key("prev_comm").Text)
		}
	}
	if sleeps < n/2 || sleeps > n {
		g.Errorf("got %d sleeps, want %d or a few less", sleeps, n)
	}
}

// countCarried has stacks that a join carries along, where the sleep began.
func countCarried(g *vm.G) {
	const n = 10
	got := run(g, `
event slept
  from sched.sched_switch as off where prev_pid == TID && prev_state & S
  then sched.sched_switch as back by off.prev_pid == back.next_pid
{
  stack = off.$kstack
  took = back.$time - off.$time
}
hist stacks from slept by stack { all = sum(took) }
hist slots from slept by stack, slot = log2(took)
`, "sched/sched_switch", func() error { return nap(n, 10*time.Millisecond) })
	for name, t := range got {
		sleeps := uint64(0)
		for i := range t.Rows {
			r := &t.Rows[i]
			if strings.Contains(strings.Join(r.Key("stack").Stack, ";"), "nanosleep") {
				sleeps += r.Count
				if name == "stacks" && r.Sum("all").Int() < int64(5*time.Millisecond)*int64(r.Count) {
					g.Errorf("%d sleeps took %v", r.Count, time.Duration(r.Sum("all").Int()))
				}
			}
		}
		if sleeps < n/2 || sleeps > n {
			g.Errorf("%s: got %d sleeps, want %d or a few less", name, sleeps, n)
		}
	}
}

// countPaths has text of users, up to 255 bytes.
func countPaths(g *vm.G) {
	dir := g.TempDir()
	long := strings.Repeat("l", 200)
	files := []string{"a", "b, n: 5 } hitcount: 7", "new\nline", "c, d", long, long[:49-len(dir)-1], long[:50-len(dir)-1], long[:51-len(dir)-1], "{ }", "é"}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
			g.Fatalf("%v", err)
		}
	}
	got := run(g, `
event opened from syscall openat where $tid == TID { file = str(filename), fd = $ret }
hist files from opened by file, fd { n = sum(fd) }
`, "syscalls/sys_enter_openat", func() error {
		for i, f := range files {
			for range i + 1 {
				fd, err := unix.Open(filepath.Join(dir, f), unix.O_RDONLY|unix.O_CLOEXEC, 0)
				if err != nil {
					return err
				}
				_ = unix.Close(fd)
			}
		}
		return nil
	})["files"]
	want := map[string]uint64{}
	for i, f := range files {
		want[filepath.Join(dir, f)] = uint64(i + 1)
	}
	equal(g, "files", rows(got, func(r *hist.Row) string { return r.Key("file").Text }), want)
}
