package target

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Load returns the target that was saved in the size bytes of r, which must
// stay open for as long as the target is used. The error is ErrNotTarget,
// wrapped, if it is none.
func Load(name string, r io.ReaderAt, size int64) (*Target, error) {
	fsys, err := openPacked(r, size)
	if err != nil {
		return nil, fmt.Errorf("load target '%s': %w", name, err)
	}
	t, err := Open(name, fsys)
	if err != nil {
		return nil, fmt.Errorf("load target '%s': %w", name, err)
	}
	return t, nil
}

// DefaultName is the embedded target that a script is compiled for if nobody
// says for which and there is no kernel to ask.
const DefaultName = "6.17-x86_64"

// embedded holds saved targets; they are part of the program's file and cost
// nothing until one is opened. embedded/README.md tells how they are made.
//
//go:embed embedded
var embedded embed.FS

const embeddedSuffix = ".target"

// Embedded returns one of the targets that ep carries with it. The error is
// ErrNotFound, wrapped, if there is none of the name.
func Embedded(name string) (*Target, error) {
	if !validName(name) {
		return nil, fmt.Errorf("target '%s': %w", name, ErrNotFound)
	}
	f, err := embedded.Open(path.Join("embedded", name+embeddedSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("target '%s': %w", name, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("open target '%s': %w", name, err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open target '%s': %w", name, err)
	}
	r, ok := f.(io.ReaderAt)
	if !ok {
		panic("internal error: an embedded file is no io.ReaderAt")
	}
	return Load(name, r, info.Size())
}

// EmbeddedNames returns the names that Embedded knows, sorted.
func EmbeddedNames() []string {
	entries, err := embedded.ReadDir("embedded")
	if err != nil {
		panic("internal error: no embedded targets: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), embeddedSuffix); ok {
			names = append(names, name)
		}
	}
	return names
}
