package vm

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// guestMark is the environment variable that tells a program that it is init of our guest. The kernel hands init every
// "name=value" of its command line that it does not know itself (init/main.c, unknown_bootoption).
const guestMark = "EP_VM_GUEST"

// qemuProgram names the emulator for the kernel's architecture.
func qemuProgram(k Kernel) string {
	if k.Arch == "arm64" {
		return "qemu-system-aarch64"
	}
	return "qemu-system-x86_64"
}

// qemuArgs returns the emulator's arguments. The console goes to file descriptor 3.
//
// An oops is made a panic, and a panic a reboot, which is the end (-no-reboot): the host need not guess whether a guest
// that lost a thread is still worth waiting for.
//
// The processors take turns (thread=single): side by side, QEMU before 8.1 now and then runs code that another processor
// has just changed, and a kernel that turns its tracepoints on and off dies of an int3 that is gone ("Oops: int3").
//
// The disk has one queue: of several, NVMe completes requests in batches that go past blk_update_request, which a
// kernel's documents probe and so do our tests (block/blk-mq.c, blk_mq_complete_request_remote).
func qemuArgs(m Machine, k Kernel, vmlinuz, initramfs, disk string) []string {
	machine, cpu, console := "pc", "max", "ttyS0"
	if k.Arch == "arm64" {
		// pauth-impdef: the architected pointer authentication is so slow to emulate that it doubles the boot.
		machine, cpu, console = "virt", "max,pauth-impdef=on", "ttyAMA0"
	}
	return []string{
		"-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-nic", "none",
		"-machine", machine, "-accel", "tcg,thread=single", "-cpu", cpu,
		"-smp", strconv.Itoa(m.cpus()), "-m", strconv.Itoa(m.memoryMiB()),
		"-chardev", "file,id=console,path=/dev/fd/3", "-serial", "chardev:console",
		"-drive", "if=none,id=results,format=raw,file=" + strings.ReplaceAll(disk, ",", ",,"),
		"-device", "nvme,drive=results,serial=epvm,max_ioqpairs=1",
		"-kernel", vmlinuz, "-initrd", initramfs,
		"-append", "console=" + console + " quiet oops=panic panic=-1 " + guestMark + "=1" + m.params(k),
	}
}

func (m Machine) params(k Kernel) string {
	params := ""
	if m.Bootconfig != "" {
		params += " bootconfig"
	}
	if m.Params != nil {
		params += " " + m.Params(k)
	}
	return params
}

// process is a running QEMU.
type process struct {
	done    chan struct{} // closed when it has ended and console is whole
	console tail
	stderr  tail
	kill    context.CancelFunc
}

// startQEMU starts the emulator. It is killed when ctx ends, or this process does.
func startQEMU(ctx context.Context, program string, args []string) (*process, error) {
	consoleOut, consoleIn, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &process{done: make(chan struct{}), kill: cancel}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.ExtraFiles = []*os.File{consoleIn}
	cmd.Stderr = &p.stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}

	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(&p.console, consoleOut) // a console cut short is shown as far as it got
		_ = consoleOut.Close()                 // it was only read
	}()
	started := make(chan error)
	go func() {
		// The parent that Pdeathsig watches is the thread that forked, so that it must outlive the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		_ = consoleIn.Close() // the child has its own
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is told by the frames and the console
		}
		<-copied
		cancel()
		close(p.done)
	}()
	if err := <-started; err != nil {
		<-p.done
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	return p, nil
}

// tail keeps the end of what is written to it. Several goroutines may use it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const maxTail = 64 << 10

// Write takes all of b.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if len(t.buf) > 2*maxTail {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-maxTail:]...)
	}
	return len(b), nil
}

// lines returns up to n last lines, without the carriage returns of a serial port.
func (t *tail) lines(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimRight(string(bytes.ReplaceAll(t.buf, []byte("\r"), nil)), "\n")
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
