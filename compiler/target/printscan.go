package target

import "strings"

// splitArgs cuts a print format at its top-level commas.
func splitArgs(s string) []string {
	parts, _ := splitTop(s)
	return parts
}

// splitTop cuts s at the commas that stand in no bracket and no string, up to
// its end or to the bracket that closes what s stands in. after is what
// follows that bracket.
func splitTop(s string) (parts []string, after string) {
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"', '\'':
			i = skipQuoted(s, i)
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			if depth--; depth < 0 {
				return append(parts, s[start:i]), s[i+1:]
			}
		case ',':
			if depth == 0 {
				parts = append(parts, s[start:i])
				start = i + 1
			}
		}
	}
	return append(parts, s[start:]), ""
}

// skipQuoted returns the place of the quote that closes the one at i, or the
// last place of s.
func skipQuoted(s string, i int) int {
	quote := s[i]
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			return i
		}
	}
	return len(s) - 1
}

// firstString returns s up to the end of the string that it begins with.
func firstString(s string) string {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, `"`) {
		return s
	}
	return s[:skipQuoted(s, 0)+1]
}

// cString returns the text of a C string literal, or of several in a row.
func cString(s string) (string, bool) {
	var b strings.Builder
	s = strings.TrimSpace(s)
	if s == "" {
		return "", false
	}
	for s != "" {
		if s[0] != '"' {
			return "", false
		}
		end := skipQuoted(s, 0)
		if end == 0 || s[end] != '"' {
			return "", false
		}
		text := s[1:end]
		for i := 0; i < len(text); i++ {
			if text[i] != '\\' || i+1 == len(text) {
				b.WriteByte(text[i])
				continue
			}
			i++
			switch text[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(text[i])
			}
		}
		s = strings.TrimSpace(s[end+1:])
	}
	return b.String(), true
}

// conversions returns what stands after the % of each conversion of a printf
// format, without flags, width and precision. A '*' that takes an argument of
// its own counts as a conversion of its own: "*".
func conversions(format string) []string {
	text, ok := cString(format)
	if !ok {
		return nil
	}
	var verbs []string
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			continue
		}
		i++
		for i < len(text) && strings.IndexByte("-+ #0123456789.*", text[i]) >= 0 {
			if text[i] == '*' {
				verbs = append(verbs, "*")
			}
			i++
		}
		if i == len(text) || text[i] == '%' {
			continue
		}
		start := i
		for i < len(text) && strings.IndexByte("hlLqjzt", text[i]) >= 0 {
			i++
		}
		if i == len(text) {
			break
		}
		if text[i] == 'p' {
			start = i
			// The kernel reads letters and digits after %p.
			for i+1 < len(text) && isWord(text[i+1]) && text[i+1] != '_' {
				i++
			}
		}
		verbs = append(verbs, text[start:i+1])
	}
	return verbs
}
