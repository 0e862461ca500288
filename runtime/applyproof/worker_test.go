package applyproof

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// workerMark in a process's environment makes it what workerMark's value says.
const workerMark = "EP_APPLYPROOF_WORKER"

// worker is a process that does something of everything that scripts record. It
// must be there before a run is: ep does not record what itself starts.
type worker struct {
	b   *bench
	in  io.WriteCloser
	out *bufio.Scanner
}

// newWorker starts a worker, which ends with the case.
func newWorker(b *bench) *worker {
	if err := os.MkdirAll("/usr/bin", 0o755); err != nil {
		b.Fatalf("%v", err)
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatalf("%v", err)
	}
	if err := os.Symlink(self, downloader); err != nil && !os.IsExist(err) {
		b.Fatalf("%v", err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), workerMark+"=work")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatalf("%v", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatalf("%v", err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatalf("start the worker: %v", err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			b.Errorf("the worker: %v", err)
		}
	})
	return &worker{b, in, bufio.NewScanner(out)}
}

// work has it work once. Markers go to the instance's trace_marker too.
func (w *worker) work(instance string) {
	if _, err := fmt.Fprintln(w.in, instance); err != nil || !w.out.Scan() || w.out.Text() != "done" {
		w.b.Errorf("the worker said %q: %v, %v", w.out.Text(), err, w.out.Err())
	}
}

// downloader is what scripts of the kernel's documents wait for.
const downloader = "/usr/bin/wget"

// workerMain is the worker, and what it starts.
func workerMain(what string) int {
	if what == "download" {
		if err := talk(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	signal.Ignore(unix.SIGUSR1, unix.SIGTERM)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if err := workOnce(lines.Text()); err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println("done")
	}
	return 0
}

// workOnce does it all from a thread called cyclictest.
func workOnce(instance string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	old, err := os.ReadFile("/proc/thread-self/comm")
	if err != nil {
		return err
	}
	for _, name := range []string{"ash", "cyclictest"} {
		if err := rename(name); err != nil {
			return err
		}
		for range 3 {
			if err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &unix.Timespec{Nsec: 2e6}, nil); err != nil && err != unix.EINTR {
				return err
			}
		}
	}
	defer func() { _ = rename(string(old[:len(old)-1])) }()

	for _, in := range []string{"", "instances/" + instance + "/"} {
		f, err := os.OpenFile("/sys/kernel/tracing/"+in+"trace_marker", os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		for _, text := range []string{"start of it", "end of it"} {
			_, _ = f.WriteString(text) // it is refused while a script has stopped recording
		}
		if err := f.Close(); err != nil {
			return err
		}
	}

	if f, err := os.Open("/no/password/here"); err == nil {
		_ = f.Close()
	}
	if _, err := os.ReadFile("/proc/version"); err != nil {
		return err
	}
	// The value is copied, to 64 KiB that are taken for it, before it is refused.
	_ = unix.Setxattr("/proc/version", "user.ep", make([]byte, 64<<10), 0)
	mem, err := unix.Mmap(-1, 0, 4<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	for i := 0; i < len(mem); i += 4096 {
		mem[i] = 1
	}
	if err := unix.Munmap(mem); err != nil {
		return err
	}
	for _, sig := range []unix.Signal{unix.SIGUSR1, unix.SIGTERM} {
		if err := unix.Kill(os.Getpid(), sig); err != nil {
			return err
		}
	}
	if err := holdFiles(); err != nil {
		return err
	}
	if err := talk(); err != nil {
		return err
	}
	cmd := exec.Command(downloader, "an argument")
	cmd.Env = append(os.Environ(), workerMark+"=download")
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// holdFiles keeps a file open for more than a tenth of a second, finds that there
// are no more to be had, and deletes one.
func holdFiles() error {
	fd, err := unix.Open("/proc/version", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	time.Sleep(120 * time.Millisecond)
	if err := unix.Close(fd); err != nil {
		return err
	}
	var most unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &most); err != nil {
		return err
	}
	none := most
	none.Cur = 1
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		return err
	}
	_, full := unix.Open("/proc/version", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &most); err != nil {
		return err
	}
	if full != unix.EMFILE {
		return fmt.Errorf("open with no more files: %w", full)
	}
	const log = "/tmp/ep-worker.log"
	if err := os.MkdirAll("/tmp", 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(log, []byte("x"), 0o600); err != nil {
		return err
	}
	return os.Remove(log)
}

func rename(name string) error {
	return os.WriteFile("/proc/thread-self/comm", []byte(name), 0)
}

// talk sends packets to itself: of more than 4096 bytes, and of 256 with their
// headers.
func talk() error {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		return err
	}
	defer c.Close()
	far, err := l.Accept()
	if err != nil {
		return err
	}
	defer far.Close()
	data := make([]byte, 20000)
	for range 3 {
		if _, err := c.Write(data); err != nil {
			return err
		}
		if _, err := io.ReadFull(far, data); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	to, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	if err := unix.Sendto(fd, make([]byte, 256-28), 0, to); err != nil {
		return err
	}
	_, _, err = unix.Recvfrom(fd, data, 0)
	return err
}
