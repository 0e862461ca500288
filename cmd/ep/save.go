package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/eptrace/ep/runtime/snapshot"
)

type targetSaveCmd struct {
	Output  string `short:"o" required:"" placeholder:"FILE" complete:"files" help:"The file to write; '-' is standard output."`
	Root    string `placeholder:"DIR" complete:"files" help:"Read this root file system, or copy of a tracefs, instead of this machine's."`
	BTF     bool   `name:"btf" default:"true" negatable:"" help:"Save the kernel's type information (1.6 MB)."`
	Symbols bool   `default:"true" negatable:"" help:"Save the names of all symbols, without addresses (1 MB)."`
}

// Help implements kong.HelpProvider.
func (*targetSaveCmd) Help() string {
	return `The file says what the kernel is, not what the machine is doing: formats of events, what tracefs can do, release and architecture, names of symbols, types. Nothing on the machine is changed. Reading tracefs takes root, mostly.

Examples:

    sudo ep target save -o web1.target
    ep compile --target web1.target openat.ep
`
}

// Run carries out the command.
func (c *targetSaveCmd) Run(env *Env) error {
	root := env.Root
	if c.Root != "" {
		root = os.DirFS(c.Root)
	}
	var out bytes.Buffer
	missing, err := snapshot.Save(context.Background(), root, &out, snapshot.Options{BTF: c.BTF, Symbols: c.Symbols})
	if err != nil {
		return exitError{exitMachine, fmt.Errorf("save target: %w", err)}
	}
	for _, m := range missing {
		fmt.Fprintf(env.Stderr, "ep: left out: %v\n", m)
	}
	return writeOutput(env, c.Output, out.Bytes())
}
