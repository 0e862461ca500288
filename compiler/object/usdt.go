package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/eptrace/ep/lang/diag"
)

// A static probe is a nop in the code, and a note that says where it is and
// how its arguments are had there. systemtap's sys/sdt.h writes the notes.
//
//	NOTES := {namesz u32, descsz u32, type u32, name padded to 4, DESC padded to 4}
//	DESC  := pc, base, semaphore: words of the machine; provider NUL name NUL args NUL
//
// The name is "stapsdt", the type 3. The addresses are those that were linked;
// if .stapsdt.base is elsewhere than base says, the file was moved afterwards
// (prelink), and they with it.

// Probe is one site of a static probe: a program may have a probe in several
// places, each with its own way to the arguments.
type Probe struct {
	Provider, Name string
	Addr           uint64 // the address of the site, as objdump shows it
	Offset         uint64 // of the site in the file: a uprobe's place
	RefCtr         uint64 // of its semaphore in the file, 0 if it has none
	Args           []Arg  // in the order of the probe
}

// note is a Probe as its note has it, addresses corrected.
type note struct {
	provider, name, args string
	pc, semaphore        uint64
}

// maxNotes is how many static probes a file may have sites of.
const maxNotes = 1 << 20

// readNotes reads all notes of static probes.
func (f *File) readNotes() ([]note, error) {
	var notes []note
	for _, s := range f.elf.Sections {
		if s.Type != elf.SHT_NOTE || s.Name != ".note.stapsdt" {
			continue
		}
		b, err := f.data(s)
		if err != nil {
			return nil, err
		}
		for len(b) > 0 {
			if len(b) < 12 {
				return nil, corrupt("a note of static probes is cut off")
			}
			nameSize := uint64(binary.LittleEndian.Uint32(b))
			descSize := uint64(binary.LittleEndian.Uint32(b[4:]))
			typ := binary.LittleEndian.Uint32(b[8:])
			descAt := 12 + align4(nameSize)
			if descAt+descSize > uint64(len(b)) {
				return nil, corrupt("a note of static probes is cut off")
			}
			name, desc := b[12:12+nameSize], b[descAt:descAt+descSize]
			b = b[min(descAt+align4(descSize), uint64(len(b))):]
			if typ != 3 || string(name) != "stapsdt\x00" {
				continue
			}
			n, err := f.parseNote(desc)
			if err != nil {
				return nil, err
			}
			if notes = append(notes, n); len(notes) > maxNotes {
				return nil, corrupt("more than %d static probes", maxNotes)
			}
		}
	}
	return notes, nil
}

func align4(n uint64) uint64 { return (n + 3) &^ 3 }

func (f *File) parseNote(desc []byte) (note, error) {
	word := f.arch.WordSize()
	if len(desc) < 3*word {
		return note{}, corrupt("a note of static probes is too short")
	}
	var addrs [3]uint64
	for i := range addrs {
		b := desc[i*word:]
		if word == 4 {
			addrs[i] = uint64(binary.LittleEndian.Uint32(b))
		} else {
			addrs[i] = binary.LittleEndian.Uint64(b)
		}
	}
	texts := bytes.SplitN(desc[3*word:], []byte{0}, 4)
	if len(texts) < 3 {
		return note{}, corrupt("a note of static probes is too short")
	}
	n := note{
		provider: string(texts[0]), name: string(texts[1]), args: string(texts[2]),
		pc: addrs[0], semaphore: addrs[2],
	}
	if base := f.elf.Section(".stapsdt.base"); base != nil && addrs[1] != 0 {
		moved := base.Addr - addrs[1]
		n.pc += moved
		if n.semaphore != 0 {
			n.semaphore += moved
		}
	}
	return n, nil
}

// USDT returns the sites of a static probe, by address. The error is
// ErrNotFound, or what makes a site one that cannot be probed, wrapped; that
// an argument cannot be fetched is said in the Arg.
func (f *File) USDT(provider, name string) ([]Probe, error) {
	notes, err := f.notes()
	if err != nil {
		return nil, err
	}
	var probes []Probe
	for _, n := range notes {
		if n.provider != provider || n.name != name {
			continue
		}
		p := Probe{Provider: provider, Name: name, Addr: n.pc}
		if p.Offset, err = f.offset(n.pc, true); err != nil {
			return nil, fmt.Errorf("static probe '%s:%s': %w", provider, name, err)
		}
		if n.semaphore != 0 {
			if p.RefCtr, err = f.offset(n.semaphore, false); err != nil {
				return nil, fmt.Errorf("semaphore of static probe '%s:%s': %w", provider, name, err)
			}
		}
		p.Args = f.parseArgs(n.args, p)
		probes = append(probes, p)
	}
	if len(probes) == 0 {
		return nil, fmt.Errorf("static probe '%s:%s': %w", provider, name, ErrNotFound)
	}
	slices.SortFunc(probes, func(a, b Probe) int { return int(min(max(int64(a.Addr-b.Addr), -1), 1)) })
	return slices.CompactFunc(probes, func(a, b Probe) bool { return a.Addr == b.Addr }), nil
}

// Probes returns the static probes of the file as "provider:name", each once,
// sorted; none if it has none.
func (f *File) Probes() ([]string, error) {
	notes, err := f.notes()
	if err != nil {
		return nil, err
	}
	list := make([]string, 0, len(notes))
	for _, n := range notes {
		list = append(list, n.provider+":"+n.name)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// NearUSDT returns the static probe, as "provider:name", that a misspelt one
// was most likely meant to be, and whether there is one.
func (f *File) NearUSDT(provider, name string) (string, bool) {
	list, err := f.Probes()
	if err != nil {
		return "", false
	}
	if near, ok := diag.Near(provider+":"+name, list); ok {
		return near, true
	}
	for _, p := range list { // the right name under another provider
		if strings.HasSuffix(p, ":"+name) {
			return p, true
		}
	}
	return "", false
}
