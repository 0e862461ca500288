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

// guestScripts is where the scripts of testdata/scripts lie in the guest.
const guestScripts = "/scripts"

// scriptFiles lays them there.
func scriptFiles() map[string]string {
	files := map[string]string{}
	for _, folder := range []string{"cases", "histogram", "tools"} {
		list, err := filepath.Glob(filepath.Join("../../testdata/scripts", folder, "*.ep"))
		if err != nil {
			panic(err)
		}
		for _, f := range list {
			files[guestScripts+"/"+filepath.Base(f)] = f
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
	if err != nil || len(files) == 0 {
		m.g.Fatalf("got %d scripts and %v", len(files), err)
	}
	for _, file := range files {
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
