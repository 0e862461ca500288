package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"testing"
	"testing/fstest"
)

func TestUSDTSaysWhatIsThere(t *testing.T) {
	f := openProgram(t, "loose-x86_64")
	got, err := f.Probes()
	if want := []string{"ep:global", "ep:loop", "ep:odd"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q and %v, want %q", got, err, want)
	}
	if _, err := f.USDT("ep", "lop"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	for name, want := range map[string]string{"lop": "ep:loop", "od": "ep:odd", "something": ""} {
		if got, _ := f.NearUSDT("ep", name); got != want {
			t.Errorf("near ep:%s: got %q, want %q", name, got, want)
		}
	}
	if got, _ := f.NearUSDT("provider", "loop"); got != "ep:loop" {
		t.Errorf("near provider:loop: got %q, want ep:loop", got)
	}
	if list, err := openProgram(t, "names-cpp").Probes(); err != nil || len(list) != 0 {
		t.Errorf("a program without static probes: got %q and %v", list, err)
	}
}

// TestUSDTFollowsAMovedFile moves .stapsdt.base two bytes back, as prelink moves
// all of a file: sites and semaphores go with it.
func TestUSDTFollowsAMovedFile(t *testing.T) {
	data, err := os.ReadFile("testdata/loose-x86_64")
	if err != nil {
		t.Fatal(err)
	}
	e, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(e.Sections, func(s *elf.Section) bool { return s.Name == ".stapsdt.base" })
	headers := binary.LittleEndian.Uint64(data[0x28:]) // e_shoff
	address := data[headers+uint64(at)*64+16:]         // sh_addr of an Elf64_Shdr
	binary.LittleEndian.PutUint64(address, e.Sections[at].Addr-2)
	moved, err := Open(fstest.MapFS{"x": {Data: data}}, "/x")
	if err != nil {
		t.Fatal(err)
	}
	got, err := moved.USDT("ep", "loop")
	if err != nil {
		t.Fatal(err)
	}
	want, err := openProgram(t, "loose-x86_64").USDT("ep", "loop")
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Offset != want[0].Offset-2 || got[0].RefCtr != want[0].RefCtr-2 {
		t.Errorf("got 0x%x (0x%x), want 0x%x (0x%x)", got[0].Offset, got[0].RefCtr, want[0].Offset-2, want[0].RefCtr-2)
	}
}
