// Package check resolves a script's names and types against a target and
// yields the typed Program.
//
// It reports every mistake it finds and goes on; a Program comes out only of a
// script without errors. Nothing here knows a kernel command. Read check.go,
// then source.go (what events are made of), scope.go (names) and expr.go
// (types); all wording is in errors.go.
package check

import (
	"io/fs"
	"strings"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/object"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
)

// Options are what a caller says besides the script.
type Options struct {
	Set      map[string]string // params by name, as expressions of the language
	Instance string            // used if the script does not say
	// Import returns the text of a module by the path that an import statement
	// names; an error that is fs.ErrNotExist if there is none. nil: there are no
	// modules.
	Import func(path string) (*source.Source, error)
}

// Check checks a parsed script against t. The Program is complete only if the
// list has no error.
func Check(script *syntax.Script, t *target.Target, opts Options) (*ir.Program, diag.List) {
	c := &checker{
		src:   script.Source,
		t:     t,
		set:   opts.Set,
		decls: map[string]*decl{},
		used:  map[string]source.Span{},

		files:  map[string]*object.File{},
		inline: map[string]int{},

		open:      opts.Import,
		modules:   map[string]*module{},
		importing: []string{script.Source.Name()},
		prog:      &ir.Program{Source: script.Source, Options: ir.Options{Instance: opts.Instance, Functions: "auto"}},
	}
	if c.open == nil {
		c.open = func(string) (*source.Source, error) { return nil, fs.ErrNotExist }
	}
	c.imports(script.Items)
	c.declare(script.Items)
	c.options(script.Items)
	unnamed := map[syntax.Item]*decl{}
	for _, d := range c.order {
		if d.name == "" {
			unnamed[d.item] = d
			continue
		}
		c.resolve(d)
	}
	// What the script does not name is named after its source, in the script's order.
	for _, item := range script.Items {
		if d := unnamed[item]; d != nil {
			c.resolve(d)
		}
		switch item := item.(type) {
		case *syntax.Trace:
			c.trace(item)
		case *syntax.On:
			c.on(item)
		}
	}
	c.checkPaused()
	c.checkSet()
	c.checkShadows()
	c.checkUnused(script)
	return c.prog, c.list.Sort()
}

type checker struct {
	src   *source.Source
	t     *target.Target
	set   map[string]string
	list  diag.List
	decls map[string]*decl
	order []*decl
	used  map[string]source.Span // fields that the script names, with one place each
	lets  map[*ir.Early]bool     // of a join, those that a let makes
	prog  *ir.Program

	open      func(path string) (*source.Source, error)
	modules   map[string]*module // by alias
	importing []string           // paths of the texts that this one is imported by

	files  map[string]*object.File // opened ones, nil for what could not be
	inline map[string]int          // names of events that the script does not name, with the last number behind each
}

// decl is a declared name: of an event, hist, param, const or import.
type decl struct {
	name   string // "a.b" for an event with a group
	span   source.Span
	item   syntax.Item
	state  state
	used   bool // another statement names it
	event  *ir.Event
	absent bool // of an event or hist: it needs an optional source that is not there
	wrong  bool // of an event: what it is made of cannot be told, which is reported
	hist   *ir.Hist
	value  *ir.Const
}

type state uint8

const (
	unseen state = iota
	open         // being resolved: seeing it again is a cycle
	done
)

// declare enters all names, so that the order of statements does not matter.
func (c *checker) declare(items []syntax.Item) {
	for _, item := range items {
		d := &decl{item: item}
		switch item := item.(type) {
		case *syntax.Event:
			d.name, d.span = qname(item.Name)
		case *syntax.Param:
			d.name, d.span = item.Name.Text(), item.Name.Span()
		case *syntax.Const:
			d.name, d.span = item.Name.Text(), item.Name.Span()
		case *syntax.Hist:
			if item.Name != nil {
				d.name, d.span = qname(item.Name)
			} else {
				d.span = item.Span()
			}
		default:
			continue
		}
		c.order = append(c.order, d)
		if d.name == "" {
			continue
		}
		if first, taken := c.decls[d.name]; taken {
			c.duplicateName(d.span, d.name, first.span)
			continue
		}
		c.decls[d.name] = d
	}
}

// qname returns an event's name as other statements write it.
func qname(q *syntax.QName) (string, source.Span) {
	if q == nil {
		return "", source.NoSpan
	}
	if q.Group != nil {
		return q.Group.Text() + "." + q.Name.Text(), q.Span()
	}
	return q.Name.Text(), q.Span()
}

// resolve checks what a name stands for, once.
func (c *checker) resolve(d *decl) {
	if d.state != unseen {
		return
	}
	d.state = open
	switch item := d.item.(type) {
	case *syntax.Event:
		before := len(c.list)
		d.event = c.event(item)
		d.wrong = d.event == nil && c.list[before:].HasErrors()
		d.absent = d.event == nil && !d.wrong
	case *syntax.Param:
		d.value = c.param(item)
	case *syntax.Const:
		d.value = c.constDecl(item)
	case *syntax.Hist:
		if d.hist = c.hist(item); d.hist != nil {
			c.prog.Hists = append(c.prog.Hists, d.hist)
		}
	}
	d.state = done
}

// checkSet reports --set names that are no params.
func (c *checker) checkSet() {
	for _, name := range sortedKeys(c.set) {
		if alias, _, dotted := strings.Cut(name, "."); dotted && c.modules[alias] != nil {
			continue // the module's to say
		}
		d, ok := c.decls[name]
		if ok {
			if _, isParam := d.item.(*syntax.Param); isParam {
				continue
			}
		}
		c.unknownParam(name)
	}
}

// checkShadows reports params and consts that are named like a field in use.
func (c *checker) checkShadows() {
	for _, d := range c.order {
		switch d.item.(type) {
		case *syntax.Param, *syntax.Const:
			if at, ok := c.used[d.name]; ok {
				what := "const"
				if _, ok := d.item.(*syntax.Param); ok {
					what = "param"
				}
				c.shadowedName(d.span, what, d.name, at)
			}
		}
	}
}
