package randomproof

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/eptrace/ep/lang/types"
)

// value is what the model knows of a value: a number that is not below lo and
// not above hi (mostly one number), or a text. Of a value that it does not know
// both are nil, and text is false.
type value struct {
	t      types.Type
	lo, hi *big.Int
	text   bool
	str    string
	fault  bool // what should be read cannot be
	either bool // what can be read may not be in memory then: docs/language.md, "When memory is read"
}

func number(t types.Type, n int64) value { return exactly(t, big.NewInt(n)) }

func unsigned(t types.Type, n uint64) value { return exactly(t, new(big.Int).SetUint64(n)) }

func exactly(t types.Type, n *big.Int) value { return value{t: t, lo: n, hi: n} }

func between(t types.Type, lo, hi int64) value {
	return value{t: t, lo: big.NewInt(lo), hi: big.NewInt(hi)}
}

func text(s string) value { return value{t: types.String{}, text: true, str: s} }

func unknown(t types.Type) value { return value{t: t} }

// known reports whether v is one number, or a text.
func (v value) known() bool {
	return !v.fault && !v.either && (v.text || v.lo != nil && v.lo.Cmp(v.hi) == 0)
}

func (v value) ranged() bool { return v.lo != nil && !v.fault }

func (v value) String() string {
	switch {
	case v.fault:
		return "a fault"
	case v.text && v.either:
		return fmt.Sprintf("%q or a fault", v.str)
	case v.text:
		return fmt.Sprintf("%q", v.str)
	case v.lo == nil:
		return "anything"
	case v.known():
		return v.lo.String()
	}
	return v.lo.String() + ".." + v.hi.String()
}

// key is what tells values apart that are compared for being the same.
func (v value) key() string {
	if v.text {
		return "t" + v.str
	}
	return v.lo.String()
}

// fits returns the number that t keeps of n: its low bits, taken with t's sign.
func fits(n *big.Int, size int, signed bool) *big.Int {
	bits := uint(8 * size)
	m := new(big.Int).Lsh(big.NewInt(1), bits)
	r := new(big.Int).Mod(n, m) // never below 0
	if signed && r.Bit(int(bits)-1) == 1 {
		r.Sub(r, m)
	}
	return r
}

// as is v with type t. A range of numbers of which t keeps not all is unknown.
func (v value) as(t types.Type) value {
	v.t = t
	if v.lo == nil {
		return v
	}
	lo, hi := fits(v.lo, types.Size(t), types.Signed(t)), fits(v.hi, types.Size(t), types.Signed(t))
	if v.lo.Cmp(v.hi) != 0 && (lo.Cmp(v.lo) != 0 || hi.Cmp(v.hi) != 0) {
		return unknown(t)
	}
	v.lo, v.hi = lo, hi
	return v
}

// each applies f, which keeps the order of numbers, to both ends.
func (v value) each(f func(n *big.Int) *big.Int) value {
	if v.lo != nil {
		v.lo, v.hi = f(v.lo), f(v.hi)
	}
	return v
}

// floor is a/b, rounded down.
func floor(a, b *big.Int) *big.Int {
	q, m := new(big.Int).QuoRem(a, b, new(big.Int))
	if m.Sign() != 0 && (m.Sign() < 0) != (b.Sign() < 0) {
		q.Sub(q, big.NewInt(1))
	}
	return q
}

// convert is `v as t`.
func (v value) convert(t types.Type) value {
	if v.text || v.fault {
		v.t = t
		return v
	}
	if to, ok := t.(types.Duration); ok {
		from, isDuration := v.t.(types.Duration)
		if !isDuration { // a plain number is marked as one
			to.Size, to.Signed = types.Size(v.t), types.Signed(v.t)
			v.t = to
			return v
		}
		to.Signed = from.Signed
		a, b := new(big.Int).SetUint64(from.Unit.NS()), new(big.Int).SetUint64(to.Unit.NS())
		return v.each(func(n *big.Int) *big.Int { return floor(new(big.Int).Mul(n, a), b) }).as(to)
	}
	if to, ok := t.(types.Int); ok && (to.Form == types.BE || to.Form == types.IP) {
		if from, ok := v.t.(types.Int); !ok || from.Form != to.Form {
			v = v.as(types.Int{Size: to.Size})
			if !v.known() {
				return unknown(t)
			}
			return exactly(t, swapped(v.lo, to.Size))
		}
	}
	if from, ok := v.t.(types.Int); ok && (from.Form == types.BE || from.Form == types.IP) {
		if to, ok := t.(types.Int); ok && to.Form != types.BE && to.Form != types.IP && v.known() {
			return exactly(t, swapped(v.lo, from.Size)).as(t) // as it lies in memory
		}
	}
	return v.as(t)
}

// swapped is n, of size bytes, with the bytes in the other order.
func swapped(n *big.Int, size int) *big.Int {
	b := n.FillBytes(make([]byte, size))
	for i, j := 0, size-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return new(big.Int).SetBytes(b)
}

// inNS is a duration, or a number, in the finest unit.
func (v value) inNS() value {
	d, ok := v.t.(types.Duration)
	if !ok {
		return v
	}
	u := new(big.Int).SetUint64(d.Unit.NS())
	return v.each(func(n *big.Int) *big.Int { return new(big.Int).Mul(n, u) })
}

// arithmeticType is the type of `x op y`: docs/language.md, "Types".
func arithmeticType(op string, x, y types.Type) types.Type {
	signed := types.Signed(x) || types.Signed(y)
	dx, durX := x.(types.Duration)
	dy, durY := y.(types.Duration)
	switch {
	case durX && durY && op == "/":
		return types.Int{Size: 8, Signed: signed}
	case durX && durY:
		return types.Duration{Unit: min(dx.Unit, dy.Unit), Size: 8, Signed: signed}
	case durX:
		return types.Duration{Unit: dx.Unit, Size: 8, Signed: signed}
	case durY:
		return types.Duration{Unit: dy.Unit, Size: 8, Signed: signed}
	}
	return types.Int{Size: 8, Signed: signed}
}

// arithmetic is `x op y`, computed with 64 bits.
func arithmetic(op string, x, y value, t types.Type) value {
	if x.fault || y.fault {
		return value{t: t, fault: true}
	}
	if !x.ranged() || !y.ranged() {
		return unknown(t)
	}
	if _, both := x.t.(types.Duration); both {
		if _, both = y.t.(types.Duration); both {
			x, y = x.inNS(), y.inNS()
			if d, ok := t.(types.Duration); ok { // in the finer unit of the two
				u := new(big.Int).SetUint64(d.Unit.NS())
				down := func(n *big.Int) *big.Int { return floor(n, u) }
				x, y = x.each(down), y.each(down)
			}
		}
	}
	var out value
	switch op {
	case "+":
		out = value{t: t, lo: new(big.Int).Add(x.lo, y.lo), hi: new(big.Int).Add(x.hi, y.hi)}
	case "-":
		out = value{t: t, lo: new(big.Int).Sub(x.lo, y.hi), hi: new(big.Int).Sub(x.hi, y.lo)}
	case "*", "/":
		out = value{t: t}
		for _, a := range []*big.Int{x.lo, x.hi} {
			for _, b := range []*big.Int{y.lo, y.hi} {
				if op == "/" && (y.lo.Sign() <= 0 && y.hi.Sign() >= 0) {
					return unknown(t)
				}
				n := new(big.Int).Mul(a, b)
				if op == "/" {
					n = floor(a, b)
				}
				if out.lo == nil || n.Cmp(out.lo) < 0 {
					out.lo = n
				}
				if out.hi == nil || n.Cmp(out.hi) > 0 {
					out.hi = n
				}
			}
		}
	default:
		panic("internal error: operator " + op)
	}
	return out.as(t)
}

// truth is what is known of a condition.
type truth uint8

const (
	never  truth = iota // false
	always              // true
	maybe               // the model does not know
)

func truthOf(b bool) truth {
	if b {
		return always
	}
	return never
}

func (a truth) and(b truth) truth {
	switch {
	case a == never || b == never:
		return never
	case a == always && b == always:
		return always
	}
	return maybe
}

func (a truth) not() truth {
	switch a {
	case never:
		return always
	case always:
		return never
	}
	return maybe
}

func (a truth) or(b truth) truth { return a.not().and(b.not()).not() }

// compare is `x op y`. A value that could not be read makes it false.
func compare(op string, x, y value) truth {
	switch {
	case x.fault || y.fault:
		return never
	case x.either || y.either:
		return maybe
	case x.text && y.text:
		return truthOf((x.str == y.str) == (op == "=="))
	case !x.ranged() || !y.ranged():
		return maybe
	}
	x, y = x.inNS(), y.inNS()
	less := func(a, b value) truth {
		if a.hi.Cmp(b.lo) < 0 {
			return always
		}
		if a.lo.Cmp(b.hi) >= 0 {
			return never
		}
		return maybe
	}
	same := maybe
	switch {
	case x.known() && y.known():
		same = truthOf(x.lo.Cmp(y.lo) == 0)
	case x.hi.Cmp(y.lo) < 0 || y.hi.Cmp(x.lo) < 0:
		same = never
	}
	switch op {
	case "==":
		return same
	case "!=":
		return same.not()
	case "<":
		return less(x, y)
	case ">":
		return less(y, x)
	case "<=":
		return less(y, x).not()
	case ">=":
		return less(x, y).not()
	}
	panic("internal error: comparison " + op)
}

// globbed is `s ~ "pattern"`: '*' is any text.
func globbed(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(s, parts[0]) {
		return false
	}
	s = s[len(parts[0]):]
	if len(parts) == 1 {
		return s == ""
	}
	for _, p := range parts[1 : len(parts)-1] {
		_, after, ok := strings.Cut(s, p)
		if !ok {
			return false
		}
		s = after
	}
	return strings.HasSuffix(s, parts[len(parts)-1])
}
