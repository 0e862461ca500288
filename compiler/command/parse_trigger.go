package command

import (
	"math"
	"strings"
)

// The lines of a trigger file:
//
//	["!"] KIND[(":" | blank) SYS ":" EVENT][":" N[":" …]] ["if" COND]
//	["!"] "hist:" …
//
// Read back, N is "unlimited" or "count=" N, and a hist ends in " [active]" or
// " [paused]". Comments are read but cannot be written. trace_events_trigger.c
// in kernel/trace reads them.

func parseTrigger(event EventName, line string) (Command, error) {
	at := lead(line)
	text := trim(line)
	text, remove := strings.CutPrefix(text, "!")
	if remove {
		at++
	}
	kind := text[:nameLen(text)]
	if kind == "hist" {
		return parseHist(event, text, at, remove)
	}
	c := &Trigger{Event: event, Remove: remove, Kind: TriggerKind(kind), Count: -1}
	if !c.Kind.known() {
		return nil, errAt(at, "no such trigger")
	}
	rest, restAt, err := afterKind(text, at)
	if err != nil {
		return nil, err
	}
	params := word{at: restAt}
	if list := words(rest, restAt); len(list) > 0 && list[0].text != "if" {
		params = list[0]
		rest, restAt = rest[len(params.text):], restAt+len(params.text)
	}
	if err := parseTriggerParams(c, params); err != nil {
		return nil, err
	}
	if c.If, err = parseIf(rest, restAt); err != nil && !remove {
		return nil, err
	}
	return c, nil
}

// afterKind returns what follows the kind of a trigger. A blank parts it as well
// as a colon, and more blanks may follow (trigger_process_regex).
func afterKind(text string, at int) (string, int, error) {
	n := nameLen(text)
	if n == len(text) {
		return "", at + n, nil
	}
	if c := text[n]; c != ':' && c != ' ' && c != '\t' {
		return "", 0, errAt(at+n, "want ':'")
	}
	rest := text[n+1:]
	blanks := lead(rest)
	return rest[blanks:], at + n + 1 + blanks, nil
}

// parseIf reads "if" and a condition, or nothing.
func parseIf(s string, at int) (Cond, error) {
	list := words(s, at)
	if len(list) == 0 {
		return nil, nil
	}
	if list[0].text != "if" || len(list) == 1 {
		return nil, errAt(list[0].at, "want 'if' and a condition")
	}
	return parseCond(s[list[1].at-at:], list[1].at)
}

func nameLen(s string) int {
	n := 0
	for n < len(s) && isWord(s[n]) {
		n++
	}
	return n
}

// parseTriggerParams reads what stands behind the kind. The kernel does not look
// at the count of a trigger that is removed.
func parseTriggerParams(c *Trigger, w word) error {
	var params []word
	at := w.at
	for p := range strings.SplitSeq(w.text, ":") {
		params = append(params, word{text: p, at: at})
		at += len(p) + 1
	}
	if c.Kind.HasTarget() {
		if len(params) < 2 {
			return errAt(w.at+len(w.text), "want SYSTEM:EVENT")
		}
		c.Target = EventName{Group: params[0].text, Name: params[1].text}
		if spellAnyEvent(c.Target) != nil {
			return errAt(params[0].at, "want SYSTEM:EVENT")
		}
		params = params[2:]
	} else if w.text == "" {
		return nil
	}
	if len(params) == 0 || params[0].text == "unlimited" {
		return nil
	}
	count := strings.TrimPrefix(params[0].text, "count=")
	n, err := parseCount(count)
	if !c.Kind.HasTarget() && strings.HasPrefix(count, "+") { // no count, and no 'if'
		err = errNumber
	}
	if err != nil && !c.Remove {
		return failed(rangeErrno(err), "", params[0].at, "want a count")
	}
	if err == nil {
		c.Count = n
	}
	return nil
}

func parseCount(s string) (int, error) {
	n, err := parseUint(s)
	return int(min(n, math.MaxInt)), err
}
