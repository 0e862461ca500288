package command

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Check reports why c cannot be written: a name or a text that would not stay
// one word of its line, a shape that the kernel has no spelling for, or a limit
// of the kernel's spelling that no kernel up to v7.3 lifts. It returns nil if
// Print may be called.
//
// The error says what is wrong in few words, for a developer: stages before
// this one refuse the same in the user's words.
func Check(c Command) error {
	if err := spell(c); err != nil {
		return err
	}
	return limits(c)
}

// spell reports why Print must not print c.
func spell(c Command) error {
	switch c := c.(type) {
	case *Eprobe:
		return first(spellEvent(c.EventName), spellAnyEvent(c.On), spellArgs(c.Args, true),
			spellCond(c.If), spellEprobeCond(c.If))
	case *Kprobe:
		return first(spellEvent(c.EventName), spellKprobe(c), spellArgs(c.Args, false))
	case *Fprobe:
		return first(spellEvent(c.EventName), spellModule(c.Module), spellSymbol(c.Symbol), spellArgs(c.Args, false),
			spellEntry(c))
	case *Tprobe:
		return first(spellEvent(c.EventName), spellIdent("tracepoint", c.Tracepoint), spellArgs(c.Args, false))
	case *Uprobe:
		return first(spellEvent(c.EventName), spellPath(c.Path), spellArgs(c.Args, false))
	case *Synthetic:
		return spellSynthetic(c)
	case *Delete:
		return spellDelete(c)
	case *Hist:
		return spellHist(c)
	case *Trigger:
		return spellTrigger(c)
	case *Filter:
		return first(spellFiles(c.Event), spellCond(c.If))
	case *Enable:
		return spellFiles(c.Event)
	case *Setting:
		return spellSetting(c)
	}
	return fmt.Errorf("no such command: %T", c)
}

// first returns the first error of list.
func first(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// spellEvent is for the event that a line makes.
func spellEvent(n EventName) error {
	if !ValidGroup(n.Group) {
		return fmt.Errorf("group name %q", n.Group)
	}
	if !ValidEventName(n.Name) {
		return fmt.Errorf("event name %q", n.Name)
	}
	return nil
}

// spellAnyEvent is for an event that there is.
func spellAnyEvent(n EventName) error {
	if !isEventPart(n.Group) || !isEventPart(n.Name) {
		return fmt.Errorf("event %q", n.String())
	}
	return nil
}

// spellFiles is for an event, a group or all events, as the files have them.
func spellFiles(n EventName) error {
	if n.Name == "" && (n.Group == "" || isEventPart(n.Group)) {
		return nil
	}
	return spellAnyEvent(n)
}

func spellIdent(what, s string) error {
	if !isIdent(s) {
		return fmt.Errorf("%s %q", what, s)
	}
	return nil
}

func spellModule(s string) error {
	if !all(s, isWord) { // the kernel would take a hyphen for the sign of an offset
		return fmt.Errorf("module %q", s)
	}
	return nil
}

func spellSymbol(s string) error {
	if !isSymbol(s) || isDigit(s[0]) {
		return fmt.Errorf("symbol %q", s)
	}
	return nil
}

func spellKprobe(c *Kprobe) error {
	if c.Symbol == "" {
		if c.Module != "" {
			return errors.New("address in a module")
		}
	} else if err := first(spellModule(c.Module), spellSymbol(c.Symbol)); err != nil {
		return err
	}
	if c.Symbol != "" && (c.Return && c.Offset != 0 || c.Offset > math.MaxInt64) {
		return fmt.Errorf("offset %d from a function", c.Offset)
	}
	if c.MaxActive < 0 || c.MaxActive > MaxActive || c.MaxActive != 0 && !c.Return {
		return fmt.Errorf("maxactive %d", c.MaxActive)
	}
	return nil
}

// spellEntry refuses a value that makes an fprobe one of the return.
func spellEntry(c *Fprobe) error {
	for _, a := range c.Args {
		if !c.Return && usesRetVal(a.Fetch) {
			return errors.New("$retval at a function's entry")
		}
	}
	return nil
}

// spellPath is for a uprobe's file: the line has no quoting, so a path with
// blanks or a comment sign cannot be said.
func spellPath(s string) error {
	if !strings.HasPrefix(s, "/") || strings.ContainsRune(s, '#') ||
		!all(s, func(c byte) bool { return !isBlank(c) && !isControl(c) }) {
		return fmt.Errorf("path %q", s)
	}
	return nil
}

func spellSynthetic(c *Synthetic) error {
	if err := spellIdent("event name", c.Name); err != nil {
		return err
	}
	if len(c.Fields) == 0 {
		return errors.New("synthetic event without fields")
	}
	for _, f := range c.Fields {
		if !ValidSynthType(f.Type) {
			return fmt.Errorf("type %q of a synthetic event's field", f.Type)
		}
		if err := spellIdent("field name", f.Name); err != nil {
			return err
		}
	}
	return nil
}

func spellDelete(c *Delete) error {
	if c.Group == "" && c.Name == "" {
		return errors.New("delete without a name")
	}
	if c.Group != "" && !ValidGroup(c.Group) {
		return fmt.Errorf("group name %q", c.Group)
	}
	// A synthetic event's name may be longer than others.
	if c.Name != "" && !isIdent(c.Name) {
		return fmt.Errorf("event name %q", c.Name)
	}
	if strings.Contains(c.Words, "#") || !all(c.Words, func(c byte) bool { return !isControl(c) }) ||
		joinWords(words(c.Words, 0)) != c.Words {
		return fmt.Errorf("words %q", c.Words)
	}
	return nil
}

func spellTrigger(c *Trigger) error {
	if !c.Kind.known() {
		return fmt.Errorf("trigger %q", c.Kind)
	}
	if c.Kind.HasTarget() {
		if err := spellAnyEvent(c.Target); err != nil {
			return err
		}
	} else if c.Target.Group != "" || c.Target.Name != "" {
		return fmt.Errorf("target of %s", c.Kind)
	}
	if c.Count < -1 {
		return fmt.Errorf("count %d", c.Count)
	}
	return first(spellAnyEvent(c.Event), spellCond(c.If))
}

// ValidSynthType reports whether a field of a synthetic event may have the type
// t. kernel/trace/trace_events_synth.c, synth_field_size: `char` and the stack
// `long[]` are newer than v6.1.
func ValidSynthType(t string) bool {
	switch t {
	case "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "char", "unsigned char",
		"int", "unsigned int", "long", "unsigned long", "bool", "pid_t", "gfp_t",
		"char[]", "long[]", "unsigned long[]":
		return true
	}
	n, isChars := strings.CutPrefix(t, "char[")
	n, closed := strings.CutSuffix(n, "]")
	if !isChars || !closed || len(n) > 3 {
		return false
	}
	size, err := parseUint(n)
	return err == nil && n[0] != '0' && size <= MaxSynthString
}
