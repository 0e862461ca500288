package vm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"time"
)

// Program is a static program to run in a guest.
type Program struct {
	Init string   // path of a static program that calls [Guest], to be init
	Path string   // path on the host; it lies in /bin of the guest
	Args []string // without the program's name

	Stdout, Stderr io.Writer // nil discards

	// OutDir is the folder of the host that takes the files which the program leaves in /out, where it starts. Empty
	// drops them. It is made if need be.
	OutDir string
}

// Exec boots the kernel and runs the program in it, as root, until it ends or ctx does. It returns the exit code; a
// program ended by a signal has 128 and its number. The error is about the machine, or says that the guest died.
func (m Machine) Exec(ctx context.Context, k Kernel, p Program) (int, error) {
	if err := checkStatic(p.Path, k.GoArch()); err != nil {
		return 0, err
	}
	inGuest := path.Join("/bin", filepath.Base(p.Path))
	run := &run{program: p}
	if p.OutDir != "" {
		if err := os.MkdirAll(p.OutDir, 0o755); err != nil {
			return 0, fmt.Errorf("make the folder for output: %w", err)
		}
		root, err := os.OpenRoot(p.OutDir)
		if err != nil {
			return 0, fmt.Errorf("open the folder for output: %w", err)
		}
		defer root.Close()
		run.out = root
	}
	asked := request{Kernel: k, Args: append([]string{inGuest}, p.Args...)}
	end, err := m.boot(ctx, k, p.Init, asked, map[string]content{inGuest: {path: p.Path}}, run)
	err = errors.Join(err, run.closeFile())
	if err == nil && !run.exited {
		err = end.asError()
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", k.Name, err)
	}
	return run.code, nil
}

// run is what the host has of a running program.
type run struct {
	program Program
	out     *os.Root // nil drops the files
	file    *os.File // the file being received, or nil
	exited  bool
	code    int
}

var _ listener = (*run)(nil)

// hear takes an event. The program may be silent as long as ctx allows.
func (r *run) hear(ev event, data []byte) (time.Duration, error) {
	const forever = time.Duration(math.MaxInt64)
	switch ev.Kind {
	case eventStart:
		return forever, nil
	case eventStdout:
		return forever, write(r.program.Stdout, data)
	case eventStderr:
		return forever, write(r.program.Stderr, data)
	case eventOutput:
		return bootTimeout, r.receive(ev, data)
	case eventExit:
		r.exited, r.code = true, ev.Code
		return bootTimeout, nil
	}
	return 0, fmt.Errorf("internal error: the guest sent an event '%s' for a program", ev.Kind)
}

func write(w io.Writer, data []byte) error {
	if w == nil {
		return nil
	}
	_, err := w.Write(data)
	return err
}

// receive writes a piece of a file. The Root sees to it that no name leads out of the folder.
func (r *run) receive(ev event, data []byte) error {
	if r.out == nil {
		return nil
	}
	if ev.Offset == 0 {
		if err := r.closeFile(); err != nil {
			return err
		}
		if err := r.out.MkdirAll(path.Dir(ev.Name), 0o755); err != nil {
			return err
		}
		f, err := r.out.Create(ev.Name)
		if err != nil {
			return err
		}
		r.file = f
	}
	if r.file == nil {
		return fmt.Errorf("internal error: a piece of '%s' is out of place", ev.Name)
	}
	_, err := r.file.WriteAt(data, ev.Offset)
	return err
}

func (r *run) closeFile() error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}
