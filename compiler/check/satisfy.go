package check

import (
	"go/constant"
	"go/token"
	"strings"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/types"
)

// A condition that can never hold is a mistake that nothing else would show: the
// script runs and records nothing. Comparisons of one value with constants are
// weighed against each other: what all sides of an && leave to the value must not
// be nothing. That something always holds is that its opposite never does.

// outcome tells whether x is the same for all values, and what it is.
func outcome(x ir.Expr) (holds, known bool) {
	switch {
	case never(x, false):
		return false, true
	case never(x, true):
		return true, true
	}
	return false, false
}

// never reports whether x, or its opposite if negated, holds for no values.
func never(x ir.Expr, negated bool) bool {
	switch x := x.(type) {
	case *ir.Const:
		v, ok := constBool(x)
		return ok && v == negated
	case *ir.Unary:
		return x.Op == "!" && never(x.X, !negated)
	case *ir.Binary:
		if x.Op == "&&" != negated && (x.Op == "&&" || x.Op == "||") { // all must hold
			return never(x.X, negated) || never(x.Y, negated) || contradictory(all(x, negated, nil))
		}
		if x.Op == "&&" || x.Op == "||" {
			return never(x.X, negated) && never(x.Y, negated)
		}
	}
	return contradictory([]side{{x, negated}})
}

// side is a condition that must hold or, if negated, must not.
type side struct {
	x       ir.Expr
	negated bool
}

// all lists the conditions that must all hold for x to hold or, if negated, not
// to hold.
func all(x ir.Expr, negated bool, list []side) []side {
	switch v := x.(type) {
	case *ir.Unary:
		if v.Op == "!" {
			return all(v.X, !negated, list)
		}
	case *ir.Binary:
		if v.Op == "&&" && !negated || v.Op == "||" && negated {
			return all(v.Y, negated, all(v.X, negated, list))
		}
	}
	return append(list, side{x, negated})
}

// contradictory reports whether conditions on one of the values that they are
// about leave nothing of it.
func contradictory(list []side) bool {
	left := map[string]*rest{}
	for _, s := range list {
		var value ir.Expr
		switch x := s.x.(type) {
		case *ir.In:
			value = x.X
		case *ir.Binary:
			value = x.X
			if _, ok := value.(*ir.Const); ok {
				value = x.Y
			}
		default:
			continue
		}
		r := left[value.String()]
		if r == nil {
			r = newRest(value)
			left[value.String()] = r
		}
		if r.narrow(s) && r.empty() {
			return true
		}
	}
	return false
}

// rest is what conditions leave of a value: a range of numbers, or one text; in
// either case without some.
type rest struct {
	number      bool
	least, most constant.Value // of a number
	text        constant.Value // of a text that must be equal; nil: any
	longest     int            // bytes that a text has at most; 0: any
	textsDiffer bool           // no text is what is asked for
	without     []constant.Value
}

// nameOf is the name of a field or a value of the context, "" of all else.
func nameOf(x ir.Expr) string {
	switch x := x.(type) {
	case *ir.FieldRef:
		return x.Name
	case *ir.Context:
		return x.Kind.String()
	case *ir.Own:
		return nameOf(x.Field.Value)
	}
	return ""
}

func newRest(x ir.Expr) *rest {
	r := &rest{}
	switch t := x.Type().(type) {
	case types.String:
		r.longest = t.Cap
		if t.Cap == 16 && strings.HasSuffix(nameOf(x), "comm") { // a thread's name has its NUL (TASK_COMM_LEN)
			r.longest = 15
		}
	case types.Int:
		least, most := types.Bounds(t)
		r.number, r.least, r.most = true, constant.MakeInt64(least), constant.MakeUint64(most)
	case types.Duration: // its constants are in nanoseconds
		least, most := types.Bounds(t)
		unit := constant.MakeUint64(t.Unit.NS())
		r.number, r.least, r.most = true, constant.BinaryOp(constant.MakeInt64(least), token.MUL, unit), constant.BinaryOp(constant.MakeUint64(most), token.MUL, unit)
	}
	return r
}

// narrow takes away what s does not allow; false if it says nothing of that.
func (r *rest) narrow(s side) bool {
	switch x := s.x.(type) {
	case *ir.In:
		return r.number && !s.negated && r.within(x.Set)
	case *ir.Binary:
		k, ok := x.Y.(*ir.Const)
		op := x.Op
		if !ok {
			if k, ok = x.X.(*ir.Const); !ok {
				return false
			}
			op = flippedOps[op]
		}
		if s.negated {
			op = oppositeOps[op]
		}
		return r.compare(op, k.Value)
	}
	return false
}

var (
	flippedOps  = map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
	oppositeOps = map[string]string{"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
)

// within keeps the range that holds all members of a set.
func (r *rest) within(set []ir.Range) bool {
	least, most := set[0].Lo.Value, set[0].Lo.Value
	for _, m := range set {
		hi := m.Lo.Value
		if m.Hi != nil {
			hi = m.Hi.Value
		}
		if m.Lo.Value.Kind() != constant.Int || hi.Kind() != constant.Int {
			return false
		}
		if constant.Compare(m.Lo.Value, token.LSS, least) {
			least = m.Lo.Value
		}
		if constant.Compare(hi, token.GTR, most) {
			most = hi
		}
	}
	return r.compare(">=", least) && r.compare("<=", most)
}

func (r *rest) compare(op string, k constant.Value) bool {
	switch {
	case r.number && k.Kind() == constant.Int:
	case !r.number && k.Kind() == constant.String:
		switch op {
		case "==":
			r.textsDiffer = r.textsDiffer || r.longest > 0 && len(constant.StringVal(k)) > r.longest || r.text != nil && constant.Compare(r.text, token.NEQ, k)
			r.text = k
		case "!=":
			r.without = append(r.without, k)
		default:
			return false
		}
		return true
	default:
		return false
	}
	one := constant.MakeInt64(1)
	switch op {
	case "==":
		r.raise(k)
		r.lower(k)
	case "!=":
		r.without = append(r.without, k)
	case ">":
		r.raise(constant.BinaryOp(k, token.ADD, one))
	case ">=":
		r.raise(k)
	case "<":
		r.lower(constant.BinaryOp(k, token.SUB, one))
	case "<=":
		r.lower(k)
	default:
		return false
	}
	return true
}

func (r *rest) raise(k constant.Value) {
	if constant.Compare(k, token.GTR, r.least) {
		r.least = k
	}
}

func (r *rest) lower(k constant.Value) {
	if constant.Compare(k, token.LSS, r.most) {
		r.most = k
	}
}

// empty reports whether nothing is left.
func (r *rest) empty() bool {
	if !r.number {
		return r.textsDiffer || r.text != nil && r.excludes(r.text)
	}
	// What is taken out at an end moves the end.
	one := constant.MakeInt64(1)
	for range r.without {
		if r.excludes(r.least) {
			r.least = constant.BinaryOp(r.least, token.ADD, one)
		}
		if r.excludes(r.most) {
			r.most = constant.BinaryOp(r.most, token.SUB, one)
		}
	}
	return constant.Compare(r.least, token.GTR, r.most)
}

func (r *rest) excludes(v constant.Value) bool {
	for _, k := range r.without {
		if k.Kind() == v.Kind() && constant.Compare(k, token.EQL, v) {
			return true
		}
	}
	return false
}
