package check

import (
	"errors"
	"fmt"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/object"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// user resolves `ufunc "PATH":F`, `uprobe "PATH":SYM` and `usdt "PATH":prov:name`
// through the target's file.
func (c *checker) user(one *syntax.One) ir.Source {
	f, ok := c.userFile(one.Path)
	if !ok {
		return nil
	}
	p := &ir.Probe{Path: f.Path(), Word: f.Arch().WordSize(), Span: one.Func.Span()}
	switch one.Kind {
	case syntax.KindUSDT:
		p.Place = ir.AtMark
		return c.mark(f, p, one)
	case syntax.KindUprobe:
		p.Place = ir.AtUser
	default:
		p.Place = ir.AtUserFunc
		p.End = ir.EndBoth
		if one.End != nil {
			p.End = ir.EndEnter
			if one.End.Text() == "exit" {
				p.End = ir.EndExit
			}
		}
	}
	sym, ok := c.userSymbol(f, p, one)
	if !ok {
		return nil
	}
	if p.Place == ir.AtUserFunc && p.End != ir.EndEnter && f.IsGo() {
		c.goReturn(one.Func.Span(), p.Symbol)
		return nil
	}
	if p.Offset != 0 && one.Sig != nil {
		c.argumentsInside(one.Sig.Span(), p.Symbol)
		return nil
	}
	c.userParams(f, p, sym, one.Sig)
	return p
}

// userFile opens the file of a user-space source.
func (c *checker) userFile(path *syntax.Path) (*object.File, bool) {
	if path == nil {
		return nil, false
	}
	name := ""
	switch {
	case path.Param != nil:
		v, ok := c.nameParam(path.Param)
		if !ok {
			return nil, false
		}
		name = v
	case path.Text != nil:
		v, err := path.Text.Value()
		if err != nil {
			return nil, false // the parser has said so
		}
		name = v
	}
	if f, ok := c.files[name]; ok {
		return f, f != nil
	}
	if len(name) == 0 || name[0] != '/' {
		c.relativePath(path.Span(), name)
		return nil, false
	}
	f, err := object.Open(c.t.FS(), name)
	if err != nil {
		c.badFile(path.Span(), name, err)
		f = nil
	}
	c.files[name] = f
	if f != nil {
		c.files[f.Path()] = f // as its structs have it
	}
	return f, f != nil
}

// userSymbol finds the place of a ufunc or uprobe in its file.
func (c *checker) userSymbol(f *object.File, p *ir.Probe, one *syntax.One) (object.Symbol, bool) {
	sp := one.Func.Span()
	if one.Func.Addr != nil {
		addr, unit, err := one.Func.Addr.Value()
		if err != nil || unit != "" {
			c.badNumber(sp, one.Func.Addr.Raw, "an address")
			return object.Symbol{}, false
		}
		off, sym, err := f.At(addr)
		if err != nil {
			c.noCodeAt(sp, one.Func.Addr.Raw, f.Path(), err)
			return sym, false
		}
		p.Symbol = eventNameFrom(one.Func.Addr.Raw)
		if sym.Name != "" {
			p.Symbol = sym.Name
		}
		p.Sites = []ir.Site{{Offset: off}}
		return sym, true
	}
	name, ok := one.Func.Name.Text(), true
	if one.Func.Param {
		if name, ok = c.nameParam(one.Func.Name); !ok {
			return object.Symbol{}, false
		}
	}
	sym, err := f.Function(name)
	if err != nil {
		c.unknownUserSymbol(sp, f, name, err)
		return sym, false
	}
	p.Symbol = name
	off := sym.Offset
	if one.Offset != nil {
		n, unit, err := one.Offset.Value()
		if err != nil || unit != "" {
			c.badNumber(one.Offset.Span(), one.Offset.Raw, "an offset in bytes")
			return sym, false
		}
		if sym.Size > 0 && n >= sym.Size {
			c.offsetOutside(one.Offset.Span(), name, sym.Size)
			return sym, false
		}
		p.Offset = n
		off += n
	}
	p.Sites = []ir.Site{{Offset: off}}
	return sym, true
}

// userParams gives a user-space function its parameters: by declaration, and by
// debug information where the file has it.
func (c *checker) userParams(f *object.File, p *ir.Probe, sym object.Symbol, sig *syntax.Sig) {
	if p.Offset != 0 {
		return
	}
	known, result, err := f.Params(sym)
	if err != nil {
		known, result = nil, nil
	}
	p.Result = result
	site := &p.Sites[0]
	if sig == nil {
		for _, k := range known {
			p.Args = append(p.Args, ir.Var{Name: k.Name, Type: k.Type})
			site.Args = append(site.Args, ir.SiteArg{Fetch: k.Fetch})
		}
		return
	}
	p.Args = c.params(sig, types.Int{Size: 8, Form: types.Hex})
	if sig.Result != nil {
		p.Result = c.typeOf(sig.Result)
	}
	for i, par := range sig.Params {
		fetch, ok := f.ArgFetch(sym, i+1)
		if i < len(known) {
			if known[i].Fetch != nil {
				fetch, ok = known[i].Fetch, true
			}
			if par.Type == nil {
				p.Args[i].Type = known[i].Type
			}
		}
		if !ok {
			c.noSuchArgument(par.Span(), i+1, string(f.Arch()))
			return
		}
		site.Args = append(site.Args, ir.SiteArg{Fetch: fetch})
	}
}

// mark resolves a static probe by its note: each of its sites has its own way to
// the arguments. Without a declaration these are called arg1, arg2 ….
func (c *checker) mark(f *object.File, p *ir.Probe, one *syntax.One) ir.Source {
	if one.Func.Module == nil || one.Func.Name == nil {
		c.markForm(one.Func.Span())
		return nil
	}
	p.Module, p.Symbol = one.Func.Module.Text(), one.Func.Name.Text()
	sites, err := f.USDT(p.Module, p.Symbol)
	if err != nil || len(sites) == 0 {
		c.unknownMark(one.Func.Span(), f, p.Module, p.Symbol, err)
		return nil
	}
	n := len(sites[0].Args)
	for _, s := range sites {
		n = min(n, len(s.Args))
	}
	for i := range n {
		p.Args = append(p.Args, ir.Var{Name: "arg" + itoa(i+1), Type: markType(sites, i)})
	}
	if one.Sig != nil {
		declared := c.params(one.Sig, nil)
		if len(declared) > n {
			c.tooManyParams(one.Sig.Params[n].Span(), p.Symbol, n)
			return nil
		}
		for i, d := range declared {
			p.Args[i].Name = d.Name
			if d.Type == nil {
				continue
			}
			if types.Size(d.Type) > types.Size(p.Args[i].Type) {
				c.wideMark(one.Sig.Params[i].Type.Span(), d.Type, p.Args[i].Type)
				return nil
			}
			p.Args[i].Type = d.Type
		}
	}
	for _, s := range sites {
		site := ir.Site{Offset: s.Offset, RefCtr: s.RefCtr}
		for i := range n {
			site.Args = append(site.Args, siteArg(s.Args[i], p.Args[i].Type))
		}
		p.Sites = append(p.Sites, site)
	}
	return p
}

// siteArg is how a site has an argument of type t. All sites of an event are
// fetched by one type, so one that has it in fewer bytes, or elsewhere than at a
// register's beginning, cannot be had.
func siteArg(a object.Arg, t types.Type) ir.SiteArg {
	out := ir.SiteArg{Fetch: a.Fetch, Bits: a.Type, Problem: a.Err}
	switch {
	case a.Err != nil:
	case a.Type.Bits != 0:
		out.Fetch, out.Problem = nil, errors.New("it is in the second byte of a register at one of its sites")
	case a.Size < types.Size(t):
		out.Fetch, out.Problem = nil, fmt.Errorf("it has %d bytes at one of its sites and %d at another", a.Size, types.Size(t))
	}
	return out
}

// markType is the type of a mark's argument: as wide as the widest of its sites
// has it.
func markType(sites []object.Probe, i int) types.Type {
	t := types.Int{Size: sites[0].Args[i].Size, Signed: sites[0].Args[i].Signed}
	for _, s := range sites[1:] {
		if a := s.Args[i]; a.Size > t.Size {
			t = types.Int{Size: a.Size, Signed: a.Signed}
		}
	}
	return t
}
