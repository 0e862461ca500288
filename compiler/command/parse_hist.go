package command

import (
	"math"
	"strings"
)

// A hist trigger, as people write it and kernels read it:
//
//	"hist" {":" PART} [" if " COND] [" [active]" | " [paused]"]
//	PART := ("keys" | "key") "=" EXPR {"," EXPR}
//	      | ("vals" | "val" | "values") "=" EXPR {"," EXPR}
//	      | "sort" "=" NAME[".ascending" | ".descending"] {"," …}
//	      | "size" "=" N | "name" "=" ID | "clock" "=" CLOCK
//	      | "pause" | "continue" | "cont" | "clear" | "nohitcount" | "NOHC"
//	      | VAR "=" EXPR {"," VAR "=" EXPR}
//	      | HANDLER "(" … ")." ACTION "(" … [")"]
//
// The parts come in any order; of keys, vals, sort, size, name and clock the
// last one counts. The kernel parts the text at each colon, whatever it is in.
// Read back, a sort key has its modifier as well: `sort=lat.log2.descending`.

func parseHist(event EventName, text string, at int, remove bool) (Command, error) {
	c := &Hist{Event: event, Remove: remove}
	shown := false
	if s, ok := strings.CutSuffix(text, " [active]"); ok {
		text, shown = trim(s), true
	} else if s, ok := strings.CutSuffix(text, " [paused]"); ok {
		text, shown, c.State = trim(s), true, "pause"
	}
	if i, j := findIf(text); i >= 0 {
		cond, err := parseCond(text[j:], at+j)
		if err != nil {
			return nil, err
		}
		c.If = cond
		text = text[:i]
	}
	rest, at, err := afterKind(text, at)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(rest, "if") { // the kernel looks for the condition first
		return nil, errAt(at, "want 'keys=' first")
	}
	for part := range strings.SplitSeq(trim(rest), ":") {
		s := part
		if shown {
			s = withoutSortModifiers(s)
		}
		if err := parseHistPart(c, s, at); err != nil {
			return nil, err
		}
		at += len(part) + 1
	}
	if len(c.Keys) == 0 {
		return nil, errAt(at-1, "want 'keys='")
	}
	return c, nil
}

// withoutSortModifiers takes the modifiers out of a part that begins with
// "sort=".
func withoutSortModifiers(part string) string {
	list, ok := strings.CutPrefix(part, "sort=")
	if !ok {
		return part
	}
	var keys []string
	for item := range strings.SplitSeq(list, ",") {
		name, _, _ := strings.Cut(item, ".")
		if strings.HasSuffix(item, ".descending") {
			name += ".descending"
		}
		keys = append(keys, name)
	}
	return "sort=" + strings.Join(keys, ",")
}

// TriggerCond returns the condition of a line of a trigger file as it stands there,
// from which the kernel tells one hist from another; "" if it has none.
func TriggerCond(line string) string {
	if i, j := findIf(line); i >= 0 {
		return line[j:]
	}
	return ""
}

// findIf returns where the first word "if" and where what follows it begins;
// -1 if there is none.
func findIf(s string) (start, cond int) {
	for i := 1; i+3 < len(s); i++ {
		if s[i:i+2] == "if" && isBlank(s[i-1]) && isBlank(s[i+2]) {
			return i - 1, i + 3
		}
	}
	return -1, 0
}

func parseHistPart(c *Hist, s string, at int) error {
	word, value, ok := strings.Cut(s, "=")
	if !ok {
		return parseHistWord(c, s, at)
	}
	valueAt := at + len(word) + 1
	if value == "" {
		return logged("Empty assignment", valueAt, "want something after '='")
	}
	var err error
	switch word {
	case "keys", "key":
		c.Keys, err = parseExprs(value, valueAt)
		return err
	case "vals", "val", "values":
		c.Vals, err = parseExprs(value, valueAt)
		return err
	case "sort":
		return parseSort(c, value, valueAt)
	case "size":
		n, err := parseUint(value)
		if err != nil || n == 0 || n > math.MaxInt32 {
			return errAt(valueAt, "want a size")
		}
		c.Size = int(n)
		return nil
	case "name":
		c.Name = value
		return nil
	case "clock":
		if c.Clock = trim(value); c.Clock == "" {
			return errAt(valueAt, "want a clock")
		}
		return nil
	}
	return parseVars(c, s, at)
}

func parseHistWord(c *Hist, s string, at int) error {
	switch s {
	case "pause":
		if c.State == "" { // the others want a hist that is there, whatever stands with them
			c.State = s
		}
		return nil
	case "continue", "clear":
		c.State = s
		return nil
	case "cont":
		c.State = "continue"
		return nil
	case "nohitcount", "NOHC":
		c.NoHitcount = true
		return nil
	}
	a, err := parseAction(s, at)
	c.Actions = append(c.Actions, a)
	return err
}

func parseSort(c *Hist, s string, at int) error {
	c.Sort = nil
	for item := range strings.SplitSeq(s, ",") {
		name, order, ordered := strings.Cut(item, ".")
		k := HistSort{Name: undouble(name), Desc: order == "descending"}
		switch {
		case name == "":
			return logged("Empty sort field", at, "want a key or a value to sort by")
		case ordered && !k.Desc && order != "ascending":
			return logged("Invalid sort modifier", at+len(name)+1, "want 'ascending' or 'descending'")
		}
		c.Sort = append(c.Sort, k)
		at += len(item) + 1
	}
	return nil
}

func parseVars(c *Hist, s string, at int) error {
	for item := range strings.SplitSeq(s, ",") {
		name, value, ok := strings.Cut(item, "=")
		if !ok {
			return logged("Malformed assignment", at, "want VARIABLE=VALUE")
		}
		x, err := parseExpr(value, at+len(name)+1)
		if err != nil {
			return err
		}
		c.Vars = append(c.Vars, HistVar{Name: name, Expr: x})
		at += len(item) + 1
	}
	return nil
}

// parseAction reads `HANDLER(ARG).ACTION(PARAMS)`. What does not begin with
// trace, save or snapshot is a synthetic event, called by its name. A last
// parenthesis may miss, and what follows it does not matter (action_parse).
func parseAction(s string, at int) (a HistAction, err error) {
	handler, rest, ok := strings.Cut(s, "(")
	a.Handler = handler
	arg, after, closed := strings.Cut(rest, ")")
	skipped, call, ok2 := strings.Cut(after, ".")
	argAt := at + len(handler) + 1
	switch {
	case !ok || handler != "onmatch" && handler != "onmax" && handler != "onchange":
		return a, errAt(at, "no part of a hist")
	case !closed:
		return a, logged("No closing paren found", at+len(s), "want ')'")
	case handler == "onmatch":
		group, name, ok := strings.Cut(arg, ".")
		a.Match = EventName{Group: group, Name: name}
		if !ok {
			return a, logged("Missing subsystem", argAt, "want SYSTEM.EVENT")
		}
		if spellAnyEvent(a.Match) != nil {
			return a, logged("Invalid subsystem or event name", argAt, "want SYSTEM.EVENT")
		}
	default:
		a.Var, ok = strings.CutPrefix(arg, "$")
		if !ok || !isVarName(a.Var) {
			return a, logged("For onmax(x) or onchange(x), x must be a variable", argAt, "want a variable")
		}
	}
	callAt := argAt + len(arg) + 1 + len(skipped) + 1
	do, params, ok := strings.Cut(call, "(")
	if !ok2 {
		return a, logged("No action found", at+len(s), "want '.ACTION(…)'")
	}
	if !ok {
		return a, logged("No action found", callAt, "want ACTION(…)")
	}
	params, _, closed = strings.Cut(params, ")")
	paramsAt := callAt + len(do) + 1
	switch {
	case strings.HasPrefix(do, "snapshot"):
		a.Do = "snapshot"
		if !closed {
			return a, logged("No closing paren found", paramsAt+len(params), "want ')'")
		}
		return a, nil
	case strings.HasPrefix(do, "save"):
		a.Do = "save"
	case strings.HasPrefix(do, "trace"):
		a.Do = "trace"
		synth, more, ok := strings.Cut(params, ",")
		a.Synth = trim(synth)
		switch {
		case len(a.Synth) < MinActionWord:
			return a, logged("Invalid action param", paramsAt, "want the name of a synthetic event, of two letters or more")
		case !isIdent(a.Synth):
			return a, logged("Couldn't find synthetic event", paramsAt, "want a synthetic event")
		}
		if !ok {
			return a, nil
		}
		params, paramsAt = more, paramsAt+len(synth)+1
	case !isIdent(do):
		return a, logged("Couldn't find synthetic event", callAt, "want ACTION(…)")
	default:
		a.Do, a.Synth = "trace", do
	}
	a.Params, err = parseParams(params, paramsAt)
	return a, err
}

func parseParams(s string, at int) ([]HistExpr, error) {
	var list []HistExpr
	for item := range strings.SplitSeq(s, ",") {
		text, textAt := trim(item), at+lead(item)
		if len(text) < MinActionWord {
			return nil, logged("Invalid action param", textAt, "want a variable or a field, of two characters or more")
		}
		x, n, err := parseOperand(text, textAt)
		if err == nil && n < len(text) {
			err = logged("Couldn't find field", textAt+n, "want ','")
		}
		if err != nil {
			return nil, err
		}
		list = append(list, x)
		at += len(item) + 1
	}
	return list, nil
}
