package object

import (
	"bytes"
	"encoding/binary"
	"os"
	"runtime"
	"testing"
	"testing/fstest"
)

// FuzzOpen opens programs of which a few bytes are others: nothing panics, and
// nothing takes memory beyond what the file is worth.
func FuzzOpen(f *testing.F) {
	var files [][]byte
	for _, name := range append([]string{"stripped-x86_64.debug"}, programs...) {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, b)
	}
	f.Add(uint8(0), []byte{})
	f.Add(uint8(1), []byte{0, 40, 0xff, 0, 41, 0xff, 0, 60, 0xff}) // where the sections are, how many
	f.Add(uint8(2), []byte{0, 32, 0x01, 0, 54, 0x00, 0, 56, 0xff}) // where the segments are, how large, how many
	f.Add(uint8(3), []byte{0, 4, 1, 0, 5, 2, 0, 18, 3})
	f.Fuzz(func(t *testing.T, which uint8, edits []byte) {
		data := bytes.Clone(files[int(which)%len(files)])
		// Each three bytes of edits are a place from an end, by turns, and a
		// byte: headers are at both.
		for i := 0; i+3 <= len(edits); i += 3 {
			at := int(binary.BigEndian.Uint16(edits[i:])) % len(data)
			if i%2 == 1 {
				at = len(data) - 1 - at
			}
			data[at] = edits[i+2]
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		look(data)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 256<<20 {
			t.Errorf("%d bytes are allocated for a file of %d", got, len(data))
		}
	})
}

// look asks for all that can be asked of a file.
func look(data []byte) {
	file, err := Open(fstest.MapFS{"x": {Data: data}}, "/x")
	if err != nil {
		return
	}
	for _, name := range []string{"nine", "ns::f(int)", "names::inner::same", "copy@EP_1.0"} {
		if s, err := file.Function(name); err == nil {
			_, _, _ = file.Params(s) // only that it returns
		}
	}
	file.Near("nien")
	file.Near("ns::onec")
	file.Stripped()
	for _, addr := range []uint64{0x401014, 0x1016, 0x100ee} {
		if _, s, err := file.At(addr); err == nil {
			_, _, _ = file.Params(s) // only that it returns
		}
	}
	list, _ := file.Probes() // only that it returns
	for _, p := range list {
		provider, name, _ := bytes.Cut([]byte(p), []byte(":"))
		_, _ = file.USDT(string(provider), string(name))
	}
}

// FuzzArg parses arguments of static probes.
func FuzzArg(f *testing.F) {
	for _, text := range []string{"-4@%edi 8@-24(%rbp)", "8@[sp, 16] -4@w0", "8@16(sp)", "4@total+8(%rip)", "8f@%xmm0", "@", "1@%ah"} {
		f.Add(text)
	}
	var files []*File
	for _, name := range []string{"program-x86_64", "loose-x86_64", "program-i386", "loose-arm64", "program-arm", "program-riscv64"} {
		file, err := Open(os.DirFS("testdata"), "/"+name)
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, file)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, file := range files {
			for _, a := range file.parseArgs(text, Probe{Addr: 0x1085, Offset: 0x1085}) {
				if (a.Fetch == nil) == (a.Err == nil) {
					t.Errorf("%q: got %v and %v: want one of them", a.Text, a.Fetch, a.Err)
				}
			}
		}
	})
}

func FuzzSourceNamed(f *testing.F) {
	f.Add("_ZN2ns1fEi", "ns::f(int)")
	f.Add("_RNvMs_NtCs4T4zK9Otvt5_5names5innerNtB4_5Thing3new", "names::inner::Thing::new")
	f.Fuzz(func(t *testing.T, symbol, name string) {
		sourceNamed(symbol, squeeze(name))
		lastWord(name)
		rustNamed(symbol, name)
	})
}
