package sourceproof

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// spanCases prove functions with both ends.
var spanCases = []vm.Case{
	on("span", joins, proveSpan),
	on("span-forced", joins, proveSpanForced),
	on("span-result", every, proveResultAlone),
	on("span-times", joins, proveSpanTimes),
	on("span-void", joins, proveVoid),
	on("span-cpus", joins, proveTwoCPUs),
	on("span-recursive", joins, proveRecursive),
	on("span-idle", joins, proveIdle),
}

const spanScript = `
event all from func vfs_fallocate { mode, offset, len, $ret }
event timed from func vfs_fallocate where $ret < 0 { offset, $ret, took = $elapsed }
event entered from func vfs_fallocate where offset == -5 { len, $ret, at = enter($cpu), began = enter($time) }
trace all, timed, entered`

func checkSpan(b *bench, r records) {
	var rows []string
	for i := range entries {
		rows = append(rows, entries[i]+" "+results[i])
	}
	r.want("all", "mode offset len ret", rows...)
	r.want("timed", "offset ret", "-5 -22", "1099511627776 -95")
	r.want("entered", "len ret", "7 -22")
	for _, took := range r.of("timed", "took") {
		if d, err := time.ParseDuration(took); err != nil || d <= 0 || d > time.Minute {
			b.Errorf("took %q: %v", took, err)
		}
	}
}

func proveSpan(b *bench) { checkSpan(b, b.run(spanScript, fallocates(b))) }

func proveSpanForced(b *bench) {
	checkSpan(b, b.run("option functions kprobe\noption maxactive 20\n"+spanScript, fallocates(b)))
	if fprobes(b.Kernel()) {
		checkSpan(b, b.run("option functions fprobe\n"+spanScript, fallocates(b)))
	}
}

// proveResultAlone: what wants no entry is a return probe on every kernel.
func proveResultAlone(b *bench) {
	r := b.run("event e from func vfs_fallocate where $ret < 0 { $ret, comm = $comm }\ntrace e", fallocates(b))
	r.want("e", "ret", "-22", "-95")
}

// proveSpanTimes: memory is read at the exit, and within enter() at the entry.
func proveSpanTimes(b *bench) {
	const size = 12
	r := b.run(`
event e from func vfs_fallocate where $ret == 0 {
  before = enter(file->f_inode->i_size)
  after = file->f_inode->i_size
  len
}
event w from func vfs_write where count == 33 {
  before = enter(*pos)
  after = *pos
  $ret
}
trace e, w`, func() error {
		_, fd, err := scratch(b, "file", unix.O_RDWR)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if _, err := unix.Pwrite(fd, make([]byte, 33), 100); err != nil {
			return err
		}
		if err := unix.Ftruncate(fd, size); err != nil {
			return err
		}
		return unix.Fallocate(fd, 0, 0, 5000)
	})
	r.want("e", "before after len", "12 5000 5000")
	r.want("w", "before after ret", "100 133 33")
}

// proveVoid: a function that returns nothing has no $ret.
func proveVoid(b *bench) {
	var path string
	var fd int
	r := b.run(`
event e from func fd_install { fd, name = path(file), took = $elapsed }
event x from func fd_install { fd, ino = file->f_inode->i_ino }
trace e, x`, func() (err error) {
		path, fd, err = scratch(b, "installed", unix.O_RDONLY)
		return err
	})
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		b.Fatalf("stat: %v", err)
	}
	if got, want := r.of("e", "fd", "name"), fmt.Sprintf("%d installed", fd); !slices.Contains(got, want) {
		b.Errorf("got %q, want %q among them", got, want)
	}
	if got, want := r.of("x", "fd", "ino"), fmt.Sprintf("%d %d", fd, st.Ino); !slices.Contains(got, want) {
		b.Errorf("got %q, want %q among them", got, want)
	}
	b.refused("trace func fd_install { fd, $ret }", diag.MisplacedValue)
}

// proveTwoCPUs: a call that begins on one CPU and ends on another is one.
func proveTwoCPUs(b *bench) {
	r := b.run("event move from func pipe_read else func anon_pipe_read { from = enter($cpu), to = $cpu, $ret, took = $elapsed }\ntrace move", func() error {
		var fds [2]int
		if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
			return err
		}
		defer unix.Close(fds[0])
		defer unix.Close(fds[1])
		if err := pin(0, 0); err != nil {
			return err
		}
		tid := unix.Gettid()
		moved := make(chan error, 1)
		go func() {
			time.Sleep(50 * time.Millisecond) // until it waits; if not, the record says so
			err := pin(tid, 1)
			_, writeErr := unix.Write(fds[1], []byte("x"))
			if err == nil {
				err = writeErr
			}
			moved <- err
		}()
		if _, err := unix.Read(fds[0], make([]byte, 8)); err != nil {
			return err
		}
		return <-moved
	})
	r.want("move", "from to ret", "0 1 1")
}

// pin keeps a thread on one CPU; 0 is the caller.
func pin(tid, cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(tid, &set); err != nil {
		return fmt.Errorf("pin to CPU %d: %w", cpu, err)
	}
	return nil
}

// proveRecursive: an epoll that is put into another is searched for loops, by a
// function that calls itself for each that is in it. Of such calls the innermost
// are paired, and none with another's entry; a return probe that has the
// arguments sees all.
func proveRecursive(b *bench) {
	const fn = "func ep_loop_check_proc"
	proto, err := b.live.FuncProto("", "ep_loop_check_proc")
	if err != nil {
		b.Skipf("%v", err)
	}
	before := "" // the parameters before depth
	for _, p := range proto.Params {
		if p.Name == "depth" {
			break
		}
		before += "_, "
	}
	r := b.run(`
event inn from `+fn+`.enter(`+before+`depth: s32) { depth }
event span from `+fn+`(`+before+`depth: s32) { depth, took = $elapsed }
event all from `+fn+`(`+before+`depth: s32): s32 { depth, $ret }
trace inn, span, all`, func() error {
		inner := -1
		for range 4 {
			fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			if inner >= 0 {
				if err := unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, inner, &unix.EpollEvent{Events: unix.EPOLLIN}); err != nil {
					return fmt.Errorf("put an epoll into another: %w", err)
				}
			}
			inner = fd
		}
		return nil
	})
	r.want("inn", "depth", "0", "0", "1", "0", "1", "2")
	r.want("span", "depth", "0", "1", "2")
	all := []string{"0", "1", "2"} // as the other span, where it is a join
	if b.live.Has(target.ReturnArgs) {
		all = []string{"0", "1", "0", "2", "1", "0"}
	}
	r.want("all", "depth", all...)
}

// proveIdle: the idle threads all have the number 0, so their spans are not
// followed; one end is seen.
func proveIdle(b *bench) {
	const fn = "tick_nohz_idle_exit"
	if _, err := b.live.FuncProto("", fn); err != nil {
		b.Skipf("%v", err)
	}
	r := b.run("event one from func "+fn+".enter { comm = $comm }\nevent span from func "+fn+" { took = $elapsed }\ntrace one, span", func() error {
		time.Sleep(100 * time.Millisecond) // the CPUs idle
		return nil
	})
	seen := 0
	for _, rec := range r.list {
		if rec.event == "one" && rec.tid == 0 {
			seen++
		}
	}
	if seen == 0 {
		b.Errorf("no idle thread was seen: %s", r)
	}
	if got := r.by("span", 0, "took"); len(got) != 0 {
		b.Errorf("got %s spans of idle threads", strconv.Itoa(len(got)))
	}
}
