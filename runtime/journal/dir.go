package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// suffix ends the names of journals' files.
const suffix = ".journal"

// Dir is the private folder of the journals. Its methods may be called from
// several goroutines and processes.
type Dir struct {
	root *os.Root
	path string
}

// DefaultPath returns where the folder is: /run/ep for root, else ep in
// $XDG_RUNTIME_DIR, whose value getenv gives. The error says that there is no
// such place.
func DefaultPath(uid int, getenv func(string) string) (string, error) {
	if uid == 0 {
		return "/run/ep", nil
	}
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "ep"), nil
	}
	return "", errors.New("no place for the journal: neither root nor XDG_RUNTIME_DIR")
}

// OpenDir opens the folder of journals at path, and makes it if it is not there
// and make is set. It must belong to this user and be closed to all others, for
// what a journal says is done to the kernel. The error is fs.ErrNotExist,
// wrapped, if there is none.
func OpenDir(path string, make bool) (*Dir, error) {
	if make {
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("make the journal's folder: %w", err)
		}
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("open the journal's folder: %w", err)
	}
	if err := private(info); err != nil {
		return nil, fmt.Errorf("open the journal's folder %s: %w", path, err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open the journal's folder: %w", err)
	}
	// What was looked at may have been put aside for another since.
	if info, err = root.Stat("."); err == nil {
		err = private(info)
	}
	if err != nil {
		_ = root.Close() // nothing was written
		return nil, fmt.Errorf("open the journal's folder %s: %w", path, err)
	}
	return &Dir{root: root, path: path}, nil
}

// private returns an error unless a folder is this user's alone.
func private(info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0 || !info.IsDir():
		return errors.New("it is no folder")
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("others may use it (mode %#o, want 0700)", info.Mode().Perm())
	case !ours(info):
		return errors.New("it belongs to another user")
	}
	return nil
}

// Path returns where the folder is.
func (d *Dir) Path() string { return d.path }

// Close closes the folder.
func (d *Dir) Close() error { return d.root.Close() }

// Lock waits until no other process holds the folder's lock, and takes it. If it
// has to wait, it calls waits first, which may be nil. The returned function, which
// may be called again, gives the lock back, as the end of the process does.
func (d *Dir) Lock(waits func()) (unlock func(), err error) {
	f, err := d.root.OpenFile("lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the journals: %w", err)
	}
	how := unix.LOCK_EX | unix.LOCK_NB
	for {
		err = unix.Flock(int(f.Fd()), how)
		if errors.Is(err, unix.EWOULDBLOCK) {
			if how = unix.LOCK_EX; waits != nil {
				waits()
			}
			continue
		}
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		_ = f.Close() // it was not locked
		return nil, fmt.Errorf("lock the journals: %w", err)
	}
	return func() { _ = f.Close() }, nil // closing unlocks
}

// Held reports whether the process that made a journal still has it open, in
// whatever PID namespace that process is. What cannot be told counts as held:
// nothing of it is touched.
func (d *Dir) Held(id string) bool {
	name, err := fileName(id)
	if err != nil {
		return false
	}
	f, err := d.root.Open(name)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close() // which unlocks
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil
}

// Create makes the journal called id, locks it for as long as the Writer is open,
// and notes its head. The error is
// fs.ErrExist, wrapped, if there is one of the name.
func (d *Dir) Create(id string, h Head) (*Writer, error) {
	name, err := fileName(id)
	if err != nil {
		return nil, err
	}
	h.Version = version
	var text bytes.Buffer
	if err := encode(&text, h); err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make a journal: %w", err)
	}
	w := &Writer{dir: d, id: id, file: f}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("lock a journal: %w", err), w.Remove())
	}
	if err := w.write(text.Bytes(), false); err != nil {
		return nil, errors.Join(err, w.Remove())
	}
	return w, nil
}

// Append opens a journal to note more. The error is fs.ErrNotExist, wrapped, if
// there is none.
func (d *Dir) Append(id string) (*Writer, error) {
	name, err := fileName(id)
	if err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, fmt.Errorf("open a journal: %w", err)
	}
	return &Writer{dir: d, id: id, file: f}, nil
}

// Read reads a journal. The error is fs.ErrNotExist or ErrUnreadable, wrapped.
func (d *Dir) Read(id string) (*Journal, error) {
	name, err := fileName(id)
	if err != nil {
		return nil, err
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open a journal: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read journal '%s': %w", id, err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("read journal '%s': %w: too long", id, ErrUnreadable)
	}
	j, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read journal '%s': %w", id, err)
	}
	j.ID = id
	return j, nil
}

// List reads all journals, by name. One that cannot be read is among the errors
// that come with the others, joined; one that has gone meanwhile is left out, and
// one that its process has just begun.
func (d *Dir) List() ([]*Journal, error) {
	ids, err := d.ids()
	if err != nil {
		return nil, err
	}
	var list []*Journal
	var errs []error
	for _, id := range ids {
		j, err := d.Read(id)
		switch {
		case err == nil:
			list = append(list, j)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNoHead):
			errs = append(errs, err)
		}
	}
	return list, errors.Join(errs...)
}

// Sweep removes the files of processes that were killed before they did anything.
// The caller holds the lock, and journals are made by who holds it.
func (d *Dir) Sweep() error {
	ids, err := d.ids()
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range ids {
		if _, err := d.Read(id); errors.Is(err, errNoHead) {
			errs = append(errs, d.Remove(id))
		}
	}
	return errors.Join(errs...)
}

// ids lists the names of all journals, sorted.
func (d *Dir) ids() ([]string, error) {
	folder, err := d.root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("list journals: %w", err)
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list journals: %w", err)
	}
	var ids []string
	for _, name := range names {
		if id, ok := strings.CutSuffix(name, suffix); ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// Remove removes a journal; one that is not there is no error.
func (d *Dir) Remove(id string) error {
	name, err := fileName(id)
	if err != nil {
		return err
	}
	if err := d.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a journal: %w", err)
	}
	return nil
}

// ValidName reports whether a script may be installed under a name: it names a
// file, and stands in messages and command lines.
func ValidName(name string) bool {
	if name == "" || len(name) > 100 || name[0] == '.' || name[0] == '-' {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == ""
}

func fileName(id string) (string, error) {
	if !ValidName(id) {
		return "", fmt.Errorf("journal '%s': %w", id, fs.ErrInvalid)
	}
	return id + suffix, nil
}
