package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/alecthomas/kong"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/runtime/session"
)

// This file holds the commands in the pages of docs and in README.md to what ep
// does. In a page
//
//   - a ```console block shows commands, each after "$ ", with what they print:
//     they are run, and must print that. "…" alone on a line stands for any lines.
//     If a comment <!-- on a kernel --> is before it, they are parsed, for it takes
//     tracefs;
//   - a ```sh block has commands alone, which are parsed;
//   - an ```ep or ```sh block after a comment <!-- NAME.ep --> or <!-- NAME.sh --> is a file that the commands
//     below may name (of a path its last part), and one after <!-- wrong: NAME.ep -->
//     one that has errors.
const onKernel = "<!-- on a kernel -->"

var fileMarker = regexp.MustCompile(`^<!-- (?:wrong: )?([\w/.-]+\.(?:ep|sh)) -->$`)

// fenced is a fenced block of a page.
type fenced struct {
	line         int // of its first line, from 1
	lang, marker string
	lines        []string
}

func fencedBlocks(text string) []fenced {
	var all []fenced
	before, open := "", false
	for i, line := range strings.Split(text, "\n") {
		lang, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !open:
			all, open = append(all, fenced{line: i + 2, lang: lang, marker: before}), true
		case fence:
			open = false
		case open:
			all[len(all)-1].lines = append(all[len(all)-1].lines, line)
		}
		if line != "" {
			before = line
		}
	}
	return all
}

func TestCommandsInPages(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(root + "/docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, root+"/README.md") {
		t.Run(filepath.Base(page), func(t *testing.T) {
			// The folder where the page's commands are given: its own scripts are
			// there, and testdata.
			dir := t.TempDir()
			t.Chdir(dir)
			if err := os.Symlink(root+"/testdata", "testdata"); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			p := shownPage{T: t, root: root, lines: strings.Split(string(text), "\n")}
			for _, b := range fencedBlocks(string(text)) {
				p.block(b)
			}
			if *update && p.changed {
				if err := os.WriteFile(page, []byte(strings.Join(p.lines, "\n")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// shownPage is a page whose commands are looked at, from its first line on.
type shownPage struct {
	*testing.T
	root    string
	lines   []string
	shift   int // how many lines longer it has become
	changed bool
}

func (p *shownPage) block(b fenced) {
	switch b.lang {
	case "ep", "sh":
		if m := fileMarker.FindStringSubmatch(b.marker); m != nil {
			if err := os.WriteFile(filepath.Base(m[1]), []byte(strings.Join(b.lines, "\n")+"\n"), 0o644); err != nil {
				p.Fatal(err)
			}
			return
		}
		if b.lang == "ep" {
			return
		}
		for i, line := range b.lines {
			p.parses(b.line+i, line)
		}
	case "console":
		for i := 0; i < len(b.lines); {
			command, ok := strings.CutPrefix(b.lines[i], "$ ")
			if !ok {
				p.Fatalf("line %d: want '$ ' and a command", b.line+i)
			}
			end := i + 1
			for end < len(b.lines) && !strings.HasPrefix(b.lines[end], "$ ") {
				end++
			}
			args := p.parses(b.line+i, command)
			if b.marker != onKernel && args != nil {
				p.prints(b.line+i, args, b.lines[i+1:end])
			}
			i = end
		}
	}
}

// makes finds the goals of the Makefile.
var makes = regexp.MustCompile(`(?m)^([a-z-]+):`)

// parses holds a line to be a command that there is, and returns the arguments
// if it is one of ep.
func (p *shownPage) parses(n int, line string) []string {
	line, _, _ = strings.Cut(line, "  #")
	line, _, _ = strings.Cut(line, " | ")
	line = strings.TrimPrefix(strings.TrimSpace(line), "sudo ")
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	words, err := session.Words(line)
	if err != nil {
		p.Errorf("line %d: %v", n, err)
		return nil
	}
	for len(words) > 1 && regexp.MustCompile(`^[A-Z_]+=`).MatchString(words[0]) {
		words = words[1:]
	}
	if i := slices.IndexFunc(words, func(w string) bool { return w == ">" || w == "<" }); i >= 0 {
		words = words[:i]
	}
	switch {
	case words[0] == "ep":
		words = words[1:]
	case len(words) > 2 && words[0] == "go" && words[1] == "run" && words[2] == "./cmd/ep":
		words = words[3:]
	case words[0] == "make":
		text, err := os.ReadFile(p.root + "/Makefile")
		if err != nil {
			p.Fatal(err)
		}
		for _, goal := range words[1:] {
			if !strings.Contains(goal, "=") && !slices.ContainsFunc(makes.FindAllSubmatch(text, -1), func(m [][]byte) bool { return string(m[1]) == goal }) {
				p.Errorf("line %d: there is no make %s", n, goal)
			}
		}
		return nil
	case slices.Contains([]string{"go", "ssh", "scp", "cp", "adb", "source", "bootconfig", "chmod", "git", "sh"}, words[0]), strings.HasPrefix(words[0], "./"):
		return nil // of others
	default:
		p.Errorf("line %d: what command is '%s'?", n, words[0])
		return nil
	}
	var c cli
	k, err := kong.New(&c, kong.Name("ep"), kong.Vars{"default_target": target.DefaultName}, kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		p.Fatal(err)
	}
	if _, err := k.Parse(words); err != nil {
		p.Errorf("line %d: ep %s: %v", n, strings.Join(words, " "), err)
	}
	return words
}

// prints runs a command of ep and holds what it prints to be what is shown.
func (p *shownPage) prints(n int, args, shown []string) {
	var out bytes.Buffer
	run(args, Env{
		Stdin: &bytes.Buffer{}, Stdout: &out, Stderr: &out, Root: fstest.MapFS{},
		Getenv: func(string) string { return "" }, Terminal: func() (int, bool) { return 0, false },
	})
	got := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	if same(got, shown) {
		return
	}
	if *update && !slices.Contains(shown, "…") {
		at := n + p.shift // the line after the command, from 0
		p.lines = slices.Concat(p.lines[:at], got, p.lines[at+len(shown):])
		p.shift += len(got) - len(shown)
		p.changed = true
		return
	}
	p.Errorf("line %d: ep %s prints (`make golden` mends what has no '…')\n%s\nand not\n%s",
		n, strings.Join(args, " "), strings.Join(got, "\n"), strings.Join(shown, "\n"))
}

// same compares lines with those that are shown, where "…" stands for any.
func same(got, shown []string) bool {
	for i, line := range shown {
		if line == "…" {
			rest := shown[i+1:]
			for ; len(got) >= len(rest); got = got[1:] {
				if same(got, rest) {
					return true
				}
				if len(got) == 0 {
					break
				}
			}
			return false
		}
		if len(got) == 0 || got[0] != line {
			return false
		}
		got = got[1:]
	}
	return len(got) == 0
}

func TestSameTakesAnyLines(t *testing.T) {
	for _, c := range []struct {
		got, shown string
		want       bool
	}{
		{"a b c", "a b c", true}, {"a b c", "a … c", true}, {"a b c", "a …", true}, {"a", "a …", true},
		{"a b c", "a b", false}, {"a b c", "… b", false}, {"a b c b", "… b", true}, {"", "a", false},
	} {
		if same(strings.Fields(c.got), strings.Fields(c.shown)) != c.want {
			t.Errorf("%q as %q: want %v", c.got, c.shown, c.want)
		}
	}
}
