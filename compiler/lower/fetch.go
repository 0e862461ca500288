package lower

import (
	"fmt"
	"go/constant"
	"go/token"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/object"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// fetcher makes the arguments of one probe.
type fetcher struct {
	l     *lowerer
	on    *record   // of an eprobe: what it hangs on
	probe *ir.Probe // of a probe
	site  int       // of a probe in user space: which of its sites
	ev    *ir.Event
}

// arg makes the argument that reads x, nil if the kernel cannot, which has been
// reported.
func (f *fetcher) arg(name string, x ir.Expr) *command.Arg {
	fetch := f.fetch(x)
	if fetch == nil {
		return nil
	}
	a := &command.Arg{Name: name, Fetch: fetch, Type: f.fetchType(x), Span: x.Span()}
	if a.Type.Count > 0 {
		switch d := fetch.(type) {
		case command.FieldOf: // the field is the array's address
			a.Fetch = command.Deref{X: fetch, Span: x.Span()}
		case command.Deref:
			if d.User {
				f.l.userArray(x.Span())
				return nil
			}
		}
	}
	return f.limited(a, x)
}

// fetch returns how a probe gets x, nil if it cannot, which has been reported.
func (f *fetcher) fetch(x ir.Expr) command.Fetch {
	sp := x.Span()
	switch x := x.(type) {
	case *ir.FieldRef:
		return f.word(x, f.field(x))
	case *ir.Const:
		if x.Value.Kind() == constant.String {
			return command.ImmString{Text: constant.StringVal(x.Value), Span: sp}
		}
		return immediate(x)
	case *ir.Context:
		switch x.Kind {
		case ir.Comm:
			return command.Comm{Span: sp}
		case ir.Reg:
			return command.Reg{Name: x.Reg, Span: sp}
		case ir.StackWord:
			return command.StackN{N: x.N, Span: sp}
		case ir.Arg:
			return f.argument(x.N-1, sp)
		case ir.Ret:
			return command.RetVal{Span: sp}
		}
	case *ir.Str:
		return f.behind(x.X, 0, x)
	case *ir.Load:
		return f.word(x, f.behind(x.X, x.Off, x))
	case *ir.Cast:
		return f.fetch(x.X)
	case *ir.Bits:
		return f.fetch(x.X)
	case *ir.Early:
		return f.fetch(x.X)
	}
	f.l.cannotFetch(sp)
	return nil
}

// word refuses an address in memory that a program with narrower ones has there:
// the kernel reads a word of its own.
func (f *fetcher) word(x ir.Expr, fetch command.Fetch) command.Fetch {
	if f.probe == nil || f.probe.Word == 0 || f.probe.Word >= f.l.t.Arch().WordSize() || fetch == nil {
		return fetch
	}
	_, pointer := x.Type().(types.Pointer)
	_, register := fetch.(command.Reg)
	if pointer && !register {
		f.l.narrowAddress(x.Span(), f.probe.Word*8)
		return nil
	}
	return fetch
}

// immediate writes a number as the probe takes it: bits of a long.
func immediate(x *ir.Const) command.Fetch {
	if d, ok := x.T.(types.Duration); ok { // kept as a whole number of its unit
		x = &ir.Const{At: x.At, Value: constant.BinaryOp(x.Value, token.QUO_ASSIGN, constant.MakeUint64(d.Unit.NS()))}
	}
	v := x.Kernel()
	if n, ok := constant.Int64Val(v); ok {
		return command.Imm{N: n, Span: x.Sp}
	}
	n, _ := constant.Uint64Val(v)
	return command.Imm{N: int64(n), Unsigned: true, Span: x.Sp}
}

// field returns how a probe gets a field: of the event that it hangs on, or an
// argument of the function by position.
func (f *fetcher) field(x *ir.FieldRef) command.Fetch {
	if f.probe != nil {
		for i, a := range f.probe.Args {
			if a.Name == x.Name {
				return f.argument(i, x.Sp)
			}
		}
		panic("internal error: no argument " + x.Name)
	}
	c := f.on.column(x.Name)
	if c == nil {
		panic("internal error: no field " + x.Name + " in " + f.on.name.String())
	}
	if c.charPtr && f.l.t.Has(target.QuirkEprobePointerByte) {
		f.l.charPointer(x.Sp, f.on, x.Name)
		return nil
	}
	switch t := c.typ.(type) {
	case types.Array:
		switch {
		case c.inPlace == 0:
			f.l.cannotCopy(x.Sp, x.Name, t)
			return nil
		case c.inPlace == 1 || c.inPlace == 2 || c.inPlace == 4 || c.inPlace == 8:
			// kernel/trace/trace_eprobe.c, get_event_field: an array of a
			// number's size is read as that number.
			f.l.arrayAsNumber(x.Sp, x.Name, c.inPlace)
			return nil
		case !f.l.t.Has(target.EprobeArrayAddress):
			f.l.arrayByValue(x.Sp, x.Name)
			return nil
		}
	case types.Stack, types.Struct, types.Void:
		f.l.cannotCopy(x.Sp, x.Name, c.typ)
		return nil
	}
	return command.FieldOf{Name: x.Name, Span: x.Sp}
}

// argument returns how a probe gets the i-th argument, counted from 0: by its
// number in the kernel, by the site's own way in user space.
func (f *fetcher) argument(i int, sp source.Span) command.Fetch {
	if p := f.probe; p.End == ir.EndExit && (p.Place != ir.AtFunc || !f.l.t.Has(target.ReturnArgs)) {
		f.l.argumentAtReturn(sp, p)
		return nil
	}
	if lost := f.probe.Lost; lost > 0 && i+1 >= lost {
		f.l.argumentLost(sp, lost)
		return nil
	}
	if len(f.probe.Sites) == 0 {
		if most := registerArgs(f.l.t.Arch()); i >= most {
			f.l.argumentOnStack(sp, i+1, most)
			return nil
		}
		if f.probe.Addressed || f.probe.End == ir.EndEnter && f.l.prog.Options.Functions != "fprobe" && f.l.awaited(f.probe) {
			// The kernel does not know that this is a function's entry. The registers of C's calls are the same in the kernel.
			if reg, ok := object.ArgFetch(f.l.t.Arch(), i+1); ok {
				return reg
			}
		}
		return command.ArgN{N: i + 1, Span: sp}
	}
	site := f.probe.Sites[f.site]
	if i < len(site.Args) {
		if site.Args[i].Fetch == nil {
			f.l.argumentNotThere(sp, site.Args[i].Problem)
			return nil
		}
		return site.Args[i].Fetch
	}
	fetch, ok := object.ArgFetch(f.l.t.Arch(), i+1)
	if !ok {
		f.l.argumentNotThere(sp, nil)
		return nil
	}
	return fetch
}

// registerArgs is how many arguments of a function a kernel finds: those in
// registers and, on x86_64 alone, on the stack. Of others it reads 0 without a
// word (regs_get_kernel_argument in each arch/*/include/asm/ptrace.h).
func registerArgs(a target.Arch) int {
	switch a {
	case target.ARM64, target.RISCV64:
		return 8
	case target.ARM:
		return 4
	case target.I386:
		return 3
	}
	return command.MaxArgs
}

// behind returns how a probe reads memory off bytes behind x.
func (f *fetcher) behind(x ir.Expr, off int64, whole ir.Expr) command.Fetch {
	base, more, _ := offset(x)
	if a := variable(base); a != nil && a.PerCPU {
		return f.perCPU(a, off+more, whole.Span())
	} else if a != nil {
		return command.At{Symbol: a.Symbol, Off: off + more, Span: whole.Span()}
	}
	inner := f.fetch(base)
	if inner == nil {
		return nil
	}
	d := command.Deref{Off: off + more, X: inner, Span: whole.Span()}
	if _, text := whole.(*ir.Str); text {
		return d // the type ustring says whose memory it is
	}
	if p, ok := x.Type().(types.Pointer); ok {
		d.User = p.User
	}
	return d
}

// perCPU returns how a probe in the kernel reads a variable that each CPU has for
// itself: that of the CPU that it runs on. An eprobe cannot.
func (f *fetcher) perCPU(a *ir.Addr, off int64, sp source.Span) command.Fetch {
	if f.on != nil || f.probe == nil || len(f.probe.Sites) > 0 {
		f.l.perCPUElsewhere(sp, a.Symbol)
		return nil
	}
	return command.Deref{Off: off, X: command.Special{Text: "this_cpu_ptr(@" + a.Symbol + ")", Span: sp}, Span: sp}
}

// fetchType returns the kernel's type for x's.
func (f *fetcher) fetchType(x ir.Expr) command.FetchType {
	if b := bitsIn(x); b != nil {
		of := types.Size(b.X.Type()) * 8
		if n := types.Size(x.Type()) * 8; n >= b.Offset+b.Width && n < of {
			of = n
		}
		if _, read := b.X.(*ir.Load); read { // all of it is there to be read
			of = types.Size(b.X.Type()) * 8
		}
		return command.FetchType{Base: "b", Bits: b.Width, Offset: b.Offset, Of: of}
	}
	if n := textLength(x); n > 0 {
		if f.l.t.Has(target.CharType) {
			return command.FetchType{Base: "char", Count: n}
		}
		return command.FetchType{Base: "u8", Count: n}
	}
	return command.FetchType{Base: f.base(x), Count: count(x)}
}

// textLength is how many bytes of text x is, if that is said; else 0.
func textLength(x ir.Expr) int {
	switch x := x.(type) {
	case *ir.Str:
		return x.Max
	case *ir.Cast:
		return textLength(x.X)
	case *ir.Early:
		return textLength(x.X)
	}
	return 0
}

// bitsIn returns the bits that x is, perhaps cast; nil if it is something else.
func bitsIn(x ir.Expr) *ir.Bits {
	for {
		switch in := x.(type) {
		case *ir.Bits:
			return in
		case *ir.Cast:
			x = in.X
		case *ir.Early:
			x = in.X
		default:
			return nil
		}
	}
}

// count is the length of an array, 0 of all else.
func count(x ir.Expr) int {
	if a, ok := x.Type().(types.Array); ok {
		return a.Len
	}
	return 0
}

func (f *fetcher) base(x ir.Expr) string {
	t := x.Type()
	if a, ok := t.(types.Array); ok {
		t = a.Elem
	}
	switch t := t.(type) {
	case types.String:
		if readsUser(x) {
			return "ustring"
		}
		return "string"
	case types.Pointer:
		return "x64"
	case types.Bool:
		return "u8"
	case types.Int:
		switch t.Form {
		case types.Hex:
			return fmt.Sprintf("x%d", t.Size*8)
		case types.Char:
			if f.l.t.Has(target.CharType) {
				return "char"
			}
		case types.Ksym:
			if t.Size == 8 {
				return "symbol"
			}
		}
	}
	if types.Signed(t) {
		return fmt.Sprintf("s%d", types.Size(t)*8)
	}
	return fmt.Sprintf("u%d", types.Size(t)*8)
}

// readsUser reports whether a text is read from user memory.
func readsUser(x ir.Expr) bool {
	switch x := x.(type) {
	case *ir.Str:
		p, ok := x.X.Type().(types.Pointer)
		return ok && p.User
	case *ir.Cast:
		return readsUser(x.X)
	case *ir.Early:
		return readsUser(x.X)
	}
	return false
}

// limited reports an argument that is longer or nests deeper than the kernel
// takes.
func (f *fetcher) limited(a *command.Arg, x ir.Expr) *command.Arg {
	limits := f.l.t.Limits()
	if n, most := command.ArgBody(*a), limits.ArgText; n > most {
		f.l.argTooLong(x.Span(), n, most)
		return nil
	}
	depth := 0
	for in := a.Fetch; ; depth++ {
		d, ok := in.(command.Deref)
		if !ok {
			break
		}
		in = d.X
	}
	if most := limits.ArgNesting; depth > most {
		f.l.tooFar(x)
		return nil
	}
	return a
}
