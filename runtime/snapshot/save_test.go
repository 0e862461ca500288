package snapshot

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/eptrace/ep/compiler/target"
)

const tracefs = "sys/kernel/debug/tracing/"

// machine is a small machine whose tracefs is at its old place.
func machine() fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range map[string]string{
		target.PathRelease:   "6.17.13-test-amd64\n",
		target.PathVersion:   "Linux version 6.17.13-test-amd64 (x) #1 SMP Debian 6.17.13-1\n",
		target.PathKallsyms:  "ffffffff81000000 T vfs_read\nffffffff81000010 t __pfx_vfs_read\nffffffff81000020 D jiffies\nffffffff81000020 t m_fn\t[mod]\n",
		target.PathBlacklist: "0xffffffff81000000-0xffffffff81000010\tpoked\n",
		target.PathBTF:       "types",
		"boot/config-6.17.13-test-amd64": "#\n# Comment\n#\nCONFIG_KPROBE_EVENTS=y\nCONFIG_SOUND=y\n" +
			"# CONFIG_SYNTH_EVENTS is not set\nCONFIG_UNRELATED=\"CONFIG_FTRACE\"\n",
		tracefs + "README":                           "tracing mini-HOWTO\n",
		tracefs + "available_filter_functions":       "vfs_write\nm_fn [mod]\nvfs_read\n",
		tracefs + "available_tracers":                "function nop\n",
		tracefs + "trace_clock":                      "local [global] mono\n",
		tracefs + "trace":                            "somebody's records\n",
		tracefs + "dynamic_events":                   "p:kprobes/mine vfs_read\ns:synthetic/lat\tu64 lat\n",
		tracefs + "options/overwrite":                "1\n",
		tracefs + "events/enable":                    "0\n",
		tracefs + "events/sched/enable":              "0\n",
		tracefs + "events/sched/sched_switch/format": "name: sched_switch\nID: 9\n",
		tracefs + "events/sched/sched_switch/filter": "none\n",
		tracefs + "events/kprobes/mine/format":       "name: mine\nID: 2000\n",
		tracefs + "events/kprobes/theirs/format":     "name: theirs\nID: 2002\n",
		tracefs + "events/synthetic/lat/format":      "name: lat\nID: 2001\n",
	} {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

func save(t *testing.T, root fs.FS, opts Options) (*target.Target, []Missing) {
	t.Helper()
	var b bytes.Buffer
	missing, err := Save(context.Background(), root, &b, opts)
	if err != nil {
		t.Fatal(err)
	}
	tg, err := target.Load("saved", bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return tg, missing
}

func TestSavedFiles(t *testing.T) {
	tg, missing := save(t, machine(), Options{BTF: true, Symbols: true})
	for name, want := range map[string]string{
		target.PathRelease:                                    "6.17.13-test-amd64\n",
		target.PathArch:                                       "x86_64\n", // the machine has no such file
		target.PathBTF:                                        "types",
		target.PathKallsyms:                                   "0 D jiffies\n0 T vfs_read\n0 t m_fn\t[mod]\n",
		target.PathBlacklist:                                  "0x0-0x0\tpoked\n",
		"boot/config-6.17.13-test-amd64":                      "CONFIG_KPROBE_EVENTS=y\n# CONFIG_SYNTH_EVENTS is not set\n",
		"sys/kernel/tracing/README":                           "tracing mini-HOWTO\n",
		"sys/kernel/tracing/trace_clock":                      "local global mono\n",
		"sys/kernel/tracing/trace":                            "",
		"sys/kernel/tracing/dynamic_events":                   "",
		"sys/kernel/tracing/available_filter_functions":       "m_fn [mod]\nvfs_read\nvfs_write\n",
		"sys/kernel/tracing/events/sched/sched_switch/format": "name: sched_switch\nID: 9\n",
	} {
		got, err := fs.ReadFile(tg.FS(), name)
		if err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	if len(missing) != 0 {
		t.Errorf("missing: %v", missing)
	}
}

func TestDynamicEventsAreNotSaved(t *testing.T) {
	tg, _ := save(t, machine(), Options{})
	if tg.HasEvent("kprobes", "mine") || tg.HasEvent("synthetic", "lat") {
		t.Error("an event of dynamic_events was saved")
	}
	if !tg.HasEvent("kprobes", "theirs") {
		t.Error("an event that is not of dynamic_events was left out")
	}
}

func TestOptionsLeaveOut(t *testing.T) {
	tg, _ := save(t, machine(), Options{})
	if _, err := tg.OpenBTF(); !errors.Is(err, target.ErrNotFound) {
		t.Errorf("BTF: got %v, want that it is not there", err)
	}
	if s, err := tg.Symbol("jiffies"); s != target.SymbolUnlisted || err != nil {
		t.Errorf("jiffies: got %v, %v, want SymbolUnlisted", s, err)
	}
}

func TestSavedAgainIsTheSame(t *testing.T) {
	opts := Options{BTF: true, Symbols: true}
	var first, second bytes.Buffer
	if _, err := Save(context.Background(), machine(), &first, opts); err != nil {
		t.Fatal(err)
	}
	tg, err := target.Load("x", bytes.NewReader(first.Bytes()), int64(first.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Save(context.Background(), tg.FS(), &second, opts); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("a target saved again is another")
	}
}

func TestMissingIsTold(t *testing.T) {
	m := machine()
	delete(m, target.PathBlacklist)
	delete(m, "boot/config-6.17.13-test-amd64")
	locked := lockedFS{m, []string{tracefs + "available_filter_functions", target.PathKallsyms}}
	_, missing := save(t, locked, Options{Symbols: true})
	var got []string
	for _, x := range missing {
		got = append(got, x.String())
	}
	want := []string{
		"/boot/config-6.17.13-test-amd64: not there",
		"/proc/kallsyms: permission denied",
		"/sys/kernel/debug/kprobes/blacklist: not there",
		"/sys/kernel/debug/tracing/available_filter_functions: permission denied",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestUnreadableListIsLeftOut(t *testing.T) {
	locked := lockedFS{machine(), []string{tracefs + "available_filter_functions"}}
	tg, _ := save(t, locked, Options{})
	if s, err := tg.Symbol("vfs_read"); s != target.SymbolUnknown || err != nil {
		t.Errorf("got %v, %v, want SymbolUnknown: an empty list would say that there are no functions", s, err)
	}
}

func TestSaveStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Save(ctx, machine(), io.Discard, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if _, err := Save(context.Background(), fstest.MapFS{}, io.Discard, Options{}); !errors.Is(err, target.ErrNotFound) {
		t.Errorf("got %v, want target.ErrNotFound", err)
	}
	full := errors.New("disk full")
	if _, err := Save(context.Background(), machine(), writer(func([]byte) (int, error) { return 0, full }), Options{}); !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
}

func TestEmbeddedTargetsAreSnapshots(t *testing.T) {
	for _, name := range target.EmbeddedNames() {
		tg, err := target.Embedded(name)
		if err != nil {
			t.Fatal(err)
		}
		if name == target.DefaultName { // compressing all takes seconds
			again, missing := save(t, tg.FS(), Options{})
			if again.Release() != tg.Release() || again.Arch() != tg.Arch() || len(missing) != 0 {
				t.Errorf("%s: saved again as %s on %s without %v", name, again.Release(), again.Arch(), missing)
			}
		}
		text, err := fs.ReadFile(tg.FS(), target.PathBlacklist)
		if err != nil || strings.Contains(string(text), "0xf") {
			t.Errorf("%s: the black list has addresses, or there is none: %v", name, err)
		}
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// lockedFS refuses some files.
type lockedFS struct {
	fs.FS
	names []string
}

func (l lockedFS) Open(name string) (fs.File, error) {
	if slices.Contains(l.names, name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return l.FS.Open(name)
}
