package proof

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"golang.org/x/sys/unix"
)

// workSwitch has two threads take turns on one CPU: each of them is seen to go
// and to come, by its number in decimal.
func workSwitch(b *bench) {
	there, err := newPipe()
	if err != nil {
		b.Fatalf("%v", err)
	}
	defer there.close()
	back, err := newPipe()
	if err != nil {
		b.Fatalf("%v", err)
	}
	defer back.close()
	const turns = 20
	player := func(first bool) func() error {
		return func() error {
			if err := pin(1); err != nil {
				return err
			}
			for range turns {
				var err error
				if first {
					if err = there.send(); err == nil {
						err = back.receive()
					}
				} else if err = there.receive(); err == nil {
					err = back.send()
				}
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	one, two := b.start(player(true)), b.start(player(false))
	one.wait()
	two.wait()
	list := b.records("")
	var went, came [2]int
	for _, r := range of(list, "switch", 0) {
		prev, err := r.number("prev")
		if err != nil {
			b.Fatalf("%v", err)
		}
		next, err := r.number("next")
		if err != nil {
			b.Fatalf("%v", err)
		}
		if int64(r.tid) != prev || len(r.names) != 2 {
			b.Errorf("thread %d switches, and the record says otherwise: %s", r.tid, r)
		}
		for i, tid := range []int{one.tid, two.tid} {
			if prev == int64(tid) {
				went[i]++
			}
			if next == int64(tid) {
				came[i]++
			}
		}
	}
	for i, tid := range []int{one.tid, two.tid} {
		if went[i] < turns/2 || came[i] < turns/2 {
			b.Errorf("thread %d took %d turns, and is seen to go %d times and to come %d times\n%s", tid, turns, went[i], came[i], show(list))
		}
	}
}

// workOpenat opens a file that is there and one that is not.
func workOpenat(b *bench) {
	dir := b.TempDir()
	there, missing := filepath.Join(dir, "there"), filepath.Join(dir, "missing")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		b.Fatalf("%v", err)
	}
	calls := []struct {
		path      string
		flags, fd int
		from, to  string // marks around the call
	}{
		{path: there, flags: unix.O_RDONLY | unix.O_CLOEXEC, from: "one", to: "done one"},
		{path: missing, flags: unix.O_WRONLY | unix.O_APPEND, from: "two", to: "done two"},
	}
	mark := b.marker()
	tid := b.onThread(func() error {
		for i := range calls {
			c := &calls[i]
			mark.put(c.from)
			c.fd = openat(unix.AT_FDCWD, c.path, c.flags, 0)
			mark.put(c.to)
			if c.fd >= 0 {
				if err := unix.Close(c.fd); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if calls[0].fd < 0 || calls[1].fd != -int(unix.ENOENT) {
		b.Fatalf("the calls returned %d and %d", calls[0].fd, calls[1].fd)
	}
	all := b.records("")
	list := of(all, "openat", tid)
	if len(list) != len(calls) {
		b.Fatalf("got %d records, want %d:\n%s", len(list), len(calls), show(list))
	}
	for i, c := range calls {
		r := list[i]
		took, err := r.number("took")
		if most := b.between(all, tid, c.from, c.to) + resolution; err != nil || took <= 0 || took > most {
			b.Errorf("took %d ns (%v), want more than 0 and at most %d: %s", took, err, most, r)
		}
		want := fmt.Sprintf("file=%s flags=%d fd=%d", c.path, c.flags, c.fd)
		if got := fmt.Sprintf("file=%s flags=%s fd=%s", r.value["file"], r.value["flags"], r.value["fd"]); got != want {
			b.Errorf("got %s, want %s", got, want)
		}
	}
}

// workOpenatRaw does the same for the script that knows the path alone.
func workOpenatRaw(b *bench) {
	dir := b.TempDir()
	paths := []string{filepath.Join(dir, "missing"), dir, filepath.Join(dir, "other")}
	tid := b.onThread(func() error {
		for _, path := range paths {
			if fd := openat(unix.AT_FDCWD, path, unix.O_RDONLY, 0); fd >= 0 {
				if err := unix.Close(fd); err != nil {
					return err
				}
			}
		}
		return nil
	})
	var got []string
	list := of(b.records(""), "openat", tid)
	for _, r := range list {
		got = append(got, r.value["file"])
	}
	if !slices.Equal(got, paths) {
		b.Errorf("got %q, want %q:\n%s", got, paths, show(list))
	}
}

// workWakeup wakes a thread on a CPU that stays busy for a known time with a
// thread that goes before it.
func workWakeup(b *bench) {
	const busy = 100e6 // nanoseconds
	bell, err := newPipe()
	if err != nil {
		b.Fatalf("%v", err)
	}
	defer bell.close()
	ready := make(chan error, 1)
	sleeper := b.start(func() error {
		ready <- errors.Join(pin(1), rename("ep-sleeper"))
		return bell.receive()
	})
	if err := <-ready; err != nil {
		b.Fatalf("%v", err)
	}
	if err := asleep(sleeper.tid); err != nil {
		b.Fatalf("%v", err)
	}
	mark := b.marker()
	spinner := b.onThread(func() error {
		if err := errors.Join(pin(1), realtime(), keepRunning()); err != nil {
			return err
		}
		if err := bell.send(); err != nil {
			return err
		}
		mark.put("woken")
		spin(busy)
		mark.put("free")
		return nil
	})
	sleeper.wait()
	list := b.records("")
	for _, r := range of(list, "wakeup_latency", 0) {
		if lat, err := r.number("lat"); err != nil || lat <= 100e3 {
			b.Errorf("lat is %d (%v), which the script leaves out: %s", lat, err, r)
		}
	}
	var found []record
	for _, r := range of(list, "wakeup_latency", 0) {
		if pid, err := r.number("pid"); err == nil && pid == int64(sleeper.tid) && r.value["comm"] == "ep-sleeper" {
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		b.Fatalf("no record of thread %d:\n%s", sleeper.tid, show(list))
	}
	known := b.between(list, spinner, "woken", "free")
	if lat, err := found[0].number("lat"); err != nil || lat < known-resolution || lat > 2*known {
		b.Errorf("lat is %d (%v), want %d to %d: %s", lat, err, known, 2*known, found[0])
	}
}

// workBlkUpdate reads from the guest's disk past all caches.
func workBlkUpdate(b *bench) {
	const disk, size = "/dev/nvme0n1", 7 * 4096
	b.onThread(func() error {
		fd, err := unix.Open(disk, unix.O_RDONLY|unix.O_DIRECT|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		buf, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Munmap(buf) }()
		for i := range 3 {
			if n, err := unix.Pread(fd, buf, int64(i)*size); n != size || err != nil {
				return fmt.Errorf("read %d bytes of %s: %w", n, disk, err)
			}
		}
		return nil
	})
	list := b.records("")
	found := 0
	for _, r := range of(list, "blk_update", 0) {
		if !strings.HasPrefix(r.value["request"], "0x") {
			b.Errorf("the request is no address: %s", r)
		}
		if r.value["status"] == "0" && r.value["bytes"] == fmt.Sprint(size) {
			found++
		}
	}
	if found != 3 {
		b.Errorf("got %d records of three reads of %d bytes:\n%s", found, size, show(list))
	}
}

// proveOpenatWithoutEvents compiles openat.ep for this very kernel as it would
// be without events of single calls: it then goes by raw_syscalls, as in the
// document's second example, or is refused where no eprobe reaches an array.
func proveOpenatWithoutEvents(b *bench) {
	t, err := target.Open("live without syscall events", withoutSyscalls{os.DirFS("/")})
	if err != nil {
		b.Fatalf("%v", err)
	}
	p, list := compiler.Compile(b.source("openat.ep", ""), t, compiler.Options{})
	if !arrays(b.Kernel()) {
		if p != nil || len(list) != 1 || list[0].Code != diag.KernelQuirk {
			b.Errorf("want one error [%s], got\n%s", diag.KernelQuirk, rendered(list))
		}
		return
	}
	if p == nil {
		b.Fatalf("%s", rendered(list))
	}
	if files := touched(p); slices.ContainsFunc(files, func(f string) bool { return strings.HasPrefix(f, "events/syscalls/") }) {
		b.Errorf("the plan writes to %q", files)
	}
	before := b.state(touched(p))
	a := b.apply(p)
	b.showsPlan(p, b.listing(p))
	workOpenat(b)
	a.undo()
	b.same("openat.ep", before, b.state(touched(p)))
}
