package syntax

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Value returns the number and its unit. Unit is "" for a plain number and for
// a size, which is multiplied in (`512KiB` is 524288); otherwise "ns", "us",
// "ms" or "s", and v counts these.
//
// Digits are decimal, or hexadecimal, octal and binary after `0x`, `0o` and
// `0b`; underscores may stand between digits. A decimal number does not begin
// with 0, since C and people differ on what that means. Only decimal numbers
// take a unit. The error says what is wrong with the text; Parse has reported
// it already.
func (n *Number) Value() (v uint64, unit string, err error) {
	digits, unit := splitUnit(n.Raw)
	switch {
	case strings.Contains(digits, "."):
		return 0, "", errFraction
	case len(digits) > 1 && digits[0] == '0' && (isDigit(digits[1]) || digits[1] == '_'):
		return 0, "", errLeadingZero
	case strings.HasSuffix(digits, "_") || strings.Contains(digits, "__"):
		return 0, "", errUnderscore
	}
	v, err = strconv.ParseUint(digits, 0, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, "", errTooLarge
	}
	if err != nil {
		return 0, "", errNoNumber
	}
	factor := uint64(1)
	if strings.HasSuffix(unit, "iB") {
		factor, unit = units[unit], ""
	}
	if v > 0 && v*factor/v != factor {
		return 0, "", errTooLarge
	}
	return v * factor, unit, nil
}

// splitUnit parts the digits from the unit, if one of ours stands there.
func splitUnit(raw string) (digits, unit string) {
	if strings.HasPrefix(raw, "0x") || strings.HasPrefix(raw, "0b") || strings.HasPrefix(raw, "0o") {
		return raw, ""
	}
	for i := range len(raw) {
		if isLetter(raw[i]) && raw[i] != '_' {
			if units[raw[i:]] != 0 {
				return raw[:i], raw[i:]
			}
			break
		}
	}
	return raw, ""
}

// What can be wrong with a number.
var (
	errFraction    = errors.New("numbers are whole")
	errLeadingZero = errors.New("a number does not begin with 0")
	errUnderscore  = errors.New("an underscore stands between two digits")
	errTooLarge    = errors.New("it does not fit in 64 bits")
	errNoNumber    = errors.New("it has letters that are no unit")
)

// Value returns the text that the string stands for.
//
// The escapes are `\"`, `\\`, `\n`, `\t` and `\xNN` (one byte, not 00). They are the
// language's alone: the kernel's filters know none, so that a text with a quote
// or a line end may be one that cannot be compared there; the compiler says so.
// The error says which escape is wrong; Parse has reported it already.
func (s *String) Value() (string, error) {
	body := s.Raw
	if len(body) > 0 {
		quote := body[:1] // single ones, and a missing last, are reported
		body = strings.TrimSuffix(body[1:], quote)
	}
	text, _, err := unquote(body)
	return text, err
}

// Value returns the byte that the character stands for: one ASCII character, or
// one of the escapes of strings, `\'` or `\0`.
func (c *Char) Value() (byte, error) {
	if len(c.Raw) < 3 {
		return 0, errChar
	}
	body := c.Raw[1 : len(c.Raw)-1]
	switch body {
	case `\'`:
		return '\'', nil
	case `\0`:
		return 0, nil
	case `'`:
		return 0, errChar
	}
	text, _, err := unquote(body)
	if err != nil || len(text) != 1 || (text[0] >= utf8.RuneSelf && body[0] != '\\') {
		return 0, errChar
	}
	return text[0], nil
}

var (
	errChar   = errors.New("a character is one ASCII character or escape")
	errEscape = errors.New("unknown escape")
)

// unquote replaces the escapes of body. If one is wrong, it returns the offset
// of its backslash.
func unquote(body string) (text string, at int, err error) {
	if strings.IndexByte(body, '\\') < 0 {
		return body, 0, nil
	}
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			b.WriteByte(body[i])
			continue
		}
		n := escapeLen(body[i:])
		switch {
		case n == 2 && body[i+1] == 'n':
			b.WriteByte('\n')
		case n == 2 && body[i+1] == 't':
			b.WriteByte('\t')
		case n == 2 && (body[i+1] == '"' || body[i+1] == '\\'):
			b.WriteByte(body[i+1])
		case n == 4:
			v, err := strconv.ParseUint(body[i+2:i+4], 16, 8)
			if err != nil || v == 0 {
				return "", i, errEscape
			}
			b.WriteByte(byte(v))
		default:
			return "", i, errEscape
		}
		i += n - 1
	}
	return b.String(), 0, nil
}

// escapeLen returns the length of the escape that s starts with, right or not.
func escapeLen(s string) int {
	if strings.HasPrefix(s, `\x`) {
		return min(4, len(s))
	}
	if len(s) < 2 {
		return len(s)
	}
	_, n := utf8.DecodeRuneInString(s[1:])
	return 1 + n
}
