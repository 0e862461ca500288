package joinproof

import (
	"cmp"
	"encoding/binary"
	"os"
	"slices"
	"strconv"
	"strings"
)

// symbol is a line of /proc/kallsyms.
type symbol struct {
	addr uint64
	name string
}

// symbols names the functions of a stack's addresses.
func symbols(m *machine, stack string) []string {
	table := kallsyms(m)
	var out []string
	for b := []byte(stack); len(b) >= 8; b = b[8:] {
		addr := binary.LittleEndian.Uint64(b)
		i, found := slices.BinarySearchFunc(table, addr, func(s symbol, a uint64) int { return cmp.Compare(s.addr, a) })
		if !found {
			i--
		}
		if i >= 0 {
			out = append(out, table[i].name)
		}
	}
	return out
}

// kallsyms returns the kernel's functions by address.
func kallsyms(m *machine) []symbol {
	data, err := os.ReadFile("/proc/kallsyms")
	if err != nil {
		m.g.Fatalf("%v", err)
	}
	var table []symbol
	for line := range strings.SplitSeq(string(data), "\n") {
		f := strings.Fields(line)
		if len(f) < 3 || !strings.ContainsAny(f[1], "tT") {
			continue
		}
		addr, err := strconv.ParseUint(f[0], 16, 64)
		if err != nil {
			m.g.Fatalf("%v", err)
		}
		table = append(table, symbol{addr, f[2]})
	}
	slices.SortStableFunc(table, func(a, b symbol) int { return cmp.Compare(a.addr, b.addr) })
	return table
}
