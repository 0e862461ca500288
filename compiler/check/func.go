package check

import (
	"errors"
	"strings"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// function resolves `func F`, `F.enter` and `F.exit`. Its parameters and its
// result come from BTF, from the script's own declaration, or both; where both
// speak, they must not contradict each other.
func (c *checker) function(one *syntax.One) ir.Source {
	p, ok := c.probeName(one, ir.AtFunc)
	if !ok {
		return nil
	}
	p.End = ir.EndBoth
	if one.End != nil {
		p.End = ir.EndEnter
		if one.End.Text() == "exit" {
			p.End = ir.EndExit
		}
	}
	if !c.probeSymbol(p) {
		return nil
	}
	proto, err := c.t.FuncProto(p.Module, p.Symbol)
	c.prototype(p, one.Sig, proto, err)
	return p
}

// tracepoint resolves `tracepoint NAME`: its arguments as the kernel's code
// passes them.
func (c *checker) tracepoint(one *syntax.One) ir.Source {
	p, ok := c.probeName(one, ir.AtTracepoint)
	if !ok {
		return nil
	}
	if one.End != nil {
		c.endOfTracepoint(one.End.Span())
	}
	if p.Module != "" {
		c.moduleOfTracepoint(one.Func.Span(), p.Module, p.Symbol)
		return nil
	}
	proto, err := c.t.TracepointProto(p.Symbol)
	if err != nil && !errors.Is(err, target.ErrNoBTF) {
		// The kernel takes a name that it does not know and waits for a module
		// to bring it: a misspelt one would stay silent.
		c.unknownTracepoint(p.Span, p.Symbol)
		return nil
	}
	if c.t.Has(target.TracepointProbes) && !c.t.TracepointProbeable(p.Symbol) {
		c.tracepointNotProbeable(p.Span, p.Symbol)
		return nil
	}
	c.prototype(p, one.Sig, proto, err)
	return p
}

// probeName resolves the name of a function or tracepoint.
func (c *checker) probeName(one *syntax.One, place ir.Place) (*ir.Probe, bool) {
	if one.Func.Name == nil {
		c.addressOfFunction(one.Func.Span(), place, one.Func.Addr.Raw)
		return nil, false
	}
	p := &ir.Probe{Place: place, Symbol: one.Func.Name.Text(), Span: one.Func.Span()}
	if one.Func.Param {
		v, ok := c.nameParam(one.Func.Name)
		if !ok {
			return nil, false
		}
		p.Symbol = v
	}
	if one.Func.Module != nil {
		p.Module = one.Func.Module.Text()
	}
	return p, true
}

// prototype gives a probe its parameters and result. proto is nil where BTF
// tells nothing.
func (c *checker) prototype(p *ir.Probe, sig *syntax.Sig, proto *target.Proto, err error) {
	if err != nil {
		proto = nil
	}
	if proto != nil {
		p.Result = proto.Result
		for i, a := range proto.Params {
			if s, ok := a.Type.(types.Struct); ok && s.Size > 8 && p.Lost == 0 {
				p.Lost = i + 1 // in two registers, or on the stack
			}
		}
	}
	if sig == nil {
		if proto != nil {
			for _, a := range proto.Params {
				p.Args = append(p.Args, ir.Var{Name: a.Name, Type: a.Type})
			}
		}
		return
	}
	p.Args = c.params(sig, types.Int{Size: 8, Form: types.Hex})
	if sig.Result != nil {
		t := c.typeOf(sig.Result)
		if proto != nil && !types.IsInvalid(t) && c.contradicts(t, proto.Result) {
			c.resultContradicts(sig.Result.Span(), p.Symbol, t, proto.Result)
		}
		p.Result = t
	}
	if proto == nil {
		return
	}
	for i, par := range sig.Params {
		if i >= len(proto.Params) {
			if !proto.Variadic {
				c.tooManyParams(par.Span(), p.Symbol, len(proto.Params))
			}
			return
		}
		real := proto.Params[i]
		if c.misplacedParam(sig, i, proto.Params) {
			return
		}
		switch {
		case par.Type == nil:
			p.Args[i].Type = real.Type
		case !types.IsInvalid(p.Args[i].Type) && c.contradicts(p.Args[i].Type, real.Type):
			c.paramContradicts(par.Type.Span(), par.Name.Text(), p.Args[i].Type, i, proto.Params)
		}
	}
}

// misplacedParam reports a parameter without a type that has the name of another
// of the function's, which is not declared at its own place.
func (c *checker) misplacedParam(sig *syntax.Sig, i int, params []target.Param) bool {
	par := sig.Params[i]
	name := par.Name.Text()
	if par.Type != nil || name == params[i].Name || i > 0 && sig.Params[i-1].Name.Text() == name {
		return false
	}
	for j, p := range params {
		if p.Name == name && j != i {
			c.paramMisplaced(sig, i, params)
			return true
		}
	}
	return false
}

// contradicts reports whether a declared type cannot be what BTF tells: another
// width, a number where there is an address and the other way round, or a pointer
// to another struct. A number of 64 bits may stand for an address, and signs may
// differ.
func (c *checker) contradicts(declared, real types.Type) bool {
	_, ptrD := declared.(types.Pointer)
	_, ptrR := real.(types.Pointer)
	if _, void := real.(types.Void); void {
		return true
	}
	if ptrD != ptrR {
		return types.Size(declared) != types.Size(real)
	}
	if ptrD {
		d, structD := declared.(types.Pointer).Elem.(types.Struct)
		r, structR := real.(types.Pointer).Elem.(types.Struct)
		return structD && structR && !c.sameObject(d, r)
	}
	return types.Size(declared) != types.Size(real) && types.Size(real) != 0
}

// sameObject reports whether a pointer to one struct may point to the other too:
// one begins with the other, as a tcp_sock does with a sock, or is a variant of it
// by the first word of its name, as sockaddr_in is of sockaddr.
func (c *checker) sameObject(a, b types.Struct) bool {
	wordA, _, _ := strings.Cut(a.Name, "_")
	wordB, _, _ := strings.Cut(b.Name, "_")
	return wordA == wordB || c.beginsWith(a, b.Name) || c.beginsWith(b, a.Name)
}

// beginsWith reports whether the first member of a struct, or the first of that,
// is a struct of a name.
func (c *checker) beginsWith(s types.Struct, name string) bool {
	for {
		members, err := c.t.Members(s)
		if err != nil || len(members) == 0 {
			return false
		}
		first, err := c.t.Member(s, members[0])
		inner, ok := first.Type.(types.Struct)
		if err != nil || !ok {
			return false
		}
		if inner.Name == name {
			return true
		}
		s = inner
	}
}

// member checks `X.f` and `X->f`: a stage's field, or a member of a struct.
func (c *checker) member(e *syntax.Selector, sc *scope) ir.Expr {
	if x, ok := sc.selector(e); ok {
		return x
	}
	x := c.expr(e.X, sc)
	if types.IsInvalid(x.Type()) {
		return x
	}
	sel, ok := e.Sel.(*syntax.Ident)
	if !ok {
		c.noMember(e, x)
		return c.invalid(e.Span())
	}
	if p, ok := x.Type().(types.Pointer); ok {
		s, isStruct := p.Elem.(types.Struct)
		switch {
		case !isStruct:
			c.noMember(e, x)
		case !e.Arrow:
			c.arrowWanted(e, sel)
		default:
			return c.memberOf(x, 0, s, sel, e.Span())
		}
		return c.invalid(e.Span())
	}
	s, isStruct := x.Type().(types.Struct)
	if l, ok := x.(*ir.Load); ok && isStruct {
		if e.Arrow {
			c.dotWanted(e, sel)
			return c.invalid(e.Span())
		}
		return c.memberOf(l.X, l.Off, s, sel, e.Span())
	}
	if isStruct && s.Size <= 8 && inValue(x) {
		return c.memberOfValue(x, s, sel, e.Span())
	}
	c.noMember(e, x)
	return c.invalid(e.Span())
}

// inValue reports whether a struct is a value by itself: a function gets or
// returns it.
func inValue(x ir.Expr) bool {
	switch x.(type) {
	case *ir.FieldRef, *ir.Context:
		return true
	}
	return false
}

// memberOfValue returns a member of a struct that a function gets or returns in
// a register, such as a kuid_t: a part of its bits.
func (c *checker) memberOfValue(x ir.Expr, s types.Struct, sel *syntax.Ident, sp source.Span) ir.Expr {
	m, err := c.memberOfStruct(s, sel.Text())
	if err != nil {
		c.unknownMember(sel.Span(), s, sel.Text())
		return c.invalid(sp)
	}
	switch m.Type.(type) {
	case types.Int, types.Bool, types.Pointer, types.Duration:
	default:
		c.noRegisterPart(sp, sel.Text())
		return c.invalid(sp)
	}
	if m.BitSize == 0 && m.Offset == 0 {
		return &ir.Cast{At: ir.At{T: m.Type, Sp: sp}, X: x}
	}
	at, width := m.Offset*8+m.BitOffset, m.BitSize
	if width == 0 {
		width = types.Size(m.Type) * 8
	}
	if types.Signed(m.Type) {
		c.noRegisterPart(sp, sel.Text())
		return c.invalid(sp)
	}
	word := &ir.Cast{At: ir.At{T: types.Int{Size: 8}, Sp: x.Span()}, X: x}
	bits := &ir.Bits{At: ir.At{T: types.Int{Size: 8}, Sp: sp}, X: word, Offset: at, Width: width}
	return &ir.Cast{At: ir.At{T: m.Type, Sp: sp}, X: bits}
}

// memberOf returns the member of a struct that lies off bytes behind p.
func (c *checker) memberOf(p ir.Expr, off int64, s types.Struct, sel *syntax.Ident, sp source.Span) ir.Expr {
	return c.memberAt(p, off, s, sel.Text(), sel.Span(), sp)
}

// memberAt is memberOf by name; nameAt is where a script has the name.
func (c *checker) memberAt(p ir.Expr, off int64, s types.Struct, name string, nameAt, sp source.Span) ir.Expr {
	m, err := c.memberOfStruct(s, name)
	switch {
	case errors.Is(err, target.ErrNoBTF):
		c.noBTF(sp)
		return c.invalid(sp)
	case err != nil:
		c.unknownMember(nameAt, s, name)
		return c.invalid(sp)
	}
	if m.BitSize > 0 {
		if types.Signed(m.Type) {
			// A probe's bits have no sign. One bit is 0 or 1 to everybody.
			if m.BitSize > 1 {
				c.signedBits(nameAt, name)
				return c.invalid(sp)
			}
			m.Type = types.Int{Size: types.Size(m.Type)}
		}
		word := &ir.Load{At: ir.At{T: types.Int{Size: m.Container}, Sp: sp}, X: p, Off: off + int64(m.Offset)}
		return &ir.Bits{At: ir.At{T: m.Type, Sp: sp}, X: word, Offset: m.BitOffset, Width: m.BitSize}
	}
	return &ir.Load{At: ir.At{T: behindUser(p, m.Type), Sp: sp}, X: p, Off: off + int64(m.Offset)}
}

// memberOfStruct returns a member as the kernel's type information, or that of
// the program whose struct it is, tells it. A program's struct may bear the name
// of one of the kernel's and be another.
func (c *checker) memberOfStruct(s types.Struct, name string) (target.Member, error) {
	if f := c.files[s.File]; f != nil && s.File != "" {
		return f.Member(s, name)
	}
	return c.t.Member(s, name)
}

// behindUser is the type of what is read through p: an address that lies in
// user memory is one of user memory.
func behindUser(p ir.Expr, t types.Type) types.Type {
	from, ok := p.Type().(types.Pointer)
	to, isPointer := t.(types.Pointer)
	if ok && isPointer && from.User {
		to.User = true
		return to
	}
	return t
}
