package command

import (
	"strconv"
	"strings"
)

// parseKprobe reads `[MOD:]SYM[+OFF][%return]` or an address, and what follows.
func parseKprobe(h head, at word, rest []word) (Command, error) {
	c := &Kprobe{Return: h.kind == 'r'}
	var err error
	if h.extra.text != "" && isDigit(h.extra.text[0]) {
		if c.MaxActive, err = maxActive(h); err != nil {
			return nil, err
		}
	}
	place, ret := strings.CutSuffix(at.text, "%return")
	c.Return = c.Return || ret
	if addr, bad := parseUint(place); bad == nil {
		c.Offset = addr
	} else if strings.Contains(place, "%") {
		return nil, logged("Invalid probed address suffix", at.at, "want nothing but %return after a function")
	} else {
		// The kernel looks for the sign of an offset first, whatever it is in.
		if i := strings.IndexAny(place, "+-"); i >= 0 {
			n, err := parseInt(place[i:])
			if err != nil || n < 0 {
				return nil, logged(badPlace, at.at+i, "want a function and '+OFFSET'")
			}
			place, c.Offset = place[:i], uint64(n)
		}
		// What a module has that is not loaded, nobody knows.
		if c.Module, c.Symbol = cutModule(place); c.Module == "" && !isSymbol(c.Symbol) {
			return nil, logged(badPlace, at.at, "want a function")
		}
	}
	kind := byte('p')
	if c.Return {
		kind = 'r'
	}
	c.EventName = h.event("kprobes", kprobeName(kind, c))
	c.Args, err = parseArgs(kind, rest)
	return c, err
}

// maxActive reads the number of calls that a kretprobe follows at once.
func maxActive(h head) (int, error) {
	n, err := parseUint(h.extra.text)
	switch {
	case h.kind != 'r':
		return 0, logged("Maxactive is only for function exit", h.extra.at, "want ':'")
	case err != nil || n == 0:
		return 0, logged(badMaxactive, h.extra.at, "want a number of calls, or ':'")
	case n > MaxActive:
		return 0, logged("Maxactive is too big", h.extra.at, "want at most "+strconv.Itoa(MaxActive))
	}
	return int(n), nil
}

// kprobeName returns the name that the kernel gives: `p_SYM_OFF`, or
// `p_0xADDR` for an address. trace_kprobe.c, trace_kprobe_create_internal.
func kprobeName(kind byte, c *Kprobe) string {
	if c.Symbol == "" {
		return string(kind) + "_0x" + strconv.FormatUint(c.Offset, 16)
	}
	symbol := c.Symbol
	if c.Module != "" {
		symbol = c.Module + ":" + symbol
	}
	return string(kind) + "_" + placeName(symbol) + "_" + strconv.FormatUint(c.Offset, 10)
}

// placeName makes an event's name of a symbol. trace_probe.c,
// sanitize_event_name.
func placeName(symbol string) string {
	return strings.NewReplacer(":", "_", ".", "_", "*", "_", "-", "_", "$", "_").Replace(symbol)
}

// parseUprobe reads `PATH:OFF[(REFCTR)][%return]` and what follows.
func parseUprobe(file string, h head, at word, rest []word) (Command, error) {
	// The kernel reads a number as it does for kprobes, and then takes a name only
	// from behind a colon that stands next to the letter.
	if h.extra.text != "" && isDigit(h.extra.text[0]) && file == dynamicEvents {
		if _, err := maxActive(h); err != nil {
			return nil, err
		}
	}
	if h.extra.text != "" {
		h.group, h.named = "", false
	}
	c := &Uprobe{Return: h.kind == 'r'}
	colon := strings.LastIndexByte(at.text, ':')
	c.Path = at.text[:colon]
	if spellPath(c.Path) != nil {
		return nil, errAt(at.at, "want an absolute path")
	}
	off, offAt := at.text[colon+1:], at.at+colon+1
	var err error
	if before, ref, ok := strings.Cut(off, "("); ok {
		off = before
		refAt := offAt + len(before) + 1
		ref, after, closed := strings.Cut(ref, ")")
		switch {
		case !closed:
			return nil, logged("Reference counter brace is not closed", refAt, "want ')'")
		case after != "":
			return nil, logged("Reference counter has wrong suffix", refAt+len(ref)+1, "want nothing after ')'; %return stands before '('")
		}
		if c.RefCtr, err = parseUint(ref); err != nil {
			return nil, logged("Invalid reference counter offset", refAt, "want the offset of a reference counter")
		}
	}
	off, ret := strings.CutSuffix(off, "%return")
	c.Return = c.Return || ret
	if strings.Contains(off, "%") {
		return nil, logged("Invalid probed address suffix", offAt, "want nothing but %return after an offset")
	}
	if c.Offset, err = parseUint(off); err != nil {
		return nil, logged("Invalid uprobe offset", offAt, "want an offset")
	}
	c.EventName = h.event("uprobes", uprobeName(c.Path, c.Offset))
	if !isIdent(c.Name) {
		return nil, errAt(at.at, "no name of an event")
	}
	c.Args, err = parseArgs('u', rest)
	return c, err
}

// uprobeName returns the name that the kernel gives: `p_FILE_0xOFF`, with FILE
// up to its first dot, hyphen or underscore. trace_uprobe.c,
// __trace_uprobe_create.
func uprobeName(path string, off uint64) string {
	file := path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.IndexAny(file, ".-_"); i >= 0 {
		file = file[:i]
	}
	return "p_" + file + "_0x" + strconv.FormatUint(off, 16)
}
