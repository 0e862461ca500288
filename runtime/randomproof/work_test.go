package randomproof

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// worker is the guest's thread that does workloads, and nothing else.
type worker struct {
	facts facts
	files []int
	texts map[string]*byte
	order chan []order
	over  chan bool
}

// order is a step, ready to be done: with the numbers that go into registers.
type order struct {
	nr     uintptr
	n      [6]uintptr
	opened bool // the first is what the last openat returned
	opens  bool
	out    *done
}

// workerComm is the name of the worker's thread.
const workerComm = "random-work"

// workDir holds the files of the workload.
const workDir = "/tmp/random"

func newWorker() (*worker, error) {
	w := &worker{texts: map[string]*byte{}, order: make(chan []order), over: make(chan bool)}
	signal.Ignore(unix.SIGWINCH)
	if err := os.MkdirAll(workDir, 0o755); err != nil {
		return nil, err
	}
	for _, f := range workFiles {
		fd, err := unix.Open(filepath.Join(workDir, f.name), unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
		if err != nil {
			return nil, err
		}
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return nil, err
		}
		w.files = append(w.files, fd)
		w.facts.Inodes = append(w.facts.Inodes, st.Ino)
	}
	up := make(chan error)
	go w.run(up)
	return w, <-up
}

// run does what it is told on a thread of its own.
func (w *worker) run(up chan error) {
	runtime.LockOSThread()
	w.facts.TID, w.facts.CPU, w.facts.Comm = unix.Gettid(), 1, workerComm
	// The Go runtime would stop the thread by a signal.
	var set unix.Sigset_t
	set.Val[0] = 1 << (unix.SIGURG - 1)
	var cpus unix.CPUSet
	cpus.Set(w.facts.CPU)
	name := append([]byte(workerComm), 0)
	err := unix.PthreadSigmask(unix.SIG_BLOCK, &set, nil)
	if err == nil {
		err = unix.SchedSetaffinity(0, &cpus)
	}
	if err == nil {
		err = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0)
	}
	up <- err
	for list := range w.order {
		carryOut(list)
		w.over <- true
	}
}

// carryOut makes the calls, one after the other, and nothing else.
func carryOut(list []order) {
	opened := ^uintptr(0)
	for i := range list {
		o := &list[i]
		if o.opened {
			o.n[0] = opened
		}
		o.out.Before = now()
		r, _, errno := unix.RawSyscall6(o.nr, o.n[0], o.n[1], o.n[2], o.n[3], o.n[4], o.n[5])
		o.out.After = now()
		o.out.Ret = int64(r)
		if errno != 0 {
			o.out.Ret = -int64(errno)
		}
		for k, n := range o.n {
			o.out.N[k] = uint64(n)
		}
		switch {
		case o.opened:
			opened = ^uintptr(0)
		case o.opens && o.out.Ret >= 0:
			opened = r
		}
	}
}

// now is CLOCK_MONOTONIC, which the trace clock "mono" is too.
func now() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // it cannot fail
	return ts.Nano()
}

// reset gives the files the sizes and positions that a workload begins with.
func (w *worker) reset() error {
	for i, f := range workFiles {
		if err := unix.Ftruncate(w.files[i], 0); err != nil {
			return err
		}
		if err := unix.Ftruncate(w.files[i], f.size); err != nil {
			return err
		}
		if _, err := unix.Seek(w.files[i], 0, unix.SEEK_SET); err != nil {
			return err
		}
	}
	return nil
}

var buffer [8192]byte

// do does a workload on the worker's thread.
func (w *worker) do(marker, dir string, steps []step, out *[]done) error {
	fd, err := unix.Open(filepath.Join(dir, marker), unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", marker, err)
	}
	defer unix.Close(fd)
	*out = make([]done, len(steps))
	list := make([]order, len(steps))
	for i := range steps {
		s := &steps[i]
		c := callNamed(s.Call)
		o := &list[i]
		o.nr, o.out, o.opened, o.opens = c.nr, &(*out)[i], s.Opened, s.Call == "openat"
		for k, n := range s.N {
			o.n[k] = uintptr(n)
		}
		if s.File > 0 {
			o.n[0] = uintptr(w.files[s.File-1])
		}
		if s.Self {
			o.n[0], o.n[1] = uintptr(os.Getpid()), uintptr(w.facts.TID)
		}
		if s.Marker {
			o.n[0], o.n[2] = uintptr(fd), uintptr(len(s.Text))
		}
		switch {
		case s.Text != "":
			o.n[1] = uintptr(unsafe.Pointer(w.text(s.Text)))
		case s.Call == "read" || s.Call == "write":
			o.n[1] = uintptr(unsafe.Pointer(&buffer))
		}
	}
	w.order <- list
	<-w.over
	for i := range steps { // what was opened and not closed
		if steps[i].Call == "openat" && (*out)[i].Ret >= 0 {
			closed := false
			for k := i + 1; k < len(steps); k++ {
				closed = closed || steps[k].Opened && (*out)[k].N[0] == uint64((*out)[i].Ret)
			}
			if !closed {
				_ = unix.Close(int((*out)[i].Ret))
			}
		}
	}
	return nil
}

// text is a text in memory that stays where it is.
func (w *worker) text(s string) *byte {
	p := w.texts[s]
	if p == nil {
		p = unsafe.StringData(s + "\x00")
		w.texts[s] = p
	}
	return p
}
