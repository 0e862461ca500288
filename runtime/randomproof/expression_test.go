package randomproof

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/eptrace/ep/lang/types"
)

// expr is an expression of a script.
type expr interface {
	// String is the expression as a script writes it, in parentheses where they
	// matter.
	String() string
	// typ is its type; types.Bool of a condition.
	typ() types.Type
	// eval is its value; of a condition see holds.
	eval(e *env) value
}

// env is what names mean where an expression stands.
type env struct {
	stages []staged         // of the event, in order; those that have happened
	fields map[string]value // of the new event, where these are seen
}

// staged is a stage that has happened.
type staged struct {
	name string
	of   *occurrence
	lets map[string]value
}

// literal is a constant. A named one is a const or a param of the script.
type literal struct {
	n    *big.Int
	t    types.Type // a Duration, a String, or Untyped
	form string     // how it is written
	name string     // of the const or param; "" if it is written where it stands
	kind string     // "const" or "param"
}

func (l *literal) String() string {
	if l.name != "" {
		return l.name
	}
	return l.form
}

func (l *literal) typ() types.Type {
	if _, ok := l.t.(types.Untyped); ok {
		return types.Int{Size: 8, Signed: l.n.Sign() < 0}
	}
	return l.t
}

func (l *literal) eval(*env) value {
	if _, ok := l.t.(types.String); ok {
		return text(strings.Trim(l.form, `"`))
	}
	return exactly(l.typ(), l.n)
}

// ref is what a stage or the event itself has: a field, a value of the context,
// or memory behind one. form has '%' where the stage's name goes.
type ref struct {
	stage string
	form  string
	t     types.Type
}

// self is the form without a stage, which is also what it is known by.
func (r *ref) self() string { return strings.ReplaceAll(r.form, "%", "") }

func (r *ref) String() string {
	stage := r.stage
	if stage != "" {
		stage += "."
	}
	return strings.ReplaceAll(r.form, "%", stage)
}

// memory reports whether r is behind a pointer.
func (r *ref) memory() bool { return strings.Contains(r.form, "->") || strings.HasPrefix(r.form, "*") }

func (r *ref) typ() types.Type { return r.t }

func (r *ref) eval(e *env) value {
	if v, ok := e.fields[r.self()]; ok && r.stage == "" {
		return v
	}
	for i := range e.stages {
		s := &e.stages[i]
		if r.stage != "" && s.name != r.stage {
			continue
		}
		if r.stage == "" && i < len(e.stages)-1 {
			continue // without a name it is the latest
		}
		if v, ok := s.lets[r.self()]; ok {
			return v
		}
		if v, ok := s.of.value(r.self()); ok {
			v.t = r.t
			return v
		}
	}
	return unknown(r.t)
}

// binary is `x op y` of numbers.
type binary struct {
	op   string
	x, y expr
}

func (b *binary) String() string  { return fmt.Sprintf("(%s %s %s)", b.x, b.op, b.y) }
func (b *binary) typ() types.Type { return arithmeticType(b.op, b.x.typ(), b.y.typ()) }
func (b *binary) eval(e *env) value {
	return arithmetic(b.op, b.x.eval(e), b.y.eval(e), b.typ())
}

// minus is `-x`, which has a sign.
type minus struct{ x expr }

func (m *minus) String() string { return fmt.Sprintf("(-%s)", m.x) }
func (m *minus) typ() types.Type {
	if d, ok := m.x.typ().(types.Duration); ok {
		return types.Duration{Unit: d.Unit, Size: 8, Signed: true}
	}
	return types.Int{Size: 8, Signed: true}
}
func (m *minus) eval(e *env) value {
	zero := exactly(m.x.typ(), new(big.Int))
	return arithmetic("-", zero, m.x.eval(e), m.typ())
}

// cast is `x as t`.
type cast struct {
	x  expr
	to types.Type
}

func (c *cast) String() string { return fmt.Sprintf("(%s as %s)", c.x, c.to) }
func (c *cast) typ() types.Type {
	if d, ok := c.to.(types.Duration); ok {
		from := c.x.typ()
		d.Signed = types.Signed(from)
		if _, isDuration := from.(types.Duration); !isDuration {
			d.Size = types.Size(from)
		}
		return d
	}
	if i, ok := c.to.(types.Int); ok && i.Form == types.Errno && types.Signed(c.x.typ()) {
		i.Size = types.Size(c.x.typ())
		return i
	}
	return c.to
}
func (c *cast) eval(e *env) value { return c.x.eval(e).convert(c.typ()) }

// masked is `x & m`, as a value the bits of x that the constant m has, as a
// condition whether there is one.
type masked struct {
	x    expr
	m    *literal
	cond bool
}

func (m *masked) String() string { return fmt.Sprintf("(%s & %s)", m.x, m.m) }
func (m *masked) typ() types.Type {
	if m.cond {
		return types.Bool{}
	}
	return m.x.typ()
}
func (m *masked) eval(e *env) value {
	v := m.x.eval(e)
	if v.fault {
		return value{t: m.x.typ(), fault: true}
	}
	if !v.known() {
		return unknown(m.x.typ())
	}
	bits := fits(v.lo, 8, false)
	return exactly(m.x.typ(), bits.And(bits, fits(m.m.n, 8, false))).as(m.x.typ())
}
func (m *masked) holds(e *env) truth {
	return compare("!=", m.eval(e), exactly(m.x.typ(), new(big.Int)))
}

// bitsOf is `bits(x, offset, width)`.
type bitsOf struct {
	x             expr
	offset, width int
}

func (b *bitsOf) String() string { return fmt.Sprintf("bits(%s, %d, %d)", b.x, b.offset, b.width) }
func (b *bitsOf) typ() types.Type {
	return types.Int{Size: types.Size(b.x.typ())}
}
func (b *bitsOf) eval(e *env) value {
	v := b.x.eval(e)
	if v.fault {
		return value{t: b.typ(), fault: true}
	}
	if !v.known() {
		return unknown(b.typ())
	}
	n := fits(v.lo, 8, false)
	n.Rsh(n, uint(b.offset))
	return exactly(b.typ(), fits(n, 8, false).And(n, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(b.width)), big.NewInt(1))))
}

// condition is an expression that is true or false.
type condition interface {
	expr
	holds(e *env) truth
}

type comparison struct {
	op   string
	x, y expr
}

func (c *comparison) String() string     { return fmt.Sprintf("%s %s %s", c.x, c.op, c.y) }
func (c *comparison) typ() types.Type    { return types.Bool{} }
func (c *comparison) eval(*env) value    { return unknown(types.Bool{}) }
func (c *comparison) holds(e *env) truth { return compare(c.op, c.x.eval(e), c.y.eval(e)) }

// like is `x ~ "pattern"`.
type like struct {
	x       expr
	pattern string
}

func (l *like) String() string  { return fmt.Sprintf("%s ~ %q", l.x, l.pattern) }
func (l *like) typ() types.Type { return types.Bool{} }
func (l *like) eval(*env) value { return unknown(types.Bool{}) }
func (l *like) holds(e *env) truth {
	v := l.x.eval(e)
	switch {
	case v.fault:
		return never
	case !v.known():
		return maybe
	}
	return truthOf(globbed(l.pattern, v.str))
}

// member is `x in { a, b..c }`.
type member struct {
	x   expr
	set [][2]*literal // the second is nil for one number
}

func (m *member) String() string {
	var list []string
	for _, r := range m.set {
		s := r[0].String()
		if r[1] != nil {
			s += ".." + r[1].String()
		}
		list = append(list, s)
	}
	return fmt.Sprintf("%s in { %s }", m.x, strings.Join(list, ", "))
}
func (m *member) typ() types.Type { return types.Bool{} }
func (m *member) eval(*env) value { return unknown(types.Bool{}) }
func (m *member) holds(e *env) truth {
	v := m.x.eval(e)
	out := never
	for _, r := range m.set {
		if r[1] == nil {
			out = out.or(compare("==", v, r[0].eval(e)))
			continue
		}
		out = out.or(compare(">=", v, r[0].eval(e)).and(compare("<=", v, r[1].eval(e))))
	}
	return out
}

// both is `x && y`, or `x || y`.
type both struct {
	op   string
	x, y condition
}

func (b *both) String() string  { return fmt.Sprintf("(%s %s %s)", b.x, b.op, b.y) }
func (b *both) typ() types.Type { return types.Bool{} }
func (b *both) eval(*env) value { return unknown(types.Bool{}) }
func (b *both) holds(e *env) truth {
	if b.op == "&&" {
		return b.x.holds(e).and(b.y.holds(e))
	}
	return b.x.holds(e).or(b.y.holds(e))
}

// not is `!x`.
type not struct{ x condition }

func (n *not) String() string  { return fmt.Sprintf("!(%s)", n.x) }
func (n *not) typ() types.Type { return types.Bool{} }
func (n *not) eval(*env) value { return unknown(types.Bool{}) }
func (n *not) holds(e *env) truth {
	if n.faulty(e) {
		return never
	}
	return n.x.holds(e).not()
}

// faulty reports whether a value of the condition could not be read: a condition
// about it is false, whichever way it is asked.
func (n *not) faulty(e *env) bool {
	found := false
	walk(n.x, func(x expr) {
		if r, ok := x.(*ref); ok && r.eval(e).fault {
			found = true
		}
	})
	return found
}

// walk calls f for x and all that is in it.
func walk(x expr, f func(expr)) {
	if x == nil {
		return
	}
	f(x)
	for _, k := range parts(x) {
		walk(k, f)
	}
}

// parts are the expressions that x is made of.
func parts(x expr) []expr {
	switch x := x.(type) {
	case *binary:
		return []expr{x.x, x.y}
	case *minus:
		return []expr{x.x}
	case *cast:
		return []expr{x.x}
	case *masked:
		return []expr{x.x, x.m}
	case *bitsOf:
		return []expr{x.x}
	case *comparison:
		return []expr{x.x, x.y}
	case *like:
		return []expr{x.x}
	case *member:
		list := []expr{x.x}
		for _, r := range x.set {
			list = append(list, r[0])
			if r[1] != nil {
				list = append(list, r[1])
			}
		}
		return list
	case *both:
		return []expr{x.x, x.y}
	case *not:
		return []expr{x.x}
	}
	return nil
}

// mine is `$tid == me`, where me is a param that the guest sets: the thread of
// the workload, which is the only one that the model knows of.
type mine struct{}

func (*mine) String() string   { return "$tid == me" }
func (*mine) typ() types.Type  { return types.Bool{} }
func (*mine) eval(*env) value  { return unknown(types.Bool{}) }
func (*mine) holds(*env) truth { return always }
