package main

import (
	"fmt"

	"github.com/eptrace/ep/runtime/vm"
)

// listCommand lists the kernels.
type listCommand struct{}

// Run prints a line for each kernel: its name, suite, whether it must be had, and its release if it is there.
func (c *listCommand) Run() error {
	dir, err := vm.Dir()
	if err != nil {
		return err
	}
	for _, k := range vm.Kernels() {
		release, kind := "-", "moving"
		if k.Must {
			kind = "must"
		}
		if img, err := k.Image(); err == nil {
			release = img.Release
		}
		fmt.Printf("%-12s  %-16s  %-6s  %s\n", k.Name, k.Suite, kind, release)
	}
	fmt.Printf("kept in %s\n", dir)
	return nil
}
