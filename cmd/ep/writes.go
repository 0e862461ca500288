package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/eptrace/ep/compiler/judge"
	"github.com/eptrace/ep/compiler/target"
)

// judgedWrite is what `ep check --writes` says of one write.
type judgedWrite struct {
	Line     int      `json:"line"` // of the text that was read
	File     string   `json:"file"`
	Op       string   `json:"op"` // append, truncate, mkdir, rmdir
	Text     string   `json:"text,omitempty"`
	Verdict  string   `json:"verdict"` // accepted, rejected, unknown
	Reason   string   `json:"reason,omitempty"`
	Near     string   `json:"near,omitempty"`
	Errno    string   `json:"errno,omitempty"`
	Kernel   string   `json:"kernel,omitempty"`
	Start    int      `json:"start,omitempty"`
	End      int      `json:"end,omitempty"`
	Misleads []string `json:"misleads,omitempty"`

	said string // the reason, the near name and the kernel's words
}

// The verdicts of a judgedWrite.
const (
	accepted = "accepted"
	rejected = "rejected"
	unknown  = "unknown" // more is known when it runs, or ep does not judge the file
)

// runWrites judges the writes of a file.
func (c *checkCmd) runWrites(env *Env, t *target.Target) error {
	in, closer, err := openWrites(env, c.Writes)
	if err != nil {
		return err
	}
	defer closer()
	list, err := judgeWrites(in, t)
	if err != nil {
		return exitError{exitScript, fmt.Errorf("read writes '%s': %w", c.Writes, err)}
	}
	var out bytes.Buffer
	if c.JSON {
		err := printJSON(&out, struct {
			Version int           `json:"version"`
			Target  string        `json:"target"`
			Writes  []judgedWrite `json:"writes"`
		}{1, t.Name(), append([]judgedWrite{}, list...)})
		if err != nil {
			return fmt.Errorf("print the verdicts: %w", err)
		}
	} else {
		name := c.Writes
		if name == "-" {
			name = "<stdin>"
		}
		printWrites(&out, name, list)
	}
	if err := writeOutput(env, "", out.Bytes()); err != nil {
		return err
	}
	for _, w := range list {
		if w.Verdict == rejected {
			return exitError{code: exitScript}
		}
	}
	return nil
}

func openWrites(env *Env, name string) (io.Reader, func(), error) {
	if name == "-" {
		return env.Stdin, func() {}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, exitError{exitScript, fmt.Errorf("read writes '%s': %w", name, cause(err))}
	}
	return f, func() { f.Close() }, nil
}

// printWrites prints a line for each write: the verdict, a tab, and why, behind
// the file and the line where the write stands.
func printWrites(out *bytes.Buffer, name string, list []judgedWrite) {
	for _, j := range list {
		why := j.said
		if j.Verdict == accepted && len(j.Misleads) > 0 {
			why = "misleads: " + strings.Join(j.Misleads, "; ")
		}
		if why != "" {
			why = fmt.Sprintf("%s:%d: %s", name, j.Line, strings.ReplaceAll(why, "\n", " "))
		}
		fmt.Fprintf(out, "%s\t%s\n", j.Verdict, why)
	}
}

// judgeWrites judges the writes of a text, each line after what those before it
// made. An empty line starts from a clean state, save in a script that begins
// with #!, which is one whole, and within one command.
func judgeWrites(in io.Reader, t *target.Target) ([]judgedWrite, error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	j := newWriteJudge(t)
	if script, ok := shellScript(text); ok {
		for _, w := range script {
			j.judge(w)
		}
		return j.list, nil
	}
	lines := strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	r := writeReader{lines: lines}
	for n := 0; n < len(lines); {
		if strings.TrimSpace(lines[n]) == "" {
			j.reset()
			r.sh = shell{}
			n++
			continue
		}
		var found []readWrite
		found, n = r.next(n)
		for _, w := range found {
			j.judge(w)
		}
	}
	return j.list, nil
}

// writeJudge judges writes one after the other.
type writeJudge struct {
	*judge.Judge
	list []judgedWrite
	// missed: a write before could not be judged, so that there may be more than
	// the Judge knows of.
	missed bool
}

func newWriteJudge(t *target.Target) *writeJudge { return &writeJudge{Judge: judge.New(t)} }

func (j *writeJudge) reset() {
	j.Reset()
	j.missed = false
}

func (j *writeJudge) judge(w readWrite) {
	if w.unknown == "" && w.Op <= judge.Clear && !judge.Judges(w.File) {
		w.unknown = "ep does not know what kernels take in '" + w.File + "'"
	} else if w.unknown != "" {
		j.missed = true
	}
	out := judgeWrite(j.Judge, w)
	if j.missed && out.Verdict == rejected && out.Near == "" && (out.Errno == "ENOENT" || out.Errno == "ENODEV") {
		out = judgedWrite{Line: out.Line, File: w.File, Op: out.Op, Text: w.Text, Verdict: unknown,
			Reason: out.Reason + ", unless a write before, which is not known, makes it"}
		out.said = out.Reason
	}
	j.list = append(j.list, out)
}

func judgeWrite(j *judge.Judge, w readWrite) judgedWrite {
	ops := [...]string{judge.Append: "append", judge.Truncate: "truncate", judge.Clear: "truncate", judge.Mkdir: "mkdir", judge.Rmdir: "rmdir"}
	out := judgedWrite{Line: w.line, File: w.File, Op: ops[w.Op], Text: w.Text, Verdict: accepted}
	if w.unknown != "" {
		out.Verdict, out.Reason, out.said = unknown, w.unknown, w.unknown
		return out
	}
	v := j.Write(w.Write)
	out.Misleads = v.Misleads
	if r := v.Refusal; r != nil {
		out.Verdict, out.Reason, out.Near = rejected, r.Reason, r.Near
		out.Errno, out.Kernel = r.Errno, r.Kernel
		out.Start, out.End = r.Lo, r.Hi
		if r.Hi > 0 {
			out.Line = w.lineOf(r.Lo)
		}
		out.said = strings.ReplaceAll(r.Error(), "\n", " ")
	}
	return out
}
