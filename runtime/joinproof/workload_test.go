package joinproof

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/eptrace/ep/runtime/vm"
)

const ms = int64(time.Millisecond)

// inThread calls do in a thread that nothing else runs in, and waits. It ends
// with the goroutine.
func inThread(do func(tid int)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		do(unix.Gettid())
	}()
	<-done
}

// threads carries out a script while do is done by n threads, one after the
// other, whose numbers the script may have.
func (m *machine) threads(script func(tids []int) string, do func(i int), n int) *recording {
	tids, turns, done := make(chan int), make([]chan bool, n), make(chan bool)
	var list []int
	for i := range n {
		turns[i] = make(chan bool)
		go inThread(func(tid int) {
			tids <- tid
			<-turns[i]
			do(i)
			done <- true
		})
		list = append(list, <-tids)
	}
	return m.run(script(list), func() {
		for i := range n {
			turns[i] <- true
			<-done
		}
	})
}

// badSeek calls lseek of no file: it fails with EBADF, and its entry has the
// arguments.
func badSeek(offset int64, whence uint32) {
	_, _, _ = unix.RawSyscall(unix.SYS_LSEEK, ^uintptr(0), uintptr(offset), uintptr(whence))
}

// badAdvice calls madvise with advice that there is none of: it fails with
// EINVAL and does nothing.
func badAdvice(start, length uint64, advice int32) {
	_, _, _ = unix.RawSyscall(unix.SYS_MADVISE, uintptr(start), uintptr(length), uintptr(advice))
}

// getppid is the third call whose entry the scripts look at, without arguments.
func getppid() { _, _, _ = unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0) }

// nap sleeps in the kernel, so long and no less.
func nap(ns int64) {
	ts := unix.NsecToTimespec(ns)
	for {
		var left unix.Timespec
		if err := unix.Nanosleep(&ts, &left); !errors.Is(err, unix.EINTR) {
			return
		}
		ts = left
	}
}

// now is a time in ns that goes as the trace clock does, from another zero.
func now() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // it cannot fail
	return ts.Nano()
}

// file makes a file of so many bytes.
func file(g *vm.G, name string, size int) string {
	path := filepath.Join(g.TempDir(), name)
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		g.Fatalf("%v", err)
	}
	return path
}

// openFile opens a file in this thread.
func openFile(g *vm.G, path string) int {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		g.Fatalf("%v", err)
	}
	return fd
}

func closeFile(g *vm.G, fd int) {
	if err := unix.Close(fd); err != nil {
		g.Errorf("%v", err)
	}
}
