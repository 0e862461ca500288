// Package uprobeproof asks kernels whether what compiler/object says of
// programs is so: probes are set at the offsets that it computes, by the lines
// that compiler/command prints, and what they record is compared with what the
// programs were made to do. It has tests alone; read this file first.
package uprobeproof

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/object"
	"github.com/eptrace/ep/runtime/vm"
)

func TestMain(m *testing.M) { os.Exit(vm.Main(m, cases)) }

func TestKernels(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"loose-x86_64", "program-x86_64", "program-i386", "loose-arm64"} {
		files["/programs/"+name] = filepath.Join("../../compiler/object/testdata", name)
	}
	vm.Machine{Files: files}.Test(t, cases)
}

var cases = []vm.Case{
	{Name: "go", Run: probeInit},
	{Name: "function", Run: func(g *vm.G) { probeFunction(g, loose(g)) }},
	{Name: "usdt", Run: func(g *vm.G) { probeStatic(g, loose(g)) }},
	{Name: "fileoffset", Run: probeFileOffset},
	{Name: "fixed", Match: isX86, Run: func(g *vm.G) {
		probeFunction(g, "program-x86_64")
		probeStatic(g, "program-x86_64")
	}},
	{Name: "i386", Match: isX86, Run: func(g *vm.G) { probeFunction(g, "program-i386") }},
}

func isX86(k vm.Kernel) bool { return k.GoArch() == "amd64" }

// loose returns the position-independent program of the guest's architecture.
func loose(g *vm.G) string {
	if isX86(g.Kernel()) {
		return "loose-x86_64"
	}
	return "loose-arm64"
}

const tracefs = "/sys/kernel/tracing/"

// rounds is how often program.c goes round its loop.
const rounds = 10

// appendLine adds a line to a file of tracefs.
func appendLine(name, line string) error {
	f, err := os.OpenFile(tracefs+name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// record sets probes, runs do, and returns the records as "event: fields".
func record(g *vm.G, probes []*command.Uprobe, do func()) []string {
	g.Logf("%d probes", len(probes))
	for _, u := range probes {
		u.Group = "proof"
		if err := command.Check(u); err != nil {
			g.Fatalf("%v", err)
		}
		line, _ := command.Print(u)
		g.Logf("%s", line)
		if err := appendLine(u.File(), line); err != nil {
			log, _ := os.ReadFile(tracefs + "error_log")
			g.Fatalf("%s: %v\n%s", line, err, log)
		}
	}
	if err := os.WriteFile(tracefs+"trace", nil, 0); err != nil {
		g.Fatalf("clear the trace: %v", err)
	}
	if err := appendLine("events/proof/enable", "1"); err != nil {
		g.Fatalf("enable: %v", err)
	}
	do()
	if err := appendLine("events/proof/enable", "0"); err != nil {
		g.Fatalf("disable: %v", err)
	}
	trace, err := os.ReadFile(tracefs + "trace")
	if err != nil {
		g.Fatalf("read the trace: %v", err)
	}
	for _, u := range probes {
		line, _ := command.Print(&command.Delete{EventName: u.EventName})
		if err := appendLine(u.File(), line); err != nil {
			g.Errorf("%s: %v", line, err)
		}
	}
	var records []string
	for _, m := range recordLine.FindAllStringSubmatch(string(trace), -1) {
		records = append(records, m[1]+": "+m[2])
	}
	if len(records) == 0 {
		g.Fatalf("nothing was recorded:\n%s", trace)
	}
	return records
}

// recordLine is `COMM-PID [CPU] FLAGS TIME: EVENT: (ADDRESS) FIELDS`, at a
// return with `(TO <- FROM)`.
var recordLine = regexp.MustCompile(`(?m): (\w+): \(0x[0-9a-f]+(?: <- 0x[0-9a-f]+)?\) ?(.*)$`)

// compare fails the case if the records are not those wanted.
func compare(g *vm.G, got, want []string) {
	for i := range max(len(got), len(want)) {
		a, b := "(none)", "(none)"
		if i < len(got) {
			a = got[i]
		}
		if i < len(want) {
			b = want[i]
		}
		if a != b {
			g.Errorf("record %d: got  %s", i, a)
			g.Errorf("record %d: want %s", i, b)
		}
	}
}

// program lays a program of /programs where it may be run, and opens it.
func program(g *vm.G, name string) (path string, f *object.File) {
	data, err := os.ReadFile("/programs/" + name)
	if err != nil {
		g.Fatalf("read the program: %v", err)
	}
	path = filepath.Join(g.TempDir(), name)
	if err := os.WriteFile(path, data, 0o755); err != nil {
		g.Fatalf("lay the program: %v", err)
	}
	f, err = object.Open(os.DirFS("/"), path)
	if err != nil {
		g.Fatalf("%v", err)
	}
	return f.Path(), f
}

// run runs a program and returns its exit code.
func run(g *vm.G, path string) int {
	err := exec.Command(path).Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		return exit.ExitCode()
	}
	if err != nil {
		g.Fatalf("run: %v", err)
	}
	return 0
}

// probeFunction records the arguments of nine(), by registers and stack, and
// what its pointers point to.
func probeFunction(g *vm.G, name string) {
	path, f := program(g, name)
	sym, err := f.Function("nine")
	if err != nil {
		g.Fatalf("%v", err)
	}
	params, _, err := f.Params(sym)
	if err != nil || len(params) != 9 {
		g.Fatalf("got %d parameters and %v: want 9", len(params), err)
	}
	kinds := []string{"s32", "u8", "", "", "u32", "u8", "s32", "u16", "s32"}
	u := &command.Uprobe{EventName: command.EventName{Name: "nine"}, Path: path, Offset: sym.Offset}
	for i, p := range params {
		if p.Fetch == nil {
			g.Fatalf("parameter '%s' has no place", p.Name)
		}
		arg := func(name, kind string, fetch command.Fetch) {
			u.Args = append(u.Args, command.Arg{Name: name, Fetch: fetch, Type: command.FetchType{Base: kind}})
		}
		switch {
		case f.Arch().WordSize() == 4 && kinds[i] == "":
			// An inner dereference reads a word of the kernel's, twice what a
			// pointer of this program is.
		case p.Name == "text":
			arg("text", "string", command.Deref{X: p.Fetch})
		case p.Name == "p":
			arg("x", "s32", command.Deref{X: p.Fetch})
			arg("y", "s32", command.Deref{Off: 4, X: p.Fetch})
		default:
			arg(p.Name, kinds[i], p.Fetch)
		}
	}
	back := &command.Uprobe{EventName: command.EventName{Name: "back"}, Path: path, Offset: sym.Offset, Return: true,
		Args: []command.Arg{{Name: "ret", Fetch: command.RetVal{}, Type: command.FetchType{Base: "s32"}}}}
	got := record(g, []*command.Uprobe{u, back}, func() {
		if raised := run(g, path); raised != 0 {
			g.Errorf("the semaphore was raised %d times, though its probe was not set", raised)
		}
	})
	var want []string
	for n := range rounds {
		pointers := fmt.Sprintf(`text="ep was here" x=%d y=%d `, n, 2*n)
		if f.Arch().WordSize() == 4 {
			pointers = ""
		}
		want = append(want, fmt.Sprintf("nine: a=%d b=200 %sc=5 d=1 e=%d f=65535 g=-5", n, pointers, 1000+n))
		ret := n + 200 + 'e' + n + 2*n + 5 + 1 + 1000 + n + 65535 - 5
		want = append(want, fmt.Sprintf("back: ret=%d", ret))
	}
	compare(g, got, want)
}

// probeStatic records the arguments of static probes at all their sites, and
// has the program tell how often it saw its semaphore raised.
func probeStatic(g *vm.G, name string) {
	path, f := program(g, name)
	names, err := f.Probes()
	if err != nil {
		g.Fatalf("%v", err)
	}
	var probes []*command.Uprobe
	for _, full := range names {
		provider, name, _ := strings.Cut(full, ":")
		sites, err := f.USDT(provider, name)
		if err != nil {
			g.Fatalf("%v", err)
		}
		for i, site := range sites {
			u := &command.Uprobe{EventName: command.EventName{Name: fmt.Sprintf("%s%d", name, i)}, Path: path, Offset: site.Offset, RefCtr: site.RefCtr}
			for i, a := range site.Args {
				if a.Err != nil {
					g.Fatalf("%v", a.Err)
				}
				if name == "loop" && i == 1 {
					a.Fetch, a.Type = command.Deref{X: a.Fetch}, command.FetchType{Base: "string"}
				}
				u.Args = append(u.Args, command.Arg{Name: fmt.Sprintf("a%d", i), Fetch: a.Fetch, Type: a.Type})
			}
			probes = append(probes, u)
		}
	}
	got := record(g, probes, func() {
		if raised := run(g, path); raised != rounds {
			g.Errorf("the semaphore was raised %d times: want %d", raised, rounds)
		}
	})
	if raised := run(g, path); raised != 0 {
		g.Errorf("the semaphore was raised %d times after its probe was removed", raised)
	}
	// The compiler laid the site for even numbers first, which has the number
	// negative.
	var want []string
	total := 0
	for n := range rounds {
		total += n + 200 + 'e' + n + 2*n + 5 + 1 + 1000 + n + 65535 - 5
		want = append(want, fmt.Sprintf(`loop0: a0=%d a1="ep was here" a2=5 a3=%d`, n, -n))
		if n%2 == 0 {
			want = append(want, fmt.Sprintf("odd0: a0=%d", -n))
		} else {
			want = append(want, fmt.Sprintf("odd1: a0=%d", n))
		}
		want = append(want, fmt.Sprintf("global0: a0=%d a1=7 a2=%d", total, n))
	}
	compare(g, got, want)
}

// probeFileOffset shows why compiler/object does not say @+N for the data of a
// program that is loaded anywhere: kernels read what is at N from where the
// file's begin would be in memory, and some builds of v6.17 at twice N. From
// the probe's own address all read the right place.
func probeFileOffset(g *vm.G) {
	path, f := program(g, loose(g))
	sites, err := f.USDT("ep", "global")
	if err != nil {
		g.Fatalf("%v", err)
	}
	level, ok := sites[0].Args[1].Fetch.(command.Deref)
	if !ok {
		g.Fatalf("got %+v: want memory", sites[0].Args[1])
	}
	s32 := command.FetchType{Base: "s32"}
	u := &command.Uprobe{EventName: command.EventName{Name: "level"}, Path: path, Offset: sites[0].Offset, Args: []command.Arg{
		{Name: "ours", Fetch: level, Type: s32},
		{Name: "kernels", Fetch: command.FileAt{Off: sites[0].Offset + uint64(level.Off)}, Type: s32},
	}}
	for _, r := range record(g, []*command.Uprobe{u}, func() { run(g, path) }) {
		switch r {
		case "level: ours=7 kernels=7":
		default:
			if !strings.HasPrefix(r, "level: ours=7 ") || g.Kernel().Series != "6.17" {
				g.Errorf("got %s: want ours=7 kernels=7", r)
			}
			g.Logf("this kernel misreads @+N: %s", r)
			return
		}
	}
}

//go:noinline
func probed(a int32, b uint64, c *[2]uint16, d byte) uint64 {
	return uint64(a) + b + uint64(c[1]) + uint64(d)
}

var sum uint64

// probeInit probes this very program, which is /init, and of Go.
func probeInit(g *vm.G) {
	f, err := object.Open(os.DirFS("/"), "/proc/self/exe")
	if err != nil {
		g.Fatalf("%v", err)
	}
	sym, err := f.Function("github.com/eptrace/ep/runtime/uprobeproof.probed")
	if err != nil {
		g.Fatalf("%v", err)
	}
	if !sym.Go || f.Path() != "/init" {
		g.Fatalf("got %s, %+v: want a function of Go in /init", f.Path(), sym)
	}
	u := &command.Uprobe{EventName: command.EventName{Name: "probed"}, Path: f.Path(), Offset: sym.Offset}
	for i, kind := range []string{"s32", "u64", "u16", "u8"} {
		fetch, ok := f.ArgFetch(sym, i+1)
		if !ok {
			g.Fatalf("argument %d has no place", i+1)
		}
		if kind == "u16" {
			fetch = command.Deref{Off: 2, X: fetch}
		}
		u.Args = append(u.Args, command.Arg{Name: fmt.Sprintf("a%d", i), Fetch: fetch, Type: command.FetchType{Base: kind}})
	}
	var want []string
	got := record(g, []*command.Uprobe{u}, func() {
		for i := range rounds {
			sum += probed(int32(-i), 1<<40, &[2]uint16{1, uint16(i) + 7}, 200)
			want = append(want, fmt.Sprintf("probed: a0=%d a1=%d a2=%d a3=200", -i, 1<<40, i+7))
		}
	})
	compare(g, got, want)
}
