package applyproof

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/eptrace/ep/runtime/tracefs"
)

// proveActionsUndone has triggers act that turn events and the whole buffer on and
// off, and demands that nothing of it stays: by ep run, ep apply and ep remove, and
// by a shell.
func proveActionsUndone(b *bench) {
	if !b.eprobes() {
		b.Skipf("this kernel has no eprobes")
	}
	b.foreign()
	before := b.whole()
	const path, script = "/tmp/actions.ep", "/tmp/actions.sh"
	if err := os.WriteFile(path, []byte(actionScript), 0o600); err != nil {
		b.Fatalf("%v", err)
	}
	acted := func(how string) {
		for range 100 {
			_ = exec.CommandContext(b.Context(), program, "version").Run() // forks and exits
			if text, err := b.fs.Read("tracing_on"); err != nil || strings.TrimSpace(string(text)) == "0" {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		b.Errorf("%s: no trigger has acted", how)
	}

	for range 3 {
		b.output(0, "apply", "--top-level", path)
		acted("apply")
		b.output(0, "remove", "actions")
		b.same("applied and removed", before, b.whole())
	}

	r := b.start(nil, "--top-level", path)
	acted("run")
	_ = r.cmd.Process.Signal(syscall.SIGINT)
	if code := r.end(); code != 128+int(syscall.SIGINT) {
		b.Errorf("run: exit code %d\n%s", code, r.stderr.buf.String())
	}
	b.same("run", before, b.whole())

	// Recording was off before: it is off again.
	set := func(to string) {
		if err := b.fs.Write("tracing_on", to, tracefs.Truncate); err != nil {
			b.Fatalf("%v", err)
		}
	}
	set("0")
	off := b.whole()
	b.output(0, "apply", "--top-level", path)
	set("1")
	b.output(0, "remove", "actions")
	b.same("recording was off", off, b.whole())
	set("1")

	if _, err := os.Stat(busybox); err != nil {
		b.Logf("no BusyBox: the shell's script is not tried")
		return
	}
	b.output(0, "compile", "--as", "sh", "-o", script, path)
	for range 2 {
		if out, err := exec.CommandContext(b.Context(), busybox, "sh", script, "start").CombinedOutput(); err != nil {
			b.Errorf("start: %v: %s", err, out)
		}
		acted("sh")
		if out, err := exec.CommandContext(b.Context(), busybox, "sh", script, "stop").CombinedOutput(); err != nil {
			b.Errorf("stop: %v: %s", err, out)
		}
		b.same("sh", before, b.whole())
	}
	text, _ := b.output(0, "compile", path)
	undo, _ := b.output(0, "compile", "--undo", path)
	for _, lines := range []string{text, undo} {
		for line := range strings.Lines(lines) {
			for try := 0; ; try++ {
				cmd := exec.CommandContext(b.Context(), busybox, "sh", "-c", line)
				cmd.Dir = b.fs.Dir()
				out, err := cmd.CombinedOutput()
				if err == nil {
					break
				}
				if try == 10 {
					b.Errorf("%s: %v: %s", line, err, out)
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
		}
		if lines == text {
			acted("lines")
		}
	}
	b.same("lines of a shell", before, b.whole())
}
