package tracefs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// fake returns a folder that looks like a tracefs as far as this package looks.
func fake(t *testing.T) (*FS, string) {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"events/sched/sched_switch", "instances"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "dynamic_events"), []byte("e:a b.c\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, dir
}

func TestOpenOfAnEmptyMountPoint(t *testing.T) {
	if _, err := Open(t.TempDir()); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want ErrNotExist", err)
	}
}

func TestWriteAppendsOrTruncates(t *testing.T) {
	f, _ := fake(t)
	steps := []struct {
		data string
		mode Mode
		want string
	}{
		{"s:x u64 y", Append, "e:a b.c\ns:x u64 y"},
		{"1", Truncate, "1"},
	}
	for _, s := range steps {
		if err := f.Write("dynamic_events", s.data, s.mode); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Read("dynamic_events"); err != nil || string(got) != s.want {
			t.Errorf("got %q and %v, want %q", got, err, s.want)
		}
	}
}

func TestWriteNeverCreates(t *testing.T) {
	f, dir := fake(t)
	for _, mode := range []Mode{Append, Truncate} {
		if err := f.Write("events/sched/enable", "1", mode); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want ErrNotExist", err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "events/sched/enable")); err == nil {
		t.Error("the file was made")
	}
}

func TestNothingOutsideIsReached(t *testing.T) {
	f, dir := fake(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("as it was"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "trace")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"trace", secret, "../../etc/passwd"} {
		if err := f.Write(name, "changed", Append); err == nil {
			t.Errorf("wrote %s", name)
		}
		if _, err := f.Read(name); err == nil {
			t.Errorf("read %s", name)
		}
	}
	if got, err := os.ReadFile(secret); err != nil || string(got) != "as it was" {
		t.Errorf("got %q and %v", got, err)
	}
}

func TestInstances(t *testing.T) {
	f, _ := fake(t)
	if err := f.MakeInstance("mine"); err != nil {
		t.Fatal(err)
	}
	if err := f.MakeInstance("mine"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("made twice: %v", err)
	}
	if !f.Exists(In("mine", "")) {
		t.Error("it is not there")
	}
	if err := f.RemoveInstance("mine"); err != nil {
		t.Error(err)
	}
	if f.Exists(In("mine", "")) {
		t.Error("it is still there")
	}
	for _, name := range []string{"", ".", "..", "a/b", "/a"} {
		if err := f.MakeInstance(name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("made '%s': %v", name, err)
		}
		if err := f.RemoveInstance(name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("removed '%s': %v", name, err)
		}
	}
}

func TestMountsAreRead(t *testing.T) {
	const text = `22 1 0:21 / /sys rw,nosuid shared:7 - sysfs sysfs rw
31 25 0:6 / /sys/kernel/debug/tracing rw - tracefs tracefs rw
30 22 0:12 / /mnt/a\040b\134c rw,nosuid shared:11 master:2 - tracefs none rw
32 22 0:12 / /sys/kernel/tracing rw,nosuid - tracefs tracefs rw
33 22 0:12 /events /mnt/part rw - tracefs tracefs rw
34 22 0:13 / /mnt/tracefs rw - tmpfs tracefs rw
35 garbage - tracefs
`
	want := []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing", `/mnt/a b\c`}
	if got := mounts(text); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestErrorLogIsRead(t *testing.T) {
	const text = `[    2.376218] hist:sched:sched_waking: error: Couldn't find field
  Command: hist:keys=pid:x=nofield
                           ^
[   12.000041] event filter parse error: error: Field not found
  Command: foo == 3
           ^
[  113.500000] event_probe: error: Attached event does not exist
  Command: e:two
lines a.b
                 ^
`
	want := []LogEntry{
		{2376218 * time.Microsecond, "hist:sched:sched_waking", "Couldn't find field", "hist:keys=pid:x=nofield", 16},
		{12000041 * time.Microsecond, "event filter parse error", "Field not found", "foo == 3", 0},
		{113500 * time.Millisecond, "event_probe", "Attached event does not exist", "e:two\nlines a.b", 6},
	}
	got := ParseErrorLog(text)
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if s := got[0].String(); s != "hist:sched:sched_waking: Couldn't find field" {
		t.Errorf("got %q", s)
	}
}

// FuzzErrorLog: the kernel's text is not ours, and must not stop us.
func FuzzErrorLog(f *testing.F) {
	f.Add("[    2.376218] hist: error: No\n  Command: x\n           ^\n")
	f.Add("^\n[1.2] a: error: \n\n^")
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range ParseErrorLog(text) {
			if e.Caret < 0 || strings.HasSuffix(e.Text, "\n") {
				t.Errorf("%q: got %+v", text, e)
			}
		}
	})
}
