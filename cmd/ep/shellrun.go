package main

import (
	"maps"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/eptrace/ep/compiler/judge"
)

// shell follows a shell script as far as it is known before it runs: what it
// sets, the folder it is in, its functions and its loops over words. It runs no
// program. What depends on one is unsure, and so are the writes made there.
type shell struct {
	vars   map[string]string
	lost   map[string]bool // variables that are set to what is not known
	funcs  map[string]*syntax.Stmt
	dir    string // below the root of tracefs; with a '/' in front elsewhere
	adrift bool   // the folder is not known

	out    []*sink // where standard output goes; nil: not to tracefs
	unsure bool    // whether this runs is not known
	ended  bool    // by exit, or by return from a function
	depth  int
	steps  int
	list   []readWrite
}

// sink is a file of tracefs that standard output goes to.
type sink struct {
	file    string
	op      judge.Op
	used    bool   // something was written: what comes now is appended
	unknown string // why it is not known which file it is
}

// The most that is followed: functions in functions, and statements in all. A
// statement counts as much as textOfStep bytes of text.
const (
	maxDepth   = 50
	maxSteps   = 100_000
	maxWords   = 10_000 // that one word with braces stands for
	textOfStep = 100
)

const (
	notKnown    = "what the script puts here is known when it runs"
	whetherRuns = "whether this runs is known when it does"
)

func (sh *shell) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		if sh.ended {
			return
		}
		sh.stmt(s)
	}
}

// within runs f with the output of s, if it has its own.
func (sh *shell) within(s *syntax.Stmt, f func()) {
	outer := sh.out
	out, own := sh.redirected(s)
	if own {
		sh.out = out
	}
	f()
	if own {
		for _, o := range out {
			if !o.used && o.op == judge.Truncate {
				o.op = judge.Clear
				sh.put(s, readWrite{})
			}
		}
	}
	sh.out = outer
}

func (sh *shell) stmt(s *syntax.Stmt) {
	if sh.steps > maxSteps {
		return
	}
	if sh.step(1); sh.steps > maxSteps {
		sh.add(s, readWrite{unknown: "the script runs too long to be followed further"})
		return
	}
	switch c := s.Cmd.(type) {
	case nil, *syntax.CallExpr:
		call, _ := c.(*syntax.CallExpr)
		sh.within(s, func() { sh.call(s, call) })
	case *syntax.BinaryCmd:
		sh.binary(c)
	case *syntax.FuncDecl:
		sh.function(c)
	case *syntax.DeclClause:
		for _, a := range c.Args {
			sh.assign(a)
		}
	case *syntax.Block:
		sh.within(s, func() { sh.stmts(c.Stmts) })
	case *syntax.Subshell:
		sh.within(s, func() { sh.apart(func() { sh.stmts(c.Stmts) }) })
	case *syntax.ForClause:
		sh.within(s, func() { sh.loop(c) })
	case *syntax.TimeClause:
		if c.Stmt != nil {
			sh.stmt(c.Stmt)
		}
	case *syntax.IfClause:
		sh.within(s, func() {
			sh.stmts(c.Cond)
			sh.perhaps(func() {
				sh.stmts(c.Then)
				for e := c.Else; e != nil; e = e.Else {
					sh.stmts(e.Cond)
					sh.stmts(e.Then)
				}
			})
		})
	case *syntax.WhileClause:
		sh.within(s, func() {
			sh.perhaps(func() {
				sh.stmts(c.Cond)
				sh.stmts(c.Do)
			})
		})
	case *syntax.CaseClause:
		sh.within(s, func() {
			sh.perhaps(func() {
				for _, item := range c.Items {
					sh.stmts(item.Stmts)
				}
			})
		})
	default:
		sh.lose(c)
	}
}

// step counts what is followed: statements, and the text that words stand for.
func (sh *shell) step(n int) { sh.steps += n }

// lose forgets the variables that n sets.
func (sh *shell) lose(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.Word); ok && syntax.ValidName(w.Lit()) {
			sh.setLost(w.Lit())
		}
		return true
	})
}

// perhaps runs f, of which it is not known whether it runs.
func (sh *shell) perhaps(f func()) {
	before, ended := sh.unsure, sh.ended
	sh.unsure = true
	f()
	sh.unsure, sh.ended = before, ended
}

// apart runs f in a shell of its own.
func (sh *shell) apart(f func()) {
	vars, lost, dir, adrift, ended := maps.Clone(sh.vars), maps.Clone(sh.lost), sh.dir, sh.adrift, sh.ended
	f()
	sh.vars, sh.lost, sh.dir, sh.adrift, sh.ended = vars, lost, dir, adrift, ended
}

// binary is `X && Y`, `X || Y` or `X | Y`.
func (sh *shell) binary(c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		sh.pipe(c)
		return
	}
	sh.stmt(c.X)
	asks := asks(c.X)
	if c.Op == syntax.OrStmt && asks && makesFolder(c.Y) || c.Op == syntax.AndStmt && !asks {
		sh.stmt(c.Y)
		return
	}
	sh.perhaps(func() { sh.stmt(c.Y) })
}

// questions are the programs that are run for their exit code.
var questions = map[string]bool{"[": true, "test": true, "grep": true, "egrep": true, "fgrep": true, "type": true, "command": true,
	"which": true, "pgrep": true, "cmp": true, "diff": true, "mountpoint": true, "false": true, "read": true, "lsmod": true}

// asks reports whether s is run to learn something, so that both answers are
// usual.
func asks(s *syntax.Stmt) bool {
	if s.Negated {
		return true
	}
	switch c := s.Cmd.(type) {
	case *syntax.TestClause, *syntax.ArithmCmd:
		return true
	case *syntax.BinaryCmd:
		return asks(c.X) || asks(c.Y)
	case *syntax.CallExpr:
		return len(c.Args) > 0 && questions[c.Args[0].Lit()]
	}
	return false
}

// makesFolder reports whether s is mkdir: `[ -d X ] || mkdir X` leaves X there.
func makesFolder(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && c.Args[0].Lit() == "mkdir"
}

// pipe is `X | Y`. Of the programs behind a '|' only tee writes what it reads.
func (sh *shell) pipe(c *syntax.BinaryCmd) {
	outer := sh.out
	right, _ := c.Y.Cmd.(*syntax.CallExpr)
	if right == nil {
		sh.apart(func() { sh.out = nil; sh.stmt(c.X) })
		sh.out = outer
		sh.apart(func() { sh.perhaps(func() { sh.stmt(c.Y) }) })
		return
	}
	to, known := sh.words(right.Args)
	if to = unprefixed(to); len(to) > 0 && to[0] == "tee" {
		sh.apart(func() {
			sh.out = sh.teed(to, known)
			sh.stmt(c.X)
		})
		sh.out = outer
		return
	}
	sh.apart(func() { sh.out = nil; sh.stmt(c.X) })
	sh.out = outer
	sh.within(c.Y, func() { sh.put(c.Y, readWrite{unknown: prints(to)}) })
}

// prints is why the text of a program is not known.
func prints(args []string) string {
	if len(args) == 0 || args[0] == "" {
		return notKnown
	}
	return "what '" + args[0] + "' prints is known when it runs"
}

// teed is where `tee` with the arguments writes to.
func (sh *shell) teed(to []string, known bool) (list []*sink) {
	op := judge.Truncate
	for _, a := range to[1:] {
		switch {
		case a == "-a" || a == "--append":
			op = judge.Append
		case strings.HasPrefix(a, "-"):
		case !known:
			return []*sink{{op: op, unknown: notKnown}}
		default:
			if o := sh.sink(a, op); o != nil {
				list = append(list, o)
			}
		}
	}
	return list
}

// sink returns the file of tracefs of that name; nil if it is elsewhere.
func (sh *shell) sink(name string, op judge.Op) *sink {
	if sh.adrift && !strings.HasPrefix(name, "/") {
		return &sink{file: name, op: op, unknown: "in which folder this is, is known when it runs"}
	}
	file := tracefsPath(sh.dir, name)
	if strings.HasPrefix(file, "/") {
		return nil
	}
	return &sink{file: file, op: op}
}

// redirected returns where s's own standard output goes; own is false if it has
// none.
func (sh *shell) redirected(s *syntax.Stmt) (out []*sink, own bool) {
	for _, d := range s.Redirs {
		op := judge.Truncate
		switch d.Op {
		case syntax.AppOut, syntax.AppAll:
			op = judge.Append
		case syntax.RdrOut, syntax.RdrClob, syntax.RdrAll:
		case syntax.DplOut: // >&2
			if (d.N == nil || d.N.Value == "1") && d.Word.Lit() != "1" {
				out, own = nil, true
			}
			continue
		default:
			continue
		}
		if d.N != nil && d.N.Value != "1" {
			continue
		}
		own, out = true, nil
		name, known := sh.literal(d.Word)
		if !known {
			out = []*sink{{op: op, unknown: notKnown}}
		} else if o := sh.sink(name, op); o != nil {
			out = []*sink{o}
		}
	}
	return out, own
}

// put adds the write of a text to where standard output goes.
func (sh *shell) put(s *syntax.Stmt, text readWrite) {
	for _, o := range sh.out {
		w := text
		w.Op, w.File = judge.Append, o.file
		if !o.used {
			w.Op = o.op
		}
		o.used = true
		if o.unknown != "" {
			w.unknown = o.unknown
		}
		sh.add(s, w)
	}
}

func (sh *shell) add(s *syntax.Stmt, w readWrite) {
	if sh.unsure {
		w.unknown = whetherRuns
	}
	w.line = int(s.Pos().Line())
	if w.textLine == 0 {
		w.textLine, w.lastLine = w.line, int(s.End().Line())
	}
	sh.list = append(sh.list, w)
}

func (sh *shell) function(c *syntax.FuncDecl) {
	if sh.funcs == nil {
		sh.funcs = map[string]*syntax.Stmt{}
	}
	if c.Name != nil {
		sh.funcs[c.Name.Value] = c.Body
	}
}

// loop is `for NAME in WORDS`.
func (sh *shell) loop(c *syntax.ForClause) {
	words, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		sh.lose(c.Loop)
		sh.perhaps(func() { sh.stmts(c.Do) })
		return
	}
	items, known := sh.words(words.Items)
	if !words.InPos.IsValid() { // the arguments
		all, set := sh.vars["@"]
		items, known = strings.Fields(all), set
	}
	for _, w := range words.Items {
		known = known && !hasGlob(w) && !c.Select
	}
	if !known {
		sh.setLost(words.Name.Value)
		sh.perhaps(func() { sh.stmts(c.Do) })
		return
	}
	for _, item := range items {
		if sh.ended || sh.steps > maxSteps {
			return
		}
		sh.set(words.Name.Value, item)
		sh.stmts(c.Do)
	}
}

// hasGlob reports whether w stands for the names of files.
func hasGlob(w *syntax.Word) bool {
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok && strings.ContainsAny(lit.Value, "*?[") {
			return true
		}
	}
	return false
}

// called runs a function of the script.
func (sh *shell) called(body *syntax.Stmt, args []string) {
	if sh.depth == maxDepth {
		return
	}
	before := map[string]string{}
	for n, v := range sh.vars {
		if isPositional(n) {
			before[n] = v
		}
	}
	ended := sh.ended
	sh.arguments(args)
	sh.depth++
	sh.stmt(body)
	sh.depth--
	sh.ended = ended
	maps.DeleteFunc(sh.vars, func(n, _ string) bool { return isPositional(n) })
	maps.Copy(sh.vars, before)
}
