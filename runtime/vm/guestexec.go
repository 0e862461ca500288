package vm

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// outDir is the folder of the guest whose files come back to the host.
const outDir = "/out"

// execProgram runs the program, passes on what it prints, and hands over what it left in /out.
func execProgram(results *frameWriter, args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = outDir
	cmd.Stdout = eventWriter{results, eventStdout}
	cmd.Stderr = eventWriter{results, eventStderr}
	if err := results.write(event{Kind: eventStart}, nil); err != nil {
		return err
	}
	code := 0
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return err
		}
		code = exit.ExitCode()
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			code = 128 + int(status.Signal()) // as shells count
		}
	}
	if err := sendFolder(results, outDir); err != nil {
		return err
	}
	return results.write(event{Kind: eventExit, Code: code}, nil)
}

// sendFolder hands over the regular files in a folder and those below it, by their paths in it.
func sendFolder(results *frameWriter, dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if len(name) > maxNameBytes {
			return fmt.Errorf("path of %d bytes in %s: at most %d", len(name), dir, maxNameBytes)
		}
		return sendFile(results, path, name)
	})
}

// sendFile hands over a file piece by piece: it may be larger than what memory is left.
func sendFile(results *frameWriter, path, name string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	buf := make([]byte, maxData)
	for offset := int64(0); ; {
		n, err := io.ReadFull(f, buf)
		if n > 0 || offset == 0 {
			if err := results.write(event{Kind: eventOutput, Name: name, Offset: offset}, buf[:n]); err != nil {
				return err
			}
		}
		offset += int64(n)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
	}
}

// eventWriter writes what it is given as events of a kind.
type eventWriter struct {
	results *frameWriter
	kind    eventKind
}

// Write takes all of b, or returns an error.
func (w eventWriter) Write(b []byte) (int, error) {
	if err := w.results.write(event{Kind: w.kind}, b); err != nil {
		return 0, err
	}
	return len(b), nil
}
