package check

import (
	"errors"
	"fmt"
	"strings"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// This file words what is wrong with probed functions and members of structs.

func (c *checker) endOfTracepoint(sp source.Span) {
	c.err(diag.MisplacedValue, sp, "a tracepoint has no entry and exit", todo("write 'tracepoint NAME'"))
}

func (c *checker) moduleOfTracepoint(sp source.Span, module, name string) {
	c.err(diag.UnknownSymbol, sp, fmt.Sprintf("a tracepoint is not named by its module, '%s'", module))
	c.suggest(name)
}

func (c *checker) addressOfFunction(sp source.Span, place ir.Place, addr string) {
	if place == ir.AtTracepoint {
		c.err(diag.UnknownSymbol, sp, "a tracepoint has a name", todo("write 'tracepoint sched_switch'"))
		return
	}
	c.err(diag.UnknownSymbol, sp, "an address does not tell a function's arguments and end", todo("write its name, or 'kprobe %s'", addr))
}

func (c *checker) offsetOfAddress(sp source.Span) {
	c.err(diag.BadNumber, sp, "an offset is from a name, not from an address", todo("add it to the address"))
}

func (c *checker) unknownTracepoint(sp source.Span, name string) {
	names, _ := c.t.Tracepoints()
	c.unknown(diag.UnknownSymbol, sp, name, fmt.Sprintf("target '%s' has no tracepoint '%s'", c.t.Name(), name), names,
		todo("the name is an event's without its group"))
}

func (c *checker) tracepointNotProbeable(sp source.Span, name string) {
	note := todo("probe a function that runs near it")
	if groups := c.t.EventNamed(name); len(groups) > 0 {
		note = todo("write '%s.%s', the kernel's own event there", groups[0], name)
	}
	c.err(diag.NotProbeable, sp, fmt.Sprintf("raw tracepoint '%s' cannot be probed: the kernel does not trace its function", name), note)
}

func (c *checker) resultContradicts(sp source.Span, fn string, got, want types.Type) {
	c.err(diag.MismatchedTypes, sp, fmt.Sprintf("'%s' returns %s on the target, not %s", fn, kindName(want), kindName(got)),
		todo("leave the type out, or write '%s'", want))
}

func (c *checker) paramContradicts(sp source.Span, name string, got types.Type, i int, params []target.Param) {
	what, real := "this parameter", params[i]
	if real.Name != "" {
		what = fmt.Sprintf("this parameter, '%s',", real.Name)
	}
	c.err(diag.MismatchedTypes, sp, fmt.Sprintf("%s is %s on the target, not %s", what, kindName(real.Type), kindName(got)),
		c.elsewhere(name, i, params, todo("leave the type out, or write '%s: %s'", name, real.Type)))
}

func (c *checker) paramMisplaced(sig *syntax.Sig, i int, params []target.Param) {
	var names []string
	for _, p := range params {
		names = append(names, p.Name)
	}
	name := sig.Params[i].Name
	c.err(diag.MismatchedTypes, name.Span(), fmt.Sprintf("parameter %d is '%s' on the target, not '%s'", i+1, params[i].Name, name.Text()),
		todo("the target's are '(%s)'", strings.Join(names, ", ")))
}

// elsewhere is the note that a parameter of this name is the target's at another
// place than the i-th, or else the one given.
func (c *checker) elsewhere(name string, i int, params []target.Param, note diag.Note) diag.Note {
	for j, p := range params {
		if p.Name == name && j != i {
			return todo("'%s' is parameter %d on the target: '(%s%s)'", name, j+1, strings.Repeat("_, ", j), name)
		}
	}
	return note
}

func (c *checker) tooManyParams(sp source.Span, fn string, n int) {
	noun := "parameters"
	if n == 1 {
		noun = "parameter"
	}
	c.err(diag.BadArgument, sp, fmt.Sprintf("'%s' has %d %s on the target", fn, n, noun), todo("take this one out"))
}

func (c *checker) arrowWanted(e *syntax.Selector, sel *syntax.Ident) {
	x := c.src.Slice(e.X.Span())
	c.err(diag.NotAPointer, e.Span(), fmt.Sprintf("'%s' is a pointer: its members are behind '->'", x), todo("write '%s->%s'", x, sel.Text()))
	c.fix(x + "->" + sel.Text())
}

func (c *checker) dotWanted(e *syntax.Selector, sel *syntax.Ident) {
	x := c.src.Slice(e.X.Span())
	c.err(diag.NotAPointer, e.Span(), fmt.Sprintf("'%s' is a struct, not a pointer: its members are behind '.'", x), todo("write '%s.%s'", x, sel.Text()))
	c.fix(x + "." + sel.Text())
}

func (c *checker) noBTF(sp source.Span) {
	c.err(diag.MissingFeature, sp, fmt.Sprintf("target '%s' has no BTF to tell the members of structs", c.t.Name()),
		todo("it wants CONFIG_DEBUG_INFO_BTF; save the target with its BTF, or read by offset: '*(p + 16 as *u64)'"))
}

func (c *checker) unknownMember(sp source.Span, s types.Struct, name string) {
	if s.ID == 0 && s.Name != "" {
		if _, err := c.t.Struct(s.Name); errors.Is(err, target.ErrNotFound) {
			c.err(diag.UnknownType, sp, fmt.Sprintf("target '%s' has no struct '%s' for '%s' to be in", c.t.Name(), s.Name, name),
				todo("the name is C's, without 'struct'"))
			return
		}
	}
	members, _ := c.t.Members(s)
	message := fmt.Sprintf("struct '%s' has no member '%s' on the target", s.Name, name)
	if f := c.files[s.File]; f != nil && s.File != "" {
		members, _ = f.Members(s)
		message = fmt.Sprintf("struct '%s' of '%s' has no member '%s'", s.Name, s.File, name)
	}
	if s.Name == "" {
		message = fmt.Sprintf("the struct has no member '%s' on the target", name)
	}
	var notes []diag.Note
	if len(members) > 0 {
		notes = append(notes, todo("it has %s", some(members, 12)))
	}
	c.unknown(diag.UnknownField, sp, name, message, members, notes...)
	if d := &c.list[len(c.list)-1]; len(d.Fixes) > 0 {
		d.Notes = d.Notes[:1]
	}
}

func (c *checker) wantPointerTo(sp source.Span, x ir.Expr, fn, of string) {
	c.err(diag.BadArgument, sp, fmt.Sprintf("%s() wants a '*%s', got %s", fn, of, c.describe(x)), todo("path() takes a 'struct file', dentry() a 'struct dentry'"))
}

func (c *checker) wantSymbol(sp source.Span) {
	c.err(diag.UnknownSymbol, sp, "want the name of a kernel variable", todo("write 'addr(jiffies)'"))
}

func (c *checker) noRegisterPart(sp source.Span, name string) {
	c.err(diag.NotStorable, sp, fmt.Sprintf("'%s' cannot be taken out of a struct that is passed in a register", name), todo("a number without a sign can, and what comes first"))
}

func (c *checker) signedBits(sp source.Span, name string) {
	c.err(diag.NotStorable, sp, fmt.Sprintf("'%s' has bits with a sign, which a probe reads without it", name), todo("read the word that they are in by its offset, and take 'bits(x, offset, width)'"))
}

// probeWord is what begins a source that probes a function.
func probeWord(p *ir.Probe) string {
	if p.Path != "" {
		return "ufunc"
	}
	return "func"
}
