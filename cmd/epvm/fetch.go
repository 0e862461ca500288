package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/eptrace/ep/runtime/vm"
)

// fetchCommand installs the emulators and downloads kernels. It exits with 1 if one is missing that must be had: a
// kernel of a stable suite, or one that was named.
type fetchCommand struct {
	Kernels []string `arg:"" optional:"" name:"kernel" help:"Kernels to fetch, such as 6.12-x86_64; all if none is named."`
}

// Run prints a line for each kernel: where it is, or why it is not.
func (c *fetchCommand) Run(ctx context.Context) error {
	kernels, err := findKernels(c.Kernels)
	if err != nil {
		return err
	}
	if err := vm.InstallQEMU(ctx, kernels); err != nil {
		return err
	}
	missing := false
	err = vm.Fetch(ctx, kernels, func(k vm.Kernel, img vm.Image, err error) {
		needed := k.Must || len(c.Kernels) > 0
		switch {
		case err == nil:
			fmt.Printf("%-12s  %s\n", k.Name, img.Release)
		case needed:
			missing = true
			fmt.Printf("%-12s  missing: %v\n", k.Name, err)
		case errors.Is(err, vm.ErrMovedOn):
			fmt.Printf("%-12s  skipped: %s no longer holds linux %s\n", k.Name, k.Suite, k.Series)
		default:
			fmt.Printf("%-12s  skipped: %v\n", k.Name, err)
		}
	})
	if err == nil && missing {
		return exitCode(1)
	}
	if err == nil {
		fetchBusybox(ctx, kernels)
	}
	return err
}

// fetchBusybox gets the shell that some tests run in their guests; without it they are skipped.
func fetchBusybox(ctx context.Context, kernels []vm.Kernel) {
	seen := map[string]bool{}
	for _, k := range kernels {
		if seen[k.GoArch()] {
			continue
		}
		seen[k.GoArch()] = true
		if _, err := vm.FetchBusybox(ctx, k.GoArch()); err != nil {
			fmt.Printf("%-12s  skipped: %v\n", "busybox", err)
		}
	}
}

// findKernels returns the kernels of those names, or all.
func findKernels(names []string) ([]vm.Kernel, error) {
	if len(names) == 0 {
		return vm.Kernels(), nil
	}
	var kernels []vm.Kernel
	for _, name := range names {
		k, err := vm.FindKernel(name)
		if err != nil {
			return nil, err
		}
		kernels = append(kernels, k)
	}
	return kernels, nil
}
