package proof

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/eptrace/ep/runtime/vm"
)

// cases are what every kernel is asked, in one boot.
var cases = slices.Concat(seedCases(), applyCases, joinCases, chainCases, spanCases, conditionCases, valueCases, optionCases)

func TestMain(m *testing.M) { os.Exit(vm.Main(m, cases)) }

func TestKernels(t *testing.T) {
	scripts, err := filepath.Glob("../../testdata/scripts/*.ep")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("got %d scripts and %v", len(scripts), err)
	}
	machine := vm.Machine{Files: map[string]string{}}
	for _, s := range scripts {
		machine.Files[scriptDir+"/"+filepath.Base(s)] = s
	}
	machine.Test(t, cases)
}

// on makes a case that works on a bench.
func on(name string, match func(vm.Kernel) bool, run func(b *bench)) vm.Case {
	return vm.Case{Name: name, Match: match, Timeout: time.Minute, Run: func(g *vm.G) { run(newBench(g)) }}
}

// eprobes reports whether a kernel has eprobes, and with them all that events
// are derived by: Debian's 5.10 has neither eprobes nor synthetic events.
func eprobes(k vm.Kernel) bool { return k.AtLeast(6, 0) }

// arrays reports whether an eprobe of the kernel reaches the elements of an
// array.
func arrays(k vm.Kernel) bool { return k.AtLeast(6, 17) }

func every(vm.Kernel) bool { return true }
