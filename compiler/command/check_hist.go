package command

import (
	"errors"
	"fmt"
	"strings"
)

func spellHist(c *Hist) error {
	if len(c.Keys) == 0 {
		return errors.New("hist without keys")
	}
	for _, x := range c.Keys {
		if err := spellExpr(x, keyModifiers); err != nil {
			return err
		}
	}
	for _, x := range c.Vals {
		if err := spellExpr(x, valModifiers); err != nil {
			return err
		}
	}
	for _, v := range c.Vars {
		if !isVarName(v.Name) {
			return fmt.Errorf("variable %q", v.Name)
		}
		if err := spellExpr(v.Expr, varModifiers); err != nil {
			return fmt.Errorf("variable '%s': %w", v.Name, err)
		}
	}
	for _, s := range c.Sort {
		if !isIdent(s.Name) || undouble(s.Name) != s.Name {
			return fmt.Errorf("sort key %q", s.Name)
		}
	}
	if c.Size < 0 {
		return fmt.Errorf("size %d", c.Size)
	}
	if c.Name != "" && !isToken(c.Name) {
		return fmt.Errorf("hist name %q", c.Name)
	}
	if c.Clock != "" && !isToken(c.Clock) {
		return fmt.Errorf("clock %q", c.Clock)
	}
	switch c.State {
	case "", "pause", "continue", "clear":
	default:
		return fmt.Errorf("state %q", c.State)
	}
	for _, a := range c.Actions {
		if err := spellAction(a); err != nil {
			return err
		}
	}
	return first(spellAnyEvent(c.Event), spellCond(c.If))
}

// isVarName reports whether a variable can be printed. Kernels take more than
// ValidVarName does, and people write it.
func isVarName(s string) bool {
	for _, w := range histWords {
		if s == w {
			return false
		}
	}
	return isEventPart(s)
}

// precedence of a hist expression's operator; a term has the highest.
func precedence(x HistExpr) int {
	b, ok := x.(*HistBinary)
	switch {
	case !ok:
		return 3
	case b.Op == '*' || b.Op == '/':
		return 2
	}
	return 1
}

// The modifiers that a key, a value and a variable may have.
// trace_events_hist.c, parse_field, create_key_field and create_val_field.
const (
	keyModifiers = " hex sym sym-offset syscall execname log2 buckets usecs stacktrace "
	valModifiers = " hex execname usecs percent graph "
	varModifiers = " hex sym sym-offset syscall execname usecs stacktrace "
)

// spellExpr checks an expression whose fields may have modifiers. There are no
// parentheses, so a tree can be said only if it is what the kernel reads without
// them.
func spellExpr(x HistExpr, modifiers string) error {
	if neg, ok := x.(*HistNeg); ok {
		if x = neg.X; HasMinus(x) {
			return errors.New("minus within -(…)")
		}
	}
	if err := spellTerm(x); err != nil {
		return err
	}
	var err error
	walkFields(x, func(f HistField) {
		modifier, _, _ := strings.Cut(f.Modifier, "=")
		if f.Event.Name != "" || modifier != "" && !strings.Contains(modifiers, " "+modifier+" ") {
			err = fmt.Errorf("field '%s' with modifier %q here", f.Name, f.Modifier)
		}
	})
	return err
}

// HasMinus reports whether x subtracts anywhere. What does cannot be negated: the
// kernel parts an expression at its last minus, wherever that is
// (contains_operator of trace_events_hist.c).
func HasMinus(x HistExpr) bool {
	switch x := x.(type) {
	case *HistBinary:
		return x.Op == '-' || HasMinus(x.X) || HasMinus(x.Y)
	case *HistNeg:
		return true
	}
	return false
}

func spellTerm(x HistExpr) error {
	switch x := x.(type) {
	case HistField:
		return spellHistField(x)
	case HistRef:
		if err := spellQualifier(x.Event); err != nil {
			return err
		}
		if !isVarName(x.Name) || strings.Contains(x.Name, "-") {
			return fmt.Errorf("variable %q", x.Name)
		}
		return nil
	case HistNum:
		return nil
	case *HistBinary:
		if strings.IndexByte("+-*/", x.Op) < 0 {
			return fmt.Errorf("operator %q", x.Op)
		}
		if precedence(x.X) < precedence(x) || precedence(x.Y) <= precedence(x) {
			return errors.New("expression that needs parentheses")
		}
		return first(spellTerm(x.X), spellTerm(x.Y))
	case *HistNeg:
		return errors.New("minus within an expression")
	}
	return fmt.Errorf("no such hist expression: %T", x)
}

// walkFields calls f for each field of x from left to right.
func walkFields(x HistExpr, f func(HistField)) {
	switch x := x.(type) {
	case HistField:
		f(x)
	case *HistBinary:
		walkFields(x.X, f)
		walkFields(x.Y, f)
	case *HistNeg:
		walkFields(x.X, f)
	}
}

// spellQualifier is for the event before a name, which may be none. A hyphen in
// it would be a minus.
func spellQualifier(n EventName) error {
	if n.Group == "" && n.Name == "" {
		return nil
	}
	if n.Group == "" || n.Name == "" || !all(n.Group+n.Name, isWord) {
		return fmt.Errorf("event %q", n.String())
	}
	return nil
}

func spellHistField(x HistField) error {
	if err := spellQualifier(x.Event); err != nil {
		return err
	}
	if x.Event.Name != "" && x.Modifier != "" {
		return errors.New("modifier of another event's field")
	}
	if err := spellIdent("field", x.Name); err != nil {
		return err
	}
	if undouble(x.Name) != x.Name || x.Modifier == "stacktrace" && stackName(x.Name) == "common_stacktrace" {
		return fmt.Errorf("field '%s' as it is read back", x.Name)
	}
	switch x.Modifier {
	case "", "hex", "sym", "sym-offset", "execname", "syscall", "log2", "usecs", "percent", "graph", "stacktrace":
		return nil
	}
	n, ok := strings.CutPrefix(x.Modifier, "buckets=")
	if size, err := parseUint(n); !ok || err != nil || size == 0 {
		return fmt.Errorf("modifier %q", x.Modifier)
	}
	return nil
}

func spellAction(a HistAction) error {
	switch a.Handler {
	case "onmatch":
		if err := spellAnyEvent(a.Match); err != nil {
			return err
		}
	case "onmax", "onchange":
		if !isVarName(a.Var) {
			return fmt.Errorf("variable %q", a.Var)
		}
	default:
		return fmt.Errorf("handler %q", a.Handler)
	}
	if a.Handler == "onmatch" && a.Do != "trace" {
		return fmt.Errorf("action %q of onmatch", a.Do)
	}
	switch a.Do {
	case "trace":
		if err := spellIdent("synthetic event", a.Synth); err != nil {
			return err
		}
	case "save":
	case "snapshot":
		if len(a.Params) > 0 {
			return errors.New("parameters of snapshot")
		}
	default:
		return fmt.Errorf("action %q", a.Do)
	}
	for _, x := range a.Params {
		if err := spellParam(a, x); err != nil {
			return err
		}
	}
	return nil
}

// spellParam checks a parameter: a field, without a modifier, or for trace a
// variable too.
func spellParam(a HistAction, x HistExpr) error {
	switch x := x.(type) {
	case HistField:
		if x.Modifier != "" || a.Do == "save" && x.Event.Name != "" {
			return fmt.Errorf("parameter '%s'", x.Name)
		}
	case HistRef:
		if a.Do == "save" {
			return fmt.Errorf("variable '%s' in save", x.Name)
		}
	default:
		return errors.New("parameter that is neither a variable nor a field")
	}
	return spellTerm(x)
}
