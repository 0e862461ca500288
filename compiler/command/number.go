package command

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

var (
	errNumber = errors.New("not a number")
	errRange  = errors.New("number out of range")
)

// rangeErrno is what the kernel returns of a number that cannot be read.
func rangeErrno(err error) string {
	if errors.Is(err, errRange) {
		return "ERANGE"
	}
	return ""
}

// parseUint reads a number as the kernel's kstrtoul does with base 0: parseDigits
// with or without a '+' in front.
func parseUint(s string) (uint64, error) { return parseDigits(strings.TrimPrefix(s, "+")) }

// parseInt reads a number as the kernel's kstrtol does with base 0.
func parseInt(s string) (int64, error) {
	digits, minus := strings.CutPrefix(s, "-")
	if !minus {
		digits = strings.TrimPrefix(s, "+")
	}
	n, err := parseDigits(digits)
	switch {
	case err != nil:
		return 0, err
	case minus && n <= 1<<63:
		return -int64(n), nil
	case !minus && n <= math.MaxInt64:
		return int64(n), nil
	}
	return 0, errRange
}

// parseDigits reads a number without a sign: 0x for hexadecimal, a leading 0 for
// octal. Go's other prefixes and its underscores are not numbers there.
func parseDigits(s string) (uint64, error) {
	if s == "" || !all(s, isWord) || strings.ContainsRune(s, '_') {
		return 0, errNumber
	}
	if len(s) > 1 && s[0] == '0' {
		if c := s[1] | 0x20; c == 'b' || c == 'o' {
			return 0, errNumber
		}
	}
	n, err := strconv.ParseUint(s, 0, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, errRange
	}
	if err != nil {
		return 0, errNumber
	}
	return n, nil
}
