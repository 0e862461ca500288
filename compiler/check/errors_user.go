package check

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/object"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// This file words what is wrong with user-space sources, and with sources that
// are several or may be absent.

func (c *checker) relativePath(sp source.Span, name string) {
	whole := "/usr/bin/" + name
	if strings.Contains(name, "/") {
		whole = "/" + name
	}
	c.err(diag.UnknownFile, sp, fmt.Sprintf("'%s' is no path from the root", name), todo("write the whole path, such as '\"%s\"'", whole))
}

func (c *checker) badFile(sp source.Span, name string, err error) {
	note := todo("it must be a program or library that the target has; compile for another machine on it, or with its files at hand")
	why := "no such file"
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, object.ErrNotFound) {
		why, note = err.Error(), todo("a probe wants a program or library for the target's processor")
	}
	c.err(diag.UnknownFile, sp, fmt.Sprintf("cannot use '%s' on target '%s': %s", name, c.t.Name(), why), note)
}

func (c *checker) noCodeAt(sp source.Span, addr, path string, err error) {
	c.err(diag.UnknownSymbol, sp, fmt.Sprintf("no code at %s in '%s': %v", addr, path, err), todo("the address is as nm and objdump show it"))
}

func (c *checker) unknownUserSymbol(sp source.Span, f *object.File, name string, err error) {
	var several *object.AmbiguousError
	switch {
	case errors.As(err, &several):
		c.err(diag.UnknownSymbol, sp, fmt.Sprintf("'%s' has several functions '%s'", f.Path(), name), todo("%v", several))
	case f.Stripped():
		c.err(diag.UnknownSymbol, sp, fmt.Sprintf("'%s' has no function '%s' in its dynamic symbols, and no others", f.Path(), name),
			todo("the file is stripped; give an address: 'uprobe \"%s\":0x…'", f.Path()))
	default:
		message := fmt.Sprintf("'%s' has no function '%s'", f.Path(), name)
		if near, ok := f.Near(name); ok {
			c.err(diag.UnknownSymbol, sp, message, todo("did you mean '%s'?", near))
			return
		}
		c.err(diag.UnknownSymbol, sp, message, todo("nm and objdump list what it has"))
	}
}

func (c *checker) offsetOutside(sp source.Span, name string, size uint64) {
	c.err(diag.IndexOutOfRange, sp, fmt.Sprintf("'%s' is only %d bytes long", name, size), todo("an offset lies within the function"))
}

func (c *checker) noSuchArgument(sp source.Span, n int, arch string) {
	c.err(diag.BadArgument, sp, fmt.Sprintf("argument %d of a function cannot be had on %s", n, arch), todo("leave it out, or read registers with $reg(…)"))
}

func (c *checker) goReturn(sp source.Span, name string) {
	c.err(diag.NotProbeable, sp, fmt.Sprintf("a probe on the return of '%s' would crash the program: it is written in Go, which moves its stacks", name),
		todo("write '.enter', or probe an instruction: 'uprobe'"))
}

func (c *checker) markForm(sp source.Span) {
	c.err(diag.UnknownSymbol, sp, "a static probe is named by its provider and its name", todo("write 'usdt \"/path\":provider:name'"))
}

func (c *checker) unknownMark(sp source.Span, f *object.File, provider, name string, err error) {
	message := fmt.Sprintf("'%s' has no static probe '%s:%s'", f.Path(), provider, name)
	if err != nil && !errors.Is(err, object.ErrNotFound) {
		message = fmt.Sprintf("cannot use the static probe '%s:%s': %v", provider, name, err)
	}
	if near, ok := f.NearUSDT(provider, name); ok {
		c.err(diag.UnknownSymbol, sp, message, todo("did you mean '%s'?", near))
		return
	}
	c.err(diag.UnknownSymbol, sp, message, todo("readelf -n lists them as stapsdt notes"))
}

// absentSource says that an optional source is not there.
func (c *checker) absentSource(sp source.Span) {
	c.add(diag.Warning, diag.AbsentSource, sp, fmt.Sprintf("target '%s' does not have this optional source", c.t.Name()), todo("what needs it is left out"))
}

func (c *checker) absentEvent(sp source.Span, name string, at source.Span) {
	c.err(diag.UnknownEvent, sp, fmt.Sprintf("event '%s' is left out: its source is absent", name), place(at, "it is declared here"),
		todo("make what uses it optional too: '%s?'", name))
}

func (c *checker) globWithoutMatch(sp source.Span, glob string) {
	message := fmt.Sprintf("nothing on target '%s' matches '%s'", c.t.Name(), glob)
	if group, name, ok := strings.Cut(glob, "."); ok {
		c.err(diag.UnknownEvent, sp, message, todo("write %s.`%s`: a group stands before the backticks", group, name))
		return
	}
	c.err(diag.UnknownEvent, sp, message, todo("'ep list' shows what there is"))
}

func (c *checker) globTooWide(one *syntax.One, n, most int) {
	note := todo("write a narrower one")
	if one.Kind == syntax.KindSyscall {
		note = todo("write a narrower one; 'raw_syscalls.sys_enter' and 'raw_syscalls.sys_exit' are of all calls")
	}
	c.err(diag.TooManyFields, globSpan(one), fmt.Sprintf("'%s' matches %d; at most %d are taken", globText(one), n, most), note)
}

func (c *checker) fieldsDiffer(sp source.Span, f *ir.Field, a, b *ir.Event) {
	if f == nil {
		c.err(diag.MismatchedTypes, a.Span, fmt.Sprintf("the sources do not have the same fields: %d and %d", len(a.Fields), len(b.Fields)), todo("list fields that all sources have"))
		return
	}
	c.err(diag.MismatchedTypes, f.Span, fmt.Sprintf("field '%s' is not of one type in all sources: %s in %s", f.Name, kindName(f.Type), sourceName(b.Stages[0].Source)),
		todo("give it a type: '%s: u64 = …'", f.Name))
}

func (c *checker) emitOfSeveral(sp source.Span) {
	c.err(diag.MisplacedValue, sp, "an event of several sources has no one event that keeps what 'emit' compares", todo("derive an event from this one, and emit that"))
}

func (c *checker) severalInJoin(sp source.Span, n int) {
	c.err(diag.MisplacedValue, sp, fmt.Sprintf("a stage of a join has one source, not %d", n), todo("make an event of them first, and join that: 'event any from A, B { … }'"))
}

func (c *checker) wideMark(sp source.Span, got, want types.Type) {
	c.err(diag.MismatchedTypes, sp, fmt.Sprintf("the program says that this argument has %d bytes, and %s has %d", types.Size(want), got, types.Size(got)),
		todo("leave the type out, or write '%s'", want))
}
