package command

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// FuzzParse: no bytes make Parse panic, errors point into the line, and what is
// parsed and may be printed parses to the same again.
func FuzzParse(f *testing.F) {
	for _, l := range kernelLines(f) {
		f.Add(l.file, l.line)
	}
	for _, r := range readbacks(f, "testdata/readback/6.17.txt") {
		f.Add(r.file, r.text)
	}
	f.Fuzz(func(t *testing.T, file, text string) {
		list, err := ParseAll(file, text)
		if e := (*SyntaxError)(nil); errors.As(err, &e) && (e.Offset < 0 || e.Offset > len(text)) {
			t.Errorf("%q: offset %d", text, e.Offset)
		}
		for _, c := range list {
			Normal(c)
			if spell(c) != nil {
				continue
			}
			sameAgain(t, c)
		}
	})
}

// sameAgain checks what holds for each command that can be printed.
func sameAgain(t *testing.T, c Command) {
	t.Helper()
	line := Line(c)
	if strings.ContainsAny(line, "\n\x00") {
		t.Fatalf("more than one line: %q", line)
	}
	again, err := Parse(c.File(), line)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	if !reflect.DeepEqual(withoutSpans(c), again) || !Equal(c, again) {
		t.Fatalf("%q:\n got %#v\nwant %#v", line, again, c)
	}
	if n := Normal(c); printed(Normal(n)) != printed(n) || !Equal(c, n) {
		t.Fatalf("%q: normal is %q and then %q", line, printed(n), printed(Normal(n)))
	}
}

// FuzzPrint puts any text in each place of a command that holds one. Either
// Check refuses it, or the line says that very command and no more.
func FuzzPrint(f *testing.F) {
	f.Add("a", "b", "c d", int64(1), uint8(0))
	f.Add("file->f_inode", "$current->pid", `it's`, int64(-8), uint8(3))
	f.Add("this_cpu_read(@x)", "/bin/true", `a"b`, int64(1<<62), uint8(200))
	f.Add("if", "x if y", "a  b#", int64(0), uint8(17))
	f.Fuzz(func(t *testing.T, a, b, s string, n int64, pick uint8) {
		for _, c := range filled(a, b, s, n, pick) {
			if spell(c) == nil {
				sameAgain(t, c)
			}
		}
	})
}

// filled returns commands of each kind with the given texts and number in them.
func filled(a, b, s string, n int64, pick uint8) []Command {
	small := int(n % 100)
	fetches := []Fetch{
		FieldOf{Name: a}, ArgN{N: small}, RetVal{}, Comm{}, StackAddr{}, StackN{N: small}, Reg{Name: a},
		At{Symbol: a, Off: n}, At{Addr: uint64(n)}, FileAt{Off: uint64(n)}, Imm{N: n, Unsigned: n < 0 && pick&1 == 0},
		ImmString{Text: s}, Var{Path: a}, Special{Text: a}, Special{Text: b},
	}
	fetch := fetches[int(pick)%len(fetches)]
	nested := []Fetch{fetch, Deref{Off: n, User: pick&2 == 0, X: fetch}, Typecast{Struct: a, Member: b, X: fetch, Path: s},
		Typecast{Struct: a, X: fetch, Path: b}, Typecast{Struct: a, X: Typecast{Struct: b, X: fetch, Path: a}, Path: a},
		Deref{Off: 1, X: Typecast{Struct: a, X: Deref{Off: n, X: fetch}, Path: b}}}
	conds := []Cond{
		&Pred{Field: a, Suffix: []string{"", "ustring", "function", b}[pick%4], Op: "==", Value: Value{Kind: ValueKind(pick % 3), Text: s}},
		&Pred{Field: a, Op: b, Value: Value{Text: s}},
	}
	cond := conds[int(pick)%2]
	cond = []Cond{nil, cond, &Not{X: cond}, &And{List: []Cond{cond, &Or{List: []Cond{cond, &And{List: []Cond{cond, cond}}}}}},
		&Or{List: []Cond{&Not{X: &And{List: []Cond{cond, cond}}}, &Or{List: []Cond{cond, cond}}}}}[pick%5]
	exprs := []HistExpr{HistField{Name: a, Modifier: b}, HistField{Event: event(a, b), Name: a}, HistRef{Name: a},
		HistRef{Event: event(a, b), Name: s}, HistNum{N: uint64(n)}}
	x := exprs[int(pick)%len(exprs)]
	x = []HistExpr{x, &HistNeg{X: x}, &HistBinary{X: x, Op: "+-*/"[pick%4], Y: x},
		&HistBinary{X: &HistBinary{X: x, Op: '*', Y: x}, Op: '-', Y: &HistBinary{X: x, Op: "+-*/"[pick%4], Y: x}}}[int(pick>>3)%4]
	on := EventName{Group: a, Name: b}
	list := []Command{
		&Synthetic{Name: a, Fields: []SynthField{{Type: b, Name: a}, {Type: s, Name: b}}},
		&Synthetic{Name: a, Fields: []SynthField{{Type: s, Name: b}}},
		&Delete{EventName: on, Words: s},
		&Trigger{Event: on, Kind: EnableEvent, Target: EventName{Group: s, Name: a}, Count: small, If: cond, Remove: pick&1 == 0},
		&Trigger{Event: on, Kind: TriggerKind(a), Count: -1, If: cond},
		&Filter{Event: on, If: cond},
		&Enable{Event: on, On: pick&1 == 0},
		&Hist{Event: on, Keys: []HistExpr{x}, Vals: []HistExpr{x, x}, Vars: []HistVar{{Name: s, Expr: x}}, If: cond},
		&Hist{Event: on, Keys: []HistExpr{x}, Sort: []HistSort{{Name: a, Desc: pick&1 == 0}}, Size: small, Name: b, Clock: s, If: cond},
		&Hist{Event: on, Keys: []HistExpr{x}, Actions: []HistAction{{Handler: "onmatch", Match: on, Do: "trace", Synth: a, Params: []HistExpr{x}},
			{Handler: "onmax", Var: a, Do: "save", Params: []HistExpr{x}}}},
	}
	for _, f := range nested {
		args := []Arg{{Name: a, Fetch: f, Type: FetchType{Base: b}}, {Name: b, Fetch: f, Type: FetchType{Base: "u8", Count: small}}}
		args = args[:1+pick%2]
		if pick&4 == 0 {
			args[0].Type = FetchType{}
		}
		list = append(list,
			&Eprobe{EventName: on, On: on, Args: args, If: cond},
			&Kprobe{EventName: on, Return: pick&1 == 0, MaxActive: small, Module: s, Symbol: b, Offset: uint64(n), Args: args},
			&Kprobe{EventName: on, Symbol: b, Args: args},
			&Fprobe{EventName: on, Return: pick&1 == 0, Symbol: b, Args: args},
			&Tprobe{EventName: on, Tracepoint: b, Args: args},
			&Uprobe{EventName: on, Return: pick&1 == 0, Path: s, Offset: uint64(n), RefCtr: uint64(small), Args: args},
		)
	}
	return list
}

// FuzzFilterString: a string in a filter never ends its quotes.
func FuzzFilterString(f *testing.F) {
	for _, s := range []string{"", "a", `it's`, `say "so"`, `both ' and "`, "a\\", `" || pid == "0`, "tab\there"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := &Filter{Event: event("a", "b"), If: &Pred{Field: "comm", Op: "==", Value: Value{Kind: String, Text: s}}}
		err := Check(c)
		if (err == nil) != ValidFilterString(s) {
			t.Fatalf("%q: %v", s, err)
		}
		if err == nil {
			sameAgain(t, c)
		}
	})
}

// TestWordsThatNearlyMeanSomethingElse tries the texts that the syntax is made
// of in all places.
func TestWordsThatNearlyMeanSomethingElse(t *testing.T) {
	texts := []string{"pid", "x1", "_", "if", "COMM", "comm", "hitcount", "keys", "stacktrace", "common_cpucpu", "a-b", "1x", "u32",
		"file->f_mode", "a.b", "usecs", "sym-offset", "buckets=3", "hex", "/bin/a:b(c)", "/lib/x%return", "$arg*", "$current", "$current->x",
		"$retval->y.z", "$arg1->f", "$arg1", "this_cpu_read(@q+8)", "this_cpu_ptr(+8(@q))", "0", "-0x10", "077", "char[16]", "char[]",
		"unsigned long[]", "unsigned int", "onmatch", "it's", `"`, "a)b", "a(b", "0-3,5", "==", "&", "~", "global", "pause", "synthetic", "9p"}
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string { return texts[random.IntN(len(texts))] }
	printed, rounds := 0, 4000
	if testing.Short() {
		rounds = 500
	}
	for range rounds {
		n := []int64{0, 1, -1, 8, 77, math.MaxInt64, math.MinInt64}[random.IntN(7)]
		for _, c := range filled(text(), text(), text(), n, uint8(random.IntN(256))) {
			if spell(c) == nil {
				sameAgain(t, c)
				printed++
			}
		}
	}
	if printed < rounds {
		t.Errorf("only %d commands could be printed", printed)
	}
}
