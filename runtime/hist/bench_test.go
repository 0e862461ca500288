package hist

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"testing/fstest"
)

// large returns the file of a table of n rows of a text and a number.
func large(n int) fstest.MapFS {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "{ comm: %-50s, n: %10d } hitcount: %10d  v: %10d\n", fmt.Sprint("task", i%100), i, i, i*1000)
	}
	b.WriteString(totals(n*(n-1)/2, n, 0))
	return one("hist:keys=comm,n:vals=hitcount,v:sort=hitcount:size=2048", b.String())
}

var largeTable = table("t", "g.e", "hist:keys=comm,n:vals=v", columns{keyed("comm", text), keyed("n", u64)}, columns{mean("v", "v", u64)})

// BenchmarkRead2048 reads a full table of the default size.
func BenchmarkRead2048(b *testing.B) {
	fsys := large(2048)
	b.ReportAllocs()
	for b.Loop() {
		if t, err := Read(fsys, "", largeTable); err != nil || len(t.Rows) != 2048 {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead131072 reads the largest table there is: 64 times the rows.
func BenchmarkRead131072(b *testing.B) {
	fsys := large(1 << 17)
	b.ReportAllocs()
	for b.Loop() {
		if t, err := Read(fsys, "", largeTable); err != nil || len(t.Rows) != 1<<17 {
			b.Fatal(err)
		}
	}
}

func BenchmarkRender2048(b *testing.B) {
	t, err := Read(large(2048), "", largeTable)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := t.Render(io.Discard, Options{Width: 100}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJSON2048(b *testing.B) {
	t, err := Read(large(2048), "", largeTable)
	if err != nil {
		b.Fatal(err)
	}
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		line = t.AppendJSON(line[:0], &named)
	}
}
