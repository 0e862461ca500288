package main

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/eptrace/ep/runtime/vm"
)

// initProgram returns a build of this command that can be init of a guest: itself, if it is static and for that
// architecture, or else one that is built now, which needs the go command and the source about.
func initProgram(ctx context.Context, goarch string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if runtime.GOARCH == goarch && isStatic(self) {
		return self, nil
	}
	init, err := vm.BuildCommand(ctx, goarch, "github.com/eptrace/ep/cmd/epvm")
	if err != nil {
		return "", fmt.Errorf("make an init for the guest: %w", err)
	}
	return init, nil
}

func isStatic(program string) bool {
	f, err := elf.Open(program)
	if err != nil {
		return false
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return false
		}
	}
	return true
}

// folderPackage spells a folder as the go command takes it: a bare "cmd/ep" would be a package of the standard library.
func folderPackage(dir string) string {
	if filepath.IsAbs(dir) || strings.HasPrefix(dir, ".") {
		return dir
	}
	return "./" + dir
}

// parseFiles reads GUESTPATH=HOSTPATH pairs.
func parseFiles(pairs []string) (map[string]string, error) {
	files := make(map[string]string)
	for _, pair := range pairs {
		guest, host, ok := strings.Cut(pair, "=")
		if !ok || guest == "" || host == "" {
			return nil, fmt.Errorf("--file '%s': want GUESTPATH=HOSTPATH", pair)
		}
		files[guest] = host
	}
	return files, nil
}
