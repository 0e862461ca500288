package command

import (
	"fmt"
	"strings"
)

// SyntaxError says what in a line is not a command, and where.
type SyntaxError struct {
	Offset  int // in bytes from the start of what was parsed
	Message string
	Kernel  string // what the kernel's error_log says; "" if nothing, or not known
	Errno   string // what write(2) returns; "" is EINVAL
}

// Error returns "byte N: message".
func (e *SyntaxError) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Message) }

func errAt(offset int, format string, args ...any) error {
	return &SyntaxError{Offset: offset, Message: fmt.Sprintf(format, args...)}
}

// logged is errAt of a mistake for which the kernel has words.
func logged(kernel string, offset int, message string) error {
	return &SyntaxError{Offset: offset, Message: message, Kernel: kernel}
}

// failed is logged of a mistake for which write(2) returns another errno.
func failed(errno, kernel string, offset int, message string) error {
	return &SyntaxError{Offset: offset, Message: message, Kernel: kernel, Errno: errno}
}

// maxParse bounds what Parse looks at, in bytes: read back, a line can be
// longer than MaxLine, but not by that much.
const maxParse = 1 << 16

// Parse returns the command of one line of file: as ep prints it, as people
// write it, or as the kernel reads it back. What the kernel fills in is filled
// in: groups, names of events and arguments. There are no places of a script in
// it.
//
// The file is named as by Command.File, or in an instance as
// "instances/NAME/…"; the older kprobe_events, uprobe_events and
// synthetic_events are files too. An error of the line is a *SyntaxError.
//
// Parse takes what a kernel may take. It knows no event's fields and no
// machine's symbols, and not every line that it takes is one that Check allows.
func Parse(file, line string) (Command, error) {
	if len(line) > maxParse {
		return nil, errAt(maxParse, "line of more than %d bytes", maxParse)
	}
	if i := strings.IndexAny(line, "\n\x00"); i >= 0 {
		return nil, errAt(i, "more than one line")
	}
	where, err := parseFile(file)
	if err != nil {
		return nil, err
	}
	switch where.kind {
	case "trigger":
		return parseTrigger(where.event, line)
	case "filter":
		return parseFilterFile(where.event, line)
	case "enable":
		return parseEnable(where.event, line)
	case string(TraceClock), string(EventPID), string(BufferKB), string(Overwrite), string(TracingOn):
		return parseSetting(SettingName(where.kind), line)
	}
	return parseDynamic(where.kind, line)
}

// ParseAll returns the commands of a whole text: what a file reads, or what is
// written to it. Empty lines and comments are left out. The Offset of a
// *SyntaxError counts from the start of text.
func ParseAll(file, text string) ([]Command, error) {
	var list []Command
	at := 0
	for line := range strings.SplitSeq(text, "\n") {
		if s := trim(line); s != "" && s[0] != '#' {
			c, err := Parse(file, line)
			if e, ok := err.(*SyntaxError); ok {
				return nil, errAt(at+e.Offset, "%s", e.Message)
			}
			if err != nil {
				return nil, err
			}
			list = append(list, c)
		}
		at += len(line) + 1
	}
	return list, nil
}

// place is what a file of tracefs is for.
type place struct {
	kind  string // the last part of its path
	event EventName
}

// parseFile takes the name of a file apart:
//
//	["instances/" NAME "/"] "dynamic_events" | "kprobe_events" | …
//	["instances/" NAME "/"] "events/" [GROUP "/" [EVENT "/"]] "trigger" | …
func parseFile(file string) (place, error) {
	parts := strings.Split(file, "/")
	if len(parts) > 2 && parts[0] == "instances" {
		parts = parts[2:]
	}
	kind := parts[len(parts)-1]
	if len(parts) == 1 {
		switch kind {
		case dynamicEvents, "kprobe_events", "uprobe_events", "synthetic_events":
			return place{kind: kind}, nil
		case string(TraceClock), string(EventPID), string(BufferKB), string(TracingOn):
			return place{kind: kind}, nil
		}
	}
	if len(parts) == 2 && parts[0] == "options" && kind == "overwrite" {
		return place{kind: string(Overwrite)}, nil
	}
	p := place{kind: kind}
	if parts[0] != "events" || len(parts) < 2 || len(parts) > 4 {
		return p, fmt.Errorf("no file of commands: %q", file)
	}
	if len(parts) > 2 {
		p.event.Group = parts[1]
	}
	if len(parts) > 3 {
		p.event.Name = parts[2]
	}
	ok := spellFiles(p.event) == nil && (len(parts) < 3 || p.event.Group != "") && (len(parts) < 4 || p.event.Name != "")
	switch kind {
	case "trigger":
		ok = ok && len(parts) == 4
	case "filter":
		ok = ok && len(parts) > 2
	case "enable":
	default:
		ok = false
	}
	if !ok {
		return p, fmt.Errorf("no file of commands: %q", file)
	}
	return p, nil
}

// word is a piece of a line without blanks.
type word struct {
	text string
	at   int // offset in the line
}

// words parts s, which begins at offset at of its line, as argv_split does.
func words(s string, at int) []word {
	var list []word
	for i := 0; i < len(s); {
		if isBlank(s[i]) {
			i++
			continue
		}
		start := i
		for i < len(s) && !isBlank(s[i]) {
			i++
		}
		list = append(list, word{text: s[start:i], at: at + start})
	}
	return list
}

// trim cuts the kernel's blanks off both ends.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r == ' ' || '\t' <= r && r <= '\r' })
}

// lead returns the number of bytes that trim cuts off the front.
func lead(s string) int {
	i := 0
	for i < len(s) && (s[i] == ' ' || '\t' <= s[i] && s[i] <= '\r') {
		i++
	}
	return i
}

// parseEnable reads "0" or "1", and read back "0*" or "1*": enabled or not by a
// trigger behind the user's back.
func parseEnable(event EventName, line string) (Command, error) {
	switch strings.TrimSuffix(trim(line), "*") {
	case "0":
		return &Enable{Event: event}, nil
	case "1":
		return &Enable{Event: event, On: true}, nil
	}
	return nil, errAt(lead(line), "want 0 or 1")
}
