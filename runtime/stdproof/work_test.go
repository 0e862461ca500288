package stdproof

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/eptrace/ep/runtime/vm"
)

// nowhere is a file that is not there.
const nowhere = "/nonexistent-by-ep"

// victimMark has the test's program be a child that takes memory until the
// kernel kills it.
const victimMark = "EP_STDPROOF_VICTIM"

// victim offers itself and takes all memory there is.
func victim() {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // else the kernel chooses
	for {
		mem := make([]byte, 16<<20)
		for i := 0; i < len(mem); i += 4096 {
			mem[i] = 1
		}
		kept = append(kept, mem)
	}
}

var kept [][]byte

// outOfMemory has a child killed for want of memory.
func outOfMemory(g *vm.G) {
	cmd := exec.CommandContext(g.Context(), "/init")
	cmd.Env = append(os.Environ(), victimMark+"=1")
	if err := cmd.Run(); err == nil {
		g.Fatalf("the child ended by itself")
	}
}

// waitForEachOther has a thread wait for a futex that nobody wakes.
func waitForEachOther(g *vm.G) {
	var word uint32
	t := unix.NsecToTimespec(int64(30 * time.Millisecond))
	const wait = 0 // FUTEX_WAIT
	_, _, errno := unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&word)), wait, 0, uintptr(unsafe.Pointer(&t)), 0, 0)
	if errno != unix.ETIMEDOUT && errno != unix.EINTR {
		g.Fatalf("futex: %v", errno)
	}
}

func failingOpen(g *vm.G) {
	if fd, err := unix.Openat(unix.AT_FDCWD, nowhere, unix.O_RDONLY, 0); err == nil {
		_ = unix.Close(fd)
		g.Fatalf("%s is there", nowhere)
	}
}

func failingDelete(g *vm.G) {
	if err := unix.Unlinkat(unix.AT_FDCWD, nowhere, 0); !errors.Is(err, unix.ENOENT) {
		g.Fatalf("unlinkat: %v", err)
	}
}

func mount(g *vm.G) {
	const dir = "/tmp/by-ep"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		g.Fatalf("%v", err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
		g.Fatalf("mount: %v", err)
	}
	if err := unix.Unmount(dir, 0); err != nil {
		g.Fatalf("unmount: %v", err)
	}
}

// execute runs this program as a child that has no tests to run.
func execute(g *vm.G) {
	out, err := exec.CommandContext(g.Context(), "/init", "-test.run=^$").CombinedOutput()
	if err != nil {
		g.Fatalf("%v: %s", err, out)
	}
}

// sleepALot has threads that sleep for longer than any module's threshold.
func sleepALot(*vm.G) {
	done := make(chan bool)
	for range 4 {
		go func() {
			runtime.LockOSThread()
			for range 5 {
				t := unix.NsecToTimespec(int64(25 * time.Millisecond))
				_ = unix.Nanosleep(&t, nil) // a signal only makes it shorter
			}
			time.Sleep(25 * time.Millisecond)
			done <- true
		}()
	}
	for range 4 {
		<-done
	}
}

// readDisk reads the guest's disk past the page cache.
func readDisk(g *vm.G) {
	fd, err := unix.Open("/dev/nvme0n1", unix.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		g.Fatalf("open the disk: %v", err)
	}
	defer unix.Close(fd)
	buf, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		g.Fatalf("mmap: %v", err)
	}
	defer unix.Munmap(buf)
	for i := range 8 {
		if _, err := unix.Pread(fd, buf, int64(i)*4096); err != nil {
			g.Fatalf("read the disk: %v", err)
		}
	}
}

func readFile(g *vm.G) {
	if _, err := os.ReadFile("/proc/version"); err != nil {
		g.Fatalf("%v", err)
	}
}

func touchMemory(g *vm.G) {
	const size = 16 << 20
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		g.Fatalf("mmap: %v", err)
	}
	for i := 0; i < size; i += 4096 {
		mem[i] = 1
	}
	if err := unix.Munmap(mem); err != nil {
		g.Fatalf("munmap: %v", err)
	}
}

func signalSelf(g *vm.G) {
	if err := unix.Kill(unix.Getpid(), unix.SIGURG); err != nil { // which Go's runtime takes
		g.Fatalf("kill: %v", err)
	}
}

func connect(g *vm.G) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		g.Fatalf("%v", err)
	}
	defer l.Close()
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		g.Fatalf("%v", err)
	}
	_ = c.Close()
}

// unansweredConnect connects to a listener that is full: the kernel drops the
// SYN and sends it again after a second.
func unansweredConnect(g *vm.G) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		g.Fatalf("%v", err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		g.Fatalf("bind: %v", err)
	}
	if err := unix.Listen(fd, 0); err != nil {
		g.Fatalf("listen: %v", err)
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		g.Fatalf("%v", err)
	}
	for range 4 {
		c, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			g.Fatalf("%v", err)
		}
		defer unix.Close(c)
		if err := unix.Connect(c, at); err != nil && !errors.Is(err, unix.EINPROGRESS) {
			g.Fatalf("connect: %v", err)
		}
	}
	time.Sleep(1500 * time.Millisecond)
}

// sendToNobody sends a datagram to a port that nobody has.
func sendToNobody(g *vm.G) {
	c, err := net.Dial("udp4", "127.0.0.1:9")
	if err != nil {
		g.Fatalf("%v", err)
	}
	defer c.Close()
	_, _ = c.Write([]byte("ep")) // an earlier one's refusal may come back here
}
