// Package stdlib holds ep's own modules: scripts that are useful as they are
// and that other scripts import by "std/NAME". They are embedded in whatever
// imports the package; nothing is read at start-up.
package stdlib

import (
	"embed"
	"io/fs"
	"strings"
)

// Prefix begins the path of every module.
const Prefix = "std/"

//go:embed *.ep
var files embed.FS

// Module returns the text of the module at path ("std/opens"), false if there is
// none.
func Module(path string) (text string, ok bool) {
	name, ok := strings.CutPrefix(path, Prefix)
	if !ok || strings.ContainsAny(name, "/.") {
		return "", false
	}
	data, err := files.ReadFile(name + ".ep")
	return string(data), err == nil
}

// Modules lists the paths of all modules, in alphabetical order.
func Modules() []string {
	names, err := fs.Glob(files, "*.ep")
	if err != nil {
		panic("internal error: " + err.Error())
	}
	for i, n := range names {
		names[i] = Prefix + strings.TrimSuffix(n, ".ep")
	}
	return names
}
