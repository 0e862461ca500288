package tracefs

import (
	"fmt"
	"strings"
	"time"
)

// LogEntry is what the kernel says of one command that it refused.
type LogEntry struct {
	Time    time.Duration // since boot
	From    string        // the part of the kernel that refused: "event_probe", "hist:sched:sched_switch"
	Text    string        // what is wrong: "Couldn't find field"
	Command string        // the command, or as much of the line as that part saw
	Caret   int           // the byte of Command that is wrong, from 0
}

// String returns "event_probe: Field not found", without the command.
func (e LogEntry) String() string { return e.From + ": " + e.Text }

// ErrorLog returns the log of an instance, "" for the top level, the oldest
// entry first. The kernel keeps the last eight, of everybody's commands; some
// refusals leave none, and some commands leave one though they are taken.
// Definitions of events are answered in the top level's log, triggers and
// filters in that of their instance.
func (f *FS) ErrorLog(instance string) ([]LogEntry, error) {
	text, err := f.Read(In(instance, "error_log"))
	if err != nil {
		return nil, fmt.Errorf("read what the kernel refused: %w", err)
	}
	return ParseErrorLog(string(text)), nil
}

// commandLead stands before a command in the log, and before its caret as
// blanks.
const commandLead = "  Command: "

// ParseErrorLog reads the text of a log (kernel/trace/trace.c, tracing_err_log_seq_show):
//
//	"[" SECONDS "." MICROSECONDS "] " FROM ": error: " TEXT
//	"  Command: " COMMAND
//	"           " {" "} "^"
//
// A command may have line ends, of which each but the first line stands alone.
// What is of no such form is left out.
func ParseErrorLog(text string) []LogEntry {
	var list []LogEntry
	open := false // the last of list has no caret yet
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if e, ok := parseHead(line); ok {
			list, open = append(list, e), true
			continue
		}
		if !open {
			continue
		}
		last := &list[len(list)-1]
		command, first := strings.CutPrefix(line, commandLead)
		switch {
		case strings.TrimLeft(line, " ") == "^" && len(line) > len(commandLead):
			last.Caret = len(line) - len("^") - len(commandLead)
			open = false
		case first && last.Command == "":
			last.Command = command
		default:
			last.Command += "\n" + line
		}
	}
	return list
}

func parseHead(line string) (LogEntry, bool) {
	var sec, usec int64
	stamp, rest, ok := strings.Cut(strings.TrimPrefix(line, "["), "] ")
	if !ok || !strings.HasPrefix(line, "[") {
		return LogEntry{}, false
	}
	if n, err := fmt.Sscanf(stamp, "%d.%06d", &sec, &usec); n != 2 || err != nil {
		return LogEntry{}, false
	}
	from, text, ok := strings.Cut(rest, ": error: ")
	if !ok {
		return LogEntry{}, false
	}
	return LogEntry{Time: time.Duration(sec)*time.Second + time.Duration(usec)*time.Microsecond, From: from, Text: text}, true
}
