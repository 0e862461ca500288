package check

import (
	"go/constant"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// param checks `param NAME [: type] [= E]` and takes its value from the
// command line where that gives one.
func (c *checker) param(p *syntax.Param) *ir.Const {
	name := p.Name.Text()
	if text, ok := c.set[name]; ok {
		return c.setParam(p, text)
	}
	if p.Value == nil {
		c.paramWithoutValue(p.Name.Span(), name)
		return c.invalidConst(p.Name.Span())
	}
	return c.constValue(p.Value, p.Type)
}

func (c *checker) constDecl(k *syntax.Const) *ir.Const { return c.constValue(k.Value, k.Type) }

// constValue checks that e is a constant and gives it the declared type, whose
// names of values e may use.
func (c *checker) constValue(e syntax.Expr, declared syntax.TypeExpr) *ir.Const {
	sc := &scope{c: c}
	var t types.Type
	if declared != nil {
		if t = c.typeOf(declared); types.IsInvalid(t) {
			return c.invalidConst(e.Span())
		}
		sc.opp = &opposite{t, declared.Span()}
	}
	x := c.expr(e, sc)
	k, ok := x.(*ir.Const)
	if !ok {
		c.notConstant(x)
		return c.invalidConst(e.Span())
	}
	if t == nil || types.IsInvalid(k.T) {
		return k
	}
	k.Sp = e.Span()
	out, _ := c.convertConst(k, t, k.Sp, declared.Span()).(*ir.Const)
	return out
}

// setParam gives a param the value that the command line says. Its type is the
// declared one, else that of the default.
func (c *checker) setParam(p *syntax.Param, text string) *ir.Const {
	var want types.Type
	switch {
	case p.Type != nil:
		want = c.typeOf(p.Type)
	case p.Value != nil:
		want = c.expr(p.Value, &scope{c: c}).Type()
	}
	if want != nil && types.IsInvalid(want) {
		return c.invalidConst(p.Name.Span())
	}
	k := c.given(p.Name.Text(), text, want, p.Type != nil)
	if k == nil {
		c.badSetValue(p.Name.Span(), p.Name.Text(), text, want)
		return c.invalidConst(p.Name.Span())
	}
	return &ir.Const{At: ir.At{T: k.T, Sp: source.NoSpan}, Value: k.Value}
}

// given is what a text of the command line is as a value of the type, nil if it is
// not one; whole says that the value is kept as that type. The text is an expression,
// or what a record shows of such a value. For a string, and without a type where it
// is no constant, it is itself, so that neither names nor paths need quotes.
func (c *checker) given(name, text string, want types.Type, whole bool) *ir.Const {
	src, err := source.New("--set "+name, text)
	if err != nil {
		return nil
	}
	e, list := syntax.ParseValue(src)
	if _, isText := want.(types.String); isText {
		if quoted, ok := e.(*syntax.String); ok && !list.HasErrors() {
			if v, err := quoted.Value(); err == nil {
				text = v
			}
		}
		return textConst(text, source.NoSpan)
	}
	inner := &checker{src: src, t: c.t, decls: map[string]*decl{}, used: map[string]source.Span{}}
	sc := &scope{c: inner}
	if want != nil {
		sc.opp = &opposite{want, e.Span()}
	}
	x := sc.valueName(text, e.Span())
	if x == nil && !list.HasErrors() {
		x = inner.expr(e, sc)
	}
	k, ok := x.(*ir.Const)
	if !ok || inner.list.HasErrors() {
		if want == nil && text != "" {
			return textConst(text, source.NoSpan)
		}
		return nil
	}
	if want == nil {
		return k
	}
	if d, ok := want.(types.Duration); ok && plainNumber(k) {
		if constant.Sign(k.Value) != 0 {
			return nil // a number of what?
		}
		return &ir.Const{At: ir.At{T: d}, Value: k.Value}
	}
	if !whole {
		if !sameKind(want, k.T) {
			return nil
		}
		return k
	}
	out, _ := inner.convertConst(k, want, k.Sp, k.Sp).(*ir.Const)
	if inner.list.HasErrors() {
		return nil
	}
	return out
}
