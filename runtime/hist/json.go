package hist

import (
	"strconv"

	"github.com/eptrace/ep/lang/types"
	"github.com/eptrace/ep/runtime/events"
)

// JSONVersion is the version of the objects that AppendJSON writes. It goes up
// when a field changes its meaning or goes; new fields may come without.
const JSONVersion = 1

// AppendJSON appends the table as one line of JSON, which docs/output.md
// describes. Keys are as in records; n names numbers.
func (t *Table) AppendJSON(dst []byte, n *events.Names) []byte {
	dst = events.AppendJSONString(append(dst, `{"table":`...), []byte(t.Name))
	dst = appendCount(dst, "version", JSONVersion)
	dst = appendCount(dst, "hits", t.Hits)
	dst = appendCount(dst, "dropped", t.Dropped)
	dst = appendCount(dst, "size", uint64(t.Size))
	if t.Paused {
		dst = append(dst, `,"paused":true`...)
	}
	if t.Unread > 0 {
		dst = appendCount(dst, "unread", uint64(t.Unread))
	}
	if t.Left > 0 {
		dst = appendCount(dst, "left", uint64(t.Left))
		dst = appendCount(dst, "leftCount", t.LeftCount)
	}
	dst = appendColumns(append(dst, `,"keys":[`...), t.Keys)
	dst = appendColumns(append(dst, `],"values":[`...), t.Values)
	dst = append(dst, `],"rows":[`...)
	for i := range t.Rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = t.Rows[i].appendJSON(dst, n)
	}
	return append(dst, "]}\n"...)
}

func appendCount(dst []byte, name string, n uint64) []byte {
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return strconv.AppendUint(dst, n, 10)
}

func appendColumns(dst []byte, columns []Column) []byte {
	for i := range columns {
		c := &columns[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = events.AppendJSONString(append(dst, `{"name":`...), []byte(c.Name))
		dst = events.AppendJSONString(append(dst, `,"type":`...), []byte(c.Type.String()))
		switch c.Slots {
		case Log2:
			dst = append(dst, `,"slots":"log2"`...)
		case Width:
			dst = appendCount(append(dst, `,"slots":"bucket"`...), "width", c.Width)
		}
		if c.Mean {
			dst = append(dst, `,"mean":true`...)
		}
		dst = append(dst, '}')
	}
	return dst
}

func (r *Row) appendJSON(dst []byte, n *events.Names) []byte {
	dst = append(dst, `{"keys":{`...)
	for i := range r.Keys {
		c := &r.table.Keys[i]
		dst = appendName(dst, c, i)
		dst = c.appendJSON(dst, &r.Keys[i], n)
	}
	dst = append(dst, `},"count":`...)
	dst = strconv.AppendUint(dst, r.Count, 10)
	dst = append(dst, `,"values":{`...)
	for i := range r.Values {
		c := &r.table.Values[i]
		dst = appendName(dst, c, i)
		if c.Mean {
			dst = strconv.AppendFloat(dst, r.number(i), 'g', -1, 64)
		} else {
			dst = c.shape.AppendJSON(dst, events.Value{Num: r.Values[i].Sum}, n)
		}
	}
	return append(dst, "}}"...)
}

func appendName(dst []byte, c *Column, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return append(events.AppendJSONString(dst, []byte(c.Name)), ':')
}

// appendJSON appends a key.
func (c *Column) appendJSON(dst []byte, k *Key, n *events.Names) []byte {
	if c.Slots == Each {
		return c.shape.AppendJSON(dst, c.value(k), n)
	}
	dst = append(dst, '[')
	if c.open(k) {
		dst = append(dst, "null"...)
	} else {
		dst = c.appendNumber(dst, k.Num)
	}
	return append(c.appendNumber(append(dst, ','), k.Last), ']')
}

func (c *Column) appendNumber(dst []byte, n uint64) []byte {
	if types.Signed(c.Type) {
		return strconv.AppendInt(dst, int64(n), 10)
	}
	return strconv.AppendUint(dst, n, 10)
}
