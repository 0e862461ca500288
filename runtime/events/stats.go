package events

import (
	"fmt"
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
	told    uint64 // as much of Overrun as the pages said
	// Exact says that Overrun, Dropped and Left are the kernel's own count. If
	// not, Overrun is the least that it can be and the others are not known.
	Exact bool
}

// WithSnapshot adds to what became of the records of a buffer what became of those
// of its snapshot. Snapshots swap the two, so that the kernel's counts of the buffer
// are those of what is the buffer at the end, while pages say what was lost of
// either: so more of the two is right.
func WithSnapshot(buffer, snapshot []Loss) []Loss {
	for _, s := range snapshot {
		for i := range buffer {
			if b := &buffer[i]; b.CPU == s.CPU {
				b.Read, b.Dropped, b.Bad = b.Read+s.Read, b.Dropped+s.Dropped, b.Bad+s.Bad
				b.told += s.told
				b.Overrun = max(b.Overrun+s.Overrun, b.told)
				b.Exact = b.Exact && s.Exact
			}
		}
	}
	return buffer
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

// snapshotOverrun returns how many records of a CPU's snapshot were overwritten
// before it was taken. Only the head of the text tells it, and of an empty snapshot
// nothing does: its losses were told when its records were read.
//
//	# entries-in-buffer/entries-written: N/N   #P:2
func snapshotOverrun(fsys fs.FS, dir string, cpu int) (overrun uint64, exact bool) {
	f, err := fsys.Open(path.Join(dir, "per_cpu", "cpu"+strconv.Itoa(cpu), "snapshot"))
	if err != nil {
		return 0, false
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 512)
	n, err := f.Read(head)
	if err != nil && n == 0 {
		return 0, false
	}
	_, counts, ok := strings.Cut(string(head[:n]), "entries-in-buffer/entries-written: ")
	if !ok {
		return 0, true
	}
	var in, written uint64
	if _, err := fmt.Sscanf(counts, "%d/%d", &in, &written); err != nil || written < in {
		return 0, false
	}
	return written - in, true
}

// since returns the losses between base and s; ok is false if the kernel has
// begun to count anew meanwhile.
func (s stats) since(base stats) (overrun, dropped uint64, ok bool) {
	if s.overrun < base.overrun || s.commitOverrun < base.commitOverrun || s.dropped < base.dropped {
		return 0, 0, false
	}
	return s.overrun - base.overrun, s.commitOverrun - base.commitOverrun + s.dropped - base.dropped, true
}
