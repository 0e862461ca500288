package compiler_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexops/autogold/v2"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/check"
	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/emit"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
)

// TestValues shows for the scripts of testdata/values, which go through the
// rules of expressions, what the checker makes of them and what becomes of that
// on one target.
func TestValues(t *testing.T) {
	files, err := filepath.Glob("../testdata/values/*.ep")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d scripts and %v", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(strings.TrimSuffix(name, ".ep"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			src, err := source.New(name, string(text))
			if err != nil {
				t.Fatal(err)
			}
			tg := openTarget(t, "7.2-x86_64")
			script, list := syntax.Parse(src)
			prog, found := check.Check(script, tg, check.Options{})
			if list = append(list, found...); list.HasErrors() {
				t.Fatalf("%s", rendered(t, nil, list))
			}
			p, list := compiler.Compile(src, tg, compiler.Options{})
			if p == nil {
				t.Fatalf("%s", rendered(t, nil, list))
			}
			var b strings.Builder
			b.WriteString(prog.String() + "\n")
			if err := emit.Echo(&b, p); err != nil {
				t.Fatal(err)
			}
			if len(list) > 0 {
				b.WriteString("\n")
				if err := diag.Text(&b, list, diag.TextOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			autogold.ExpectFile(t, autogold.Raw(b.String()), autogold.Dir("testdata/values"))
		})
	}
}

// TestConditions compares conditions with the filters that they must become,
// computed by hand.
func TestConditions(t *testing.T) {
	const from = "trace kprobe blk_update_request(rq, u: u8, w: u32, s: s32, d: u32, t: s64, port: be16, addr: be32, flag: bool) where "
	for _, c := range []struct{ name, where, want string }{
		{"any bit", "w & 6", "w & 0x6"},
		{"no bit", "w & 6 == 0", "!(w & 0x6)"},
		{"not no bit", "w & 6 != 0", "w & 0x6"},
		{"not any bit", "!(w & 6)", "!(w & 0x6)"},
		{"all bits", "w & 6 == 6", "w & 0x2 && w & 0x4"},
		{"some bits", "w & 7 == 5", "w & 0x1 && w & 0x4 && !(w & 0x2)"},
		{"one of one", "w & 4 == 4", "w & 0x4"},
		{"not all", "w & 6 != 6", "!(w & 0x2 && w & 0x4)"},
		{"mask first", "6 & w == 2", "w & 0x2 && !(w & 0x4)"},
		{"sign bit", "s & 0x80000000", "s & 0x80000000"},
		{"sign bit of 64", "t & 0x8000000000000000", "t & -9223372036854775808"},
		{"longer than", "(d as us) > 1500ns", "d > 1"},
		{"at least", "(d as us) >= 1500ns", "d > 1"},
		{"at least, whole", "(d as us) >= 2us", "d >= 2"},
		{"shorter than", "(d as us) < 1500ns", "d <= 1"},
		{"at most", "(d as us) <= 1500ns", "d <= 1"},
		{"below zero", "(t as ms) < -1500us", "t <= -2"},
		{"above below zero", "(t as ms) > -1500us", "t > -2"},
		{"exactly", "(d as ms) == 3s", "d == 3000"},
		{"range", "(d as us) in { 1us..2ms, 7s }", "d >= 1 && d <= 2000 || d == 7000000"},
		{"constant first", "10 < w", "w > 10"},
		{"set", "u in { 1, 5..9, 'c' }", "u == 1 || u >= 5 && u <= 9 || u == 99"},
		{"not a set", "!(u in { 1, 2 })", "!(u == 1 || u == 2)"},
		{"flat", "u == 1 && (w == 2 && s == 3) && d == 4", "u == 1 && w == 2 && s == 3 && d == 4"},
		{"or within and", "(u == 1 || w == 2) && s == 3", "(u == 1 || w == 2) && s == 3"},
		{"and within or", "u == 1 || w == 2 && s == 3", "u == 1 || w == 2 && s == 3"},
		{"flat or", "u == 1 || (w == 2 || s == 3)", "u == 1 || w == 2 || s == 3"},
		{"twice not", "!(!(u == 1))", "u == 1"},
		{"truth", "flag && !flag", "flag != 0 && !(flag != 0)"},
		{"truth compared", "flag == 1", "flag == 1"},
		{"always", "1 == 1 && u == 1", "u == 1"},
		{"or never", "1 == 2 || u == 1", "u == 1"},
		{"network order", "port == 80 && addr != 0x7f000001", "port == 20480 && addr != 16777343"},
		{"network bits", "port & 0xff00", "port & 0xff"},
		{"greatest", "t != -9223372036854775808 && w <= 4294967294", "t != -9223372036854775808 && w <= 4294967294"},
		{"all there are", "t == 1 && w <= 4294967295", "t == 1"},
		{"sums", "w == 3 * 4 + 6 / 4", "w == 13"},
		{"bits()", "bits(w, 4, 3) == 5", "w2 == 5"},
		{"part", "(w as u8) == 7", "w2 == 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, err := source.New("c.ep", from+c.where+" { u, w, s, d, t, port, addr, flag }\n")
			if err != nil {
				t.Fatal(err)
			}
			p, list := compiler.Compile(src, openTarget(t, "6.12-x86_64"), compiler.Options{})
			if p == nil {
				t.Fatalf("%s", rendered(t, nil, list))
			}
			got := ""
			for _, w := range p.Writes {
				if strings.HasSuffix(w.File, "/filter") {
					got = w.Data
				}
				if _, err := command.Parse(w.File, w.Data); err != nil {
					t.Errorf("%s: %v", w.Data, err)
				}
			}
			if got != c.want {
				t.Errorf("where %s\ngot  %s\nwant %s", c.where, got, c.want)
			}
		})
	}
}

// TestOrderOfComputed compares conditions on a computed number with a sign, which
// the kernel has as 64 bits without one, with the filters that they must become.
func TestOrderOfComputed(t *testing.T) {
	for having, want := range map[string]string{
		"lat > 1us":               "lat > 1000 && lat < 9223372036854775808",
		"lat >= 0us":              "lat < 9223372036854775808",
		"lat < 0us":               "lat >= 9223372036854775808",
		"lat < 1us":               "lat < 1000 || lat >= 9223372036854775808",
		"lat <= -1us":             "lat <= 18446744073709550616 && lat >= 9223372036854775808",
		"lat > -1us":              "lat > 18446744073709550616 || lat < 9223372036854775808",
		"lat == -1us":             "lat == 18446744073709550616",
		"us > 1500ns":             "us > 1 && us < 9223372036854775808",
		"us < -1500ns":            "us <= 18446744073709551614 && us >= 9223372036854775808",
		"lat in { -1us..0us }":    "(lat >= 18446744073709550616 || lat < 9223372036854775808) && (lat <= 0 || lat >= 9223372036854775808)",
		"!(lat > 1us) && pid > 5": "!(lat > 1000 && lat < 9223372036854775808) && pid > 5",
	} {
		src, err := source.New("c.ep", "event e from sched.sched_waking as a then sched.sched_switch as b by a.pid == b.next_pid having "+having+
			" { pid = a.pid, lat = b.$time - a.$time, us: us = b.$time - a.$time }\ntrace e\n")
		if err != nil {
			t.Fatal(err)
		}
		p, list := compiler.Compile(src, openTarget(t, "6.12-x86_64"), compiler.Options{})
		if p == nil {
			t.Fatalf("%s", rendered(t, nil, list))
		}
		for _, w := range p.Writes {
			if strings.HasSuffix(w.File, "/filter") && w.Data != want {
				t.Errorf("having %s\ngot  %s\nwant %s", having, w.Data, want)
			}
		}
	}
}
