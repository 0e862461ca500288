package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
	"github.com/eptrace/ep/stdlib"
)

// This file words what is wrong with names and declarations; errors_source.go has
// the wording about sources, errors_call.go about functions and the context,
// errors_types.go about values.

func (c *checker) add(sev diag.Severity, code diag.Code, sp source.Span, message string, notes ...diag.Note) {
	c.list = append(c.list, diag.Diagnostic{Severity: sev, Code: code, Source: c.src, Span: sp, Message: message, Notes: notes})
}

func (c *checker) err(code diag.Code, sp source.Span, message string, notes ...diag.Note) {
	c.add(diag.Error, code, sp, message, notes...)
}

// fix adds an edit to the last Diagnostic: its span becomes text.
func (c *checker) fix(text string) {
	d := &c.list[len(c.list)-1]
	d.Fixes = append(d.Fixes, diag.Fix{Span: d.Span, Text: text})
}

// todo is a note that says what to do.
func todo(format string, args ...any) diag.Note {
	return diag.Note{Span: source.NoSpan, Message: fmt.Sprintf(format, args...)}
}

// place is a note about another place of the script.
func place(sp source.Span, format string, args ...any) diag.Note {
	return diag.Note{Span: sp, Message: fmt.Sprintf(format, args...)}
}

// unknown reports a name that is none of candidates: with the near one, or
// with notes where none is near.
func (c *checker) unknown(code diag.Code, sp source.Span, name, message string, candidates []string, notes ...diag.Note) {
	if near, ok := diag.Near(name, candidates); ok {
		c.err(code, sp, message, todo("did you mean '%s'?", near))
		c.fix(near)
		return
	}
	c.err(code, sp, message, notes...)
}

// some lists up to n names.
func some(names []string, n int) string {
	if len(names) > n {
		return strings.Join(names[:n], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

func (c *checker) duplicateName(sp source.Span, name string, first source.Span) {
	c.err(diag.DuplicateName, sp, fmt.Sprintf("'%s' is declared twice", name), place(first, "the first is here"), todo("rename one"))
}

func (c *checker) duplicateField(sp source.Span, name string, first source.Span) {
	c.err(diag.DuplicateName, sp, fmt.Sprintf("the event has two fields '%s'", name),
		place(first, "the first is here"), todo("give one of them another name: 'name = value'"))
}

func (c *checker) shadowedName(sp source.Span, what, name string, at source.Span) {
	c.err(diag.ShadowedName, sp, fmt.Sprintf("'%s' is also a field that the script uses", name),
		place(at, "here it is the field"), todo("rename the %s", what))
}

func (c *checker) invalidName(sp source.Span, what, name, why string) {
	c.err(diag.InvalidName, sp, fmt.Sprintf("the kernel takes no %s called '%s'", what, name), todo("%s", why))
}

func (c *checker) syntheticGroup(sp source.Span, name string) {
	note := todo("leave the group out")
	if name != "" {
		note = todo("write 'event %s': the kernel puts an event into 'synthetic' where it has to", name)
	}
	c.err(diag.SyntheticGroup, sp, "the group 'synthetic' is the kernel's own", note)
}

func (c *checker) eventExists(sp source.Span, group, name string) {
	note := todo("choose another name; without a group the event gets the script's own, '%s'", c.groupHint())
	if group == c.groupHint() {
		note = todo("choose another name, or another group with 'option group'")
	}
	c.err(diag.EventExists, sp, fmt.Sprintf("the target has an event '%s.%s' already", group, name), note)
}

func (c *checker) groupHint() string {
	if g := c.prog.Options.Group; g != "" {
		return g
	}
	return groupAfter(c.src.Name())
}

func (c *checker) recursiveEvent(sp source.Span, name string) {
	c.err(diag.Recursive, sp, fmt.Sprintf("event '%s' is made from itself", name),
		todo("an event derives from events that exist before it"))
}

func (c *checker) recursiveConst(sp source.Span, name string) {
	c.err(diag.Recursive, sp, fmt.Sprintf("the value of '%s' depends on itself", name), todo("give it a value of its own"))
}

func (c *checker) wantText(sp source.Span, name string, t types.Type) {
	c.err(diag.BadParam, sp, fmt.Sprintf("'%s' is no name of a function (got %s, want str)", name, t),
		todo("give the param a text: 'param %s = \"vfs_read\"'", name))
}

func (c *checker) unknownParam(name string) {
	var params []string
	for _, d := range c.order {
		if _, ok := d.item.(*syntax.Param); ok {
			params = append(params, d.name)
		}
	}
	c.unknown(diag.UnknownParam, source.NoSpan, name, fmt.Sprintf("the script has no param '%s' to set", name), params)
	c.list[len(c.list)-1].Fixes = nil
}

func (c *checker) paramWithoutValue(sp source.Span, name string) {
	c.err(diag.BadParam, sp, fmt.Sprintf("param '%s' has no value", name), todo("give it one with '--set %s=…', or a default in the script", name))
}

// badSetValue reports a value of the command line, which is nowhere in the script.
func (c *checker) badSetValue(at source.Span, name, text string, want types.Type) {
	c.err(diag.BadParam, source.NoSpan, fmt.Sprintf("--set %s=%s: expected %s", name, text, exampleOf(want)), place(at, "the param is declared here"))
}

// exampleOf says what a value of a type is, with one where its form is not plain.
func exampleOf(t types.Type) string {
	switch t := t.(type) {
	case nil:
		return "a value"
	case types.Duration:
		return "a duration such as 10ms"
	case types.Untyped:
		return "a number"
	case types.Bool:
		return "a condition such as 1 == 1"
	case types.Int:
		if t.Names != nil {
			return "a name of " + t.String() + " such as " + t.Names.List[0].Name + ", or a number"
		}
		if form := shownAs[t.Form]; form != "" {
			return "a value of type " + t.String() + " such as " + strings.Trim(form, `"`)
		}
		least, greatest := types.Bounds(t)
		return fmt.Sprintf("a number from %d to %d", least, greatest)
	}
	return "a value of type " + kindName(t)
}

func (c *checker) unknownOption(sp source.Span, name string) {
	c.unknown(diag.UnknownOption, sp, name, fmt.Sprintf("there is no option '%s'", name), optionNames,
		todo("the options are %s", strings.Join(optionNames, ", ")))
}

func (c *checker) optionValue(sp source.Span, name, got string, want []string) {
	c.unknown(diag.UnknownOption, sp, got, fmt.Sprintf("option '%s' does not take '%s'", name, got), want,
		todo("it takes %s", strings.Join(want, ", ")))
}

func (c *checker) sizeWithoutUnit(n *syntax.Number) {
	c.err(diag.MissingUnit, n.Span(), "a size without a unit", todo("write '%sKiB', '%sMiB' or '%sGiB'", n.Raw, n.Raw, n.Raw))
}

func (c *checker) optionWants(sp source.Span, name string) {
	c.err(diag.UnknownOption, sp, fmt.Sprintf("option '%s' wants a name", name), todo("write 'option %s NAME'", name))
}

// shown quotes what the script says at sp, or is other where that is long.
func (c *checker) shown(sp source.Span, other string) string {
	if text := c.src.Slice(sp); text != "" && len(text) <= 40 && !strings.Contains(text, "\n") {
		return "'" + text + "'"
	}
	return other
}

func sourceName(s ir.Source) string {
	switch s := s.(type) {
	case *ir.KernelEvent:
		return fmt.Sprintf("event '%s.%s'", s.Format.System, s.Format.Name)
	case *ir.Derived:
		return fmt.Sprintf("event '%s'", s.Event.Name)
	case *ir.Syscall:
		switch s.End {
		case ir.EndEnter:
			return fmt.Sprintf("syscall '%s.enter'", s.Name)
		case ir.EndExit:
			return fmt.Sprintf("syscall '%s.exit'", s.Name)
		}
		return fmt.Sprintf("syscall '%s'", s.Name)
	case *ir.Probe:
		return probeName(s)
	}
	return "the source"
}

func (c *checker) unknownOwnField(sp source.Span, ev *ir.Event, name string, outer *scope) {
	var offers []string
	for _, f := range ev.Fields {
		offers = append(offers, f.Name)
	}
	notes := []diag.Note{todo("'having' and 'emit' are about the new event's fields")}
	if outer != nil {
		for _, v := range outer.stages {
			if _, ok := v.lookup(name); ok {
				notes = append(notes, todo("add '%s' to the fields, or say it in a 'where'", name))
				break
			}
		}
	}
	c.unknown(diag.UnknownField, sp, name, fmt.Sprintf("event '%s' has no field '%s'", ev.Name, name), append(offers, c.constNames()...), notes...)
}

func (c *checker) stageInHaving(sp source.Span, stage string) {
	c.err(diag.UnknownField, sp, "'having' knows no stages", todo("it is about the new event's fields; say what is about '%s' in its 'where'", stage))
}

func (c *checker) contextInHaving(sp source.Span, name string, emit bool) {
	clause := "having"
	if emit {
		clause = "emit"
	}
	c.err(diag.MisplacedValue, sp, fmt.Sprintf("'%s' does not know '$%s'", clause, name), todo("make it a field of the event"))
}

func (c *checker) contextInConstant(sp source.Span, name string) {
	c.err(diag.NotConstant, sp, fmt.Sprintf("want a constant, got '$%s'", name), todo("a param or const has its value before anything happens"))
}

func (c *checker) aliasAsValue(sp source.Span, name string, v *stageView) {
	c.err(diag.UnknownField, sp, fmt.Sprintf("'%s' is a stage, not a value", name), todo("write a field of it: '%s.%s'", name, first(v.offers())))
}

func first(names []string) string {
	if len(names) == 0 {
		return "field"
	}
	return names[0]
}

func (c *checker) missingStage(sp source.Span, name string, stages []*stageView) {
	var have []string
	for _, v := range stages {
		if v.stage.Alias == "" {
			continue
		}
		if _, ok := v.lookup(name); ok || strings.HasPrefix(name, "$") {
			have = append(have, fmt.Sprintf("'%s.%s'", v.stage.Alias, name))
		}
	}
	note := todo("name the stages with 'as' and write 'a.%s'", name)
	if len(have) > 0 {
		note = todo("write %s", strings.Join(have, " or "))
	}
	c.err(diag.MissingStage, sp, fmt.Sprintf("it is not said which stage's '%s' is meant", name), note)
}

func (c *checker) unknownStage(sp source.Span, name string, stages []*stageView) {
	var aliases []string
	for _, v := range stages {
		if v.stage.Alias != "" {
			aliases = append(aliases, v.stage.Alias)
		}
	}
	note := todo("name a stage with 'as %s'", name)
	if len(aliases) > 0 {
		note = todo("the stages are %s", strings.Join(aliases, ", "))
	}
	c.unknown(diag.UnknownStage, sp, name, fmt.Sprintf("there is no stage '%s'", name), aliases, note)
}

func (c *checker) laterStage(sp source.Span, name string) {
	c.err(diag.LaterStage, sp, fmt.Sprintf("stage '%s' has not happened yet", name), todo("say it in the 'where' of '%s', or in 'having'", name))
}

func (c *checker) otherStage(sp source.Span, clause, name string) {
	note := todo("say it in the 'where' of '%s', or make it a field and say it in 'having'", name)
	if clause == "let" {
		note = todo("put it into the 'let' of '%s'", name)
	}
	c.err(diag.OtherStage, sp, fmt.Sprintf("this '%s' is about its own stage, not about '%s'", clause, name), note)
}

func (c *checker) unknownName(sp source.Span, name string, candidates []string) {
	if near, ok := nearErrno(name); ok {
		candidates = append(candidates, near)
	}
	c.unknown(diag.UnknownName, sp, name, fmt.Sprintf("'%s' means nothing here", name), candidates,
		todo("no param, const, errno or signal is called so"))
}

func (c *checker) unknownContext(sp source.Span, name string) {
	message := fmt.Sprintf("there is no '$%s'", name)
	switch hint := contextWords[name]; {
	case name == "pid":
		c.err(diag.UnknownContext, sp, message, todo("the kernel's common_pid is the thread's number: '$tid'"))
		c.fix("$tid")
		return
	case hint != "":
		c.err(diag.UnknownContext, sp, message, todo("did you mean '%s'?", hint))
		c.fix(hint)
		return
	case name == "uid" || name == "gid" || name == "user" || name == "cgroup" || name == "ppid" || name == "tgid":
		c.err(diag.UnknownContext, sp, message, todo("the kernel tells of the thread its number and its name: '$tid', '$comm'"))
		return
	case name == "ustack":
		c.err(diag.UnknownContext, sp, message, todo("the kernel keeps no stack of a program for a script; its own is '$kstack'"))
		return
	case strings.HasPrefix(name, "arg") && strings.Trim(name[3:], "0123456789") == "":
		c.err(diag.UnknownContext, sp, message, todo("write the argument's name, or '$arg(%s)'", name[3:]))
		c.fix("$arg(" + name[3:] + ")")
		return
	}
	var names []string
	for _, n := range sortedKeys(contextKinds) {
		names = append(names, "$"+n)
	}
	c.unknown(diag.UnknownContext, sp, "$"+name, message, names, todo("there are %s", strings.Join(names, ", ")))
}

// probeName names a probe's place as a script writes it.
func probeName(p *ir.Probe) string {
	word := [...]string{"kprobe", "func", "tracepoint", "ufunc", "uprobe", "usdt"}[p.Place]
	end := ""
	if p.Place == ir.AtFunc || p.Place == ir.AtUserFunc {
		switch p.End {
		case ir.EndEnter:
			end = ".enter"
		case ir.EndExit:
			end = ".exit"
		}
	}
	return fmt.Sprintf("%s '%s%s'", word, p.Symbol, end)
}

func (c *checker) optionWantsNumber(sp source.Span, name string, least, most uint64) {
	note := todo("write 'option %s %d', a number of %d to %d", name, least, least, most)
	if name == "buffer" {
		note = todo("write 'option buffer 8MiB': the size for each CPU")
	}
	c.err(diag.UnknownOption, sp, fmt.Sprintf("option '%s' wants a number", name), note)
}

func (c *checker) importCycle(sp source.Span, path string) {
	c.err(diag.Recursive, sp, fmt.Sprintf("module '%s' imports itself", path), todo("a module's events derive from others'"))
}

func (c *checker) unknownModule(sp source.Span, path string) {
	near, ok := diag.Near(path, stdlib.Modules())
	if slices.Contains(stdlib.Modules(), "std/"+path) {
		near, ok = "std/"+path, true
	}
	if ok {
		c.err(diag.UnknownModule, sp, fmt.Sprintf("there is no module '%s'", path), todo("did you mean '%s'?", near))
		return
	}
	c.err(diag.UnknownModule, sp, fmt.Sprintf("there is no module '%s'", path), todo("modules of ep are called 'std/…'; others are files, found from the script's folder"))
}

func (c *checker) unreadableModule(sp source.Span, path string, err error) {
	c.err(diag.UnknownModule, sp, fmt.Sprintf("cannot read module '%s': %v", path, err))
}

func (c *checker) unknownInModule(sp source.Span, m *module, name string) {
	names := m.check.eventNames()
	c.unknown(diag.UnknownEvent, sp, name, fmt.Sprintf("module '%s' has no event '%s'", m.alias, name), names, todo("it has %s", some(names, 12)))
	c.list[len(c.list)-1].Fixes = nil
}
