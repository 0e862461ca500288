package judge

import (
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// misleadArgument tells what an accepted argument does not do, though it seems
// to.
func (p *probe) misleadArgument(a command.Arg, v fetched) {
	base := a.Type.Base
	if p.kind == eprobe && v.text && base == "" {
		p.mislead("'%s' prints an address; ':string' prints the text", a.Name)
	}
	if f := v.field; f != nil {
		p.misleadField(a, f)
	}
	p.misleadFetch(a, a.Fetch)
	p.misleadTyped(a, v)
	if n, ok := a.Fetch.(command.Imm); ok && base != "" && !fitsIn(n, a.Type) {
		p.mislead("'%s' is cut to %s in silence", a.Name, base)
	}
	word := ""
	for _, w := range p.words[2:] {
		if strings.HasPrefix(w, a.Name+"=") {
			word = w[len(a.Name)+1:]
		}
	}
	if octal(word) {
		p.mislead("a number that begins with 0 is octal")
	}
	fetch, _, _ := strings.Cut(word, ":")
	if _, ok := a.Fetch.(command.Deref); ok && fetch != "" && !strings.HasSuffix(fetch, ")") {
		p.mislead("what follows the last ')' of '%s' is not looked at", fetch)
	}
}

// misleadField is misleadArgument for a field of an eprobe's event taken as it
// is.
func (p *probe) misleadField(a command.Arg, f *target.Field) {
	t := p.j.t
	base := a.Type.Base
	text := isText(f)
	pointer := f.Decl == "char *" || f.Decl == "const char *"
	array := f.Array && !text
	switch {
	case pointer && t.Has(target.QuirkEprobePointerByte):
		p.mislead("this kernel gives the lowest byte of '%s' alone", f.Name)
	case array && f.Loc != target.InPlace:
		p.mislead("'%s' gives where its bytes are in the record, not what they are", f.Name)
	case array && !t.Has(target.EprobeArrayAddress):
		p.mislead("this kernel gives the first 8 bytes of '%s', not its address", f.Name)
	case array && base != "string" && base != "ustring" && !(f.Size == 1 || f.Size == 2 || f.Size == 4 || f.Size == 8):
		p.mislead("'%s' is the address of the array, not what it holds", f.Name)
	case pointer && base == "string" && p.userPointer():
		p.mislead("'%s' points to user memory, which ':string' does not read everywhere; ':ustring' does", f.Name)
	case pointer && base == "ustring" && p.atEntry():
		p.mislead(mayFault, f.Name)
	case text && base == "ustring":
		p.mislead("'%s' is text of the kernel: ':ustring' prints (fault)", f.Name)
	case (text || pointer) && base != "string" && base != "ustring":
		p.mislead("'%s' gives the address of its text; ':string' gives the text", f.Name)
	case !text && !pointer && !array && (base == "string" || base == "ustring"):
		p.mislead("'%s' is a number, which ':%s' takes for an address: it prints (fault)", f.Name, base)
	case base == "" && f.Signed && !text:
		p.mislead("'%s' prints in hexadecimal without a sign; ':s%d' prints the number", f.Name, 8*f.Size)
	case !text && !array && base != "" && base != "string" && base != "ustring" && base != "symbol" && base != "symstr" && base != "b" && recordField("", base, a.Type).Size < f.Size:
		p.mislead("'%s' has %d bits, which ':%s' cuts in silence", f.Name, 8*f.Size, base)
	}
}

// misleadTyped is misleadArgument for a value whose type the kernel's types tell,
// or would.
func (p *probe) misleadTyped(a command.Arg, v fetched) {
	t := v.btf
	if n, ok := a.Fetch.(command.ArgN); ok && !p.j.quiet {
		if proto := p.prototype(); proto != nil && n.N <= len(proto.Params) {
			t = proto.Params[n.N-1].Type
		}
	}
	pointer, _ := t.(types.Pointer)
	s, isStruct := pointer.Elem.(types.Struct)
	switch a.Type.Base {
	case "%pd":
		if isStruct && s.Name != "dentry" {
			p.mislead("':%%pd' wants a pointer to a dentry, and '%s' is one to a %s: it prints (fault) or nonsense", a.Name, s.Name)
		}
	case "%pD":
		if isStruct && s.Name != "file" {
			p.mislead("':%%pD' wants a pointer to a file, and '%s' is one to a %s: it prints (fault) or nonsense", a.Name, s.Name)
		}
	case "string", "ustring":
		if _, isInt := v.btf.(types.Int); isInt {
			p.mislead("'%s' is a number, which ':%s' takes for an address: it prints (fault)", a.Name, a.Type.Base)
		}
	}
}

// misleadHead is for what stands before the arguments of a probe and does not do
// what it seems to.
func (p *probe) misleadHead(n name, args []command.Arg) {
	head, _, _ := strings.Cut(p.words[0], ":")
	if head = head[1:]; head != "" && p.kind == uprobe {
		p.mislead("the name is not taken, for '%s' stands before it: the event is called %s", head, n)
	} else if head != "" && (p.kind == eprobe || head[0] < '0' || head[0] > '9') {
		p.mislead("'%s' after the first letter is not looked at", head)
	}
	if n.group == "synthetic" {
		p.mislead("a synthetic event may take the same name: two events would be called %s", n)
	}
	if p.kind == kprobe || p.kind == fprobe {
		for _, prefix := range []string{"__x64_sys_", "__ia32_sys_", "__arm64_sys_", "__riscv_sys_"} {
			if strings.HasPrefix(p.symbol, prefix) && len(args) > 0 {
				p.mislead("'%s' is given the caller's registers, not the system call's arguments", p.symbol)
			}
		}
	}
}

// mayFault is said of memory that may not be there yet.
const mayFault = "what '%s' points to may not be in memory yet when the call begins: it then prints (fault)"

// userPointer reports whether pointers of p's event are the caller's.
func (p *probe) userPointer() bool {
	return p.on != nil && (p.on.group == "syscalls" || p.on.group == "raw_syscalls")
}

// atEntry reports whether p's event is the beginning of a system call.
func (p *probe) atEntry() bool {
	return p.userPointer() && strings.HasPrefix(p.on.event, "sys_enter")
}

// misleadFetch looks for what misleads within a fetch.
func (p *probe) misleadFetch(a command.Arg, f command.Fetch) {
	d, ok := f.(command.Deref)
	if !ok {
		return
	}
	x, isField := d.X.(command.FieldOf)
	text := a.Type.Base == "string" || a.Type.Base == "ustring"
	outermost := f == a.Fetch
	if !isField || p.on == nil {
		before := len(p.misleads)
		p.misleadFetch(a, d.X)
		if text && outermost && p.atEntry() && len(p.misleads) == before {
			p.mislead(mayFault, a.Name)
		}
		return
	}
	field := p.j.formatOf(p.on).Field(x.Name)
	if field == nil {
		return
	}
	t := p.j.t
	array := field.Array && !isText(field)
	small := field.Size == 1 || field.Size == 2 || field.Size == 4 || field.Size == 8
	switch {
	case array && !t.Has(target.EprobeArrayAddress):
		p.mislead("this kernel gives the first 8 bytes of '%s', not its address, so what is read there is nonsense", x.Name)
	case array && small:
		p.mislead("'%s' is read as one number, not as an address, so what is read there is nonsense", x.Name)
	case array && outermost && text:
		p.mislead("this reads the bytes of the pointer as text; one dereference more reads the text")
	case text && outermost && p.atEntry() && (field.Decl == "char *" || field.Decl == "const char *") && !t.Has(target.QuirkEprobePointerByte):
		p.mislead(mayFault, x.Name)
	case field.Decl == "char *" && t.Has(target.QuirkEprobePointerByte), field.Decl == "const char *" && t.Has(target.QuirkEprobePointerByte):
		p.mislead("this kernel gives the lowest byte of '%s' alone, so what is read there is nonsense", x.Name)
	}
}

// misleadSymstr is for text that follows a symbol's name in a record.
func (p *probe) misleadSymstr(args []command.Arg) {
	for i, a := range args {
		if a.Type.Base != "symstr" {
			continue
		}
		for _, b := range args[i+1:] {
			if _, comm := b.Fetch.(command.Comm); comm || b.Type.Base == "string" || b.Type.Base == "ustring" || b.Type.Base == "symstr" {
				p.mislead("the text of '%s' runs into that of '%s'; a symstr comes last", a.Name, b.Name)
				return
			}
		}
	}
}

// isText reports whether f holds text in the record.
func isText(f *target.Field) bool {
	return strings.Contains(f.Decl, "char[")
}

// fitsIn reports whether a type holds n.
func fitsIn(n command.Imm, t command.FetchType) bool {
	f := recordField("", t.Base, t)
	if t.Base == "string" || t.Base == "ustring" || t.Base == "symstr" || f.Size == 8 {
		return true
	}
	bits := 8 * f.Size
	if f.Signed {
		return !n.Unsigned && n.N >= -1<<(bits-1) && n.N < 1<<(bits-1)
	}
	return !n.Unsigned && n.N >= 0 && n.N < 1<<bits
}

// octal reports whether an offset or a number of a fetch begins with a 0 and is
// not 0 or hexadecimal.
func octal(body string) bool {
	for i := 0; i+2 < len(body); i++ {
		if strings.IndexByte(`+-\u`, body[i]) < 0 || body[i+1] != '0' {
			continue
		}
		rest := strings.TrimLeft(body[i+1:], "0")
		if rest != "" && '0' < rest[0] && rest[0] <= '9' {
			return true
		}
	}
	return false
}
