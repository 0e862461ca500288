package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"
)

// TestEscapeControls also cuts each text in two at every place: a buffer flushes
// where it is full.
func TestEscapeControls(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"plain\tText\nöß→\n", "plain\tText\nöß→\n"},
		{"\x1b[1;31merror\x1b[0m: x\x1b[1mb\x1b[0m", "\x1b[1;31merror\x1b[0m: x\x1b[1mb\x1b[0m"},
		{"a\x1b[2Jb", `a\x1b[2Jb`},
		{"a\x1b]0;title\ab\r", `a\x1b]0;title\x07b\x0d`},
		{"\x1b\x1b[1;3", `\x1b\x1b[1;3`},
		{"\x1b[8mhidden", `\x1b[8mhidden`},
		{"c1 \u009b2J, turned \u202e, broken \xe2\x82", `c1 \xc2\x9b2J, turned \xe2\x80\xae, broken \xe2\x82`},
	} {
		for cut := range len(c.text) + 1 {
			dir := t.TempDir()
			f, err := os.Create(filepath.Join(dir, "out"))
			if err != nil {
				t.Fatal(err)
			}
			s := &screen{file: f}
			for _, part := range []string{c.text[:cut], c.text[cut:]} {
				if n, err := s.Write([]byte(part)); err != nil || n != len(part) {
					t.Fatalf("wrote %d of %d bytes: %v", n, len(part), err)
				}
			}
			s.end()
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(f.Name()); err != nil || string(got) != c.want {
				t.Errorf("%q cut at %d: got %q, %v; want %q", c.text, cut, got, err, c.want)
			}
		}
	}
}

// TestColoursAreTheOnlyControls looks for the marks in the source, so that one that is
// new there is not shown escaped.
func TestColoursAreTheOnlyControls(t *testing.T) {
	for _, name := range []string{"../../lang/diag/text.go", "../../runtime/hist/grid.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(string(text), `"\x1b`)[1:]
		if len(parts) == 0 {
			t.Errorf("%s has no marks", name)
		}
		for _, p := range parts {
			mark, _, _ := strings.Cut(p, `"`)
			if !slices.ContainsFunc(colours, func(c []byte) bool { return string(c) == "\x1b"+mark }) {
				t.Errorf("%s writes \\x1b%s, which a screen escapes", name, mark)
			}
		}
	}
}

// TestCommandsOnTerminal prints what a script's name and comments, and a machine's
// events are called, on a real terminal and into a file.
func TestCommandsOnTerminal(t *testing.T) {
	const evil = "\x1b[2J\x1b]0;pwned\a"
	script := filepath.Join(t.TempDir(), "a"+evil+"b.ep")
	if err := os.WriteFile(script, []byte("# c"+evil+"d\nevent e from sched.sched_switch { next_pid }\ntrace e, nothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := fstest.MapFS{
		"sys/kernel/tracing/README":                               {Data: []byte("tracing mini-HOWTO:\n")},
		"sys/kernel/tracing/events/sched/ev" + evil + "il/format": {Data: []byte("name: evil\nID: 1\nformat:\n")},
	}
	seen := 0
	for _, args := range [][]string{
		{"explain", script}, {"check", script}, {"check", "--writes", script}, {"compile", script}, {"fmt", script}, {"fmt", "-d", script},
		{"list", "events"}, {"list"}, {"doctor"}, {"plan", script}, {"apply", script}, {"run", script}, {"no" + evil},
	} {
		got := onTerminal(t, func(tty *os.File) {
			run(args, Env{Stdin: strings.NewReader(""), Stdout: tty, Stderr: tty, Root: root, Getenv: func(string) string { return "" }, Terminal: func() (int, bool) { return 80, true }})
		})
		for _, c := range colours {
			got = strings.ReplaceAll(got, string(c), "")
		}
		if strings.ContainsAny(got, "\x1b\a") {
			t.Errorf("ep %q writes control characters to a terminal: %q", args, got)
		}
		if strings.Contains(got, `\x1b[2J`) {
			seen++
		}
	}
	if seen < 3 {
		t.Errorf("only %d commands printed the name at all", seen)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	run([]string{"explain", script}, Env{Stdout: file, Stderr: file, Root: root, Getenv: func(string) string { return "" }, Terminal: func() (int, bool) { return 0, false }})
	if text, err := os.ReadFile(file.Name()); err != nil || len(text) == 0 {
		t.Errorf("a file got %q, %v", text, err)
	}
}

// onTerminal returns what f writes to a terminal.
func onTerminal(t *testing.T, f func(tty *os.File)) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	done := make(chan string)
	go func() {
		var b strings.Builder
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			b.Write(buf[:n])
			if err != nil { // EIO: nobody has the terminal any more
				done <- b.String()
				return
			}
		}
	}()
	f(tty)
	if err := tty.Close(); err != nil {
		t.Error(err)
	}
	return <-done
}
