package randomproof

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/eptrace/ep/runtime/vm"
)

// finding is what is wrong about a script; kind is "" if nothing is.
type finding struct {
	kind, what    string
	records, rows int // that were compared
	traces        int
}

// judge holds a guest's answer against the model.
func (s *script) judge(a *answer, f facts) finding {
	switch {
	case a.Bug != "":
		return finding{kind: "a mistake of ep", what: a.Bug}
	case a.Kernel != "":
		return finding{kind: "the kernel refused it", what: a.Kernel}
	case len(a.Refused) > 0:
		return finding{}
	case a.Undo != "":
		return finding{kind: "undoing failed", what: a.Undo + "\n" + a.Left}
	case a.Left != "":
		return finding{kind: "something was left behind", what: a.Left}
	case a.Lost != "":
		return finding{kind: "records were lost", what: a.Lost}
	case s.idle:
		return finding{}
	}
	out := finding{}
	m := newMeaning(happened(f, s.steps, a.Done, slices.Contains(s.options, "clock mono")))
	for i, t := range s.traces {
		var lines []line
		if i < len(a.Lines) {
			lines = a.Lines[i]
		}
		wrong, n := m.compareTrace(s, t, lines)
		out.records += n
		out.traces++
		if wrong != "" && out.kind == "" {
			out.kind, out.what = "a wrong record", fmt.Sprintf("trace %d (%s): %s", i+1, t.of.name, wrong)
		}
	}
	for i, t := range s.tables {
		if i >= len(a.Tables) {
			out.kind, out.what = "a wrong table", "no table was shown"
			break
		}
		wrong, n := m.compareTable(s, t, a.Tables[i])
		out.rows += n
		if wrong != "" && out.kind == "" {
			out.kind, out.what = "a wrong table", wrong
		}
	}
	return out
}

// counts are the figures of one kernel.
type counts struct {
	scripts, accepted, records, rows int
	kinds                            map[string]int // of findings
	refused                          map[string]int // by code
	words                            map[string]int // constructs, of accepted scripts
	took                             [4]int
}

var (
	mu     sync.Mutex
	totals = map[string]*counts{}
)

func count(kernel string, s *script, a *answer, f finding) {
	mu.Lock()
	defer mu.Unlock()
	c := totals[kernel]
	if c == nil {
		c = &counts{kinds: map[string]int{}, refused: map[string]int{}, words: map[string]int{}}
		totals[kernel] = c
	}
	c.scripts++
	c.records += f.records
	c.rows += f.rows
	for i, n := range a.Took {
		c.took[i] += n
	}
	if f.kind != "" {
		c.kinds[f.kind]++
	}
	if len(a.Refused) > 0 {
		c.refused[a.Refused[0]]++
		return
	}
	c.accepted++
	for _, w := range s.constructs() {
		c.words[w]++
	}
}

// constructs are the constructs of the language that a script has.
func (s *script) constructs() (list []string) {
	text := s.moduleText() + s.String()
	for _, w := range []string{"syscall ", "func ", "syscalls.", "kprobe ", "tracepoint ", "then ", "where ", "having ", "let ", "emit on max", "emit on change", " per ",
		"size ", "print ", "hist ", "log2(", "bucket(", "sum(", "avg(", "sort by", "on ", "do start", "do stop", " times ", "param ", "const ", "import ", "option ", " as ", " in {", " ~ ",
		" & ", " && ", " || ", "!(", "bits(", "enter(", "str(", "path(", "->", "$elapsed", "$time", "$ret", "paused", " else ", "? ", "$kstack", "$func"} {
		if strings.Contains(text, w) {
			list = append(list, strings.TrimSpace(w))
		}
	}
	return list
}

// report prints the figures of all kernels.
func report(w io.Writer) {
	mu.Lock()
	defer mu.Unlock()
	verbose := os.Getenv("EP_RANDOM_N") != ""
	for _, k := range vm.Kernels() {
		c := totals[k.Name]
		if c == nil || !verbose {
			continue
		}
		fmt.Fprintf(w, "%s: %d scripts, %d accepted, %d refused by ep; %d refused by the kernel, %d undo failures, %d left behind, %d lost records, %d mistakes of ep; %d records and %d rows compared, %d+%d scripts with a wrong one\n",
			k.Name, c.scripts, c.accepted, c.scripts-c.accepted, c.kinds["the kernel refused it"], c.kinds["undoing failed"], c.kinds["something was left behind"],
			c.kinds["records were lost"], c.kinds["a mistake of ep"], c.records, c.rows, c.kinds["a wrong record"], c.kinds["a wrong table"])
		n := max(c.scripts, 1)
		fmt.Fprintf(w, "  a script took: compile %d, apply %d, work and read %d, undo %d ms\n", c.took[0]/n, c.took[1]/n, c.took[2]/n, c.took[3]/n)
		fmt.Fprintf(w, "  accepted scripts with:")
		for _, word := range slices.Sorted(maps.Keys(c.words)) {
			fmt.Fprintf(w, " %s %d;", word, c.words[word])
		}
		fmt.Fprintf(w, "\n  refused by ep:\n")
		list := slices.Collect(maps.Keys(c.refused))
		slices.SortFunc(list, func(a, b string) int { return c.refused[b] - c.refused[a] })
		for _, r := range list[:min(len(list), 12)] {
			fmt.Fprintf(w, "    %4d %s\n", c.refused[r], r)
		}
	}
}

// note keeps a failure to be cut down.
func note(f failure) {
	mu.Lock()
	defer mu.Unlock()
	failures = append(failures, f)
}
