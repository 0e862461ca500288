package check

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// Some events have a set of CPUs as a field, of as many bits as the machine has
// CPUs. A filter holds it against a constant set, which a script writes as a
// number, a bit for each CPU, or as the list by which the kernel knows sets:
// `cpumask & 0xf`, `cpumask == "0-3,64"`.

// isCPUSet reports whether t is a set of CPUs.
func isCPUSet(t types.Type) bool {
	s, ok := t.(types.Struct)
	return ok && s.Name == "cpumask_t"
}

// cpuSet checks `S == C`, `S != C` and `S & C`, which is true if the two have a
// CPU in common.
func (c *checker) cpuSet(e *syntax.Binary, x, y ir.Expr) ir.Expr {
	if !isCPUSet(x.Type()) {
		x, y = y, x
	}
	k, ok := y.(*ir.Const)
	if !ok || e.Op != "==" && e.Op != "!=" && e.Op != "&" {
		c.cpuSetUse(e.Span(), x)
		return c.invalid(e.Span())
	}
	list, ok := constString(k)
	if !ok && plainNumber(k) {
		list = cpuList(k)
	}
	if !validCPUList(list) {
		c.badCPUSet(k.Sp, x)
		return c.invalid(e.Span())
	}
	return &ir.Binary{At: ir.At{T: types.Bool{}, Sp: e.Span()}, Op: string(e.Op), X: x,
		Y: &ir.Const{At: ir.At{T: x.Type(), Sp: k.Sp}, Value: textConst(list, k.Sp).Value}}
}

// cpuList spells the bits of a number as a list of CPUs, "" if it has none.
func cpuList(k *ir.Const) string {
	n, err := strconv.ParseUint(k.Value.ExactString(), 10, 64)
	if err != nil {
		return ""
	}
	var list []string
	for n != 0 {
		low := bits.TrailingZeros64(n)
		width := bits.TrailingZeros64(^(n >> low))
		text := strconv.Itoa(low)
		if width > 1 {
			text += "-" + strconv.Itoa(low+width-1)
		}
		list = append(list, text)
		n &^= (uint64(1)<<(width-1)<<1 - 1) << low
	}
	return strings.Join(list, ",")
}

// validCPUList reports whether s is a list of CPUs, "0-3,7" (lib/bitmap-str.c,
// bitmap_parselist, of which this is the plain part).
func validCPUList(s string) bool {
	for _, part := range strings.Split(s, ",") {
		lo, hi, isRange := strings.Cut(part, "-")
		if !isRange {
			hi = lo
		}
		a, errA := strconv.ParseUint(lo, 10, 16)
		b, errB := strconv.ParseUint(hi, 10, 16)
		if errA != nil || errB != nil || a > b || b > ir.MaxCPU {
			return false
		}
	}
	return true
}

func (c *checker) cpuSetUse(sp source.Span, x ir.Expr) {
	name := c.src.Slice(x.Span())
	c.err(diag.CannotFilter, sp, fmt.Sprintf("'%s' is a set of CPUs, which the kernel holds against a constant set only", name),
		todo("write '%s & \"0-3\"' for any of these, or '%s == \"0-3\"'", name, name))
}

func (c *checker) badCPUSet(sp source.Span, x ir.Expr) {
	c.err(diag.MismatchedTypes, sp, "this is no set of CPUs", todo("write their numbers, '%s & \"0-3,7\"', or a number with a bit for each", c.src.Slice(x.Span())))
}
