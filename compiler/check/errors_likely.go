package check

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// This file words what is allowed and likely not meant.

func (c *checker) wrongTask(x *ir.Context, src, thread, instead string) {
	c.add(diag.Warning, diag.WrongTask, x.Sp, fmt.Sprintf("the thread of %s is %s", src, thread), todo("%s", instead))
}

func (c *checker) neverReturns(sp source.Span, call string) {
	c.add(diag.Warning, diag.NeverReturns, sp, fmt.Sprintf("a thread does not return from '%s'", call), todo("write 'syscall %s.enter'", call))
}

func (c *checker) unsureKey(sp source.Span, name, with, why string) {
	c.add(diag.Warning, diag.UnsureKey, sp, fmt.Sprintf("'%s' alone does not tell what belongs together: %s", name, why), todo("add the key '%s'", with))
}

func (c *checker) tableFills(sp source.Span, or string) {
	notes := []diag.Note{todo("say how many there may be: 'size 65536'; what is lost is counted")}
	if or != "" {
		notes = append(notes, todo("%s", or))
	}
	c.add(diag.Warning, diag.TableFills, sp, fmt.Sprintf("these keys are unbounded; the table holds %d and never frees one", command.DefaultHistSize), notes...)
}

func (c *checker) keysContradict(sp source.Span, a, b string) {
	c.err(diag.KeysNeverMatch, sp, fmt.Sprintf("the keys can never be equal: one is %s, the other %s", a, b), todo("the conditions of the stages say so"))
}

func (c *checker) otherModule(k *ir.Probe, module string) {
	where, name := "in the kernel itself", k.Symbol
	if module != "" {
		where, name = fmt.Sprintf("in the module '%s'", module), module+":"+k.Symbol
	}
	c.add(diag.Warning, diag.UnknownSymbol, k.Span, fmt.Sprintf("on the target, '%s' is %s, not in the module '%s'", k.Symbol, where, k.Module))
	c.suggest(name)
}

func (c *checker) numberCut(x ir.Expr, sp source.Span, from, to types.Int) {
	value := c.src.Slice(x.Span())
	c.add(diag.Warning, diag.NumberCut, sp, fmt.Sprintf("'%s' has %d bits, of which this keeps the lowest %d", value, from.Size*8, to.Size*8),
		todo("leave the type out, or write '= %s as %s' if those bits are meant", value, to))
}

func (c *checker) timeAsKey(sp source.Span) {
	c.err(diag.KeysNeverMatch, sp, "two events never have the same time", todo("join by what they have in common, such as a thread: 'by a.pid == b.pid'; the time between them is 'b.$time - a.$time'"))
}

func (c *checker) anyBit(b *ir.Binary, name, other string) {
	text := c.src.Slice(b.Span())
	c.add(diag.Warning, diag.AnyBit, b.Span(), fmt.Sprintf("any bit of '%s' makes this true, and '%s' has some of them", name, other),
		todo("if all are meant, write '%s == %s'", text, c.src.Slice(b.Y.Span())))
}

func (c *checker) literalGlob(sp source.Span, left, op, text string) {
	c.add(diag.Warning, diag.LiteralGlob, sp, fmt.Sprintf("'%s' compares literally: '*' and '?' stand for themselves in %s", op, text))
	glob := left + " ~ " + text
	switch op {
	case "==":
		c.suggest(glob)
	case "!=":
		c.suggest("!(" + glob + ")")
	default:
		c.list[len(c.list)-1].Notes = []diag.Note{todo("match it apart: '%s'", glob)}
	}
}

func (c *checker) notAGlob(sp source.Span, glob string) {
	c.add(diag.Warning, diag.NotAGlob, sp, "'~' matches a glob, and this pattern is in another language")
	c.suggest(glob)
}

func (c *checker) alternatives(sp source.Span, left string, parts []string) {
	for i, p := range parts {
		parts[i] = left + " ~ " + strconv.Quote(p)
	}
	c.add(diag.Warning, diag.NotAGlob, sp, "a glob has no alternatives: '|' stands for itself")
	c.suggest(strings.Join(parts, " || "))
}

func (c *checker) nameHasNoFolders(sp source.Span, value, name string) {
	c.add(diag.Warning, diag.ConstantCondition, sp, fmt.Sprintf("'%s' is a name without folders, which never has a '/'", value))
	if strings.Trim(name, "*") == "" {
		c.list[len(c.list)-1].Notes = []diag.Note{todo("a probe cannot read a path; the name of the file's directory is 'dentry(FILE->f_path.dentry->d_parent)'")}
		return
	}
	c.suggest(strconv.Quote(name))
}

func (c *checker) markerNeverMatches(sp source.Span, left, glob string) {
	c.add(diag.Warning, diag.ConstantCondition, sp, "the kernel ends each marker with a newline, which this does not match")
	c.suggest(left + glob)
}

func (c *checker) characterForName(sp source.Span, name string) {
	c.add(diag.Warning, diag.CharacterForName, sp, fmt.Sprintf("'%s' in single quotes is the number %d, not the value named %s", name, name[0], name))
	c.suggest(name)
}

func (c *checker) scaledDuration(e *syntax.Binary, unit, to string) {
	x, n := c.src.Slice(e.X.Span()), c.src.Slice(e.Y.Span())
	if to == "" {
		c.add(diag.Warning, diag.ScaledDuration, e.Span(), fmt.Sprintf("a duration times %s is a duration %s times as long, in the same unit", n, n), todo("durations have units: leave out the '* %s'", n))
		if e.Op == "/" {
			c.list[len(c.list)-1].Message = fmt.Sprintf("a duration divided by %s is a shorter duration, in the same unit", n)
			c.list[len(c.list)-1].Notes = []diag.Note{todo("durations have units: leave out the '/ %s'", n)}
		}
		return
	}
	c.add(diag.Warning, diag.ScaledDuration, e.Span(), fmt.Sprintf("a duration divided by %s is a shorter duration, still in %s", n, unit))
	c.suggest(x + " as " + to)
}

// suggest adds what to write to the last diagnostic, as a note and a Fix.
func (c *checker) suggest(text string) {
	d := &c.list[len(c.list)-1]
	d.Notes = append(d.Notes, todo("write '%s'", text))
	c.fix(text)
}

func (c *checker) formOfOthers(sp source.Span, form string) {
	c.add(diag.Warning, diag.BadPrint, sp, "a print format shows a field as '{name}'")
	c.suggest(strconv.Quote(form))
}

func (c *checker) formShowsNothing(sp source.Span, vars []ir.Var) {
	names := make([]string, 0, len(vars))
	for _, v := range vars {
		names = append(names, "{"+v.Name+"}")
	}
	c.add(diag.Warning, diag.BadPrint, sp, "the print format shows no field: each line will read the same", todo("the fields are %s", some(names, 12)))
}
