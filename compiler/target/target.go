// Package target describes one kernel: what the compiler may know of the
// machine that a script will run on.
//
// A target is a root file system seen through fs.FS, the live machine's, a
// saved one's or an embedded one's, so that one path of code reads all three.
// Nothing is read before it is asked for. Read target.go first, then
// feature.go for what kernels can do.
package target

import (
	"errors"
	"fmt"
)

// ErrNotFound is what Format and others return for what the target has not.
var ErrNotFound = errors.New("not found")

// Arch is a processor architecture by Go's name for it, save where the
// kernel's is the commoner: "x86_64", "arm64", "arm", "riscv64", "i386".
type Arch string

// The architectures that ep has tables for.
const (
	X86_64  Arch = "x86_64"
	ARM64   Arch = "arm64"
	ARM     Arch = "arm"
	RISCV64 Arch = "riscv64"
	I386    Arch = "i386"
)

// Version is a kernel's version as far as features go by it. The zero value
// means that it is not known.
type Version struct{ Major, Minor int }

// AtLeast reports whether v is w or later. An unknown version is not.
func (v Version) AtLeast(w Version) bool {
	return v.Major > w.Major || v.Major == w.Major && v.Minor >= w.Minor
}

// String returns "6.17".
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }
