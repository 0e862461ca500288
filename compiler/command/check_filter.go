package command

import (
	"errors"
	"fmt"
	"strings"
)

// spellCond checks a condition; nil is none. A value's text must not end its
// quotes: a filter has no escapes.
func spellCond(c Cond) error {
	switch c := c.(type) {
	case nil:
		return nil
	case *And:
		return spellList(c.List)
	case *Or:
		return spellList(c.List)
	case *Not:
		if c.X == nil {
			return errors.New("negation of nothing")
		}
		return spellCond(c.X)
	case *Pred:
		return spellPred(c)
	}
	return fmt.Errorf("no such condition: %T", c)
}

func spellList(list []Cond) error {
	if len(list) < 2 {
		return errors.New("condition of fewer than two")
	}
	for _, c := range list {
		if c == nil {
			return errors.New("empty condition")
		}
		if err := spellCond(c); err != nil {
			return err
		}
	}
	return nil
}

func spellPred(c *Pred) error {
	if !isIdent(c.Field) {
		return fmt.Errorf("field %q", c.Field)
	}
	switch c.Suffix {
	case "", "ustring", "function":
	default:
		return fmt.Errorf("suffix %q", c.Suffix)
	}
	if err := spellValue(c.Value); err != nil {
		return err
	}
	if c.Suffix == "ustring" && c.Value.Kind == CPUs || c.Suffix == "function" && c.Value.Kind != Number {
		return fmt.Errorf("%s with %s", c.Suffix, c.Value)
	}
	switch c.Value.Kind {
	case String:
		return spellOp(c, "== != ~")
	case CPUs:
		return spellOp(c, "== != &")
	}
	if c.Suffix == "function" {
		return spellOp(c, "== !=")
	}
	if _, err := parseUint(strings.TrimPrefix(c.Value.Text, "-")); err != nil {
		return fmt.Errorf("number %q", c.Value.Text)
	}
	return spellOp(c, "== != < <= > >= &")
}

// spellOp checks that the operator of c is one of those that its value takes.
func spellOp(c *Pred, ops string) error {
	for op := range strings.FieldsSeq(ops) {
		if c.Op == op {
			return nil
		}
	}
	return fmt.Errorf("operator %q before %s", c.Op, c.Value)
}

func spellValue(v Value) error {
	switch v.Kind {
	case Number:
		if !isSymbol(strings.TrimPrefix(v.Text, "-")) {
			return fmt.Errorf("number %q", v.Text)
		}
	case String:
		if !ValidFilterString(v.Text) {
			return fmt.Errorf("string %q", v.Text)
		}
	case CPUs:
		if v.Text == "" || !all(v.Text, func(c byte) bool { return isWord(c) || strings.IndexByte(",-:/ ", c) >= 0 }) {
			return fmt.Errorf("CPU list %q", v.Text)
		}
	default:
		return fmt.Errorf("no such value: %d", v.Kind)
	}
	return nil
}

// ValidFilterString reports whether a filter can say the string s: it holds one
// kind of quote at most, no control character but the tab, and no more than
// MaxFilterString bytes. An eprobe's own condition takes less: see
// ValidEprobeString.
func ValidFilterString(s string) bool {
	return len(s) <= MaxFilterString &&
		!(strings.Contains(s, `"`) && strings.Contains(s, "'")) &&
		all(s, func(c byte) bool { return !isControl(c) || c == '\t' })
}

// ValidEprobeString reports whether the condition of an eprobe can say s. Its
// line is parted at blanks and joined again with one blank each, quotes or not,
// and '#' begins a comment. trace_eprobe.c, trace_eprobe_parse_filter.
func ValidEprobeString(s string) bool {
	if !ValidFilterString(s) || strings.Contains(s, "#") || strings.Contains(s, "  ") {
		return false
	}
	return all(s, func(c byte) bool { return c == ' ' || !isBlank(c) })
}

func spellEprobeCond(c Cond) error {
	var err error
	walkPreds(c, func(p *Pred) {
		if p.Value.Kind == String && !ValidEprobeString(p.Value.Text) {
			err = fmt.Errorf("string %q in the condition of an eprobe", p.Value.Text)
		}
	})
	return err
}

// walkPreds calls f for each comparison of c from left to right.
func walkPreds(c Cond, f func(*Pred)) {
	switch c := c.(type) {
	case *And:
		for _, x := range c.List {
			walkPreds(x, f)
		}
	case *Or:
		for _, x := range c.List {
			walkPreds(x, f)
		}
	case *Not:
		walkPreds(c.X, f)
	case *Pred:
		f(c)
	}
}
