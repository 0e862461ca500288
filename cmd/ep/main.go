// Command ep compiles scripts of the ep language into what Linux tracefs takes.
//
// Each command is one struct in one file, named for it; run.go holds what they
// share. Nothing but this package knows of flags, files, terminals and the
// machine's own root.
package main

import (
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/eptrace/ep/runtime/session"
	"github.com/eptrace/ep/runtime/tracefs"
)

// Env is all that a command sees of the world besides its flags.
type Env struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Root is the machine's root file system, where a live target is read.
	Root fs.FS
	// Writable returns why a file of Root may not be written to, nil if it may; a
	// nil Writable knows of none.
	Writable func(name string) error
	// Tracefs opens the machine's tracefs, to be written to; nil: there is none.
	Tracefs func() (*tracefs.FS, error)
	// Getenv returns an environment variable, "" if it is not set.
	Getenv func(string) string
	// Terminal returns how wide the terminal behind Stderr is, in columns, and
	// whether there is one.
	Terminal func() (columns int, ok bool)
}

func main() {
	session.Gate()
	os.Exit(run(os.Args[1:], Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Root: os.DirFS("/"), Writable: writable, Tracefs: func() (*tracefs.FS, error) { return tracefs.Open("") }, Getenv: os.Getenv, Terminal: stderrTerminal,
	}))
}

func writable(name string) error { return unix.Access("/"+name, unix.W_OK) }

func stderrTerminal() (columns int, ok bool) {
	fd := int(os.Stderr.Fd())
	if !term.IsTerminal(fd) {
		return 0, false
	}
	columns, _, err := term.GetSize(fd)
	if err != nil {
		return 0, true
	}
	return columns, true
}
