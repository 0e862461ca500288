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
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Fetch downloads those of the kernels that are not yet in the cache, from the Debian mirror that the machine's own apt
// uses, or EP_DEBIAN_MIRROR. It needs apt-get and dpkg-deb, and no root rights.
//
// It calls done once for each kernel, in order, with its Image or an error; [ErrMovedOn] says that the suite no longer
// holds the series. The error of Fetch itself says that none could be tried. Several processes may fetch at a time:
// one waits for the other.
func Fetch(ctx context.Context, kernels []Kernel, done func(Kernel, Image, error)) error {
	dir, err := Dir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of kernels: %w", err)
	}
	unlock, err := lock(ctx, filepath.Join(dir, "fetch.lock"))
	if err != nil {
		return err
	}
	defer unlock()

	f := fetcher{dir: dir, roots: make(map[string]*aptRoot)}
	f.work, err = os.MkdirTemp(dir, ".fetch-")
	if err != nil {
		return fmt.Errorf("make a folder to fetch into: %w", err)
	}
	defer os.RemoveAll(f.work)
	for _, k := range kernels {
		img, err := f.fetch(ctx, k)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		done(k, img, err)
	}
	return nil
}

// fetcher is one run of Fetch.
type fetcher struct {
	dir   string // the cache
	work  string // a folder of ours in it, so that a rename moves files into place
	roots map[string]*aptRoot
}

func (f *fetcher) fetch(ctx context.Context, k Kernel) (Image, error) {
	if img, err := k.Image(); err == nil {
		return img, nil
	}
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		return Image{}, errNoDpkg
	}
	root, err := f.root(ctx, k)
	if err != nil {
		return Image{}, fmt.Errorf("read the packages of %s: %w", k.Suite, err)
	}
	release, err := root.newest(ctx, k.Series)
	if err != nil {
		return Image{}, fmt.Errorf("find linux %s in %s: %w", k.Series, k.Suite, err)
	}
	packages, err := root.download(ctx, release)
	if err != nil {
		return Image{}, fmt.Errorf("download linux %s: %w", release, err)
	}
	into := filepath.Join(f.work, k.Name)
	if err := os.Mkdir(into, 0o755); err != nil {
		return Image{}, err
	}
	for _, deb := range packages {
		if err := unpack(ctx, deb, into); err != nil {
			return Image{}, fmt.Errorf("unpack %s: %w", filepath.Base(deb), err)
		}
		if err := os.Remove(deb); err != nil {
			return Image{}, err
		}
	}
	if !exists(filepath.Join(into, "vmlinuz")) {
		return Image{}, fmt.Errorf("no vmlinuz in the packages of linux %s", release)
	}
	if err := os.WriteFile(filepath.Join(into, "release"), []byte(release+"\n"), 0o644); err != nil {
		return Image{}, err
	}
	if err := os.Rename(into, filepath.Join(f.dir, k.Name)); err != nil {
		return Image{}, err
	}
	return k.Image()
}

// root returns the view of the kernel's suite; kernels of one suite share it.
func (f *fetcher) root(ctx context.Context, k Kernel) (*aptRoot, error) {
	name := k.Suite + "-" + k.GoArch()
	if root := f.roots[name]; root != nil {
		return root, nil
	}
	keyring := "/usr/share/keyrings/debian-archive-keyring.gpg"
	if !exists(keyring) {
		keyring = ""
	}
	from, err := archives(aptSources(os.DirFS("/etc/apt")), os.Getenv("EP_DEBIAN_MIRROR"), keyring)
	if err != nil {
		return nil, err
	}
	root, err := newAptRoot(ctx, filepath.Join(f.work, "apt-"+name), k.Suite, k.GoArch(), from)
	if err != nil {
		return nil, err
	}
	f.roots[name] = root
	return root, nil
}

// unpack writes the kernel and its configuration, if the package holds them, as vmlinuz and config into dir.
func unpack(ctx context.Context, deb, dir string) error {
	cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", deb)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = unpackTar(stdout, dir)
	_, copyErr := io.Copy(io.Discard, stdout) // the padding after the last entry, so that dpkg-deb can end
	return errors.Join(err, copyErr, cmd.Wait())
}

func unpackTar(r io.Reader, dir string) error {
	entries := tar.NewReader(r)
	for {
		entry, err := entries.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		name := bootFile(entry.Name)
		if name == "" || entry.Typeflag != tar.TypeReg {
			continue
		}
		if err := writeFile(filepath.Join(dir, name), entries); err != nil {
			return err
		}
	}
}

// bootFile returns "vmlinuz" or "config" if the path in a package is that of one, else "".
func bootFile(name string) string {
	folder, file := path.Split(path.Clean("/" + name))
	for _, want := range []string{"vmlinuz", "config"} {
		inBoot := folder == "/boot/" && strings.HasPrefix(file, want+"-")
		inModules := strings.HasPrefix(folder, "/usr/lib/modules/") && strings.Count(folder, "/") == 5 && file == want
		if inBoot || inModules {
			return want
		}
	}
	return ""
}

func writeFile(name string, r io.Reader) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// lock takes an advisory lock on a file, made if need be, and waits for it as long as ctx allows. A process that dies
// gives it back.
func lock(ctx context.Context, name string) (unlock func(), err error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		unlock, err := tryLock(name)
		if err == nil || !errors.Is(err, unix.EWOULDBLOCK) {
			return unlock, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %s: %w", name, ctx.Err())
		}
	}
}

// tryLock is lock without the wait: the error is EWOULDBLOCK if another has it.
func tryLock(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close() // nothing was written
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return func() { _ = f.Close() }, nil // closing unlocks; nothing was written
}
