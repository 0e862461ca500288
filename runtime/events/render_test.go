package events

import (
	"encoding/json"
	"testing"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/types"
)

func validJSON(t *testing.T, line []byte) {
	t.Helper()
	if !json.Valid(line) {
		t.Errorf("no JSON: %q", line)
	}
}

// testNames name one symbol and one call.
type testNames struct{}

func (testNames) Symbol(addr uint64) (string, uint64, bool) {
	if addr < 0x1000 || addr >= 0x1100 {
		return "", 0, false
	}
	return "vfs_read", addr - 0x1000, true
}

func (testNames) SyscallName(nr int) (string, bool) { return "openat", nr == 257 }

func (testNames) Text(addr uint64) (string, bool) { return `End "it" now`, addr == 0x5000 }

func TestValues(t *testing.T) {
	names := &Names{Symbols: testNames{}, Syscalls: testNames{}, Texts: testNames{}}
	text := types.Pointer{Elem: types.Int{Size: 1, Form: types.Char}}
	state := &types.Names{List: []types.Name{{Name: "RUNNING", Value: 0}, {Name: "DEAD", Value: 16}, {Name: "not \"there\"", Value: ^uint64(0)}}}
	flags := &types.Names{Flags: true, List: []types.Name{{Name: "RW", Value: 3}, {Name: "R", Value: 1}, {Name: "W", Value: 2}, {Name: "X", Value: 4}}}
	task := &types.Names{Flags: true, List: []types.Name{{Name: "S", Value: 1}, {Name: "R", Value: 0}}}
	for _, c := range []struct {
		name       string
		typ        types.Type
		num        int64
		text, json string
	}{
		{"unsigned", types.Int{Size: 8}, -1, "18446744073709551615", "18446744073709551615"},
		{"signed", types.Int{Size: 4, Signed: true}, -7, "-7", "-7"},
		{"hex", types.Int{Size: 8, Form: types.Hex}, 0xff, "0xff", `"0xff"`},
		{"pointer", types.Pointer{Elem: types.Void{}}, 0x10, "0x10", `"0x10"`},
		{"text of the kernel", text, 0x5000, `"End \"it\" now"`, `"End \"it\" now"`},
		{"no known text", text, 0x5001, "0x5001", `"0x5001"`},
		{"text of a program", types.Pointer{Elem: text.Elem, User: true}, 0x5000, "0x5000", `"0x5000"`},
		{"char", types.Int{Size: 1, Form: types.Char}, 'x', "'x'", `"x"`},
		{"char of a quote", types.Int{Size: 1, Form: types.Char}, '"', `'"'`, `"\""`},
		{"char of a control", types.Int{Size: 1, Form: types.Char}, '\n', `'\n'`, `"\n"`},
		{"char of no text", types.Int{Size: 1, Form: types.Char}, 0xfe, `'\xfe'`, `"` + "\ufffd" + `"`},
		{"bool", types.Bool{}, 2, "true", "true"},
		{"ip", types.Int{Size: 4, Form: types.IP}, 0x7f000001, "127.0.0.1", `"127.0.0.1"`},
		{"dev", types.Int{Size: 4, Form: types.Dev}, 8<<20 | 3, "8:3", `"8:3"`},
		{"errno", types.Int{Size: 4, Signed: true, Form: types.Errno}, -2, "-ENOENT", "-2"},
		{"no errno", types.Int{Size: 4, Signed: true, Form: types.Errno}, 3, "3", "3"},
		{"unknown errno", types.Int{Size: 8, Signed: true, Form: types.Errno}, -4000, "-4000", "-4000"},
		{"least errno", types.Int{Size: 8, Signed: true, Form: types.Errno}, -1 << 63, "-9223372036854775808", "-9223372036854775808"},
		{"sysnr", types.Int{Size: 8, Signed: true, Form: types.Sysnr}, 257, "openat", `"openat"`},
		{"unknown sysnr", types.Int{Size: 8, Signed: true, Form: types.Sysnr}, -1, "-1", `"-1"`},
		{"ksym", types.Int{Size: 8, Form: types.Ksym}, 0x101f, "vfs_read+0x1f", `"vfs_read+0x1f"`},
		{"ksym at the start", types.Int{Size: 8, Form: types.Ksym}, 0x1000, "vfs_read", `"vfs_read"`},
		{"unknown ksym", types.Int{Size: 8, Form: types.Ksym}, 0x2000, "0x2000", `"0x2000"`},
		{"enum", types.Int{Size: 4, Names: state}, 16, "DEAD", `"DEAD"`},
		{"unknown enum", types.Int{Size: 4, Names: state}, 5, "5", `"5"`},
		{"enum of words", types.Int{Size: 8, Signed: true, Names: state}, -1, `"not \"there\""`, `"not \"there\""`},
		{"flags", types.Int{Size: 4, Names: flags}, 7, "RW|X", `"RW|X"`},
		{"unknown flags", types.Int{Size: 4, Signed: true, Names: flags}, 0x42, "W|0x40", `"W|0x40"`},
		{"no flags", types.Int{Size: 4, Names: flags}, 0, "0", `"0"`},
		{"no flag by name", types.Int{Size: 8, Names: task}, 0, "R", `"R"`},
		{"no known flag", types.Int{Size: 8, Names: task}, 256, "R|0x100", `"R|0x100"`},
		{"ns", types.Duration{Unit: types.NS, Size: 8}, 1_234_567, "1.23ms", "1234567"},
		{"us", types.Duration{Unit: types.US, Size: 8}, 1500, "1.5ms", "1500"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newShow(c.typ)
			v := Value{Num: uint64(c.num)}
			if got := string(x.appendValue(nil, &v, names, true)); got != c.text {
				t.Errorf("text: got %s, want %s", got, c.text)
			}
			if got := string(x.appendJSON(nil, &v, names)); got != c.json {
				t.Errorf("json: got %s, want %s", got, c.json)
			}
		})
	}
}

func TestDurations(t *testing.T) {
	for _, c := range []struct {
		n    int64
		unit types.Unit
		want string
	}{
		{0, types.NS, "0ns"}, {999, types.NS, "999ns"}, {1000, types.NS, "1us"}, {1005, types.NS, "1.01us"},
		{1200, types.NS, "1.2us"}, {12_340, types.NS, "12.3us"}, {99_960, types.NS, "100us"}, {999_400, types.NS, "999us"},
		{999_500, types.NS, "1ms"}, {1_234_567, types.NS, "1.23ms"}, {59_088, types.NS, "59.1us"}, {1_000_000_000, types.NS, "1s"},
		{61_250_000_000, types.NS, "61.3s"}, {5_023_400_000_000, types.NS, "5023s"}, {1500, types.US, "1.5ms"},
		{3, types.S, "3s"}, {-1_500, types.NS, "-1.5us"}, {-1 << 63, types.NS, "-9223372037s"}, {1 << 62, types.S, "4611686018427387904s"},
	} {
		if got := string(appendDuration(nil, uint64(c.n), c.unit, true)); got != c.want {
			t.Errorf("%d%s: got %s, want %s", c.n, c.unit, got, c.want)
		}
	}
}

func TestTextsAreQuotedWhenNeeded(t *testing.T) {
	x := newShow(types.String{})
	for _, c := range []struct {
		in, word, plain, json string
		state                 State
	}{
		{"/etc/passwd", "/etc/passwd", "/etc/passwd", `"/etc/passwd"`, Present},
		{"", `""`, "", `""`, Present},
		{"a b", `"a b"`, "a b", `"a b"`, Present},
		{"a=b", `"a=b"`, "a=b", `"a=b"`, Present},
		{"(fault)", `"(fault)"`, "(fault)", `"(fault)"`, Present},
		{"", "(fault)", "(fault)", "null", Fault},
		{"", "?", "?", "null", Bad},
		{"\x1b[2J\n", `"\x1b[2J\n"`, `\x1b[2J\x0a`, `"\u001b[2J\n"`, Present},
		{"größe", "größe", "größe", `"größe"`, Present},
		{"\xff", `"\xff"`, `\xff`, `"` + "\ufffd" + `"`, Present},
		{"\u202e", `"\u202e"`, `\xe2\x80\xae`, "\"\u202e\"", Present},
	} {
		v := Value{Data: []byte(c.in), State: c.state}
		if got := string(x.appendValue(nil, &v, &Names{}, true)); got != c.word {
			t.Errorf("%q as a word: got %s, want %s", c.in, got, c.word)
		}
		if got := string(x.appendValue(nil, &v, &Names{}, false)); got != c.plain {
			t.Errorf("%q plain: got %s, want %s", c.in, got, c.plain)
		}
		if got := string(x.appendJSON(nil, &v, &Names{})); got != c.json {
			t.Errorf("%q in JSON: got %s, want %s", c.in, got, c.json)
		}
	}
}

func TestArraysAndStacks(t *testing.T) {
	names := &Names{Symbols: testNames{}}
	stack := Value{Data: []byte{0x1f, 0x10, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}
	for _, c := range []struct {
		typ        types.Type
		v          Value
		text, json string
	}{
		{types.Array{Elem: types.Int{Size: 2, Signed: true}}, Value{Data: []byte{1, 0, 0xff, 0xff, 9}}, "{1,-1}", "[1,-1]"},
		{types.Array{Elem: types.Int{Size: 4, Form: types.Hex}}, Value{Data: []byte{1, 2, 0, 0}}, "{0x201}", `["0x201"]`},
		{types.Array{Elem: types.Struct{Name: "s"}}, Value{Data: []byte{1, 0xff}}, "01ff", `"01ff"`},
		{types.Stack{}, stack, "0x2000;vfs_read+0x1f", `["vfs_read+0x1f","0x2000"]`},
		{types.Stack{}, Value{}, "", "[]"},
	} {
		x := newShow(c.typ)
		if got := string(x.appendValue(nil, &c.v, names, true)); got != c.text {
			t.Errorf("%v: got %s, want %s", c.typ, got, c.text)
		}
		if got := string(x.appendJSON(nil, &c.v, names)); got != c.json {
			t.Errorf("%v: got %s, want %s", c.typ, got, c.json)
		}
	}
}

func TestForms(t *testing.T) {
	format := testFormat(t,
		"u64 took;\toffset:8;\tsize:8;\tsigned:0;",
		"s64 ret;\toffset:16;\tsize:8;\tsigned:1;",
		"char name[8];\toffset:24;\tsize:8;\tsigned:1;")
	fields := []plan.Field{
		{Name: "took", Type: types.Duration{Size: 8}},
		{Name: "ret", Type: types.Int{Size: 8, Signed: true}},
		{Name: "name", Type: types.String{Cap: 8}},
	}
	record := append(head(5), 0x87, 0xd6, 0x12, 0, 0, 0, 0, 0, // 1234567
		0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 'a', ' ', 'b', 0, 0, 0, 0, 0)
	for _, c := range []struct{ form, want string }{
		{"{name} took {took}", "a b took 1.23ms"},
		{"{took:us} {took:ns} {took:ms}", "1234us 1234567ns 1ms"},
		{"{ret:errno}|{ret:x32}|{ret:u8}|{ret:us}", "-ENOENT|0xfffffffe|254|-2us"},
		{"{{{ret}}}", "{-2}"},
		{"{name:u32}", "a b"},
		{"[{$cpu}] {$comm}-{$tid} {$time}", "[3] cat-5 12.345678"},
		{"", "12.345678 [3] cat-5                g.e took=1.23ms ret=-2 name=\"a b\""},
	} {
		s, err := NewStream(plan.Stream{Group: "g", Event: "e", Fields: fields, Print: c.form}, format)
		if err != nil {
			t.Errorf("%q: %v", c.form, err)
			continue
		}
		r := Record{Time: 12_345_678_901, CPU: 3, Comm: "cat"}
		s.Decode(record, &r)
		text := Text{}
		if got := string(text.AppendRecord(nil, &r)); got != c.want+"\n" {
			t.Errorf("%q: got %q, want %q", c.form, got, c.want+"\n")
		}
	}
	for _, form := range []string{"{", "}", "{x}", "{ret:nosuch}", "{ret"} {
		if _, err := NewStream(plan.Stream{Group: "g", Event: "e", Fields: fields, Print: form}, format); err == nil {
			t.Errorf("%q: got no error", form)
		}
	}
}

func TestJSONLines(t *testing.T) {
	s, err := NewStream(plan.Stream{Name: "o\"pen", Group: "g", Event: "e", Fields: []plan.Field{{Name: "ret", Type: types.Int{Size: 8, Signed: true}}}},
		testFormat(t, "s64 ret;\toffset:8;\tsize:8;\tsigned:1;"))
	if err != nil {
		t.Fatal(err)
	}
	r := Record{Time: 5, CPU: 1, Comm: "c\tt", Lost: 3}
	s.Decode(append(head(9), 1, 0, 0, 0, 0, 0, 0, 0), &r)
	j := JSON{}
	for _, c := range []struct {
		got  []byte
		want string
	}{
		{j.AppendHeader(nil, []*Stream{s}), `{"version":1,"clock":"","events":[{"name":"o\"pen","fields":[{"name":"ret","type":"s64"}]}]}` + "\n"},
		{j.AppendRecord(nil, &r), `{"lost":3,"cpu":1}` + "\n" + `{"event":"o\"pen","time":5,"cpu":1,"tid":9,"comm":"c\tt","fields":{"ret":1}}` + "\n"},
		{j.AppendLost(nil, 2, 0, true), `{"lost":0,"cpu":2,"some":true}` + "\n"},
		{j.AppendLosses(nil, []Loss{{CPU: 0, Read: 4, Overrun: 1, Exact: true}, {CPU: 1}}),
			`{"losses":[{"cpu":0,"read":4,"overrun":1,"dropped":0,"bad":0},{"cpu":1,"read":0,"overrun":0,"dropped":0,"bad":0,"some":true}]}` + "\n"},
	} {
		if string(c.got) != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

func TestLossesInText(t *testing.T) {
	text := Text{}
	for want, got := range map[string][]byte{
		"-- 3 lost on CPU 1 --\n":           text.AppendLost(nil, 1, 3, false),
		"-- some lost on CPU 1 --\n":        text.AppendLost(nil, 1, 0, true),
		"-- more than 3 lost on CPU 1 --\n": text.AppendLost(nil, 1, 3, true),
	} {
		if string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestNothingReachesTheTerminal(t *testing.T) {
	const text = "a\tb\n\x1b[2J\u202ec\u009b1m\xff\x7fé"
	if got, want := PlainLines(text), "a\tb\n"+`\x1b[2J\xe2\x80\xaec\xc2\x9b1m\xff\x7fé`; got != want {
		t.Errorf("lines: got %q, want %q", got, want)
	}
	if got, want := Plain(text), `a\x09b\x0a\x1b[2J\xe2\x80\xaec\xc2\x9b1m\xff\x7fé`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
