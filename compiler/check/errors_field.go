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
)

// This file words what is wrong with the name of a field, and finds what may be
// meant.

// unknownField reports a name that a stage's source does not have. consts are
// the script's, opp is what stands opposite, if its values may have the name.
func (c *checker) unknownField(sp source.Span, v *stageView, name string, consts []string, opp *opposite) {
	source := sourceName(v.stage.Source)
	offers := v.offers()
	if hint := contextHint(v.stage.Source, name, offers); hint != "" {
		c.err(diag.UnknownField, sp, fmt.Sprintf("%s has no field '%s'", source, name), todo("did you mean '%s'?", hint))
		c.fix(hint)
		return
	}
	candidates := append(append([]string{}, offers...), consts...)
	notes := c.offersNote(v.stage.Source, offers)
	if isMacro(name) {
		notes = []diag.Note{todo("the kernel does not know the constants of C's headers by name: write the number, or 'const %s = …'", name)}
	}
	if opp == nil {
		c.unknown(diag.UnknownField, sp, name, fmt.Sprintf("%s has no field '%s'", source, name), candidates, notes...)
		return
	}
	if names := types.NamesOf(opp.typ); names != nil {
		ends := ""
		for _, n := range names.List {
			candidates = append(candidates, n.Name)
			if ends == "" && (strings.HasSuffix(n.Name, "_"+name) || n.Name == "SIG"+name) {
				ends = n.Name
			}
		}
		if ends != "" {
			c.err(diag.UnknownName, sp, fmt.Sprintf("'%s' is no value of %s and no field of %s", name, c.shown(opp.at, "the other side"), source), todo("did you mean '%s'?", ends))
			c.fix(ends)
			return
		}
		c.unknown(diag.UnknownName, sp, name, fmt.Sprintf("'%s' is no value of %s and no field of %s", name, c.shown(opp.at, "the other side"), source),
			candidates, todo("the values are %s", some(names.Names(), 12)))
		return
	}
	if _, text := opp.typ.(types.String); text {
		if _, near := diag.Near(name, candidates); !near {
			c.err(diag.UnknownField, sp, fmt.Sprintf("%s has no field '%s'", source, name), todo("a text stands in quotes: '\"%s\"'", name))
			c.fix(`"` + name + `"`)
			return
		}
	}
	if near, ok := nearErrno(name); ok {
		c.err(diag.UnknownName, sp, fmt.Sprintf("there is no errno or signal '%s'", name), todo("did you mean '%s'?", near))
		c.fix(near)
		return
	}
	c.unknown(diag.UnknownField, sp, name, fmt.Sprintf("%s has no field '%s'", source, name), candidates, notes...)
}

// isMacro reports whether name looks like a constant of C: O_CREAT.
func isMacro(name string) bool {
	return len(name) > 2 && name == strings.ToUpper(name) && name != strings.ToLower(name)
}

// offersNote lists what a source has. A function of which nothing is known has
// what the script declares.
func (c *checker) offersNote(s ir.Source, offers []string) []diag.Note {
	p, ok := s.(*ir.Probe)
	if !ok || len(p.Args) > 0 || p.Result != nil || p.Offset != 0 {
		return hasNote(offers)
	}
	if _, err := c.t.FuncProto("", p.Symbol); err == nil && p.Place == ir.AtInstruction {
		return []diag.Note{todo("'func %s.enter' knows its arguments by name; here they are declared: '%s(a, b: s32)'", p.Symbol, p.Symbol)}
	}
	form := "a, b: s32"
	if _, err := c.t.Struct("kiocb"); err == nil { // the kernel's types are known, only not this module's
		form = "iocb: *kiocb, n: s32"
	}
	_, name, _ := strings.Cut(strings.TrimSuffix(probeName(p), "'"), "'")
	return []diag.Note{todo("nothing is known of its arguments; declare them by position: '%s(%s)'", name, form)}
}

// hasNote lists what a source has.
func hasNote(offers []string) []diag.Note {
	if len(offers) == 0 {
		return []diag.Note{todo("it has no fields; '$tid', '$comm', '$cpu' and '$time' are there always")}
	}
	return []diag.Note{todo("it has %s", some(offers, 12))}
}

// contextHint returns the value of the context that the name of a field looks
// like, "" if there is none or a field of the source looks like it as well.
func contextHint(s ir.Source, name string, offers []string) string {
	hint := contextWords[name]
	_, near := diag.Near(name, offers)
	switch {
	case hint == "" || near && !strings.HasPrefix(name, "common_"):
		return ""
	case slices.ContainsFunc(offers, func(o string) bool { return strings.HasSuffix(o, "_"+name) }):
		return "" // prev_pid, where it says pid
	case hint == "$ret":
		if _, ok := resultType(s); !ok {
			return ""
		}
	case hint == "$elapsed" && !isSpan(s):
		return ""
	}
	return hint
}

// contextWords are words of the kernel and of other tools for values of the
// context.
var contextWords = map[string]string{
	"common_pid": "$tid", "pid": "$tid", "tid": "$tid",
	"common_comm": "$comm", "comm": "$comm", "execname": "$comm",
	"common_cpu": "$cpu", "cpu": "$cpu",
	"common_timestamp": "$time", "timestamp": "$time", "time": "$time", "nsecs": "$time", "now": "$time",
	"common_stacktrace": "$kstack", "stacktrace": "$kstack", "kstack": "$kstack",
	"ret": "$ret", "retval": "$ret",
	"elapsed": "$elapsed", "duration": "$elapsed", "latency": "$elapsed",
}

// madeField reports the name of a field that the statement makes, said in a
// 'where', which knows only the source's. In a join its value may be of several
// stages.
func (c *checker) madeField(sp source.Span, f *syntax.Field, having, join bool) {
	note := todo("say it in 'having'")
	value := c.shown(f.Value.Span(), "its value")
	switch {
	case !having:
		note = todo("write %s", value)
	case !join:
		note = todo("say it in 'having', or write %s", value)
	}
	c.err(diag.UnknownField, sp, fmt.Sprintf("'%s' is a field of the new event, which 'where' does not know", c.src.Slice(sp)), note)
}

// argsOfField is for `args.f` and `args->f`, as other tools write a field.
func (c *checker) argsOfField(sp source.Span, field string) {
	c.err(diag.UnknownStage, sp, "fields and arguments stand alone", todo("write '%s'", field))
	c.fix("")
}

// lateAlias reports a stage that is named behind its 'where', where 'as' gives a
// value a type.
func (c *checker) lateAlias(cast *syntax.Cast) bool {
	t, ok := cast.Type.(*syntax.TypeName)
	if !ok {
		return false
	}
	name := t.Name.Text()
	_, basic := types.Basic(name)
	if _, near := nearType(name); basic || near || name == "void" {
		return false
	}
	c.err(diag.UnknownType, t.Span(), fmt.Sprintf("there is no type '%s'", name), todo("a stage is named before its 'where': 'as %s where …'", name))
	return true
}
