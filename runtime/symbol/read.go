package symbol

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// entry is one symbol while the list is read.
type entry struct {
	addr       uint64
	start, end uint32 // of its name
}

// read reads kallsyms:
//
//	LINE := ADDRESS " " TYPE " " NAME ["\t[" MODULE "]"] "\n"
//
// The kernel's own symbols come in order of their addresses, those of modules
// and of BPF programs behind them in no order.
func read(proc fs.FS) (list, error) {
	f, err := proc.Open("kallsyms")
	if err != nil {
		return list{}, fmt.Errorf("open kallsyms: %w", err)
	}
	defer f.Close()
	entries, names, err := scan(f)
	if err != nil {
		return list{}, fmt.Errorf("read kallsyms: %w", err)
	}
	if len(entries) == 0 {
		return list{}, ErrHidden
	}
	// Of those at one address the first of the file stays first.
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.addr, b.addr) })
	entries = slices.CompactFunc(entries, func(a, b entry) bool { return a.addr == b.addr })
	l := list{addrs: make([]uint64, len(entries)), ends: make([]uint32, len(entries))}
	size := 0
	for _, e := range entries {
		size += int(e.end - e.start)
	}
	var b strings.Builder
	b.Grow(size)
	for i, e := range entries {
		b.Write(names[e.start:e.end])
		l.addrs[i], l.ends[i] = e.addr, uint32(b.Len())
	}
	l.names = b.String()
	return l, nil
}

// builtin begins what stands for a module with the kernel's own pieces of text,
// such as trampolines.
const builtin = "__builtin__"

// maxNames bounds the bytes of all names, so that their places fit in 32 bits
// and a file that is none costs no memory without end.
const maxNames = 256 << 20

// scan reads the entries that have an address. Absolute symbols are no
// addresses, but offsets into the data of each CPU.
func scan(r io.Reader) (entries []entry, names []byte, err error) {
	entries = make([]entry, 0, 1<<17)
	names = make([]byte, 0, 2<<20)
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, nil, err // a line of 64 KiB among them
		}
		if addr, kind, name, module, ok := parseLine(line); ok && addr != 0 && kind != 'a' && kind != 'A' {
			if len(names) > maxNames {
				return nil, nil, errors.New("too many symbols")
			}
			start := uint32(len(names))
			if len(module) > 0 && !bytes.HasPrefix(module, []byte(builtin)) {
				names = append(append(names, module...), ':')
			}
			names = append(names, name...)
			entries = append(entries, entry{addr, start, uint32(len(names))})
		}
		if err != nil {
			return entries, names, nil
		}
	}
}

// parseLine takes a line apart.
func parseLine(line []byte) (addr uint64, kind byte, name, module []byte, ok bool) {
	i := 0
	for ; i < len(line) && i < 16; i++ {
		d := digit(line[i])
		if d > 15 {
			break
		}
		addr = addr<<4 | uint64(d)
	}
	if i == 0 || len(line) < i+4 || line[i] != ' ' || line[i+2] != ' ' {
		return 0, 0, nil, nil, false
	}
	kind = line[i+1]
	name, module, _ = bytes.Cut(bytes.TrimRight(line[i+3:], "\n"), []byte("\t"))
	return addr, kind, name, bytes.Trim(module, "[] "), len(name) > 0
}

// digit returns the value of a hexadecimal digit, more than 15 if c is none.
func digit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 16
}
