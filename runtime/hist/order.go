package hist

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/eptrace/ep/lang/types"
)

// builder gathers rows. Texts that come often, as functions of stacks do, are
// kept once; what a row is read into is used again for the next.
type builder struct {
	texts  map[string]string
	rows   map[string]int // index in Table.Rows, by the bytes of the keys
	row    Row
	keys   []Key
	vals   []Value
	frames []string
	id     []byte
}

func (b *builder) begin(t *Table) {
	if b.rows == nil {
		b.texts, b.rows = map[string]string{}, map[string]int{}
	}
}

func (b *builder) intern(text []byte) string {
	if s, ok := b.texts[string(text)]; ok {
		return s
	}
	s := string(text)
	b.texts[s] = s
	return s
}

// add puts a row into the table, or its counts to those of a row with equal
// keys: what follows a NUL in a text is part of the key for the kernel, but is
// not shown.
func (t *Table) add(r *Row, b *builder) {
	b.id = b.id[:0]
	for i := range r.Keys {
		b.id = r.Keys[i].appendID(b.id)
	}
	if i, ok := b.rows[string(b.id)]; ok {
		same := &t.Rows[i]
		same.Count += r.Count
		for i := range r.Values {
			same.Values[i].Sum += r.Values[i].Sum
		}
		return
	}
	b.rows[string(b.id)] = len(t.Rows)
	row := Row{Keys: slices.Clone(r.Keys), Count: r.Count, Values: slices.Clone(r.Values), table: t}
	for i := range row.Keys {
		row.Keys[i].Stack = slices.Clone(row.Keys[i].Stack)
	}
	t.Rows = append(t.Rows, row)
}

// appendID appends bytes that are equal for equal keys alone.
func (k *Key) appendID(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, k.Num)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(k.Text)))
	dst = append(dst, k.Text...)
	for _, frame := range k.Stack {
		dst = append(append(dst, frame...), '\n')
	}
	return append(dst, 0)
}

// slot returns the index of the first key that has slots, -1 if none has.
func (t *Table) slot() int {
	return slices.IndexFunc(t.Keys, func(c Column) bool { return c.Slots != Each })
}

// order sorts the rows as the script says. If it does not: the greatest count
// first. Of a table with slots that is the count of all slots of the other
// keys, and its slots follow each other. Equal ones are in the order of their
// keys.
func (t *Table) order() {
	slot := t.slot()
	unsorted := len(t.sort) == 0
	if slot >= 0 {
		t.addTotals(slot)
	}
	slices.SortFunc(t.Rows, func(a, b Row) int {
		for _, s := range t.sort {
			c := t.compare(&a, &b, s.Name)
			if s.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		if unsorted {
			c := cmp.Compare(b.Count, a.Count)
			if slot >= 0 {
				c = cmp.Compare(b.total, a.total)
			}
			if c != 0 {
				return c
			}
		}
		for i := range t.Keys {
			if i != slot {
				if c := compareKeys(&t.Keys[i], &a.Keys[i], &b.Keys[i]); c != 0 {
					return c
				}
			}
		}
		if slot >= 0 {
			return compareKeys(&t.Keys[slot], &a.Keys[slot], &b.Keys[slot])
		}
		return 0
	})
}

// addTotals sets the total of each row.
func (t *Table) addTotals(slot int) {
	totals := map[string]uint64{}
	for i := range t.Rows {
		totals[t.Rows[i].group(slot)] += t.Rows[i].Count
	}
	for i := range t.Rows {
		t.Rows[i].total = totals[t.Rows[i].group(slot)]
	}
}

// group returns what is equal for rows that differ by their slot alone.
func (r *Row) group(slot int) string {
	var id []byte
	for i := range r.Keys {
		if i != slot {
			id = r.Keys[i].appendID(id)
		}
	}
	return string(id)
}

// compare compares two rows by one column, or by "count".
func (t *Table) compare(a, b *Row, name string) int {
	if i := find(t.Keys, name); i >= 0 {
		return compareKeys(&t.Keys[i], &a.Keys[i], &b.Keys[i])
	}
	if i := find(t.Values, name); i >= 0 {
		if !t.Values[i].Mean {
			return compareNumbers(types.Signed(t.Values[i].Type), a.Values[i].Sum, b.Values[i].Sum)
		}
		return cmp.Compare(a.number(i), b.number(i))
	}
	return cmp.Compare(a.Count, b.Count)
}

func compareKeys(c *Column, a, b *Key) int {
	switch c.Type.(type) {
	case types.String:
		return strings.Compare(a.Text, b.Text)
	case types.Stack:
		return slices.Compare(a.Stack, b.Stack)
	}
	return compareNumbers(types.Signed(c.Type), a.Num, b.Num)
}

func compareNumbers(signed bool, a, b uint64) int {
	if signed {
		return cmp.Compare(int64(a), int64(b))
	}
	return cmp.Compare(a, b)
}
