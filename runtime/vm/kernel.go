package vm

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Kernel is one of the kernels that tests are run on: a series of Debian's cloud kernels, the smallest that have
// tracing whole (every tracer, BTF, NVMe built in).
type Kernel struct {
	Name   string // series and architecture, "6.12-x86_64"
	Series string // version without the patch level, "6.12"
	Arch   string // "x86_64" or "arm64"
	Suite  string // Debian suite that holds it, "trixie"

	// Must says that the suite is stable, so that the kernel can always be had. Others are the newest of a moving
	// series, and may be gone.
	Must bool
}

// Kernels returns every known kernel, oldest first, x86_64 before arm64.
func Kernels() []Kernel {
	kernel := func(series, arch, suite string, must bool) Kernel {
		return Kernel{Name: series + "-" + arch, Series: series, Arch: arch, Suite: suite, Must: must}
	}
	return []Kernel{
		kernel("5.10", "x86_64", "bullseye", false),
		kernel("6.1", "x86_64", "bookworm", true),
		kernel("6.12", "x86_64", "trixie", true),
		kernel("6.17", "x86_64", "trixie-backports", false),
		kernel("7.2", "x86_64", "sid", false),
		kernel("7.3", "x86_64", "trixie-backports", false),
		kernel("6.12", "arm64", "trixie", true),
		kernel("6.17", "arm64", "trixie-backports", false),
	}
}

// FindKernel returns the kernel of that name, or an error that lists the names there are.
func FindKernel(name string) (Kernel, error) {
	var names []string
	for _, k := range Kernels() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Kernel{}, fmt.Errorf("no kernel '%s': there are %s", name, strings.Join(names, ", "))
}

// GoArch returns the architecture as Go and Debian name it: "amd64" or "arm64".
func (k Kernel) GoArch() string {
	if k.Arch == "x86_64" {
		return "amd64"
	}
	return k.Arch
}

// AtLeast reports whether the kernel's series is major.minor or later.
func (k Kernel) AtLeast(major, minor int) bool {
	first, second, _ := strings.Cut(k.Series, ".")
	x, err := strconv.Atoi(first)
	if err != nil {
		return false
	}
	y, err := strconv.Atoi(second)
	if err != nil {
		return false
	}
	return x > major || x == major && y >= minor
}

// Image is a kernel in the cache.
type Image struct {
	Vmlinuz string // path of the bootable image
	Release string // what uname -r says in the guest, "6.12.117+deb13-cloud-amd64"
	Config  string // path of the build configuration, empty if its package had none
}

// Image returns where the kernel lies in the cache. The error is [ErrNotFetched] if it is not there.
func (k Kernel) Image() (Image, error) {
	dir, err := Dir()
	if err != nil {
		return Image{}, err
	}
	return image(filepath.Join(dir, k.Name), k)
}

func image(dir string, k Kernel) (Image, error) {
	release, err := os.ReadFile(filepath.Join(dir, "release"))
	if err != nil {
		return Image{}, fmt.Errorf("%w: run 'go run ./cmd/epvm fetch %s'", ErrNotFetched, k.Name)
	}
	img := Image{Vmlinuz: filepath.Join(dir, "vmlinuz"), Release: strings.TrimSpace(string(release))}
	if config := filepath.Join(dir, "config"); exists(config) {
		img.Config = config
	}
	return img, nil
}

// Dir returns the folder where kernels and built test programs are kept: EP_KERNELS, or ep/kernels in the user's
// cache folder. It need not exist.
func Dir() (string, error) {
	if dir := os.Getenv("EP_KERNELS"); dir != "" {
		return filepath.Abs(dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the folder of kernels: %w", err)
	}
	return filepath.Join(cache, "ep", "kernels"), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
