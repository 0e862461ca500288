package randomproof

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// TestScriptsCompile: what the generator makes follows from the seed, ep takes
// most of it, each time alike, and what it takes passes its own judge.
func TestScriptsCompile(t *testing.T) {
	on, err := target.Embedded("6.17-x86_64")
	if err != nil {
		t.Fatal(err)
	}
	n := max(scripts, 100)
	taken := 0
	codes := map[string]int{}
	samples := map[string]string{}
	for i := range n {
		number := int64(seed)*1_000_000 + int64(i)
		s := generate(on, number)
		if again := generate(on, number); again.String() != s.String() {
			t.Fatalf("script %d differs:\n%s\n%s", number, s, again)
		}
		p, list := s.compile(t, on)
		q, _ := s.compile(t, on)
		if writes(p) != writes(q) {
			t.Errorf("script %d compiles to different plans:\n%s\n%s\n%s", number, s, writes(p), writes(q))
		}
		if p != nil {
			taken++
			continue
		}
		for _, d := range list {
			if d.Severity != diag.Error {
				continue
			}
			codes[string(d.Code)+": "+d.Message]++
			samples[string(d.Code)+": "+d.Message] = fmt.Sprintf("%d\n%s", number, s)
			if d.Code == diag.PlanRefused || d.Code == diag.Syntax {
				t.Errorf("script %d: %v%s", number, list, quoted(s))
			}
			break
		}
	}
	t.Logf("%d of %d are taken", taken, n)
	list := slices.Collect(maps.Keys(codes))
	slices.SortFunc(list, func(a, b string) int { return codes[b] - codes[a] })
	for _, c := range list[:min(len(list), 25)] {
		t.Logf("%4d %s", codes[c], c)
	}
	if scripts > 500 {
		for _, c := range list[:min(len(list), 12)] {
			t.Logf("%s: %s", c, samples[c])
		}
	}
	if taken < n/2 {
		t.Errorf("ep takes %d of %d scripts", taken, n)
	}
}

func (s *script) compile(t *testing.T, on *target.Target) (*plan.Plan, diag.List) {
	src, err := source.New("random.ep", s.String())
	if err != nil {
		t.Fatal(err)
	}
	opts := compiler.Options{Instance: s.instance(), Set: s.set("77")}
	opts.Import = func(string) (*source.Source, error) { return source.New("random", s.moduleText()) }
	return compiler.Compile(src, on, opts)
}

func writes(p *plan.Plan) string {
	if p == nil {
		return ""
	}
	text := ""
	for _, w := range p.Writes {
		text += w.File + " " + w.Data + "\n"
	}
	return text
}
