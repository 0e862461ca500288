package command

import (
	"math"
	"strconv"
	"strings"
)

// The lines of a trigger file:
//
//	["!"] KIND[":" SYS ":" EVENT][":" N[":" …]] ["if" COND]
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
	list := words(text, at)
	if len(list) > 1 {
		if list[1].text != "if" || len(list) == 2 {
			return nil, errAt(list[1].at, "want 'if' and a condition")
		}
		cond, err := parseCond(text[list[2].at-at:], list[2].at)
		if err != nil {
			return nil, err
		}
		c.If = cond
	}
	return c, parseTriggerParams(c, list[0].text[len(kind):], at+len(kind))
}

func nameLen(s string) int {
	n := 0
	for n < len(s) && isWord(s[n]) {
		n++
	}
	return n
}

// parseTriggerParams reads what stands behind the kind, with its colon.
func parseTriggerParams(c *Trigger, s string, at int) error {
	var params []word
	end := at + len(s)
	if s != "" {
		if s[0] != ':' {
			return errAt(at, "want ':'")
		}
		at++
		for p := range strings.SplitSeq(s[1:], ":") {
			params = append(params, word{text: p, at: at})
			at += len(p) + 1
		}
	}
	if c.Kind.HasTarget() {
		if len(params) < 2 {
			return errAt(end, "want SYSTEM:EVENT")
		}
		c.Target = EventName{Group: params[0].text, Name: params[1].text}
		if spellAnyEvent(c.Target) != nil {
			return errAt(params[0].at, "want SYSTEM:EVENT")
		}
		params = params[2:]
	}
	if len(params) == 0 || params[0].text == "unlimited" {
		return nil
	}
	n, err := parseCount(strings.TrimPrefix(params[0].text, "count="))
	if err != nil {
		return errAt(params[0].at, "want a count")
	}
	c.Count = n
	return nil
}

func parseCount(s string) (int, error) {
	n, err := parseUint(s)
	if err != nil || n > math.MaxInt {
		return 0, strconv.ErrRange
	}
	return int(n), nil
}
