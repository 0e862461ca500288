package check

import (
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"sort"
	"strconv"
)

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func itoa(n int) string { return strconv.Itoa(n) }

// fieldNameProblem says why the kernel cannot have a field of this name, or
// would take the name for something else; "" if it is good. Fields may be
// called cpu and comm: a field's own name comes first in the kernel's look-up
// (kernel/trace/trace_events.c, trace_find_event_field).
func fieldNameProblem(name string) string {
	switch name {
	case "cpu", "comm":
		return ""
	}
	switch command.ArgName(name) {
	case command.ArgNameHidden:
		return "in filters and histograms that name is the kernel's own"
	case command.ArgNameRefused:
		if len(name) > command.MaxArgName {
			return "a field's name has at most 32 characters"
		}
		if strings.HasPrefix(name, "common_") || strings.HasPrefix(name, "__probe") {
			return "each record has such a field already"
		}
		return "a field's name is made of letters, digits and '_' and begins with no digit"
	}
	return ""
}

// immediateProblem says why a probe cannot hold a text; "" if it can: the
// kernel parts words at blanks, cuts comments at '#' and knows no escapes.
func immediateProblem(s string) string {
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; {
		case ch <= ' ' || ch == 0x7f:
			return "it has a blank"
		case ch == '#':
			return "it has a '#'"
		case ch == '"':
			return "it has a quote"
		}
	}
	return ""
}

// eventNameFrom makes an event's name of a symbol, as the kernel does.
func eventNameFrom(symbol string) string {
	b := []byte(symbol)
	for i, ch := range b {
		if !(ch == '_' || ch >= '0' && ch <= '9' || ch|0x20 >= 'a' && ch|0x20 <= 'z') {
			b[i] = '_'
		}
	}
	return string(b)
}
