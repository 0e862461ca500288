package target

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

func fsSub(t *Target, dir string) (fs.FS, error) { return fs.Sub(t.FS(), dir) }

func TestOpenFindsTracefs(t *testing.T) {
	for _, root := range []string{"sys/kernel/tracing", "sys/kernel/debug/tracing", "."} {
		at := func(name string) string { return strings.TrimPrefix(root+"/"+name, "./") }
		tg, err := Open("x", fstest.MapFS{
			at("README"):                   &fstest.MapFile{},
			at("events/sched/e/format"):    &fstest.MapFile{Data: []byte("ID: 7\n")},
			"sys/kernel/tracing/unrelated": &fstest.MapFile{},
		})
		if err != nil {
			t.Fatalf("%s: %v", root, err)
		}
		if f, err := tg.Format("sched", "e"); err != nil || f.ID != 7 {
			t.Errorf("%s: got %+v, %v", root, f, err)
		}
		if tg.Tracefs() != root {
			t.Errorf("got tracefs at %q, want %q", tg.Tracefs(), root)
		}
	}
	if _, err := Open("x", fstest.MapFS{"sys/kernel/tracing/x": &fstest.MapFile{}}); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if _, err := Open("x", deniedFS{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v, want fs.ErrPermission", err)
	}
}

// deniedFS lets nothing be opened.
type deniedFS struct{}

func (deniedFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

func TestNamesOfEvents(t *testing.T) {
	tg := machine(t, nil)
	systems, err := tg.Systems()
	if want := []string{"a", "x"}; err != nil || !slices.Equal(systems, want) {
		t.Errorf("systems: got %q, %v, want %q", systems, err, want)
	}
	events, err := tg.Events("a")
	if want := []string{"only", "y"}; err != nil || !slices.Equal(events, want) {
		t.Errorf("events: got %q, %v, want %q", events, err, want)
	}
	if got, want := tg.EventNamed("y"), []string{"a", "x"}; !slices.Equal(got, want) {
		t.Errorf("systems of y: got %q, want %q", got, want)
	}
	if got := tg.EventNamed("filter"); len(got) != 0 {
		t.Errorf("a file is taken for an event: %q", got)
	}
	if _, err := tg.Format("a", "only"); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("a bad format: got %v", err)
	}
}

func TestSystem(t *testing.T) {
	for _, c := range []struct {
		name    string
		files   map[string]string
		version Version
		arch    Arch
	}{
		{"the kernel's words", map[string]string{PathRelease: "6.17.13+deb13-cloud-amd64\n", PathArch: "aarch64\n"}, Version{6, 17}, ARM64},
		{"no arch file", map[string]string{PathRelease: "5.10.0-46-cloud-amd64\n"}, Version{5, 10}, X86_64},
		{"Red Hat", map[string]string{PathRelease: "5.14.0-427.el9.x86_64\n"}, Version{5, 14}, X86_64},
		{"Fedora's arm", map[string]string{PathRelease: "6.9.4-200.fc40.aarch64\n"}, Version{6, 9}, ARM64},
		{"Raspberry Pi", map[string]string{PathRelease: "6.6.31+rpt-rpi-v7\n", PathArch: "armv7l\n"}, Version{6, 6}, ARM},
		{"candidate", map[string]string{PathRelease: "7.3-rc2\n", PathArch: "riscv64\n"}, Version{7, 3}, RISCV64},
		{"banner only", map[string]string{PathVersion: "Linux version 6.8.0-45-generic (x@y) #45\n", "proc/self/exe": "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x3e\x00"}, Version{6, 8}, X86_64},
		{"a kernel of the future", map[string]string{PathRelease: "12.0\n", PathArch: "loongarch64"}, Version{12, 0}, "loongarch64"},
		{"nonsense", map[string]string{PathRelease: "x.y\n"}, Version{}, ""},
		{"nothing", nil, Version{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tg := machine(t, c.files)
			if tg.Version() != c.version || tg.Arch() != c.arch {
				t.Errorf("got %v on %q, want %v on %q", tg.Version(), tg.Arch(), c.version, c.arch)
			}
		})
	}
	if s := (Version{}).String(); s != "unknown" {
		t.Errorf("got %q", s)
	}
}

func TestConfig(t *testing.T) {
	const text = "CONFIG_A=y\nCONFIG_B=m\n# CONFIG_C is not set\nCONFIG_AB=y\n"
	tg := machine(t, map[string]string{PathRelease: "6.1.0", "boot/config-6.1.0": text})
	for option, want := range map[string]bool{"CONFIG_A": true, "CONFIG_B": true, "CONFIG_C": false, "CONFIG_D": false} {
		if on, known := tg.Config(option); on != want || !known {
			t.Errorf("%s: got %v, %v", option, on, known)
		}
	}
	if _, known := machine(t, nil).Config("CONFIG_A"); known {
		t.Error("want not known without a configuration")
	}
}

// TestFeatureNeedsItsOption: README names eprobes also where they were left out
// of the kernel; older releases have no option for them.
func TestFeatureNeedsItsOption(t *testing.T) {
	for config, want := range map[string]bool{
		"CONFIG_PROBE_EVENTS=y\n":                                    true,
		"CONFIG_PROBE_EVENTS=y\nCONFIG_EPROBE_EVENTS=y\n":            true,
		"CONFIG_PROBE_EVENTS=y\n# CONFIG_EPROBE_EVENTS is not set\n": false,
		"": true,
	} {
		files := map[string]string{
			PathRelease:                      "6.18.1",
			"sys/kernel/tracing/README":      "e[:[<group>/][<event>]] <attached-group>.<attached-event> [<args>] [if <filter>]",
			"sys/kernel/tracing/trace_clock": "[local]",
		}
		if config != "" {
			files["boot/config-6.18.1"] = config
		}
		if got := machine(t, files).Has(Eprobes); got != want {
			t.Errorf("configuration %q: eprobes %v, want %v", config, got, want)
		}
	}
}

func TestSeveralGoroutines(t *testing.T) {
	tg, err := Embedded(DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	formats := make([]*Format, 8)
	for i := range formats {
		wg.Go(func() {
			f, err := tg.Format("sched", "sched_switch")
			if err != nil {
				t.Error(err)
			}
			formats[i] = f
			tg.Has(QuirkEprobePointerByte)
			if s, err := tg.Symbol("vfs_read"); err != nil || s != SymbolProbeable {
				t.Errorf("vfs_read: %v, %v", s, err)
			}
		})
	}
	wg.Wait()
	for _, f := range formats {
		if f != formats[0] {
			t.Error("two Formats of one event")
		}
	}
}

func TestOpenBTF(t *testing.T) {
	tg := machine(t, map[string]string{PathBTF: "types"})
	r, err := tg.OpenBTF()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if b, err := io.ReadAll(r); err != nil || !bytes.Equal(b, []byte("types")) {
		t.Errorf("got %q, %v", b, err)
	}
	if _, err := machine(t, nil).OpenBTF(); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestEmbedded(t *testing.T) {
	for _, name := range EmbeddedNames() {
		tg, err := Embedded(name)
		if err != nil {
			t.Fatal(err)
		}
		version, arch, _ := strings.Cut(name, "-")
		if tg.Name() != name || tg.Version().String() != version || string(tg.Arch()) != arch {
			t.Errorf("%s: got %s, %v, %s", name, tg.Name(), tg.Version(), tg.Arch())
		}
		if tg.system.least != tg.system.most {
			t.Errorf("%s: the patch number is not known: %v to %v", name, tg.system.least, tg.system.most)
		}
	}
	for _, name := range []string{"nope", "", "..", "a/b"} {
		if _, err := Embedded(name); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: got %v, want ErrNotFound", name, err)
		}
	}
}
