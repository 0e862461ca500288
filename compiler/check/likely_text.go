package check

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// Comparisons of strings that a kernel takes and that never say what their author
// thinks: the string has the wrong form for the operator or for the value.

// likelyComparisons looks at the comparisons in a condition about stages.
func (c *checker) likelyComparisons(stages []*ir.Stage, x ir.Expr) {
	ir.Visit(x, func(x ir.Expr) bool {
		switch x := x.(type) {
		case *ir.Binary:
			if k, ok := x.Y.(*ir.Const); ok {
				c.likelyText(stages, x, x.Op, x.X, k)
				c.likelyCharacter(x.X, k)
			}
		case *ir.In:
			for _, m := range x.Set {
				c.likelyText(stages, x, "in", x.X, m.Lo)
				c.likelyCharacter(x.X, m.Lo)
			}
		}
		return true
	})
}

// likelyText looks at a comparison of x with a constant string. e is the whole of
// it.
func (c *checker) likelyText(stages []*ir.Stage, e ir.Expr, op string, x ir.Expr, y *ir.Const) {
	s, ok := constString(y)
	if _, text := x.Type().(types.String); !ok || !text {
		return
	}
	left, marker := c.src.Slice(x.Span()), isMarkerText(stages, x)
	switch dir := strings.LastIndexByte(s, '/'); {
	case c.isFileName(x) && dir >= 0:
		c.nameHasNoFolders(y.Sp, left, s[dir+1:])
	case op == "~":
		if glob, ok := globOf(s); ok {
			c.notAGlob(y.Sp, strconv.Quote(glob))
		} else if strings.Contains(s, "|") {
			c.alternatives(e.Span(), left, strings.Split(s, "|"))
		} else if marker && !strings.HasSuffix(s, "*") && !strings.HasSuffix(s, "\n") {
			c.markerNeverMatches(y.Sp, "", strconv.Quote(s+"*"))
		}
	case marker && !strings.HasSuffix(s, "\n"):
		c.markerNeverMatches(e.Span(), left+" ~ ", strconv.Quote(s+"*"))
	case strings.ContainsAny(s, "*?"):
		c.literalGlob(e.Span(), left, op, strconv.Quote(s))
	}
}

// isFileName reports whether x is the name in a directory entry, which has no
// '/': what path and dentry give.
func (c *checker) isFileName(x ir.Expr) bool {
	if e, ok := x.(*ir.Early); ok {
		x = e.X
	}
	s, ok := x.(*ir.Str)
	if !ok {
		return false
	}
	call, _, _ := strings.Cut(c.src.Slice(s.Sp), "(")
	return call == "path" || call == "dentry"
}

// isMarkerText reports whether x is what a program wrote to trace_marker. The
// kernel ends it with a newline where the program does not
// (kernel/trace/trace.c, tracing_mark_write).
func isMarkerText(stages []*ir.Stage, x ir.Expr) bool {
	ref, ok := x.(*ir.FieldRef)
	if !ok || ref.Name != "buf" || ref.Stage >= len(stages) {
		return false
	}
	k, ok := stages[ref.Stage].Source.(*ir.KernelEvent)
	return ok && k.Format.System == "ftrace" && k.Format.Name == "print"
}

// regexWord is a part of a regular expression or of SQL's LIKE that has no meaning
// in a glob.
var regexWord = regexp.MustCompile(`^\^|\$$|\.[*+]|^%|%$|\\[a-zA-Z]`)

// globOf returns the glob that the author of a regular expression, or of a pattern
// of SQL's LIKE, means; false if s has the form of neither, or of nothing that a
// glob can say.
func globOf(s string) (string, bool) {
	if strings.ContainsAny(s, "|") || !regexWord.MatchString(s) {
		return "", false
	}
	if inner := strings.Trim(s, "%"); inner != s {
		return strings.ReplaceAll(s, "%", "*"), true
	}
	glob, head := strings.CutPrefix(s, "^")
	glob, tail := strings.CutSuffix(glob, "$")
	glob = strings.NewReplacer(".*", "*", ".+", "?*", `\.`, ".", `\d`, "[0-9]", `\w`, "[a-zA-Z0-9_]").Replace(glob)
	if !head && !strings.HasPrefix(glob, "*") {
		glob = "*" + glob
	}
	if !tail && !strings.HasSuffix(glob, "*") {
		glob += "*"
	}
	return glob, true
}

// likelyCharacter finds a character where the name of a value is meant:
// prev_state == 'S' compares with the character's code.
func (c *checker) likelyCharacter(x ir.Expr, y *ir.Const) {
	names := types.NamesOf(x.Type())
	text := c.src.Slice(y.Sp)
	if names == nil || len(text) < 3 || text[0] != '\'' {
		return
	}
	name := strings.Trim(text, "'")
	if _, named := names.Value(name); named {
		c.characterForName(y.Sp, name)
	}
}

// scales are the numbers by which people turn a unit of time into another, with
// how many units that one is up.
var scales = map[int64]types.Unit{1_000: 1, 1_000_000: 2, 1_000_000_000: 3}

// likelyScale finds a duration divided or multiplied by such a number, which stays
// a duration of the same unit.
func (c *checker) likelyScale(e *syntax.Binary, x, y ir.Expr) {
	d, ok := x.Type().(types.Duration)
	n, isConst := constInt(y)
	if !ok || !isConst || !plainNumber(y) || scales[n] == 0 {
		return
	}
	unit := ""
	if up := d.Unit + scales[n]; e.Op == "/" && up <= types.S {
		unit = up.String()
	}
	c.scaledDuration(e, d.Unit.String(), unit)
}

// Placeholders of shells and of printf.
var (
	dollarName  = regexp.MustCompile(`\$\{?\w+\}?`)
	percentVerb = regexp.MustCompile(`%[-0-9.]*l*[a-z]`)
)

// likelyForm looks at a print format for placeholders of other languages, and for
// none at all. shown tells that there is one of ep's.
func (c *checker) likelyForm(s *syntax.String, text string, shown bool, vars []ir.Var) {
	form := dollarName.ReplaceAllStringFunc(text, func(part string) string {
		name := strings.Trim(part, "${}")
		if slices.ContainsFunc(vars, func(v ir.Var) bool { return v.Name == name }) {
			return "{" + name + "}"
		}
		return part
	})
	if next := 0; !shown && form == text {
		form = percentVerb.ReplaceAllStringFunc(text, func(verb string) string {
			if next++; next > len(vars) {
				return verb
			}
			return "{" + vars[next-1].Name + "}"
		})
	}
	switch {
	case form != text:
		c.formOfOthers(s.Span(), form)
	case !shown:
		c.formShowsNothing(s.Span(), vars)
	}
}
