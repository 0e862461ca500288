package compiler

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/format"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/stdlib"
)

// TestModulesCompile holds ep's own modules to what is asked of any script: they
// compile for the default target without a warning, alone and imported, and are
// in the one style.
func TestModulesCompile(t *testing.T) {
	on, err := target.Embedded(target.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	if len(stdlib.Modules()) < 20 {
		t.Errorf("got %d modules", len(stdlib.Modules()))
	}
	for _, path := range stdlib.Modules() {
		t.Run(path, func(t *testing.T) {
			src := module(t, path)
			p, list := Compile(src, on, Options{})
			if p == nil || len(list) > 0 {
				t.Fatalf("got plan %v and %v", p != nil, list)
			}
			if got, _ := format.Format(src); got != src.Text() {
				t.Errorf("not in the one style; it would be:\n%s", got)
			}
			user, err := source.New("user.ep", "import \""+path+"\" as m\ntrace sched.sched_switch\n")
			if err != nil {
				t.Fatal(err)
			}
			if p, list := Compile(user, on, Options{}); p == nil || len(list) != 1 || list[0].Code != diag.Unused || len(p.Writes) != 1 {
				t.Errorf("imported and not used: got %v and %v", p, list)
			}
			head := header(src)
			for _, part := range []string{"\nneeds:    ", "\noverhead: ", "\nsample:\n"} {
				if !strings.Contains(head, part) {
					t.Errorf("its head does not have %q", part)
				}
			}
			_, sample, _ := strings.Cut(head, "\nsample:\n")
			checkSample(t, p, sample)
			checkParams(t, src)
		})
	}
}

func module(t *testing.T, path string) *source.Source {
	t.Helper()
	text, ok := stdlib.Module(path)
	if !ok {
		t.Fatal("listed, and not there")
	}
	src, err := source.New(path, text)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// header returns the comment that a script begins with.
func header(src *source.Source) string {
	var b strings.Builder
	for n := 1; strings.HasPrefix(src.Line(n), "#"); n++ {
		b.WriteString(strings.TrimPrefix(strings.TrimPrefix(src.Line(n), "#"), " ") + "\n")
	}
	return b.String()
}

// recordLine is a record of a sample: time, CPU, thread, event, fields.
var recordLine = regexp.MustCompile(`^ *\d+\.\d{6} \[\d+\] \S+-\d+ +(\S+) (.*)$`)

// checkSample holds a sample of a module's output to be of its events and
// histograms, with their fields and columns.
func checkSample(t *testing.T, p *plan.Plan, sample string) {
	t.Helper()
	found := false
	for line := range strings.Lines(sample) {
		line = strings.TrimRight(line, "\n")
		for _, table := range p.Tables {
			if strings.HasPrefix(strings.TrimSpace(line), table.Name+": ") {
				found = true
				for _, c := range table.Values {
					if !strings.Contains(sample, c.Name) {
						t.Errorf("the sample of histogram '%s' has no '%s'", table.Name, c.Name)
					}
				}
				for _, c := range table.Keys {
					if !strings.Contains(sample, c.Name) {
						t.Errorf("the sample of histogram '%s' has no '%s'", table.Name, c.Name)
					}
				}
			}
		}
		m := recordLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		known := false
		for _, s := range p.Streams {
			if s.Name != m[1] {
				continue
			}
			known, found = true, true
			rest := " " + m[2]
			for _, f := range s.Fields {
				i := strings.Index(rest, " "+f.Name+"=")
				if i < 0 {
					t.Errorf("the record has no '%s', or not in its order: %s", f.Name, line)
					continue
				}
				rest = rest[i+1:]
			}
		}
		if !known {
			t.Errorf("the module has no event '%s': %s", m[1], line)
		}
	}
	if !found {
		t.Errorf("nothing in the sample is of this module:\n%s", sample)
	}
}

// checkParams wants each param to have a default and a comment above it.
func checkParams(t *testing.T, src *source.Source) {
	t.Helper()
	tree, _ := syntax.Parse(src)
	for _, item := range tree.Items {
		p, ok := item.(*syntax.Param)
		if !ok {
			continue
		}
		if p.Value == nil {
			t.Errorf("param '%s' has no default", p.Name.Text())
		}
		if line := src.Position(p.Span().Start).Line; !strings.HasPrefix(src.Line(line-1), "# ") {
			t.Errorf("param '%s' has no comment above it", p.Name.Text())
		}
	}
}

// refusals are the modules that a target cannot do, with the code of the error;
// what is not here works there. 5.10 of Debian has neither histograms nor eprobes:
// it does what onOld lists.
var refusals = map[string]map[string]diag.Code{
	"6.1-x86_64": {"std/offcpu": diag.MissingFeature},
	"6.12-arm64": {"std/faults": diag.UnknownEvent},
	"6.17-arm64": {"std/faults": diag.UnknownEvent},
}

var onOld = []string{"std/execs", "std/oomkills", "std/tcpretransmits"}

// TestModulesCompileWhereTheyCan compiles each module for each target: it gives a
// plan without a warning, or an error that says why not.
func TestModulesCompileWhereTheyCan(t *testing.T) {
	for _, name := range target.EmbeddedNames() {
		on, err := target.Embedded(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range stdlib.Modules() {
			p, list := Compile(module(t, path), on, Options{})
			want := refusals[name][path]
			if name == "5.10-x86_64" && !slices.Contains(onOld, path) {
				want = diag.MissingFeature
				if path == "std/drops" {
					want = diag.UnknownField
				}
			}
			switch {
			case want == "" && (p == nil || len(list) > 0):
				t.Errorf("%s for %s: want a plan without a warning, got %v", path, name, list)
			case want != "" && (p != nil || list[0].Code != want):
				t.Errorf("%s for %s: want a refusal [%s], got %v", path, name, want, list)
			case want != "" && len(list[0].Notes) == 0 && want == diag.MissingFeature:
				t.Errorf("%s for %s: the refusal does not say what would help: %s", path, name, list[0].Message)
			}
		}
	}
}
