package main

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/eptrace/ep/compiler/judge"
)

// call is a command of one program, or none: `> FILE`, `NAME=VALUE`.
func (sh *shell) call(s *syntax.Stmt, c *syntax.CallExpr) {
	if c == nil || len(c.Args) == 0 {
		if c != nil {
			for _, a := range c.Assigns {
				sh.assign(a)
			}
		}
		return
	}
	args, known := sh.words(c.Args)
	if args = unprefixed(args); len(args) == 0 {
		return
	}
	if body := sh.funcs[args[0]]; body != nil {
		at := len(sh.list)
		if known {
			sh.called(body, args[1:])
		} else {
			sh.called(body, nil)
		}
		if len(args) > 1 { // what it writes is said where it is called
			sh.placed(s, at)
		}
		return
	}
	switch args[0] {
	case "cd", "pushd":
		sh.enter(args, known)
	case "popd":
		sh.adrift = true
	case "mkdir", "rmdir":
		sh.folders(s, args, known)
	case "tee":
		sh.out = sh.teed(args, known)
		sh.put(s, sh.heredoc(s))
	case "sh", "bash", "dash":
		if len(args) > 2 && args[1] == "-c" && known {
			sh.apart(func() { sh.eval(s, args[2]) })
		}
	case "eval":
		if known {
			sh.eval(s, strings.Join(args[1:], " "))
		}
	case "exit", "return":
		sh.ended = !sh.unsure
	case "unset":
		for _, a := range args[1:] {
			delete(sh.vars, a)
			if sh.unsure {
				sh.setLost(a)
			}
		}
	case "read", "getopts", "mapfile":
		for _, a := range args[1:] {
			if syntax.ValidName(a) {
				sh.setLost(a)
			}
		}
	case "set":
		if len(args) > 1 && args[1] == "--" && known {
			sh.arguments(args[2:])
		}
	case "shift":
		if rest := environ(sh.vars).positional(); len(rest) > 0 {
			sh.arguments(rest[1:])
		}
	default:
		if !silent[args[0]] {
			sh.put(s, sh.printed(s, args, known))
		}
	}
}

// silent are programs that print nothing.
var silent = map[string]bool{":": true, "true": true, "false": true, "[": true, "test": true, "sleep": true, "mount": true, "umount": true,
	"modprobe": true, "insmod": true, "rmmod": true, "chmod": true, "chown": true, "trap": true, "wait": true, "kill": true, "rm": true,
	"cp": true, "mv": true, "ln": true, "touch": true, "sync": true, "ulimit": true, "umask": true, "source": true, ".": true}

// unprefixed leaves out what only says how a program is run.
func unprefixed(args []string) []string {
	for len(args) > 0 {
		switch args[0] {
		case "sudo", "command", "builtin", "exec", "doas", "env":
			args = args[1:]
			for len(args) > 0 && strings.HasPrefix(args[0], "-") {
				args = args[1:]
			}
		default:
			return args
		}
	}
	return args
}

// enter is `cd DIR`.
func (sh *shell) enter(args []string, known bool) {
	if len(args) < 2 || !known || args[1] == "-" || sh.unsure {
		sh.adrift = true
		return
	}
	to := tracefsPath(sh.dir, args[1])
	sh.adrift = sh.adrift && !strings.HasPrefix(args[1], "/")
	sh.dir = to
}

// folders is `mkdir DIR…` or `rmdir DIR…`.
func (sh *shell) folders(s *syntax.Stmt, args []string, known bool) {
	for _, a := range args[1:] {
		if strings.HasPrefix(a, "-") {
			continue
		}
		w := readWrite{Write: judge.Write{Op: judge.Mkdir, File: tracefsPath(sh.dir, a)}}
		if args[0] == "rmdir" {
			w.Op = judge.Rmdir
		}
		if !known {
			w.unknown = notKnown
		}
		if strings.HasPrefix(w.File, "instances/") {
			sh.add(s, w)
		}
	}
}

// eval runs a text of the script as a part of it.
func (sh *shell) eval(s *syntax.Stmt, text string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil || sh.depth == maxDepth {
		return
	}
	at := len(sh.list)
	sh.depth++
	sh.stmts(file.Stmts)
	sh.depth--
	sh.placed(s, at) // its lines are those of the text
}

// placed says that the writes from the at-th on stand in s.
func (sh *shell) placed(s *syntax.Stmt, at int) {
	for i := range sh.list[at:] {
		w := &sh.list[at+i]
		w.line = int(s.Pos().Line())
		w.textLine, w.lastLine = w.line, int(s.End().Line())
	}
}

// heredoc returns the text that stands below s for its program to read.
func (sh *shell) heredoc(s *syntax.Stmt) (w readWrite) {
	for _, d := range s.Redirs {
		switch d.Op {
		case syntax.WordHdoc:
			text, known := sh.literal(d.Word)
			if w.Text = text; !known {
				w.unknown = notKnown
			}
			return w
		case syntax.Hdoc, syntax.DashHdoc:
			if d.Hdoc == nil {
				return w
			}
			w.textLine, w.lastLine = int(d.Hdoc.Pos().Line()), int(d.Hdoc.End().Line())
			w.Text, w.unknown = sh.document(d)
			w.Text = strings.TrimSuffix(w.Text, "\n")
			return w
		}
	}
	w.unknown = notKnown
	return w
}

// document returns the text of a here-document. One whose end is between quotes
// is taken as it stands.
func (sh *shell) document(d *syntax.Redirect) (text, unknown string) {
	plain := d.Word.Lit() != "" && !strings.Contains(d.Word.Lit(), `\`)
	if !plain {
		text = d.Hdoc.Lit()
	} else if !sh.known(d.Hdoc) {
		return "", notKnown
	} else if s, err := expand.Document(sh.config(), d.Hdoc); err != nil {
		return "", err.Error()
	} else {
		text = s
	}
	if d.Op == syntax.DashHdoc {
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			lines[i] = strings.TrimLeft(l, "\t")
		}
		text = strings.Join(lines, "\n")
	}
	return text, ""
}

// printed is what a program prints: echo, printf, and cat of a here-document.
func (sh *shell) printed(s *syntax.Stmt, args []string, known bool) (w readWrite) {
	switch {
	case args[0] == "echo" && !known, args[0] == "printf" && !known:
		w.unknown = notKnown
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
		format := args[1:]
		if format[0] == "--" && len(format) > 1 {
			format = format[1:]
		}
		w.Text, w.unknown = formatted(format[0], format[1:])
		w.Text = strings.TrimSuffix(w.Text, "\n")
	case args[0] == "cat" && len(args) == 1:
		w = sh.heredoc(s)
	default:
		w.unknown = prints(args)
	}
	return w
}

// formatted is what printf prints, which begins its format again as long as
// there are arguments.
func formatted(format string, args []string) (text, unknown string) {
	for {
		s, used, err := expand.Format(nil, format, args)
		if err != nil {
			return "", err.Error()
		}
		text += s
		if used == 0 || used >= len(args) {
			return text, ""
		}
		args = args[used:]
	}
}

// unescape carries out the backslashes of `echo -e`.
func unescape(s string) string {
	out, _, err := expand.Format(nil, strings.ReplaceAll(s, "%", "%%"), nil)
	if err != nil {
		return s
	}
	return out
}
