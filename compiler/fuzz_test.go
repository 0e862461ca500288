package compiler_test

import (
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// fuzzTargets are kernels that differ much: no eprobes, arrays by value, one
// byte of a pointer, and nothing in the way.
var fuzzTargets = []string{"5.10-x86_64", "6.1-x86_64", "6.17-x86_64", "7.3-x86_64", "6.12-arm64"}

// corpus is the text of all scripts of testdata.
func corpus(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, glob := range []string{"../testdata/scripts/*.ep", "../testdata/errors/*.ep", "../testdata/values/*.ep", "../testdata/scripts/cases/*.ep"} {
		files, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, string(text))
		}
	}
	return out
}

// FuzzCompile compiles any text: see lawful for what must hold.
func FuzzCompile(f *testing.F) {
	for i, text := range corpus(f) {
		f.Add(text, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		lawful(t, text, fuzzTargets[int(which)%len(fuzzTargets)])
	})
}

// FuzzMutated compiles what becomes of the words of good and bad scripts when
// they are shuffled, which gets further than any text does.
func FuzzMutated(f *testing.F) {
	scripts := corpus(f)
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 1))
		lawful(t, mutated(random, scripts), fuzzTargets[random.IntN(len(fuzzTargets))])
	})
}

var words = regexp.MustCompile(`#[^\n]*|"[^"\n]*"|[A-Za-z_0-9$.]+|\s+|->|==|!=|<=|>=|&&|\|\||.`)

// mutated takes a script, and a few times drops, doubles or exchanges a word of
// it, or puts in one of another script.
func mutated(random *rand.Rand, scripts []string) string {
	pick := func() []string {
		text := scripts[random.IntN(len(scripts))]
		if len(text) > 3000 {
			text = text[:3000]
		}
		return words.FindAllString(text, -1)
	}
	list, other := pick(), pick()
	for range 1 + random.IntN(6) {
		if len(list) < 2 {
			break
		}
		i := random.IntN(len(list))
		switch random.IntN(5) {
		case 0:
			list = append(list[:i:i], list[i+1:]...)
		case 1:
			list = append(list[:i:i], append([]string{list[i]}, list[i:]...)...)
		case 2:
			j := random.IntN(len(list))
			list[i], list[j] = list[j], list[i]
		case 3:
			list[i] = other[random.IntN(len(other))]
		case 4:
			j := random.IntN(len(other))
			end := min(j+1+random.IntN(8), len(other))
			list = append(list[:i:i], append(append([]string{}, other[j:end]...), list[i:]...)...)
		}
	}
	return strings.Join(list, "")
}

// lawful compiles a text and checks what holds of every compilation: there is a
// plan exactly if there is no error; every place lies in the script; every
// command is one that package command reads, prints the same and finds good;
// nothing is truncated that others may have set; the same again gives the same.
func lawful(t *testing.T, text, name string) {
	t.Helper()
	src, err := source.New("fuzz.ep", text)
	if err != nil {
		return
	}
	tg := keptTarget(t, name)
	p, list := compiler.Compile(src, tg, compiler.Options{})
	if (p == nil) != list.HasErrors() {
		t.Fatalf("plan is nil: %t, errors: %t\n%s", p == nil, list.HasErrors(), text)
	}
	within := func(what string, sp source.Span) {
		if sp.Valid() && (sp.Start < 0 || sp.End < sp.Start || int(sp.End) > len(text)) {
			t.Errorf("%s: span %v lies not in the script's %d bytes", what, sp, len(text))
		}
	}
	for _, d := range list {
		within(d.Message, d.Span)
		for _, n := range d.Notes {
			within(n.Message, n.Span)
		}
		for _, fix := range d.Fixes {
			within(d.Message, fix.Span)
		}
		if d.Message == "" || strings.Contains(d.Message, "internal error") || strings.Contains(d.Message, "%!") {
			t.Errorf("message %q", d.Message)
		}
	}
	again, list2 := compiler.Compile(src, tg, compiler.Options{})
	if a, b := rendered(t, p, list), rendered(t, again, list2); a != b {
		t.Errorf("twice the same gives:\n%s\nand:\n%s", a, b)
	}
	if p == nil {
		return
	}
	made := map[string]bool{}
	for _, w := range p.Writes {
		lawfulWrite(t, text, w)
		for _, o := range w.Origin {
			within(w.Data, o.Span)
			if o.Lo < 0 || o.Hi < o.Lo || o.Hi > len(w.Data) {
				t.Errorf("origin %d..%d of %q", o.Lo, o.Hi, w.Data)
			}
		}
		if w.Mode == plan.Append && w.File == "dynamic_events" {
			first, _, _ := strings.Cut(w.Data, " ")
			if made[first] {
				t.Errorf("two events are called %s", first)
			}
			made[first] = true
		}
	}
}

// keptTarget opens an embedded target once in a process.
func keptTarget(t testing.TB, name string) *target.Target {
	t.Helper()
	if tg, ok := kept.Load(name); ok {
		return tg.(*target.Target)
	}
	tg := openTarget(t, name)
	kept.Store(name, tg)
	return tg
}

var kept sync.Map

func lawfulWrite(t *testing.T, text string, w plan.Write) {
	t.Helper()
	c, err := command.Parse(w.File, w.Data)
	if err != nil {
		t.Errorf("cannot read back %q: %v\n%s", w.Data, err, text)
		return
	}
	if err := command.Check(c); err != nil {
		t.Errorf("bad command %q: %v\n%s", w.Data, err, text)
	}
	if got := command.Line(c); got != w.Data {
		t.Errorf("wrote %q, read back %q", w.Data, got)
	}
	if w.Mode == plan.Truncate {
		switch base := path.Base(w.File); base {
		case "enable", "filter", "trace_clock", "set_event_pid":
		default:
			t.Errorf("truncates %s", w.File)
		}
	}
}

// rendered is a compilation's outcome as text.
func rendered(t *testing.T, p *plan.Plan, list diag.List) string {
	t.Helper()
	var b strings.Builder
	if err := diag.Text(&b, list, diag.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if p != nil {
		for _, w := range p.Writes {
			b.WriteString(w.File + ": " + w.Data + "\n")
		}
	}
	return b.String()
}
