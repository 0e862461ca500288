package hist

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"
)

// FuzzParse holds the laws of a table over any file: nothing panics, rendering
// goes on in lines, and how the file is cut into reads does not matter.
func FuzzParse(f *testing.F) {
	for _, kernel := range kernels {
		for _, file := range testdata(f, kernel) {
			for i := range recorded() {
				if len(file.Data) < 8<<10 {
					f.Add(file.Data, i)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, which int) {
		all := recorded()
		p := all[uint(which)%uint(len(all))]
		h := p.Hists[0]
		got, err := Read(fstest.MapFS{"events/" + h.Group + "/" + h.Event + "/hist": {Data: data}}, "", p)
		if err != nil {
			return
		}
		var count uint64
		for i := range got.Rows {
			count += got.Rows[i].Count
		}
		if len(got.Keys) != len(p.Keys) || got.counted() != count {
			t.Fatalf("got %d events in rows, %d in all", count, got.counted())
		}
		format, err := newFormat(p, h)
		if err != nil {
			t.Fatal(err)
		}
		again := newTable(p)
		if err := parse(iotest.OneByteReader(bytes.NewReader(data)), format, again, &builder{}); err != nil {
			t.Fatalf("in parts: %v", err)
		}
		again.order()
		line := got.AppendJSON(nil, &named)
		if other := again.AppendJSON(nil, &named); !bytes.Equal(line, other) {
			t.Fatalf("in parts: got %s, want %s", other, line)
		}
		if bytes.Count(line, []byte("\n")) != 1 || !bytes.HasSuffix(line, []byte("}\n")) {
			t.Fatalf("got %q", line)
		}
		var b strings.Builder
		if err := got.Render(&b, Options{Width: 80, Names: named}); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(b.String(), func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }) {
			t.Fatalf("control characters in %q", b.String())
		}
	})
}

func TestReadErrorsComeThrough(t *testing.T) {
	p := recorded()[0]
	f, err := newFormat(p, p.Hists[0])
	if err != nil {
		t.Fatal(err)
	}
	err = parse(iotest.ErrReader(io.ErrClosedPipe), f, newTable(p), &builder{})
	if err != io.ErrClosedPipe {
		t.Errorf("got %v", err)
	}
}
