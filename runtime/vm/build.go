package vm

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build builds the tests of a package as a static program for an architecture ("amd64", "arm64"), into the cache, and
// returns its path. pkg is what the go command takes, from the current folder: "." is the package under test.
func Build(ctx context.Context, goarch, pkg string) (string, error) {
	return goBuild(ctx, goarch, pkg, "test", "-c", "-vet=off")
}

// BuildCommand is Build for a command instead of tests.
func BuildCommand(ctx context.Context, goarch, pkg string) (string, error) {
	return goBuild(ctx, goarch, pkg, "build")
}

func goBuild(ctx context.Context, goarch, pkg string, verb ...string) (string, error) {
	dir, err := Dir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "programs")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the folder of programs: %w", err)
	}
	from, err := os.Getwd()
	if err != nil {
		return "", err
	}
	// One program for each package and architecture, so that the folder does not grow. Others may run or build the same
	// just now: a rename gives each its whole file.
	name := fnv.New64a()
	fmt.Fprintf(name, "%s\n%s\n%s", from, pkg, verb[0])
	final := filepath.Join(dir, fmt.Sprintf("%016x-%s", name.Sum64(), goarch))
	work, err := os.MkdirTemp(dir, ".build-")
	if err != nil {
		return "", fmt.Errorf("make a folder to build in: %w", err)
	}
	defer os.RemoveAll(work)

	built := filepath.Join(work, "program")
	cmd := exec.CommandContext(ctx, "go", append(verb, "-ldflags=-s -w", "-o", built, pkg)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+goarch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s for %s: %w\n%s", pkg, goarch, err, strings.TrimSpace(string(out)))
	}
	if err := os.Rename(built, final); errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("build %s for %s: it has no tests", pkg, goarch)
	} else if err != nil {
		return "", err
	}
	return final, nil
}

// checkStatic returns ErrNotStatic, with what is wrong, unless program can run in a guest of that architecture.
func checkStatic(program, goarch string) error {
	f, err := elf.Open(program)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", program, ErrNotStatic, err)
	}
	defer f.Close()
	want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[goarch]
	if f.Machine != want {
		return fmt.Errorf("%s: %w GOARCH=%s (it is for %v)", program, ErrNotStatic, goarch, f.Machine)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("%s: %w (it wants a dynamic linker)", program, ErrNotStatic)
		}
	}
	return nil
}
