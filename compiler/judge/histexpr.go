package judge

import (
	"math/bits"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
)

// expr returns the value of an expression (parse_expr). The type, the size and
// the sign of a computed one are those of its first operand.
func (m *maker) expr(x command.HistExpr, t traits) (histValue, error) {
	if command.Operators(x) > m.j.t.Limits().HistOperators {
		return histValue{}, m.no("EINVAL", "Too many subexpressions (3 max)", "", "the expression has %d operators; the kernel takes %d",
			command.Operators(x), m.j.t.Limits().HistOperators)
	}
	return m.part(x, t)
}

func (m *maker) part(x command.HistExpr, t traits) (histValue, error) {
	switch x := x.(type) {
	case command.HistNum:
		if !m.j.t.Has(target.HistArithmetic) {
			return histValue{}, m.no("EINVAL", "Couldn't find field", "", "this kernel takes no numbers in histograms")
		}
		return histValue{traits: t | isConstant, typ: "u64", size: 8, number: x.N}, nil
	case command.HistField:
		if x.Event.Name != "" {
			m.mislead("'%s.%s' is the field '%s' of %s: the event before it is not looked at", x.Event, x.Name, x.Name, m.h.event)
			x.Event = command.EventName{}
		}
		return m.field(x, t)
	case command.HistRef:
		return m.reference(x, t)
	case *command.HistNeg:
		// The kernel looks for the last minus first, so that it reads no -(a-b).
		if command.HasMinus(x.X) {
			return histValue{}, m.no("EINVAL", "", "-(", "there can be no other minus in -(…)")
		}
		v, err := m.part(x.X, 0)
		if err != nil {
			return histValue{}, err
		}
		if v.traits.has(isString) {
			return histValue{}, m.noOperand()
		}
		return histValue{traits: t | isExpr | v.traits&(isTimestamp|inUsecs), typ: v.typ, size: v.size, signed: v.signed}, nil
	case *command.HistBinary:
		return m.binary(x, t)
	}
	panic("internal error: no such hist expression")
}

func (m *maker) noOperand() *Refusal {
	return m.no("EINVAL", "String type can not be an operand in expression", "", "text cannot be computed with")
}

func (m *maker) binary(b *command.HistBinary, t traits) (histValue, error) {
	if (b.Op == '*' || b.Op == '/') && !m.j.t.Has(target.HistArithmetic) {
		return histValue{}, m.no("EINVAL", "Couldn't find field", string(b.Op), "this kernel's histograms cannot multiply or divide")
	}
	x, err := m.part(b.X, 0)
	if err != nil {
		return histValue{}, err
	}
	if x.traits.has(isString) {
		return histValue{}, m.noOperand()
	}
	y, err := m.part(b.Y, 0)
	if err != nil {
		return histValue{}, err
	}
	if y.traits.has(isString) {
		return histValue{}, m.noOperand()
	}
	xs, ys := x.operand(), y.operand()
	if (xs.traits^ys.traits)&inUsecs != 0 {
		return histValue{}, m.no("EINVAL", "Timestamp units in expression don't match", "", "one side of '%c' is in microseconds, by '.usecs', and the other is not", b.Op)
	}
	m.consume(x, y)
	v := histValue{traits: t | x.traits&(isTimestamp|inUsecs)}
	if b.Op == '/' && ys.traits.has(isConstant) {
		if ys.number == 0 {
			return histValue{}, m.no("EDOM", "Division by zero", "", "it divides by zero")
		}
		m.misleadDivision(ys.number)
	} else if b.Op == '/' {
		m.mislead("a divisor of 0 gives the largest number")
	}
	if b.Op == '/' && x.signed {
		m.mislead("the division is of unsigned numbers: one below zero gives a huge one")
	}
	if xs.traits&ys.traits&isConstant != 0 {
		v.traits |= isConstant
		v.typ, v.size, v.number = "u64", 8, fold(xs.number, b.Op, ys.number)
		return v, nil
	}
	if xs.traits.has(isConstant) && y.signed {
		m.mislead("the result is unsigned, as the number that stands first is")
	}
	if y.size > x.size && !ys.traits.has(isConstant) {
		m.mislead("the result has %d bytes, as the first operand has", x.size)
	}
	v.traits |= isExpr
	v.typ, v.size, v.signed = x.typ, x.size, x.signed
	return v, nil
}

// operand returns what v's operators look at: of a reference, the variable.
func (v histValue) operand() histValue {
	if v.traits.has(isReference) {
		return v.ref.histValue
	}
	return v
}

// fold computes with constants as the kernel does. Its division by a constant
// is a multiplication and a shift that rounds up (div_by_mult_and_shift).
func fold(x uint64, op byte, y uint64) uint64 {
	switch op {
	case '+':
		return x + y
	case '-':
		return x - y
	case '*':
		return x * y
	}
	if roundsUp(y) && x < 1<<divShift {
		return (x*((1<<divShift)/y) + 1<<divShift - 1) >> divShift
	}
	return x / y
}

// divShift is HIST_DIV_SHIFT.
const divShift = 20

// roundsUp reports whether the division of a number below 1<<divShift by n is
// rounded up.
func roundsUp(n uint64) bool { return bits.OnesCount64(n) > 1 && n <= 1<<divShift }
