package joinproof

import (
	"fmt"

	"github.com/eptrace/ep/runtime/vm"
)

var sleepCases = []vm.Case{
	newCase("wakeup", proveWakeup),
	newCase("off-cpu", proveOffCPU),
}

// proveWakeup: a thread that sleeps is woken as often as it slept, each time
// after it was off the CPU as long as it slept, and runs a little later.
func proveWakeup(m *machine) {
	const sleeps, length = 8, 5 * ms
	inThread(func(tid int) {
		rec := m.run(fmt.Sprintf(`
event wakeup_delay
  from sched.sched_waking as wake where pid == %[1]d
  then sched.sched_switch as run by wake.pid == run.next_pid
{
  pid   = run.next_pid
  woken = wake.$time
  ran   = run.$time
  lat   = run.$time - wake.$time
  us    = (run.$time - wake.$time) as us
  on    = wake.$cpu
}
trace wakeup_delay`, tid), func() {
			for range sleeps {
				nap(length)
			}
		})
		rows := rec.rows["wakeup_delay"]
		asleep, ran := 0, int64(0)
		for _, r := range rows {
			if r.num("pid") != int64(tid) || r.num("lat") != r.num("ran")-r.num("woken") || r.num("us") != r.num("lat")/1000 || r.num("lat") <= 0 || r.num("on") > 1 {
				m.g.Errorf("got %v", r.numbers)
			}
			if ran != 0 && r.num("woken")-ran >= length-ms {
				asleep++
			}
			ran = r.num("ran")
		}
		// Before the first sleep the thread need not have been seen.
		if asleep < sleeps-1 || len(rows) > 3*sleeps {
			m.g.Errorf("got %d of %d sleeps among %d wakings", asleep, sleeps, len(rows))
		}
	})
}

// proveOffCPU: an event joined with itself. Each sleep is one time off the CPU,
// as long as the sleep and not longer than the caller saw.
func proveOffCPU(m *machine) {
	lengths := []int64{3 * ms, 12 * ms, 6 * ms, 20 * ms}
	inThread(func(tid int) {
		var saw []int64
		rec := m.run(fmt.Sprintf(`
event off_cpu
  from sched.sched_switch as off where prev_pid == %[1]d && prev_state & S
  then sched.sched_switch as back by off.prev_pid == back.next_pid
{
  pid   = back.next_pid
  state = off.prev_state
  delta = back.$time - off.$time
}
trace off_cpu`, tid), func() {
			for _, ns := range lengths {
				began := now()
				nap(ns)
				saw = append(saw, now()-began)
			}
		})
		i := 0
		for _, r := range rec.rows["off_cpu"] {
			if r.num("pid") != int64(tid) || r.num("state")&1 == 0 {
				m.g.Errorf("got %v", r.numbers)
			}
			if i < len(lengths) && r.num("delta") >= lengths[i]-ms && r.num("delta") <= saw[i] {
				i++
			}
		}
		if i != len(lengths) {
			m.g.Errorf("got %d of %d sleeps; %v", i, len(lengths), rec.rows["off_cpu"])
		}
	})
}
