package target

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Arch is a processor architecture by the kernel's name for it, save "arm"
// for "armv7l" and "i386" for "i686".
type Arch string

// The architectures that ep has tables for.
const (
	X86_64  Arch = "x86_64"
	ARM64   Arch = "arm64"
	ARM     Arch = "arm"
	RISCV64 Arch = "riscv64"
	I386    Arch = "i386"
)

// WordSize returns the size in bytes of a long and of a pointer.
func (a Arch) WordSize() int {
	if a == ARM || a == I386 {
		return 4
	}
	return 8
}

// Version is a kernel's version as far as most features go by it. The zero
// value means that it is not known.
type Version struct{ Major, Minor int }

// AtLeast reports whether v is w or later. An unknown version is not.
func (v Version) AtLeast(w Version) bool {
	return v.Major > w.Major || v.Major == w.Major && v.Minor >= w.Minor
}

// String returns "6.17", or "unknown".
func (v Version) String() string {
	if v == (Version{}) {
		return "unknown"
	}
	return fmt.Sprintf("%d.%d", v.Major, v.Minor)
}

// patch is a release of the kernel with the number that stable trees count.
type patch struct{ major, minor, patch int }

func (p patch) before(q patch) bool {
	if p.major != q.major {
		return p.major < q.major
	}
	if p.minor != q.minor {
		return p.minor < q.minor
	}
	return p.patch < q.patch
}

// lastPatch stands for the newest release of a stable tree.
const lastPatch = math.MaxInt

// system is what is known of the machine and the kernel as a whole.
type system struct {
	release string // as uname -r says; "" if not known
	version Version
	arch    Arch
	// The kernel is one of [least, most]; they are equal if the release is
	// known to its patch number. Distributions hide it: Debian's
	// "6.1.0-57-amd64" is 6.1.192, as only /proc/version says.
	least, most patch
}

// Release returns the kernel's release as uname -r says it; "" if not known.
func (t *Target) Release() string { return t.system.release }

// Version returns the kernel's version; zero if not known.
func (t *Target) Version() Version { return t.system.version }

// Arch returns the processor architecture; "" if not known.
func (t *Target) Arch() Arch { return t.system.arch }

func (t *Target) findSystem() system {
	var s system
	if b, err := t.read(PathRelease); err == nil {
		s.release = strings.TrimSpace(string(b))
	}
	banner, _ := t.read(PathVersion) // optional: it only makes the version more exact
	if s.release == "" {
		// "Linux version 6.17.13+deb13-cloud-amd64 (…"
		if rest, ok := strings.CutPrefix(string(banner), "Linux version "); ok {
			s.release, _, _ = strings.Cut(rest, " ")
		}
	}
	s.arch = t.findArch(s.release)
	p, ok := parseRelease(s.release)
	if !ok {
		s.least, s.most = t.leastFromReadme(), patch{major: lastPatch}
		return s
	}
	s.version = Version{p.major, p.minor}
	if exact, ok := distributionPatch(string(banner), p); ok {
		s.least, s.most = exact, exact
		return s
	}
	s.least, s.most = p, p
	if p.patch == 0 {
		// 6.17.0 itself, or a distribution that does not count.
		s.most.patch = lastPatch
	}
	return s
}

// parseRelease reads "6.17.13+deb13-cloud-amd64" and "7.3-rc2".
func parseRelease(s string) (patch, bool) {
	n, rest, ok := leadingNumber(s)
	if !ok || !strings.HasPrefix(rest, ".") {
		return patch{}, false
	}
	p := patch{major: n}
	if p.minor, rest, ok = leadingNumber(rest[1:]); !ok {
		return patch{}, false
	}
	if strings.HasPrefix(rest, ".") {
		if n, _, ok = leadingNumber(rest[1:]); ok {
			p.patch = n
		}
	}
	return p, true
}

func leadingNumber(s string) (n int, rest string, ok bool) {
	i := 0
	for i < len(s) && i < 9 && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	n, err := strconv.Atoi(s[:i])
	return n, s[i:], err == nil
}

// distributionPatch finds the stable release that a distribution's kernel is
// made from in /proc/version: Debian writes "… Debian 6.1.192-3 (2026-11-26)".
func distributionPatch(banner string, p patch) (patch, bool) {
	_, build, _ := strings.Cut(banner, " #") // the compiler's version stands before
	for word := range strings.FieldsSeq(build) {
		q, ok := parseRelease(word)
		if ok && q.major == p.major && q.minor == p.minor && q.patch > 0 {
			return q, true
		}
	}
	return patch{}, false
}

// machines maps what uname -m and proc/sys/kernel/arch say.
var machines = map[string]Arch{
	"x86_64": X86_64, "amd64": X86_64, "aarch64": ARM64, "arm64": ARM64, "riscv64": RISCV64,
	"i386": I386, "i486": I386, "i586": I386, "i686": I386,
	"armv5tel": ARM, "armv6l": ARM, "armv7l": ARM, "armv8l": ARM, "armhf": ARM, "armmp": ARM,
}

// findArch asks the kernel's own word for it (proc/sys/kernel/arch, since
// v6.1), then the release's last word, which Debian and Red Hat make the
// architecture, then the machine's programs.
func (t *Target) findArch(release string) Arch {
	if b, err := t.read(PathArch); err == nil {
		s := strings.TrimSpace(string(b))
		if a, ok := machines[s]; ok {
			return a
		}
		return Arch(s)
	}
	if i := strings.LastIndexAny(release, "-.+_"); i >= 0 {
		if strings.HasSuffix(release, "x86_64") {
			return X86_64
		}
		if a, ok := machines[release[i+1:]]; ok {
			return a
		}
	}
	// On a live machine this is ep itself.
	f, err := t.fsys.Open("proc/self/exe")
	if err != nil {
		return ""
	}
	defer f.Close()
	var head [20]byte
	if _, err := io.ReadFull(f, head[:]); err != nil || !bytes.HasPrefix(head[:], []byte(elf.ELFMAG)) {
		return ""
	}
	switch elf.Machine(binary.LittleEndian.Uint16(head[18:])) {
	case elf.EM_X86_64:
		return X86_64
	case elf.EM_AARCH64:
		return ARM64
	case elf.EM_ARM:
		return ARM
	case elf.EM_RISCV:
		return RISCV64
	case elf.EM_386:
		return I386
	}
	return ""
}
