package vm

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
)

// kmsg reads the kernel's log record by record (Documentation/ABI/testing/dev-kmsg), so that what the kernel printed
// is known for each case exactly, which the console, on a line of its own, cannot say.
type kmsg struct {
	fd int
}

// openKmsg opens the log at its end.
func openKmsg() (*kmsg, error) {
	fd, err := unix.Open("/dev/kmsg", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/kmsg: %w", err)
	}
	if _, err := unix.Seek(fd, 0, unix.SEEK_END); err != nil {
		return nil, fmt.Errorf("seek /dev/kmsg: %w", err)
	}
	return &kmsg{fd: fd}, nil
}

// records returns the records since the last call, or since openKmsg.
func (k *kmsg) records() ([]string, error) {
	var all []string
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.Read(k.fd, buf)
		switch {
		case errors.Is(err, unix.EAGAIN) || err == nil && n == 0:
			return all, nil
		case errors.Is(err, unix.EPIPE), errors.Is(err, unix.EINTR): // records were overwritten; go on with the oldest
		case err != nil:
			return all, fmt.Errorf("read /dev/kmsg: %w", err)
		default:
			all = append(all, string(buf[:n]))
		}
	}
}

// complaintStart is how the kernel begins to say that it has a bug: WARN and BUG (lib/bug.c), lockdep, KASAN and the
// architectures' oopses. Stalls that RCU and the watchdogs report are left out: an emulated guest on a busy host has them.
var complaintStart = regexp.MustCompile(`^(WARNING:|BUG:|Oops|kernel BUG at|Unable to handle kernel|general protection fault|Kernel panic|-+\[ cut here \]-+)`)

// maxComplaint bounds what is told of a complaint, in bytes.
const maxComplaint = 32 << 10

// complaint returns the text of the records from the first that is a complaint on, or nothing if there is none.
func complaint(records []string) string {
	var b strings.Builder
	for _, record := range records {
		// record = priority "," seq "," time "," flags { "," field } ";" text "\n" { " " key "=" value "\n" }
		_, text, ok := strings.Cut(record, ";")
		if !ok {
			continue
		}
		text, _, _ = strings.Cut(text, "\n")
		if b.Len() == 0 && !complaintStart.MatchString(text) {
			continue
		}
		if b.Len()+len(text) > maxComplaint {
			b.WriteString("...\n")
			break
		}
		b.WriteString(text + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
