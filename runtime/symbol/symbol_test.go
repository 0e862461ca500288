package symbol

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/eptrace/ep/runtime/events"
)

var _ events.Symbolizer = (*Kernel)(nil)

const sample = `0000000000000000 A fixed_percpu_data
0000000000001000 A cpu_debug_store
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000100 t do_one
ffffffff81000180 T vfs_read
ffffffff81000200 W alias
ffffffff81000200 T __alias
ffffffff81400000 D data
ffffffffc0002000 t xhci_irq	[xhci_hcd]
ffffffffc0001000 t xhci_start	[xhci_hcd]
ffffffffc0003000 t bpf_prog_6deef7357e7b4530	[bpf]
ffffffffc0004000 t ftrace_trampoline	[__builtin__ftrace]
`

func kernel(text string) *Kernel {
	return New(fstest.MapFS{"kallsyms": {Data: []byte(text)}})
}

func TestSymbol(t *testing.T) {
	k := kernel(sample)
	for _, tt := range []struct {
		addr   uint64
		name   string
		offset uint64
	}{
		{0xffffffff81000000, "_stext", 0},
		{0xffffffff810000ff, "_stext", 0xff},
		{0xffffffff81000100, "do_one", 0},
		{0xffffffff8100019f, "vfs_read", 0x1f},
		{0xffffffff81000210, "alias", 0x10},
		{0xffffffff81400004, "data", 4},
		{0xffffffff812fffff, "", 0}, // in the gap behind alias
		{0xffffffffc0001008, "xhci_hcd:xhci_start", 8},
		{0xffffffffc0002008, "xhci_hcd:xhci_irq", 8},
		{0xffffffffc0003000, "bpf:bpf_prog_6deef7357e7b4530", 0},
		{0xffffffffc0004000, "ftrace_trampoline", 0},
		{0, "", 0},
		{0x1008, "", 0}, // an offset, no address
		{1<<64 - 1, "", 0},
	} {
		name, offset, ok := k.Symbol(tt.addr)
		if name != tt.name || offset != tt.offset || ok != (tt.name != "") {
			t.Errorf("Symbol(%#x): got %q %#x %v, want %q %#x", tt.addr, name, offset, ok, tt.name, tt.offset)
		}
	}
}

func TestHiddenAddressesAreSaid(t *testing.T) {
	k := kernel("0000000000000000 T _stext\n0000000000000000 t xhci_irq\t[xhci_hcd]\n")
	if err := k.Load(); !errors.Is(err, ErrHidden) {
		t.Errorf("got %v, want ErrHidden", err)
	}
	if name, _, ok := k.Symbol(0); ok {
		t.Errorf("Symbol(0): got %q", name)
	}
	if k.Len() != 0 {
		t.Errorf("Len: got %d", k.Len())
	}
}

func TestMissingListIsSaid(t *testing.T) {
	k := New(fstest.MapFS{})
	if err := k.Load(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

func TestNothingIsReadBeforeItIsAsked(t *testing.T) {
	files := fstest.MapFS{}
	k := New(files)
	files["kallsyms"] = &fstest.MapFile{Data: []byte(sample)}
	if name, _, _ := k.Symbol(0xffffffff81000180); name != "vfs_read" {
		t.Errorf("got %q", name)
	}
}

// many returns a list of n symbols, as long as real ones.
func many(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "%016x %c some_subsystem_func_%06d\n", uint64(0xffffffff81000000)+uint64(i)*0x90, "tTdD"[i%4], i)
	}
	return b.Bytes()
}

func TestMemoryOf200000Symbols(t *testing.T) {
	text := many(200_000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	k := New(fstest.MapFS{"kallsyms": {Data: text}})
	if k.Len() != 200_000 {
		t.Fatalf("got %d symbols", k.Len())
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	const most = 15 << 20
	if got := int64(after.HeapAlloc) - int64(before.HeapAlloc); got > most {
		t.Errorf("%d bytes: want at most %d", got, most)
	}
	runtime.KeepAlive(k)
	runtime.KeepAlive(text)
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(sample), uint64(0xffffffff81000190))
	f.Add([]byte("ffffffff81000000 T\nffffffff81000000  \nx T y\n\n1 t a\t["), uint64(1))
	f.Fuzz(func(t *testing.T, text []byte, addr uint64) {
		k := New(fstest.MapFS{"kallsyms": {Data: text}})
		name, offset, ok := k.Symbol(addr)
		if ok && (name == "" || offset >= maxOffset || offset > addr) {
			t.Errorf("Symbol(%#x): got %q %#x", addr, name, offset)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	proc := fstest.MapFS{"kallsyms": {Data: many(200_000)}}
	b.ReportAllocs()
	for b.Loop() {
		if err := New(proc).Load(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSymbol(b *testing.B) {
	k := New(fstest.MapFS{"kallsyms": {Data: many(200_000)}})
	addr := uint64(0xffffffff81000000)
	b.ReportAllocs()
	for b.Loop() {
		addr = 0xffffffff81000000 + (addr*1103515245+12345)%(200_000*0x90)
		if _, _, ok := k.Symbol(addr); !ok {
			b.Fatal("none")
		}
	}
}
