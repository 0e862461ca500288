package check

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
)

// module is a text that the script imports: a checker of its own over the same
// Program. What it traces, does and sets is not carried out; its events are
// checked when the script names them.
type module struct {
	alias string
	span  source.Span // of the import
	used  bool        // the script names an event of it
	check *checker    // nil if the module cannot be read
}

// imports loads the modules of the import statements.
func (c *checker) imports(items []syntax.Item) {
	for _, item := range items {
		imp, ok := item.(*syntax.Import)
		if !ok {
			continue
		}
		path, err := imp.Path.Value()
		if err != nil {
			continue // the parser has said so
		}
		alias, at := moduleName(path), imp.Path.Span()
		if imp.As != nil {
			alias, at = imp.As.Text(), imp.As.Span()
		}
		if first, taken := c.modules[alias]; taken {
			c.duplicateName(at, alias, first.span)
			continue
		}
		m := c.module(imp, path, alias)
		if m == nil {
			m = &module{alias: alias, span: at} // so that its names are not said to be unknown too
		}
		c.modules[alias] = m
	}
}

// moduleName is what a module is called without `as`: the last part of its path.
func moduleName(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return eventNameFrom(strings.TrimSuffix(name, ".ep"))
}

// module loads one module and enters its names.
func (c *checker) module(imp *syntax.Import, path, alias string) *module {
	for _, open := range c.importing {
		if open == path {
			c.importCycle(imp.Path.Span(), path)
			return nil
		}
	}
	src, err := c.open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.unknownModule(imp.Path.Span(), path)
		return nil
	case err != nil:
		c.unreadableModule(imp.Path.Span(), path, err)
		return nil
	}
	script, list := syntax.Parse(src)
	if list.HasErrors() {
		c.list = append(c.list, list...)
		return nil
	}
	in := &checker{
		src: src, t: c.t, prog: c.prog, open: c.open, importing: append(append([]string{}, c.importing...), path),
		set: map[string]string{}, decls: map[string]*decl{}, used: map[string]source.Span{},
		files: c.files, inline: c.inline, modules: map[string]*module{},
	}
	for name, value := range c.set {
		if inner, ok := strings.CutPrefix(name, alias+"."); ok {
			in.set[inner] = value
		}
	}
	in.imports(script.Items)
	in.declare(script.Items)
	in.checkSet()
	for i := range in.list {
		if in.list[i].Source == src && !in.list[i].Span.Valid() {
			in.list[i].Source, in.list[i].Span = c.src, imp.Span()
		}
	}
	c.list = append(c.list, in.list...)
	in.list = nil
	return &module{alias: alias, span: imp.Span(), check: in}
}

// imported resolves `alias.NAME`: an event of a module.
func (c *checker) imported(m *module, name string, span source.Span) ir.Source {
	m.used = true
	if m.check == nil {
		return nil // the import has been told
	}
	d, ok := m.check.decls[name]
	if !ok {
		c.unknownInModule(span, m, name)
		return nil
	}
	if _, isEvent := d.item.(*syntax.Event); !isEvent {
		c.notAnEvent(span, m.alias+"."+name, m.span)
		return nil
	}
	if d.state == unseen {
		before := len(c.prog.Events)
		m.check.resolve(d)
		c.list = append(c.list, m.check.list...)
		m.check.list = nil
		for _, ev := range c.prog.Events[before:] {
			ir.Relocate(ev, m.span)
			// It is the module's: its name says so, and the kernel's need not
			// be what the script calls it.
			ev.Name, ev.Inline = m.alias+"_"+ev.Name, true
			c.inline[ev.Name] = max(c.inline[ev.Name], 1)
		}
	}
	if d.event == nil {
		if d.absent {
			c.absentEvent(span, m.alias+"."+name, m.span)
		}
		return nil
	}
	return &ir.Derived{Event: d.event}
}
