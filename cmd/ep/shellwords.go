package main

import (
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

func isPositional(n string) bool {
	return n == "@" || n == "*" || n == "#" || n != "" && strings.Trim(n, "0123456789") == ""
}

// arguments sets $1 and so on.
func (sh *shell) arguments(args []string) {
	maps.DeleteFunc(sh.vars, func(n, _ string) bool { return isPositional(n) })
	for i, a := range args {
		sh.set(strconv.Itoa(i+1), a)
	}
	for _, all := range []string{"@", "*"} {
		sh.set(all, strings.Join(args, " "))
	}
	sh.set("#", strconv.Itoa(len(args)))
}

func (sh *shell) assign(a *syntax.Assign) {
	switch {
	case a.Name == nil || a.Naked:
	case a.Append || a.Array != nil || a.Index != nil || sh.unsure:
		sh.setLost(a.Name.Value)
	case a.Value == nil:
		sh.set(a.Name.Value, "")
	default:
		if value, known := sh.literal(a.Value); known {
			sh.set(a.Name.Value, value)
		} else {
			sh.setLost(a.Name.Value)
		}
	}
}

func (sh *shell) set(name, value string) {
	if sh.vars == nil {
		sh.vars = map[string]string{}
	}
	sh.vars[name] = value
	delete(sh.lost, name)
}

// setLost notes that a variable is set to what is not known.
func (sh *shell) setLost(name string) {
	if sh.lost == nil {
		sh.lost = map[string]bool{}
	}
	delete(sh.vars, name)
	sh.lost[name] = true
}

// known reports whether what n stands for does not depend on a program, or on
// what the script is given.
func (sh *shell) known(n syntax.Node) bool {
	known := true
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			known = false
		case *syntax.ArithmExp:
			syntax.Walk(n.X, func(n syntax.Node) bool {
				if w, ok := n.(*syntax.Word); ok && syntax.ValidName(w.Lit()) {
					_, set := sh.vars[w.Lit()]
					known = known && set
				}
				return true
			})
		case *syntax.ParamExp:
			_, set := sh.vars[n.Param.Value]
			if !set && (sh.lost[n.Param.Value] || !hasDefault(n)) {
				known = false
			}
		}
		return known
	})
	return known
}

func (sh *shell) config() *expand.Config {
	return &expand.Config{Env: environ(sh.vars)}
}

// environ are variables as expand reads them; those that are empty are set.
type environ map[string]string

// Get implements expand.Environ.
func (e environ) Get(name string) expand.Variable {
	v, ok := e[name]
	if !ok {
		return expand.Variable{}
	}
	if name == "@" || name == "*" {
		return expand.Variable{Set: true, Kind: expand.Indexed, List: e.positional()}
	}
	return expand.Variable{Set: true, Kind: expand.String, Str: v}
}

func (e environ) positional() (list []string) {
	for i := 1; ; i++ {
		v, ok := e[strconv.Itoa(i)]
		if !ok {
			return list
		}
		list = append(list, v)
	}
}

// Each implements expand.Environ.
func (e environ) Each(f func(name string, vr expand.Variable) bool) {
	for n := range e {
		if !f(n, e.Get(n)) {
			return
		}
	}
}

// literal returns what one word stands for, where it is not split at blanks.
func (sh *shell) literal(w *syntax.Word) (s string, known bool) {
	if w == nil {
		return "", true
	}
	if !sh.known(w) {
		return w.Lit(), false
	}
	s, err := expand.Literal(sh.config(), w)
	sh.step(len(s) / textOfStep)
	return s, err == nil
}

// words returns what the words of a command stand for; known is false if it
// depends on what is not known before the script runs.
func (sh *shell) words(list []*syntax.Word) (out []string, known bool) {
	known = true
	for _, w := range list {
		if !sh.known(w) || sh.steps > maxSteps || manyBraces(w) {
			out, known = append(out, w.Lit()), false
			continue
		}
		fields, err := expand.Fields(sh.config(), w)
		if err != nil {
			out, known = append(out, w.Lit()), false
			continue
		}
		for _, f := range fields {
			sh.step(len(f) / textOfStep)
		}
		out = append(out, fields...)
	}
	return out, known
}

// ranges finds what `{1..9}` counts.
var ranges = regexp.MustCompile(`(-?\d+)\.\.(-?\d+)`)

// manyBraces reports whether w may stand for more words than are followed.
func manyBraces(w *syntax.Word) bool {
	each, groups := 1.0, 0
	for _, p := range w.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok {
			continue
		}
		groups += strings.Count(lit.Value, "{")
		each += float64(strings.Count(lit.Value, ","))
		for _, m := range ranges.FindAllStringSubmatch(lit.Value, -1) {
			from, _ := strconv.ParseFloat(m[1], 64)
			to, _ := strconv.ParseFloat(m[2], 64)
			each += math.Abs(to - from)
		}
	}
	return math.Pow(each, float64(groups)) > maxWords
}

// hasDefault reports whether n is `${NAME:-TEXT}`, which is TEXT if nobody sets
// NAME.
func hasDefault(n *syntax.ParamExp) bool {
	return n.Exp != nil && (n.Exp.Op == syntax.DefaultUnset || n.Exp.Op == syntax.DefaultUnsetOrNull)
}
