package target

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseFormat reads an event's format file. Lines that it does not know are
// passed over, so that a newer kernel's file is read as far as it can be; a
// file without an ID or a field line that has no place is an error.
//
// The kernel writes the file so (trace_events.c, f_show):
//
//	name: NAME
//	ID: NUMBER
//	format:
//	⇥field:DECL;⇥offset:N;⇥size:N;⇥signed:0|1;
//	…                                            the common fields
//	                                             an empty line
//	…                                            the event's own fields
//	                                             an empty line
//	print fmt: "…", ARG, …
func ParseFormat(system, event string, data []byte) (*Format, error) {
	f := &Format{System: system, Name: event, ID: -1}
	fields := 0
	for rest := string(data); rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		line = strings.TrimSuffix(line, "\r")
		switch {
		case strings.HasPrefix(line, "\tfield:"):
			field, err := parseField(line[len("\tfield:"):], system)
			if err != nil {
				return nil, fmt.Errorf("format of '%s.%s': %w", system, event, err)
			}
			if strings.HasPrefix(field.Name, "common_") && len(f.Fields) == 0 {
				f.Common = append(f.Common, field)
				break
			}
			f.Fields = append(f.Fields, field)
			fields++
		case strings.HasPrefix(line, "ID: "):
			id, err := strconv.Atoi(strings.TrimSpace(line[len("ID: "):]))
			if err != nil || id < 0 {
				return nil, fmt.Errorf("format of '%s.%s': bad ID %q", system, event, line)
			}
			f.ID = id
		case strings.HasPrefix(line, "print fmt: "):
			f.Print = line[len("print fmt: "):]
		}
	}
	if f.ID < 0 {
		return nil, fmt.Errorf("format of '%s.%s': no ID", system, event)
	}
	nameValues(f)
	return f, nil
}

// parseField reads "DECL;⇥offset:N;⇥size:N;⇥signed:N;".
func parseField(line, system string) (Field, error) {
	// No declaration holds a ';', but the numbers come last in any case.
	at := strings.LastIndex(line, ";\toffset:")
	if at < 0 {
		return Field{}, fmt.Errorf("field without a place: %q", line)
	}
	f := Field{}
	for part := range strings.SplitSeq(line[at+1:], ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), ":")
		n, err := strconv.Atoi(value)
		if key == "" {
			continue
		}
		if err != nil || n < 0 || n > 1<<20 {
			return Field{}, fmt.Errorf("field with a bad %s: %q", key, line)
		}
		switch key {
		case "offset":
			f.Offset = n
		case "size":
			f.Size = n
		case "signed":
			f.Signed = n != 0
		}
	}
	d := parseDecl(line[:at])
	if d.name == "" {
		return Field{}, fmt.Errorf("field without a name: %q", line)
	}
	f.Name, f.Decl, f.Loc, f.Array = d.name, d.text(), d.loc, d.array
	f.Type = typeOf(&f, d, system)
	return f, nil
}
