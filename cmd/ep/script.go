package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/stdlib"
)

// stdin is the name of a script that is read from standard input.
const stdin = "-"

// readScript reads a script by the name that the user gave it; "-" is standard
// input, "std/opens" a module of ep's own, and "./std/opens" would be a file. What cannot be read is an error that ends with exitScript.
func readScript(env *Env, name string) (string, error) {
	var data []byte
	var err error
	switch text, ok := stdlib.Module(name); {
	case ok:
		return text, nil
	case name == stdin:
		data, err = io.ReadAll(env.Stdin)
	default:
		data, err = os.ReadFile(name)
	}
	if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(name, stdlib.Prefix) {
		note := "; 'ep list std/' lists them"
		if near, ok := diag.Near(name, stdlib.Modules()); ok {
			note = fmt.Sprintf("; did you mean '%s'?", near)
		}
		return "", exitError{exitScript, fmt.Errorf("ep has no module '%s'%s", name, note)}
	}
	if err != nil {
		return "", exitError{exitScript, fmt.Errorf("read script '%s': %w", name, cause(err))}
	}
	return string(data), nil
}

// inline is the name of a script that is given on the command line, after -e.
const inline = "-e"

// oneScript returns the script that a command line names: a file, or the text
// after -e.
func oneScript(env *Env, file string, expr *string) (*source.Source, diag.List, error) {
	switch {
	case expr != nil && file != "":
		return nil, nil, usagef("want a file or -e, got both '%s' and -e", file)
	case expr != nil:
		src, list := newSource(inline, *expr)
		return src, list, nil
	case file == "":
		return nil, nil, usagef("want a file or -e; '-' reads standard input")
	}
	text, err := readScript(env, file)
	if err != nil {
		return nil, nil, err
	}
	src, list := newSource(file, text)
	return src, list, nil
}

// cause returns err without the operation and path that os adds: the message
// names the file as the user wrote it.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// newSource returns the Source of a script's text. A text that cannot be one
// is a Diagnostic; the Source returned with it has '?' for each bad byte, so
// that the place can be shown.
func newSource(name, text string) (*source.Source, diag.List) {
	src, err := source.New(name, text)
	if err == nil {
		return src, nil
	}
	d := diag.Diagnostic{Severity: diag.Error, Code: diag.BadEncoding, Span: source.NoSpan}
	if len(text) > source.MaxSize {
		text, d.Message = "", fmt.Sprintf("script is larger than %d bytes", source.MaxSize)
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		bad := ""
		switch {
		case r == 0:
			bad = "script holds a NUL byte"
		case r == utf8.RuneError && n == 1:
			bad = fmt.Sprintf("script is not valid UTF-8: byte 0x%02x", text[i])
		default:
			b.WriteString(text[i : i+n])
		}
		if bad != "" {
			b.WriteByte('?')
			if d.Message == "" {
				d.Message = bad
				d.Span = source.Span{Start: source.Pos(i), End: source.Pos(i + 1)}
			}
		}
		i += n
	}
	src, err = source.New(name, b.String())
	if err != nil {
		panic("internal error: " + err.Error())
	}
	d.Source = src
	return src, diag.List{d}
}

// printText prints l on standard error, for a person.
func (g *globals) printText(l diag.List) error {
	if len(l) == 0 {
		return nil
	}
	columns, terminal := g.env.Terminal()
	opts := diag.TextOptions{Width: columns}
	switch g.color {
	case "always":
		opts.Color = true
	case "auto":
		opts.Color = terminal && g.env.Getenv("NO_COLOR") == "" && g.env.Getenv("TERM") != "dumb"
	}
	if err := diag.Text(g.env.Stderr, l, opts); err != nil {
		return fmt.Errorf("print errors: %w", err)
	}
	return nil
}

// writeOutput writes what a command made to the file called name; "" and "-"
// are standard output.
func writeOutput(env *Env, name string, data []byte) error {
	if name == "" || name == stdin {
		if _, err := env.Stdout.Write(data); err != nil {
			return fmt.Errorf("write standard output: %w", err)
		}
		return nil
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		return fmt.Errorf("write '%s': %w", name, cause(err))
	}
	return nil
}
