// Package joinproof asks kernels whether joins, spans, computed values,
// histograms and actions mean what docs/language.md says. Each case has a
// workload whose outcome is known, in the instance "joinproof" unless it is
// about the top level; where a case is about a trap of the kernel's, it writes
// the lines that people write by hand too, and shows that they give another
// number. It has tests alone; read machine_test.go first.
package joinproof

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/eptrace/ep/runtime/vm"
)

var cases = slices.Concat(sleepCases, computeCases, chainCases, pairingCases, trapCases, emitCases, signedCases, widenCases, histCases, actionCases, placeCases, scriptCases, readBackCases)

func TestMain(m *testing.M) { os.Exit(vm.Main(m, cases)) }

func TestKernels(t *testing.T) { vm.Machine{Files: scriptFiles()}.Test(t, cases) }

// newCase is a case for the kernels that join events. Debian builds 5.10
// without histograms.
func newCase(name string, run func(m *machine)) vm.Case {
	match := func(k vm.Kernel) bool { return k.Series != "5.10" }
	// An emulated guest takes seconds; on a busy host, minutes.
	return vm.Case{Name: name, Match: match, Timeout: 5 * time.Minute, Run: func(g *vm.G) { run(open(g)) }}
}

// newStackCase is a case for the kernels that carry stacks through a join.
func newStackCase(name string, run func(m *machine)) vm.Case {
	c := newCase(name, run)
	c.Match = func(k vm.Kernel) bool { return k.Series != "5.10" && k.Series != "6.1" }
	return c
}
