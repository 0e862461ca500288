package joinproof

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/eptrace/ep/runtime/vm"
)

var chainCases = []vm.Case{
	newCase("chain-file", proveFile),
	newCase("chain-consecutive", proveConsecutive),
	newCase("chain-shared", proveShared),
	newCase("chain-span", proveSpans),
}

// proveFile: a file that is opened, read and closed is one record of three
// stages, of which the first is a span itself, with what each told, in order. A
// file that is opened and closed, but not read, is none.
func proveFile(m *machine) {
	var paths []string
	for i := range 5 {
		paths = append(paths, file(m.g, fmt.Sprintf("file%d", i), 100*i+1))
	}
	inThread(func(tid int) {
		var fds []int
		rec := m.run(fmt.Sprintf(`
event opened from syscall openat where $tid == %[1]d && $ret >= 0 {
  file   = str(filename)
  fd     = $ret as u32
  thread = $tid
}
event visit
  from opened as o
  then syscall read.exit as r by o.thread == r.$tid
  then syscall close.enter as c by o.fd == c.fd, o.thread == c.$tid
{
  file    = o.file
  fd      = c.fd
  size    = r.$ret
  opened  = o.$time
  read    = r.$time
  closed  = c.$time
  reading = r.$time - o.$time
  open    = (c.$time - o.$time) as us
}
trace visit`, tid), func() {
			for i, path := range paths {
				fd := openFile(m.g, path)
				if i != 3 {
					if _, err := unix.Read(fd, make([]byte, 4096)); err != nil {
						m.g.Errorf("%v", err)
					}
				}
				closeFile(m.g, fd)
				fds = append(fds, fd)
			}
		})
		want := []int{0, 1, 2, 4}
		rows := rec.rows["visit"]
		if len(rows) < len(want) {
			m.g.Fatalf("got %d records, want %d: %v", len(rows), len(want), rows)
		}
		rows = rows[len(rows)-len(want):] // before, files of tracefs were visited
		for i, r := range rows {
			k := want[i]
			if r.texts["file"] != paths[k] || r.num("fd") != int64(fds[k]) || r.num("size") != int64(100*k+1) {
				m.g.Errorf("got %v %v, want %s, %d, %d", r.texts, r.numbers, paths[k], fds[k], 100*k+1)
			}
			opened, read, closed := r.num("opened"), r.num("read"), r.num("closed")
			if opened >= read || read >= closed || r.num("open") != (closed-opened)/1000 || r.num("reading") != read-opened {
				m.g.Errorf("got %v: want times in order", r.numbers)
			}
		}
	})
}

// proveConsecutive: of calls of one kind, each is the first of a pair and the
// second of one, so that n calls are n-1 pairs.
func proveConsecutive(m *machine) {
	inThread(func(tid int) {
		rec := m.run(fmt.Sprintf(`
event seek_step
  from syscall lseek.enter as a where $tid == %[1]d
  then syscall lseek.enter as b where $tid == %[1]d by $tid
{
  before = a.offset
  after  = b.offset
  took   = b.$time - a.$time
}
event call_pair
  from raw_syscalls.sys_enter as a where $tid == %[1]d
  then raw_syscalls.sys_enter as b where id == sys(getppid) by $tid
{
  before = a.id
  after  = b.id
}
trace seek_step, call_pair`, tid), func() {
			for i := range int64(10) {
				badSeek(i*i, 1000)
			}
			getppid()
			getppid()
		})
		steps := rec.rows["seek_step"]
		if len(steps) != 9 {
			m.g.Fatalf("got %d pairs of 10 calls", len(steps))
		}
		for i, r := range steps {
			if n := int64(i); r.num("before") != n*n || r.num("after") != (n+1)*(n+1) || r.num("took") <= 0 {
				m.g.Errorf("pair %d: got %v", i, r.numbers)
			}
		}
		pairs := rec.rows["call_pair"]
		m.sameNumbers("before", pairs, "before", []uint64{unix.SYS_LSEEK, unix.SYS_GETPPID})
		m.sameNumbers("after", pairs, "after", []uint64{unix.SYS_GETPPID, unix.SYS_GETPPID})
	})
}

// proveShared: joins that share a stage do not take values from one another.
func proveShared(m *machine) {
	inThread(func(tid int) {
		rec := m.run(fmt.Sprintf(`
event one
  from syscall lseek.enter as a where $tid == %[1]d
  then syscall getppid.enter as b by $tid
{
  offset = a.offset
  took   = b.$time - a.$time
}
event two
  from syscall lseek.enter as a where $tid == %[1]d && offset >= 5
  then syscall getppid.enter as b by $tid
{
  offset = a.offset
  took   = (b.$time - a.$time) as us
}
event three
  from syscall lseek.enter as a where $tid == %[1]d
  then syscall madvise.enter as b by $tid
  then syscall getppid.enter as c by $tid
{
  offset = a.offset
  start  = b.start
}
event four
  from one as a
  then two as b by a.offset == b.offset
{
  first  = a.took
  second = b.took
  offset = a.offset
}
hist ones from one by slot = bucket(offset, 4)
trace one, two, three, four`, tid), func() {
			for i := range int64(10) {
				badSeek(i, 1000)
				badAdvice(uint64(100+i), 0, 1000)
				getppid()
			}
		})
		all := []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
		m.sameNumbers("one", rec.rows["one"], "offset", all)
		m.sameNumbers("two", rec.rows["two"], "offset", all[5:])
		m.sameNumbers("three", rec.rows["three"], "offset", all)
		m.sameNumbers("three", rec.rows["three"], "start", []uint64{100, 101, 102, 103, 104, 105, 106, 107, 108, 109})
		m.sameNumbers("four", rec.rows["four"], "offset", all[5:])
		if !m.g.Failed() {
			m.sameNumbers("four", rec.rows["four"], "first", column(rec.rows["one"], "took")[5:])
			m.sameNumbers("four", rec.rows["four"], "second", column(rec.rows["two"], "took"))
		}
		n := int64(0)
		for _, g := range rec.tables["ones"] {
			n += g.num("hitcount")
		}
		if n != 10 || len(rec.tables["ones"]) != 3 {
			m.g.Errorf("got %v: want 10 in 3", rec.tables["ones"])
		}
	})
}

// proveSpans: of calls, those whose arguments and result are as asked, with
// both, and how long they took. Calls that fail the condition are not paired
// with the exit of another.
func proveSpans(m *machine) {
	path := file(m.g, "file", 100)
	inThread(func(tid int) {
		var began, ended int64
		rec := m.run(fmt.Sprintf(`
event failed from syscall lseek where $tid == %[1]d && offset > 10 && $ret < 0 {
  offset
  $ret
  took = $elapsed
}
event done from syscall lseek where $tid == %[1]d && $ret >= 0 { offset, $ret }
event slept from syscall nanosleep where $tid == %[1]d && $elapsed > 8ms { took = $elapsed, ms = $elapsed as ms }
event either from syscall lseek where $tid == %[1]d && $ret * 2 - offset == 39 { offset, $ret }
trace failed, done, slept, either`, tid), func() {
			fd := openFile(m.g, path)
			for i := range int64(20) {
				badSeek(i, 0)
				_, _ = unix.Seek(fd, i+20, unix.SEEK_SET)
			}
			nap(2 * ms)
			began = now()
			nap(10 * ms)
			ended = now()
			closeFile(m.g, fd)
		})
		failed, slept := rec.rows["failed"], rec.rows["slept"]
		m.sameNumbers("failed", failed, "offset", []uint64{11, 12, 13, 14, 15, 16, 17, 18, 19})
		for _, r := range failed {
			if r.num("ret") != -int64(unix.EBADF) || r.num("took") <= 0 {
				m.g.Errorf("got %v", r.numbers)
			}
		}
		var done []uint64
		for i := range uint64(20) {
			done = append(done, i+20)
		}
		m.sameNumbers("done", rec.rows["done"], "offset", done)
		m.sameNumbers("done", rec.rows["done"], "ret", done)
		m.sameNumbers("either", rec.rows["either"], "ret", []uint64{39})
		if len(slept) == 0 {
			m.g.Fatalf("got no sleep")
		}
		last := slept[len(slept)-1]
		if took := last.num("took"); took < 10*ms-ms/10 || took > ended-began || last.num("ms") != took/ms {
			m.g.Errorf("got %v: want at most %d", last.numbers, ended-began)
		}
	})
}
