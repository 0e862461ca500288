package compiler_test

import (
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/format"
	"github.com/eptrace/ep/lang/source"
)

// fuzzTargets are kernels that differ much: no eprobes, arrays by value, one
// byte of a pointer, and nothing in the way.
var fuzzTargets = []string{"5.10-x86_64", "6.1-x86_64", "6.17-x86_64", "7.3-x86_64", "6.12-arm64"}

// corpus is the text of all scripts of testdata; good ones only if asked.
func corpus(t testing.TB, good bool) []string {
	t.Helper()
	globs := []string{"scripts/*.ep", "scripts/*/*.ep", "values/*.ep"}
	if !good {
		globs = append(globs, "errors/*.ep")
	}
	var out []string
	for _, glob := range globs {
		files, err := filepath.Glob("../testdata/" + glob)
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
	for i, text := range corpus(f, false) {
		f.Add(text, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		lawful(t, text, fuzzTargets[int(which)%len(fuzzTargets)])
	})
}

// FuzzTextEnds checks and formats any text: each must end within a second.
func FuzzTextEnds(f *testing.F) {
	for _, text := range corpus(f, false) {
		f.Add(text)
	}
	f.Add("hist kte as ksym{bytes=sum(byt site=call_site as ksym{bytes=sum(bytes_req)}sort by byte") // this did not end
	f.Fuzz(func(t *testing.T, text string) {
		src, err := source.New("fuzz.ep", text)
		if err != nil {
			t.Skip("not a text")
		}
		tg := keptTarget(t, "6.17-x86_64")
		endsSoon(t, "check", text, func() { compiler.Compile(src, tg, compiler.Options{}) })
		endsSoon(t, "fmt", text, func() { format.Format(src) })
	})
}

// endsSoon fails if each of three tries takes more than a second: one may be slow
// because the machine is busy.
func endsSoon(t *testing.T, what, text string, do func()) {
	t.Helper()
	var took time.Duration
	for range 3 {
		start := time.Now()
		do()
		if took = time.Since(start); took <= time.Second {
			return
		}
	}
	t.Errorf("%s took %v:\n%s", what, took, text)
}

// FuzzMutated compiles what becomes of good scripts when some of their words are
// exchanged for others of their kind, which gets much further than any text does.
func FuzzMutated(f *testing.F) {
	scripts, words := corpus(f, true), map[byte][]string{}
	for _, text := range corpus(f, false) {
		for _, w := range wordsOf.FindAllString(text, -1) {
			words[kindOf(w)] = append(words[kindOf(w)], w)
		}
	}
	for seed := range uint64(200) {
		f.Add(seed)
	}
	for _, seed := range []uint64{1002565, 9000463, 9001265, 9012529, 9019914} { // these have found something
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 1))
		text := scripts[random.IntN(len(scripts))]
		if random.IntN(4) == 0 {
			text += "\n" + scripts[random.IntN(len(scripts))]
		}
		lawful(t, mutated(random, text, words), fuzzTargets[random.IntN(len(fuzzTargets))])
	})
}

var wordsOf = regexp.MustCompile(`#[^\n]*|"[^"\n]*"|'.'|[0-9][0-9a-zA-Z_]*|[A-Za-z_][A-Za-z_0-9]*|\$[a-z]+|\s+|->|==|!=|<=|>=|&&|\|\||.`)

// kindOf puts words into kinds: words of one kind may mostly stand in each
// other's place.
func kindOf(w string) byte {
	switch c := w[0]; {
	case c == '#' || c == ' ' || c == '\n' || c == '\t':
		return ' '
	case c == '"' || c == '$' || c == '\'':
		return c
	case c >= '0' && c <= '9':
		return '0'
	case c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z':
		if strings.Contains(" event hist on trace param const import option from then where let by having emit do as in else syscall func kprobe tracepoint ufunc uprobe usdt user size sort print paused ", " "+w+" ") {
			return 'k'
		}
		return 'a'
	case strings.Contains(" == != < > <= >= ", " "+w+" "):
		return '='
	case w == "+" || w == "-" || w == "*" || w == "/" || w == "&" || w == "|":
		return '+'
	case w == "&&" || w == "||":
		return '&'
	}
	return 0
}

// mutated exchanges a few words of a text for others of their kind, of the text
// itself or of any, and sometimes drops or doubles one.
func mutated(random *rand.Rand, text string, words map[byte][]string) string {
	list := wordsOf.FindAllString(text, -1)
	for range 1 + random.IntN(4) {
		i := random.IntN(len(list))
		kind := kindOf(list[i])
		if kind == ' ' || kind == 'k' || kind == 0 {
			if random.IntN(20) > 0 {
				continue
			}
			switch random.IntN(2) {
			case 0:
				list[i] = ""
			case 1:
				list[i] += list[i]
			}
			list = slices.DeleteFunc(list, func(w string) bool { return w == "" })
			continue
		}
		if random.IntN(2) == 0 { // a word of the text
			if j := random.IntN(len(list)); kindOf(list[j]) == kind {
				list[i] = list[j]
				continue
			}
		}
		list[i] = words[kind][random.IntN(len(words[kind]))]
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
			t.Errorf("message %q %+v of\n%s", d.Message, d.Notes, text)
		}
	}
	again, list2 := compiler.Compile(src, tg, compiler.Options{})
	if a, b := rendered(t, p, list), rendered(t, again, list2); a != b {
		t.Errorf("twice the same gives:\n%s\nand:\n%s", a, b)
	}
	_, _ = compiler.Compile(src, tg, compiler.Options{Instance: "fuzz"}) // where filters of the kernel's own events may be set
	if p == nil {
		return
	}
	if found := harm(p); found != "" {
		t.Errorf("%s, of\n%s", found, text)
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
