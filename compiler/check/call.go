package check

import (
	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// functions are the language's functions, with the least and the greatest
// number of arguments, and whether they are for hists only.
var functions = map[string]struct {
	least, most int
	hist        bool
}{
	"str": {1, 2, false}, "enter": {1, 1, false}, "bits": {3, 3, false}, "sys": {1, 1, false},
	"path": {1, 1, false}, "dentry": {1, 1, false}, "addr": {1, 1, false}, "log2": {1, 1, true},
	"bucket": {2, 2, true}, "sum": {1, 1, true}, "avg": {1, 1, true},
}

func isFunction(name string) bool {
	_, ok := functions[name]
	return ok
}

func (c *checker) call(e *syntax.Call, sc *scope) ir.Expr {
	name := e.Func.Text()
	f, ok := functions[name]
	if !ok {
		c.unknownFunction(e.Func.Span(), name)
		return c.invalid(e.Span())
	}
	if n := len(e.Args); n < f.least || n > f.most {
		c.argumentCount(e.Span(), name, f.least, f.most, n)
		return c.invalid(e.Span())
	}
	switch name {
	case "str":
		return c.str(e, sc)
	case "enter":
		return c.enter(e, sc)
	case "bits":
		return c.bits(e, sc)
	case "sys":
		return c.sys(e)
	case "path":
		return c.named(e, sc, "file", "f_path", "dentry", "d_name", "name")
	case "dentry":
		return c.named(e, sc, "dentry", "d_name", "name")
	case "addr":
		return c.addr(e)
	case "log2", "bucket", "sum", "avg":
		c.onlyInHist(e.Func.Span(), name)
	}
	return c.invalid(e.Span())
}

// str checks `str(p)` and `str(p, n)`: the text behind a pointer, in the second
// form n bytes of it that need no NUL, which a probe copies as an array.
func (c *checker) str(e *syntax.Call, sc *scope) ir.Expr {
	x := c.expr(e.Args[0], sc)
	out := &ir.Str{At: ir.At{T: types.String{}, Sp: e.Span()}, X: x}
	if len(e.Args) == 2 {
		n, ok := constInt(c.expr(e.Args[1], sc))
		if !ok || n < 1 || n > command.MaxArray {
			c.stringLength(e.Args[1].Span())
			return c.invalid(e.Span())
		}
		if p, ok := x.Type().(types.Pointer); ok && p.User {
			c.userStringLength(e.Args[1].Span(), c.src.Slice(e.Args[0].Span()))
			return c.invalid(e.Span())
		}
		out.Max = int(n)
		out.T = types.String{Cap: int(n) + 1} // with the NUL that it need not have
	}
	switch t := x.Type().(type) {
	case types.Invalid:
		return x
	case types.String:
		c.alreadyString(e.Args[0].Span(), x)
		return c.invalid(e.Span())
	case types.Pointer:
		if !textPointer(t) {
			c.notText(e.Args[0].Span(), x, t)
			return c.invalid(e.Span())
		}
		return out
	case types.Int:
		if t.Size == 8 {
			c.addressSpace(e.Args[0].Span(), x)
			return c.invalid(e.Span())
		}
	case types.Array:
		if isChar(t.Elem) {
			c.alreadyString(e.Args[0].Span(), x)
			return c.invalid(e.Span())
		}
	}
	c.notAPointer(e.Args[0].Span(), x, "str()")
	return c.invalid(e.Span())
}

// textPointer reports whether text may lie behind p: chars, bytes, or what is
// not known.
func textPointer(p types.Pointer) bool {
	switch t := p.Elem.(type) {
	case types.Void:
		return true
	case types.Int:
		return t.Size == 1
	case types.String:
		return true
	}
	return false
}

func isChar(t types.Type) bool {
	i, ok := t.(types.Int)
	return ok && i.Form == types.Char
}

// enter checks `enter(E)`: E as it was at the entry of a span.
func (c *checker) enter(e *syntax.Call, sc *scope) ir.Expr {
	if !sc.span() || sc.own != nil {
		if sc.join && sc.own == nil {
			c.enterInJoin(e)
		} else {
			c.enterOutsideSpan(e.Func.Span())
		}
		return c.invalid(e.Span())
	}
	x := c.expr(e.Args[0], sc)
	if types.IsInvalid(x.Type()) {
		return x
	}
	bad := false
	ir.Visit(x, func(x ir.Expr) bool {
		if ctx, ok := x.(*ir.Context); ok && (ctx.Kind == ir.Ret || ctx.Kind == ir.Elapsed) {
			c.notAtEntry(ctx)
			bad = true
		}
		return !bad
	})
	if bad {
		return c.invalid(e.Span())
	}
	if _, ok := x.(*ir.Const); ok {
		return x
	}
	return &ir.Early{At: ir.At{T: x.Type(), Sp: e.Span()}, X: x}
}

// bits checks `bits(x, offset, width)`.
func (c *checker) bits(e *syntax.Call, sc *scope) ir.Expr {
	x := c.expr(e.Args[0], sc)
	if types.IsInvalid(x.Type()) {
		return x
	}
	t, ok := x.Type().(types.Int)
	if !ok {
		c.notANumber(x, "bits()")
		return c.invalid(e.Span())
	}
	if types.BigEndian(t) {
		c.networkOrder(x, "bits()")
		return c.invalid(e.Span())
	}
	off, okOff := constInt(c.expr(e.Args[1], sc))
	width, okWidth := constInt(c.expr(e.Args[2], sc))
	size := int64(t.Size * 8)
	if !okOff || off < 0 || off >= size {
		c.bitRange(e.Args[1].Span(), "offset", 0, size-1)
		return c.invalid(e.Span())
	}
	if !okWidth || width < 1 || off+width > size {
		c.bitRange(e.Args[2].Span(), "width", 1, size-off)
		return c.invalid(e.Span())
	}
	return &ir.Bits{At: ir.At{T: types.Int{Size: t.Size}, Sp: e.Span()}, X: x, Offset: int(off), Width: int(width)}
}

// sys checks `sys(X)`: the number of a system call on the target.
func (c *checker) sys(e *syntax.Call) ir.Expr {
	var name string
	var sp source.Span
	switch a := syntax.Unparen(e.Args[0]).(type) {
	case *syntax.Ident:
		name, sp = a.Text(), a.Span()
	case *syntax.String:
		name, _ = a.Value()
		sp = a.Span()
	default:
		c.badSyscallName(e.Args[0].Span(), "sys(openat)")
		return c.invalid(e.Span())
	}
	nr, ok := c.t.Syscall(name)
	if !ok {
		c.unknownSyscall(sp, name)
		return c.invalid(e.Span())
	}
	return intConst(int64(nr), e.Span())
}

// named checks `path(f)` and `dentry(d)`: the name in a directory entry, read
// through the members of structs.
func (c *checker) named(e *syntax.Call, sc *scope, of string, members ...string) ir.Expr {
	x := c.expr(e.Args[0], sc)
	if types.IsInvalid(x.Type()) {
		return x
	}
	p, ok := x.Type().(types.Pointer)
	s, isStruct := p.Elem.(types.Struct)
	if !ok || !isStruct || s.Name != of || p.User {
		c.wantPointerTo(e.Args[0].Span(), x, e.Func.Text(), of)
		return c.invalid(e.Span())
	}
	for _, name := range members {
		ptr, off := x, int64(0)
		if l, ok := x.(*ir.Load); ok {
			if _, isStruct := l.T.(types.Struct); isStruct {
				ptr, off = l.X, l.Off
			}
		}
		x = c.memberAt(ptr, off, s, name, e.Func.Span(), e.Span())
		switch t := x.Type().(type) {
		case types.Invalid:
			return x
		case types.Struct:
			s = t
		case types.Pointer:
			s, _ = t.Elem.(types.Struct)
		}
	}
	return &ir.Str{At: ir.At{T: types.String{}, Sp: e.Span()}, X: x}
}

// addr checks `addr(SYM)`: the address of a variable of the kernel, for reading
// what is there.
func (c *checker) addr(e *syntax.Call) ir.Expr {
	id, ok := syntax.Unparen(e.Args[0]).(*syntax.Ident)
	if !ok || !plainSymbol(id.Text()) {
		c.wantSymbol(e.Args[0].Span())
		return c.invalid(e.Span())
	}
	name := id.Text()
	if state, err := c.t.Symbol(name); err == nil && state == target.SymbolAbsent {
		c.unknownVariable(id.Span(), name)
		return c.invalid(e.Span())
	}
	perCPU := c.t.IsPerCPU(name)
	if perCPU && !c.t.Has(target.PerCPUFetch) {
		c.perCPU(id.Span(), name)
		return c.invalid(e.Span())
	}
	var elem types.Type = types.Void{}
	if t, ok := c.t.VarType(name); ok {
		elem = t
	}
	return &ir.Addr{At: ir.At{T: types.Pointer{Elem: elem}, Sp: e.Span()}, Symbol: name, PerCPU: perCPU}
}
