package target

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
)

// Config reports whether the kernel was built with an option ("CONFIG_KPROBES"),
// as y or m; known is false if the target does not tell its configuration.
func (t *Target) Config(option string) (on, known bool) {
	text := t.ConfigText()
	if text == nil {
		return false, false
	}
	line := append([]byte("\n"+option), '=')
	i := bytes.Index(text, line)
	if i < 0 || i+len(line) == len(text) {
		return false, true
	}
	v := text[i+len(line)]
	return v == 'y' || v == 'm', true
}

// ConfigOff reports whether the kernel's configuration says that it was built
// without an option. It is false of an option that the release does not have, and
// if the target does not tell its configuration.
func (t *Target) ConfigOff(option string) bool {
	return bytes.Contains(t.ConfigText(), []byte("\n# "+option+" is not set\n"))
}

// ConfigText returns the kernel's configuration after an empty line, nil if the
// target has none. It is where distributions lay it, or in /proc/config.gz if
// the kernel carries it.
func (t *Target) ConfigText() []byte {
	for _, name := range []string{ConfigPath(t.system.release), "usr/lib/modules/" + t.system.release + "/config"} {
		if !fs.ValidPath(name) {
			continue
		}
		if b, err := t.read(name); err == nil {
			return append([]byte("\n"), b...)
		}
	}
	packed, err := t.read(pathConfigGz)
	if err != nil {
		return nil
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(z, 4<<20))
	if err != nil {
		return nil
	}
	return append([]byte("\n"), b...)
}
