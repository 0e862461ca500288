package vm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
)

// Case is one question to a kernel.
type Case struct {
	// Name tells it from the others of its list. Letters, digits, '-' and '_' make it fit for go test -run.
	Name string

	// Run asks it, in the guest, as root, with tracefs mounted. What it leaves behind, the next case finds.
	Run func(g *G)

	// Timeout is how long Run may take; 0 means 30 seconds. Mind that the guest is emulated, and shares the machine.
	Timeout time.Duration

	// Match, if not nil, says on which kernels the case makes sense.
	Match func(k Kernel) bool

	// MayComplain says that the kernel is known to print a WARNING or BUG in this case. Otherwise [Test] takes that for
	// a failure.
	MayComplain bool

	// Kills, if not nil, says which kernels the case must stop: there it is the end of the guest, or a hang, that passes
	// in [Test]. It is for the mistakes of kernels. The next case finds a guest that was booted anew.
	Kills func(k Kernel) bool

	// Check, if not nil, looks on the host at what a passed case brought back. Only [Test] calls it.
	Check func(t *testing.T, r Result)
}

func (c Case) timeout() time.Duration {
	if c.Timeout == 0 {
		return 30 * time.Second
	}
	return c.Timeout
}

// G is what a [Case] has of the guest: a [testing.T] in small. Its methods may be called from several goroutines, save
// those that end the case (Fatalf, FailNow, Skipf), which are for the goroutine that runs it.
type G struct {
	name    string
	kernel  Kernel
	ctx     context.Context
	results *frameWriter

	mu       sync.Mutex
	status   Status // empty while nothing is decided
	reason   string
	cleanups []func()
}

// Name returns the name of the case.
func (g *G) Name() string { return g.name }

// Kernel returns the kernel that the host says it booted.
func (g *G) Kernel() Kernel { return g.kernel }

// Context returns a context that ends when the case times out, or just before its cleanups are called.
func (g *G) Context() context.Context { return g.ctx }

// Logf adds to the log of the case, with the place of the call. It is on the host before Logf returns, so that it is
// not lost if the kernel dies next.
func (g *G) Logf(format string, args ...any) { g.log(fmt.Sprintf(format, args...)) }

// Errorf is Logf, and marks the case as failed; it goes on.
func (g *G) Errorf(format string, args ...any) {
	g.log(fmt.Sprintf(format, args...))
	g.decide(Failed, "")
}

// Fatalf is Errorf, and ends the case.
func (g *G) Fatalf(format string, args ...any) {
	g.log(fmt.Sprintf(format, args...))
	g.FailNow()
}

// FailNow marks the case as failed and ends it.
func (g *G) FailNow() {
	g.decide(Failed, "")
	runtime.Goexit()
}

// Skipf ends the case as skipped, for the reason given, in one line.
func (g *G) Skipf(format string, args ...any) {
	reason := fmt.Sprintf(format, args...)
	g.decide(Skipped, reason[:min(len(reason), maxNameBytes)])
	runtime.Goexit()
}

// Failed reports whether the case is marked as failed.
func (g *G) Failed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.status == Failed
}

// Output hands data, of any size up to hundreds of MiB, to the host under a name, which comes back in the Outputs of
// the case's [Result]. A later Output of the same name takes its place. The case fails, and ends, if it cannot be had.
func (g *G) Output(name string, data []byte) {
	if name == "" || len(name) > maxNameBytes {
		g.Fatalf("name of an output is %d bytes long: want 1 to %d", len(name), maxNameBytes)
	}
	if err := g.results.write(event{Kind: eventOutput, Case: g.name, Name: name}, data); err != nil {
		g.Fatalf("output %s: %v", name, err)
	}
}

// TempDir returns a new folder on a tmpfs, which is removed when the case ends.
func (g *G) TempDir() string {
	dir, err := os.MkdirTemp("", "case-")
	if err != nil {
		g.Fatalf("make a folder: %v", err)
	}
	g.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			g.Errorf("remove a folder of TempDir: %v", err)
		}
	})
	return dir
}

// Cleanup has f called when the case ends, however it ends save by the timeout. Last come, first called.
func (g *G) Cleanup(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cleanups = append(g.cleanups, f)
}

func (g *G) log(text string) {
	g.report(event{Kind: eventLog, Case: g.name}, callerPlace()+text)
}

// callerPlace returns "file:line: " of the innermost call of a method of G from outside of them.
func callerPlace() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if !strings.Contains(frame.Function, "runtime/vm.(*G).") {
			return fmt.Sprintf("%s:%d: ", filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return ""
		}
	}
}

// report tells the host. If that cannot be done, nothing that this guest would say can be believed: it ends.
func (g *G) report(ev event, text string) {
	if err := g.results.write(ev, []byte(text)); err != nil {
		panic(fmt.Errorf("internal error: tell the host of case %s: %w", g.name, err))
	}
}

// decide sets the status, unless the case has failed already.
func (g *G) decide(s Status, reason string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.status != Failed {
		g.status, g.reason = s, reason
	}
}

// run runs the case in this goroutine up to its last cleanup.
func (g *G) run(c Case, cancel context.CancelFunc) {
	returned := false
	defer func() {
		r := recover()
		if r != nil {
			g.report(event{Kind: eventLog, Case: g.name}, fmt.Sprintf("panic: %v\n%s", r, debug.Stack()))
			g.decide(Failed, "")
			return
		}
		g.mu.Lock()
		decided := g.status != ""
		g.mu.Unlock()
		if !returned && !decided {
			g.report(event{Kind: eventLog, Case: g.name}, "the case called runtime.Goexit")
			g.decide(Failed, "")
		}
	}()
	defer g.cleanup()
	defer cancel()
	c.Run(g)
	returned = true
}

// cleanup calls what was given to Cleanup, all of it even if one of them fails or panics.
func (g *G) cleanup() {
	g.mu.Lock()
	n := len(g.cleanups)
	if n == 0 {
		g.mu.Unlock()
		return
	}
	f := g.cleanups[n-1]
	g.cleanups = g.cleanups[:n-1]
	g.mu.Unlock()
	defer g.cleanup()
	f()
}

// checkNames returns an error if two cases have one name, or one has none.
func checkNames(cases []Case) error {
	seen := make(map[string]bool)
	for _, c := range cases {
		if c.Name == "" || len(c.Name) > maxNameBytes {
			return errors.New("a case has no name, or too long a one")
		}
		if seen[c.Name] {
			return fmt.Errorf("two cases are named '%s'", c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}
