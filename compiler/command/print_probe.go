package command

// The lines of probes, as they are printed here:
//
//	e:GRP/NAME SYS.EVENT ARG… [if COND]
//	p:GRP/NAME [MOD:]SYM[+OFF] ARG…       or an address for the place
//	r[MAXACTIVE]:GRP/NAME [MOD:]SYM ARG…
//	f:GRP/NAME [MOD:]SYM[%return] ARG…
//	t:GRP/NAME TRACEPOINT ARG…
//	p:GRP/NAME PATH:0xOFF[(0xREFCTR)] ARG…, with r: at a return
//	ARG := NAME=FETCH[:TYPE]
//
// kernel/trace/trace_probe.c, trace_kprobe.c, trace_fprobe.c, trace_eprobe.c
// and trace_uprobe.c read them.

func (p *printer) eprobe(c *Eprobe) {
	p.inEprobe = true
	p.text("e:")
	p.name(c.EventName, '/')
	p.char(' ')
	p.name(c.On, '.')
	p.args(c.Args)
	p.cond(c.If)
}

func (p *printer) kprobe(c *Kprobe) {
	p.returns(c.Return, c.MaxActive)
	p.name(c.EventName, '/')
	p.char(' ')
	o := p.open(c.At)
	p.module(c.Module)
	switch {
	case c.Symbol == "":
		p.hex(c.Offset)
	case c.Offset != 0:
		p.text(c.Symbol)
		p.char('+')
		p.uint(c.Offset)
	default:
		p.text(c.Symbol)
	}
	p.close(o)
	p.args(c.Args)
}

func (p *printer) fprobe(c *Fprobe) {
	p.text("f:")
	p.name(c.EventName, '/')
	p.char(' ')
	o := p.open(c.At)
	p.module(c.Module)
	p.text(c.Symbol)
	if c.Return {
		p.text("%return")
	}
	p.close(o)
	p.args(c.Args)
}

func (p *printer) uprobe(c *Uprobe) {
	p.returns(c.Return, 0)
	p.name(c.EventName, '/')
	p.char(' ')
	o := p.open(c.At)
	p.text(c.Path)
	p.char(':')
	p.hex(c.Offset)
	if c.RefCtr != 0 {
		p.char('(')
		p.hex(c.RefCtr)
		p.char(')')
	}
	p.close(o)
	p.args(c.Args)
}

func (p *printer) returns(yes bool, maxActive int) {
	switch {
	case !yes:
		p.text("p:")
	case maxActive > 0:
		p.char('r')
		p.int(maxActive)
		p.char(':')
	default:
		p.text("r:")
	}
}

func (p *printer) module(name string) {
	if name != "" {
		p.text(name)
		p.char(':')
	}
}

func (p *printer) args(args []Arg) {
	for _, a := range args {
		p.char(' ')
		o := p.open(a.Span)
		if a.Name != "" {
			p.text(a.Name)
			p.char('=')
		}
		p.fetch(a.Fetch)
		p.fetchType(a.Type)
		p.close(o)
	}
}

// fetchType prints `:BASE[[COUNT]]` or `:bBITS@OFFSET/OF[[COUNT]]`.
func (p *printer) fetchType(t FetchType) {
	if t.Base == "" {
		return
	}
	p.char(':')
	p.text(t.Base)
	if t.Bits != 0 {
		p.int(t.Bits)
		p.char('@')
		p.int(t.Offset)
		p.char('/')
		p.int(t.Of)
	}
	if t.Count != 0 {
		p.char('[')
		p.int(t.Count)
		p.char(']')
	}
}

func (p *printer) fetch(f Fetch) {
	switch f := f.(type) {
	case FieldOf:
		p.part(f.Span, "$"+f.Name)
	case ArgN:
		o := p.open(f.Span)
		p.text("$arg")
		p.int(f.N)
		p.close(o)
	case RetVal:
		p.part(f.Span, "$retval")
	case Comm:
		// In an eprobe `$comm` is the field of that name if its event has one;
		// `$COMM` is always the task's. trace_probe.c, parse_probe_vars.
		if p.inEprobe {
			p.part(f.Span, "$COMM")
			return
		}
		p.part(f.Span, "$comm")
	case StackAddr:
		p.part(f.Span, "$stack")
	case StackN:
		o := p.open(f.Span)
		p.text("$stack")
		p.int(f.N)
		p.close(o)
	case Reg:
		p.part(f.Span, "%"+f.Name)
	case At:
		o := p.open(f.Span)
		p.char('@')
		p.text(f.Symbol)
		if f.Symbol == "" {
			p.hex(f.Addr)
		}
		if f.Off != 0 {
			p.signed(f.Off)
		}
		p.close(o)
	case FileAt:
		o := p.open(f.Span)
		p.text("@+")
		p.hex(f.Off)
		p.close(o)
	case Imm:
		o := p.open(f.Span)
		p.char('\\')
		if f.Unsigned || f.N >= 0 {
			p.uint(uint64(f.N))
		} else {
			p.text(signed(f.N))
		}
		p.close(o)
	case ImmString:
		p.part(f.Span, `\"`+f.Text+`"`)
	case Deref:
		p.deref(f)
	case Var:
		p.part(f.Span, f.Path)
	case Typecast:
		p.typecast(f)
	case Special:
		p.part(f.Span, f.Text)
	default:
		panic("internal error: no such fetch")
	}
}

func (p *printer) deref(f Deref) {
	o := p.open(f.Span)
	off := signed(f.Off)
	if f.User {
		off = off[:1] + "u" + off[1:]
	}
	p.text(off)
	p.char('(')
	p.fetch(f.X)
	p.char(')')
	p.close(o)
}

// typecast prints `(STRUCT[,MEMBER])X[->PATH]`, with X in parentheses unless it
// is a word. A cast itself must be in them too.
func (p *printer) typecast(f Typecast) {
	o := p.open(f.Span)
	p.char('(')
	p.text(f.Struct)
	if f.Member != "" {
		p.char(',')
		p.text(f.Member)
	}
	p.char(')')
	if bareInCast(f.X) {
		p.fetch(f.X)
	} else {
		p.char('(')
		p.fetch(f.X)
		p.char(')')
	}
	if f.Path != "" {
		p.text("->")
		p.text(f.Path)
	}
	p.close(o)
}

// bareInCast reports whether a typecast takes f without parentheses.
func bareInCast(f Fetch) bool {
	switch f := f.(type) {
	case Deref, At, FileAt, Typecast:
		return false
	case Special:
		return !hasArrow(f.Text)
	case Var:
		return !hasArrow(f.Path)
	}
	return true
}
