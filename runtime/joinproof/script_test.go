package joinproof

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/runtime/vm"
)

var scriptCases = []vm.Case{
	newCase("scripts", proveScripts),
	newCase("scripts-top-level", proveScriptsAtTheTop),
}

// Where the scripts of testdata/scripts lie in the guest: those that are held
// against whole lines by hand, and those whose lines are sketched.
const (
	guestScripts = "/scripts"
	sketched     = guestScripts + "/tools"
)

// scriptFiles lays them there.
func scriptFiles() map[string]string {
	files := map[string]string{}
	for folder, place := range map[string]string{"cases": guestScripts, "histogram": guestScripts, "tools": sketched} {
		list, err := filepath.Glob(filepath.Join("../../testdata/scripts", folder, "*.ep"))
		if err != nil {
			panic(err)
		}
		for _, f := range list {
			files[place+"/"+filepath.Base(f)] = f
		}
	}
	return files
}

// elsewhere are functions that are no part of a kernel for virtual machines.
var elsewhere = []string{"msm:", "soc_new_pcm", "apr_dlkm:"}

// proveScripts: each script for what people do by hand is accepted where it
// compiles, and leaves nothing behind, in an instance of its own.
func proveScripts(m *machine) { m.everyScript(compiler.Options{Instance: instance}) }

// proveScriptsAtTheTop: and at the top level.
func proveScriptsAtTheTop(m *machine) { m.everyScript(compiler.Options{}) }

func (m *machine) everyScript(opts compiler.Options) {
	files, err := filepath.Glob(guestScripts + "/*.ep")
	more, _ := filepath.Glob(sketched + "/*.ep") // the pattern is right
	if err != nil || len(files) == 0 || len(more) == 0 {
		m.g.Fatalf("got %d and %d scripts and %v", len(files), len(more), err)
	}
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			m.g.Fatalf("%v", err)
		}
		if slices.ContainsFunc(elsewhere, func(name string) bool { return strings.Contains(string(text), name) }) {
			continue
		}
		m.undone(filepath.Base(file), opts, string(text))
	}
}
