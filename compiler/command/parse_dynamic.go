package command

import (
	"strings"
)

// The lines of dynamic_events, as people write them and the kernel reads them:
//
//	e[JUNK][:NAME] SYS(/|.)EVENT [ARG…] [if COND]
//	p[:NAME] [MOD:]SYM[+OFF][%return] | ADDR [ARG…]
//	r[MAXACTIVE][:NAME] [MOD:]SYM[+0] [ARG…]
//	f[N][:NAME] [MOD:]SYM[%return] [ARG…]
//	t[:NAME] TRACEPOINT [ARG…]
//	p|r[:NAME] PATH:OFF[(REFCTR)][%return] [ARG…]
//	s:[synthetic/]EVENT FIELD[;FIELD…]
//	-:[GRP/]EVENT [WORDS] | !LETTER:[GRP/]EVENT [WORDS] | -:GRP/
//	NAME := [GRP(/|.)]EVENT | GRP(/|.)
//
// and those of synthetic_events:
//
//	EVENT FIELD[;FIELD…]
//	!EVENT [WORDS]
//
// '#' begins a comment wherever it stands. The first letter alone tells the
// kind, and a path with a colon makes p and r a uprobe.
func parseDynamic(file, line string) (Command, error) {
	if i := strings.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	list := words(line, 0)
	if len(list) == 0 {
		return nil, errAt(0, "no command")
	}
	head := list[0]
	if head.text[0] == '-' && file != "synthetic_events" || head.text[0] == '!' && file == dynamicEvents {
		return parseDelete(line, list)
	}
	if file == "synthetic_events" {
		return parseSyntheticFile(line, head)
	}
	kind := head.text[0]
	switch {
	case kind == 's' && file == dynamicEvents:
		return parseSynthetic(line, head)
	case strings.IndexByte("eft", kind) >= 0 && file == dynamicEvents, kind == 'p', kind == 'r':
		return parseProbe(file, line, list)
	}
	return nil, errAt(head.at, "no such kind of event")
}

func parseDelete(line string, list []word) (Command, error) {
	head := list[0]
	i := strings.IndexByte(head.text, ':')
	if i < 0 || head.text[0] == '-' && i != 1 {
		return nil, errAt(head.at, "want '-:' and a name")
	}
	name, at := head.text[i+1:], head.at+i+1
	d := &Delete{}
	if group, event, ok := strings.Cut(name, "/"); ok {
		d.Group, d.Name = group, event
		if !ValidGroup(group) || event != "" && !isIdent(event) {
			return nil, errAt(at, "no name of an event")
		}
	} else if d.Name = name; !isIdent(name) {
		return nil, errAt(at, "no name of an event")
	}
	d.Words = joinWords(list[1:])
	return d, nil
}

// joinWords puts one blank between words.
func joinWords(list []word) string {
	var b strings.Builder
	for i, w := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
	}
	return b.String()
}

// head is the first word of a probe's line.
type head struct {
	kind        byte
	extra       word // between the letter and the colon
	group, name string
	named       bool // has a name
}

func parseHead(w word) (head, error) {
	h := head{kind: w.text[0]}
	before, name, colon := strings.Cut(w.text[1:], ":")
	h.extra = word{text: before, at: w.at + 1}
	if !colon {
		return h, nil
	}
	at := w.at + 1 + len(before) + 1
	h.name = name
	sep := strings.IndexByte(name, '/')
	if sep < 0 {
		sep = strings.IndexByte(name, '.')
	}
	if sep >= 0 {
		h.group, h.name = name[:sep], name[sep+1:]
		if err := groupName(h.group, at); err != nil {
			return h, err
		}
		at += sep + 1
		if h.name == "" {
			return h, nil
		}
	}
	if err := eventName(h.name, at); err != nil {
		return h, err
	}
	h.named = true
	return h, nil
}

// groupName refuses what probes can have for no group.
func groupName(s string, at int) error { return nameOf("Group", "a group", s, ValidGroup(s), at) }

// eventName refuses what no probe can be called.
func eventName(s string, at int) error { return nameOf("Event", "an event", s, isIdent(s), at) }

// nameOf says in the kernel's words why s is no name of a group or an event.
func nameOf(what, ours, s string, valid bool, at int) error {
	words := what + " name must follow the same rules as C identifiers"
	switch {
	case s == "":
		words = what + " name is not specified"
	case len(s) > MaxName:
		words = what + " name is too long"
	case valid:
		return nil
	}
	return logged(words, at, "no name of "+ours)
}

// event returns the name of what is made, with what the kernel fills in.
func (h head) event(group, name string) EventName {
	n := EventName{Group: group, Name: name}
	if h.group != "" {
		n.Group = h.group
	}
	if h.named {
		n.Name = h.name
	}
	return n
}

func parseProbe(file, line string, list []word) (Command, error) {
	h, err := parseHead(list[0])
	if err != nil {
		return nil, err
	}
	if len(list) < 2 {
		return nil, errAt(len(line), "want the place of the event")
	}
	at, rest := list[1], list[2:]
	isPath := strings.Contains(at.text, "/") && strings.Contains(at.text, ":")
	switch {
	case h.kind == 'e':
		return parseEprobe(h, line, at, rest)
	case h.kind == 'f':
		return parseFprobe(h, at, rest)
	case h.kind == 't':
		return parseTprobe(h, at, rest)
	case isPath && file != "kprobe_events":
		return parseUprobe(file, h, at, rest)
	case file == "uprobe_events":
		return nil, errAt(at.at, "want PATH:OFFSET")
	case isPath:
		return nil, errAt(at.at, "a kprobe is in no file; want a function")
	}
	return parseKprobe(h, at, rest)
}

func parseEprobe(h head, line string, at word, rest []word) (Command, error) {
	group, name, ok := strings.Cut(at.text, "/")
	if !ok {
		group, name, ok = strings.Cut(at.text, ".")
	}
	if !ok || !isEventPart(group) || !isEventPart(name) {
		return nil, logged("This requires both group and event name to attach", at.at, "want SYSTEM.EVENT")
	}
	c := &Eprobe{EventName: h.event("eprobes", name), On: EventName{Group: group, Name: name}}
	if !isIdent(c.Name) {
		return nil, errAt(at.at, "no name of an event")
	}
	for i, w := range rest {
		if w.text != "if" {
			continue
		}
		if i+1 == len(rest) {
			return nil, logged("No filter rule after 'if'", w.at, "want a condition after 'if'")
		}
		start := rest[i+1].at
		cond, err := parseCond(line[start:], start)
		if err != nil {
			return nil, err
		}
		walkPreds(cond, func(p *Pred) {
			if p.Value.Kind == String {
				p.Value.Text = joinBlanks(p.Value.Text)
			}
		})
		c.If = cond
		rest = rest[:i]
		break
	}
	var err error
	c.Args, err = parseArgs('e', rest)
	return c, err
}

// The kernel's words for two mistakes.
const (
	badMaxactive = "Invalid maxactive number"
	badPlace     = "Invalid probed address or symbol"
)

// joinBlanks makes each run of blanks in s one blank, as the kernel does with a
// whole eprobe's condition.
func joinBlanks(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch {
		case !isBlank(s[i]):
			b.WriteByte(s[i])
		case i == 0 || !isBlank(s[i-1]):
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// notGlob leaves of a pattern of functions, which an fprobe takes, what a symbol
// may hold.
var notGlob = strings.NewReplacer("*", "_", "?", "_", "[", "_", "]", "_")

func parseFprobe(h head, at word, rest []word) (Command, error) {
	// Until v6.13 a number was the count of functions followed at once. It is
	// a hint that later kernels have no use for.
	if _, err := parseUint(h.extra.text); h.extra.text != "" && isDigit(h.extra.text[0]) && err != nil {
		return nil, logged(badMaxactive, h.extra.at, "want ':'")
	}
	c := &Fprobe{}
	symbol := at.text
	symbol, c.Return = strings.CutSuffix(symbol, "%return")
	if strings.Contains(symbol, "%") {
		return nil, logged("Invalid probed address suffix", at.at, "want nothing but %return after a function")
	}
	c.Module, c.Symbol = cutModule(symbol)
	if first(spellModule(c.Module), spellSymbol(notGlob.Replace(c.Symbol))) != nil {
		return nil, logged(badPlace, at.at, "want a function")
	}
	var err error
	if c.Args, err = parseArgs('f', rest); err != nil {
		return nil, err
	}
	for _, a := range c.Args {
		c.Return = c.Return || usesRetVal(a.Fetch)
	}
	suffix := "__entry"
	if c.Return {
		suffix = "__exit"
	}
	c.EventName = h.event("fprobes", placeName(c.Symbol)+suffix)
	return c, nil
}

// usesRetVal reports whether f has the value that a function returned: an
// fprobe with it silently is one of the return.
func usesRetVal(f Fetch) bool {
	switch f := f.(type) {
	case RetVal:
		return true
	case Deref:
		return usesRetVal(f.X)
	case Typecast:
		return usesRetVal(f.X)
	case Special:
		return strings.HasPrefix(f.Text, "$retval")
	}
	return false
}

func cutModule(s string) (module, symbol string) {
	if module, symbol, ok := strings.Cut(s, ":"); ok {
		return module, symbol
	}
	return "", s
}

func parseTprobe(h head, at word, rest []word) (Command, error) {
	if h.extra.text != "" && isDigit(h.extra.text[0]) {
		return nil, logged(badMaxactive, h.extra.at, "want ':'")
	}
	if strings.Contains(at.text, "%") {
		return nil, logged("Invalid probed address suffix", at.at, "want a tracepoint")
	}
	if !all(at.text, isWord) {
		return nil, logged("Invalid character in tracepoint name", at.at, "want a tracepoint")
	}
	args, err := parseArgs('t', rest)
	return &Tprobe{EventName: h.event("tracepoints", at.text), Tracepoint: at.text, Args: args}, err
}
