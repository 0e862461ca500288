package command

// ValidEventName reports whether a dynamic event may be called name: a C
// identifier of at most MaxName bytes. A synthetic event's name may be longer.
func ValidEventName(name string) bool { return isIdent(name) && len(name) <= MaxName }

// ValidGroup reports whether probes may make a group called name: as
// ValidEventName, with hyphens too. The group of synthetic events passes; see
// Check.
func ValidGroup(name string) bool {
	if name == "" || len(name) > MaxName || isDigit(name[0]) {
		return false
	}
	for i := range len(name) {
		if !isWord(name[i]) && name[i] != '-' {
			return false
		}
	}
	return true
}

// ArgNameVerdict is what a kernel makes of the name of a probe's argument.
type ArgNameVerdict uint8

// The verdicts of ArgName.
const (
	ArgNameGood    ArgNameVerdict = iota
	ArgNameRefused                // the kernel says no
	// ArgNameHidden: the kernel takes it, but in a hist or a filter the name
	// means something of the kernel's own.
	ArgNameHidden
)

// ArgName tells what name is good for as the name of a probe's argument.
func ArgName(name string) ArgNameVerdict {
	if !isIdent(name) || len(name) > MaxArgName {
		return ArgNameRefused
	}
	switch name {
	// reserved_field_names of kernel/trace/trace_probe.c.
	case "common_type", "common_flags", "common_preempt_count", "common_pid", "common_tgid",
		"__probe_ip", "__probe_ret_ip", "__probe_func":
		return ArgNameRefused
	// The generic fields of kernel/trace/trace_events.c, and the words of a
	// hist in trace_events_hist.c.
	case "cpu", "CPU", "common_cpu", "comm", "COMM", "common_comm",
		"hitcount", "common_timestamp", "stacktrace", "STACKTRACE", "common_stacktrace", "if":
		return ArgNameHidden
	}
	return ArgNameGood
}

// ValidArgName reports whether name is good for a probe's argument: neither
// refused nor hidden. See ArgName for which.
func ValidArgName(name string) bool { return ArgName(name) == ArgNameGood }

// histWords are the parts of a hist trigger that look like a variable's
// assignment. trace_events_hist.c, parse_assignment.
var histWords = []string{"keys", "key", "vals", "val", "values", "sort", "name", "clock", "size"}

// ValidVarName reports whether a hist's variable may be called name and be
// referred to. The kernel takes nearly any text; only an identifier is good.
func ValidVarName(name string) bool {
	for _, w := range histWords {
		if name == w {
			return false
		}
	}
	return isIdent(name) && name != "if"
}

// isIdent reports whether s is a C identifier.
func isIdent(s string) bool {
	if s == "" || isDigit(s[0]) {
		return false
	}
	return all(s, isWord)
}

// isEventPart reports whether s may be half of the name of any event that a
// kernel has: some begin with a digit ("9p"), some have a hyphen.
func isEventPart(s string) bool {
	return s != "" && all(s, func(c byte) bool { return isWord(c) || c == '-' })
}

// isSymbol reports whether s may be a kernel symbol; compilers add dots.
func isSymbol(s string) bool {
	return s != "" && all(s, func(c byte) bool { return isWord(c) || c == '.' || c == '$' })
}

// isToken reports whether s is a word that no file of tracefs takes apart.
func isToken(s string) bool {
	return s != "" && all(s, func(c byte) bool { return isWord(c) || c == '-' || c == '.' })
}

func isWord(c byte) bool { return isDigit(c) || c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isBlank reports whether the kernel parts words at c: isspace of lib/ctype.c.
// It takes Latin-1's no-break space for a blank, which is a byte of many
// letters in UTF-8, such as "à".
func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' || c == 0xa0 }

// isControl reports whether c is a control character.
func isControl(c byte) bool { return c < ' ' || c == 0x7f }

func all(s string, is func(byte) bool) bool {
	for i := range len(s) {
		if !is(s[i]) {
			return false
		}
	}
	return true
}

// HasTarget reports whether k names another event.
func (k TriggerKind) HasTarget() bool {
	switch k {
	case EnableEvent, DisableEvent, EnableHist, DisableHist:
		return true
	}
	return false
}

func (k TriggerKind) known() bool {
	switch k {
	case Traceon, Traceoff, Snapshot, Stacktrace:
		return true
	}
	return k.HasTarget()
}
