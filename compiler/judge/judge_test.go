package judge_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler/judge"
	"github.com/eptrace/ep/compiler/target"
)

// kernels are those that were asked what testdata/*.tsv holds, in the order of
// its columns.
var kernels = []string{"6.1", "6.12", "6.17", "7.2", "7.3"}

// asked is a line of testdata/*.tsv: a write, the writes before it, and what
// each kernel said.
//
//	FILE ⇥ TEXT ⇥ FILE <- TEXT ;; … ⇥ VERDICT ×5 ⇥ ["mislead"]
//
// In a text "\n" is a newline; ">FILE" is opened with O_TRUNC, and "mkdir DIR"
// and "rmdir DIR" stand for a file without a text. A verdict is "yes", "no", or
// "-" for a kernel that was not asked, or that did not survive it.
type asked struct {
	where    string
	write    judge.Write
	before   []judge.Write
	verdicts []string
	misleads bool
}

func askedLines(t testing.TB) []asked {
	t.Helper()
	files, err := filepath.Glob("testdata/*.tsv")
	if err != nil || len(files) == 0 {
		t.Fatal("no lines in testdata", err)
	}
	var list []asked
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for n, row := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
			if strings.HasPrefix(row, "#") {
				continue
			}
			cols := strings.Split(row, "\t")
			if len(cols) != 9 {
				t.Fatalf("%s:%d: %d columns, want 9", file, n+1, len(cols))
			}
			a := asked{write: writeOf(cols[0], cols[1]), verdicts: cols[3:8], misleads: cols[8] == "mislead"}
			a.where = cols[0] + " <- " + cols[1]
			if cols[2] != "" {
				for w := range strings.SplitSeq(cols[2], " ;; ") {
					file, text, _ := strings.Cut(w, " <- ")
					a.before = append(a.before, writeOf(file, text))
				}
				a.where += "  after  " + cols[2]
			}
			list = append(list, a)
		}
	}
	return list
}

func writeOf(file, text string) judge.Write {
	w := judge.Write{File: file, Text: strings.ReplaceAll(text, `\n`, "\n")}
	for prefix, op := range map[string]judge.Op{">": judge.Truncate, "mkdir ": judge.Mkdir, "rmdir ": judge.Rmdir} {
		if rest, ok := strings.CutPrefix(file, prefix); ok {
			w.Op, w.File = op, rest
		}
	}
	return w
}

func TestKernelsAgree(t *testing.T) {
	lines := askedLines(t)
	unused := map[string]bool{}
	for where := range apart {
		unused[where] = true
	}
	for i, kernel := range kernels {
		tg, err := target.Embedded(kernel + "-x86_64")
		if err != nil {
			t.Fatal(err)
		}
		j := judge.New(tg)
		agree, differ := 0, 0
		for _, a := range lines {
			want := a.verdicts[i]
			if want == "-" {
				continue
			}
			j.Reset()
			for _, w := range a.before {
				j.Write(w)
			}
			got := j.Write(a.write)
			if got.Accepted == (want == "yes") {
				agree++
				continue
			}
			differ++
			if apart[a.where] != "" {
				delete(unused, a.where)
				continue
			}
			reason := ""
			if got.Refusal != nil {
				reason = got.Refusal.Error()
			}
			t.Errorf("%s: %s\nthe kernel says %s, the judge %t %s", kernel, a.where, want, got.Accepted, reason)
		}
		t.Logf("%s: %d of %d agree", kernel, agree, agree+differ)
	}
	for where := range unused {
		t.Errorf("all kernels agree about what is said to be apart: %s", where)
	}
}

func TestWhatMisleadsIsTold(t *testing.T) {
	var judges []*judge.Judge
	for _, kernel := range kernels {
		judges = append(judges, judgeOf(t, kernel))
	}
	for _, a := range askedLines(t) {
		if !a.misleads {
			continue
		}
		taken, told := false, false
		for i, j := range judges {
			if a.verdicts[i] == "no" {
				continue
			}
			j.Reset()
			for _, w := range a.before {
				j.Write(w)
			}
			v := j.Write(a.write)
			taken = taken || v.Accepted
			told = told || len(v.Misleads) > 0
		}
		if taken && !told {
			t.Errorf("nothing is told of %s", a.where)
		}
	}
}

// apart are lines about which the judge does not agree with every kernel, each
// with the reason.
var apart = map[string]string{
	"dynamic_events <- p:foo /nofile:0x1000":                    "which files a machine has is not known",
	"dynamic_events <- e:foo sched.sched_switch a=\\\"":         "6.17.13 alone takes the quote that begins a string for its end",
	"events/sched/sched_switch/filter <- cpu == CPUS{0-1}":      "the kernels that were asked had one CPU",
	"events/ipi/ipi_send_cpumask/filter <- cpumask & CPUS{0-1}": "the kernels that were asked had one CPU",
}
