package object

import (
	"strconv"
	"strings"
)

// namesRISCV are the registers by number, as the kernel calls them; x0 is
// always zero. arch/riscv/kernel/ptrace.c, regoffset_table.
var namesRISCV = strings.Fields("zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6")

// registerRISCV returns the kernel's name of a register, "" if there is none.
func registerRISCV(s string) string {
	if s == "fp" {
		return "s0"
	}
	if n, ok := numberedRegister(s, 31); ok && s[0] == 'x' {
		i, _ := strconv.Atoi(n) // it was a number
		return namesRISCV[i]
	}
	for _, name := range namesRISCV {
		if s == name {
			return name
		}
	}
	return ""
}

// operandRISCV parses an operand of riscv64.
func (f *File) operandRISCV(s string, p Probe) (operandAt, error) {
	disp, rest, ok := strings.Cut(s, "(")
	if !ok {
		switch name := registerRISCV(s); {
		case name == "zero":
			return immediate("0")
		case name != "":
			return operandAt{fetch: register(name)}, nil
		case isNumber(s):
			return immediate(s)
		case s == "":
			return operandAt{}, errNoOperand
		case len(s) >= 3 && s[0] == 'f' && strings.IndexByte("tas", s[1]) >= 0 && isNumber(s[2:]):
			return operandAt{}, errVector
		}
		symbol, n, err := sum(s)
		if err != nil {
			return operandAt{}, err
		}
		return f.global(symbol, uint64(n), p)
	}
	base, ok := strings.CutSuffix(rest, ")")
	name := registerRISCV(strings.TrimSpace(base))
	if !ok || name == "" || name == "zero" {
		return operandAt{}, errNoOperand
	}
	symbol, n, err := sum(disp)
	if err != nil {
		return operandAt{}, err
	}
	if symbol != "" {
		return operandAt{}, errComputed
	}
	return memory(name, n), nil
}
