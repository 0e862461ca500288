package command

import (
	"strconv"
	"strings"

	"github.com/eptrace/ep/lang/source"
)

// Print returns the line of c as ep writes it, without a newline, and where its
// bytes come from.
//
// There is an Origin for each printed part that has a place in a script: whose
// Span is valid and is not the zero Span. Outer ones come before those in them.
//
// Print panics if a name or text in c would not stay what it is in the line: that
// is a bug of a stage before, and no text of a script may become a command of its
// own. Check says so first, and tells the kernel's limits too, which do not keep
// Print from printing.
func Print(c Command) (text string, origins []Origin) {
	if err := spell(c); err != nil {
		panic("internal error: cannot print " + err.Error())
	}
	var p printer
	p.command(c)
	return p.b.String(), p.origins
}

// Line returns the line of c alone. It panics as Print does.
func Line(c Command) string {
	text, _ := Print(c)
	return text
}

// printed returns the line of a command that is well spelled.
func printed(c Command) string {
	var p printer
	p.command(c)
	return p.b.String()
}

// printer builds one line.
type printer struct {
	b        strings.Builder
	origins  []Origin
	inEprobe bool // its arguments are printed
}

// open starts a part that comes from sp; close ends it. Parts nest.
func (p *printer) open(sp source.Span) int {
	if !sp.Valid() || sp == (source.Span{}) {
		return -1
	}
	p.origins = append(p.origins, Origin{Lo: p.b.Len(), Span: sp})
	return len(p.origins) - 1
}

func (p *printer) close(part int) {
	if part >= 0 {
		p.origins[part].Hi = p.b.Len()
	}
}

func (p *printer) text(s string)    { p.b.WriteString(s) }
func (p *printer) char(c byte)      { p.b.WriteByte(c) }
func (p *printer) int(n int)        { p.text(strconv.Itoa(n)) }
func (p *printer) uint(n uint64)    { p.text(strconv.FormatUint(n, 10)) }
func (p *printer) hex(n uint64)     { p.text("0x"); p.text(strconv.FormatUint(n, 16)) }
func (p *printer) signed(off int64) { p.text(signed(off)) }

// part prints s as what comes from sp.
func (p *printer) part(sp source.Span, s string) {
	o := p.open(sp)
	p.text(s)
	p.close(o)
}

// name prints an event's name with sep between its halves.
func (p *printer) name(n EventName, sep byte) {
	o := p.open(n.Span)
	p.text(n.Group)
	p.char(sep)
	p.text(n.Name)
	p.close(o)
}

func (p *printer) command(c Command) {
	switch c := c.(type) {
	case *Eprobe:
		p.eprobe(c)
	case *Kprobe:
		p.kprobe(c)
	case *Fprobe:
		p.fprobe(c)
	case *Tprobe:
		p.text("t:")
		p.name(c.EventName, '/')
		p.char(' ')
		p.part(c.At, c.Tracepoint)
		p.args(c.Args)
	case *Uprobe:
		p.uprobe(c)
	case *Synthetic:
		p.synthetic(c)
	case *Delete:
		p.delete(c)
	case *Hist:
		p.hist(c)
	case *Trigger:
		p.trigger(c)
	case *Filter:
		o := p.open(c.Event.Span)
		p.filter(c.If)
		p.close(o)
	case *Enable:
		p.part(c.Event.Span, map[bool]string{false: "0", true: "1"}[c.On])
	case *Setting:
		p.part(c.Span, c.Value)
	default:
		panic("internal error: no such command")
	}
}

// delete prints `-:[GRP/][NAME] [WORDS]`. Only a slash parts the halves here.
func (p *printer) delete(c *Delete) {
	p.text("-:")
	o := p.open(c.Span)
	if c.Group != "" {
		p.text(c.Group)
		p.char('/')
	}
	p.text(c.Name)
	p.close(o)
	if c.Words != "" {
		p.char(' ')
		p.text(c.Words)
	}
}

// synthetic prints `s:NAME TYPE FIELD; TYPE FIELD`.
func (p *printer) synthetic(c *Synthetic) {
	p.text("s:")
	p.part(c.Span, c.Name)
	for i, f := range c.Fields {
		if i > 0 {
			p.char(';')
		}
		p.char(' ')
		o := p.open(f.Span)
		p.text(f.Type)
		p.char(' ')
		p.text(f.Name)
		p.close(o)
	}
}

// trigger prints `[!]KIND[:SYS:EV][:N] [if COND]`.
func (p *printer) trigger(c *Trigger) {
	o := p.open(whole(c.Span, c.Event))
	if c.Remove {
		p.char('!')
	}
	p.text(string(c.Kind))
	if c.Kind.HasTarget() {
		p.char(':')
		p.name(c.Target, ':')
	}
	if c.Count >= 0 {
		p.char(':')
		p.int(c.Count)
	}
	p.cond(c.If)
	p.close(o)
}

// whole returns what a whole line comes from: sp, or else the place of the
// event whose file it is for.
func whole(sp source.Span, event EventName) source.Span {
	if !sp.Valid() || sp == (source.Span{}) {
		return event.Span
	}
	return sp
}

// cond prints ` if COND`, or nothing for nil.
func (p *printer) cond(c Cond) {
	if c != nil {
		p.text(" if ")
		p.filter(c)
	}
}

// signed returns off with its sign, which the kernel insists on.
func signed(off int64) string {
	if off < 0 {
		return strconv.FormatInt(off, 10)
	}
	return "+" + strconv.FormatInt(off, 10)
}
