package sourceproof

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/events"
	"github.com/eptrace/ep/runtime/tracefs"
	"github.com/eptrace/ep/runtime/vm"
	"golang.org/x/sys/unix"
)

// cases are what every kernel is asked, in one boot.
var cases = slices.Concat(functionCases, spanCases, memberCases, faultCases, splitCases, placeCases, quirkCases, socketCases, tracepointCases, severalCases, userCases, refusedCases, deadlyCases)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childArg {
		os.Exit(0) // what a case started as a process
	}
	os.Exit(vm.Main(m, slices.Concat(cases, lonelyCases)))
}

// childArg is the first argument of a process that is to end at once.
const childArg = "ep-child"

func TestKernels(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"loose-x86_64", "loose-arm64", "program-i386"} {
		files[programDir+name] = "../../compiler/object/testdata/" + name
	}
	vm.Machine{Files: files}.Test(t, cases)
}

// programDir is where programs to be probed lie in the guest.
const programDir = "/programs/"

// instance is where scripts record, so that nothing else is in the buffer.
const instance = "ep_source"

// bench is what a case works with in a guest.
type bench struct {
	*vm.G
	fs   *tracefs.FS
	live *target.Target
}

// liveTarget is the kernel that runs, one for all cases: under emulation its type
// information takes a while to read.
var liveTarget = sync.OnceValues(func() (*target.Target, error) { return target.Open("live", os.DirFS("/")) })

// on makes a case that works on a bench.
func on(name string, match func(vm.Kernel) bool, run func(b *bench)) vm.Case {
	return vm.Case{Name: name, Match: match, Timeout: time.Minute, Run: func(g *vm.G) {
		f, err := tracefs.Open("")
		if err != nil {
			g.Fatalf("%v", err)
		}
		g.Cleanup(func() { _ = f.Close() })
		live, err := liveTarget()
		if err != nil {
			g.Fatalf("%v", err)
		}
		// The first process ever that Go starts has others started, to see what
		// the kernel can.
		if _, err := child(); err != nil {
			g.Fatalf("%v", err)
		}
		run(&bench{G: g, fs: f, live: live})
	}}
}

func every(vm.Kernel) bool { return true }

// joins reports whether a kernel has synthetic events, and with them all that
// is made of two events: Debian's 5.10 has not.
func joins(k vm.Kernel) bool { return k.AtLeast(6, 0) }

// fprobes reports whether a kernel has fprobes and raw tracepoints: x86_64 since
// v6.5, arm64 later.
func fprobes(k vm.Kernel) bool { return k.AtLeast(6, 5) && isX86(k) || k.AtLeast(6, 17) }

func isX86(k vm.Kernel) bool { return k.GoArch() == "amd64" }

// record is one record, its values as a person sees them.
type record struct {
	event  string
	tid    int
	names  []string
	values map[string]string
}

func (r record) String() string {
	s := fmt.Sprintf("%s[%d]", r.event, r.tid)
	for _, n := range r.names {
		s += " " + n + "=" + r.values[n]
	}
	return s
}

// records are those of a case.
type records struct {
	b    *bench
	list []record
	tid  int // the thread that worked
}

// compile compiles a script for the live kernel. What it warns of is logged.
func (b *bench) compile(text string) *plan.Plan {
	src, err := source.New("proof.ep", text)
	if err != nil {
		b.Fatalf("%v", err)
	}
	p, list := compiler.Compile(src, b.live, compiler.Options{Instance: instance})
	if len(list) > 0 {
		b.Logf("%s", rendered(list))
	}
	if p == nil || list.HasErrors() {
		b.Fatalf("does not compile:\n%s", text)
	}
	return p
}

// refused demands that a script be refused with errors of these codes, in order.
func (b *bench) refused(text string, codes ...diag.Code) {
	src, err := source.New("proof.ep", text)
	if err != nil {
		b.Fatalf("%v", err)
	}
	_, list := compiler.Compile(src, b.live, compiler.Options{Instance: instance})
	var got []diag.Code
	for _, d := range list {
		if d.Severity == diag.Error {
			got = append(got, d.Code)
		}
	}
	if !slices.Equal(got, codes) {
		b.Errorf("%s\ngot the errors %v, want %v:\n%s", text, got, codes, rendered(list))
	}
}

func rendered(list diag.List) string {
	var s strings.Builder
	_ = diag.Text(&s, list, diag.TextOptions{}) // a Builder takes all
	return strings.TrimSpace(s.String())
}

// run has a script in force while f works in a thread of its own, and returns
// what was recorded.
func (b *bench) run(text string, f func() error) records {
	b.Logf("%s", text)
	p := b.compile(text)
	for _, w := range p.Writes {
		b.Logf("%s > %s", w.Data, w.File)
	}
	a, err := apply.Apply(b.Context(), b.fs, p)
	if err != nil {
		b.Fatalf("%v", err)
	}
	defer func() {
		if err := a.Undo(); err != nil {
			b.Errorf("undo: %v", err)
		}
	}()
	r, err := events.Open(os.DirFS(b.fs.Dir()), p.Streams, events.Options{Instance: instance})
	if err != nil {
		b.Fatalf("%v", err)
	}
	defer func() { _ = r.Close() }() // it was only read
	out := records{b: b, tid: b.work(f)}
	if err := b.fs.Write(tracefs.In(instance, "tracing_on"), "0", tracefs.Truncate); err != nil {
		b.Fatalf("%v", err)
	}
	over, cancel := context.WithCancel(b.Context())
	cancel()
	for rec, err := range r.Records(over) {
		if err != nil {
			b.Fatalf("%v", err)
		}
		out.list = append(out.list, shown(rec))
	}
	return out
}

// work runs f in a thread that does nothing else, and returns its id. What the
// thread did before is taken out of the buffer.
func (b *bench) work(f func() error) int {
	up, start, done := make(chan int), make(chan struct{}), make(chan error, 1)
	go func() {
		runtime.LockOSThread() // without an unlock the thread ends with the goroutine
		up <- unix.Gettid()
		<-start
		done <- f()
	}()
	tid := <-up
	if err := b.fs.Write(tracefs.In(instance, "trace"), "\n", tracefs.Truncate); err != nil {
		b.Fatalf("%v", err)
	}
	close(start)
	select {
	case err := <-done:
		if err != nil {
			b.Fatalf("workload: %v", err)
		}
	case <-b.Context().Done():
		b.Fatalf("workload: not done in time")
	}
	return tid
}

// shown renders a record as it would be shown.
func shown(rec *events.Record) record {
	out := record{event: rec.Stream.Name, tid: int(rec.TID), values: map[string]string{}}
	if _, short, ok := strings.Cut(out.event, "."); ok {
		out.event = short
	}
	for i, f := range rec.Stream.Fields {
		out.names = append(out.names, f.Name)
		out.values[f.Name] = string(events.NewShape(f.Type).AppendText(nil, rec.Values[i], &events.Names{}, false))
	}
	return out
}

// of returns the values of the thread's records of an event, a line a record.
func (r records) of(event string, names ...string) []string {
	return r.by(event, r.tid, names...)
}

// by is of, for records of another thread; 0 stands for all.
func (r records) by(event string, tid int, names ...string) []string {
	var list []string
	for _, rec := range r.list {
		if rec.event != event || tid != 0 && rec.tid != tid {
			continue
		}
		var values []string
		for _, n := range names {
			v, ok := rec.values[n]
			if !ok {
				r.b.Fatalf("no field '%s' in %s", n, rec)
			}
			values = append(values, v)
		}
		list = append(list, strings.Join(values, " "))
	}
	return list
}

// want demands that the thread's records of an event have these values.
func (r records) want(event, names string, rows ...string) {
	r.wantBy(event, r.tid, names, rows...)
}

func (r records) wantBy(event string, tid int, names string, rows ...string) {
	got := r.by(event, tid, strings.Fields(names)...)
	if slices.Equal(got, rows) {
		return
	}
	r.b.Errorf("%s: %s:\ngot  %q\nwant %q\nof %s", event, names, got, rows, r)
}

func (r records) String() string {
	var s strings.Builder
	for i, rec := range r.list {
		if i == 20 {
			fmt.Fprintf(&s, "\nand %d more", len(r.list)-i)
			break
		}
		s.WriteString("\n" + rec.String())
	}
	if s.Len() == 0 {
		return "no records"
	}
	return s.String()
}

// child starts this very program as a process that ends at once, and returns its
// number. It is forked by the calling thread.
func child(args ...string) (pid int, err error) {
	p, err := os.StartProcess("/proc/self/exe", append([]string{"ep-child-program", childArg}, args...), &os.ProcAttr{})
	if err != nil {
		return 0, fmt.Errorf("start a process: %w", err)
	}
	_, err = p.Wait()
	return p.Pid, err
}

// scratch makes a file on a tmpfs and opens it.
func scratch(b *bench, name string, flags int) (path string, fd int, err error) {
	path = b.TempDir() + "/" + name
	if err := os.WriteFile(path, []byte("twelve bytes"), 0o640); err != nil {
		return "", -1, err
	}
	fd, err = unix.Open(path, flags|unix.O_CLOEXEC, 0)
	return path, fd, err
}
