package main

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata/script")

// TestMain makes this test's program the command `ep` of the scripts. It sees
// a machine without tracefs, or the folder that EP_TEST_ROOT names.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ep": func() {
		var root fs.FS = fstest.MapFS{}
		if dir := os.Getenv("EP_TEST_ROOT"); dir != "" {
			root = os.DirFS(dir)
		}
		os.Exit(run(os.Args[1:], Env{
			Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			Root: root, Getenv: os.Getenv, Terminal: stderrTerminal,
		}))
	}})
}

// TestScripts runs testdata/script/*.txtar: one file a command or concern.
// Besides testscript's own commands there is `code N PROGRAM ARGS…`, which
// wants exit code N.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) < 2 {
					ts.Fatalf("usage: code N PROGRAM ARGS…")
				}
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				got := 0
				var exit *exec.ExitError
				if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
					got = exit.ExitCode()
				} else {
					ts.Check(err)
				}
				if got != want {
					ts.Fatalf("exit code %d, want %d", got, want)
				}
			},
		},
	})
}
