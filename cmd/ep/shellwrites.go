package main

import (
	"bytes"
	"errors"
	"path"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/eptrace/ep/compiler/judge"
)

// readWrite is a write that a text tells of. unknown is why it cannot be judged.
type readWrite struct {
	judge.Write
	unknown string
	line    int // where the command stands that writes it
	// Where its text begins and ends; a here-document begins below its command.
	textLine, lastLine int
}

// lineOf returns the line on which the byte at offset of the write's text stands.
func (w readWrite) lineOf(offset int) int {
	return min(w.textLine+strings.Count(w.Text[:offset], "\n"), w.lastLine)
}

// direct is `[>]FILE <- TEXT`; `mkdir DIR <-` and `rmdir DIR <-` make and remove
// instances. In TEXT `\n` begins a new line of the same write.
var direct = regexp.MustCompile(`^\s*(>?[^\s<>'"]+|(?:mkdir|rmdir)[ :][^\s<>'"]+) <-(?: (.*))?$`)

func directWrite(file, text string, line int) readWrite {
	w := judge.Write{File: file, Text: strings.ReplaceAll(text, `\n`, "\n")}
	switch {
	case strings.HasPrefix(file, ">"):
		w.Op, w.File = judge.Truncate, file[1:]
	case strings.HasPrefix(file, "mkdir ") || strings.HasPrefix(file, "mkdir:"):
		w.Op, w.File, w.Text = judge.Mkdir, file[len("mkdir "):], ""
	case strings.HasPrefix(file, "rmdir ") || strings.HasPrefix(file, "rmdir:"):
		w.Op, w.File, w.Text = judge.Rmdir, file[len("rmdir "):], ""
	}
	w.File = tracefsPath("", w.File)
	return readWrite{Write: w, line: line, textLine: line, lastLine: line}
}

// parseShell reads text, which begins on a line of the whole.
func parseShell(text string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
}

// shellScript returns the writes of a whole shell script, which begins with #!;
// ok is false if text is none, or cannot be read as one.
func shellScript(text []byte) (list []readWrite, ok bool) {
	if !bytes.HasPrefix(text, []byte("#!")) {
		return nil, false
	}
	file, err := parseShell(string(text))
	if err != nil {
		return nil, false
	}
	var sh shell
	sh.stmts(file.Stmts)
	return sh.list, true
}

// goesOn reports whether err is of a text that ends too early: a here-document is
// not closed, a loop not done.
func goesOn(err error) bool {
	var e syntax.ParseError
	return errors.As(err, &e) && (e.Incomplete || strings.HasPrefix(e.Text, "unclosed here-document"))
}

// The most lines that one command of a text has that is no script, and how often
// it is looked for so many.
const (
	maxCommandLines = 200
	maxSearches     = 20
)

// writeReader takes the writes out of lines of text: `FILE <- TEXT`, or commands
// of a shell.
type writeReader struct {
	lines    []string
	searches int // for the end of a command that has none
	sh       shell
}

// next returns the writes of the command that begins on line n, counted from 0,
// and the line after it.
func (r *writeReader) next(n int) ([]readWrite, int) {
	line := r.lines[n]
	if m := direct.FindStringSubmatch(line); m != nil {
		return []readWrite{directWrite(m[1], m[2], n+1)}, n + 1
	}
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return nil, n + 1
	}
	end := n + 1
	for strings.HasSuffix(r.lines[end-1], `\`) && end < len(r.lines) {
		end++
	}
	line = strings.Join(r.lines[n:end], "\n")
	file, err := parseShell(line)
	if goesOn(err) && r.searches < maxSearches {
		first := end
		for goesOn(err) && end < len(r.lines) && end < n+maxCommandLines {
			end++
			file, err = parseShell(strings.Join(r.lines[n:end], "\n") + "\n")
		}
		if err != nil {
			r.searches++
			end = first
		}
	}
	if err != nil {
		if !strings.Contains(line, ">") {
			return nil, end // a part of something that is not known
		}
		return []readWrite{{unknown: "not a line of a shell script that stands alone", line: n + 1}}, end
	}
	r.sh.list = nil
	r.sh.stmts(file.Stmts)
	for i := range r.sh.list {
		w := &r.sh.list[i]
		w.line, w.textLine, w.lastLine = w.line+n, w.textLine+n, w.lastLine+n
	}
	return r.sh.list, end
}

// mounts are where tracefs is found.
var mounts = []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing", "/debug/tracing", "/t/tracing"}

// tracefsPath returns a file's path from the root of tracefs, or one with a '/'
// in front of a file elsewhere. dir is the folder that a relative path begins in.
func tracefsPath(dir, name string) string {
	if strings.HasPrefix(dir, "/") && name != "" && !strings.HasPrefix(name, "/") {
		name = path.Join(dir, name)
	}
	for _, m := range mounts {
		if name == m || name == m+"/" {
			return ""
		}
		if rest, ok := strings.CutPrefix(name, m+"/"); ok {
			return path.Clean(rest)
		}
	}
	if strings.HasPrefix(name, "/") || name == "" {
		return name
	}
	return strings.TrimPrefix(path.Join("/", dir, name), "/")
}
