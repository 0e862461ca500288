package events

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// streamsOf returns the streams of all formats of a recording, by ID.
func streamsOf(t testing.TB, files map[string][]byte, recording string) map[int]*Stream {
	t.Helper()
	out := map[int]*Stream{}
	for name, data := range files {
		rest, ok := strings.CutPrefix(name, recording+"/events/")
		if !ok || !strings.HasSuffix(rest, "/format") {
			continue
		}
		parts := strings.Split(rest, "/")
		f, err := target.ParseFormat(parts[0], parts[1], data)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewStream(plan.Stream{Group: parts[0], Event: parts[1]}, f)
		if err != nil {
			t.Fatal(err)
		}
		out[s.ID] = s
	}
	return out
}

const commonFields = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" +
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" +
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" +
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

// testFormat is a format with the fields given: "DECL;\toffset:…".
func testFormat(t testing.TB, fields ...string) *target.Format {
	t.Helper()
	text := "name: e\nID: 7\nformat:\n" + commonFields
	for _, f := range fields {
		text += "\tfield:" + f + "\n"
	}
	format, err := target.ParseFormat("g", "e", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return format
}

func head(tid byte) []byte { return []byte{7, 0, 0, 0, tid, 0, 0, 0} }

func TestFieldsAreDecoded(t *testing.T) {
	f := testFormat(t,
		"s8 a;\toffset:8;\tsize:1;\tsigned:1;",
		"u16 b;\toffset:10;\tsize:2;\tsigned:0;",
		"s32 c;\toffset:12;\tsize:4;\tsigned:1;",
		"u64 d;\toffset:16;\tsize:8;\tsigned:0;",
		"char e[4];\toffset:24;\tsize:4;\tsigned:1;",
		"__data_loc char[] f;\toffset:28;\tsize:4;\tsigned:1;",
		"__rel_loc char[] g;\toffset:32;\tsize:4;\tsigned:1;",
		"u16 h[2];\toffset:36;\tsize:4;\tsigned:0;",
	)
	record := append(head(42),
		0xff, 0, 0x34, 0x12, 0xfe, 0xff, 0xff, 0xff, // a b c
		1, 2, 3, 4, 5, 6, 7, 8, // d
		'a', 'b', 0, 'z', // e
		40, 0, 3, 0, // f: 3 bytes at 40
		7, 0, 3, 0, // g: 3 bytes at 36+7
		1, 0, 2, 0, // h
		'h', 'i', 0, 'y', 'o', 0)
	s, err := NewStream(plan.Stream{Group: "g", Event: "e"}, f)
	if err != nil {
		t.Fatal(err)
	}
	var r Record
	s.Decode(record, &r)
	if r.TID != 42 || r.Stream != s {
		t.Errorf("got tid %d", r.TID)
	}
	for i, want := range []int64{-1, 0x1234, -2, 0x0807060504030201} {
		if r.Values[i].Int() != want {
			t.Errorf("%s: got %d, want %d", s.Fields[i].Name, r.Values[i].Int(), want)
		}
	}
	for i, want := range map[int]string{4: "ab", 5: "hi", 6: "yo", 7: "\x01\x00\x02\x00"} {
		if r.Values[i].Text() != want {
			t.Errorf("%s: got %q, want %q", s.Fields[i].Name, r.Values[i].Data, want)
		}
	}
	text := Text{}
	if got := string(text.AppendRecord(nil, &r)); !strings.HasSuffix(got, "g.e a=-1 b=4660 c=-2 d=578437695752307201 e=ab f=hi g=yo h={1,2}\n") {
		t.Errorf("got %q", got)
	}
	for cut := range record {
		s.Decode(record[:cut], &r)
		if r.Values[6].State != Bad {
			t.Errorf("of %d bytes: got %+v, want what is not there to be bad", cut, r.Values[6])
		}
	}
}

func TestTextThatCouldNotBeRead(t *testing.T) {
	f := testFormat(t, "__data_loc char[] s;\toffset:8;\tsize:4;\tsigned:1;")
	probe := plan.Stream{Group: "g", Event: "e", Fields: []plan.Field{{Name: "s", Type: types.String{}, Kernel: "ustring"}}}
	static := plan.Stream{Group: "g", Event: "e", Fields: []plan.Field{{Name: "s", Type: types.String{}, Kernel: "__data_loc char[]"}}}
	for _, c := range []struct {
		name   string
		stream plan.Stream
		loc    []byte
		want   State
	}{
		{"a probe's fault", probe, []byte{12, 0, 0, 0}, Fault},
		{"a probe's empty text", probe, []byte{12, 0, 1, 0}, Present},
		{"an event's empty text", static, []byte{12, 0, 0, 0}, Present},
		{"outside of the record", probe, []byte{12, 0, 9, 0}, Bad},
	} {
		s, err := NewStream(c.stream, f)
		if err != nil {
			t.Fatal(err)
		}
		var r Record
		s.Decode(append(append(head(1), c.loc...), 0), &r)
		if r.Values[0].State != c.want || len(r.Values[0].Data) != 0 {
			t.Errorf("%s: got %+v, want state %d", c.name, r.Values[0], c.want)
		}
	}
}

func TestStackLosesItsCount(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []uint64
		want int
	}{
		{"counted", []uint64{2, 0xffff800000000001, 0xffff800000000002}, 2},
		{"counted, the last cut off", []uint64{3, 0xffff800000000001, 0xffff800000000002}, 2},
		{"not counted", []uint64{0xffff800000000001, 0xffff800000000002}, 2},
		{"empty", nil, 0},
	} {
		var b []byte
		for _, w := range c.in {
			for i := range 8 {
				b = append(b, byte(w>>(8*i)))
			}
		}
		if got := len(addresses(b)) / 8; got != c.want {
			t.Errorf("%s: got %d addresses, want %d", c.name, got, c.want)
		}
	}
}

func TestStreamThatTheKernelHasNot(t *testing.T) {
	f := testFormat(t, "u64 a;\toffset:8;\tsize:8;\tsigned:0;")
	for _, c := range []struct {
		field plan.Field
		want  string
	}{
		{plan.Field{Name: "b", Type: types.Int{Size: 8}}, "has no field 'b'"},
		{plan.Field{Name: "a", Type: types.String{}}, "where the plan has text"},
	} {
		_, err := NewStream(plan.Stream{Group: "g", Event: "e", Fields: []plan.Field{c.field}}, f)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// FuzzRecord: no bytes of a record, and no places that a format may tell,
// make decoding or rendering panic.
func FuzzRecord(f *testing.F) {
	files := recorded(f)
	streams := map[string]map[int]*Stream{}
	for name := range files {
		if recording, ok := strings.CutSuffix(name, "/trace"); ok {
			streams[recording] = streamsOf(f, files, recording)
		}
	}
	all := []*Stream{}
	for _, recording := range slices.Sorted(maps.Keys(streams)) {
		for _, id := range slices.Sorted(maps.Keys(streams[recording])) {
			all = append(all, streams[recording][id])
		}
	}
	for i, b := range recordedPages(f) {
		if i%100 != 0 {
			continue
		}
		p, err := layout64(f).Page(b)
		if err != nil {
			continue
		}
		for n := 0; n < 5; n++ {
			if record, _, ok := p.Next(); ok {
				f.Add(record, uint(n))
			}
		}
	}
	f.Fuzz(func(t *testing.T, record []byte, which uint) {
		text, json := Text{}, JSON{}
		for _, s := range []*Stream{all[which%uint(len(all))], all[(which/7+3)%uint(len(all))]} {
			var r Record
			s.Decode(record, &r)
			for _, v := range r.Values {
				if len(v.Data) > len(record) {
					t.Fatalf("%d bytes out of a record of %d", len(v.Data), len(record))
				}
			}
			text.AppendRecord(nil, &r)
			validJSON(t, json.AppendRecord(nil, &r))
		}
	})
}
