package vm

import "errors"

// ErrNotFetched says that a kernel is not in the cache; see [Fetch].
var ErrNotFetched = errors.New("kernel not fetched")

// ErrNoBusybox says that there is no BusyBox in the cache; see [FetchBusybox].
var ErrNoBusybox = errors.New("BusyBox not fetched")

// ErrNoQEMU says that the emulator for a kernel's architecture is not installed; see [InstallQEMU].
var ErrNoQEMU = errors.New("QEMU not installed")

// ErrMovedOn says that a suite no longer holds a kernel of the wanted series. For a kernel that is not [Kernel.Must]
// this is no fault: unstable suites and backports keep only what is new.
var ErrMovedOn = errors.New("suite has moved on")

// ErrNoMirror says that the machine's apt sources name no Debian archive and EP_DEBIAN_MIRROR is not set.
var ErrNoMirror = errors.New("no Debian mirror in apt's sources: set EP_DEBIAN_MIRROR to the base URI of one")

// ErrNotStatic says that a program cannot run in a guest, which has no C library and one architecture.
var ErrNotStatic = errors.New("not a static program for the guest: build it with CGO_ENABLED=0")

// errNoBoot says that a guest never reached its init.
var errNoBoot = errors.New("the guest did not come up")

// errNoDpkg says how to be able to unpack a package.
var errNoDpkg = errors.New("dpkg-deb is not installed: kernels are fetched on Debian and its kin")
