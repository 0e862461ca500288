package tracefs

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// usual are the places where tracefs is mounted: its own, since v4.1, and the
// older one in debugfs, where it is mounted when somebody looks there.
var usual = []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}

// Find returns the folder where tracefs is mounted. It looks at the mounts of
// this process first and then, if it cannot or there is none among them, at the
// usual places. The error is ErrNotFound, wrapped.
func Find() (string, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err == nil {
		if list := mounts(string(text)); len(list) > 0 {
			return list[0], nil
		}
	}
	for _, dir := range usual {
		if _, err := os.Stat(dir + "/events"); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("%w: looked at the mounts and at %s", ErrNotFound, strings.Join(usual, " and "))
}

// mounts returns where text, a mountinfo file, says that tracefs is mounted
// whole, the usual places first. A line is (proc_pid_mountinfo(5)):
//
//	ID PARENT MAJOR:MINOR ROOT MOUNTPOINT OPTIONS {OPTIONAL} "-" TYPE SOURCE OPTIONS
func mounts(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		mount, filesystem, ok := strings.Cut(line, " - ")
		if !ok || !strings.HasPrefix(filesystem, "tracefs ") {
			continue
		}
		if words := strings.Fields(mount); len(words) >= 5 && words[3] == "/" {
			list = append(list, unescape(words[4]))
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return rank(a) - rank(b) })
	return list
}

func rank(dir string) int {
	if i := slices.Index(usual, dir); i >= 0 {
		return i
	}
	return len(usual)
}

// unescape undoes the kernel's mangling of blanks and backslashes in paths: a
// backslash and three octal digits (fs/proc_namespace.c, mangle).
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
