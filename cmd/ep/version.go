package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
)

type versionCmd struct{}

// Run carries out the command.
func (*versionCmd) Run(env *Env) error { return printVersion(env.Stdout) }

// versionFlag is --version. Like --help it is obeyed whatever else is asked.
type versionFlag bool

// BeforeReset implements a hook of kong.
func (versionFlag) BeforeReset(k *kong.Kong) error {
	err := printVersion(k.Stdout)
	k.Exit(exitOK)
	return err
}

func printVersion(w io.Writer) error {
	info, _ := debug.ReadBuildInfo()
	if _, err := io.WriteString(w, versionLine(info)+"\n"); err != nil {
		return fmt.Errorf("write standard output: %w", err)
	}
	return nil
}

// versionLine names the build: "ep v0.1.0 (revision 1a2b3c4d5e6f, go1.26.8,
// linux/amd64)". Info may be nil.
func versionLine(info *debug.BuildInfo) string {
	version, revision, changed := "devel", "unknown", ""
	if info != nil {
		if v := info.Main.Version; v != "" && v != "(devel)" {
			version = v
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = s.Value[:min(len(s.Value), 12)]
			case s.Key == "vcs.modified" && s.Value == "true":
				changed = ", changed"
			}
		}
	}
	if strings.Contains(version, revision) {
		version = "devel" // a version that Go made of the revision says nothing more
	}
	return fmt.Sprintf("ep %s (revision %s%s, %s, %s/%s)",
		version, revision, changed, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
