// Package tracefs finds and opens the tracefs of this machine and does single
// reads and writes there.
//
// It knows files, not commands: what to write, and in which order, is the
// caller's. Read tracefs.go for that, errorlog.go for what the kernel says of a
// write that it refused, and find.go for where tracefs is.
package tracefs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"

	"github.com/eptrace/ep/compiler/plan"
)

// ErrNotFound says that there is no tracefs.
var ErrNotFound = errors.New("no tracefs is mounted")

// FS is an open tracefs. Names of files are relative to its root, with slashes;
// none leads out of it, whatever symbolic links are there.
//
// Its methods may be called from several goroutines.
type FS struct {
	root *os.Root
	dir  string
}

// Open opens the tracefs that is mounted at dir or, if dir is "", the one that
// [Find] finds. The error is ErrNotFound, wrapped, if there is none, and
// fs.ErrPermission, wrapped, if it may not be read.
func Open(dir string) (*FS, error) {
	if dir == "" {
		var err error
		if dir, err = Find(); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open tracefs: %w", err)
	}
	// A mount point without a mount is an empty folder.
	if _, err := root.Stat("events"); err != nil {
		_ = root.Close() // nothing was written
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("open %s: %w", dir, ErrNotFound)
		}
		return nil, fmt.Errorf("open tracefs: %w", err)
	}
	return &FS{root: root, dir: dir}, nil
}

// Close closes the tracefs. What was written stays.
func (f *FS) Close() error { return f.root.Close() }

// Dir returns where the tracefs is mounted.
func (f *FS) Dir() string { return f.dir }

// Mode is how Write opens its file.
type Mode uint8

// The modes. Truncating a file of commands deletes what others put there: all
// dynamic events, or all hist triggers of an event.
const (
	Append   Mode = iota // O_APPEND
	Truncate             // O_TRUNC: for files that hold one value
)

// Write writes data to a file with exactly one write(2), for tracefs takes each
// write as a whole: half a command is another command. It never creates a file.
//
// The error is a *fs.PathError. If its cause is io.ErrShortWrite, the kernel
// took a part of data; otherwise it took nothing, save that of several lines
// those before the bad one are carried out.
func (f *FS) Write(name, data string, mode Mode) error {
	flag := os.O_WRONLY | os.O_APPEND
	if mode == Truncate {
		flag = os.O_WRONLY | os.O_TRUNC
	}
	file, err := f.root.OpenFile(name, flag, 0)
	if err != nil {
		return err
	}
	err = writeOnce(file, data)
	// The kernel has answered already: closing tells nothing new.
	_ = file.Close()
	if err != nil {
		return &fs.PathError{Op: "write", Path: name, Err: err}
	}
	return nil
}

// writeOnce is os.File.Write without its loop, which would write what is left
// after a short write as if it were a command of its own.
func writeOnce(file *os.File, data string) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var n int
	var refused error
	if err := conn.Write(func(fd uintptr) bool {
		n, refused = unix.Write(int(fd), []byte(data))
		return true
	}); err != nil {
		return err
	}
	if refused == nil && n < len(data) {
		return io.ErrShortWrite
	}
	return refused
}

// Read returns what a file reads. The error is a *fs.PathError.
func (f *FS) Read(name string) ([]byte, error) { return f.root.ReadFile(name) }

// Exists reports whether there is a file or folder of the name.
func (f *FS) Exists(name string) bool {
	_, err := f.root.Stat(name)
	return err == nil
}

// In returns the name of a file in an instance; the instance "" is the top
// level.
func In(instance, name string) string {
	if instance == "" {
		return name
	}
	return path.Join("instances", instance, name)
}

// Instances returns the names of the instances, sorted; none if the kernel has
// no instances.
func (f *FS) Instances() ([]string, error) {
	entries, err := fs.ReadDir(f.root.FS(), "instances")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list instances: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// FS returns the tracefs as a file system to read. Its files are *os.File.
func (f *FS) FS() fs.FS { return f.root.FS() }

// MakeInstance makes an instance: buffers, events and triggers of its own. The
// error is fs.ErrExist, wrapped, if there is one of the name.
func (f *FS) MakeInstance(name string) error {
	if err := checkInstance(name); err != nil {
		return err
	}
	if err := f.root.Mkdir(In(name, ""), 0o750); err != nil {
		return fmt.Errorf("make instance: %w", err)
	}
	return nil
}

// busyFor is how long RemoveInstance waits for those who only look: a program
// that lists what there is has each file open for an instant.
const busyFor = time.Second

// RemoveInstance removes an instance, with its records and whatever is enabled
// in it. It is EBUSY if a file of it stays open.
func (f *FS) RemoveInstance(name string) error {
	if err := checkInstance(name); err != nil {
		return err
	}
	for end := time.Now().Add(busyFor); ; time.Sleep(busyFor / 100) {
		err := f.root.Remove(In(name, ""))
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) || time.Now().After(end) {
			return fmt.Errorf("remove instance: %w", err)
		}
	}
}

// checkInstance returns an error unless name is one that an instance may have.
func checkInstance(name string) error {
	if !plan.ValidInstance(name) {
		return fmt.Errorf("instance '%s': %w", name, fs.ErrInvalid)
	}
	return nil
}
