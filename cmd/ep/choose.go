package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
)

// live is the name of the target that is this machine.
const live = "live"

// chooseTarget opens the target called name: "live", an embedded target, a
// file of `ep target save`, or a folder. "" is the default, which is named on
// standard error, so that nobody takes one kernel's answer for another's.
func (g *globals) chooseTarget(name string) (*target.Target, error) {
	switch {
	case name == "":
		return g.defaultTarget()
	case name == live:
		t, err := openLive(g.env)
		if err != nil {
			return nil, exitError{exitMachine, fmt.Errorf("target 'live': %w", err)}
		}
		return t, nil
	}
	t, err := target.Embedded(name)
	if errors.Is(err, target.ErrNotFound) {
		return openFile(name)
	}
	if err != nil {
		return nil, exitError{exitMachine, err}
	}
	return t, nil
}

func (g *globals) defaultTarget() (*target.Target, error) {
	t, err := openLive(g.env)
	if err == nil {
		g.notef("ep: target live (%s)\n", kernel(t))
		return t, nil
	}
	why := "no usable tracefs here"
	if errors.Is(err, fs.ErrPermission) {
		why = "tracefs here may not be read"
	}
	if t, err = target.Embedded(target.DefaultName); err != nil {
		return nil, exitError{exitMachine, err}
	}
	g.notef("ep: target %s (embedded; %s)\n", t.Name(), why)
	return t, nil
}

// notef says on standard error what a person should know besides.
func (g *globals) notef(format string, args ...any) {
	if !g.quiet {
		fmt.Fprintf(g.env.Stderr, format, args...)
	}
}

// openLive opens this machine, if its events can be read.
func openLive(env *Env) (*target.Target, error) {
	t, err := target.Open(live, env.Root)
	if err != nil {
		return nil, err
	}
	if _, err := t.Systems(); err != nil {
		return nil, err
	}
	return t, nil
}

// openFile opens a saved target, or a folder that is a root file system or a
// copy of tracefs. The file stays open for as long as the program runs.
func openFile(name string) (*target.Target, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noTarget(name)
	}
	if err != nil {
		return nil, exitError{exitMachine, fmt.Errorf("open target '%s': %w", name, cause(err))}
	}
	info, err := f.Stat()
	if err != nil {
		return nil, exitError{exitMachine, fmt.Errorf("open target '%s': %w", name, cause(err))}
	}
	var t *target.Target
	if info.IsDir() {
		_ = f.Close() // it was only read from
		if t, err = target.Open(name, os.DirFS(name)); err != nil {
			err = fmt.Errorf("open target '%s': %w", name, err)
		}
	} else {
		t, err = target.Load(name, f, info.Size())
	}
	if err != nil {
		return nil, exitError{exitMachine, err}
	}
	return t, nil
}

// noTarget is the error of a --target that names nothing.
func noTarget(name string) error {
	names := append(target.EmbeddedNames(), live)
	if near, ok := diag.Near(name, names); ok {
		return usagef("no target or file '%s'; did you mean '%s'?", name, near)
	}
	return usagef("no target or file '%s'; the targets are %s", name, strings.Join(names, ", "))
}

// kernel names a target's kernel: "6.17.13+deb13-cloud-amd64, x86_64".
func kernel(t *target.Target) string {
	release, arch := t.Release(), string(t.Arch())
	if release == "" {
		release = "release unknown"
	}
	if arch == "" {
		arch = "architecture unknown"
	}
	return release + ", " + arch
}
