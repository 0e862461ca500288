package proof

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// patience is how long a workload waits for another thread.
const patience = 10 * time.Second

// hands is how many threads a case has for its work.
const hands = 8

// thread is a thread that does one piece of work, so that its records can be
// told from all others by the thread.
type thread struct {
	b    *bench
	tid  int
	work chan func() error
	done chan error
}

// hire starts the threads of a case. They wait from before the first plan is
// applied: a thread that the Go runtime takes up later has done other things
// before, which would be recorded as its own.
func (b *bench) hire() {
	for range hands {
		t := &thread{b: b, work: make(chan func() error, 1), done: make(chan error, 1)}
		up := make(chan int)
		go func() {
			// Without an unlock the thread ends with the goroutine.
			runtime.LockOSThread()
			up <- unix.Gettid()
			if f := <-t.work; f != nil {
				t.done <- f()
			}
		}()
		t.tid = <-up
		b.idle = append(b.idle, t)
	}
	b.Cleanup(func() {
		for _, t := range b.idle {
			close(t.work)
		}
	})
}

// start has one of the threads run f, after which it ends.
func (b *bench) start(f func() error) *thread {
	if len(b.idle) == 0 {
		b.Fatalf("a case has work for %d threads and no more", hands)
	}
	t := b.idle[0]
	b.idle = b.idle[1:]
	t.work <- f
	return t
}

// onThread has one of the threads run f, and returns its id when f has ended.
func (b *bench) onThread(f func() error) int { return b.start(f).wait() }

// wait waits for the end of the thread's work and returns its id. An error of
// the work ends the case.
func (t *thread) wait() int {
	select {
	case err := <-t.done:
		if err != nil {
			t.b.Fatalf("workload: %v", err)
		}
	case <-t.b.Context().Done():
		t.b.Fatalf("workload: not done in time")
	}
	return t.tid
}

// pin keeps the calling thread on one CPU.
func pin(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin to CPU %d: %w", cpu, err)
	}
	return nil
}

// rename gives the calling thread a name, of 15 bytes at most.
func rename(name string) error {
	p, err := unix.BytePtrFromString(name)
	if err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(p)), 0, 0, 0)
}

// realtime makes the calling thread go before all normal ones.
func realtime() error {
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 50}
	if err := unix.SchedSetAttr(0, &attr, 0); err != nil {
		return fmt.Errorf("become SCHED_FIFO: %w", err)
	}
	return nil
}

// asleep waits until a thread of this process sleeps.
func asleep(tid int) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/stat", tid))
		if err != nil {
			return err
		}
		if _, rest, ok := strings.Cut(string(stat), ") "); ok && rest[0] == 'S' {
			return nil
		}
	}
	return fmt.Errorf("thread %d does not sleep", tid)
}

// keepRunning keeps the Go runtime from stopping the calling thread, which is
// how it shares its processors: by a signal, which is blocked, or at the entry of
// a function that is not marked nosplit, of which the thread must call none.
func keepRunning() error {
	var set unix.Sigset_t
	set.Val[0] = 1 << (unix.SIGURG - 1)
	return unix.PthreadSigmask(unix.SIG_BLOCK, &set, nil)
}

// marker writes marks into the trace, which have its time: other clocks of an
// emulated machine run now and then at another speed.
type marker struct{ fd int }

// marker opens the top level's.
func (b *bench) marker() marker {
	fd, err := unix.Open(b.fs.Dir()+"/trace_marker", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		b.Fatalf("open trace_marker: %v", err)
	}
	b.Cleanup(func() { _ = unix.Close(fd) })
	return marker{fd}
}

// put writes one mark.
//
//go:nosplit
func (m marker) put(name string) {
	unix.RawSyscall(unix.SYS_WRITE, uintptr(m.fd), uintptr(unsafe.Pointer(unsafe.StringData(name))), uintptr(len(name)))
}

// between returns the nanoseconds from one mark of a thread to another.
func (b *bench) between(list []record, tid int, from, to string) int64 {
	time := func(name string) float64 {
		for _, r := range of(list, "tracing_mark_write", tid) {
			if r.text == name {
				return r.time
			}
		}
		b.Fatalf("no mark '%s' of thread %d:\n%s", name, tid, show(list))
		return 0
	}
	return int64((time(to) - time(from)) * 1e9)
}

// resolution is how exact the time of a record is shown, in nanoseconds.
const resolution = 2000

// spin keeps the CPU busy for a time, in nanoseconds. It calls only what
// keepRunning allows.
//
//go:nosplit
func spin(ns int64) {
	for end := monotonic() + ns; monotonic() < end; {
	}
}

//go:nosplit
func monotonic() int64 {
	var ts unix.Timespec
	unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&ts)), 0)
	return int64(ts.Sec)*1e9 + int64(ts.Nsec)
}

// openat is the system call itself, with the very flags; it returns what the
// kernel does: a file descriptor or a negative errno.
func openat(dir int, path string, flags, mode int) int {
	p, err := unix.BytePtrFromString(path)
	if err != nil {
		panic(err)
	}
	fd, _, errno := unix.Syscall6(unix.SYS_OPENAT, uintptr(dir), uintptr(unsafe.Pointer(p)), uintptr(flags), uintptr(mode), 0, 0)
	if errno != 0 {
		return -int(errno)
	}
	return int(fd)
}

// getpgid and getsid are calls that nothing else in a guest makes, with an
// argument of our choice. For a process that is not they fail, which is all the
// same to the events.
func getpgid(pid int) { _, _, _ = unix.Syscall(unix.SYS_GETPGID, uintptr(pid), 0, 0) }
func getsid(pid int)  { _, _, _ = unix.Syscall(unix.SYS_GETSID, uintptr(pid), 0, 0) }

// pipe is a pipe of one-byte messages.
type pipe struct{ r, w int }

func newPipe() (pipe, error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return pipe{}, fmt.Errorf("make a pipe: %w", err)
	}
	return pipe{fds[0], fds[1]}, nil
}

func (p pipe) close() { _ = errors.Join(unix.Close(p.r), unix.Close(p.w)) }

// send wakes the thread that waits in receive.
func (p pipe) send() error {
	_, err := unix.Write(p.w, []byte{1})
	return err
}

func (p pipe) receive() error {
	var one [1]byte
	_, err := unix.Read(p.r, one[:])
	return err
}

// cwd is AT_FDCWD as a register holds it.
var cwd = ^uintptr(99)

// openatBytes calls openat with a path that the caller may change later.
func openatBytes(path []byte) {
	_, _, _ = unix.Syscall6(unix.SYS_OPENAT, cwd, uintptr(unsafe.Pointer(&path[0])), unix.O_RDONLY, 0, 0, 0)
}

// scratch opens a new file on a tmpfs.
func scratch(b *bench) (int, error) {
	return unix.Open(b.TempDir()+"/scratch", unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
}
