package command

import (
	"strconv"
	"strings"
)

// A synthetic event's fields:
//
//	FIELDS := FIELD {(";" | blank) [FIELD]}
//	FIELD  := ["unsigned"] TYPE["[" [N] "]"] NAME["[" [N] "]"]
//
// `char[0]` is `char[]`, and an array of `long` is a stack whatever its size. The
// kernel looks for no more than `char[` and `long[`, so that it takes
// `unsigned char[16]` for text too. kernel/trace/trace_events_synth.c reads them.

// parseSynthetic reads a line of dynamic_events.
func parseSynthetic(line string, head word) (Command, error) {
	name, ok := strings.CutPrefix(head.text, "s:")
	if !ok {
		return nil, errAt(head.at, "want 's:' and a name")
	}
	at := head.at + 2
	if group, event, ok := strings.Cut(name, "/"); ok {
		if group != synthetic {
			return nil, logged("Command must be of the form: s or -:[synthetic/]<name> field[;field] ...", at,
				"a synthetic event's group is 'synthetic'")
		}
		name = event
		at += len(group) + 1
	}
	return parseSynthFields(line, word{text: name, at: at})
}

// parseSyntheticFile reads a line of synthetic_events.
func parseSyntheticFile(line string, head word) (Command, error) {
	if name, ok := strings.CutPrefix(head.text, "!"); ok {
		if !isIdent(name) {
			return nil, errAt(head.at+1, "no name of an event")
		}
		return &Delete{EventName: EventName{Group: synthetic, Name: name}}, nil
	}
	return parseSynthFields(line, head)
}

func parseSynthFields(line string, name word) (Command, error) {
	c := &Synthetic{Name: name.text}
	start := name.at + len(name.text)
	if i := strings.IndexByte(name.text, ';'); i >= 0 || len(words(cutAt(line[start:], ';'), 0)) < 2 {
		return nil, logged("Command must be of the form: <name> field[;field] ...", start, "want a name and a field")
	}
	if !isIdent(c.Name) {
		return nil, logged("Illegal name", name.at, "no name of an event")
	}
	for item := range strings.SplitSeq(line[start:], ";") {
		list := words(item, start)
		start += len(item) + 1
		for len(list) > 0 {
			f, rest, err := parseSynthField(list)
			if err != nil {
				return nil, err
			}
			c.Fields = append(c.Fields, f)
			list = rest
		}
	}
	return c, nil
}

// cutAt returns what is before the first sep.
func cutAt(s string, sep byte) string {
	if i := strings.IndexByte(s, sep); i >= 0 {
		return s[:i]
	}
	return s
}

func parseSynthField(list []word) (f SynthField, rest []word, err error) {
	var ok bool
	first := list[0]
	f.Type = first.text
	switch {
	case f.Type == "unsigned" && len(list) < 3:
		return f, nil, logged("Incomplete type", first.at, "want a type and a name")
	case f.Type == "unsigned":
		list = list[1:]
		f.Type += " " + list[0].text
	case len(list) < 2:
		return f, nil, logged("Invalid field", first.at, "want a type and a name")
	}
	f.Name = cutAt(list[1].text, '[')
	if !isIdent(f.Name) {
		return f, nil, logged("Illegal name", list[1].at, "no name of a field")
	}
	size := list[1].text[len(f.Name):]
	if f.Type, ok = synthType(f.Type + size); !ok {
		words := "Invalid type"
		if size != "" && strings.Contains(f.Type, "char[") {
			words = "Invalid array specification"
		}
		return f, nil, logged(words, first.at, "no type of a synthetic event's field")
	}
	return f, list[2:], nil
}

// synthType returns the type that the kernel reads t as, and whether it takes it
// (synth_field_size). A size is a number as C has them: 010 is 8.
func synthType(t string) (string, bool) {
	if before, size, ok := strings.Cut(t, "char["); ok {
		n, closed := strings.CutSuffix(size, "]")
		if !closed || strings.Contains(n, "]") || len(n) > 3 {
			return t, false
		}
		if n == "" {
			return t, true
		}
		bytes, err := parseUint(n)
		switch {
		case err != nil || bytes > MaxSynthString:
			return t, false
		case bytes == 0:
			return before + "char[]", true
		}
		return before + "char[" + strconv.FormatUint(bytes, 10) + "]", true
	}
	if before, _, ok := strings.Cut(t, "long["); ok {
		return before + "long[]", true
	}
	return t, ValidSynthType(t)
}
