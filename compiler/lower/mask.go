package lower

import (
	"go/constant"
	"math/bits"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/types"
)

// The kernel's `&` is a test: a filter asks whether any bit of a mask is set. As
// a number, `x & m` is made of the runs of m's bits: a probe reads each run by
// itself, and what lies above bit 0 is put back to its place by multiplication.
//
//	x & 0x3f      bits(x, 0, 6)
//	x & 0xf00f    bits(x, 0, 4) + bits(x, 12, 4) * 4096

// rewriteMasks makes numbers of the masked values that are not tested against a
// constant, which a filter does, and of two compared values their difference.
func (r *recipe) rewriteMasks() {
	for i := range r.fields {
		f := *r.fields[i]
		f.Value = maskedValue(f.Value)
		r.fields[i] = &f
	}
	if r.emit != nil {
		e := *r.emit
		e.Value, e.Per = maskedValue(e.Value), nil
		for _, p := range r.emit.Per {
			e.Per = append(e.Per, maskedValue(p))
		}
		r.emit = &e
	}
	for i := range r.having {
		r.having[i] = maskedCondition(r.having[i])
	}
	for i := range r.steps {
		s := &r.steps[i]
		for k := range s.where {
			s.where[k] = maskedCondition(s.where[k])
		}
		for k := range s.keys {
			s.keys[k].Left, s.keys[k].Right = maskedValue(s.keys[k].Left), maskedValue(s.keys[k].Right)
		}
	}
}

// maskedCondition is maskedValue for the values of a condition that a filter's
// `&` does not test.
func maskedCondition(x ir.Expr) ir.Expr {
	b, ok := x.(*ir.Binary)
	if !ok || b.Op == "&" || arithmetic(b) {
		if in, isIn := x.(*ir.In); isIn {
			return ir.Parts(in, maskedValue)
		}
		return ir.Parts(x, maskedCondition)
	}
	if b.Op == "==" || b.Op == "!=" {
		_, constX := b.X.(*ir.Const)
		_, constY := b.Y.(*ir.Const)
		if constX || constY {
			return ir.Parts(x, func(side ir.Expr) ir.Expr {
				if v, _, ok := masked(side); ok {
					return ir.Parts(side, func(in ir.Expr) ir.Expr {
						if in == v {
							return maskedValue(in)
						}
						return in
					})
				}
				return maskedValue(side)
			})
		}
	}
	if b.Op == "&&" || b.Op == "||" {
		return ir.Parts(x, maskedCondition)
	}
	return difference(ir.Parts(x, maskedValue).(*ir.Binary))
}

// difference makes of a comparison of two values, which no filter makes, one of
// their difference with 0, where that is the same.
func difference(x *ir.Binary) ir.Expr {
	for _, side := range []ir.Expr{x.X, x.Y} {
		if _, known := side.(*ir.Const); known || !types.Scalar(side.Type()) || types.BigEndian(side.Type()) {
			return x
		}
	}
	_, duration := x.X.Type().(types.Duration)
	switch x.Op {
	case "==", "!=":
	case "<", "<=", ">", ">=":
		// Of numbers with 64 bits a difference may not fit, save of times.
		if !duration && (types.Size(x.X.Type()) == 8 || types.Size(x.Y.Type()) == 8) {
			return x
		}
	default:
		return x
	}
	at := ir.At{T: types.Int{Size: 8, Signed: true}, Sp: x.Sp}
	if duration {
		a, b := x.X.Type().(types.Duration), x.Y.Type().(types.Duration)
		at.T = types.Duration{Unit: min(a.Unit, b.Unit), Size: 8, Signed: true}
	}
	return &ir.Binary{At: x.At, Op: x.Op, X: &ir.Binary{At: at, Op: "-", X: x.X, Y: x.Y}, Y: &ir.Const{At: at, Value: constant.MakeInt64(0)}}
}

// maskedValue puts for each `v & m` in x the number that it is.
func maskedValue(x ir.Expr) ir.Expr {
	return ir.Rewrite(x, func(x ir.Expr) ir.Expr {
		v, mask, ok := masked(x)
		if !ok || types.BigEndian(v.Type()) {
			return x
		}
		size := types.Size(v.Type())
		m := bitsOf(mask.Value) & greatest(size)
		var sum ir.Expr
		number := ir.At{T: types.Int{Size: 8}, Sp: x.Span()}
		for rest := m; rest != 0; {
			low := bits.TrailingZeros64(rest)
			width := bits.TrailingZeros64(^(rest >> low))
			var run ir.Expr = &ir.Bits{At: ir.At{T: types.Int{Size: size}, Sp: x.Span()}, X: v, Offset: low, Width: width}
			rest &^= (uint64(1)<<(width-1)<<1 - 1) << low
			if low > 0 {
				run = &ir.Binary{At: number, Op: "*", X: run, Y: &ir.Const{At: number, Value: constant.MakeUint64(1 << low)}}
			}
			if sum == nil {
				sum = run
			} else {
				sum = &ir.Binary{At: number, Op: "+", X: sum, Y: run}
			}
		}
		switch s := sum.(type) {
		case nil:
			return &ir.Const{At: ir.At{T: x.Type(), Sp: x.Span()}, Value: constant.MakeInt64(0)}
		case *ir.Binary:
			b := *s
			b.T = x.Type()
			return &b
		}
		return &ir.Cast{At: ir.At{T: x.Type(), Sp: x.Span()}, X: sum}
	})
}
