package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// A program that a run is about must not begin before the events are on, and its
// first act, exec, is to be seen too. So this program is started once more, as a
// process that has done all it does of itself but that exec: Gate. It waits for a
// byte, with the number of the thread that the program will have.

// gateMark is the environment variable that says that a process is a gate. Its
// value is the path of the program.
const gateMark = "EP_SESSION_GATE"

// The gate's files: where it reads the byte that lets it go on, and where it
// writes one when it waits.
const (
	gateFD  = 3
	readyFD = 4
)

// Gate must be called first thing in main: in a process that Start made it waits
// and becomes the program, and does not return.
func Gate() {
	path := os.Getenv(gateMark)
	if path == "" {
		return
	}
	runtime.LockOSThread() // exec is the main thread's
	os.Exit(gate(path))
}

func gate(path string) int {
	syscall.CloseOnExec(gateFD)
	syscall.CloseOnExec(readyFD)
	if err := os.Unsetenv(gateMark); err != nil {
		return 126
	}
	env := os.Environ()
	one := []byte{0}
	if _, err := syscall.Write(readyFD, one); err != nil {
		return 126
	}
	for {
		n, err := syscall.Read(gateFD, one)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if n != 1 {
			return 125 // the run ended before it began
		}
		break
	}
	err := syscall.Exec(path, os.Args, env)
	fmt.Fprintf(os.Stderr, "ep: error: run '%s': %v\n", os.Args[0], err)
	return 126
}

// Child is a program that waits to be let go, runs, or has ended.
type Child struct {
	name string
	cmd  *exec.Cmd
	gate *os.File // the end that lets it go; nil once it is
	done chan struct{}
}

// Start starts a program that waits; args are its name, looked for in PATH, and
// its arguments. The calling program must call Gate. The error is exec.ErrNotFound,
// wrapped, if there is no such program.
func Start(args []string, stdin io.Reader, stdout, stderr io.Writer) (*Child, error) {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return nil, fmt.Errorf("run '%s': %w", args[0], reason(err))
	}
	c := &Child{name: args[0], done: make(chan struct{})}
	gateRead, gateWrite, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("run '%s': %w", args[0], err)
	}
	defer gateRead.Close()
	readyRead, readyWrite, err := os.Pipe()
	if err != nil {
		_ = gateWrite.Close() // nothing was written
		return nil, fmt.Errorf("run '%s': %w", args[0], err)
	}
	defer readyRead.Close()
	c.gate = gateWrite
	c.cmd = &exec.Cmd{
		Path: "/proc/self/exe", Args: args, Env: append(os.Environ(), gateMark+"="+path),
		Stdin: stdin, Stdout: stdout, Stderr: stderr, ExtraFiles: []*os.File{gateRead, readyWrite},
	}
	// If this process is killed, the program is asked to end. The kernel does so
	// when the thread ends that started it: one is kept for that.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.cmd.Start()
		started <- err
		if err == nil {
			_ = c.cmd.Wait() // code tells
			close(c.done)
		}
	}()
	err = <-started
	_ = readyWrite.Close() // the gate's
	if err != nil {
		_ = gateWrite.Close() // nobody reads
		return nil, fmt.Errorf("run '%s': %w", args[0], err)
	}
	if _, err := io.ReadFull(readyRead, make([]byte, 1)); err != nil {
		c.Stop()
		return nil, fmt.Errorf("run '%s': it did not start", args[0])
	}
	return c, nil
}

// reason returns an error without the names that os and os/exec add.
func reason(err error) error {
	for {
		var e *exec.Error
		var p *fs.PathError
		switch {
		case errors.As(err, &e):
			err = e.Err
		case errors.As(err, &p):
			err = p.Err
		default:
			return err
		}
	}
}

func (c *Child) pid() int { return c.cmd.Process.Pid }

// release lets the program begin.
func (c *Child) release() error {
	_, err := c.gate.Write([]byte{1})
	err = errors.Join(err, c.gate.Close())
	c.gate = nil
	if err != nil {
		return fmt.Errorf("run '%s': %w", c.name, err)
	}
	return nil
}

// ended is closed when the program has ended.
func (c *Child) ended() <-chan struct{} { return c.done }

// code returns the program's exit code, 128 and the number of the signal that
// ended it, or -1 while it runs.
func (c *Child) code() int {
	select {
	case <-c.done:
	default:
		return -1
	}
	state := c.cmd.ProcessState
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// grace is how long a program may take to end when it is asked to.
const grace = 2 * time.Second

// Stop ends a program that waits or runs.
func (c *Child) Stop() {
	if c.gate != nil {
		_ = c.gate.Close() // it ends by itself
		c.gate = nil
	}
	select {
	case <-c.done:
		return
	default:
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may have ended just now
	select {
	case <-c.done:
	case <-time.After(grace):
		_ = c.cmd.Process.Kill()
		<-c.done
	}
}

// Words takes a command line apart at blanks; quotes and backslashes are as in a
// shell, and nothing else of a shell is.
func Words(line string) ([]string, error) {
	var list []string
	var word []byte
	open, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == '\'' && c != '\'', quote == '"' && c != '"' && c != '\\':
			word = append(word, c)
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\':
			if i++; i == len(line) {
				return nil, errors.New("a backslash at the end")
			}
			word, open = append(word, line[i]), true
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if open {
				list = append(list, string(word))
			}
			word, open = nil, false
		default:
			word, open = append(word, c), true
		}
	}
	if quote != 0 {
		return nil, errors.New("the quote " + strconv.QuoteRune(rune(quote)) + " is not closed")
	}
	if open {
		list = append(list, string(word))
	}
	if len(list) == 0 {
		return nil, errors.New("no program is named")
	}
	return list, nil
}
