package main

import (
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/runtime/hist"
	"github.com/eptrace/ep/runtime/journal"
	"github.com/eptrace/ep/runtime/tracefs"
)

// bufferCounts adds up what the buffers of an instance say of themselves: records
// that are there, were read, or were overwritten, and those that were lost.
func (m *machine) bufferCounts(instance string) (records, lost uint64) {
	dir := tracefs.In(instance, "per_cpu")
	entries, err := fs.ReadDir(m.fs.FS(), dir)
	if err != nil {
		return 0, 0 // it is gone; the drift says so
	}
	for _, e := range entries {
		text, err := m.fs.Read(path.Join(dir, e.Name(), "stats"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			n, err := strconv.ParseUint(value, 10, 64)
			if err != nil {
				continue
			}
			switch name {
			case "entries", "read events":
				records += n
			case "overrun":
				records, lost = records+n, lost+n
			case "commit overrun", "dropped events":
				lost += n
			}
		}
	}
	return records, lost
}

// missed adds up the calls that the journal's probes could not follow:
// kprobe_profile has lines of an event, its hits and its misses.
func (m *machine) missed(j *journal.Journal) uint64 {
	text, err := m.fs.Read("kprobe_profile")
	if err != nil {
		return 0 // the kernel has no kprobes
	}
	own := map[string]bool{}
	for i, s := range j.Steps {
		if name, ok := madeBy(s); ok && j.Left(i) {
			own[name.Name] = true
		}
	}
	var sum uint64
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 3 || !own[words[0]] {
			continue
		}
		if n, err := strconv.ParseUint(words[2], 10, 64); err == nil {
			sum += n
		}
	}
	return sum
}

// counted adds up the events that the journal's histograms counted and dropped,
// those that join events among them.
func (m *machine) counted(j *journal.Journal) (hits, dropped uint64) {
	for i, s := range j.Steps {
		own, err := command.Parse(s.File, s.Data)
		h, ok := own.(*command.Hist)
		if err != nil || !ok || !j.Left(i) {
			continue
		}
		text, err := m.fs.Read(path.Join(path.Dir(s.File), "hist"))
		if err != nil {
			continue // its event is gone; the drift says so
		}
		n, d := hist.Totals(s.File, string(text), h)
		hits, dropped = hits+n, dropped+d
	}
	return hits, dropped
}
