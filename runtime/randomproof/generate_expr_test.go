package randomproof

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/eptrace/ep/lang/types"
)

func sortRefs(list []*ref) {
	slices.SortFunc(list, func(a, b *ref) int { return strings.Compare(a.form, b.form) })
}

// numbers are the refs that may be computed with.
func numbers(refs []*ref) (list []*ref) {
	for _, r := range refs {
		if plainInt(r.t) {
			list = append(list, r)
		}
	}
	return list
}

// number makes a number of what there is; nil if there is none.
func (g *generator) number(refs []*ref, depth int) expr {
	list := numbers(refs)
	if len(list) == 0 {
		return nil
	}
	r := pick(g, list)
	if depth == 0 {
		return r
	}
	switch g.IntN(8) {
	case 0:
		return &minus{r}
	case 1:
		return &cast{r, g.otherPlain()}
	case 2:
		return &masked{x: r, m: g.mask(r.t)}
	case 3:
		width := 1 + g.IntN(8)
		return &bitsOf{r, g.IntN(8*types.Size(r.t) - width + 1), width}
	case 4:
		return &binary{"/", g.number(refs, depth-1), g.literal(u64, 1+g.Int64N(20))}
	case 5:
		return &binary{pick(g, []string{"+", "-"}), g.number(refs, depth-1), g.number(refs, depth-1)}
	case 6:
		return &binary{pick(g, []string{"+", "-", "*"}), g.number(refs, depth-1), g.literal(u64, 1+g.Int64N(9))}
	}
	return &binary{"*", g.number(refs, depth-1), g.number(refs, 0)}
}

func (g *generator) otherPlain() types.Type {
	return pick(g, []types.Type{u8, u32, u64, s32, s64, types.Int{Size: 2}})
}

// mask is a constant of one or two bits.
func (g *generator) mask(t types.Type) *literal {
	n := int64(1) << g.IntN(min(8*types.Size(t)-1, 12))
	if g.in(2) {
		n |= 3
	}
	return g.literal(t, n)
}

// literal is a constant, perhaps by a name.
func (g *generator) literal(t types.Type, n int64) *literal {
	l := &literal{n: big.NewInt(n), t: untyped, form: fmt.Sprint(n)}
	switch {
	case n >= 0 && g.in(4):
		l.form = fmt.Sprintf("0x%x", n)
	case n >= 1024 && n%1024 == 0:
		l.form = fmt.Sprintf("%dKiB", n/1024)
	}
	if g.in(8) {
		g.consts++
		l.name, l.kind = fmt.Sprintf("c%d", g.consts), pick(g, []string{"const", "param"})
	}
	return l
}

// within reports whether a constant fits the type that it stands opposite, and is
// not at its ends, where a comparison says nothing.
func within(t types.Type, n int64) bool {
	least, most := types.Bounds(t)
	return n > least && (n < 0 || uint64(n) < most)
}

// constant is one that a value of type t is compared with.
func (g *generator) constant(t types.Type) *literal {
	for {
		n := pick(g, small)
		if types.Signed(t) && g.in(4) {
			n = -n
		}
		if within(t, n) {
			return g.literal(t, n)
		}
	}
}

// condition makes a condition about what there is.
func (g *generator) condition(refs []*ref, depth int) condition {
	if depth > 0 {
		switch g.IntN(5) {
		case 0:
			return &both{"&&", g.condition(refs, depth-1), g.condition(refs, depth-1)}
		case 1:
			return &both{"||", g.condition(refs, depth-1), g.condition(refs, depth-1)}
		case 2:
			return &not{g.condition(refs, depth-1)}
		}
	}
	for range 10 {
		r := pick(g, refs)
		if c := g.about(r, refs); c != nil {
			return c
		}
	}
	for _, r := range refs {
		if plainInt(r.t) {
			return &comparison{"!=", r, g.constant(r.t)}
		}
	}
	return &comparison{">=", &ref{form: "%$cpu", t: u32}, g.literal(u32, 1)}
}

var comparisons = []string{"==", "!=", "<", "<=", ">", ">="}

// about makes a condition about r, nil if there is no good one.
func (g *generator) about(r *ref, refs []*ref) condition {
	switch t := r.t.(type) {
	case types.String:
		texts := []string{"/tmp/random/alpha", "beta.txt", "alpha", workerComm}
		if g.in(2) {
			return &comparison{pick(g, []string{"==", "!="}), r, &literal{t: str, form: fmt.Sprintf("%q", pick(g, texts))}}
		}
		return &like{r, pick(g, []string{"/tmp/*", "*a*", "*.txt", "al*", "random*", "*/none"})}
	case types.Duration:
		if r.self() == "$time" {
			return nil
		}
		long := &literal{n: big.NewInt(100e9), t: ns, form: "100s"}
		return &comparison{pick(g, []string{"<", "<=", "!="}), r, long}
	case types.Int:
		if !plainInt(t) {
			return nil
		}
	default:
		return nil
	}
	switch g.IntN(6) {
	case 0:
		var set [][2]*literal
		for range 1 + g.IntN(3) {
			a, b := g.constant(r.t), g.constant(r.t)
			switch a.n.Cmp(b.n) {
			case -1:
				set = append(set, [2]*literal{a, b})
			default:
				set = append(set, [2]*literal{a, nil})
			}
		}
		return &member{r, set}
	case 1:
		if r.self() != "$cpu" { // bits of which no kernel tests
			return &masked{x: r, m: g.mask(r.t), cond: true}
		}
	case 2:
		for _, o := range g.shuffled(refs) {
			if o.t == r.t && o.form != r.form && !o.memory() && !r.memory() {
				ops := []string{"==", "!="}
				if types.Size(r.t) <= 4 {
					ops = comparisons
				}
				return &comparison{pick(g, ops), r, o}
			}
		}
	}
	return &comparison{pick(g, comparisons), r, g.constant(r.t)}
}
