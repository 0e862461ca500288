package events

import (
	"encoding/binary"
	"math/bits"

	"github.com/eptrace/ep/lang/types"
)

// digits is how bytes in memory are a number of one type. Whatever is shown is
// read by it, so that the order of the bytes is decided here only.
type digits struct {
	size   int // bytes: 1, 2, 4 or 8
	signed bool
	swap   bool // the greatest byte comes first
}

// digitsOf returns how the numbers of type t lie in memory.
func digitsOf(t types.Type) digits {
	d := digits{size: types.Size(t), signed: types.Signed(t), swap: types.BigEndian(t)}
	switch d.size {
	case 1, 2, 4, 8:
	default:
		d.size = 8
	}
	return d
}

// read reads 1, 2, 4 or 8 bytes; of others it takes the first 8. The number is
// extended by its sign to 64 bits.
func (d digits) read(b []byte) uint64 {
	var n uint64
	switch len(b) {
	case 1:
		n = uint64(b[0])
		if d.signed {
			n = uint64(int64(int8(n)))
		}
	case 2:
		x := binary.LittleEndian.Uint16(b)
		if d.swap {
			x = bits.ReverseBytes16(x)
		}
		n = uint64(x)
		if d.signed {
			n = uint64(int64(int16(x)))
		}
	case 4:
		x := binary.LittleEndian.Uint32(b)
		if d.swap {
			x = bits.ReverseBytes32(x)
		}
		n = uint64(x)
		if d.signed {
			n = uint64(int64(int32(x)))
		}
	default:
		n = binary.LittleEndian.Uint64(b)
		if d.swap {
			n = bits.ReverseBytes64(n)
		}
	}
	return n
}

// fromKernel returns the number of this type whose bytes the kernel reads as the
// number n: in its own order, and with a sign or without.
func (d digits) fromKernel(n uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	return d.read(b[:d.size])
}

// toKernel undoes fromKernel.
func (d digits) toKernel(n uint64) uint64 {
	if d.swap {
		return bits.ReverseBytes64(n) >> (64 - 8*d.size)
	}
	return n
}
