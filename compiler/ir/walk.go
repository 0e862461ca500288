package ir

import "fmt"

// Parts returns e with each of the expressions directly in it replaced by what
// f returns for it: e itself if none changed, else a copy.
func Parts(e Expr, f func(Expr) Expr) Expr {
	switch x := e.(type) {
	case *Const, *FieldRef, *Own, *Context, *Addr:
		return e
	case *Str:
		if in := f(x.X); in != x.X {
			return &Str{x.At, in, x.Max}
		}
	case *Load:
		if in := f(x.X); in != x.X {
			return &Load{x.At, in, x.Off}
		}
	case *Unary:
		if in := f(x.X); in != x.X {
			return &Unary{x.At, x.Op, in}
		}
	case *Binary:
		a, b := f(x.X), f(x.Y)
		if a != x.X || b != x.Y {
			return &Binary{x.At, x.Op, a, b}
		}
	case *In:
		if in := f(x.X); in != x.X {
			return &In{x.At, in, x.Set}
		}
	case *Cast:
		if in := f(x.X); in != x.X {
			return &Cast{x.At, in}
		}
	case *Bits:
		if in := f(x.X); in != x.X {
			return &Bits{x.At, in, x.Offset, x.Width}
		}
	case *Early:
		if in := f(x.X); in != x.X {
			return &Early{x.At, x.Stage, in}
		}
	default:
		panic(fmt.Sprintf("internal error: expression %T", e))
	}
	return e
}

// Rewrite returns e with each node replaced by what f returns for it, innermost
// first. f returns its argument to keep it. Of nil it is nil.
func Rewrite(e Expr, f func(Expr) Expr) Expr {
	if e == nil {
		return nil
	}
	return f(Parts(e, func(x Expr) Expr { return Rewrite(x, f) }))
}

// Replace returns e with its outermost parts for which f has a replacement
// replaced; what is in these is not looked at. f returns nil to keep.
func Replace(e Expr, f func(Expr) Expr) Expr {
	if e == nil {
		return nil
	}
	if r := f(e); r != nil {
		return r
	}
	return Parts(e, func(x Expr) Expr { return Replace(x, f) })
}

// Visit calls f for e and, while f returns true, for what is in it.
func Visit(e Expr, f func(Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	Parts(e, func(x Expr) Expr {
		Visit(x, f)
		return x
	})
}
