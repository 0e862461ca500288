package events

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Loss is what became of the records of one CPU since the reader was opened.
// Records of all events of the instance are counted, for the ring buffer does
// not tell them apart.
type Loss struct {
	CPU     int
	Read    uint64 // read, those of other events than the streams' included
	Overrun uint64 // overwritten before they could be read
	Dropped uint64 // not recorded, since there was no room: the buffer was full and may not be overwritten, or an interrupt filled it
	Left    uint64 // still in the buffer, to be read
	Bad     uint64 // pages that could not be understood to their end
	// Exact says that Overrun, Dropped and Left are the kernel's own count. If
	// not, Overrun is the least that it can be and the others are not known.
	Exact bool
}

// Lost returns how many records are missing.
func (l Loss) Lost() uint64 { return l.Overrun + l.Dropped }

// stats is a CPU's stats file, as far as it is of use.
//
//	entries: N            in the buffer
//	overrun: N            overwritten since the buffer was last reset
//	commit overrun: N     dropped: an interrupt caught up with the writer
//	dropped events: N     dropped: full, and overwrite is off
//	read events: N
type stats struct {
	entries, overrun, commitOverrun, dropped, read uint64
}

func readStats(fsys fs.FS, dir string, cpu int) (stats, error) {
	text, err := fs.ReadFile(fsys, path.Join(dir, "per_cpu", "cpu"+strconv.Itoa(cpu), "stats"))
	if err != nil {
		return stats{}, err
	}
	var s stats
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
		if err != nil {
			continue // a time
		}
		switch key {
		case "entries":
			s.entries = n
		case "overrun":
			s.overrun = n
		case "commit overrun":
			s.commitOverrun = n
		case "dropped events":
			s.dropped = n
		case "read events":
			s.read = n
		}
	}
	return s, nil
}

// since returns the losses between base and s; ok is false if the kernel has
// begun to count anew meanwhile.
func (s stats) since(base stats) (overrun, dropped uint64, ok bool) {
	if s.overrun < base.overrun || s.commitOverrun < base.commitOverrun || s.dropped < base.dropped {
		return 0, 0, false
	}
	return s.overrun - base.overrun, s.commitOverrun - base.commitOverrun + s.dropped - base.dropped, true
}
