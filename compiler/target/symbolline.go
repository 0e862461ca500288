package target

import (
	"bytes"
	"errors"
	"io"
)

func isEOF(err error) bool { return errors.Is(err, io.EOF) }

// eachLine calls found with each line of text that contains want.
func eachLine(text, want []byte, found func(line []byte)) {
	for len(text) > 0 {
		at := bytes.Index(text, want)
		if at < 0 {
			return
		}
		start := bytes.LastIndexByte(text[:at], '\n') + 1
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text) - at
		}
		found(text[start : at+end])
		text = text[min(at+end+1, len(text)):]
	}
}

// functionLine takes "NAME" or "NAME [MODULE]" apart.
func functionLine(line []byte) (name, module []byte) {
	name, module, _ = bytes.Cut(line, []byte(" "))
	return name, bytes.Trim(module, "[] \t")
}

// kallsymsLine takes "ADDRESS TYPE NAME" or "ADDRESS TYPE NAME⇥[MODULE]" apart.
func kallsymsLine(line []byte) (kind byte, name, module []byte) {
	_, rest, _ := bytes.Cut(line, []byte(" "))
	k, rest, ok := bytes.Cut(rest, []byte(" "))
	if !ok || len(k) != 1 {
		return 0, nil, nil
	}
	name, module, _ = bytes.Cut(rest, []byte("\t"))
	return k[0], name, bytes.Trim(module, "[]")
}
