package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
	"github.com/eptrace/ep/runtime/events"
	"github.com/eptrace/ep/runtime/hist"
)

// shown is a value of a type: its bytes in memory, as which number the kernel's
// text has it, and how people and programs are shown it.
type shown struct {
	typ        types.Type
	mem        []byte
	modifier   string // of a key
	kernel     string // as a key, in the kernel's words
	text, json string
}

func number(size int, signed bool, f types.Form) types.Int {
	return types.Int{Size: size, Signed: signed, Form: f}
}

func basic(t *testing.T, name string) types.Type {
	t.Helper()
	typ, ok := types.Basic(name)
	if !ok {
		t.Fatalf("no type %s", name)
	}
	return typ
}

// all has a value of each type that a script can name, and of those that it
// cannot.
func all(t *testing.T) map[string]shown {
	out := map[string]shown{
		"u8":    {mem: []byte{200}, kernel: "200", text: "200", json: "200"},
		"u16":   {mem: []byte{0x50, 0}, kernel: "80", text: "80", json: "80"},
		"u32":   {mem: []byte{1, 2, 0, 0x80}, kernel: "2147484161", text: "2147484161", json: "2147484161"},
		"u64":   {mem: bytes.Repeat([]byte{255}, 8), kernel: "18446744073709551615", text: "18446744073709551615", json: "18446744073709551615"},
		"s8":    {mem: []byte{0xfe}, kernel: "18446744073709551614", text: "-2", json: "-2"},
		"s16":   {mem: []byte{0xfe, 0xff}, kernel: "65534", text: "-2", json: "-2"},
		"s32":   {mem: []byte{0xfe, 0xff, 0xff, 0xff}, kernel: "18446744073709551614", text: "-2", json: "-2"},
		"s64":   {mem: []byte{0xfe, 255, 255, 255, 255, 255, 255, 255}, kernel: "18446744073709551614", text: "-2", json: "-2"},
		"x8":    {mem: []byte{0x2a}, modifier: "hex", kernel: "2a", text: "0x2a", json: `"0x2a"`},
		"x16":   {mem: []byte{0x2a, 1}, modifier: "hex", kernel: "12a", text: "0x12a", json: `"0x12a"`},
		"x32":   {mem: []byte{0x2a, 0, 0, 0xf0}, modifier: "hex", kernel: "fffffffff000002a", text: "0xf000002a", json: `"0xf000002a"`},
		"x64":   {mem: []byte{0x2a, 0, 0, 0, 0, 0, 0, 0xf0}, modifier: "hex", kernel: "f00000000000002a", text: "0xf00000000000002a", json: `"0xf00000000000002a"`},
		"bool":  {mem: []byte{1}, kernel: "1", text: "true", json: "true"},
		"char":  {mem: []byte{'c'}, kernel: "99", text: "'c'", json: `"c"`},
		"str":   {mem: []byte("ab\x1b[2J\x00\x00"), kernel: fmt.Sprintf("%-50s", "ab\x1b[2J"), text: `ab\x1b[2J`, json: `"ab\u001b[2J"`},
		"ns":    {mem: []byte{0x87, 0xd6, 0x12, 0, 0, 0, 0, 0}, kernel: "1234567", text: "1.23ms", json: "1234567"},
		"us":    {mem: []byte{0xd2, 4, 0, 0, 0, 0, 0, 0}, kernel: "1234", text: "1.23ms", json: "1234"},
		"ms":    {mem: []byte{12, 0, 0, 0, 0, 0, 0, 0}, kernel: "12", text: "12ms", json: "12"},
		"s":     {mem: []byte{7, 0, 0, 0, 0, 0, 0, 0}, kernel: "7", text: "7s", json: "7"},
		"be16":  {mem: []byte{0x01, 0xbb}, kernel: "47873", text: "443", json: "443"},
		"be32":  {mem: []byte{0, 0, 1, 0xbb}, kernel: "3137404928", text: "443", json: "443"},
		"ip":    {mem: []byte{127, 0, 0, 1}, kernel: "16777343", text: "127.0.0.1", json: `"127.0.0.1"`},
		"dev":   {mem: []byte{3, 0, 0x80, 0}, kernel: "8388611", text: "8:3", json: `"8:3"`},
		"errno": {mem: []byte{0xfe, 0xff, 0xff, 0xff}, kernel: "18446744073709551614", text: "-ENOENT", json: "-2"},
		"sysnr": {mem: []byte{1, 1, 0, 0, 0, 0, 0, 0}, modifier: "syscall", kernel: "sys_openat                    [257]", text: "openat", json: `"openat"`},
		"ksym":  {mem: []byte{0x1f, 0x10, 0, 0, 0, 0, 0, 0}, modifier: "sym", kernel: "[000000000000101f] vfs_read+0x1f/0x100                          ", text: "vfs_read+0x1f", json: `"vfs_read+0x1f"`},
	}
	for name, v := range out {
		v.typ = basic(t, name)
		out[name] = v
	}
	for _, name := range types.BasicNames() {
		if _, ok := out[name]; !ok {
			t.Errorf("no value of type %s", name)
		}
	}
	out["str"] = shown{typ: types.String{Cap: 8}, mem: out["str"].mem, kernel: out["str"].kernel, text: out["str"].text, json: out["str"].json}
	out["be64"] = shown{typ: number(8, false, types.BE), mem: []byte{0, 0, 0, 0, 0, 0, 1, 0xbb}, kernel: "13475051560069234688", text: "443", json: "443"}
	out["pointer"] = shown{typ: types.Pointer{Elem: types.Void{}}, mem: []byte{0, 0x10, 0, 0, 0, 0, 0xff, 0xff}, modifier: "hex", kernel: "ffff000000001000", text: "0xffff000000001000", json: `"0xffff000000001000"`}
	enum := number(4, true, types.Dec)
	enum.Names = &types.Names{List: []types.Name{{Name: "DEAD\x1b[1m", Value: ^uint64(0)}}}
	out["enum"] = shown{typ: enum, mem: []byte{255, 255, 255, 255}, kernel: "18446744073709551615", text: `DEAD\x1b[1m`, json: `"DEAD\u001b[1m"`}
	flags := number(4, false, types.Hex)
	flags.Names = &types.Names{Flags: true, List: []types.Name{{Name: "R", Value: 1}, {Name: "W", Value: 2}}}
	out["flags"] = shown{typ: flags, mem: []byte{3, 0, 1, 0}, modifier: "hex", kernel: "10003", text: "R|W|0x10000", json: `"R|W|0x10000"`}
	return out
}

// named name one function and one system call.
type named struct{}

func (named) Symbol(addr uint64) (string, uint64, bool) {
	return "vfs_read", addr - 0x1000, addr>>8 == 0x10
}
func (named) SyscallName(nr int) (string, bool) { return "openat", nr == 257 }

// TestValuesAreShownTheSameEverywhere: each type, in each place where a value can
// be shown.
func TestValuesAreShownTheSameEverywhere(t *testing.T) {
	for name, v := range all(t) {
		var text, lines bytes.Buffer
		f := Format{Names: events.Names{Symbols: named{}, Syscalls: named{}}}
		f.Hist.Names = f.Names
		forPeople, forPrograms := NewText(&text, f), NewJSON(&lines, f)

		decl := "u64 v"
		if _, ok := v.typ.(types.String); ok {
			decl = "char v[8]"
		}
		array := types.Array{Elem: v.typ, Len: 2}
		fields := []plan.Field{{Name: "v", Type: v.typ}}
		if types.Scalar(v.typ) {
			fields = append(fields, plan.Field{Name: "two", Type: array})
		}
		format, err := target.ParseFormat("g", "e", fmt.Appendf(nil, "name: e\nID: 7\nformat:\n"+
			"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"+
			"\tfield:%s;\toffset:8;\tsize:%d;\tsigned:0;\n\tfield:char two[%d];\toffset:16;\tsize:%[3]d;\tsigned:0;\n\nprint fmt: \"\"\n", decl, len(v.mem), 2*len(v.mem)))
		if err != nil {
			t.Fatal(err)
		}
		record := append(make([]byte, 8), v.mem...)
		record = append(record, make([]byte, 8-len(v.mem))...)
		record = append(append(record, v.mem...), v.mem...)
		record[0] = 7
		written := name // as a script names the type
		if _, ok := types.Basic(name); !ok {
			written = ""
		}
		forms := []string{"", "{v}"}
		if written != "" && !strings.Contains("ns us ms s", written) {
			forms = append(forms, "{v:"+written+"}")
		}
		for _, form := range forms {
			s, err := events.NewStream(plan.Stream{Name: "e", Group: "g", Event: "e", Fields: fields, Print: form}, format)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var r events.Record
			s.Decode(record, &r)
			text.Reset()
			lines.Reset()
			for _, o := range []Output{forPeople, forPrograms} {
				if err := first(o.Begin([]*events.Stream{s}, nil), o.Record(&r), o.Flush()); err != nil {
					t.Fatal(err)
				}
			}
			line := strings.TrimSuffix(text.String(), "\n")
			if form != "" && line != v.text {
				t.Errorf("%s: '%s' prints %s, want %s", name, form, line, v.text)
			}
			if form == "" {
				word := v.text
				if name == "str" || name == "enum" {
					word = `"` + v.text + `"` // more than a word
				}
				if !strings.Contains(line+" ", " v="+word+" ") {
					t.Errorf("%s: a record is %s, want v=%s", name, line, word)
				}
				if len(fields) > 1 && !strings.HasSuffix(line, " two={"+v.text+","+v.text+"}") {
					t.Errorf("%s: a record is %s, want an array of %s", name, line, v.text)
				}
				want := `"fields":{"v":` + v.json
				if len(fields) > 1 {
					want += `,"two":[` + v.json + "," + v.json + "]"
				}
				if !strings.HasSuffix(lines.String(), want+"}}\n") {
					t.Errorf("%s: got %s, want %s", name, lines.String(), want)
				}
			}
		}

		tables := []*hist.Table{tableOf(t, v)}
		text.Reset()
		lines.Reset()
		for _, o := range []Output{forPeople, forPrograms} {
			if err := first(o.Tables(tables, true), o.Flush(), nil); err != nil {
				t.Fatal(err)
			}
		}
		rows := strings.Split(text.String(), "\n")
		if i := slices.IndexFunc(rows, func(row string) bool {
			return strings.TrimSpace(row) == v.text+"      1" || strings.Join(strings.Fields(row), " ") == v.text+" 1"
		}); i < 0 {
			t.Errorf("%s: as a key got\n%s\nwant %s", name, text.String(), v.text)
		}
		if want := `"rows":[{"keys":{"v":` + v.json + `},"count":1`; !strings.Contains(lines.String(), want) {
			t.Errorf("%s: got %s, want %s", name, lines.String(), want)
		}
		for _, out := range []string{text.String(), lines.String()} {
			if strings.ContainsFunc(out, func(r rune) bool { return r < ' ' && r != '\n' }) {
				t.Errorf("%s: a control character in %q", name, out)
			}
		}
		if !json.Valid(lines.Bytes()) {
			t.Errorf("%s: no JSON: %s", name, &lines)
		}
	}
}

// first returns the first error of several.
func first(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// tableOf is the histogram that a kernel shows of one event with v as its key.
func tableOf(t *testing.T, v shown) *hist.Table {
	t.Helper()
	key := "v"
	if v.modifier != "" {
		key += "." + v.modifier
	}
	text := "# event histogram\n#\n# trigger info: hist:keys=" + key + ":vals=hitcount:sort=hitcount:size=2048 [active]\n#\n\n" +
		"{ v: " + v.kernel + " } hitcount:          1\n\nTotals:\n    Hits: 1\n    Entries: 1\n    Dropped: 0\n"
	table, err := hist.Read(fstest.MapFS{"events/g/e/hist": {Data: []byte(text)}}, "", plan.Table{
		Name: "t", Keys: []plan.Column{{Name: "v", Type: v.typ}}, Hists: []plan.Hist{{Group: "g", Event: "e", Command: "hist:keys=" + key}}})
	if err != nil {
		t.Fatal(err)
	}
	if table.Unread > 0 {
		t.Fatalf("%v: the row is not read:\n%s", v.typ, text)
	}
	return table
}
