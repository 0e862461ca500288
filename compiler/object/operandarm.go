package object

import (
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/target"
)

// registerARM64 returns the kernel's name and the size of a register; "zr" is
// the one that is always zero. arch/arm64/kernel/ptrace.c, regoffset_table.
func registerARM64(s string) (name string, size int) {
	switch s {
	case "sp":
		return "sp", 8
	case "wsp":
		return "sp", 4
	case "xzr":
		return "zr", 8
	case "wzr":
		return "zr", 4
	case "fp":
		return "x29", 8
	case "lr":
		return "x30", 8
	}
	n, ok := numberedRegister(s, 30)
	if !ok {
		return "", 0
	}
	switch s[0] {
	case 'x':
		return "x" + n, 8
	case 'w':
		return "x" + n, 4
	}
	return "", 0
}

// registerARM returns the kernel's name of a register.
// arch/arm/kernel/ptrace.c, regoffset_table.
func registerARM(s string) (name string, size int) {
	switch s {
	case "fp", "ip", "sp", "lr", "pc":
		return s, 4
	case "sl":
		return "r10", 4
	case "sb":
		return "r9", 4
	}
	n, ok := numberedRegister(s, 15)
	if !ok || s[0] != 'r' {
		return "", 0
	}
	switch n {
	case "11":
		return "fp", 4
	case "12":
		return "ip", 4
	case "13":
		return "sp", 4
	case "14":
		return "lr", 4
	case "15":
		return "pc", 4
	}
	return "r" + n, 4
}

// numberedRegister returns the number behind a register's letter.
func numberedRegister(s string, most int) (string, bool) {
	if len(s) < 2 || len(s) > 3 {
		return "", false
	}
	n, err := strconv.Atoi(s[1:])
	if err != nil || n < 0 || n > most || strconv.Itoa(n) != s[1:] {
		return "", false
	}
	return s[1:], true
}

// operandARM parses an operand of arm64 or arm.
func (f *File) operandARM(s string, p Probe) (operandAt, error) {
	lookUp := registerARM64
	if f.arch == target.ARM {
		lookUp = registerARM
	}
	number := strings.TrimPrefix(s, "#")
	switch {
	case isNumber(number):
		return immediate(number)
	case s == "":
		return operandAt{}, errNoOperand
	case s[0] != '[':
		name, size := lookUp(s)
		if name != "" {
			return f.zeroOr(name, size), nil
		}
		if _, ok := numberedRegister(s, 31); ok && strings.IndexByte("bhsdqv", s[0]) >= 0 {
			return operandAt{}, errVector
		}
		symbol, n, err := sum(s)
		if err != nil {
			return operandAt{}, err
		}
		return f.global(symbol, uint64(n), p)
	}
	inner, ok := strings.CutSuffix(s[1:], "]")
	if !ok {
		return operandAt{}, errNoOperand // written back: [x0], 8 and [x0, 8]!
	}
	base, rest, _ := strings.Cut(inner, ",")
	name, size := lookUp(strings.TrimSpace(base))
	if name == "" || name == "zr" || size != f.arch.WordSize() {
		return operandAt{}, errNoOperand
	}
	rest = strings.TrimPrefix(strings.TrimSpace(rest), "#")
	if rest == "" {
		return memory(name, 0), nil
	}
	symbol, n, err := sum(rest)
	if err != nil || symbol != "" {
		return operandAt{}, errComputed
	}
	return memory(name, n), nil
}

func (f *File) zeroOr(name string, size int) operandAt {
	if name == "zr" {
		o, _ := immediate("0")
		return o
	}
	return operandAt{fetch: register(name), size: size}
}
