package vm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// InstallQEMU sees to it that the emulators for the kernels are there, and installs them with apt-get if this process
// may. The error is [ErrNoQEMU], and says how to get them, if it may not.
func InstallQEMU(ctx context.Context, kernels []Kernel) error {
	packages := missingQEMU(kernels)
	if len(packages) == 0 {
		return nil
	}
	install := append([]string{"install", "-y", "--no-install-recommends"}, packages...)
	_, err := exec.LookPath("apt-get")
	if err != nil || os.Geteuid() != 0 {
		return fmt.Errorf("%w: as root, run 'apt-get %s'", ErrNoQEMU, strings.Join(install, " "))
	}
	if _, err := command(ctx, "/", "apt-get", "-q", "update"); err != nil {
		return fmt.Errorf("install QEMU: %w", err)
	}
	if _, err := command(ctx, "/", "apt-get", install...); err != nil {
		return fmt.Errorf("install QEMU: %w", err)
	}
	return nil
}

// haveQEMU returns ErrNoQEMU if the emulator for the kernel is not there.
func haveQEMU(k Kernel) error {
	if packages := missingQEMU([]Kernel{k}); len(packages) > 0 {
		return fmt.Errorf("%w: run 'go run ./cmd/epvm fetch' as root, or install %s", ErrNoQEMU, packages[0])
	}
	return nil
}

// missingQEMU returns the Debian packages of the emulators that the kernels need and the machine lacks.
func missingQEMU(kernels []Kernel) []string {
	var packages []string
	for _, k := range kernels {
		name := "qemu-system-x86"
		if k.Arch == "arm64" {
			name = "qemu-system-arm"
		}
		if _, err := exec.LookPath(qemuProgram(k)); err != nil && !slices.Contains(packages, name) {
			packages = append(packages, name)
		}
	}
	return packages
}
