package joinproof

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/eptrace/ep/runtime/vm"
)

var emitCases = []vm.Case{
	newCase("max-sleep", proveMaxSleep),
	newStackCase("max-stack", proveMaxStack),
	newCase("max-values", proveMaxValues),
	newCase("change", proveChange),
}

// proveMaxSleep: of sleeps, only those longer than all before are emitted: of
// each thread, and of all.
func proveMaxSleep(m *machine) {
	lengths := [][]int64{{5 * ms, 2 * ms, 15 * ms, 10 * ms, 30 * ms, 1 * ms}, {10 * ms, 22 * ms, 3 * ms, 45 * ms}}
	rec := m.threads(func(tids []int) string {
		return fmt.Sprintf(`
event off
  from sched.sched_switch as off where prev_pid in { %[1]d, %[2]d } && prev_state & S
  then sched.sched_switch as back by off.prev_pid == back.next_pid
{
  pid   = back.next_pid
  delta = back.$time - off.$time
}
event of_each from off emit on max(delta) per pid { pid, delta }
event of_all from off emit on max(delta) { pid, delta }
event at_once
  from sched.sched_switch as off where prev_pid in { %[1]d, %[2]d } && prev_state & S
  then sched.sched_switch as back by off.prev_pid == back.next_pid
  having delta > 12ms
  emit on max(delta) per pid
{
  pid   = back.next_pid
  delta = back.$time - off.$time
}
trace off, of_each, of_all, at_once`, tids[0], tids[1])
	}, func(i int) {
		for _, ns := range lengths[i] {
			nap(ns)
		}
	}, len(lengths))
	off := rec.rows["off"]
	if len(off) < 10 {
		m.g.Errorf("got %d sleeps of 10", len(off))
	}
	for name, want := range map[string][]row{"of_each": maxima(off, "pid", 0), "of_all": maxima(off, "", 0)} {
		m.sameNumbers(name, rec.rows[name], "pid", column(want, "pid"))
		m.sameNumbers(name, rec.rows[name], "delta", column(want, "delta"))
	}
	// Its times are those of its own probes, a little apart.
	m.sameNumbers("at_once", rec.rows["at_once"], "pid", column(maxima(off, "pid", 12*ms), "pid"))
}

// maxima are the rows whose delta is above least and all before, of their key.
func maxima(rows []row, key string, least int64) []row {
	most := map[uint64]int64{}
	var out []row
	for _, r := range rows {
		k := r.numbers[key]
		if d := r.num("delta"); d > most[k] && d > least {
			most[k] = d
			out = append(out, r)
		}
	}
	return out
}

// proveMaxStack: the longest sleep has the stack of where the thread went to
// sleep, which is not where it was found to be back.
func proveMaxStack(m *machine) {
	const script = `
event plain
  from sched.sched_switch as off where prev_pid == %[1]d && prev_state & S
  then sched.sched_switch as back by off.prev_pid == back.next_pid
{
  delta = back.$time - off.$time
  stack = off.$kstack
}
event of_all
  from sched.sched_switch as off where prev_pid == %[1]d && prev_state & S
  then sched.sched_switch as back by off.prev_pid == back.next_pid
  emit on max(delta)
{
  pid   = back.next_pid
  delta = back.$time - off.$time
  stack = off.$kstack
}
event of_each
  from sched.sched_switch as off where prev_pid == %[1]d && prev_state & S
  then sched.sched_switch as back by off.prev_pid == back.next_pid
  having delta > 1ms
  emit on max(delta) per pid
{
  pid   = back.next_pid
  delta = back.$time - off.$time
  stack = off.$kstack
  state = off.prev_state
}
event chained
  from sched.sched_waking as wake where pid == %[1]d
  then sched.sched_switch as off where prev_pid == %[1]d by wake.pid == off.prev_pid
  then sched.sched_switch as back by off.prev_pid == back.next_pid
{
  delta = back.$time - wake.$time
  stack = off.$kstack
}
trace plain, of_all, of_each, chained`
	// Another thread than that which applies the script: it sleeps too.
	rec := m.threads(func(tids []int) string { return fmt.Sprintf(script, tids[0]) }, func(int) {
		for _, ns := range []int64{2 * ms, 20 * ms, 5 * ms} {
			nap(ns)
		}
	}, 1)
	for _, name := range []string{"plain", "of_all", "of_each", "chained"} {
		rows := rec.rows[name]
		if len(rows) == 0 {
			m.g.Errorf("%s: got no record", name)
			continue
		}
		longest := slices.MaxFunc(rows, func(a, b row) int { return int(a.num("delta") - b.num("delta")) })
		frames := symbols(m, longest.texts["stack"])
		if longest.num("delta") < 19*ms || !slices.ContainsFunc(frames, isSleep) {
			m.g.Errorf("%s: got %d ns in %v", name, longest.num("delta"), frames)
		}
	}
}

func isSleep(symbol string) bool { return symbol == "hrtimer_nanosleep" || symbol == "do_nanosleep" }

// proveMaxValues: a maximum of a computed value, of one step, against Go's.
func proveMaxValues(m *machine) {
	random := rand.New(rand.NewPCG(1, 2))
	inThread(func(tid int) {
		var values []uint64
		rec := m.run(fmt.Sprintf(`
event most from syscall madvise.enter where $tid == %[1]d emit on max(start / 3 + 1) { start }
event most_per from syscall madvise.enter where $tid == %[1]d emit on max(start) per len_in { start, len_in }
event most_having from syscall madvise.enter where $tid == %[1]d having twice < 1000 emit on max(twice) { twice = start * 2 }
trace most, most_per, most_having`, tid), func() {
			for range 60 {
				v := random.Uint64N(2000)
				if len(values) == 0 {
					v = 0 // the first of all
				}
				values = append(values, v)
				badAdvice(v, v%3, 1000)
			}
		})
		var most, per, having []uint64
		top, tops, last := int64(0), map[uint64]int64{}, int64(0)
		for _, v := range values {
			if n := int64(v/3 + 1); n > top {
				top = n
				most = append(most, v)
			}
			if n := int64(v); n > tops[v%3] {
				tops[v%3] = n
				per = append(per, v)
			}
			if n := int64(2 * v); n < 1000 && n > last {
				last = n
				having = append(having, 2*v)
			}
		}
		m.sameNumbers("most", rec.rows["most"], "start", most)
		m.sameNumbers("most_per", rec.rows["most_per"], "start", per)
		m.sameNumbers("most_having", rec.rows["most_having"], "twice", having)
	})
}

// proveChange: one record each time a value comes to another step, up or down,
// also below zero.
func proveChange(m *machine) {
	offsets := []int64{0, 1, 100, 101, 199, 200, 299, 300, 1000, 1099, 999, 50, 60, -1, -100, -101, -1, 5, 100}
	inThread(func(tid int) {
		rec := m.run(fmt.Sprintf(`
event steps from syscall lseek.enter where $tid == %[1]d emit on change(offset / 100) { offset }
event steps_per from syscall lseek.enter where $tid == %[1]d emit on change(offset / 100) per whence, fd { offset, whence }
event plain from syscall lseek.enter where $tid == %[1]d emit on change(offset) { offset }
event file from syscall lseek.enter where $tid == %[1]d emit on max(fd) { fd }
event zero from syscall lseek.enter where $tid == %[1]d emit on max(none) { none = bits(whence, 20, 4) as u32 }
trace steps, steps_per, plain, file, zero`, tid), func() {
			for _, o := range offsets {
				badSeek(o, 1000)
				badSeek(o, 1000+uint32(o&1))
			}
		})
		var steps, per, plain []uint64
		const none = 1 << 40
		last, lastOf, before := int64(none), map[int64]int64{1000: none, 1001: none}, int64(none)
		for _, o := range offsets {
			if floor(o, 100) != last {
				last = floor(o, 100)
				steps = append(steps, uint64(o))
			}
			if o != before {
				before = o
				plain = append(plain, uint64(o))
			}
			for _, w := range []int64{1000, 1000 + o&1} {
				if floor(o, 100) != lastOf[w] {
					lastOf[w] = floor(o, 100)
					per = append(per, uint64(o))
				}
			}
		}
		m.sameNumbers("steps", rec.rows["steps"], "offset", steps)
		m.sameNumbers("steps_per", rec.rows["steps_per"], "offset", per)
		m.sameNumbers("plain", rec.rows["plain"], "offset", plain)
		// All have one descriptor, the greatest of its width, and the first 0 is a
		// maximum too.
		m.sameNumbers("file", rec.rows["file"], "fd", []uint64{1<<32 - 1})
		m.sameNumbers("zero", rec.rows["zero"], "none", []uint64{0})
	})
}
