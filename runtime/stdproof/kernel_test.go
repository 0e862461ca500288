package stdproof

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/eptrace/ep/runtime/tracefs"
	"github.com/eptrace/ep/runtime/vm"
	"github.com/eptrace/ep/stdlib"
)

// module is a module of stdlib and how it is put to the test.
type module struct {
	// works reports whether a kernel can do it; nil: each that has eprobes.
	works func(vm.Kernel) bool
	// do makes happen what the module is about.
	do func(g *vm.G)
	// shows are what the output must have, as regular expressions.
	shows []string
}

func every(vm.Kernel) bool    { return true }
func modern(k vm.Kernel) bool { return k.AtLeast(6, 0) } // Debian's 5.10 has neither histograms nor eprobes
func stacks(k vm.Kernel) bool { return k.AtLeast(6, 3) }

// hasUserFaults: page_fault_user is an event of x86 alone, as far as these go.
func hasUserFaults(k vm.Kernel) bool { return modern(k) && k.Arch == "x86_64" }

// counts is a table that counted something.
func counts(table string) string { return `(?m)^` + table + `: [1-9]\d* events?$` }

// slots are rows of a histogram of times.
const slots = `[\d.]+[num]?s\.\.[\d.]+[num]?s +\d+ +([\d.]+% +)?\|`

var modules = map[string]module{
	"opens":     {do: failingOpen, shows: []string{`opens file=/nonexistent-by-ep flags=\S* ret=-ENOENT took=[\d.]+[num]?s`}},
	"deletes":   {do: failingDelete, shows: []string{`deletes file=/nonexistent-by-ep ret=-ENOENT`}},
	"mounts":    {do: mount, shows: []string{`mounts what=tmpfs place=/tmp/by-ep kind=tmpfs ret=0 took=`}},
	"execs":     {works: every, do: execute, shows: []string{`sched_process_exec filename=/init pid=\d+`, `sched_process_fork parent_pid=\d+ child_pid=\d+`, `sched_process_exit comm=\S+ pid=\d+`}},
	"signals":   {do: signalSelf, shows: []string{`signals sig=SIGURG to=1 target=\S+ from=\S+ result=`}},
	"oomkills":  {works: every, do: outOfMemory, shows: []string{`mark_victim pid=\d+`}},
	"tcpstates": {do: connect, shows: []string{`oldstate=TCP_SYN_SENT newstate=TCP_ESTABLISHED .*daddr=127\.0\.0\.1`}},
	"tcpretransmits": {works: every, do: unansweredConnect,
		shows: []string{`tcp_retransmit_skb state=\S+ sport=\d+ dport=\d+ saddr=127\.0\.0\.1 daddr=127\.0\.0\.1`}},
	"rss":    {do: touchMemory, shows: []string{`rss mm_id=\d+ member=\S+ size=\d+`}},
	"offcpu": {works: stacks, do: sleepALot, shows: []string{`offcpu pid=\d+ comm=\S+ slept=[\d.]+m?s stack=\S*nanosleep\S*schedule`}},

	"wakeups":     {do: sleepALot, shows: []string{counts("wait_by_size"), slots}},
	"runqueue":    {do: sleepALot, shows: []string{counts("waits"), `\n *\S+ +\d+ +[\d.]+[num]?s +[\d.]+[num]?s`}},
	"syscalls":    {works: modern, do: failingOpen, shows: []string{counts("calls"), `\n *openat +\d`}},
	"callers":     {do: failingOpen, shows: []string{counts("callers"), `\n *init +\d`}},
	"sysfails":    {works: modern, do: failingOpen, shows: []string{counts("fails"), `\n *openat +-ENOENT +\d`}},
	"syslatency":  {do: failingOpen, shows: []string{counts("latency"), `\n *openat +\d+ +[\d.]+[num]?s +[\d.]+[num]?s`}},
	"biolatency":  {do: readDisk, shows: []string{counts("by_time"), `dev=259:\d+`}},
	"irqs":        {do: readDisk, shows: []string{counts("handlers"), `\n *\d+ +\S*nvme\S* +\d+ +[\d.]+[num]?s`}},
	"softirqs":    {do: sleepALot, shows: []string{counts("kinds"), `\n *TIMER +\d+ +[\d.]+[num]?s`}},
	"kmallocs":    {works: modern, do: readFile, shows: []string{counts("kmallocs"), `\n *[a-z_]\S+\+0x\S+ +\d+ +\d+ +\d+`}},
	"drops":       {works: modern, do: sendToNobody, shows: []string{counts("drops"), `\n *NO_SOCKET +\S+ +\d`}},
	"faults":      {works: hasUserFaults, do: touchMemory, shows: []string{counts("faults"), `\n *init +\d{4,}`}},
	"futexes":     {do: waitForEachOther, shows: []string{counts("waits"), `futexes uaddr=\S+ op=\S+ ret=\S+ comm=\S+ wait=`}},
	"funclatency": {works: modern, do: readFile, shows: []string{counts("latency"), slots}},
	"workqueues":  {do: sleepALot, shows: []string{counts("waits"), counts("runs"), `\n *[a-z_]\w+ +\d+ +[\d.]+[num]?s`}},
	"timers":      {do: sleepALot, shows: []string{counts("timeouts"), `\n *[a-z_]\w+ +\d+ +[\d.]+[num]?s`}},
}

// Where the command ep and the program of testdata/outside are in a guest.
const (
	program = "/bin/ep-" + runtime.GOARCH
	outside = "/bin/outside-" + runtime.GOARCH
)

func cases() []vm.Case {
	out := []vm.Case{
		{Name: "first-record", Timeout: 2 * time.Minute, Match: modern, Run: firstRecord},
		{Name: "addresses", Timeout: 2 * time.Minute, Match: modern, Run: showAddresses},
		{Name: "snapshots", Timeout: 2 * time.Minute, Match: modern, Run: showSnapshots},
		{Name: "idle", Timeout: 2 * time.Minute, Match: modern, Run: runIdle},
		{Name: "guide", Timeout: 5 * time.Minute, Match: modern, Run: runGuide},
		{Name: "json", Timeout: 2 * time.Minute, Match: modern, Run: speakJSON},
		{Name: "library", Timeout: 2 * time.Minute, Match: modern, Run: useLibrary},
	}
	for _, path := range stdlib.Modules() {
		name := strings.TrimPrefix(path, stdlib.Prefix)
		m, ok := modules[name]
		out = append(out, vm.Case{Name: name, Timeout: 2 * time.Minute, Run: func(g *vm.G) {
			if !ok {
				g.Fatalf("no test for this module")
			}
			m.run(g, path)
		}})
	}
	return out
}

func TestMain(m *testing.M) {
	if os.Getenv(victimMark) != "" {
		victim()
	}
	os.Exit(vm.Main(m, cases()))
}

func TestKernels(t *testing.T) {
	machine := vm.Machine{Files: map[string]string{guideFile: "../../docs/guide.md"}}
	if os.Getenv("EP_KERNEL_TESTS") != "" {
		for _, arch := range []string{"amd64", "arm64"} {
			path, err := vm.BuildCommand(t.Context(), arch, "../../cmd/ep")
			if err != nil {
				t.Fatal(err)
			}
			machine.Files["/bin/ep-"+arch] = path
			machine.Files["/bin/outside-"+arch] = buildOutside(t, arch)
		}
	}
	machine.Test(t, cases())
}

// buildOutside builds the program of testdata/outside, which is of a module of
// its own.
func buildOutside(t *testing.T, arch string) string {
	path := filepath.Join(t.TempDir(), "outside-"+arch)
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".")
	cmd.Dir = "../../testdata/outside"
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build testdata/outside: %v\n%s", err, out)
	}
	return path
}

// useLibrary has a program that uses ep as a library compile, apply, read and
// take back.
func useLibrary(g *vm.G) {
	cmd := exec.CommandContext(g.Context(), outside)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		g.Fatalf("%v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				g.Fatalf("%v\n%s", err, &out)
			}
			for _, s := range []string{`(?m)^write dynamic_events: `, `(?m)^thread \d+ opened /nonexistent-by-ep: -2$`, `(?m)^opened by init: \d+$`} {
				if !regexp.MustCompile(s).Match(out.Bytes()) {
					g.Errorf("it does not print %s:\n%s", s, &out)
				}
			}
			nothingLeft(g)
			return
		case <-time.After(50 * time.Millisecond):
			failingOpen(g)
		}
	}
}

// run has `ep run` carry out a module, makes its thing happen until the output
// shows it, and demands that nothing is left in the kernel.
func (m module) run(g *vm.G, path string) {
	works := m.works
	if works == nil {
		works = modern
	}
	if !works(g.Kernel()) {
		m.refused(g, path)
		return
	}
	var missing string
	for deadline := time.Now().Add(80 * time.Second); time.Now().Before(deadline); {
		r := start(g, path)
		for range 3 {
			m.do(g)
			time.Sleep(300 * time.Millisecond) // a record is shown within 0.2 s
			if m.missing(r.shown(g)) == "" {
				break
			}
		}
		text := r.end(g)
		if missing = m.missing(text); missing == "" {
			g.Output("output.txt", []byte(text))
			nothingLeft(g)
			return
		}
		lines := strings.SplitAfter(text, "\n")
		g.Logf("not shown: %s; the output ends in\n%s", missing, strings.Join(lines[max(0, len(lines)-20):], ""))
	}
	g.Errorf("not shown: %s", missing)
}

// missing returns what is not in the output yet, "" if all is.
func (m module) missing(text string) string {
	for _, s := range m.shows {
		if !regexp.MustCompile(s).MatchString("\n" + text) {
			return s
		}
	}
	return ""
}

// refused demands that ep says of a module why this kernel cannot do it, with an
// error of the script and no try.
func (m module) refused(g *vm.G, path string) {
	out, err := exec.CommandContext(g.Context(), program, "run", path).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !bytes.Contains(out, []byte(path+":")) {
		g.Fatalf("want a refusal, got %v:\n%s", err, out)
	}
	nothingLeft(g)
	first, _, _ := strings.Cut(string(out), "\n")
	g.Skipf("refused, as it must be: %s", first)
}

func nothingLeft(g *vm.G) {
	f, err := tracefs.Open("")
	if err != nil {
		g.Fatalf("%v", err)
	}
	defer f.Close()
	if left, err := f.Read("dynamic_events"); err != nil || len(left) > 0 {
		g.Errorf("left behind: %q, %v", left, err)
	}
	if left, err := f.Instances(); err != nil || len(left) > 0 {
		g.Errorf("instances left behind: %q, %v", left, err)
	}
}

// running is an `ep run` that traces.
type running struct {
	cmd    *exec.Cmd
	stdout string // the file that it prints to
	stderr *waiter
}

// start starts ep run and returns when it traces.
func start(g *vm.G, args ...string) *running {
	r := &running{stdout: filepath.Join(g.TempDir(), "stdout"), stderr: &waiter{seen: make(chan struct{})}}
	out, err := os.Create(r.stdout)
	if err != nil {
		g.Fatalf("%v", err)
	}
	defer out.Close()
	r.cmd = exec.CommandContext(g.Context(), program, append([]string{"run"}, args...)...)
	r.cmd.Stdout, r.cmd.Stderr = out, r.stderr
	if err := r.cmd.Start(); err != nil {
		g.Fatalf("%v", err)
	}
	select {
	case <-r.stderr.seen:
	case <-time.After(30 * time.Second):
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait() // it was killed
		g.Fatalf("ep run %s does not trace:\n%s", strings.Join(args, " "), r.stderr.text.String())
	}
	return r
}

// shown returns what was printed so far.
func (r *running) shown(g *vm.G) string {
	text, err := os.ReadFile(r.stdout)
	if err != nil {
		g.Fatalf("%v", err)
	}
	return string(text)
}

// end interrupts the run, as Ctrl-C does, and returns all that it printed.
func (r *running) end(g *vm.G) string {
	_ = r.cmd.Process.Signal(os.Interrupt)
	var exit *exec.ExitError
	if err := r.cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		g.Errorf("the end of the run: %v\n%s", err, r.stderr.text.String())
	}
	return r.shown(g)
}

// waiter keeps what ep says and tells when it traces.
type waiter struct {
	seen chan struct{}
	text bytes.Buffer
	told bool
}

func (w *waiter) Write(p []byte) (int, error) {
	w.text.Write(p)
	if !w.told && strings.Contains(w.text.String(), "ep: tracing") {
		w.told = true
		close(w.seen)
	}
	return len(p), nil
}

// firstRecord measures how long it takes from the first open until std/opens
// shows it.
func firstRecord(g *vm.G) {
	begun := time.Now()
	r := start(g, stdlib.Prefix+"opens")
	traces := time.Since(begun)
	opened := time.Now()
	failingOpen(g)
	for !strings.Contains(r.shown(g), nowhere) {
		if time.Since(opened) > 30*time.Second {
			g.Fatalf("no record:\n%s", r.stderr.text.String())
		}
		time.Sleep(time.Millisecond)
	}
	took := time.Since(opened)
	r.end(g)
	nothingLeft(g)
	told := fmt.Sprintf("ep run std/opens traces %v after its start and shows the first open %v after it",
		traces.Round(time.Millisecond), took.Round(time.Millisecond))
	g.Logf("%s", told)
	if took > time.Second {
		g.Errorf("%s; want at most 1s", told)
	}
}
