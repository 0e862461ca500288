package eventsproof

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/runtime/vm"
)

var cases = []vm.Case{
	{Name: "dynamic", Timeout: 120 * time.Second, Run: recordDynamic, Check: checkRecording},
	{Name: "scripts", Timeout: 120 * time.Second, Run: recordScripts, Check: checkRecording},
	{Name: "static", Timeout: 120 * time.Second, Run: recordStatic, Check: checkRecording},
	{Name: "hotplug", Timeout: 120 * time.Second, Run: runHotplug},
	{Name: "interval", Timeout: 120 * time.Second, Run: runIntervals},
	{Name: "storm", Timeout: 240 * time.Second, Run: runStorms},
}

func TestMain(m *testing.M) { os.Exit(vm.Main(m, cases)) }

func TestKernels(t *testing.T) { vm.Machine{Files: guestFiles()}.Test(t, cases) }

// checkRecording compares what a kernel recorded with its own text of it. With
// EP_RECORD set, the recording is kept for tests without a kernel.
func checkRecording(t *testing.T, r vm.Result) {
	if os.Getenv("EP_RECORD") != "" {
		data, err := pack(r.Outputs)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join("..", "events", "testdata", "recorded", r.Kernel.Name+"-"+r.Case+".zip")
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	checkFiles(t, r.Kernel.Name, r.Outputs)
}

// checkFiles holds all recordings of one case against the kernel's text.
func checkFiles(t *testing.T, kernel string, files map[string][]byte) {
	count := checked{}
	recordings := unpack(t, files)
	for _, name := range slices.Sorted(maps.Keys(recordings)) {
		dir := recordings[name]
		streams := recordedStreams(t, dir)
		if name != "static" && name != "dynamic" {
			planned, err := plannedStreams(name, kernel, dir)
			if err != nil {
				// A recording may be older than the script or the compiler.
				t.Logf("%s: by the formats alone: %v", name, err)
			} else {
				streams = planned
			}
		}
		compare(t, dir, streams, count)
		for _, s := range streams {
			var done []string
			for _, key := range slices.Sorted(maps.Keys(count)) {
				if event, field, _ := strings.Cut(key, "."); event == s.Event {
					done = append(done, fmt.Sprintf("%s %d", field, count[key]))
				}
			}
			t.Logf("%s: %s.%s: %s", name, s.Group, s.Event, strings.Join(done, ", "))
		}
	}
}

// plannedStreams returns what the plan of a script says of its streams. The
// error is about a plan that the recording is not of.
func plannedStreams(name, kernel, dir string) ([]plan.Stream, error) {
	k, err := target.Embedded(kernel)
	if err != nil {
		return nil, err
	}
	p, err := compileScript(filepath.Join(scriptsDir, name+".ep"), k, "")
	if err != nil {
		return nil, err
	}
	for _, s := range p.Streams {
		if _, err := os.Stat(filepath.Join(dir, "events", s.Group, s.Event, "format")); err != nil {
			return nil, err
		}
	}
	return p.Streams, nil
}

// namedFormat is the format of an event with one number f.
func namedFormat(size int) *target.Format {
	text := fmt.Sprintf("ID: 1\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"+
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\tfield:u%d f;\toffset:8;\tsize:%d;\tsigned:0;\n", size*8, size)
	f, err := target.ParseFormat("g", "e", []byte(text))
	if err != nil {
		panic(err)
	}
	return f
}

// TestRecordedPagesEqualTheKernelsText needs no kernel: it reads what kernels
// recorded.
func TestRecordedPagesEqualTheKernelsText(t *testing.T) {
	zips, err := filepath.Glob("../events/testdata/recorded/*.zip")
	if err != nil || len(zips) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, z := range zips {
		name := strings.TrimSuffix(filepath.Base(z), ".zip")
		t.Run(name, func(t *testing.T) {
			r, err := zip.OpenReader(z)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			files := map[string][]byte{}
			for _, f := range r.File {
				data, err := fs.ReadFile(r, f.Name)
				if err != nil {
					t.Fatal(err)
				}
				files[f.Name] = data
			}
			checkFiles(t, name[:strings.LastIndexByte(name, '-')], files)
		})
	}
}
