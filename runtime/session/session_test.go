package session

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/runtime/hist"
)

func TestMain(m *testing.M) {
	Gate()
	os.Exit(m.Run())
}

func TestWordsAreTakenApart(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"cat /etc/passwd", []string{"cat", "/etc/passwd"}},
		{"  a\t b  ", []string{"a", "b"}},
		{`sh -c 'a "b" $c'`, []string{"sh", "-c", `a "b" $c`}},
		{`"a b"'c' d\ e "x\"y"`, []string{"a bc", "d e", `x"y`}},
		{`a '' ""`, []string{"a", "", ""}},
	} {
		if got, err := Words(c.line); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q and %v, want %q", c.line, got, err, c.want)
		}
	}
	for _, line := range []string{"", " ", "'a", `"a`, `a\`} {
		if got, err := Words(line); err == nil {
			t.Errorf("%s: got %q", line, got)
		}
	}
}

func TestProgramWaitsToBeLetGo(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh: ", err)
	}
	var out bytes.Buffer
	c, err := Start([]string{sh, "-c", "echo began as $$; exit 7"}, nil, &out, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	if c.code() != -1 {
		t.Errorf("it did not wait: code %d", c.code())
	}
	pid := c.pid()
	if err := c.release(); err != nil {
		t.Fatal(err)
	}
	<-c.ended()
	if c.code() != 7 {
		t.Errorf("code %d, want 7", c.code())
	}
	if !strings.HasPrefix(out.String(), "began as ") || !strings.Contains(out.String(), list([]int{pid})) {
		t.Errorf("got %q of process %d", out.String(), pid)
	}
}

func TestProgramThatWaitsIsStopped(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh: ", err)
	}
	var out bytes.Buffer
	c, err := Start([]string{sh, "-c", "echo began"}, nil, &out, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	c.Stop()
	if out.Len() != 0 {
		t.Errorf("it began: %q", out.String())
	}
	if _, err := Start([]string{"/no/such/program"}, nil, nil, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestFamilyIsAllThreadsBelow(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	proc := fstest.MapFS{
		"5/task/5/children": file("7 "), "5/task/6/children": file("8 99 "),
		"7/task/7/children": file(""), "8/task/8/children": file("9"), "9/task/9/comm": file("x"),
	}
	got, err := family(proc, 5)
	slices.Sort(got)
	if want := []int{5, 6, 7, 8, 9}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v and %v, want %v", got, err, want)
	}
	if _, err := family(proc, 99); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestTriggersAreGatedByACondition(t *testing.T) {
	p := &plan.Plan{Writes: []plan.Write{
		{File: "events/a/b/trigger", Instanced: true, Data: "traceoff:1", Undo: &plan.Write{File: "events/a/b/trigger", Data: "!traceoff:1"}},
		{File: "events/a/b/trigger", Instanced: true, Data: "stacktrace if x == 3", Undo: &plan.Write{Data: "!stacktrace if x == 3"}},
		{File: "events/a/b/trigger", Instanced: true, Data: "hist:keys=pid", Undo: &plan.Write{Data: "!hist:keys=pid"}},
		{File: "events/a/b/trigger", Instanced: true, Data: "!traceoff:1"},
	}}
	gateTriggers(p)
	for i, want := range []string{"traceoff:1 if common_pid >= 0", "stacktrace if x == 3", "hist:keys=pid", "!traceoff:1"} {
		got := p.Writes[i]
		if got.Data != want || got.Undo != nil && got.Undo.Data != "!"+want {
			t.Errorf("got %q and %+v, want %q", got.Data, got.Undo, want)
		}
	}
}

// failing is a writer that takes no more.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestOutputsReportWhatCannotBeWritten(t *testing.T) {
	full := errors.New("no space left on device")
	for name, o := range map[string]Output{"text": NewText(failing{full}, Format{}), "json": NewJSON(failing{full}, Format{})} {
		err := o.Begin(nil, nil)
		if err == nil {
			err = o.Snapshot(1, 0)
		}
		if !errors.Is(err, full) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// stopped is a reader that reads no more.
type stopped struct{ until chan struct{} }

func (s stopped) Write(b []byte) (int, error) {
	<-s.until
	return len(b), nil
}

func TestOutputThatNobodyReadsIsGivenUp(t *testing.T) {
	w := stopped{make(chan struct{})}
	defer close(w.until)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := Patient(ctx, w)
	for range 2 {
		if _, err := p.Write([]byte("x")); !errors.Is(err, ErrStuck) {
			t.Errorf("got %v, want ErrStuck", err)
		}
	}
	var out bytes.Buffer
	if n, err := Patient(ctx, &out).Write([]byte("abc")); n != 3 || err != nil || out.String() != "abc" {
		t.Errorf("got %d, %v and %q", n, err, out.String())
	}
}

func TestTablesTakeThePlaceOfThoseBefore(t *testing.T) {
	list := []*hist.Table{{Name: "a"}, {Name: "b"}}
	const drawn = "a: no events\n\nb: no events\n"
	for redraw, want := range map[bool]string{true: drawn + "\x1b[3A\x1b[J" + drawn, false: drawn + "\n" + drawn} {
		var out bytes.Buffer
		o := NewText(&out, Format{Redraw: redraw})
		for range 2 {
			if err := o.Tables(list, false); err != nil {
				t.Fatal(err)
			}
		}
		if out.String() != want {
			t.Errorf("redraw %v: got %q, want %q", redraw, out.String(), want)
		}
	}
}
