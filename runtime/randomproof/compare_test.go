package randomproof

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/eptrace/ep/lang/types"
)

// matches reports whether a value of a line of JSON is v: docs/output.md.
func matches(v value, raw json.RawMessage) bool {
	null := string(raw) == "null"
	switch {
	case v.fault:
		return null
	case null && v.either:
		return true
	case null:
		return false
	case !v.text && v.lo == nil:
		return true
	}
	if v.text {
		var s string
		return json.Unmarshal(raw, &s) == nil && s == v.str
	}
	t := v.t
	if i, ok := t.(types.Int); ok {
		switch i.Form {
		case types.Dec, types.BE, types.Errno:
		case types.Sysnr, types.Ksym:
			return true
		default:
			var s string
			return v.known() && json.Unmarshal(raw, &s) == nil && s == shownJSON(i, v.lo)
		}
	}
	if _, ok := t.(types.Bool); ok {
		return string(raw) == strconv.FormatBool(v.lo.Sign() != 0)
	}
	n, ok := new(big.Int).SetString(string(raw), 10)
	return ok && n.Cmp(v.lo) >= 0 && n.Cmp(v.hi) <= 0
}

// shownJSON is a number of a form that is a string in JSON.
func shownJSON(t types.Int, n *big.Int) string {
	if t.Form == types.Char {
		b := byte(n.Uint64())
		if b >= 0x80 {
			return "\ufffd"
		}
		return string(rune(b))
	}
	return shown(t, n)
}

// shown is a number as a person reads it.
func shown(t types.Type, n *big.Int) string {
	i, ok := t.(types.Int)
	if !ok {
		return n.String()
	}
	v := fits(n, 8, false).Uint64()
	switch i.Form {
	case types.Hex:
		return "0x" + fits(n, i.Size, false).Text(16)
	case types.IP:
		return fmt.Sprintf("%d.%d.%d.%d", v>>24&0xff, v>>16&0xff, v>>8&0xff, v&0xff)
	case types.Errno:
		if n.Sign() < 0 && n.Int64() > -4096 {
			if name := unix.ErrnoName(unix.Errno(-n.Int64())); name != "" {
				return "-" + name
			}
		}
	case types.Dev:
		return fmt.Sprintf("%d:%d", v>>20&0xfff, v&0xfffff)
	}
	return n.String()
}

// line is a record as a guest showed it.
type line struct {
	JSON string
	Text string `json:",omitempty"` // of a trace with a form
}

// jsonRecord is a record's JSON.
type jsonRecord struct {
	Event  string
	Time   json.Number
	CPU    int
	TID    int
	Fields map[string]json.RawMessage
}

// compareTrace holds the records of a trace against what they must be, and
// returns what differs, "" if nothing does.
func (m *meaning) compareTrace(s *script, t *trace, got []line) (wrong string, compared int) {
	o := m.event(t.of)
	if o.open {
		return "", 0
	}
	acts, open := m.turns(s, t.of.name)
	if open {
		return "", 0
	}
	want := during(o.list, t.paused, acts)
	fields := t.of.fields
	i := 0
	for n, l := range got {
		var r jsonRecord
		d := json.NewDecoder(strings.NewReader(l.JSON))
		d.UseNumber()
		if err := d.Decode(&r); err != nil {
			return fmt.Sprintf("record %d is no JSON: %v: %s", n+1, err, l.JSON), n
		}
		if r.TID != m.world.facts.TID {
			return fmt.Sprintf("record %d is of thread %d, expected %d: %s", n+1, r.TID, m.world.facts.TID, l.JSON), n
		}
		why := "expected no more records"
		found := false
		for ; i < len(want); i++ {
			if why = t.differs(want[i], fields, &r, l, m.world); why == "" {
				found = true
				i++
				break
			}
			if want[i].sure == always {
				break
			}
		}
		if !found {
			return fmt.Sprintf("record %d of %d: %s\n  seen %s", n+1, len(got), why, l.JSON+l.Text), n
		}
	}
	for ; i < len(want); i++ {
		if want[i].sure == always {
			return fmt.Sprintf("%d records, expected another: %s", len(got), describe(want[i], fields)), len(got)
		}
	}
	return "", len(got)
}

func describe(o *occurrence, fields []*field) string {
	var list []string
	for _, f := range fields {
		list = append(list, f.name+"="+o.vals[f.name].String())
	}
	return fmt.Sprintf("of step %d: %s", o.step+1, strings.Join(list, " "))
}

// differs says how a record differs from what it must be, "" if it does not.
func (t *trace) differs(o *occurrence, fields []*field, r *jsonRecord, l line, w *world) string {
	for _, f := range fields {
		v := o.vals[f.name]
		v.t = f.typ()
		raw, ok := r.Fields[f.name]
		if !ok {
			return fmt.Sprintf("the record has no field %s", f.name)
		}
		if !matches(v, raw) {
			return fmt.Sprintf("%s: expected %s, seen %s (record %s)", f.name, v, raw, describe(o, fields))
		}
	}
	if at := o.vals["$time"]; w.timed && at.ranged() {
		n, err := r.Time.Int64()
		if err != nil || big.NewInt(n).Cmp(at.lo) < 0 || big.NewInt(n).Cmp(at.hi) > 0 {
			return fmt.Sprintf("time: expected %s, seen %s", at, r.Time)
		}
	}
	if r.CPU != w.facts.CPU {
		return fmt.Sprintf("CPU: expected %d, seen %d", w.facts.CPU, r.CPU)
	}
	if t.print != nil {
		if re := t.form(o); !re.MatchString(strings.TrimSuffix(l.Text, "\n")) {
			return fmt.Sprintf("printed: expected %s, seen %q", re, l.Text)
		}
	}
	return ""
}

// form is what a line of the trace's form must look like.
func (t *trace) form(o *occurrence) *regexp.Regexp {
	out := "^"
	for _, p := range t.print {
		if p.field == nil {
			out += regexp.QuoteMeta(p.text)
			continue
		}
		v := o.vals[p.field.name]
		v.t = p.field.typ()
		if p.to != nil && v.known() {
			v = v.convert(p.to)
		}
		_, isDuration := v.t.(types.Duration)
		i, isInt := v.t.(types.Int)
		switch {
		case v.fault:
			out += `\(fault\)`
		case v.known() && v.text:
			out += regexp.QuoteMeta(v.str)
		case v.known() && isDuration && p.to != nil:
			out += regexp.QuoteMeta(v.lo.String() + v.t.String())
		case v.known() && isInt && slices.Contains([]types.Form{types.Dec, types.Hex, types.BE, types.IP, types.Dev, types.Errno}, i.Form):
			out += regexp.QuoteMeta(shown(v.t, v.lo))
		default:
			out += ".*"
		}
	}
	return regexp.MustCompile(out + "$")
}

// jsonTable is a histogram's JSON.
type jsonTable struct {
	Table   string
	Dropped int
	Rows    []struct {
		Keys   map[string]json.RawMessage
		Count  int
		Values map[string]json.Number
	}
}

// compareTable holds the rows of a table against what they must be.
func (m *meaning) compareTable(s *script, t *table, got string) (wrong string, compared int) {
	want, open := m.rows(s, t)
	if open {
		return "", 0
	}
	var table jsonTable
	d := json.NewDecoder(bytes.NewReader([]byte(got)))
	d.UseNumber()
	if err := d.Decode(&table); err != nil {
		return fmt.Sprintf("the table is no JSON: %v: %s", err, got), 0
	}
	left := slices.Clone(want)
	for n, r := range table.Rows {
		i := slices.IndexFunc(left, func(w *row) bool {
			for k := range t.keys {
				if !w.keys[k].matches(r.Keys[t.keys[k].name]) {
					return false
				}
			}
			return true
		})
		if i < 0 {
			return fmt.Sprintf("row %d: no such row was expected\n  seen %s", n+1, got), n
		}
		w := left[i]
		left = slices.Delete(left, i, i+1)
		if w.count != r.Count {
			return fmt.Sprintf("row %d: expected a count of %d\n  seen %s", n+1, w.count, got), n
		}
		for k, v := range t.values {
			if !v.right(w.values[k], r.Count, r.Values[v.name]) {
				return fmt.Sprintf("row %d: %s: expected %s (of %d)\n  seen %s", n+1, v.name, w.values[k], w.count, got), n
			}
		}
	}
	if len(left) > 0 {
		var keys []string
		for _, k := range left[0].keys {
			keys = append(keys, k.v.String())
		}
		return fmt.Sprintf("expected another row, of %s\n  seen %s", strings.Join(keys, ", "), got), len(table.Rows)
	}
	return t.unsorted(&table), len(table.Rows)
}

func (v *tableValue) right(sum value, count int, got json.Number) bool {
	if !sum.ranged() {
		return true
	}
	if !v.mean {
		n, ok := new(big.Int).SetString(got.String(), 10)
		return ok && n.Cmp(sum.lo) >= 0 && n.Cmp(sum.hi) <= 0
	}
	f, err := got.Float64()
	lo, _ := new(big.Float).SetInt(sum.lo).Float64()
	hi, _ := new(big.Float).SetInt(sum.hi).Float64()
	lo, hi = lo/float64(count), hi/float64(count)
	slack := 1e-9 * max(1, lo, -lo, hi, -hi)
	return err == nil && f >= lo-slack && f <= hi+slack
}

// unsorted says where rows are not in the order that the script asks for.
func (t *table) unsorted(got *jsonTable) string {
	if t.sort != "count" {
		return ""
	}
	for i := 1; i < len(got.Rows); i++ {
		a, b := got.Rows[i-1].Count, got.Rows[i].Count
		if t.desc && a < b || !t.desc && a > b {
			return fmt.Sprintf("rows %d and %d are not sorted by count", i, i+1)
		}
	}
	return ""
}
