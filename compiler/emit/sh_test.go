package emit_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexops/autogold/v2"

	"github.com/eptrace/ep/compiler/emit"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/types"
)

func standalone(t *testing.T, p *plan.Plan, m emit.Machine) string {
	t.Helper()
	var b strings.Builder
	if err := emit.Sh(&b, p, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestStandaloneScript(t *testing.T) {
	p := example(t)
	p.Tables = []plan.Table{{Name: "hot", Hists: []plan.Hist{{Group: "sched", Event: "sched_switch"}}}}
	autogold.ExpectFile(t, autogold.Raw(standalone(t, p, emit.Machine{Release: "6.17.13", Arch: "arm64"})))
}

// TestShellcheckIsContent asks the one who knows what shells differ in.
func TestShellcheckIsContent(t *testing.T) {
	path, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not installed")
	}
	small := example(t)
	small.Writes, small.Streams, small.Instance = small.Writes[:1], nil, ""
	for _, p := range []*plan.Plan{example(t), small, {}} {
		file := filepath.Join(t.TempDir(), "script.sh")
		if err := os.WriteFile(file, []byte(standalone(t, p, emit.Machine{Release: "6.17.13", Arch: "x86_64"})), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(path, "--shell=sh", file).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// machine is a folder that looks like tracefs as far as a script looks.
type machine struct {
	t                *testing.T
	tracefs, state   string
	shell, script    string
	stdout, messages string
}

func newMachine(t *testing.T, shell string, p *plan.Plan) *machine {
	t.Helper()
	m := &machine{t: t, tracefs: t.TempDir(), state: t.TempDir(), shell: shell}
	for name, text := range map[string]string{
		"events/a/b/enable": "1*\n", "trace_clock": "local [mono] global\n", "set_event_pid": "12\n34\n",
		"dynamic_events": "others\n", "it's a $file": "", "tracing_on": "1\n", "trace": "# tracer: nop\n",
		"events/a/b/filter": "pid > 1\n", "error_log": "[    1.000000] old: error: Old\n  Command: x\n           ^\n",
	} {
		file := filepath.Join(m.tracefs, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m.script = filepath.Join(t.TempDir(), "script.sh")
	if err := os.WriteFile(m.script, []byte(standalone(t, p, emit.Machine{})), 0o644); err != nil {
		t.Fatal(err)
	}
	return m
}

// run runs the script and returns its exit code.
func (m *machine) run(word string) int {
	m.t.Helper()
	args := []string{m.script, word}
	if filepath.Base(m.shell) == "busybox" {
		args = append([]string{"sh"}, args...)
	}
	cmd := exec.Command(m.shell, args...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(os.Environ(), "TRACEFS="+m.tracefs, "EP_STATE="+m.state)
	err := cmd.Run()
	m.stdout, m.messages = stdout.String(), stderr.String()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return 0
}

func (m *machine) file(name string) string {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.tracefs, name))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(text)
}

// empty fails the test unless the state is gone.
func (m *machine) empty() {
	m.t.Helper()
	if left, err := os.ReadDir(m.state); err != nil || len(left) > 0 {
		m.t.Errorf("state is left: %v, %v", left, err)
	}
}

func shells(t *testing.T, f func(t *testing.T, shell string)) {
	ran := false
	for _, name := range []string{"dash", "busybox", "mksh", "ksh", "bash", "sh"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		ran = true
		t.Run(name, func(t *testing.T) { f(t, path) })
	}
	if !ran {
		t.Skip("no POSIX shell here")
	}
}

// oneValue sets file to data and back to undo.
func oneValue(file, data, undo string) plan.Write {
	return plan.Write{File: file, Data: data, Mode: plan.Truncate, Undo: &plan.Write{File: file, Data: undo, Mode: plan.Truncate}}
}

func TestStartAndStopGiveBackWhatFilesHeld(t *testing.T) {
	data := `\n %s $HOME 'it''s' "x" \1`
	p := &plan.Plan{Writes: []plan.Write{
		oneValue("trace_clock", "global", "local"),
		oneValue("set_event_pid", "", ""),
		oneValue("events/a/b/enable", "1", "0"),
		oneValue("events/a/b/filter", "x", "0"),
		{File: "it's a $file", Data: data, Undo: &plan.Write{File: "it's a $file", Data: "!" + data}},
	}}
	shells(t, func(t *testing.T, shell string) {
		m := newMachine(t, shell, p)
		if code := m.run("status"); code != 3 || m.stdout != "ep is off\n" {
			t.Errorf("status before: %d, %q", code, m.stdout)
		}
		if code := m.run("start"); code != 0 || m.messages != "" {
			t.Fatalf("start: %d, %s", code, m.messages)
		}
		for name, want := range map[string]string{"trace_clock": "global", "set_event_pid": "", "it's a $file": data} {
			if got := m.file(name); got != want {
				t.Errorf("%s holds %q, want %q", name, got, want)
			}
		}
		if code := m.run("start"); code != 0 || !strings.Contains(m.messages, "is on already") {
			t.Errorf("second start: %d, %s", code, m.messages)
		}
		if code := m.run("status"); code != 0 || m.stdout != "ep is on\n" {
			t.Errorf("status: %d, %q", code, m.stdout)
		}
		if code := m.run("stop"); code != 0 || m.messages != "" {
			t.Fatalf("stop: %d, %s", code, m.messages)
		}
		for name, want := range map[string]string{
			"trace_clock": "mono", "set_event_pid": "12 34 ", "events/a/b/enable": "1", "events/a/b/filter": "pid > 1",
			"it's a $file": data + "!" + data, "dynamic_events": "others\n",
		} {
			if got := m.file(name); got != want {
				t.Errorf("after: %s holds %q, want %q", name, got, want)
			}
		}
		m.empty()
		if code := m.run(""); code != 2 || !strings.HasPrefix(m.messages, "usage: ") {
			t.Errorf("no word: %d, %s", code, m.messages)
		}
	})
}

func TestFailedStartGoesBack(t *testing.T) {
	p := &plan.Plan{Writes: []plan.Write{
		oneValue("trace_clock", "global", "local"),
		{File: "dynamic_events", Data: "e:a/c a.b", Undo: &plan.Write{File: "dynamic_events", Data: "-:a/c"}},
		{File: "no/such/file", Data: "bad"},
		oneValue("events/a/b/enable", "0", "1"),
	}}
	shells(t, func(t *testing.T, shell string) {
		m := newMachine(t, shell, p)
		if code := m.run("start"); code != 1 {
			t.Fatalf("start: exit code %d, %s", code, m.messages)
		}
		for _, want := range []string{"refused what a script became", "\tbad\n", "no/such/file", "everything has been taken back"} {
			if !strings.Contains(m.messages, want) {
				t.Errorf("no %q in %s", want, m.messages)
			}
		}
		if strings.Contains(m.messages, "Old") {
			t.Errorf("an old refusal is shown: %s", m.messages)
		}
		if got := m.file("trace_clock"); got != "mono" {
			t.Errorf("the clock is %q", got)
		}
		if got := m.file("events/a/b/enable"); got != "1*\n" {
			t.Errorf("what comes after the failure was done: %q", got)
		}
		m.empty()
	})
}

func TestReadPausesRecording(t *testing.T) {
	p := example(t)
	p.Instance, p.Writes = "", nil
	shells(t, func(t *testing.T, shell string) {
		m := newMachine(t, shell, p)
		if code := m.run("read"); code != 1 {
			t.Errorf("read before start: exit code %d", code)
		}
		m.run("start")
		if code := m.run("read"); code != 0 || m.stdout != "# tracer: nop\n" || m.file("tracing_on") != "1" {
			t.Errorf("read: %d, %q, tracing_on %q, %s", code, m.stdout, m.file("tracing_on"), m.messages)
		}
		m.run("stop")
		m.empty()
	})
}

// TestReadSaysWhatTheScriptMeans: the kernel has sums of nanoseconds without a sign,
// where the script has averages, units and signs.
func TestReadSaysWhatTheScriptMeans(t *testing.T) {
	ns := types.Duration{Size: 8}
	p := &plan.Plan{
		Writes: []plan.Write{oneValue("trace_clock", "global", "local"), {File: "events/a/b/trigger", Data: "snapshot"}},
		Streams: []plan.Stream{{Group: "a", Event: "b", Fields: []plan.Field{{Name: "lat", Type: ns}, {Name: "to", Type: types.Int{Size: 4, Form: types.IP}}}},
			{Group: "a", Event: "f", Hidden: []string{"at_p", "end"}, Fields: []plan.Field{{Name: "n", Type: types.Int{Size: 8}, Through: []string{"at_p", "q"}}, {Name: "q", Type: types.Int{Size: 8}}}}},
		Tables: []plan.Table{{Name: "times", Hists: []plan.Hist{{Group: "a", Event: "b"}},
			Keys: []plan.Column{{Name: "port", Kernel: "port", Type: types.Int{Size: 2, Form: types.BE}}, {Name: "comm", Kernel: "comm", Type: types.String{}}},
			Values: []plan.Column{
				{Name: "avg", Kernel: "avg", Type: ns, Mean: true}, {Name: "total", Kernel: "avg", Type: ns},
				{Name: "off", Kernel: "off", Type: types.Int{Size: 8, Signed: true}}, {Name: "drift", Kernel: "off", Type: types.Int{Size: 8, Signed: true}, Mean: true},
			}}},
	}
	shells(t, func(t *testing.T, shell string) {
		m := newMachine(t, shell, p)
		for name, text := range map[string]string{
			"events/a/b/trigger": "",
			"events/a/b/hist": "# event histogram\n#\n\n" +
				"{ port:      47873, comm: } hitcount: 9  avg: 9 } hitcount:          3  avg:      24691  off: 18446744073709551609\n" +
				"{ port:          5, comm: b                   } hitcount:          2  avg: 4000000000000000000  off:          7\n" +
				"{ port:          6, comm: c                   } hitcount:          1  avg:          0  off: 9223372036854775808\n" +
				"\nTotals:\n    Hits: 5\n",
			"snapshot": "# tracer: nop\n#\n#\n# * Snapshot is allocated *\n#\n# Snapshot commands:\n",
		} {
			if err := os.WriteFile(filepath.Join(m.tracefs, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if code := m.run("start"); code != 0 {
			t.Fatalf("start: %d, %s", code, m.messages)
		}
		if code := m.run("read"); code != 0 || m.messages != "" {
			t.Fatalf("read: %d, %s", code, m.messages)
		}
		for _, want := range []string{
			"# b: lat is in ns, to is ip, with its bytes in reverse order\n" +
				"# f: n was not read if at_p or q leads nowhere, (fault) and an address in the first or last 4096 bytes lead nowhere, not of the script: at_p end\n# tracer: nop\n",
			"\n# snapshot\n# tracer: nop\n#\n#\n# none was taken, or it has no records\n\n",
			"\n# times: port is be16, with its bytes in reverse order\n",
			"comm: } hitcount: 9  avg: 9 } hitcount: 3  avg: 8230.33ns  total: 24691ns  off: -7  drift: -2.33\n",
			"} hitcount: 2  avg: 4000000000000000000/2 ns  total: 4000000000000000000ns  off: 7  drift: 3.50\n",
			"} hitcount: 1  avg: 0.00ns  total: 0ns  off: -9223372036854775808  drift: -9223372036854775808/1 \n",
			"\nTotals:\n    Hits: 5\n",
		} {
			if !strings.Contains(m.stdout, want) {
				t.Errorf("no %q in\n%s", want, m.stdout)
			}
		}
		if code := m.run("stop"); code != 0 {
			t.Errorf("stop: %d, %s", code, m.messages)
		}
	})
}
