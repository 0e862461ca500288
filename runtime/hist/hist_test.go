package hist

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hexops/autogold/v2"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/types"
	"github.com/eptrace/ep/runtime/events"
)

var (
	u64  = types.Int{Size: 8}
	s64  = types.Int{Size: 8, Signed: true}
	s32  = types.Int{Size: 4, Signed: true}
	x64  = types.Int{Size: 8, Form: types.Hex}
	text = types.String{}
	ns   = types.Duration{Size: 8}
)

// keyed is a column of a table.
func keyed(name string, t types.Type) plan.Column { return plan.Column{Name: name, Type: t} }

func log2(name string, t types.Type) plan.Column {
	return plan.Column{Name: name, Type: t, Log2: true}
}

func bucket(name string, t types.Type, width uint64) plan.Column {
	return plan.Column{Name: name, Type: t, Bucket: width}
}

// sum is a value, of the kernel's called kernel.
func sum(name, kernel string, t types.Type) plan.Column {
	return plan.Column{Name: name, Type: t, Kernel: kernel}
}

func mean(name, kernel string, t types.Type) plan.Column {
	return plan.Column{Name: name, Type: t, Kernel: kernel, Mean: true}
}

// table is a plan's table of one hist.
func table(name, event, command string, keys, values []plan.Column, sort ...plan.Sort) plan.Table {
	group, event, _ := strings.Cut(event, ".")
	return plan.Table{
		Name: name, Keys: keys, Values: values, Sort: sort,
		Hists: []plan.Hist{{Group: group, Event: event, Command: command}},
	}
}

type columns = []plan.Column

// recorded are the tables that the files in testdata hold, which kernels wrote:
// reads by size, allocations, calls, switches, results and paths of openat.
func recorded() []plan.Table {
	flags := types.Int{Size: 4, Names: &types.Names{Flags: true, List: []types.Name{{Name: "GFP_KERNEL", Value: 0xcc0}, {Name: "__GFP_ZERO", Value: 0x100}}}}
	states := types.Int{Size: 8, Names: &types.Names{List: []types.Name{{Name: "R", Value: 0}, {Name: "S", Value: 1}, {Name: "D", Value: 2}}}}
	ret := types.Int{Size: 4, Signed: true, Form: types.Errno}
	read, openat := "syscalls.sys_enter_read", "t.op"
	return []plan.Table{
		table("log2", read, "hist:keys=count.log2:vals=count", columns{log2("size", u64)}, columns{sum("bytes", "count", u64)}),
		table("buckets", read, "hist:keys=count.buckets=1000,common_pid:vals=count", columns{bucket("size", u64, 1000), keyed("tid", s32)}, columns{mean("bytes", "count", u64)}),
		table("execname", read, "hist:keys=common_pid.execname,count:vals=fd,count", columns{keyed("tid", s32), keyed("size", u64)}, columns{sum("fds", "fd", u64), sum("bytes", "count", u64)}),
		table("hex", read, "hist:keys=fd.hex,count.hex:vals=count.hex", columns{keyed("fd", x64), keyed("size", x64)}, columns{sum("bytes", "count", x64)}, plan.Sort{Name: "bytes", Desc: true}),
		table("offset", "kmem.kmalloc", "hist:keys=call_site.sym-offset,gfp_flags:vals=bytes_req:sort=bytes_req.descending", columns{keyed("site", types.Int{Size: 8, Form: types.Ksym}), keyed("flags", flags)}, columns{sum("bytes", "bytes_req", u64)}, plan.Sort{Name: "bytes", Desc: true}),
		table("sym", "kmem.kmalloc", "hist:keys=call_site.sym:vals=bytes_req", columns{keyed("site", types.Int{Size: 8, Form: types.Ksym})}, columns{mean("bytes", "bytes_req", u64)}),
		table("full", "t.alloc", "hist:keys=ptr.hex:vals=n:size=128", columns{keyed("ptr", x64)}, columns{sum("bytes", "n", u64)}, plan.Sort{Name: "bytes", Desc: true}),
		table("calls", "raw_syscalls.sys_enter", "hist:keys=id.syscall,common_cpu", columns{keyed("nr", types.Int{Size: 8, Signed: true, Form: types.Sysnr}), keyed("cpu", u64)}, nil),
		table("stacks", "sched.sched_switch", "hist:keys=stacktrace,prev_state:size=256", columns{keyed("stack", types.Stack{}), keyed("state", states)}, nil),
		table("block", "synthetic.block", "hist:keys=delta.buckets=1000000,stack.stacktrace:vals=delta", columns{bucket("delta", ns, 1000000), keyed("stack", types.Stack{})}, columns{sum("all", "delta", ns)}),
		table("nokeys", "sched.sched_switch", "hist:keys=common_type:vals=prev_prio", nil, columns{sum("prio", "prev_prio", s32)}),
		table("paused", "sched.sched_switch", "hist:keys=prev_comm:pause", columns{keyed("comm", text)}, nil),
		table("results", openat, "hist:keys=ret,comm:vals=ret", columns{keyed("ret", ret), keyed("comm", text)}, columns{sum("sum", "ret", s64)}, plan.Sort{Name: "ret"}),
		table("negative", openat, "hist:keys=ret.buckets=10:vals=ret", columns{bucket("ret", s64, 10)}, columns{sum("sum", "ret", s64)}),
		table("negative2", openat, "hist:keys=ret.log2:vals=ret", columns{log2("ret", s64)}, columns{mean("mean", "ret", s64)}),
		table("paths", "t.nm", "hist:keys=f,flags", columns{keyed("path", text), keyed("flags", s32)}, nil),
		table("paths2", "t.nm", "hist:keys=flags,f", columns{keyed("flags", s32), keyed("path", text)}, nil),
		table("shared", "sched.sched_wakeup", "hist:keys=comm,prio:name=cm", columns{keyed("comm", text), keyed("prio", s32)}, nil),
		table("cpu", "sched.sched_wakeup", "hist:keys=common_cpu,common_comm", columns{keyed("cpu", u64), keyed("comm", text)}, nil),
	}
}

// kernels are those that the recorded files are from.
var kernels = []string{"6.1", "6.12", "6.17", "7.3"}

// testdata lays the recorded files of a kernel out as its tracefs has them.
func testdata(t testing.TB, kernel string) fstest.MapFS {
	t.Helper()
	names, err := fs.Glob(os.DirFS("testdata/"+kernel), "*.hist")
	if err != nil || len(names) == 0 {
		t.Fatalf("no files of %s: %v", kernel, err)
	}
	out := fstest.MapFS{}
	for _, name := range names {
		data, err := os.ReadFile("testdata/" + kernel + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		out["events/"+strings.Replace(strings.TrimSuffix(name, ".hist"), ".", "/", 1)+"/hist"] = &fstest.MapFile{Data: data}
	}
	return out
}

// missing reports whether a kernel had no such table: text of tasks as a key
// came with 6.17, stacks of synthetic events after 6.1.
func missing(kernel, name string) bool {
	return name == "cpu" && (kernel == "6.1" || kernel == "6.12") || name == "block" && kernel == "6.1"
}

// names are the names of things that no table has.
type names struct{}

func (names) Symbol(addr uint64) (string, uint64, bool) { return "function", addr & 0xff, true }

func (names) SyscallName(nr int) (string, bool) {
	name, ok := map[int]string{0: "read", 1: "write", 3: "close", 257: "openat"}[nr]
	return name, ok
}

var named = events.Names{Symbols: names{}, Syscalls: names{}}

func TestRecordedTables(t *testing.T) {
	for _, kernel := range kernels {
		t.Run(kernel, func(t *testing.T) {
			fsys := testdata(t, kernel)
			var plain, lines bytes.Buffer
			for _, p := range recorded() {
				got, err := Read(fsys, "", p)
				if missing(kernel, p.Name) {
					if !errors.Is(err, ErrNotFound) && !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("%s: got %v, want that it is not there", p.Name, err)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", p.Name, err)
					continue
				}
				checkTotals(t, got)
				got.Limit(8)
				if err := got.Render(&plain, Options{Width: 100, Percent: p.Name == "sym", Names: named}); err != nil {
					t.Error(err)
				}
				plain.WriteByte('\n')
				got.Limit(3)
				lines.Write(got.AppendJSON(nil, &named))
			}
			autogold.ExpectFile(t, autogold.Raw(plain.String()), autogold.Name("tables-"+kernel))
			autogold.ExpectFile(t, autogold.Raw(lines.String()), autogold.Name("json-"+kernel))
		})
	}
}

// checkTotals holds the rows of a table against what the kernel says of it.
func checkTotals(t *testing.T, got *Table) {
	t.Helper()
	if got.Unread != 0 {
		t.Errorf("%s: %d entries were not read", got.Name, got.Unread)
	}
	if len(got.Rows) > got.Entries {
		t.Errorf("%s: %d rows of %d entries", got.Name, len(got.Rows), got.Entries)
	}
	// Events are counted on while the kernel writes the file.
	if n := got.counted(); n > got.Hits || n < got.Hits*9/10 {
		t.Errorf("%s: %d events in rows, %d in all", got.Name, n, got.Hits)
	}
}

// one returns the file of one hist with the rows and totals of body.
func one(line, body string) fstest.MapFS {
	return fstest.MapFS{"events/g/e/hist": {Data: []byte("# event histogram\n#\n# trigger info: " + line + " [active]\n#\n\n" + body)}}
}

func totals(hits, entries, dropped int) string {
	return fmt.Sprintf("\nTotals:\n    Hits: %d\n    Entries: %d\n    Dropped: %d\n", hits, entries, dropped)
}

// textRow is a row as the kernel writes it.
func textRow(comm string, n, hits int) string {
	return fmt.Sprintf("{ comm: %-50s, n: %10d } hitcount: %10d\n", comm, n, hits)
}

func TestTextsMayHoldAnything(t *testing.T) {
	long := strings.Repeat("x", 60)
	for _, want := range []string{
		"a", "", "a, n: 5 } hitcount: 7", "}", "{ ", "\n", "a\n\nTotals:\n", "\n{ comm: b", "é", strings.Repeat("a", 49),
		strings.Repeat("a", 50), strings.Repeat("a", 51), long, long + ", b", long + " } hitcount: 5 ", "a } hitcount: 1\n{ comm: b",
	} {
		body := textRow(want, 1, 2) + textRow("other", 3, 4) + totals(6, 2, 0)
		p := table("t", "g.e", "hist:keys=comm,n", columns{keyed("comm", text), keyed("n", u64)}, nil, plan.Sort{Name: "n"})
		got, err := Read(one("hist:keys=comm,n:vals=hitcount:sort=hitcount:size=2048", body), "", p)
		if err != nil {
			t.Errorf("%q: %v", want, err)
			continue
		}
		if len(got.Rows) != 2 || got.Unread != 0 {
			t.Errorf("%q: got %d rows, %d not read", want, len(got.Rows), got.Unread)
			continue
		}
		want = strings.TrimRight(want, " ")
		if k := got.Rows[0].Key("comm").Text; k != want || got.Rows[0].Count != 2 || got.Rows[1].Key("comm").Text != "other" {
			t.Errorf("got %q %d, %q, want %q 2", k, got.Rows[0].Count, got.Rows[1].Key("comm").Text, want)
		}
	}
}

func TestRowsThatLookEqualAreOne(t *testing.T) {
	body := textRow("a", 1, 2) + textRow("b", 1, 1) + textRow("a", 1, 40) + totals(43, 3, 0)
	p := table("t", "g.e", "hist:keys=comm,n", columns{keyed("comm", text), keyed("n", u64)}, nil)
	got, err := Read(one("hist:keys=comm,n:vals=hitcount:sort=hitcount:size=2048", body), "", p)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) != 2 || got.Rows[0].Count != 42 || got.Entries != 3 {
		t.Errorf("got %+v", got.Rows)
	}
}

func TestSharedTableIsReadOnce(t *testing.T) {
	fsys := testdata(t, "7.3")
	p := recorded()[17]
	first, err := Read(fsys, "", p)
	if err != nil {
		t.Fatal(err)
	}
	p.Hists = append(p.Hists, plan.Hist{Group: "sched", Event: "sched_wakeup_new", Command: p.Hists[0].Command})
	both, err := Read(fsys, "", p)
	if err != nil {
		t.Fatal(err)
	}
	if first.Hits != both.Hits || len(first.Rows) != len(both.Rows) {
		t.Errorf("got %d hits, want %d", both.Hits, first.Hits)
	}
}

func TestSeveralHistsAreAddedUp(t *testing.T) {
	fsys := one("hist:keys=n:vals=hitcount,v:sort=hitcount:size=2048", "{ n:          1 } hitcount:          2  v:         10\n"+totals(2, 1, 3))
	fsys["events/g/f/hist"] = fsys["events/g/e/hist"]
	p := table("t", "g.e", "hist:keys=n:vals=v", columns{keyed("n", u64)}, columns{mean("v", "v", u64)})
	p.Hists = append(p.Hists, plan.Hist{Group: "g", Event: "f", Command: "hist:keys=n:vals=v"})
	got, err := Read(fsys, "", p)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) != 1 || got.Rows[0].Count != 4 || got.Rows[0].Number("v") != 5 || got.Hits != 4 || got.Dropped != 6 {
		t.Errorf("got %+v", got)
	}
}

func TestSumAndMeanAreOfOneValue(t *testing.T) {
	fsys := one("hist:keys=n:vals=hitcount,v,w:sort=hitcount:size=2048", "{ n:          1 } hitcount:          2  v:         10  w:          3\n"+totals(2, 1, 0))
	p := table("t", "g.e", "hist:keys=n:vals=v,w", columns{keyed("n", u64)}, columns{mean("each", "v", u64), mean("other", "w", u64), sum("all", "v", u64)})
	got, err := Read(fsys, "", p)
	if err != nil {
		t.Fatal(err)
	}
	r := &got.Rows[0]
	if len(r.Values) != 3 || r.Number("each") != 5 || r.Number("other") != 1.5 || r.Number("all") != 10 {
		t.Errorf("got %+v", r)
	}
	p.Values[0].Kernel = "x"
	if _, err := Read(fsys, "", p); err == nil {
		t.Error("want an error of a value that the command has not")
	}
}

func TestBadFilesAreErrorsOrSaid(t *testing.T) {
	p := table("t", "g.e", "hist:keys=n", columns{keyed("n", u64)}, nil)
	line := "hist:keys=n:vals=hitcount:sort=hitcount:size=2048"
	for _, tt := range []struct {
		name, body string
		unread     int
		bad        bool
	}{
		{"no totals", "{ n:          1 } hitcount:          2\n", 0, true},
		{"half of the totals", "\nTotals:\n    Hits: 5\n", 0, true},
		{"other totals", "\nTotals:\n    Hits: 5\n    Entries: x\n", 0, true},
		{"a row of another form", "{ n: a } hitcount:          2\n{ n:          1 } hitcount:          2\n" + totals(4, 2, 0), 1, false},
		{"nothing in between", "{ n: a }", 1, true},
	} {
		got, err := Read(one(line, tt.body), "", p)
		if (err != nil) != tt.bad || err == nil && got.Unread != tt.unread {
			t.Errorf("%s: got %+v, %v", tt.name, got, err)
		}
	}
	if _, err := Read(one("hist:keys=m", totals(0, 0, 0)), "", p); !errors.Is(err, ErrNotFound) {
		t.Errorf("another's: got %v, want ErrNotFound", err)
	}
	if _, err := Read(fstest.MapFS{}, "", p); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no event: got %v, want fs.ErrNotExist", err)
	}
}

func TestInstanceIsReadInItsFolder(t *testing.T) {
	fsys := one("hist:keys=n", totals(0, 0, 0))
	fsys["instances/i/events/g/e/hist"] = fsys["events/g/e/hist"]
	delete(fsys, "events/g/e/hist")
	if _, err := Read(fsys, "i", table("t", "g.e", "hist:keys=n", columns{keyed("n", u64)}, nil)); err != nil {
		t.Error(err)
	}
}
