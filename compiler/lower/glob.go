package lower

import (
	"path"
	"strings"
)

// glob spells a pattern of `~` so that every kernel matches it with its glob
// matcher, lib/glob.c, which stops at the end of the text.
//
// A filter takes the simple forms by other ways (kernel/trace/
// trace_events_filter.c, filter_parse_regex and the regex_match_ functions).
// Those of "*x" and "*x*" look at all bytes of a char[N], behind the text's end
// too, so that the first never holds and the second of what an earlier text has
// left there. A pattern that begins with a digit is compared as it stands, and
// one that begins with '!' is negated.
func glob(pattern string) string {
	if pattern == "" {
		return pattern
	}
	rest := pattern[1:]
	switch first := pattern[0]; {
	case first == '*' && strings.Trim(rest, "*") != "":
		return "*" + pattern // a '*' that stands neither first nor last
	case first >= '0' && first <= '9' && strings.ContainsAny(rest, `*?[\`):
		return "[" + pattern[:1] + "]" + rest
	case first == '!':
		return `\` + pattern
	}
	return pattern
}

// globMatches matches a text with a pattern as lib/glob.c does; known is false for
// patterns with a class that package path reads otherwise.
func globMatches(pattern, text string) (matches, known bool) {
	if strings.Contains(pattern, "[^") || strings.Contains(pattern, "[]") || strings.Contains(pattern, "[!]") {
		return false, false
	}
	flat := strings.NewReplacer("/", "\x00", "[!", "[^")
	ok, err := path.Match(flat.Replace(pattern), strings.ReplaceAll(text, "/", "\x00"))
	return ok, err == nil
}
