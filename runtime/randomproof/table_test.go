package randomproof

import (
	"encoding/json"
	"math/big"
	"strings"

	"github.com/eptrace/ep/lang/types"
)

// row is a row that a histogram must have: the keys, what was counted, and sums.
type row struct {
	keys   []slot
	count  int
	values []value
}

// slot is a key: a value, or a range of numbers.
type slot struct {
	v      value
	lo, hi *big.Int // of log2 and bucket
	open   bool     // a range that has no least number
}

func (s slot) key() string {
	if s.lo != nil {
		return s.lo.String() + ".." + s.hi.String()
	}
	return s.v.key()
}

// rows returns the rows of a table, or open if the model cannot tell.
func (m *meaning) rows(s *script, t *table) (list []*row, open bool) {
	hits, open := m.stage(t.of)
	if open {
		return nil, true
	}
	acts, open := m.turns(s, t.name)
	if open {
		return nil, true
	}
	found := map[string]*row{}
	for _, h := range hits {
		kept := during([]*occurrence{{seq: h.seq, sure: h.sure}}, t.paused, acts)
		if len(kept) == 0 {
			continue
		}
		if kept[0].sure == maybe {
			return nil, true
		}
		var keys []slot
		name := ""
		for _, k := range t.keys {
			sl, ok := k.slotOf(k.x.eval(&h.env))
			if !ok {
				return nil, true
			}
			keys = append(keys, sl)
			name += sl.key() + "|"
		}
		r := found[name]
		if r == nil {
			r = &row{keys: keys}
			for _, v := range t.values {
				r.values = append(r.values, number(sumType(v.x.typ()), 0))
			}
			found[name] = r
			list = append(list, r)
		}
		r.count++
		for i, v := range t.values {
			x := v.x.eval(&h.env)
			if x.fault {
				return nil, true
			}
			r.values[i] = arithmetic("+", r.values[i], x, sumType(v.x.typ()))
		}
	}
	return list, false
}

// sumType is what sums of values of type t are.
func sumType(t types.Type) types.Type {
	if d, ok := t.(types.Duration); ok {
		d.Size = 8
		return d
	}
	return types.Int{Size: 8, Signed: types.Signed(t)}
}

// slotOf is the slot that a value is in: powers of two, each with the numbers
// above the one before, the first with all up to 1; ranges of a width begin at 0.
func (k *tableKey) slotOf(v value) (slot, bool) {
	if !v.known() {
		return slot{}, false
	}
	v.t = k.x.typ()
	one := big.NewInt(1)
	switch k.slot {
	case "log2":
		if v.lo.Cmp(one) <= 0 {
			return slot{v: v, lo: new(big.Int), hi: one, open: types.Signed(v.t)}, true
		}
		n := uint(new(big.Int).Sub(v.lo, one).BitLen())
		hi := new(big.Int).Lsh(one, n)
		lo := new(big.Int).Add(new(big.Int).Rsh(hi, 1), one)
		return slot{v: v, lo: lo, hi: hi}, true
	case "bucket":
		if v.lo.Sign() < 0 {
			return slot{}, false // the reference does not say where ranges below 0 begin
		}
		w := big.NewInt(k.width)
		lo := new(big.Int).Mul(floor(v.lo, w), w)
		return slot{v: v, lo: lo, hi: new(big.Int).Sub(new(big.Int).Add(lo, w), one)}, true
	}
	v.str = strings.TrimRight(v.str, " ")
	return slot{v: v}, true
}

// matches reports whether a key of a row of JSON is the slot.
func (s slot) matches(raw json.RawMessage) bool {
	if s.lo == nil {
		return matches(s.v, raw)
	}
	var ends [2]json.RawMessage
	if json.Unmarshal(raw, &ends) != nil {
		return false
	}
	least := string(ends[0]) == "null" && s.open || !s.open && string(ends[0]) == s.lo.String()
	return least && string(ends[1]) == s.hi.String()
}
