package vm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Main is for TestMain: os.Exit(vm.Main(m, cases)). On the host it runs m; in a guest it runs the cases that the host
// asks for and never returns.
func Main(m *testing.M, cases []Case) int {
	Guest(cases)
	return m.Run()
}

// Test runs the cases on every kernel that EP_KERNEL_TESTS asks for, each as a subtest KERNEL/CASE, so that go test
// -run selects among both. The package's TestMain must call [Main] with the same cases.
//
// EP_KERNEL_TESTS is a list, parted by commas: "auto" takes the kernels that are there, and prints why it skips the
// others; "require" makes the lack of QEMU, or of a kernel that must be had, a failure; a kernel's name restricts to the
// kernels named. Names alone require them. Unset or empty skips everything. Nothing is downloaded.
//
// If EP_KERNEL_OUT is set, outputs of cases are written there as KERNEL/CASE/NAME.
func Test(t *testing.T, cases []Case) { Machine{}.Test(t, cases) }

// Test is [Test] with guests other than the usual.
func (m Machine) Test(t *testing.T, cases []Case) {
	t.Helper()
	chosen, err := parseSelection(os.Getenv("EP_KERNEL_TESTS"))
	if err != nil {
		t.Fatalf("EP_KERNEL_TESTS: %v", err)
	}
	if chosen.kernels == nil {
		t.Skip("kernel tests are off: set EP_KERNEL_TESTS to auto or require (docs/testing.md)")
	}
	// One program an architecture, whichever of its kernels asks first.
	build := func(goarch string) func() (string, error) {
		return sync.OnceValues(func() (string, error) { return Build(t.Context(), goarch, ".") })
	}
	programs := map[string]func() (string, error){"amd64": build("amd64"), "arm64": build("arm64")}
	for _, k := range chosen.kernels {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			if err := available(k); err != nil {
				if chosen.required(k) {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			m.testKernel(t, k, programs[k.GoArch()], cases)
		})
	}
}

// TestOn runs the cases on a kernel of the cache folder that is not among [Kernels]. It skips, with the reason, if kernel
// tests are off or the kernel is not there.
func (m Machine) TestOn(t *testing.T, k Kernel, cases []Case) {
	t.Helper()
	if os.Getenv("EP_KERNEL_TESTS") == "" {
		t.Skip("kernel tests are off: set EP_KERNEL_TESTS to auto or require (docs/testing.md)")
	}
	if err := available(k); err != nil {
		t.Skip(err)
	}
	m.testKernel(t, k, func() (string, error) { return Build(t.Context(), k.GoArch(), ".") }, cases)
}

// testKernel runs the cases on one kernel.
//
// Subtests are what knows which cases go test -run and -skip leave, yet all those must go into one boot. So each subtest
// that is let run puts its case on the list and parks itself (Parallel) until this function, their parent, returns; and
// it returns when their results are there.
func (m Machine) testKernel(t *testing.T, k Kernel, program func() (string, error), cases []Case) {
	var asked []Case
	results := make(map[string]Result)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if c.Match != nil && !c.Match(k) {
				t.Skipf("the case is not for %s", k.Name)
			}
			asked = append(asked, c)
			t.Parallel()
			reportResult(t, c, results[c.Name])
		})
	}
	if len(asked) == 0 {
		return
	}
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if deadline, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-5*time.Second)) // time to say so
		defer cancel()
	}
	if m.Log == nil {
		m.Log = t.Logf
	}
	done, err := m.Run(ctx, k, path, asked)
	if err != nil {
		t.Error(err)
	}
	for _, r := range done {
		results[r.Case] = r
	}
	for try := 2; try <= tries; try++ {
		var failed []Case
		for _, c := range asked {
			if r := results[c.Name]; r.Status != "" && r.bad(c) {
				t.Logf("try %d: %s", try-1, r)
				failed = append(failed, c)
			}
		}
		if len(failed) == 0 {
			return
		}
		t.Logf("try %d of %d, in a boot of its own, of %d that failed", try, tries, len(failed))
		done, err := m.Run(ctx, k, path, failed)
		if err != nil {
			t.Error(err)
		}
		for _, r := range done {
			results[r.Case] = r
		}
	}
}

// tries is how often a case is run until it passes. Time runs unevenly in an
// emulated machine on a busy host: a case that fails once and passes in a fresh
// boot is told in the log, and is no failure.
const tries = 3

// bad reports whether the result of c is a failure.
func (r Result) bad(c Case) bool {
	if c.Kills != nil && c.Kills(r.Kernel) {
		return r.Status != Died && r.Status != TimedOut
	}
	if r.Status != Passed && r.Status != Skipped {
		return true
	}
	return r.Complaint != "" && !c.MayComplain
}

// reportResult makes the result of a case that of the subtest.
func reportResult(t *testing.T, c Case, r Result) {
	if r.Status == "" {
		t.Fatal("the case was not run")
	}
	if dir := os.Getenv("EP_KERNEL_OUT"); dir != "" {
		if err := writeOutputs(dir, r); err != nil {
			t.Error(err)
		}
	}
	switch {
	case r.Status == Skipped && r.Complaint == "":
		t.Skip(r)
	case r.bad(c):
		t.Fatal(r)
	}
	t.Log(r)
	if c.Check != nil && r.Status == Passed {
		c.Check(t, r)
	}
}

func writeOutputs(dir string, r Result) error {
	if len(r.Outputs) == 0 {
		return nil
	}
	dir = filepath.Join(dir, r.Kernel.Name, r.Case)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, data := range r.Outputs {
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(name, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// available returns why the kernel cannot be booted here, or nil.
func available(k Kernel) error {
	if err := haveQEMU(k); err != nil {
		return err
	}
	_, err := k.Image()
	return err
}

// selection is what EP_KERNEL_TESTS says.
type selection struct {
	kernels []Kernel // nil if kernel tests are off
	named   bool     // they were named one by one
	auto    bool
}

// required reports whether the lack of the kernel is a failure.
func (s selection) required(k Kernel) bool {
	return !s.auto && (s.named || k.Must)
}

func parseSelection(text string) (selection, error) {
	var s selection
	if strings.TrimSpace(text) == "" {
		return s, nil
	}
	require := false
	for word := range strings.SplitSeq(text, ",") {
		switch word = strings.TrimSpace(word); word {
		case "auto":
			s.auto = true
		case "require":
			require = true
		default:
			k, err := FindKernel(word)
			if err != nil {
				return selection{}, err
			}
			s.named = true
			if !slices.Contains(s.kernels, k) {
				s.kernels = append(s.kernels, k)
			}
		}
	}
	if s.auto && require {
		return selection{}, fmt.Errorf("'auto' and 'require' cannot both be, in '%s'", text)
	}
	if !s.named {
		s.kernels = Kernels()
	}
	return s, nil
}
