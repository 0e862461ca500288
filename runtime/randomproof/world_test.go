package randomproof

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/eptrace/ep/lang/types"
)

var (
	u8      = types.Int{Size: 1}
	u32     = types.Int{Size: 4}
	u64     = types.Int{Size: 8}
	s32     = types.Int{Size: 4, Signed: true}
	s64     = types.Int{Size: 8, Signed: true}
	x64     = types.Int{Size: 8, Form: types.Hex}
	ns      = types.Duration{Unit: types.NS, Size: 8}
	str     = types.String{}
	untyped = types.Untyped{}
	result  = types.Int{Size: 8, Signed: true, Form: types.Errno} // of a system call
)

// param is an argument of a call or a function.
type param struct {
	name string
	t    types.Type
	text bool // the address of a text of the workload's
	addr bool // another address, which is shown and not compared
}

// call is a system call of the workload.
type call struct {
	name   string
	nr     uintptr
	params []param
	rare   bool // no other thread of a guest makes it
}

var calls = []*call{
	{"lseek", unix.SYS_LSEEK, []param{{name: "fd", t: u32}, {name: "offset", t: s64}, {name: "whence", t: u32}}, false},
	{"madvise", unix.SYS_MADVISE, []param{{name: "start", t: u64}, {name: "len_in", t: u64}, {name: "behavior", t: s32}}, false},
	{"getpgid", unix.SYS_GETPGID, []param{{name: "pid", t: s32}}, true},
	{"getsid", unix.SYS_GETSID, []param{{name: "pid", t: s32}}, true},
	{"getppid", unix.SYS_GETPPID, nil, true},
	{"openat", unix.SYS_OPENAT, []param{{name: "dfd", t: s32}, {name: "filename", text: true}, {name: "mode", t: types.Int{Size: 2}}}, false},
	{"faccessat", unix.SYS_FACCESSAT, []param{{name: "dfd", t: s32}, {name: "filename", text: true}, {name: "mode", t: s32}}, true},
	{"close", unix.SYS_CLOSE, []param{{name: "fd", t: u32}}, false},
	{"read", unix.SYS_READ, []param{{name: "fd", t: u32}, {name: "buf", addr: true}, {name: "count", t: u64}}, false},
	{"write", unix.SYS_WRITE, []param{{name: "fd", t: u32}, {name: "buf", addr: true}, {name: "count", t: u64}}, false},
	{"fallocate", unix.SYS_FALLOCATE, []param{{name: "fd", t: s32}, {name: "mode", t: s32}, {name: "offset", t: s64}, {name: "len", t: s64}}, true},
	{"tgkill", unix.SYS_TGKILL, []param{{name: "tgid", t: s32}, {name: "pid", t: s32}, {name: "sig", addr: true}}, false},
	{"ioctl", unix.SYS_IOCTL, []param{{name: "fd", t: u32}, {name: "cmd", t: u32}, {name: "arg", t: u64}}, false},
}

func callNamed(name string) *call {
	for _, c := range calls {
		if c.name == name {
			return c
		}
	}
	panic("internal error: call " + name)
}

// A step is one call of the workload. What its arguments stand for that only the
// guest knows, it says beside them.
type step struct {
	Call   string
	N      [6]uint64
	File   int    `json:",omitempty"` // the first argument is the descriptor of this file, from 1 on
	Text   string `json:",omitempty"` // the second argument is its address
	Opened bool   `json:",omitempty"` // the first argument is what the last openat returned
	Self   bool   `json:",omitempty"` // the first two arguments are this process and this thread
	Marker bool   `json:",omitempty"` // the first argument is the instance's trace_marker, the second Text
}

// done is what a step came to.
type done struct {
	Before, After int64 // CLOCK_MONOTONIC
	Ret           int64
	N             [6]uint64
}

// A workFile is a file of the workload, on a tmpfs, as it is before each script.
type workFile struct {
	name string
	size int64
}

var workFiles = []workFile{{"alpha", 0}, {"beta.txt", 100}, {"gamma", 5000}}

// tmpfsMagic is what a tmpfs says of itself in its superblock (magic.h).
const tmpfsMagic = 0x01021994

// facts are what a guest reports about itself.
type facts struct {
	TID, CPU int
	Comm     string
	Inodes   []uint64
}

// world is what happened: everything that the workload did, in order.
type world struct {
	facts facts
	timed bool // the clock of the records is the workload's
	list  []*occurrence
}

// happened makes the world of a workload.
func happened(f facts, steps []step, results []done, timed bool) *world {
	w := &world{facts: f, timed: timed}
	pos, size := make([]int64, len(workFiles)), make([]int64, len(workFiles))
	for i, file := range workFiles {
		size[i] = file.size
	}
	for i := range min(len(steps), len(results)) {
		s, r := &steps[i], &results[i]
		c := callNamed(s.Call)
		args := map[string]value{}
		for k, p := range c.params {
			switch {
			case p.text:
				v := text(s.Text)
				v.either = true
				args["str("+p.name+")"] = v
			case p.addr:
				args[p.name] = unknown(x64)
			default:
				args[p.name] = unsigned(u64, argument(c, s, r, k)).as(p.t)
			}
		}
		if c.name == "madvise" {
			args[faulty] = unknown(u64)
			if r.N[0] < 65536 { // nothing of the kernel's is there
				args[faulty] = value{t: u64, fault: true}
			}
		}
		args["id"] = number(s64, int64(c.nr))
		w.at(i, r, "enter "+c.name, args)
		file := -1
		if s.File > 0 {
			file = s.File - 1
		}
		w.function(i, s, r, file, pos, size)
		switch {
		case s.Marker:
			w.at(i, r, "print", map[string]value{"buf": text(s.Text)})
		case c.name == "tgkill" && r.Ret == 0:
			w.at(i, r, "signal", map[string]value{"errno": number(s32, 0), "code": number(s32, siTkill), "comm": text(w.facts.Comm),
				"pid": number(s32, int64(w.facts.TID)), "group": number(s32, 0), "result": number(s32, 1),
				"task->pid": number(s32, int64(w.facts.TID)), "task->comm": text(w.facts.Comm)})
		}
		exit := map[string]value{"$ret": number(result, r.Ret), "ret": number(s64, r.Ret)}
		exit["id"] = args["id"]
		w.at(i, r, "exit "+c.name, exit)
		span := map[string]value{"$ret": exit["$ret"], "$elapsed": between(ns, 0, r.After-r.Before)}
		for name, v := range args {
			span["enter("+name+")"] = v
			v.either = false // after the call it is in memory
			span[name] = v
		}
		w.at(i, r, "span "+c.name, span)
	}
	return w
}

// argument is the k-th of the call's own list of arguments; flags of openat are
// none of it.
func argument(c *call, s *step, r *done, k int) uint64 {
	if c.name == "openat" && k == 2 {
		k = 3
	}
	return r.N[k]
}

// at adds what happened in a step, with its context.
func (w *world) at(i int, r *done, kind string, vals map[string]value) {
	if _, of, ok := strings.Cut(kind, " "); ok {
		vals["$func"] = text(of)
	}
	vals["$tid"] = number(s32, int64(w.facts.TID))
	vals["$cpu"] = number(u32, int64(w.facts.CPU))
	vals["$comm"] = text(w.facts.Comm)
	vals["$time"] = unknown(ns)
	if w.timed {
		vals["$time"] = between(ns, r.Before, r.After)
	}
	w.list = append(w.list, &occurrence{kind: kind, seq: len(w.list), step: i, vals: vals, sure: always})
}

// functions are those of the kernel that the workload is known to call, with the
// call that does.
var functions = []function{
	{"shmem_file_llseek", "lseek", []param{{name: "offset", t: s64}, {name: "whence", t: s32}}, []int{1, 2}},
	{"vfs_fallocate", "fallocate", []param{{name: "mode", t: s32}, {name: "offset", t: s64}, {name: "len", t: s64}}, []int{1, 2, 3}},
	{"vfs_read", "read", []param{{name: "count", t: u64}}, []int{2}},
	{"vfs_write", "write", []param{{name: "count", t: u64}}, []int{2}},
}

// function is a function of the kernel, whose first argument is a file.
type function struct {
	name, call string
	params     []param
	at         []int // the position of each
}

// faulty is memory of the kernel's at an address that the workload chooses.
const faulty = "*(start as *u64)"

// siTkill is the code of a signal that tgkill sends (siginfo.h), and 1, above,
// the result of one that is ignored (events/signal.h).
const siTkill = -6

// function adds the function of the kernel that a call makes of one of the files,
// and moves the file's position and size.
func (w *world) function(i int, s *step, r *done, file int, pos, size []int64) {
	for _, f := range functions {
		if f.call != s.Call || file < 0 && !s.Marker {
			continue
		}
		args := map[string]value{}
		c := callNamed(f.call)
		for _, p := range f.params {
			for k, q := range c.params {
				if q.name == p.name {
					args[p.name] = unsigned(u64, r.N[k]).as(q.t).as(p.t)
				}
			}
		}
		before := fileFacts(w.facts, file, pos, size)
		if file >= 0 && r.Ret >= 0 {
			switch f.name {
			case "shmem_file_llseek":
				pos[file] = r.Ret
			case "vfs_read", "vfs_write":
				pos[file] += r.Ret
			}
			switch f.name {
			case "vfs_write":
				size[file] = max(size[file], pos[file])
			case "vfs_fallocate":
				size[file] = max(size[file], int64(r.N[2]+r.N[3]))
			}
		}
		after := fileFacts(w.facts, file, pos, size)
		if f.name == "vfs_read" || f.name == "vfs_write" {
			after["file->f_pos"] = unknown(s64) // the call sets it when the function has returned
		}
		ret := number(s64, r.Ret)
		entry := map[string]value{}
		for _, m := range []map[string]value{args, before} {
			for name, v := range m {
				entry[name] = v
			}
		}
		w.at(i, r, "enter "+f.name, entry)
		w.at(i, r, "exit "+f.name, map[string]value{"$ret": ret})
		span := map[string]value{"$ret": ret, "$elapsed": between(ns, 0, r.After-r.Before)}
		for name, v := range args {
			span[name] = v
		}
		for name, v := range before {
			span["enter("+name+")"] = v
			span[name] = after[name]
		}
		w.at(i, r, "span "+f.name, span)
	}
}

// fileFacts is what a file's memory in the kernel says.
func fileFacts(f facts, file int, pos, size []int64) map[string]value {
	out := map[string]value{
		"file->f_pos": unknown(s64), "file->f_inode->i_size": unknown(s64), "file->f_inode->i_ino": unknown(u64),
		"file->f_inode->i_sb->s_magic": unknown(u64), "path(file)": unknown(str), "file->f_inode->i_sb->s_type->name": unknown(str),
	}
	if file < 0 || file >= len(f.Inodes) {
		return out
	}
	out["file->f_pos"] = number(s64, pos[file])
	out["file->f_inode->i_size"] = number(s64, size[file])
	out["file->f_inode->i_ino"] = unsigned(u64, f.Inodes[file])
	out["file->f_inode->i_sb->s_magic"] = number(u64, tmpfsMagic)
	out["path(file)"] = text(filepath.Base(workFiles[file].name))
	return out
}

// of returns what happened of a kind.
func (w *world) of(kind string) []*occurrence {
	var out []*occurrence
	for _, o := range w.list {
		if o.kind == kind {
			out = append(out, o)
		}
	}
	return out
}
