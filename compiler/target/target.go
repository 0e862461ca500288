// Package target describes one kernel: what the compiler may know of the
// machine that a script will run on.
//
// A target is a root file system seen through fs.FS, the live machine's, a
// saved one's or an embedded one's, so that one path of code reads all three.
// Nothing is read before it is asked for. Read target.go first, then
// feature.go for what kernels can do and saved.go for how a target is kept in
// one file.
package target

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

// ErrNotFound is what Format and others return, wrapped, for what the target
// has not.
var ErrNotFound = errors.New("not found")

// Target is one kernel. It does not change after it is opened, though the
// files of a live one may; what was read once is kept. All methods may be
// called from several goroutines.
type Target struct {
	name   string
	fsys   fs.FS
	root   string // where tracefs is in fsys, "." if fsys is itself one
	system system

	booting bool

	mu        sync.Mutex
	formats   map[string]*Format  // by "system/event"
	texts     map[string]text     // small files, by path
	has       map[Feature]bool    // features decided so far
	symbols   map[string]Function // functions looked up so far
	namesakes map[string]int      // of those asked for so far

	btf btfs // type information, opened when it is asked for
}

// text is a file that was read, or why it could not be.
type text struct {
	data []byte
	err  error
}

// tracefsPaths is where tracefs may be in a root file system, the likeliest
// first. The last is fsys itself: a copy of tracefs.
var tracefsPaths = []string{"sys/kernel/tracing", "sys/kernel/debug/tracing", "."}

// Open returns the target that fsys shows. fsys is the root of a machine's
// file system (or a copy of it as far as a target needs), or a copy of a
// tracefs, which has events and README at its root. It reads only what tells
// the release and the architecture.
//
// If there is no tracefs, the error is ErrNotFound; if there is one that may
// not be read, it is fs.ErrPermission; both are wrapped.
func Open(name string, fsys fs.FS) (*Target, error) {
	var denied error
	for _, p := range tracefsPaths {
		// A mount point without a mount is an empty folder.
		_, err := fs.Stat(fsys, path.Join(p, "README"))
		if err == nil {
			_, err = fs.Stat(fsys, path.Join(p, "events"))
		}
		if err == nil {
			t := newTarget(name, fsys, p)
			t.system = t.findSystem()
			return t, nil
		}
		if errors.Is(err, fs.ErrPermission) && denied == nil {
			denied = err
		}
	}
	if denied != nil {
		return nil, fmt.Errorf("open tracefs: %w", denied)
	}
	return nil, fmt.Errorf("open tracefs: %w", ErrNotFound)
}

func newTarget(name string, fsys fs.FS, root string) *Target {
	return &Target{
		name: name, fsys: fsys, root: root,
		formats: map[string]*Format{}, texts: map[string]text{},
		has: map[Feature]bool{}, symbols: map[string]Function{},
	}
}

// AtBoot returns t as it is while it boots, before there is user space: without
// the features that only a running kernel has, and with nobody else who traces.
func (t *Target) AtBoot() *Target {
	b := newTarget(t.name, t.fsys, t.root)
	b.system, b.booting = t.system, true
	return b
}

// Booting reports whether t was made by AtBoot.
func (t *Target) Booting() bool { return t.booting }

// Name returns the name that the target was opened by.
func (t *Target) Name() string { return t.name }

// FS returns the file system that t is read from, with the machine's own
// paths.
func (t *Target) FS() fs.FS { return t.fsys }

// Tracefs returns where tracefs is in FS, "." if FS is a copy of one.
func (t *Target) Tracefs() string { return t.root }

// Format returns the format of one event. It reads that event's file alone,
// once. The error is ErrNotFound, wrapped, if there is no such event. The
// Format is shared and must not be changed.
func (t *Target) Format(system, event string) (*Format, error) {
	key := system + "/" + event
	t.mu.Lock()
	f := t.formats[key]
	t.mu.Unlock()
	if f != nil {
		return f, nil
	}
	file, ok := t.formatPath(system, event)
	if !ok {
		return nil, fmt.Errorf("event '%s.%s': %w", system, event, ErrNotFound)
	}
	data, err := fs.ReadFile(t.fsys, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("event '%s.%s': %w", system, event, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read format: %w", err)
	}
	if f, err = ParseFormat(system, event, data); err != nil {
		return nil, err
	}
	nameMore(f, t.system.arch)
	t.mu.Lock()
	defer t.mu.Unlock()
	if first := t.formats[key]; first != nil {
		return first, nil // another goroutine was quicker; there is one Format an event
	}
	t.formats[key] = f
	return f, nil
}

// HasEvent reports whether the target has the event. No format is read.
func (t *Target) HasEvent(system, event string) bool {
	file, ok := t.formatPath(system, event)
	if !ok {
		return false
	}
	_, err := fs.Stat(t.fsys, file)
	return err == nil
}

// Systems returns the names of the event systems, sorted.
func (t *Target) Systems() ([]string, error) {
	names, err := t.folders(path.Join(t.root, "events"))
	if err != nil {
		return nil, fmt.Errorf("list event systems: %w", err)
	}
	return names, nil
}

// Events returns the names of a system's events, sorted. The error is
// ErrNotFound, wrapped, if there is no such system.
func (t *Target) Events(system string) ([]string, error) {
	if !validName(system) {
		return nil, fmt.Errorf("event system '%s': %w", system, ErrNotFound)
	}
	names, err := t.folders(path.Join(t.root, "events", system))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("event system '%s': %w", system, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	return names, nil
}

// EventNamed returns the systems that have an event of this bare name, sorted.
// No format is read.
func (t *Target) EventNamed(name string) []string {
	systems, err := t.Systems()
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(systems, func(s string) bool { return !t.HasEvent(s, name) })
}

// OpenBTF opens the kernel's type information in the kernel's own encoding.
// Nothing is read before the caller reads. The error is ErrNotFound, wrapped,
// if the target has none.
func (t *Target) OpenBTF() (io.ReadCloser, error) {
	f, err := t.fsys.Open(PathBTF)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("kernel BTF: %w", ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("open kernel BTF: %w", err)
	}
	return f, nil
}

func (t *Target) formatPath(system, event string) (file string, ok bool) {
	if !validName(system) || !validName(event) {
		return "", false
	}
	return path.Join(t.root, "events", system, event, "format"), true
}

// validName reports whether s can be the name of one folder.
func validName(s string) bool { return s != "." && fs.ValidPath(s) && !strings.Contains(s, "/") }

func (t *Target) folders(dir string) ([]string, error) {
	entries, err := fs.ReadDir(t.fsys, dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// read returns a small file, read once. A file that cannot be read is kept as
// its error.
func (t *Target) read(name string) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if got, ok := t.texts[name]; ok {
		return got.data, got.err
	}
	data, err := fs.ReadFile(t.fsys, name)
	t.texts[name] = text{data, err}
	return data, err
}

// exists reports whether there is a file or folder at a path below tracefs.
func (t *Target) exists(name string) bool {
	_, err := fs.Stat(t.fsys, path.Join(t.root, name))
	return err == nil
}
