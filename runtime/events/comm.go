package events

import (
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// Comms tells the names of tasks. It is called from the goroutine that ranges
// over the records.
type Comms interface {
	// Comm returns the name of the thread tid, as far as is known now; "" if
	// it is not.
	Comm(tid int32) string
}

// TaskNames is the Comms of this machine: what /proc says of threads that
// live, what the kernel kept in saved_cmdlines of those that do not. Answers
// are kept for a second, so that a name that execve changes is seen soon, and
// there are never more than maxTasks of them.
type TaskNames struct {
	proc, tracefs fs.FS
	now           func() time.Time
	known         map[int32]task
	saved         map[int32]string
	savedAt       time.Time
}

type task struct {
	comm string
	at   time.Time
}

const (
	maxTasks     = 8192
	commLasts    = time.Second
	savedLasts   = 100 * time.Millisecond
	savedRests   = 10 * time.Millisecond // between looks for a thread that is not in it
	idleTaskName = "<idle>"              // what the kernel calls pid 0 of each CPU
)

// NewTaskNames returns the Comms of the machine whose /proc and top-level
// tracefs (saved_cmdlines is there alone) are given. Either may be nil.
func NewTaskNames(proc, tracefs fs.FS) *TaskNames {
	return &TaskNames{proc: proc, tracefs: tracefs, now: time.Now, known: map[int32]task{}}
}

// Comm returns the name of a thread; see Comms.
func (n *TaskNames) Comm(tid int32) string {
	if tid == 0 {
		return idleTaskName
	}
	old, ok := n.known[tid]
	now := n.now()
	if ok && now.Sub(old.at) < commLasts {
		return old.comm
	}
	comm := n.lookUp(tid, now)
	if comm == "" {
		comm = old.comm // it has ended since
	}
	if len(n.known) >= maxTasks && !ok {
		n.forget(now)
	}
	at := now
	if comm == "" {
		at = now.Add(savedLasts - commLasts) // worth another look soon
	}
	n.known[tid] = task{comm, at}
	return comm
}

// forget makes room: what is old goes, and if nothing is, all.
func (n *TaskNames) forget(now time.Time) {
	for tid, t := range n.known {
		if now.Sub(t.at) >= commLasts {
			delete(n.known, tid)
		}
	}
	if len(n.known) >= maxTasks {
		clear(n.known)
	}
}

func (n *TaskNames) lookUp(tid int32, now time.Time) string {
	if n.proc != nil {
		if text, err := fs.ReadFile(n.proc, strconv.Itoa(int(tid))+"/comm"); err == nil {
			return strings.TrimSuffix(string(text), "\n")
		}
	}
	if n.tracefs == nil {
		return ""
	}
	age := now.Sub(n.savedAt)
	if _, ok := n.saved[tid]; n.saved == nil || age >= savedLasts || !ok && age >= savedRests {
		n.readSaved(now)
	}
	return n.saved[tid]
}

// readSaved reads "TID COMM" lines. What cannot be read names nobody.
func (n *TaskNames) readSaved(now time.Time) {
	n.savedAt = now
	n.saved = map[int32]string{}
	text, err := fs.ReadFile(n.tracefs, "saved_cmdlines")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		number, comm, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if tid, err := strconv.ParseInt(number, 10, 32); err == nil && comm != "<...>" {
			n.saved[int32(tid)] = comm
		}
	}
}
