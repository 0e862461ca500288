package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hexops/autogold/v2"
)

// bad has commands that must not be printed, and by which part.
func bad() map[string]Command {
	probe := func(change func(*Eprobe)) Command {
		c := &Eprobe{EventName: event("ep", "one"), On: event("sched", "sched_switch"),
			Args: []Arg{{Name: "pid", Fetch: FieldOf{Name: "prev_pid"}}}}
		change(c)
		return c
	}
	arg := func(f Fetch) Command {
		return &Kprobe{EventName: event("ep", "one"), Symbol: "vfs_read", Args: []Arg{{Name: "a", Fetch: f}}}
	}
	hist := func(change func(*Hist)) Command {
		c := &Hist{Event: event("sched", "sched_switch"), Keys: []HistExpr{HistField{Name: "pid"}}}
		change(c)
		return c
	}
	text := func(s string) Cond { return &Pred{Field: "comm", Op: "==", Value: Value{Kind: String, Text: s}} }
	filter := func(c Cond) Command { return &Filter{Event: event("a", "b"), If: c} }
	sum := &HistBinary{X: HistNum{N: 1}, Op: '+', Y: HistNum{N: 2}}
	return map[string]Command{
		"name with a newline":         probe(func(c *Eprobe) { c.Name = "x\ne:y" }),
		"name with a slash":           probe(func(c *Eprobe) { c.Name = "x/y" }),
		"group with a blank":          probe(func(c *Eprobe) { c.Group = "a b" }),
		"event with a semicolon":      probe(func(c *Eprobe) { c.On.Name = "sched;switch" }),
		"argument with a comment":     probe(func(c *Eprobe) { c.Args[0].Name = "a#" }),
		"condition with a comment":    probe(func(c *Eprobe) { c.If = text("a#b") }),
		"condition with two blanks":   probe(func(c *Eprobe) { c.If = text("a  b") }),
		"condition with a Latin nbsp": probe(func(c *Eprobe) { c.If = text("à") }),
		"argument of no eprobe":       probe(func(c *Eprobe) { c.Args[0].Fetch = ArgN{N: 1} }),
		"field of no eprobe":          arg(FieldOf{Name: "pid"}),
		"immediate with a blank":      arg(ImmString{Text: "a b"}),
		"immediate with a quote":      arg(ImmString{Text: `a" b=1`}),
		"immediate with a colon":      arg(ImmString{Text: "a:u8"}),
		"special with a type":         arg(Special{Text: "$current:u8"}),
		"special with a blank":        arg(Special{Text: "this_cpu_read(@x y)"}),
		"special of no kind":          arg(Special{Text: "x"}),
		"symbol with a plus":          arg(At{Symbol: "a+1"}),
		"path with a blank":           &Uprobe{EventName: event("ep", "u"), Path: "/a b"},
		"path with a comment":         &Uprobe{EventName: event("ep", "u"), Path: "/a#b"},
		"path that is relative":       &Uprobe{EventName: event("ep", "u"), Path: "a"},
		"type of no field":            &Synthetic{Name: "ab", Fields: []SynthField{{Type: "u64 x; u64", Name: "y"}}},
		"words with a newline":        &Delete{EventName: event("a", "b"), Words: "x\n-:y"},
		"string with both quotes":     filter(text(`it's "it"`)),
		"string with a newline":       filter(text("a\nb")),
		"number with an operator":     filter(&Pred{Field: "pid", Op: "==", Value: Value{Text: "1 || 1"}}),
		"number that is a word":       filter(&Pred{Field: "pid", Op: "==", Value: Value{Text: "one"}}),
		"CPU list with a brace":       filter(&Pred{Field: "cpu", Op: "&", Value: Value{Kind: CPUs, Text: "0} || pid"}}),
		"list of one":                 filter(&And{List: []Cond{text("a")}}),
		"key with a colon":            hist(func(c *Hist) { c.Keys = []HistExpr{HistField{Name: "a:b"}} }),
		"variable with a colon":       hist(func(c *Hist) { c.Vars = []HistVar{{Name: "a:b", Expr: HistNum{}}} }),
		"variable named keys":         hist(func(c *Hist) { c.Vars = []HistVar{{Name: "keys", Expr: HistNum{}}} }),
		"name with a blank":           hist(func(c *Hist) { c.Name = "a if b" }),
		"clock with a colon":          hist(func(c *Hist) { c.Clock = "mono:x" }),
		"sum in a product": hist(func(c *Hist) {
			c.Vars = []HistVar{{Name: "v", Expr: &HistBinary{X: sum, Op: '*', Y: HistNum{N: 3}}}}
		}),
		"sum in a sum at the right": hist(func(c *Hist) {
			c.Vars = []HistVar{{Name: "v", Expr: &HistBinary{X: HistNum{N: 3}, Op: '-', Y: sum}}}
		}),
		"minus in a sum": hist(func(c *Hist) {
			c.Vars = []HistVar{{Name: "v", Expr: &HistBinary{X: &HistNeg{X: HistNum{N: 3}}, Op: '+', Y: HistNum{N: 1}}}}
		}),
		"number as a parameter": hist(func(c *Hist) {
			c.Actions = []HistAction{{Handler: "onmatch", Match: event("a", "b"), Do: "trace", Synth: "ab", Params: []HistExpr{HistNum{}}}}
		}),
		"percent of a key":   hist(func(c *Hist) { c.Keys = []HistExpr{HistField{Name: "pid", Modifier: "percent"}} }),
		"trigger of no kind": &Trigger{Event: event("a", "b"), Kind: "dump", Count: -1},
	}
}

func TestPrintRefusesWhatWouldBreakTheLine(t *testing.T) {
	for name, c := range bad() {
		t.Run(name, func(t *testing.T) {
			if Check(c) == nil {
				t.Errorf("checked: %s", printed(c))
			}
			defer func() {
				if r := fmt.Sprint(recover()); !strings.HasPrefix(r, "internal error: cannot print ") {
					t.Errorf("got %q, want a panic", r)
				}
			}()
			Print(c)
		})
	}
}

func TestCheckTellsTheLimits(t *testing.T) {
	args := func(n int) []Arg {
		var list []Arg
		for i := range n {
			list = append(list, Arg{Name: fmt.Sprintf("a%d", i), Fetch: FieldOf{Name: "pid"}})
		}
		return list
	}
	probe := func(args []Arg) error {
		return Check(&Eprobe{EventName: event("ep", "one"), On: event("a", "b"), Args: args})
	}
	field := HistField{Name: "pid"}
	hist := func(change func(*Hist)) error {
		c := &Hist{Event: event("a", "b"), Keys: []HistExpr{field}}
		change(c)
		return Check(c)
	}
	text := func(err error) string { return fmt.Sprint(err) }
	autogold.Expect("<nil>").Equal(t, text(probe(args(MaxArgs))))
	autogold.Expect("129 arguments, the kernel's limit is 128").Equal(t, text(probe(args(MaxArgs+1))))
	autogold.Expect(`argument name "a0" is taken`).Equal(t, text(probe(append(args(1), args(1)...))))
	autogold.Expect(`argument name "common_pid" is taken`).Equal(t, text(probe([]Arg{{Name: "common_pid", Fetch: FieldOf{Name: "pid"}}})))
	autogold.Expect("probe in the group of synthetic events").Equal(t,
		text(Check(&Tprobe{EventName: event("synthetic", "one"), Tracepoint: "x"})))
	autogold.Expect("4 keys, the kernel's limit is 3").Equal(t,
		text(hist(func(c *Hist) { c.Keys = []HistExpr{field, field, field, field} })))
	autogold.Expect("<nil>").Equal(t,
		text(hist(func(c *Hist) { c.Vals = []HistExpr{field, field, HistField{Name: "hitcount"}} })))
	autogold.Expect("size 64, the kernel's limits are 128 and 131072").Equal(t, text(hist(func(c *Hist) { c.Size = 64 })))
	autogold.Expect("nohitcount without a value").Equal(t, text(hist(func(c *Hist) { c.NoHitcount = true })))
	autogold.Expect("4 operators, the kernel's limit is 3").Equal(t, text(hist(func(c *Hist) {
		var x HistExpr = field
		for range 4 {
			x = &HistBinary{X: x, Op: '+', Y: field}
		}
		c.Vars = []HistVar{{Name: "x", Expr: x}}
	})))
	long := &Or{}
	for range 300 {
		long.List = append(long.List, &Pred{Field: "common_pid", Op: "==", Value: Value{Text: "4194304"}})
	}
	autogold.Expect("7496 bytes of the line, the kernel's limit is 4094").Equal(t,
		text(Check(&Filter{Event: event("a", "b"), If: long})))
}

func TestArgNameTellsRefusedFromHidden(t *testing.T) {
	for name, want := range map[string]ArgNameVerdict{
		"pid": ArgNameGood, "_": ArgNameGood, "a1": ArgNameGood,
		"": ArgNameRefused, "1a": ArgNameRefused, "a-b": ArgNameRefused, "common_pid": ArgNameRefused,
		"__probe_ip": ArgNameRefused, strings.Repeat("a", 33): ArgNameRefused,
		"cpu": ArgNameHidden, "comm": ArgNameHidden, "hitcount": ArgNameHidden, "stacktrace": ArgNameHidden,
		"common_timestamp": ArgNameHidden, "if": ArgNameHidden,
	} {
		if got := ArgName(name); got != want {
			t.Errorf("ArgName(%q) = %d, want %d", name, got, want)
		}
	}
}

func TestGroupsTakeHyphens(t *testing.T) {
	for name, want := range map[string]bool{"a-b": true, "-a": true, "a1": true, "1a": false, "": false,
		"a.b": false, strings.Repeat("a", 63): true, strings.Repeat("a", 64): false} {
		if got := ValidGroup(name); got != want {
			t.Errorf("ValidGroup(%q) = %v, want %v", name, got, want)
		}
	}
}
