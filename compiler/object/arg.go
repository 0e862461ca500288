package object

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
)

// Arg is an argument of a static probe at one of its sites.
type Arg struct {
	Text   string // as the note has it: "-4@%edi"
	Size   int    // bytes: 1, 2, 4 or 8
	Signed bool
	// Fetch and Type are what a uprobe's line says to have it. Fetch is nil if
	// the kernel has no way to say it: then Err tells why.
	Fetch command.Fetch
	Type  command.FetchType
	Err   error
}

// An argument is SIZE@OPERAND, with '-' before SIZE if it is signed and 'f'
// behind it if it is a floating-point number. OPERAND is what the compiler put
// into its assembly:
//
//	x86      %REG  $NUM  DISP(%BASE)  DISP(%BASE,%INDEX,SCALE)  SYM+N(%rip)  SYM+N
//	arm64    REG  NUM  [REG]  [REG, NUM]
//	arm      REG  NUM  #NUM  [REG]  [REG, #NUM]
//	riscv64  REG  NUM  NUM(REG)

// maxArgs is how many arguments sys/sdt.h has room for.
const maxArgs = 12

// parseArgs parses the arguments of the site p.
func (f *File) parseArgs(text string, p Probe) []Arg {
	var args []Arg
	for _, word := range splitArgs(text) {
		if len(args) == maxArgs {
			break
		}
		args = append(args, f.parseArg(word, p))
	}
	return args
}

// splitArgs splits at blanks that are not in brackets: arm64 writes [sp, 16].
func splitArgs(text string) []string {
	var words []string
	depth, start := 0, -1
	for i := range len(text) {
		switch c := text[i]; {
		case c == ' ' && depth <= 0:
			if start >= 0 {
				words, start = append(words, text[start:i]), -1
			}
			continue
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth--
		}
		if start < 0 {
			start = i
		}
	}
	if start >= 0 {
		words = append(words, text[start:])
	}
	return words
}

func (f *File) parseArg(text string, p Probe) Arg {
	a := Arg{Text: text, Size: f.arch.WordSize()}
	operand, err := text, error(nil)
	if size, rest, ok := strings.Cut(text, "@"); ok {
		operand = rest
		size, float := strings.CutSuffix(size, "f")
		n, e := strconv.ParseInt(size, 10, 8)
		switch {
		case e != nil || n != 1 && n != 2 && n != 4 && n != 8 && n != -1 && n != -2 && n != -4 && n != -8:
			err = fmt.Errorf("%d bytes are no size that the kernel can fetch", n)
			if e != nil {
				err = errors.New("its size is no number")
			}
		case float:
			err = errors.New("the kernel cannot fetch floating-point numbers")
		}
		if e == nil && err == nil || float {
			a.Size, a.Signed = int(max(n, -n)), n < 0 || float
		}
	}
	if err == nil {
		var o operandAt
		if o, err = f.operand(strings.TrimSpace(operand), p); err == nil {
			a.Fetch, a.Type, err = o.typed(a)
		}
	}
	if err != nil {
		a.Fetch, a.Err = nil, fmt.Errorf("argument '%s': %w", text, err)
	}
	return a
}

// operandAt is where an argument is.
type operandAt struct {
	fetch command.Fetch
	size  int // of the register, 0 if it says nothing
	high  bool
}

// typed gives a fetched value the argument's type.
func (o operandAt) typed(a Arg) (command.Fetch, command.FetchType, error) {
	if o.high {
		// %ah: the second byte of a register. A kernel's bitfield is unsigned.
		if a.Signed {
			return nil, command.FetchType{}, errors.New("the kernel cannot fetch the second byte of a register as a signed number")
		}
		return o.fetch, command.FetchType{Base: "b", Bits: 8, Offset: 8, Of: 16}, nil
	}
	size := a.Size
	if o.size != 0 {
		size = min(size, o.size)
	}
	sign := "u"
	if a.Signed {
		sign = "s"
	}
	return o.fetch, command.FetchType{Base: sign + strconv.Itoa(size*8)}, nil
}

// operand parses an operand of the file's architecture.
func (f *File) operand(s string, p Probe) (operandAt, error) {
	switch f.arch {
	case target.X86_64, target.I386:
		return f.operandX86(s, p)
	case target.ARM64, target.ARM:
		return f.operandARM(s, p)
	case target.RISCV64:
		return f.operandRISCV(s, p)
	}
	return operandAt{}, fmt.Errorf("%w: %s", ErrUnsupported, f.arch)
}

// register is how a register is fetched.
func register(name string) command.Fetch { return command.Reg{Name: name} }

// memory is the memory at a distance from a register. In a uprobe +N() reads
// user memory. trace_uprobe.c, probe_mem_read.
func memory(base string, off int64) operandAt {
	return operandAt{fetch: command.Deref{Off: off, X: register(base)}}
}

// immediate is a constant. The type cuts it to its size.
func immediate(s string) (operandAt, error) {
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return operandAt{fetch: command.Imm{N: n}}, nil
	}
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		return operandAt{}, errNoOperand
	}
	return operandAt{fetch: command.Imm{N: int64(n), Unsigned: true}}, nil
}

// isNumber reports whether s begins as a number does.
func isNumber(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return s != "" && '0' <= s[0] && s[0] <= '9'
}

var (
	errNoOperand = errors.New("not understood")
	errComputed  = errors.New("the kernel cannot add a register to an address")
	errVector    = errors.New("it is in a floating-point or vector register, which the kernel cannot fetch")
)

// counters are the registers that hold the address of the probe while it is
// carried out.
var counters = map[target.Arch]string{
	target.X86_64: "ip", target.I386: "ip", target.ARM64: "pc", target.ARM: "pc", target.RISCV64: "epc",
}

// global is the memory at a symbol of the file, or at a fixed address if
// symbol is "".
//
// A program that is loaded anywhere has it at a fixed distance from the probe,
// whose address is in a register. The kernel's own way to say it, @+N, is
// another: N is an offset in the file, which memory without initial values has
// not, and some builds of v6.17 (Debian's 6.17.13) read at twice N.
func (f *File) global(symbol string, addr uint64, p Probe) (operandAt, error) {
	if symbol != "" {
		s, err := f.find(symbol, func(e entry) bool { return true })
		if err != nil {
			return operandAt{}, err
		}
		addr += s.Value
	} else if !f.Fixed() {
		return operandAt{}, errors.New("an address without a symbol, in a program that is loaded anywhere")
	}
	if f.Fixed() {
		return operandAt{fetch: command.At{Addr: addr}}, nil
	}
	return memory(counters[f.arch], int64(addr-p.Addr)), nil
}

// sum parses symbols and numbers added up: "foo+8", "-24+4", "8". Of symbols
// there may be one.
func sum(s string) (symbol string, n int64, err error) {
	for i := 0; i < len(s); {
		negative := false
		for i < len(s) && (s[i] == '+' || s[i] == '-') {
			negative = negative != (s[i] == '-')
			i++
		}
		start := i
		for i < len(s) && s[i] != '+' && s[i] != '-' {
			i++
		}
		term := s[start:i]
		switch {
		case term == "":
			return "", 0, errNoOperand
		case isNumber(term):
			v, err := strconv.ParseUint(term, 0, 64)
			if err != nil {
				return "", 0, errNoOperand
			}
			if negative {
				v = -v
			}
			n += int64(v)
		case symbol == "" && !negative && !strings.ContainsAny(term, "@%$()[],*: "):
			symbol = term
		default:
			return "", 0, errNoOperand
		}
	}
	return symbol, n, nil
}
