package check

import (
	"path"
	"sort"
	"strings"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
)

// expand puts for each source that is named by a glob the sources that it
// stands for, in alphabetical order.
func (c *checker) expand(list []*syntax.Source) []*syntax.Source {
	var out []*syntax.Source
	for _, s := range list {
		if len(s.Alts) != 1 || !isGlob(s.Alts[0].One) {
			out = append(out, s)
			continue
		}
		one := s.Alts[0].One
		names := c.matches(one)
		switch {
		case len(names) == 0 && s.Alts[0].Optional:
			c.absentSource(s.Span())
		case len(names) == 0:
			c.globWithoutMatch(globSpan(one), globText(one))
		case len(names) > ir.MaxSources:
			c.globTooWide(one, len(names), ir.MaxSources)
		}
		if len(names) > ir.MaxSources {
			continue
		}
		for _, n := range names {
			out = append(out, named(s, one, n))
		}
	}
	return out
}

// globIdent returns the part of a source's name that may be a glob.
func globIdent(one *syntax.One) *syntax.Ident {
	switch one.Kind {
	case syntax.KindName:
		if one.Name != nil {
			return one.Name.Name
		}
	case syntax.KindSyscall, syntax.KindFunc, syntax.KindTracepoint, syntax.KindKprobe:
		if one.Func != nil && !one.Func.Param {
			return one.Func.Name
		}
	}
	return nil
}

func isGlob(one *syntax.One) bool {
	id := globIdent(one)
	return id != nil && strings.ContainsAny(id.Text(), "*?[")
}

func globText(one *syntax.One) string      { return globIdent(one).Text() }
func globSpan(one *syntax.One) source.Span { return globIdent(one).Span() }

// matches lists what a glob stands for.
func (c *checker) matches(one *syntax.One) []string {
	glob := globText(one)
	match := func(name string) bool {
		ok, err := path.Match(glob, name)
		return ok && err == nil
	}
	var names []string
	switch one.Kind {
	case syntax.KindName:
		if one.Name.Group == nil {
			for _, n := range c.eventNames() {
				if match(n) {
					names = append(names, n)
				}
			}
			break
		}
		events, _ := c.t.Events(one.Name.Group.Text())
		for _, n := range events {
			if match(n) {
				names = append(names, n)
			}
		}
	case syntax.KindSyscall:
		for _, n := range c.t.Syscalls() {
			if match(n) {
				names = append(names, n)
			}
		}
	case syntax.KindTracepoint:
		all, _ := c.t.Tracepoints()
		for _, n := range all {
			if match(n) {
				names = append(names, n)
			}
		}
	default:
		names, _ = c.t.Functions(match)
	}
	sort.Strings(names)
	return names
}

// named is a source like s, whose glob is a name.
func named(s *syntax.Source, one *syntax.One, name string) *syntax.Source {
	id := *globIdent(one)
	id.Raw = name
	o := *one
	if one.Kind == syntax.KindName {
		q := *one.Name
		q.Name = &id
		o.Name = &q
	} else {
		f := *one.Func
		f.Name = &id
		o.Func = &f
	}
	alt := *s.Alts[0]
	alt.One = &o
	out := *s
	out.Alts = []*syntax.Alt{&alt}
	return &out
}

// union checks an event of several sources: one hidden event for each, all with
// the same fields, which the event is emitted by.
func (c *checker) union(e *syntax.Event, sources []*syntax.Source) *ir.Event {
	ev := &ir.Event{Name: e.Name.Name.Text(), Span: e.Name.Span(), Whole: e.Span()}
	if e.Name.Group != nil {
		ev.Group = e.Name.Group.Text()
	}
	for i, src := range sources {
		one := *e.From
		one.Sources = []*syntax.Source{src}
		member := &ir.Event{Name: ev.Name, Span: ev.Span, Whole: ev.Whole, Inline: true}
		sc := c.newScope()
		sc.several, sc.made = true, e.Fields
		before := len(c.list)
		if c.stage(member, sc, &one, nil) {
			continue // optional, and not there
		}
		if member.Stages[0].Source != nil {
			c.fields(member, sc, e.Fields, e.Name.Span())
			of := &scope{c: c, own: member, outer: sc, used: sc.used}
			if e.Having != nil {
				member.Having = c.condition(e.Having, of)
			}
			c.checkAliases(sc)
			c.readTimes(member)
			c.likely(member)
		}
		if len(c.list) > before && i > 0 {
			c.noteSource(before, src)
		}
		if c.list[before:].HasErrors() {
			return ev // one mistake is enough
		}
		ev.Union = append(ev.Union, member)
	}
	if len(ev.Union) == 0 {
		return ev
	}
	first := ev.Union[0]
	for _, m := range ev.Union[1:] {
		for i, f := range m.Fields {
			if i >= len(first.Fields) || f.Name != first.Fields[i].Name || !sameTableType(f.Type, first.Fields[i].Type) {
				c.fieldsDiffer(e.Span(), f, first, m)
				return ev
			}
		}
		if len(m.Fields) != len(first.Fields) {
			c.fieldsDiffer(e.Span(), nil, first, m)
			return ev
		}
	}
	ev.Stages, ev.Fields = first.Stages, first.Fields
	return ev
}
