// Package vm boots a real Linux kernel under QEMU, with a given static program as init, and asks it questions.
//
// A test binary is its own guest: on the host it boots kernels with itself as /init, and there, as process 1, it mounts
// what a tracer needs, runs the asked [Case] values one after another, and reports each. Emulation is in software (TCG),
// so that any Linux machine with QEMU will do, of either architecture; a boot takes about five seconds.
//
// The package knows nothing of ep. It runs on Linux alone. It is for tests and for cmd/epvm, never for the ep command.
//
// Read run.go first: it is the host's side from boot to results. guest.go is the other side, frame.go what they speak.
package vm

import (
	"fmt"
	"time"
)

// Machine is the virtual machine that a kernel is booted in. The zero value is a good one.
//
// A Machine is only read, so that several goroutines may use one.
type Machine struct {
	// MemoryMiB is the guest's memory; 0 means 512.
	MemoryMiB int

	// CPUs is how many processors the guest has; 0 means 2, for buffers by CPU are part of what is tested.
	CPUs int

	// Files are laid in the guest: absolute path in the guest to path on the host. A file keeps its permissions.
	Files map[string]string

	// Params, if not nil, returns more parameters for a kernel's command line.
	Params func(Kernel) string

	// Bootconfig, if not empty, is the text of a bootconfig, put behind the initramfs as `bootconfig -a` does it.
	Bootconfig string

	// Log, if not nil, is told of each boot and how long it took. It may be called from several goroutines.
	Log func(format string, args ...any)
}

func (m Machine) memoryMiB() int {
	if m.MemoryMiB == 0 {
		return 512
	}
	return m.MemoryMiB
}

func (m Machine) cpus() int {
	if m.CPUs == 0 {
		return 2
	}
	return m.CPUs
}

func (m Machine) logf(format string, args ...any) {
	if m.Log != nil {
		m.Log(format, args...)
	}
}

// Status is how a case ended. The zero value is none of them: the case did not run.
type Status string

// The ways a case may end.
const (
	Passed   Status = "pass"
	Failed   Status = "fail"    // the case said so, or panicked
	Skipped  Status = "skip"    // the case said so, with a reason
	TimedOut Status = "timeout" // the case, or the whole guest, hung
	Died     Status = "died"    // the guest ended during the case, as by a kernel panic
)

// Result is what became of one case on one kernel.
type Result struct {
	Kernel   Kernel
	Case     string
	Status   Status
	Duration time.Duration // in the guest; 0 if it never said

	// Log is what the case logged, failures among it, one entry a call.
	Log []string

	// Reason says in one line why a case was skipped, timed out or died.
	Reason string

	// Outputs are the bytes that the case handed over with [G.Output], by name.
	Outputs map[string][]byte

	// Complaint is what the kernel printed during the case from its first WARNING, BUG or oops on; empty if it had
	// none to print. A kernel that died is quoted in Console instead.
	Complaint string

	// Console is the end of what the kernel printed, for a case that died or hung.
	Console string
}

// String renders the result as lines for a person: status, reason, log, then what the kernel said.
func (r Result) String() string {
	status := r.Status
	if status == "" {
		status = "not run"
	}
	s := fmt.Sprintf("%s/%s: %s", r.Kernel.Name, r.Case, status)
	if r.Duration > 0 {
		s += fmt.Sprintf(" (%.2fs)", r.Duration.Seconds())
	}
	if r.Reason != "" {
		s += ": " + r.Reason
	}
	for _, line := range r.Log {
		s += "\n" + line
	}
	if r.Complaint != "" {
		s += "\nthe kernel complained:\n" + r.Complaint
	}
	if r.Console != "" {
		s += "\nend of the console:\n" + r.Console
	}
	return s
}
