package main

import (
	"os"
	"path/filepath"

	"github.com/eptrace/ep/lang/source"
)

// modulesOf returns how the modules of a script that is a file are found: by
// their path from the script's own folder, "lib/net.ep" or "lib/net". A script
// from standard input or the command line looks from the working directory.
func modulesOf(script string) func(path string) (*source.Source, error) {
	dir := filepath.Dir(script)
	if script == stdin || script == inline {
		dir = "."
	}
	return func(path string) (*source.Source, error) {
		name := path
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		data, err := os.ReadFile(name)
		if os.IsNotExist(err) && filepath.Ext(name) == "" {
			data, err = os.ReadFile(name + ".ep")
		}
		if err != nil {
			return nil, err
		}
		return source.New(name, string(data))
	}
}
