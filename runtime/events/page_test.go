package events

import (
	"archive/zip"
	"encoding/binary"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// recorded returns the files of the recordings of kernels that testdata has:
// KERNEL-CASE/RECORDING/FILE. runtime/eventsproof makes them.
func recorded(t testing.TB) map[string][]byte {
	t.Helper()
	zips, err := filepath.Glob("testdata/recorded/*.zip")
	if err != nil || len(zips) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	files := map[string][]byte{}
	for _, z := range zips {
		r, err := zip.OpenReader(z)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.File {
			data, err := fs.ReadFile(r, f.Name)
			if err != nil {
				t.Fatal(err)
			}
			files[strings.TrimSuffix(filepath.Base(z), ".zip")+"/"+f.Name] = data
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// recordedPages returns all recorded pages.
func recordedPages(t testing.TB) [][]byte {
	var pages [][]byte
	files := recorded(t)
	var names []string
	for name := range files {
		if strings.HasSuffix(name, "trace_pipe_raw") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		pages = slices.AppendSeq(pages, slices.Chunk(files[name], 4096))
	}
	return pages
}

const headerPage64 = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n" +
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n" +
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n" +
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n"

const headerEvent = "# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n" +
	"\tpadding     : type == 29\n\ttime_extend : type == 30\n\ttime_stamp : type == 31\n\tdata max type_len  == 28\n"

func layout64(t testing.TB) Layout {
	l, err := ParseLayout([]byte(headerPage64), []byte(headerEvent))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLayouts(t *testing.T) {
	page32 := strings.NewReplacer("size:8;\tsigned:1", "size:4;\tsigned:1", "offset:16;\tsize:4080", "offset:12;\tsize:4084").Replace(headerPage64)
	for _, c := range []struct {
		name        string
		page, event string
		want        Layout
		bad         bool
	}{
		{"64 bits", headerPage64, headerEvent, Layout{commit: 8, data: 16, longSize: 8, size: 4096}, false},
		{"32 bits", page32, headerEvent, Layout{commit: 8, data: 12, longSize: 4, size: 4096}, false},
		{"16 KiB", strings.Replace(headerPage64, "4080", "16368", 1), headerEvent, Layout{commit: 8, data: 16, longSize: 8, size: 16384}, false},
		{"empty", "", headerEvent, Layout{}, true},
		{"no commit", strings.Replace(headerPage64, "commit", "comet", 1), headerEvent, Layout{}, true},
		{"huge", strings.Replace(headerPage64, "4080", "99999999", 1), headerEvent, Layout{}, true},
		{"other types", headerPage64, strings.Replace(headerEvent, "== 29", "== 28", 1), Layout{}, true},
		{"no event", headerPage64, "", Layout{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseLayout([]byte(c.page), []byte(c.event))
			if (err != nil) != c.bad || !c.bad && got != c.want {
				t.Errorf("got %+v and %v, want %+v, an error: %v", got, err, c.want, c.bad)
			}
		})
	}
}

// testPage makes a page of 64-bit longs out of 32-bit words.
func testPage(time uint64, flags uint32, words ...uint32) []byte {
	b := make([]byte, 16, 4096)
	binary.LittleEndian.PutUint64(b, time)
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	// The kernel's flags are signed: their copies stand above.
	binary.LittleEndian.PutUint64(b[8:], uint64(int64(int32(uint32(len(b)-16)|flags))))
	return b
}

func TestPageReadsAllKindsOfEvents(t *testing.T) {
	b := testPage(1000, 0,
		5<<5|2, 1, 2, // data of 8 bytes, 5 later
		0<<5, 4+6, 3, 4, // 6 bytes, whose length is a word of its own
		7<<5|typePadding, 4+4, 0, // taken back 7 later
		1<<5|typePadding, 4, // taken back at once
		3<<5|typeTimeExtend, 1, // 1<<27 + 3 later
		0<<5|1, 5, // 4 bytes
		9<<5|typeTimeStamp, 2, // at 2<<27 + 9
		1<<5|1, 6,
		typePadding, 99, 99, // the rest is empty
	)
	p, err := layout64(t).Page(b)
	if err != nil {
		t.Fatal(err)
	}
	if p.Start() != 1000 {
		t.Errorf("got start %d, want 1000", p.Start())
	}
	for i, want := range []struct {
		time  uint64
		bytes int
		first byte
	}{
		{1005, 8, 1}, {1005, 6, 3}, {1005 + 7 + 1<<27 + 3, 4, 5}, {2<<27 + 9 + 1, 4, 6},
	} {
		record, time, ok := p.Next()
		if !ok || time != want.time || len(record) != want.bytes || record[0] != want.first {
			t.Errorf("record %d: got % x at %d, %v; want %d bytes from %d at %d", i, record, time, ok, want.bytes, want.first, want.time)
		}
	}
	if record, _, ok := p.Next(); ok || p.Err() != nil {
		t.Errorf("got % x and %v, want the end", record, p.Err())
	}
}

func TestAbsoluteTimesKeepTheHighBits(t *testing.T) {
	for _, c := range []struct{ t, before, want uint64 }{
		{5, 3, 5},
		{5, 0xf8<<56 | 3, 0xf8<<56 | 5},
		{1, 0x08<<56 | 3, 0x10<<56 | 1}, // the 59 bits ran over
	} {
		if got := absolute(c.t, c.before); got != c.want {
			t.Errorf("absolute(%#x, %#x): got %#x, want %#x", c.t, c.before, got, c.want)
		}
	}
}

func TestLostEventsAreCounted(t *testing.T) {
	stored := testPage(1, missedEvents|missedStored, 1, 1)
	stored = binary.LittleEndian.AppendUint64(stored, 12345)
	for _, c := range []struct {
		name string
		page []byte
		lost uint64
		some bool
	}{
		{"none", testPage(1, 0, 1, 1), 0, false},
		{"some", testPage(1, missedEvents, 1, 1), 0, true},
		{"counted", stored, 12345, false},
		{"counted behind the end", testPage(1, missedEvents|missedStored, 1, 1), 0, true},
	} {
		p, err := layout64(t).Page(c.page)
		if err != nil || p.Lost != c.lost || p.LostSome != c.some {
			t.Errorf("%s: got %d, %v and %v; want %d, %v", c.name, p.Lost, p.LostSome, err, c.lost, c.some)
		}
	}
}

func TestBadPagesEndWithAnError(t *testing.T) {
	for _, c := range []struct {
		name  string
		words []uint32
	}{
		{"data behind the end", []uint32{28, 1}},
		{"length behind the end", []uint32{0, 400, 1}},
		{"length too short", []uint32{0, 3, 1}},
		{"padding behind the end", []uint32{1<<5 | typePadding, 400}},
		{"padding without length", []uint32{1<<5 | typePadding}},
		{"extend without its word", []uint32{typeTimeExtend}},
	} {
		p, err := layout64(t).Page(testPage(1, 0, c.words...))
		if err != nil {
			t.Fatal(err)
		}
		if record, _, ok := p.Next(); ok || p.Err() == nil {
			t.Errorf("%s: got % x and no error", c.name, record)
		}
		if _, _, ok := p.Next(); ok {
			t.Errorf("%s: a record behind the error", c.name)
		}
	}
	for _, b := range [][]byte{nil, make([]byte, 15), testPage(1, 5000)} {
		if _, err := layout64(t).Page(b); err == nil {
			t.Errorf("% x: got no error", b)
		}
	}
}

// FuzzPage: on any bytes a page ends, records lie within it, and time does not
// depend on what stands behind the commit.
func FuzzPage(f *testing.F) {
	for i, p := range recordedPages(f) {
		if i%40 == 0 {
			f.Add(p, false)
		}
	}
	f.Add(testPage(1, missedEvents, 0, 10, 1), true)
	l64 := layout64(f)
	f.Fuzz(func(t *testing.T, b []byte, short bool) {
		l := l64
		if short {
			l = Layout{commit: 8, data: 12, longSize: 4, size: 4096}
		}
		p, err := l.Page(b)
		if err != nil {
			return
		}
		total := 0
		for {
			record, _, ok := p.Next()
			if !ok {
				break
			}
			if cap(record) != len(record) {
				t.Fatal("a record that can grow into the next")
			}
			total += len(record) + 4
		}
		if total > len(b) {
			t.Fatalf("%d bytes of records in a page of %d", total, len(b))
		}
	})
}

func TestTimeIsCarriedOverFromPartToPart(t *testing.T) {
	var end pageClock
	for i, part := range []struct {
		page []byte
		want uint64
	}{
		{testPage(1000, 0, 5<<5|1, 1, 70<<5|typePadding, 4, 2<<5|1, 2), 1077},   // its last record is at 1077
		{testPage(1007, 0, 30<<5|typePadding, 4, 3<<5|1, 3), 1110},              // the kernel says 1007
		{testPage(1010, 0, 10<<5|typeTimeStamp, 1<<4, 4<<5|1, 4), 1<<31 + 14},   // and 1010; an absolute time comes
		{testPage(1<<31+14, 0, 6<<5|1, 5), 1<<31 + 20},                          // from which all is right
		{testPage(1<<31+5000, 0, 1<<5|1, 6), 1<<31 + 5001},                      // another page
		{testPage(1<<31+5001, 0, 9<<5|typePadding, 4, 9<<5|1, 7), 1<<31 + 5019}, // a part of it
		{testPage(1<<31+9000, 0, 1<<5|typePadding, 4, 1<<5|1, 8), 1<<31 + 9001}, // another page
	} {
		p, err := layout64(t).Page(part.page)
		if err != nil {
			t.Fatal(err)
		}
		p.carry(end)
		var last uint64
		for {
			_, time, ok := p.Next()
			if !ok {
				break
			}
			last = time
		}
		if last != part.want {
			t.Errorf("part %d: the last record is at %d, want %d", i, last, part.want)
		}
		end = p.clock
	}
}
