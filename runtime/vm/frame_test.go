package vm

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// memDisk is a disk in memory, as long as what was written.
type memDisk struct{ b []byte }

func (d *memDisk) WriteAt(p []byte, at int64) (int, error) {
	if need := int(at) + len(p); need > len(d.b) {
		d.b = append(d.b, make([]byte, need-len(d.b))...)
	}
	return copy(d.b[at:], p), nil
}

func (d *memDisk) ReadAt(p []byte, at int64) (int, error) { return bytes.NewReader(d.b).ReadAt(p, at) }

func newWriter(d *memDisk, size int64) *frameWriter {
	return &frameWriter{w: d, size: size, buf: make([]byte, maxFrame)}
}

func TestFramesComeBackAsWritten(t *testing.T) {
	sizes := []int{0, 1, sectorBytes - headerBytes, sectorBytes, maxData - 1, maxData, maxData + 1, 3*maxData + 17}
	random := rand.NewChaCha8([32]byte{1})
	var disk memDisk
	w := newWriter(&disk, 16<<20)
	var want [][]byte
	for _, size := range sizes {
		data := make([]byte, size)
		_, _ = random.Read(data) // never fails
		want = append(want, data)
		if err := w.write(event{Kind: eventOutput, Case: "c", Name: "n"}, data); err != nil {
			t.Fatal(err)
		}
	}
	if len(disk.b)%sectorBytes != 0 {
		t.Errorf("disk has %d bytes: want a multiple of %d", len(disk.b), sectorBytes)
	}
	r := frameReader{r: &disk}
	for i, data := range want {
		var got []byte
		for first := true; first || len(got) < len(data); first = false {
			ev, piece, err := r.next()
			if err != nil {
				t.Fatalf("data %d: %v", i, err)
			}
			if ev.Kind != eventOutput || ev.Case != "c" || ev.Name != "n" || ev.Offset != int64(len(got)) {
				t.Fatalf("data %d: got event %+v at offset %d", i, ev, len(got))
			}
			got = append(got, piece...)
		}
		if !bytes.Equal(got, data) {
			t.Errorf("data %d of %d bytes came back other", i, len(data))
		}
	}
	if _, _, err := r.next(); !errors.Is(err, errNoFrame) {
		t.Errorf("after the last frame: got %v, want errNoFrame", err)
	}
}

func TestCutFrameIsNoFrameUntilItIsWhole(t *testing.T) {
	var whole memDisk
	w := newWriter(&whole, 1<<20)
	if err := w.write(event{Kind: eventLog, Case: "c"}, bytes.Repeat([]byte("x"), 1000)); err != nil {
		t.Fatal(err)
	}
	lastByte := bytes.LastIndexByte(whole.b, 'x')
	for cut := range len(whole.b) {
		// A disk of fixed size, as the host's, and one that ends at the cut.
		for _, disk := range []*memDisk{{append(bytes.Clone(whole.b[:cut]), make([]byte, len(whole.b)-cut)...)}, {whole.b[:cut]}} {
			r := frameReader{r: disk}
			_, _, err := r.next()
			if cut > lastByte {
				if err != nil {
					t.Fatalf("cut at %d: got %v, want the frame", cut, err)
				}
				continue
			}
			if !errors.Is(err, errNoFrame) && !errors.Is(err, errBadFrame) {
				t.Fatalf("cut at %d: got %v, want errNoFrame or errBadFrame", cut, err)
			}
			disk.b = whole.b
			if _, data, err := r.next(); err != nil || len(data) != 1000 {
				t.Fatalf("cut at %d, then whole: got %d bytes and %v", cut, len(data), err)
			}
		}
	}
}

func TestGarbageIsNoFrame(t *testing.T) {
	var disk memDisk
	w := newWriter(&disk, 1<<20)
	for range 2 {
		if err := w.write(event{Kind: eventLog}, []byte("text")); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 8 * (headerBytes - 12 + 30) { // each bit of the words of the header and of the event
		garbled := memDisk{bytes.Clone(disk.b)}
		garbled.b[i/8] ^= 1 << (i % 8)
		r := frameReader{r: &garbled}
		_, _, err := r.next()
		padding := i/8 >= 20 && i/8 < headerBytes
		if !padding && !errors.Is(err, errNoFrame) && !errors.Is(err, errBadFrame) {
			t.Errorf("bit %d flipped: got %v", i, err)
		}
	}
	second := frameReader{r: &memDisk{disk.b[sectorBytes:]}}
	if _, _, err := second.next(); !errors.Is(err, errBadFrame) {
		t.Errorf("frame 1 in place of frame 0: got %v, want errBadFrame", err)
	}
}

func TestFullDiskIsAnError(t *testing.T) {
	var disk memDisk
	w := newWriter(&disk, 2*sectorBytes)
	if err := w.write(event{Kind: eventLog}, make([]byte, 2*sectorBytes)); err == nil {
		t.Error("wrote more than the disk holds")
	}
	if err := w.write(event{Kind: eventLog}, []byte("small")); err != nil {
		t.Errorf("after that: %v", err)
	}
}

func FuzzFrameReader(f *testing.F) {
	var disk memDisk
	w := newWriter(&disk, 1<<20)
	if err := w.write(event{Kind: eventEnd, Case: "c", Status: Passed}, []byte("data")); err != nil {
		f.Fatal(err)
	}
	f.Add(disk.b)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := frameReader{r: bytes.NewReader(b)}
		for {
			before := r.at
			_, _, err := r.next()
			if errors.Is(err, errNoFrame) || errors.Is(err, errBadFrame) {
				return
			}
			if err != nil {
				t.Fatalf("got %v: want errNoFrame or errBadFrame", err)
			}
			if r.at <= before {
				t.Fatal("a frame of no length")
			}
		}
	})
}

var _ io.ReaderAt = (*memDisk)(nil)
