package command

import (
	"strings"
)

// A synthetic event's fields:
//
//	FIELDS := [FIELD] {(";" | blank) [FIELD]}
//	FIELD  := ["unsigned"] TYPE["[" [N] "]"] NAME["[" [N] "]"]
//
// `char[0]` is `char[]`, and an array of `long` is a stack whatever its size.
// kernel/trace/trace_events_synth.c reads them.

// parseSynthetic reads a line of dynamic_events.
func parseSynthetic(line string, head word) (Command, error) {
	name, ok := strings.CutPrefix(head.text, "s:")
	if !ok {
		return nil, errAt(head.at, "want 's:' and a name")
	}
	at := head.at + 2
	if group, event, ok := strings.Cut(name, "/"); ok {
		if group != synthetic {
			return nil, errAt(at, "a synthetic event's group is 'synthetic'")
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
	if !isIdent(c.Name) {
		return nil, errAt(name.at, "no name of an event")
	}
	start := name.at + len(name.text)
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
	if len(c.Fields) == 0 {
		return nil, errAt(len(line), "want a field")
	}
	return c, nil
}

func parseSynthField(list []word) (f SynthField, rest []word, err error) {
	first := list[0]
	f.Type = first.text
	if f.Type == "unsigned" && len(list) > 1 {
		list = list[1:]
		f.Type += " " + list[0].text
	}
	if len(list) < 2 {
		return f, nil, errAt(first.at, "want a type and a name")
	}
	f.Name = list[1].text
	if i := strings.IndexByte(f.Name, '['); i >= 0 {
		f.Type += f.Name[i:]
		f.Name = f.Name[:i]
	}
	if base, size, ok := strings.Cut(f.Type, "["); ok {
		n, ok := strings.CutSuffix(size, "]")
		isSize := n == "" || all(n, isDigit) && len(n) <= 3
		switch {
		case !ok || !isSize:
		case base == "char":
			f.Type = "char[" + strings.TrimLeft(n, "0") + "]"
		case base == "long" || base == "unsigned long":
			f.Type = base + "[]"
		}
	}
	if !ValidSynthType(f.Type) {
		return f, nil, errAt(first.at, "no type of a synthetic event's field")
	}
	if !isIdent(f.Name) {
		return f, nil, errAt(list[1].at, "no name of a field")
	}
	return f, list[2:], nil
}
