package randomproof

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/runtime/vm"
)

// What is run can be set: docs/testing.md.
var (
	scripts = setting("EP_RANDOM_N", 40)
	seed    = setting("EP_RANDOM_SEED", 1)
)

func setting(name string, otherwise int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return otherwise
	}
	return n
}

// chunk is how many scripts are a case of the guest: what the kernel's death
// costs.
const chunk = 100

// maxChunks is how many cases a guest has.
const maxChunks = 1000

// cases are one for each chunk of scripts. A guest knows all; the host asks for
// those that it has scripts for.
func cases() (list []vm.Case) {
	n := maxChunks
	if os.Getpid() != 1 {
		n = (scripts + chunk - 1) / chunk
	}
	for i := range n {
		list = append(list, vm.Case{
			Name: fmt.Sprintf("scripts-%d", i*chunk), Timeout: 10 * time.Minute, MayComplain: true,
			Match: func(k vm.Kernel) bool { return k.Series != "5.10" }, // without histograms
			Run:   func(g *vm.G) { runChunk(g, i*chunk, (i+1)*chunk) },
			Check: func(t *testing.T, r vm.Result) { checkChunk(t, r, i*chunk) },
		})
	}
	return list
}

func TestMain(m *testing.M) {
	code := vm.Main(m, cases())
	report(os.Stdout)
	shrinkAll(os.Stdout)
	os.Exit(code)
}

func TestKernels(t *testing.T) {
	files := map[string]string{}
	for _, k := range chosen() {
		var jobs []job
		for _, s := range scriptsFor(t, k) {
			jobs = append(jobs, s.job())
		}
		data, err := json.Marshal(jobs)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "jobs.json")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		files[jobsFile+"."+k.Name] = name
	}
	vm.Machine{Files: files}.Test(t, cases())
}

// chosen are the kernels that EP_KERNEL_TESTS names, or all.
func chosen() (list []vm.Kernel) {
	asked := os.Getenv("EP_KERNEL_TESTS")
	for _, k := range vm.Kernels() {
		if k.Series != "5.10" && asked != "" && (strings.Contains(asked, k.Name) || !strings.Contains(asked, "-")) {
			list = append(list, k)
		}
	}
	return list
}

// scriptsFor makes the scripts for a kernel.
func scriptsFor(t *testing.T, k vm.Kernel) []*script {
	on := targetOf(t, k)
	var list []*script
	for i := range scripts {
		list = append(list, generate(on, int64(seed)*1_000_000+int64(i)))
	}
	return list
}

func targetOf(t *testing.T, k vm.Kernel) *target.Target {
	on, err := target.Embedded(k.Name)
	if err != nil {
		t.Fatal(err)
	}
	return on
}

// job is what the guest is told of a script.
func (s *script) job() job {
	j := job{Text: s.String(), Module: s.moduleText(), Steps: s.steps, Instance: s.instance()}
	if s.idle {
		j.Idle = true
	}
	return j
}

// checkChunk holds what a guest said of a chunk against what it must be.
func checkChunk(t *testing.T, r vm.Result, first int) {
	var got answers
	if err := json.Unmarshal(r.Outputs["answers"], &got); err != nil {
		t.Fatal(err)
	}
	if r.Complaint != "" {
		t.Errorf("the kernel complained:\n%s", r.Complaint)
	}
	on := targetOf(t, r.Kernel)
	for i, a := range got.List {
		s := generate(on, int64(seed)*1_000_000+int64(first+i))
		f := s.judge(&a, got.Facts)
		count(r.Kernel.Name, s, &a, f)
		if show := os.Getenv("EP_RANDOM_SHOW"); show != "" && strings.Contains(strings.Join(a.Refused, " "), show) {
			t.Logf("script %d: refused: %s%s", s.seed, strings.Join(a.Refused, "; "), quoted(s))
		}
		if f.kind != "" {
			note(failure{kernel: r.Kernel, seed: s.seed, found: f, answer: a})
			t.Errorf("script %d: %s\n%s%s\n%s", s.seed, f.kind, f.what, quoted(s), doneText(s, &a))
		}
	}
}

func quoted(s *script) string {
	text := s.String()
	if s.module > 0 {
		text = s.moduleText() + "---\n" + text
	}
	return "\n  | " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  | ")
}

// doneText lists what the workload did.
func doneText(s *script, a *answer) string {
	var b strings.Builder
	for i, d := range a.Done {
		st := &s.steps[i]
		n := max(len(callNamed(st.Call).params), 1)
		fmt.Fprintf(&b, "  %2d %s%v %q = %d\n", i+1, st.Call, d.N[:n], st.Text, d.Ret)
	}
	return b.String()
}
