package object

import (
	"errors"
	"strings"

	"github.com/eptrace/ep/compiler/target"
)

// registersX86 are the kernel's names of those registers that have names of
// their own, by the last two letters: rdi and edi are di.
// arch/x86/kernel/ptrace.c, regoffset_table.
const registersX86 = " ax bx cx dx si di bp sp "

// registerX86 returns the kernel's name and the size of a register, and
// whether it is the second byte.
func registerX86(s string) (name string, size int, high bool) {
	known := func(n string) bool { return len(n) == 2 && strings.Contains(registersX86, " "+n+" ") }
	switch {
	case s == "rip":
		return "ip", 8, false
	case s == "eip":
		return "ip", 4, false
	case len(s) == 3 && s[0] == 'r' && known(s[1:]):
		return s[1:], 8, false
	case len(s) == 3 && s[0] == 'e' && known(s[1:]):
		return s[1:], 4, false
	case known(s):
		return s, 2, false
	case len(s) == 2 && s[1] == 'l' && known(s[:1]+"x"):
		return s[:1] + "x", 1, false
	case len(s) == 2 && s[1] == 'h' && known(s[:1]+"x"):
		return s[:1] + "x", 1, true
	case len(s) == 3 && s[2] == 'l' && known(s[:2]) && s[1] != 'x':
		return s[:2], 1, false // sil
	}
	for i := range extendedX86 {
		rest, ok := strings.CutPrefix(s, extendedX86[i])
		if !ok {
			continue
		}
		switch rest {
		case "":
			return extendedX86[i], 8, false
		case "d":
			return extendedX86[i], 4, false
		case "w":
			return extendedX86[i], 2, false
		case "b", "l":
			return extendedX86[i], 1, false
		}
	}
	return "", 0, false
}

var extendedX86 = [...]string{"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}

// operandX86 parses an operand of x86, as AT&T writes it.
func (f *File) operandX86(s string, p Probe) (operandAt, error) {
	switch {
	case strings.HasPrefix(s, "$"):
		s = s[1:]
		if isNumber(s) {
			return immediate(s)
		}
		return operandAt{}, errors.New("the address of a symbol, which is known only when it runs")
	case strings.HasPrefix(s, "%") && strings.Contains(s, ":"):
		return operandAt{}, errors.New("it is in a thread's own memory, which the kernel cannot fetch from")
	case strings.HasPrefix(s, "%"):
		name, size, high := registerX86(s[1:])
		switch {
		case name == "" && strings.Contains(s, "mm") || strings.HasPrefix(s, "%st") || strings.HasPrefix(s, "%k"):
			return operandAt{}, errVector
		case name == "" || !f.hasRegisterX86(name, size):
			return operandAt{}, errNoOperand
		}
		return operandAt{fetch: register(name), size: size, high: high}, nil
	}
	disp, rest, ok := strings.Cut(s, "(")
	if !ok {
		symbol, n, err := sum(s)
		if err != nil || s == "" {
			return operandAt{}, errNoOperand
		}
		return f.global(symbol, uint64(n), p)
	}
	inner, ok := strings.CutSuffix(rest, ")")
	if !ok {
		return operandAt{}, errNoOperand
	}
	symbol, n, err := sum(disp)
	if err != nil {
		return operandAt{}, err
	}
	base, index, _ := strings.Cut(inner, ",")
	index, _, _ = strings.Cut(index, ",")
	if index = strings.TrimSpace(index); index != "" && index != "%riz" && index != "%eiz" {
		return operandAt{}, errComputed
	}
	base, ok = strings.CutPrefix(strings.TrimSpace(base), "%")
	if !ok {
		return operandAt{}, errNoOperand
	}
	if base == "rip" {
		if symbol == "" {
			return operandAt{}, errNoOperand
		}
		return f.global(symbol, uint64(n), p)
	}
	if symbol != "" {
		return operandAt{}, errComputed
	}
	name, size, _ := registerX86(base)
	if name == "" || size != f.arch.WordSize() || !f.hasRegisterX86(name, size) {
		return operandAt{}, errNoOperand
	}
	return memory(name, n), nil
}

// hasRegisterX86 tells i386 from x86-64.
func (f *File) hasRegisterX86(name string, size int) bool {
	return f.arch == target.X86_64 || size < 8 && name[0] != 'r'
}
