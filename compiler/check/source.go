package check

import (
	"errors"
	"strings"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// source resolves what a stage's events are; nil if that cannot be told, or if
// an optional one is absent, which absent tells.
//
// Of alternatives the first is taken that the target has. What is wrong with an
// earlier one is an error all the same, unless it is merely not there.
func (c *checker) source(s *syntax.Source) (src ir.Source, absent bool) {
	for i, alt := range s.Alts {
		before := len(c.list)
		src := c.oneSource(alt.One)
		found := c.list[before:]
		if src != nil && !found.HasErrors() {
			return src, false
		}
		last := i == len(s.Alts)-1
		if !notThere(found) {
			return src, false
		}
		if !last {
			c.list = c.list[:before]
			continue
		}
		if s.Alts[len(s.Alts)-1].Optional {
			c.list = c.list[:before]
			c.absentSource(s.Span())
			return nil, true
		}
		return src, false
	}
	return nil, false
}

// notThere reports whether all errors of list say that the target has not what
// a source names.
func notThere(list diag.List) bool {
	absent := false
	for _, d := range list {
		if d.Severity != diag.Error {
			continue
		}
		switch d.Code {
		case diag.UnknownEvent, diag.UnknownSymbol, diag.UnknownSyscall, diag.NotProbeable, diag.MissingFeature:
			absent = true
		default:
			return false
		}
	}
	return absent
}

func (c *checker) oneSource(one *syntax.One) ir.Source {
	switch one.Kind {
	case syntax.KindName:
		return c.namedSource(one.Name)
	case syntax.KindSyscall:
		return c.syscall(one)
	case syntax.KindKprobe:
		return c.kprobe(one)
	case syntax.KindFunc:
		return c.function(one)
	case syntax.KindTracepoint:
		return c.tracepoint(one)
	case syntax.KindUfunc, syntax.KindUprobe, syntax.KindUSDT:
		return c.user(one)
	}
	panic("internal error: source of kind " + one.Kind.String())
}

// namedSource resolves `name` and `a.b`: an event of the script, then one of
// the target.
func (c *checker) namedSource(q *syntax.QName) ir.Source {
	name, span := qname(q)
	if d, ok := c.decls[name]; ok {
		return c.declared(d, name, span)
	}
	if q.Group == nil {
		c.unknownEventName(span, name)
		return nil
	}
	if m, ok := c.modules[q.Group.Text()]; ok {
		return c.imported(m, q.Name.Text(), span)
	}
	return c.targetEvent(q.Group.Text(), q.Name.Text(), q)
}

// declared resolves a name of the script that is used as a source.
func (c *checker) declared(d *decl, name string, span source.Span) ir.Source {
	switch d.item.(type) {
	case *syntax.Event:
	default:
		c.notAnEvent(span, name, d.span)
		return nil
	}
	d.used = true
	if d.state == open {
		c.recursiveEvent(span, name)
		return nil
	}
	c.resolve(d)
	if d.absent {
		c.absentEvent(span, name, d.span)
	}
	if d.event == nil {
		return nil
	}
	return &ir.Derived{Event: d.event}
}

// targetEvent resolves an event of the target.
func (c *checker) targetEvent(group, name string, q *syntax.QName) ir.Source {
	f, err := c.t.Format(group, name)
	switch {
	case err == nil && group == "ftrace" && name != "print":
		c.recordOfTracers(q.Span(), group+"."+name)
	case err == nil:
		return &ir.KernelEvent{Format: f}
	case errors.Is(err, target.ErrNotFound):
		c.unknownEvent(q, group, name)
	default:
		c.unreadableEvent(q.Span(), group, name, err)
	}
	return nil
}

// syscall resolves `syscall X`, `X.enter` and `X.exit`. Its arguments come from
// the target's format of sys_enter_X; a target without syscall events has
// raw_syscalls, whose arguments have no names.
func (c *checker) syscall(one *syntax.One) ir.Source {
	if one.Func == nil || one.Func.Name == nil {
		c.badSyscallName(one.Span(), "syscall openat")
		return nil
	}
	if one.Func.Module != nil {
		c.badSyscallName(one.Func.Span(), "syscall openat")
		return nil
	}
	name, span := one.Func.Name.Text(), one.Func.Name.Span()
	if one.Func.Param {
		v, ok := c.nameParam(one.Func.Name)
		if !ok {
			return nil
		}
		name = v
	}
	nr, ok := c.t.Syscall(name)
	if !ok {
		c.unknownSyscall(span, name)
		return nil
	}
	s := &ir.Syscall{Name: name, Nr: nr, End: ir.EndBoth}
	if one.End != nil {
		s.End = ir.EndEnter
		if one.End.Text() == "exit" {
			s.End = ir.EndExit
		}
	}
	switch {
	case s.End == ir.EndExit && one.Sig != nil:
		c.signatureAtExit(one.Sig.Span())
	case s.End == ir.EndExit:
	case one.Sig != nil:
		s.Args = c.params(one.Sig, types.Int{Size: 8, Form: types.Hex})
	default:
		s.Args = c.syscallArgs(span, name)
	}
	return s
}

// syscallArgs returns the named arguments of a system call.
func (c *checker) syscallArgs(span source.Span, name string) []ir.Var {
	if event, ok := c.t.SyscallEvent(name); ok {
		if f, err := c.t.Format("syscalls", "sys_enter_"+event); err == nil {
			return formatArgs(f)
		}
	}
	args, ok := argumentsOf(name)
	if !ok {
		c.noSyscallEvent(span, name)
	}
	return args
}

// kprobe resolves `kprobe SYM[+N](args…)`.
func (c *checker) kprobe(one *syntax.One) ir.Source {
	if one.Func.Name == nil {
		return c.kprobeAtAddress(one)
	}
	k := &ir.Probe{Symbol: one.Func.Name.Text(), Span: one.Func.Span()}
	if one.Func.Param {
		v, ok := c.nameParam(one.Func.Name)
		if !ok {
			return nil
		}
		k.Symbol = v
	}
	if one.Func.Module != nil {
		k.Module = one.Func.Module.Text()
	}
	if one.Offset != nil {
		v, unit, err := one.Offset.Value()
		if err != nil || unit != "" {
			c.badNumber(one.Offset.Span(), one.Offset.Raw, "an offset in bytes")
			return nil
		}
		k.Offset = v
	}
	if !c.probeSymbol(k) {
		return nil
	}
	if !target.TextStart(k.Symbol) && c.t.InsideInstruction(k.Offset) {
		c.insideInstruction(one.Offset.Span(), k)
		return nil
	}
	if one.Sig != nil {
		if k.Offset != 0 {
			c.argumentsInside(one.Sig.Span(), k.Symbol)
		}
		k.Args = c.params(one.Sig, types.Int{Size: 8, Form: types.Hex})
		if one.Sig.Result != nil {
			c.resultOfKprobe(one.Sig.Result.Span())
		}
	}
	return k
}

// kprobeAtAddress resolves `kprobe 0xADDR(args…)`, an address of the boot that it
// is used in. The kernel takes any number and finds out when the probe is
// switched on.
func (c *checker) kprobeAtAddress(one *syntax.One) ir.Source {
	at := one.Func.Addr
	v, unit, err := at.Value()
	if one.Offset != nil {
		c.offsetOfAddress(one.Offset.Span())
		return nil
	}
	if err != nil || unit != "" || v>>(c.t.Arch().WordSize()*8-1) != 1 {
		c.badNumber(at.Span(), at.Raw, "an address of the kernel, such as 0xffffffff81000000")
		return nil
	}
	k := &ir.Probe{Symbol: at.Raw, Offset: v, Addressed: true, Span: one.Func.Span()}
	if one.Sig != nil {
		k.Args = c.params(one.Sig, types.Int{Size: 8, Form: types.Hex})
		if one.Sig.Result != nil {
			c.resultOfKprobe(one.Sig.Result.Span())
		}
	}
	return k
}

// probeSymbol reports a symbol that the target has not, or will not probe. A
// module that is not loaded may bring it.
func (c *checker) probeSymbol(k *ir.Probe) bool {
	before := len(c.list)
	c.probedSymbol(k)
	return !c.list[before:].HasErrors()
}

func (c *checker) probedSymbol(k *ir.Probe) {
	if !plainSymbol(k.Symbol) {
		c.badSymbol(k.Span, k.Symbol)
		return
	}
	if k.Module != "" && !plainModule(k.Module) {
		c.badModule(k.Span, k.Module)
		return
	}
	if rest, ok := syscallWrapper(k.Symbol); ok {
		c.syscallWrapper(k.Span, k.Symbol, rest)
		return
	}
	if k.Module != "" {
		c.likelyModule(k)
		return
	}
	if target.TextStart(k.Symbol) && k.Place == ir.AtInstruction {
		if k.Offset == 0 {
			c.startOfText(k.Span, k.Symbol)
		}
		return
	}
	fn, err := c.t.Function(k.Symbol)
	if err != nil {
		return // the list cannot be read: the kernel will say
	}
	if len(fn.Modules) > 1 && c.t.Has(target.UniqueSymbols) {
		c.ambiguousSymbol(k.Span, k.Symbol, fn.Modules)
		return
	}
	switch fn.State {
	case target.SymbolAbsent:
		c.unknownSymbol(k)
	case target.SymbolUnlisted:
		// Not among the functions that can be traced: a kprobe may still do,
		// on code that BTF knows of.
		if _, err := c.t.FuncProto("", k.Symbol); k.Place == ir.AtFunc || errors.Is(err, target.ErrNotFound) {
			c.unknownSymbol(k)
		}
	case target.SymbolFprobeOnly:
		if k.Place == ir.AtInstruction {
			c.onlyFprobe(k.Span, k.Symbol)
		}
	case target.SymbolFixed:
		c.notProbeable(k.Span, k.Symbol)
	case target.SymbolData:
		c.dataNotCode(k.Span, k.Symbol)
	}
}

// plainSymbol reports whether s can stand in a probe line.
func plainSymbol(s string) bool {
	for i := 0; i < len(s); i++ {
		ch := s[i]
		if !(ch == '_' || ch == '.' || ch == '$' || ch >= '0' && ch <= '9' && i > 0 || ch|0x20 >= 'a' && ch|0x20 <= 'z') {
			return false
		}
	}
	return s != ""
}

// plainModule reports whether s can be a module's name in a probe line.
func plainModule(s string) bool {
	for i := 0; i < len(s); i++ {
		ch := s[i]
		if !(ch == '_' || ch == '-' || ch >= '0' && ch <= '9' || ch|0x20 >= 'a' && ch|0x20 <= 'z') {
			return false
		}
	}
	return s != ""
}

// syscallWrapper reports whether a symbol is a system call's entry that gets a
// pt_regs and not the arguments, and returns the call's name
// (CONFIG_ARCH_HAS_SYSCALL_WRAPPER, since v4.17).
func syscallWrapper(symbol string) (string, bool) {
	for _, p := range []string{"__x64_sys_", "__x64_compat_sys_", "__arm64_sys_", "__arm64_compat_sys_", "__ia32_sys_", "__ia32_compat_sys_", "__riscv_sys_"} {
		if rest, ok := strings.CutPrefix(symbol, p); ok {
			return rest, true
		}
	}
	return "", false
}

// params returns declared parameters by position; def is the type of those
// that have none.
func (c *checker) params(sig *syntax.Sig, def types.Type) []ir.Var {
	var out []ir.Var
	first := map[string]source.Span{}
	for _, p := range sig.Params {
		v := ir.Var{Type: def}
		if name := p.Name.Text(); name != "_" {
			v.Name = name
			if at, taken := first[name]; taken {
				c.duplicateName(p.Name.Span(), name, at)
			}
			first[name] = p.Name.Span()
		}
		if p.Type != nil {
			v.Type = c.typeOf(p.Type)
			switch v.Type.(type) {
			case types.String:
				c.stringInRegister(p.Type.Span())
				v.Type = types.Invalid{}
			case types.Array:
				c.arrayInRegister(p.Type.Span(), v.Type)
				v.Type = types.Invalid{}
			}
		}
		out = append(out, v)
	}
	return out
}

// nameParam returns the text of a param that stands for a name: `func (p)`.
func (c *checker) nameParam(id *syntax.Ident) (string, bool) {
	v := c.constant(id)
	if v == nil {
		c.unknownName(id.Span(), id.Text(), c.constNames())
		return "", false
	}
	s, ok := constString(v)
	if !ok {
		if !types.IsInvalid(v.T) {
			c.wantText(id.Span(), id.Text(), v.T)
		}
		return "", false
	}
	return s, true
}

// argumentsOf returns the arguments of a system call from the embedded targets,
// for a target that has no syscall events to tell them.
func argumentsOf(name string) ([]ir.Var, bool) {
	for _, from := range []string{target.DefaultName, "6.17-arm64"} {
		t, err := target.Embedded(from)
		if err != nil {
			continue
		}
		event, ok := t.SyscallEvent(name)
		if !ok {
			continue
		}
		if f, err := t.Format("syscalls", "sys_enter_"+event); err == nil {
			return formatArgs(f), true
		}
	}
	return nil, false
}

// formatArgs returns the arguments in the format of sys_enter_X, in order. What
// newer kernels copy of the caller's memory beside them are no arguments.
func formatArgs(f *target.Format) []ir.Var {
	copies := map[string]bool{}
	for _, field := range f.Fields {
		if c := f.Copied(field.Name); c != nil {
			copies[c.Name] = true
		}
	}
	var out []ir.Var
	for _, field := range f.Fields {
		if field.Name != "__syscall_nr" && !copies[field.Name] {
			out = append(out, ir.Var{Name: field.Name, Type: field.Type})
		}
	}
	return out
}
