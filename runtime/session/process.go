package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/tracefs"
)

const (
	// eventFork has the threads that a followed or left out thread makes
	// followed or left out too (kernel/trace/trace_events.c,
	// event_filter_pid_sched_process_fork).
	eventFork = "options/event-fork"
	// noTracePID lists threads whose events are left out (v5.7).
	noTracePID = "set_event_notrace_pid"
	eventPID   = string(command.EventPID)
)

// limited returns the plan with what keeps this process out and, if some
// processes are followed, all others too. A reader whose own reads are traced
// would never come to an end.
func (r *run) limited() (*plan.Plan, error) {
	p := *r.plan
	p.Writes = slices.Clone(p.Writes)
	r.countSnapshots(&p)
	limits := r.Child != nil || len(r.Follow) > 0
	if !r.ours {
		if limits {
			return nil, fmt.Errorf("follow processes: it takes an instance of this run alone")
		}
		return &p, nil
	}
	var first []plan.Write
	if r.FS.Exists(eventFork) {
		first = append(first, set(eventFork, "1", "0"))
	}
	if r.FS.Exists(noTracePID) {
		own, err := threads(r.Proc, os.Getpid())
		if err != nil {
			return nil, err
		}
		// The second time has those threads that were made while the first was
		// on its way; those of threads that are in the list are added by the
		// kernel.
		first = append(first, set(noTracePID, list(own), ""), set(noTracePID, list(own), ""))
	}
	gateTriggers(&p)
	if limits {
		var err error
		if first, err = r.follow(&p, first); err != nil {
			return nil, err
		}
	}
	p.Writes = append(first, p.Writes...)
	return &p, nil
}

// follow has the plan's last word about threads be those that are followed,
// instead of all. A plan that has none gets it at its beginning. It comes twice, for
// those that are made while the first is on its way.
func (r *run) follow(p *plan.Plan, first []plan.Write) ([]plan.Write, error) {
	all, err := r.followed()
	if err != nil {
		return nil, err
	}
	r.follows = list(all)
	for i := len(p.Writes) - 1; i >= 0; i-- {
		if p.Writes[i].File == eventPID && p.Writes[i].Instanced {
			p.Writes[i].Data = r.follows
			p.Writes = slices.Insert(p.Writes, i+1, p.Writes[i])
			return first, nil
		}
	}
	return append(first, set(eventPID, r.follows, ""), set(eventPID, r.follows, "")), nil
}

// followed returns the threads that are to be followed, as they are now.
func (r *run) followed() ([]int, error) {
	var all []int
	for _, pid := range r.Follow {
		more, err := family(r.Proc, pid)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	if r.Child != nil {
		all = append(all, r.Child.pid())
	}
	return all, nil
}

// gateTriggers gives triggers without a condition one that always holds. The
// kernel calls those without one before it looks at the thread
// (__trace_trigger_soft_disabled), those with one behind it.
func gateTriggers(p *plan.Plan) {
	for i := range p.Writes {
		w := &p.Writes[i]
		c, err := command.Parse(w.File, w.Data)
		if err != nil {
			continue
		}
		t, ok := c.(*command.Trigger)
		if !ok || t.Remove || t.If != nil {
			continue
		}
		t.If = always()
		retrigger(w, t)
	}
}

// always is a condition that each event meets.
func always() command.Cond {
	return &command.Pred{Field: "common_pid", Op: ">=", Value: command.Value{Kind: command.Number, Text: "0"}}
}

// retrigger has w make the trigger t, and its undo remove that.
func retrigger(w *plan.Write, t *command.Trigger) {
	w.Data = command.Line(t)
	if w.Undo != nil {
		u := *w.Undo
		u.Data = command.Line(command.Undo(t))
		w.Undo = &u
	}
}

// gone returns that a process has ended in place of an error about the list that it
// is no more in. What could not be taken back the journal tells.
func (r *run) gone(err error) error {
	var e *apply.Error
	if errors.As(err, &e) && path.Base(e.File) == eventPID {
		if _, none := r.followed(); none != nil {
			return none
		}
	}
	return err
}

// now is what a list of threads is at the moment it is written.
func (r *run) now(file, data string) string {
	var pids []int
	var err error
	switch {
	case path.Base(file) == noTracePID:
		pids, err = threads(r.Proc, os.Getpid())
	case path.Base(file) == eventPID && data == r.follows:
		pids, err = r.followed()
	default:
		return data
	}
	if err != nil || len(pids) == 0 {
		return data // some of them are no more
	}
	return list(pids)
}

func set(file, data, undo string) plan.Write {
	return plan.Write{File: file, Instanced: true, Data: data, Mode: plan.Truncate,
		Undo: &plan.Write{File: file, Instanced: true, Data: undo, Mode: plan.Truncate}}
}

func list(pids []int) string {
	var words []string
	for _, p := range pids {
		words = append(words, strconv.Itoa(p))
	}
	return strings.Join(words, " ")
}

// noProcess is the number of a process that is not there.
type noProcess int

func (n noProcess) Error() string        { return fmt.Sprintf("there is no process %d", int(n)) }
func (n noProcess) Is(target error) bool { return target == fs.ErrNotExist }

// maxPID is what the numbers of all threads are below (include/linux/threads.h,
// PID_MAX_LIMIT).
const maxPID = 4 << 20

// allEnded reports whether no thread that is followed lives any more: the kernel
// takes those that end from its list.
func (r *run) allEnded() bool {
	if !r.ours || !r.FS.Exists(eventFork) {
		return false
	}
	text, err := r.FS.Read(tracefs.In(r.plan.Instance, eventPID))
	if err != nil {
		return false
	}
	for word := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(word); err == nil && pid < maxPID {
			return false
		}
	}
	return true
}

// maxOwn bounds what is kept of which threads are this process's.
const maxOwn = 8192

// self reports whether a thread is one of this process. Those are left out by the
// kernel, but in an instance of others, whose lists are not to be changed.
func (r *run) self(tid int32) bool {
	own, ok := r.own[tid]
	if ok {
		return own
	}
	if len(r.own) >= maxOwn {
		r.own = nil
	}
	if r.own == nil {
		r.own = map[int32]bool{}
	}
	_, err := fs.Stat(r.Proc, fmt.Sprintf("%d/task/%d", os.Getpid(), tid))
	r.own[tid] = err == nil
	return err == nil
}

// threads returns the threads of a process.
func threads(proc fs.FS, pid int) ([]int, error) {
	entries, err := fs.ReadDir(proc, strconv.Itoa(pid)+"/task")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noProcess(pid)
	}
	if err != nil {
		return nil, fmt.Errorf("list the threads of process %d: %w", pid, err)
	}
	var all []int
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, tid)
		}
	}
	return all, nil
}

// family returns the threads of a process and of its children, and theirs. A
// kernel without CONFIG_PROC_CHILDREN shows no children; those to come are
// followed by the kernel.
func family(proc fs.FS, pid int) ([]int, error) {
	all, err := threads(proc, pid)
	if err != nil {
		return nil, err
	}
	for _, tid := range all {
		text, err := fs.ReadFile(proc, fmt.Sprintf("%d/task/%d/children", pid, tid))
		if err != nil {
			continue
		}
		for word := range strings.FieldsSeq(string(text)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				continue
			}
			if more, err := family(proc, child); err == nil { // it may have ended
				all = append(all, more...)
			}
		}
	}
	return all, nil
}
