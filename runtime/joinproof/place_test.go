package joinproof

import (
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/runtime/tracefs"
	"github.com/eptrace/ep/runtime/vm"
)

var placeCases = []vm.Case{
	newCase("place-function", proveFunctionTwice),
	newCase("place-spans", proveSpanStages),
	newCase("place-markers", proveMarkers),
}

// proveFunctionTwice: a function may follow itself, as a stage and as an event of
// the script: n calls are n-1 pairs, and memory is read at each call.
func proveFunctionTwice(m *machine) {
	name := file(m.g, "file", 100)
	inThread(func(tid int) {
		rec := m.run(fmt.Sprintf(`
event step
  from func vfs_read.enter(file: *x64, buf, count: u64) as a where $tid == %[1]d && count in { 100..109 }
  then func vfs_read.enter(file: *x64, buf, count: u64) as b where $tid == %[1]d && count in { 100..109 } by file
{ before = a.count, after = b.count, sum = a.count * 2 + b.count, took = b.$time - a.$time }
event ask from func vfs_read.enter(file: *x64, buf, count: u64) where $tid == %[1]d { file, count, word = file[2] }
event again
  from ask as a where count in { 100..109 }
  then ask as b where count > 105 by file
{ before = a.count, after = b.count, word = b.word }
trace step, again`, tid), func() {
			fd := openFile(m.g, name)
			for i := range 10 {
				if _, err := unix.Read(fd, make([]byte, 100+i)); err != nil {
					m.g.Errorf("%v", err)
				}
			}
			closeFile(m.g, fd)
		})
		all := []uint64{100, 101, 102, 103, 104, 105, 106, 107, 108, 109}
		m.sameNumbers("before", rec.rows["step"], "before", all[:9])
		m.sameNumbers("after", rec.rows["step"], "after", all[1:])
		m.sameNumbers("sum", rec.rows["step"], "sum", []uint64{301, 304, 307, 310, 313, 316, 319, 322, 325})
		m.sameNumbers("again", rec.rows["again"], "before", all[5:9])
		m.sameNumbers("again", rec.rows["again"], "after", all[6:])
		for _, r := range rec.rows["step"] {
			if r.num("took") <= 0 {
				m.g.Errorf("got %v", r.numbers)
			}
		}
		for _, r := range rec.rows["again"] {
			if r.num("word") == 0 {
				m.g.Errorf("got %v: a struct file has an address there", r.numbers)
			}
		}
	})
}

// proveSpanStages: calls as wholes, entry and return, are stages of a join: a
// file that is opened, read and closed, each with what it returned.
func proveSpanStages(m *machine) {
	var paths []string
	for i := range 5 {
		paths = append(paths, file(m.g, fmt.Sprintf("file%d", i), 100*i+1))
	}
	inThread(func(tid int) {
		var fds []int
		rec := m.run(fmt.Sprintf(`
event visit
  from syscall openat as o where $tid == %[1]d && $ret >= 0
  then syscall read as r where $ret > 0 by o.$ret == r.fd, $tid
  then syscall close as c where $ret == 0 by r.fd == c.fd, $tid
{
  file    = str(o.filename)
  fd      = c.fd
  size    = r.$ret
  asked   = r.count
  reading = r.$elapsed
  between = c.$time - r.$time
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
			if r.texts["file"] != paths[k] || r.num("fd") != int64(fds[k]) || r.num("size") != int64(100*k+1) || r.num("asked") != 4096 {
				m.g.Errorf("got %v %v, want %s, %d, %d", r.texts, r.numbers, paths[k], fds[k], 100*k+1)
			}
			if r.num("reading") <= 0 || r.num("between") <= 0 {
				m.g.Errorf("got %v", r.numbers)
			}
		}
	})
}

// proveMarkers: what a program writes to trace_marker begins and ends a stage,
// is counted, and stops the recording. ftrace's own event takes no probe.
func proveMarkers(m *machine) {
	p, err := m.compile(`
event section
  from ftrace.print as a where buf ~ "begin*"
  then ftrace.print as b where buf ~ "end*" by $tid
{ took = b.$time - a.$time, tid = b.$tid }
hist sections from section by tid { took = sum(took) }
hist frames from ftrace.print where buf ~ "frame*" by tid = $tid
on ftrace.print where buf == "enough" times 1 do stop
trace section, ftrace.print`, compiler.Options{Instance: instance})
	if err != nil {
		m.g.Fatalf("%v", err)
	}
	inThread(func(tid int) {
		var waited []int64
		rec := m.carryOut(p, func() {
			f, err := os.OpenFile(path.Join(m.fs.Dir(), tracefs.In(instance, "trace_marker")), os.O_WRONLY, 0)
			if err != nil {
				m.g.Fatalf("%v", err)
			}
			defer f.Close()
			mark := func(text string) {
				if _, err := f.WriteString(text); err != nil {
					m.g.Errorf("%v", err)
				}
			}
			mark("end of nothing")
			for i := range int64(3) {
				mark("begin too early")
				start := now()
				mark(fmt.Sprintf("begin %d\n", i))
				nap(i * 2 * ms)
				mark(fmt.Sprintf("end %d\n", i))
				waited = append(waited, now()-start)
				mark("end again")
				mark("frame")
			}
			mark("enough")
			if _, err := f.WriteString("begin"); err == nil {
				m.g.Errorf("the kernel takes markers while it does not record")
			}
		})
		rows := rec.rows["section"]
		if len(rows) != 3 {
			m.g.Fatalf("got %d sections, want 3: %v", len(rows), rows)
		}
		for i, r := range rows {
			if took := r.num("took"); took < int64(i)*2*ms || took > waited[i] || r.num("tid") != int64(tid) {
				m.g.Errorf("section %d: got %v, want %d at most", i, r.numbers, waited[i])
			}
		}
		// "enough" itself may be in, or not.
		if n := len(rec.rows["ftrace.print"]); n != 1+3*5 && n != 2+3*5 {
			m.g.Errorf("got %d markers", n)
		}
		if t := rec.tables["frames"]; len(t) != 1 || t[0].num("hitcount") != 3 || t[0].num("common_pid") != int64(tid) {
			m.g.Errorf("got %v", t)
		}
		if t := rec.tables["sections"]; len(t) != 1 || t[0].num("hitcount") < 3 {
			m.g.Errorf("got %v", t)
		}
	})
}
