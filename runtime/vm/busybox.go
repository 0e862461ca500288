package vm

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
)

// busyboxSuite is the Debian suite whose BusyBox guests get.
const busyboxSuite = "trixie"

// Busybox returns the path of a static BusyBox for an architecture ("amd64", "arm64"), for tests that want a shell in
// their guest: lay it there with [Machine.Files]. The error is [ErrNoBusybox] if it is not in the cache.
func Busybox(goarch string) (string, error) {
	dir, err := Dir()
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "busybox-"+goarch)
	if !exists(name) {
		return "", fmt.Errorf("%w for %s: run 'go run ./cmd/epvm fetch'", ErrNoBusybox, goarch)
	}
	return name, nil
}

// FetchBusybox downloads Debian's busybox-static for the architecture, unless it is in the cache, in the way of [Fetch].
func FetchBusybox(ctx context.Context, goarch string) (string, error) {
	if name, err := Busybox(goarch); err == nil {
		return name, nil
	}
	dir, err := Dir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the folder of kernels: %w", err)
	}
	unlock, err := lock(ctx, filepath.Join(dir, "fetch.lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	f := fetcher{dir: dir, roots: make(map[string]*aptRoot)}
	if f.work, err = os.MkdirTemp(dir, ".fetch-"); err != nil {
		return "", fmt.Errorf("make a folder to fetch into: %w", err)
	}
	defer os.RemoveAll(f.work)
	if err := f.busybox(ctx, goarch); err != nil {
		return "", fmt.Errorf("fetch BusyBox for %s: %w", goarch, err)
	}
	return Busybox(goarch)
}

func (f *fetcher) busybox(ctx context.Context, goarch string) error {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		return errNoDpkg
	}
	arch := goarch
	if goarch == "amd64" {
		arch = "x86_64"
	}
	root, err := f.root(ctx, Kernel{Suite: busyboxSuite, Arch: arch})
	if err != nil {
		return err
	}
	if _, err := root.run(ctx, "apt-get", "-q", "download", "busybox-static"); err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(root.dir, "packages", "busybox-static_*.deb"))
	if err != nil || len(found) != 1 {
		return fmt.Errorf("apt-get left %d packages: %w", len(found), err)
	}
	unpacked := filepath.Join(f.work, "busybox")
	if err := unpackBusybox(ctx, found[0], unpacked); err != nil {
		return err
	}
	return os.Rename(unpacked, filepath.Join(f.dir, "busybox-"+goarch))
}

// unpackBusybox writes the program that the package holds to a file.
func unpackBusybox(ctx context.Context, deb, to string) error {
	cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", deb)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = extract(stdout, "busybox", to)
	_, copyErr := io.Copy(io.Discard, stdout) // the rest, so that dpkg-deb can end
	return errors.Join(err, copyErr, cmd.Wait())
}

// extract writes the first regular file called name of a tar archive, to be run.
func extract(r io.Reader, name, to string) error {
	for entries := tar.NewReader(r); ; {
		entry, err := entries.Next()
		if err == io.EOF {
			return fmt.Errorf("no file %s in the package", name)
		}
		if err != nil {
			return err
		}
		if path.Base(entry.Name) != name || path.Base(path.Dir(entry.Name)) != "bin" || entry.Typeflag != tar.TypeReg {
			continue
		}
		if err := writeFile(to, entries); err != nil {
			return err
		}
		return os.Chmod(to, 0o755)
	}
}
