package check

import (
	"fmt"
	"strings"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// commonName returns the number of a name that every kernel of the target's
// architecture has: of an errno, a signal, a flag of opening or mapping, a family
// of sockets.
func (c *checker) commonName(name string) (int64, bool) {
	if v, ok := types.ErrnoNumber(name); ok {
		return v, true
	}
	v, ok := target.CommonName(c.t.Arch(), name)
	return int64(v), ok
}

// likelyErrno warns of the bare name of an error opposite a value that the kernel
// returns: it returns errors as numbers below zero.
func (c *checker) likelyErrno(e syntax.Expr, opposite ir.Expr) {
	id, ok := syntax.Unparen(e).(*syntax.Ident)
	if !ok {
		return
	}
	if _, known := types.ErrnoNumber(id.Text()); !known {
		return
	}
	if t, isInt := opposite.Type().(types.Int); !isInt || t.Form != types.Errno {
		return
	}
	c.add(diag.Warning, diag.PositiveErrno, id.Span(), fmt.Sprintf("the kernel returns this error as '-%s'", id.Text()), todo("write '-%s'", id.Text()))
}

// nearErrno returns the errno or signal that a name in capitals is nearly.
func nearErrno(name string) (string, bool) {
	switch {
	case name != strings.ToUpper(name) || len(name) < 4:
	case strings.HasPrefix(name, "SIG"):
		return diag.Near(name, target.Signals().Names())
	case name[0] == 'E':
		return diag.Near(name, types.ErrnoNames())
	}
	return "", false
}
