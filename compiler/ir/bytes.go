package ir

import (
	"go/constant"
	"math/bits"

	"github.com/eptrace/ep/lang/types"
)

// Kernel returns the number that the kernel reads where k's value lies: with its
// bytes in the other order if k's type is big-endian.
func (k *Const) Kernel() constant.Value {
	return SwapBytes(k.Value, k.T, types.Int{Size: types.Size(k.T)})
}

// SwapBytes returns what a whole number of type from is as one of type to, which
// has the same bytes in memory: another number if one of the types, and not the
// other, is big-endian.
func SwapBytes(v constant.Value, from, to types.Type) constant.Value {
	if types.BigEndian(from) == types.BigEndian(to) || v.Kind() != constant.Int {
		return v
	}
	n, exact := constant.Uint64Val(v)
	if !exact {
		return v
	}
	return constant.MakeUint64(bits.ReverseBytes64(n) >> (64 - 8*types.Size(from)))
}
