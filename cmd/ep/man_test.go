package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// output runs a command line on a machine that has nothing.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(args, Env{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Root: fstest.MapFS{},
		Getenv: func(string) string { return "" }, Terminal: func() (int, bool) { return 0, false },
	})
	if code != 0 {
		t.Fatalf("ep %q: exit code %d\n%s", args, code, errs.String())
	}
	return out.String()
}

func TestManPageIsUpToDate(t *testing.T) {
	const page = "../../docs/ep.1"
	got := output(t, "man")
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what ep --help says: run `make golden`", page)
	}
}

func TestManPageIsWellFormed(t *testing.T) {
	path, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("mandoc is not installed")
	}
	cmd := exec.Command(path, "-T", "lint", "-W", "error")
	cmd.Stdin = strings.NewReader(output(t, "man"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestCommandsAreDocumented: what the command line can do is in its page, and
// each command's help has an example.
func TestCommandsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^  (\w+(?: \w+)?)  +\S`).FindAllStringSubmatch(output(t, "--help"), -1)
	if len(commands) < 8 {
		t.Fatalf("found only %d commands in the help", len(commands))
	}
	for _, m := range commands {
		if !strings.Contains(string(page), "`ep "+m[1]) {
			t.Errorf("docs/cli.md says nothing of 'ep %s'", m[1])
		}
		help := output(t, append(strings.Fields(m[1]), "--help")...)
		if !strings.Contains(help, "Example") && m[1] != "version" && m[1] != "target list" {
			t.Errorf("'ep %s --help' has no example", m[1])
		}
	}
}
