package main

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/eptrace/ep/compiler/judge"
)

// readWrite is a write that a text tells of. unknown is why it cannot be judged.
type readWrite struct {
	judge.Write
	unknown string
	line    int // of a script that is read whole
}

// writeReader takes the writes out of lines of text: `FILE <- TEXT`, or lines of
// a shell script. It follows what the script sets: variables, the folder.
type writeReader struct {
	vars map[string]string
	dir  string // below the root of tracefs
}

// direct is `[>]FILE <- TEXT`; `mkdir DIR <-` and `rmdir DIR <-` make and remove
// instances. In TEXT `\n` begins a new line of the same write.
var direct = regexp.MustCompile(`^\s*(>?[^\s<>'"]+|(?:mkdir|rmdir)[ :][^\s<>'"]+) <-(?: (.*))?$`)

// line returns the writes of one line.
func (r *writeReader) line(line string) []readWrite {
	if m := direct.FindStringSubmatch(line); m != nil {
		return []readWrite{directWrite(m[1], m[2])}
	}
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		if !strings.Contains(line, ">") {
			return nil // a part of something longer
		}
		return []readWrite{{unknown: "not a line of a shell script that stands alone"}}
	}
	var list []readWrite
	for _, s := range file.Stmts {
		list = append(list, r.stmt(s)...)
	}
	return list
}

func directWrite(file, text string) readWrite {
	w := judge.Write{File: file, Text: strings.ReplaceAll(text, `\n`, "\n")}
	switch {
	case strings.HasPrefix(file, ">"):
		w.Op, w.File = judge.Truncate, file[1:]
	case strings.HasPrefix(file, "mkdir"):
		w.Op, w.File, w.Text = judge.Mkdir, file[len("mkdir "):], ""
	case strings.HasPrefix(file, "rmdir"):
		w.Op, w.File, w.Text = judge.Rmdir, file[len("rmdir "):], ""
	}
	w.File = tracefsPath("", w.File)
	return readWrite{Write: w}
}

func (r *writeReader) stmt(s *syntax.Stmt) []readWrite {
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return atLine(s, r.pipe(c))
		}
		return append(r.stmt(c.X), r.stmt(c.Y)...)
	case *syntax.CallExpr:
		return atLine(s, r.call(s, c))
	case *syntax.Block:
		return r.stmts(c.Stmts)
	case *syntax.Subshell:
		return r.stmts(c.Stmts)
	}
	var list []readWrite
	if s.Cmd != nil {
		// Whether a loop or a branch runs, and with what, is not known.
		syntax.Walk(s.Cmd, func(n syntax.Node) bool {
			if inner, ok := n.(*syntax.Stmt); ok {
				if _, simple := inner.Cmd.(*syntax.CallExpr); simple && len(inner.Redirs) > 0 {
					list = append(list, atLine(inner, []readWrite{{unknown: "whether this runs is known when it does"}})...)
					return false
				}
			}
			return true
		})
	}
	return list
}

// atLine notes the line of s.
func atLine(s *syntax.Stmt, list []readWrite) []readWrite {
	for i := range list {
		list[i].line = int(s.Pos().Line())
	}
	return list
}

// shellScript returns the writes of a whole shell script, which begins with #!;
// ok is false if text is none, or cannot be read as one.
func shellScript(text []byte) (list []readWrite, ok bool) {
	if !bytes.HasPrefix(text, []byte("#!")) {
		return nil, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(text), "")
	if err != nil {
		return nil, false
	}
	var r writeReader
	return r.stmts(file.Stmts), true
}

func (r *writeReader) stmts(stmts []*syntax.Stmt) []readWrite {
	var list []readWrite
	for _, s := range stmts {
		list = append(list, r.stmt(s)...)
	}
	return list
}

// pipe is `echo TEXT | tee [-a] FILE`.
func (r *writeReader) pipe(c *syntax.BinaryCmd) []readWrite {
	left, ok1 := c.X.Cmd.(*syntax.CallExpr)
	right, ok2 := c.Y.Cmd.(*syntax.CallExpr)
	if !ok1 || !ok2 {
		return nil
	}
	to, known := r.words(right.Args)
	to = unprefixed(to)
	if len(to) == 0 || to[0] != "tee" {
		return nil
	}
	w := r.teed(to)
	if path.IsAbs(w.File) {
		return nil // a file elsewhere
	}
	if !known {
		w.unknown = notKnown
		return []readWrite{w}
	}
	return r.text(w, c.X, left)
}

// teed is the write that `tee` with the arguments makes, without its text.
func (r *writeReader) teed(to []string) readWrite {
	w := readWrite{Write: judge.Write{Op: judge.Truncate}}
	for _, a := range to[1:] {
		if strings.HasPrefix(a, "-") {
			if a == "-a" || a == "--append" {
				w.Op = judge.Append
			}
			continue
		}
		w.File = tracefsPath(r.dir, a)
	}
	return w
}

const notKnown = "what the script puts here is known when it runs"

// call is a command of one program.
func (r *writeReader) call(s *syntax.Stmt, c *syntax.CallExpr) []readWrite {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			r.assign(a)
		}
		return r.redirected(s, c)
	}
	args, known := r.words(c.Args)
	args = unprefixed(args)
	if len(args) == 0 {
		return nil
	}
	switch args[0] {
	case "cd":
		if len(args) > 1 && known {
			r.dir = tracefsPath(r.dir, args[1])
		}
		return nil
	case "export", "readonly", "local":
		for _, a := range args[1:] {
			if name, value, ok := strings.Cut(a, "="); ok {
				r.set(name, value)
			}
		}
		return nil
	case "mkdir", "rmdir":
		var list []readWrite
		for _, a := range args[1:] {
			if strings.HasPrefix(a, "-") {
				continue
			}
			w := readWrite{Write: judge.Write{Op: judge.Mkdir, File: tracefsPath(r.dir, a)}}
			if args[0] == "rmdir" {
				w.Op = judge.Rmdir
			}
			if !known {
				w.unknown = notKnown
			}
			if strings.HasPrefix(w.File, "instances/") {
				list = append(list, w)
			}
		}
		return list
	case "tee":
		w := r.teed(args)
		if path.IsAbs(w.File) {
			return nil
		}
		text, told := r.heredoc(s)
		if w.Text = text; !known || !told {
			w.unknown = notKnown
		}
		return []readWrite{w}
	case "sh", "bash", "dash":
		if len(args) > 2 && args[1] == "-c" && known {
			return r.line(args[2])
		}
		return nil
	}
	return r.redirected(s, c)
}

// unprefixed leaves out what only says how a program is run.
func unprefixed(args []string) []string {
	for len(args) > 0 && (args[0] == "sudo" || args[0] == "command" || args[0] == "exec" || args[0] == "doas") {
		args = args[1:]
	}
	return args
}

// redirected is `echo TEXT > FILE`, with > or >>.
func (r *writeReader) redirected(s *syntax.Stmt, c *syntax.CallExpr) []readWrite {
	var w readWrite
	found := false
	for _, d := range s.Redirs {
		switch d.Op {
		case syntax.RdrOut, syntax.ClbOut:
			w.Op = judge.Truncate
		case syntax.AppOut:
			w.Op = judge.Append
		default:
			continue
		}
		if d.N != nil && d.N.Value != "1" {
			continue
		}
		name, known := r.words([]*syntax.Word{d.Word})
		if !known {
			w.unknown = notKnown
		}
		if len(name) == 1 {
			if strings.HasPrefix(name[0], "/") && tracefsPath("", name[0]) == name[0] {
				return nil // a file elsewhere
			}
			w.File = tracefsPath(r.dir, name[0])
		}
		found = true
	}
	if !found {
		return nil
	}
	return r.text(w, s, c)
}

// heredoc returns the text that stands below s for its program to read.
func (r *writeReader) heredoc(s *syntax.Stmt) (text string, known bool) {
	for _, d := range s.Redirs {
		body := d.Hdoc
		if d.Op == syntax.WordHdoc {
			body = d.Word
		}
		if body != nil {
			list, known := r.words([]*syntax.Word{body})
			return strings.TrimSuffix(strings.Join(list, ""), "\n"), known
		}
	}
	return "", false
}

// text gives w what c prints, the program of s.
func (r *writeReader) text(w readWrite, s *syntax.Stmt, c *syntax.CallExpr) []readWrite {
	args, known := r.words(c.Args)
	args = unprefixed(args)
	switch {
	case w.unknown != "":
	case !known:
		w.unknown = notKnown
	case len(args) == 0 || args[0] == ":" || args[0] == "true":
		w.Text = ""
	case args[0] == "echo":
		args = args[1:]
		escapes := false
		for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
			escapes = escapes || strings.Contains(args[0], "e")
			args = args[1:]
		}
		w.Text = strings.Join(args, " ")
		if escapes {
			w.Text = unescape(w.Text)
		}
	case args[0] == "printf" && len(args) > 1:
		s, _, err := expand.Format(nil, args[1], args[2:])
		if err != nil {
			w.unknown = err.Error()
		}
		w.Text = strings.TrimSuffix(s, "\n")
	case len(args) == 1 && args[0] == "cat" && len(s.Redirs) > 0:
		if w.Text, known = r.heredoc(s); !known {
			w.unknown = notKnown
		}
	default:
		w.unknown = "what '" + args[0] + "' prints is known when it runs"
	}
	return []readWrite{w}
}

// unescape carries out the backslashes of `echo -e`.
func unescape(s string) string {
	out, _, err := expand.Format(nil, strings.ReplaceAll(s, "%", "%%"), nil)
	if err != nil {
		return s
	}
	return out
}

func (r *writeReader) assign(a *syntax.Assign) {
	if a.Name == nil || a.Value == nil {
		return
	}
	if value, known := r.words([]*syntax.Word{a.Value}); known {
		r.set(a.Name.Value, strings.Join(value, " "))
	}
}

func (r *writeReader) set(name, value string) {
	if r.vars == nil {
		r.vars = map[string]string{}
	}
	r.vars[name] = value
}

// words returns what words stand for; known is false if it depends on what is
// not known before the script runs.
func (r *writeReader) words(list []*syntax.Word) (out []string, known bool) {
	known = true
	for _, w := range list {
		syntax.Walk(w, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
				known = false
			case *syntax.ParamExp:
				if _, ok := r.vars[n.Param.Value]; !ok && !hasDefault(n) {
					known = false
				}
			}
			return true
		})
	}
	cfg := &expand.Config{
		Env:      expand.FuncEnviron(func(name string) string { return r.vars[name] }),
		CmdSubst: nil,
	}
	if !known {
		for _, w := range list {
			out = append(out, w.Lit())
		}
		return out, false
	}
	for _, w := range list {
		s, err := expand.Literal(cfg, w)
		if err != nil {
			return out, false
		}
		out = append(out, s)
	}
	return out, true
}

// hasDefault reports whether n is `${NAME:-TEXT}`, which is TEXT if nobody sets
// NAME.
func hasDefault(n *syntax.ParamExp) bool {
	return n.Exp != nil && (n.Exp.Op == syntax.DefaultUnset || n.Exp.Op == syntax.DefaultUnsetOrNull)
}

// mounts are where tracefs is found.
var mounts = []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing", "/debug/tracing", "/t/tracing"}

// tracefsPath returns a file's path from the root of tracefs. dir is the folder
// that a relative path begins in.
func tracefsPath(dir, name string) string {
	for _, m := range mounts {
		if name == m {
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
