package proof

import (
	"path/filepath"

	"github.com/eptrace/ep/runtime/tracefs"
	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// optionCases prove where a script's objects live, and that two scripts do not
// get into each other's way.
var optionCases = []vm.Case{
	on("instance", eprobes, proveInstance),
	on("paused", eprobes, provePaused),
	on("instance-of-another", every, proveInstanceOfAnother),
	on("two-scripts", eprobes, proveTwoScripts),
	on("enabled-by-another", every, proveEnabledByAnother),
}

// proveInstance: with `option instance` records go to that instance and nowhere
// else, and it is gone afterwards.
func proveInstance(b *bench) {
	const name = "ep_proof"
	p := b.compile("proof.ep", `
option instance `+name+`
event opened from syscall openat { file = str(filename), fd = $ret, took = $elapsed }
event low from syscall getpgid.enter where pid < 10 { pid }
trace opened, low`)
	a := b.apply(p)
	path := filepath.Join(b.TempDir(), "missing")
	tid := b.onThread(func() error {
		openat(unix.AT_FDCWD, path, unix.O_RDONLY, 0)
		getpgid(3)
		getpgid(30)
		return nil
	})
	list := b.records(name)
	b.expect(list, table(of(list, "opened", tid), "opened", "file", "fd"), path+" -2")
	b.expect(list, table(of(list, "low", tid), "low", "pid"), "3")
	if other := b.records(""); len(other) != 0 {
		b.Errorf("the top level has records:\n%s", show(other))
	}
	a.undo()
	if b.fs.Exists(tracefs.In(name, "")) {
		b.Errorf("the instance is still there")
	}
}

// provePaused: with `option paused` nothing is recorded before an action starts
// it, nor after one stops it.
func provePaused(b *bench) {
	const name = "ep_proof"
	p := b.compile("proof.ep", `
option instance `+name+`
option paused
event asked from syscall getpgid.enter { pid }
trace asked
on asked where pid == 1 do start
on syscall getpgid.exit where $ret == -3 do stop`)
	a := b.apply(p)
	tid := b.onThread(func() error {
		for _, pid := range []int{3, 1, 2, 1 << 29, 5} { // of 1<<29 there is no process: -ESRCH
			getpgid(pid)
		}
		return nil
	})
	list := b.records(name)
	got := map[string]bool{}
	for _, row := range table(of(list, "asked", tid), "asked", "pid") {
		got[row] = true
	}
	if !got["2"] || got["3"] || got["5"] {
		b.Errorf("want 2, and neither 3 nor 5:\n%s", show(list))
	}
	a.undo()
}

// proveInstanceOfAnother: an instance that was there before stays.
func proveInstanceOfAnother(b *bench) {
	const name = "ep_proof"
	if err := b.fs.MakeInstance(name); err != nil {
		b.Fatalf("%v", err)
	}
	b.Cleanup(func() {
		if err := b.fs.RemoveInstance(name); err != nil {
			b.Errorf("%v", err)
		}
	})
	before := b.state(nil)
	list := b.run("option instance "+name+"\ntrace sched.sched_switch", func() error {
		for range 3 {
			if err := unix.Nanosleep(&unix.Timespec{Nsec: 20e6}, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if len(of(list, "sched_switch", 0)) == 0 {
		b.Errorf("no sleep is recorded:\n%s", show(list))
	}
	b.same("the script", before, b.state(nil))
}

// proveTwoScripts: two scripts on the same calls, at once; one goes, the other
// goes on.
func proveTwoScripts(b *bench) {
	path := filepath.Join(b.TempDir(), "missing")
	call := func() []record {
		tid := b.onThread(func() error {
			openat(unix.AT_FDCWD, path, unix.O_RDONLY, 0)
			return nil
		})
		return byThread(b.records(""), tid)
	}
	first := b.apply(b.compile("openat.ep", ""))
	second := b.apply(b.compile("second.ep", "event second from syscall openat where $ret < 0 { path = str(filename), ret = $ret, took = $elapsed }\ntrace second"))
	list := call()
	b.expect(list, table(list, "openat", "file", "fd"), path+" -2")
	b.expect(list, table(list, "second", "path", "ret"), path+" -2")
	second.undo()
	list = call()
	b.expect(list, table(list, "openat", "file", "fd"), path+" -2")
	b.expect(list, table(list, "second", "path"))
	first.undo()
}

// proveEnabledByAnother: an event that somebody records already, with a filter,
// is recorded so again afterwards.
func proveEnabledByAnother(b *bench) {
	const dir = "events/sched/sched_process_exit/"
	b.write(dir+"filter", "pid > 5", tracefs.Truncate)
	b.write(dir+"enable", "1", tracefs.Truncate)
	b.Cleanup(func() {
		b.write(dir+"enable", "0", tracefs.Truncate)
		b.write(dir+"filter", "0", tracefs.Truncate)
	})
	p := b.compile("proof.ep", "trace sched.sched_process_exit")
	before := b.state(touched(p))
	a := b.apply(p)
	a.undo()
	b.same("the script", before, b.state(touched(p)))
}
