package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/eptrace/ep/runtime/vm"
)

// runCommand boots a kernel and runs a program in it, and exits with the program's code.
type runCommand struct {
	Out     string        `help:"Folder for the files that the program leaves in /out, where it starts." placeholder:"DIR"`
	File    []string      `help:"File to lay in the guest, as GUESTPATH=HOSTPATH; may be given again." placeholder:"GUEST=HOST" sep:"none"`
	Timeout time.Duration `help:"How long boot and program may take." default:"10m"`
	Memory  int           `help:"Memory of the guest in MiB." default:"512"`
	CPUs    int           `name:"cpus" help:"Processors of the guest." default:"2"`
	Verbose bool          `short:"v" help:"Print to standard error when the guest is up."`

	Kernel  string   `arg:"" help:"Kernel, such as 6.12-x86_64; see list."`
	Program string   `arg:"" help:"Static program, or the folder of a Go command, which is built for the kernel."`
	Args    []string `arg:"" optional:"" passthrough:"" help:"Arguments of the program."`
}

// Run carries the command out.
func (c *runCommand) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("not done after %v", c.Timeout))
	defer cancel()
	k, err := vm.FindKernel(c.Kernel)
	if err != nil {
		return err
	}
	files, err := parseFiles(c.File)
	if err != nil {
		return err
	}
	init, err := initProgram(ctx, k.GoArch())
	if err != nil {
		return err
	}
	program := c.Program
	if info, err := os.Stat(program); err == nil && info.IsDir() {
		if program, err = vm.BuildCommand(ctx, k.GoArch(), folderPackage(program)); err != nil {
			return err
		}
	}
	m := vm.Machine{MemoryMiB: c.Memory, CPUs: c.CPUs, Files: files}
	if c.Verbose {
		m.Log = func(format string, args ...any) { fmt.Fprintf(os.Stderr, "epvm: "+format+"\n", args...) }
	}
	code, err := m.Exec(ctx, k, vm.Program{
		Init: init, Path: program, Args: c.Args, Stdout: os.Stdout, Stderr: os.Stderr, OutDir: c.Out,
	})
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", k.Name, context.Cause(ctx))
		}
		return err
	}
	if code != 0 {
		return exitCode(code)
	}
	return nil
}
