package vm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"
)

// Guest makes the program its own guest: called first thing in main, or by [Main], it returns at once on the host. As
// init of a kernel that this package booted it does what the host asked, cases among them, and powers off.
func Guest(cases []Case) {
	if os.Getpid() != 1 || os.Getenv(guestMark) == "" {
		return
	}
	debug.SetTraceback("all")
	if err := guest(cases); err != nil {
		// The host sees that no event followed, and shows the console.
		fmt.Fprintln(os.Stderr, "epvm:", err)
	}
	err := unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
	panic(fmt.Errorf("internal error: power off: %w", err))
}

func guest(cases []Case) error {
	if err := mountAll(); err != nil {
		return err
	}
	results, err := openResults()
	if err != nil {
		return err
	}
	if err := results.write(event{Kind: eventHello}, nil); err != nil {
		return err
	}
	err = serve(results, cases)
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	return results.write(event{Kind: eventBye}, []byte(reason))
}

// serve does what the host asked.
func serve(results *frameWriter, cases []Case) error {
	if err := loopbackUp(); err != nil {
		return err
	}
	if err := setEnvironment(); err != nil {
		return err
	}
	text, err := os.ReadFile(requestFile)
	if err != nil {
		return err
	}
	var asked request
	if err := json.Unmarshal(text, &asked); err != nil {
		return fmt.Errorf("read %s: %w", requestFile, err)
	}
	if len(asked.Args) > 0 {
		return execProgram(results, asked.Args)
	}
	return runCases(results, asked, cases)
}

// mountAll mounts what a system has. What an old or small kernel may lack is not waited for.
func mountAll() error {
	mounts := []struct {
		fstype, target string
		optional       bool
	}{
		{"proc", "/proc", false},
		{"sysfs", "/sys", false},
		{"devtmpfs", "/dev", false},
		{"tmpfs", "/tmp", false},
		{"tmpfs", "/run", false},
		{"tmpfs", "/out", false},
		{"tracefs", "/sys/kernel/tracing", true},
		{"debugfs", "/sys/kernel/debug", true},
		{"bpf", "/sys/fs/bpf", true},
	}
	for _, m := range mounts {
		err := unix.Mount(m.fstype, m.target, m.fstype, 0, "")
		if err != nil && !m.optional {
			return fmt.Errorf("mount %s on %s: %w", m.fstype, m.target, err)
		}
	}
	return nil
}

// openResults opens the disk that the host reads. The kernel looks for it while init starts, so that it may be late.
func openResults() (*frameWriter, error) {
	const disk = "/dev/nvme0n1"
	deadline := time.Now().Add(20 * time.Second)
	for {
		// Direct, so that a frame is with the host when the write returns, and no memory of the guest is taken.
		fd, err := unix.Open(disk, unix.O_RDWR|unix.O_DIRECT|unix.O_CLOEXEC, 0)
		if err == nil {
			return newResults(os.NewFile(uintptr(fd), disk))
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("open %s: %w", disk, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func newResults(disk *os.File) (*frameWriter, error) {
	// Memory of its own mapping is aligned to a page, as direct writes want.
	buf, err := unix.Mmap(-1, 0, maxFrame, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("map a buffer: %w", err)
	}
	return &frameWriter{w: disk, size: diskBytes, buf: buf}, nil
}

// loopbackUp brings lo up; the kernel then gives it its addresses.
func loopbackUp() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("bring up lo: %w", err)
	}
	defer unix.Close(socket)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("bring up lo: %w", err)
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("bring up lo: %w", err)
	}
	return nil
}

func setEnvironment() error {
	for name, value := range map[string]string{"PATH": "/bin", "HOME": "/tmp", "LANG": "C.UTF-8"} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	if err := os.Unsetenv(guestMark); err != nil {
		return err
	}
	// The boot was quiet, for a serial port is slow. From here on the console is for what the kernel says of our doings:
	// all but debugging (7).
	if err := os.WriteFile("/proc/sys/kernel/printk", []byte("7"), 0); err != nil {
		return err
	}
	return os.Chdir("/tmp")
}

// runCases runs the asked cases, in the order asked. After one that timed out it leaves the rest to another boot.
func runCases(results *frameWriter, asked request, cases []Case) error {
	byName := make(map[string]Case)
	for _, c := range cases {
		byName[c.Name] = c
	}
	log, err := openKmsg()
	if err != nil {
		return err
	}
	for _, name := range asked.Cases {
		c, ok := byName[name]
		if !ok {
			return fmt.Errorf("the guest has no case '%s'", name)
		}
		goOn, err := runCase(results, asked.Kernel, log, c)
		if err != nil || !goOn {
			return err
		}
	}
	return nil
}

// runCase runs one case and tells the host. It reports whether the guest is fit to run another.
func runCase(results *frameWriter, kernel Kernel, log *kmsg, c Case) (bool, error) {
	if _, err := log.records(); err != nil { // what came between cases is nobody's
		return false, err
	}
	if err := results.write(event{Kind: eventStart, Case: c.Name}, nil); err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.timeout())
	defer cancel()
	g := &G{name: c.Name, kernel: kernel, ctx: ctx, results: results}
	start := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.run(c, cancel)
	}()
	end := event{Kind: eventEnd, Case: c.Name}
	select {
	case <-done:
		g.mu.Lock()
		end.Status, end.Reason = g.status, g.reason
		g.mu.Unlock()
		if end.Status == "" {
			end.Status = Passed
		}
	case <-time.After(c.timeout() + time.Second): // a second to notice that its Context ended
		end.Status, end.Reason = TimedOut, fmt.Sprintf("not done after %v", c.timeout())
		stacks := make([]byte, 128<<10)
		stacks = stacks[:runtime.Stack(stacks, true)]
		if err := results.write(event{Kind: eventLog, Case: c.Name}, stacks); err != nil {
			return false, err
		}
	}
	end.Duration = time.Since(start)

	records, err := log.records()
	if text := complaint(records); text != "" {
		err = errors.Join(err, results.write(event{Kind: eventKernel, Case: c.Name}, []byte(text)))
	}
	return end.Status != TimedOut, errors.Join(err, results.write(end, nil))
}
