package applyproof

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxResident is what a run may take of memory, KiB, however many records it
// shows.
const maxResident = 64 << 10

var (
	shownRecords = regexp.MustCompile(`ep: (\d+) records? in`)
	lostRecords  = regexp.MustCompile(`; (\d+) records? lost`)
)

// measureLoad has a run show as many records as this process can make: none is
// lost silently, and memory stays flat.
func measureLoad(b *bench) {
	calls := 1_000_000
	if strings.HasPrefix(b.Kernel().Name, "6.12-") {
		calls = 10_000_000
	}
	for _, format := range []string{"text", "json"} {
		before := b.whole()
		r := b.start(nil, "--format", format, "-o", "/dev/null", "-e", "option buffer 2MiB\ntrace syscalls.sys_enter_getppid")
		start := time.Now()
		early := 0
		for i := range calls {
			unix.Getppid()
			if i == calls/10 {
				early = b.resident(r.cmd.Process.Pid)
			}
		}
		made := time.Since(start)
		late := b.resident(r.cmd.Process.Pid)
		_ = r.cmd.Process.Signal(syscall.SIGINT)
		if code := r.end(); code != 130 {
			b.Errorf("exit code %d\n%s", code, r.stderr.buf.String())
		}
		said := r.stderr.buf.String()
		shown, lost := number(shownRecords, said), number(lostRecords, said)
		b.Logf("%s: %d events in %v (%.0f a second): %d shown, %d lost; most memory %d KiB after a tenth of them, %d KiB after all",
			format, calls, made.Round(time.Millisecond), float64(calls)/made.Seconds(), shown, lost, early, late)
		if shown+lost != calls {
			b.Errorf("%s: %d shown and %d lost are not %d:\n%s", format, shown, lost, calls, said)
		}
		if late > maxResident {
			b.Errorf("%s: the run took %d KiB of memory, want at most %d", format, late, maxResident)
		}
		b.same("load", before, b.whole())
		calls = min(calls, 1_000_000)
	}
}

// resident returns how much memory a process has held at most, KiB.
func (b *bench) resident(pid int) int {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		b.Fatalf("%v", err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	rest, _, _ = strings.Cut(rest, "kB")
	n, err := strconv.Atoi(strings.TrimSpace(rest))
	if err != nil {
		b.Fatalf("VmHWM: %v", err)
	}
	return n
}

// number returns the number in a text, 0 if there is none.
func number(re *regexp.Regexp, text string) int {
	m := re.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // the expression has digits alone
	return n
}
