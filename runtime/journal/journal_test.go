package journal

import (
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

func newDir(t *testing.T) *Dir {
	t.Helper()
	d, err := OpenDir(filepath.Join(t.TempDir(), "ep"), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func TestWhatIsNotedIsRead(t *testing.T) {
	d := newDir(t)
	w, err := d.Create("run-1", Head{Kind: Run, Name: "x.ep", Owner: Process{PID: 3, Start: 4}})
	if err != nil {
		t.Fatal(err)
	}
	held := "local"
	steps := []Step{
		{Kind: Instance, File: "instances/a"},
		{Kind: Command, File: "dynamic_events", Data: "e:a/b c.d <&>", Undo: &Undo{Data: "-:a/b"}, Line: 7},
		{Kind: Value, File: "trace_clock", Data: "global", Held: &held},
	}
	for _, err := range []error{w.Plan(steps[:2]), w.Begin(0, 2), w.Done(0, 1), w.Plan(steps[2:]), w.Begin(2, 3), w.Done(2, 3), w.Undone(2, 3), w.Complete(true)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	j, err := d.Read("run-1")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(j.Steps, steps) {
		t.Errorf("got %+v, want %+v", j.Steps, steps)
	}
	if want := []State{Done, Begun, Undone}; !slices.Equal(j.States, want) {
		t.Errorf("got states %v, want %v", j.States, want)
	}
	if !j.Complete || j.Name != "x.ep" || j.Owner.Start != 4 || !j.Left(1) || j.Left(2) {
		t.Errorf("got %+v", j)
	}
	if _, err := d.Create("run-1", Head{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("made twice: %v", err)
	}
	if err := w.Remove(); err != nil {
		t.Error(err)
	}
	if list, err := d.List(); err != nil || len(list) != 0 {
		t.Errorf("got %v and %v", list, err)
	}
}

func TestATornLineDoesNotCount(t *testing.T) {
	const text = `{"version":1,"kind":"run"}
{"step":{"kind":"command","file":"dynamic_events"}}
{"begin":[0,1]}
{"done":[0,1]`
	j, err := Parse([]byte(text))
	if err != nil || j.States[0] != Begun {
		t.Errorf("got %+v and %v", j, err)
	}
}

func TestNonsenseIsUnreadable(t *testing.T) {
	for _, text := range []string{
		"", "{}", "{}\n", `{"version":2}` + "\n", "x\n",
		`{"version":1}` + "\nx\n",
		`{"version":1}` + "\n" + `{"done":[0,1]}` + "\n",
		`{"version":1}` + "\n" + `{"done":[1,0]}` + "\n",
		`{"version":1}` + "\n" + `{"done":[-1,0]}` + "\n",
	} {
		if _, err := Parse([]byte(text)); !errors.Is(err, ErrUnreadable) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestTheFolderIsPrivate(t *testing.T) {
	base := t.TempDir()
	open := filepath.Join(base, "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(open, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{open, link} {
		if d, err := OpenDir(path, true); err == nil {
			_ = d.Close()
			t.Errorf("%s was opened", path)
		}
	}
	if _, err := OpenDir(filepath.Join(base, "none"), false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	d := newDir(t)
	if _, err := d.Create("../x", Head{}); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	w, err := d.Create("x", Head{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	info, err := os.Stat(filepath.Join(d.Path(), "x"+suffix))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v and %v", info.Mode(), err)
	}
}

func TestWhereTheFolderIs(t *testing.T) {
	env := func(dir string) func(string) string { return func(string) string { return dir } }
	for _, c := range []struct {
		uid  int
		env  string
		want string
	}{{0, "/x", "/run/ep"}, {7, "/run/user/7", "/run/user/7/ep"}, {7, "", ""}, {7, "x", ""}} {
		if got, err := DefaultPath(c.uid, env(c.env)); got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%+v: got %q and %v", c, got, err)
		}
	}
}

func TestAProcessIsToldFromLaterOnesOfItsNumber(t *testing.T) {
	stat := func(state, start string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("12 (a ) b) " + state + strings.Repeat(" 1", 18) + " " + start + " 0\n")}
	}
	proc := fstest.MapFS{"12/stat": stat("S", "500"), "13/stat": stat("Z", "500")}
	for _, c := range []struct {
		p    Process
		want bool
	}{{Process{12, 500}, true}, {Process{12, 499}, false}, {Process{13, 500}, false}, {Process{14, 500}, false}} {
		if got := c.p.Alive(proc); got != c.want {
			t.Errorf("%+v: got %v", c.p, got)
		}
	}
	self, err := Self(os.DirFS("/proc"))
	if err != nil || !self.Alive(os.DirFS("/proc")) {
		t.Errorf("got %+v and %v of this process", self, err)
	}
}

// FuzzParse: a journal is read by the next run, whatever the last one left; what
// is read can be asked for the state of each step.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"kind":"run"}` + "\n" + `{"step":{"kind":"value","file":"a","held":"b"}}` + "\n" + `{"begin":[0,1]}` + "\n"))
	f.Add([]byte("{\"version\":1}\n{\"done\":[0,99999999999]}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		j, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrUnreadable) {
				t.Errorf("got %v", err)
			}
			return
		}
		if len(j.States) != len(j.Steps) {
			t.Errorf("%d states of %d steps", len(j.States), len(j.Steps))
		}
		for i := range j.Steps {
			_ = j.Left(i)
		}
	})
}

func TestJournalThatWasNotBegunIsNothing(t *testing.T) {
	path := t.TempDir() + "/ep"
	d, err := OpenDir(path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	w, err := d.Create("run-1", Head{Kind: Run})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, torn := range []string{"", `{"version":1,"ki`} {
		if err := os.WriteFile(path+"/run-2.journal", []byte(torn), 0o600); err != nil {
			t.Fatal(err)
		}
		if list, err := d.List(); err != nil || len(list) != 1 {
			t.Errorf("%q: got %d journals and %v", torn, len(list), err)
		}
		if err := d.Sweep(); err != nil {
			t.Errorf("%q: %v", torn, err)
		}
		if _, err := os.Stat(path + "/run-2.journal"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: got %v", torn, err)
		}
		if list, err := d.List(); err != nil || len(list) != 1 {
			t.Errorf("%q, swept: got %d journals and %v", torn, len(list), err)
		}
	}
}

// TestJournalIsHeldByWhoWritesIt: also where the process's number means nothing.
func TestJournalIsHeldByWhoWritesIt(t *testing.T) {
	d := newDir(t)
	w, err := d.Create("run-1", Head{Kind: Run})
	if err != nil {
		t.Fatal(err)
	}
	if !d.Held("run-1") || d.Held("run-2") {
		t.Errorf("open: held %v, another %v", d.Held("run-1"), d.Held("run-2"))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if d.Held("run-1") {
		t.Error("closed, and held")
	}
}

// TestFailedWriteLeavesNoPartOfALine: a disk that is full for a while.
func TestFailedWriteLeavesNoPartOfALine(t *testing.T) {
	d := newDir(t)
	w, err := d.Create("run-1", Head{Kind: Run})
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	info, err := w.file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(info.Size()) + 9, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	failed := w.Plan([]Step{{Kind: Instance, File: "instances/a"}})
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if failed == nil {
		t.Error("a write beyond the limit succeeded")
	}
	if err := w.Plan([]Step{{Kind: Instance, File: "instances/b"}}); err != nil {
		t.Error(err)
	}
	if j, err := d.Read("run-1"); err != nil || len(j.Steps) != 1 || j.Steps[0].File != "instances/b" {
		t.Errorf("got %+v and %v", j, err)
	}
}
