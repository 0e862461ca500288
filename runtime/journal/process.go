package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Process is a process that is told from later ones of its number by when it
// began.
type Process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // ticks since boot
}

// Self returns the process that calls. proc is the machine's /proc.
func Self(proc fs.FS) (Process, error) { return processOf(proc, os.Getpid()) }

// Alive reports whether the process runs. One that has ended and is not yet
// waited for does not.
func (p Process) Alive(proc fs.FS) bool {
	text, err := fs.ReadFile(proc, strconv.Itoa(p.PID)+"/stat")
	if err != nil {
		// What cannot be told is taken for alive: nothing of it is touched.
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH)
	}
	start, state, err := parseStat(text)
	return err != nil || start == p.Start && state != "Z" && state != "X"
}

func processOf(proc fs.FS, pid int) (Process, error) {
	text, err := fs.ReadFile(proc, strconv.Itoa(pid)+"/stat")
	if err != nil {
		return Process{}, fmt.Errorf("read when process %d began: %w", pid, err)
	}
	start, _, err := parseStat(text)
	if err != nil {
		return Process{}, fmt.Errorf("read when process %d began: %w", pid, err)
	}
	return Process{PID: pid, Start: start}, nil
}

// parseStat reads /proc/PID/stat (proc_pid_stat(5)): the third field is the
// state and the 22nd the start, but the second is a name in parentheses that may
// hold anything.
func parseStat(text []byte) (start uint64, state string, err error) {
	i := bytes.LastIndexByte(text, ')')
	words := strings.Fields(string(text[i+1:]))
	if i < 0 || len(words) < 20 {
		return 0, "", errors.New("stat has another form")
	}
	start, err = strconv.ParseUint(words[19], 10, 64)
	return start, words[0], err
}

// Boot returns what tells this boot of the machine from others.
func Boot(proc fs.FS) (string, error) {
	text, err := fs.ReadFile(proc, "sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read the boot's number: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// ours reports whether a file belongs to this user.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
