package command

import (
	"errors"
	"strconv"
	"strings"
)

var errNumber = errors.New("not a number")

// parseUint reads a number as the kernel's kstrtoul does with base 0: 0x for
// hexadecimal, a leading 0 for octal. Go's other prefixes and its underscores
// are not numbers there.
func parseUint(s string) (uint64, error) {
	if s == "" || !all(s, isWord) || strings.ContainsRune(s, '_') {
		return 0, errNumber
	}
	if len(s) > 1 && s[0] == '0' {
		if c := s[1] | 0x20; c == 'b' || c == 'o' {
			return 0, errNumber
		}
	}
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		return 0, errNumber
	}
	return n, nil
}
