package stdproof

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/hist"
	"github.com/eptrace/ep/runtime/tracefs"
	"github.com/eptrace/ep/runtime/vm"
	"github.com/eptrace/ep/stdlib"
)

// module is a module of stdlib and how it is put to the test.
type module struct {
	// works reports whether a kernel can do it; nil: each that has synthetic
	// events and eprobes.
	works func(vm.Kernel) bool
	// do makes happen what the module is about.
	do func(g *vm.G)
	// record is text that one of the records must have; "" if the module has no
	// records that must come.
	record string
	// tables says that each histogram must have a row.
	tables bool
}

func modern(k vm.Kernel) bool { return k.AtLeast(6, 0) }
func every(vm.Kernel) bool    { return true }

var modules = map[string]module{
	"opens":          {do: failingOpen, record: `file="/nonexistent-by-ep"`},
	"deletes":        {do: failingDelete, record: `file="/nonexistent-by-ep"`},
	"mounts":         {do: mount, record: `place="/tmp/by-ep"`},
	"execs":          {do: execute, record: `filename="/init"`},
	"wakeups":        {do: sleepALot, tables: true},
	"runqueue":       {do: sleepALot, tables: true},
	"offcpu":         {works: func(k vm.Kernel) bool { return k.AtLeast(6, 3) }, do: sleepALot, record: "slept="},
	"syscalls":       {works: modern, do: failingOpen, tables: true},
	"callers":        {do: failingOpen, tables: true},
	"sysfails":       {works: modern, do: failingOpen, tables: true},
	"syslatency":     {do: failingOpen, tables: true},
	"biolatency":     {do: readDisk, tables: true},
	"irqs":           {do: readDisk, tables: true},
	"softirqs":       {do: sleepALot, tables: true},
	"kmallocs":       {works: modern, do: failingOpen, tables: true},
	"tcpretransmits": {do: unansweredConnect, record: "dport="},
	"tcpstates":      {do: connect, record: "newstate="},
	"drops":          {works: modern, do: sendToNobody, tables: true},
	"faults":         {works: func(k vm.Kernel) bool { return modern(k) && k.Arch == "x86_64" }, do: touchMemory, tables: true},
	"signals":        {do: signalSelf, record: "from="},
	"oomkills":       {do: nothing},
	"futexes":        {do: sleepALot, tables: true},
	"funclatency":    {do: readFile, tables: true},
	"workqueues":     {do: sleepALot, tables: true},
	"timers":         {do: sleepALot, tables: true},
	"rss":            {do: touchMemory, record: "size="},
}

func cases() []vm.Case {
	var out []vm.Case
	for _, path := range stdlib.Modules() {
		name := strings.TrimPrefix(path, stdlib.Prefix)
		m, ok := modules[name]
		out = append(out, vm.Case{Name: name, Timeout: time.Minute, Run: func(g *vm.G) {
			if !ok {
				g.Fatalf("no test for this module")
			}
			m.run(g, path)
		}})
	}
	return out
}

func TestMain(m *testing.M) { os.Exit(vm.Main(m, cases())) }

func TestKernels(t *testing.T) { vm.Test(t, cases()) }

// run applies a module in an instance, makes its thing happen until it is seen,
// and takes it back.
func (m module) run(g *vm.G, path string) {
	f, err := tracefs.Open("")
	if err != nil {
		g.Fatalf("%v", err)
	}
	defer f.Close()
	p := m.compile(g, path)
	if p == nil {
		return
	}
	a, err := apply.Apply(g.Context(), f, p)
	if err != nil {
		g.Fatalf("apply: %v", err)
	}
	defer func() {
		if err := a.Undo(); err != nil {
			g.Errorf("undo: %v", err)
		}
		if left, err := f.Read("dynamic_events"); err != nil || len(left) > 0 {
			g.Errorf("left behind: %q, %v", left, err)
		}
	}()
	missing := "nothing tried"
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		m.do(g)
		if missing = m.missing(g, f, p); missing == "" {
			return
		}
	}
	text, _ := f.Read(tracefs.In(p.Instance, "trace"))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	g.Errorf("not seen: %s; the last records:\n%s", missing, strings.Join(lines[max(0, len(lines)-5):], "\n"))
}

// compile compiles a module for the guest's kernel; nil if that refuses it, as
// it must.
func (m module) compile(g *vm.G, path string) *plan.Plan {
	text, _ := stdlib.Module(path)
	src, err := source.New(path, text)
	if err != nil {
		g.Fatalf("%v", err)
	}
	live, err := target.Open("live", os.DirFS("/"))
	if err != nil {
		g.Fatalf("%v", err)
	}
	p, list := compiler.Compile(src, live, compiler.Options{Instance: "stdproof"})
	works := m.works
	if works == nil {
		works = modern
	}
	var told strings.Builder
	_ = diag.Text(&told, list, diag.TextOptions{})
	switch {
	case p == nil && works(g.Kernel()):
		g.Fatalf("refused:\n%s", &told)
	case p == nil:
		g.Skipf("refused, as it must be: %s", list[0].Message)
	}
	return p
}

// missing says what of the module's is not seen yet; "" if all is.
func (m module) missing(g *vm.G, f *tracefs.FS, p *plan.Plan) string {
	if m.record != "" {
		text, err := f.Read(tracefs.In(p.Instance, "trace"))
		if err != nil {
			g.Fatalf("%v", err)
		}
		if !strings.Contains(string(text), m.record) {
			return "a record with " + m.record
		}
	}
	if !m.tables {
		return ""
	}
	if len(p.Tables) == 0 {
		return "a histogram"
	}
	i := slices.IndexFunc(p.Tables, func(t plan.Table) bool {
		got, err := hist.Read(f.FS(), p.Instance, t)
		if err != nil {
			g.Fatalf("%v", err)
		}
		return len(got.Rows) == 0
	})
	if i >= 0 {
		return "rows of the histogram " + p.Tables[i].Name
	}
	return ""
}
