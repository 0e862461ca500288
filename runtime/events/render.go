package events

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eptrace/ep/lang/types"
)

// appendValue appends a value as text that a person reads. In a line of fields
// (quote) text that could be taken for more than one value is quoted; else it
// is as it is, save for control characters, which could mislead a terminal.
func (x *show) appendValue(dst []byte, v *Value, n *Names, quote bool) []byte {
	switch v.State {
	case Fault:
		return append(dst, "(fault)"...)
	case FaultOrEmpty:
		return append(dst, "(fault or empty)"...)
	case Bad:
		return append(dst, '?')
	}
	switch x.as {
	case asText:
		if quote {
			return appendWord(dst, v.Data)
		}
		return appendPlain(dst, v.Data)
	case asArray:
		dst = append(dst, '{')
		for i := 0; i+x.elem.size <= len(v.Data); i += x.elem.size {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = x.elem.appendPlainNumber(dst, &Value{Num: x.elem.read(v.Data[i : i+x.elem.size])}, n)
		}
		return append(dst, '}')
	case asStack:
		// The caller first, as folded stacks have it; the kernel has it last.
		start := len(dst)
		for i := v.depth() - 1; i >= 0; i-- {
			dst = v.appendFrame(dst, i, n)
			if i > 0 {
				dst = append(dst, ';')
			}
		}
		return plainFrom(dst, start)
	case asBytes:
		return appendHexBytes(dst, v.Data)
	case asPointed:
		if text, ok := n.text(v.Num); ok && quote {
			return appendWord(dst, []byte(text))
		}
	case asEnum:
		if name := x.names.find(v.Num); name != "" && quote {
			return appendWord(dst, []byte(name)) // "Function not implemented"
		}
	}
	return x.appendPlainNumber(dst, v, n)
}

// appendPlainNumber appends a number as text that no terminal acts on: names are
// others'.
func (x *show) appendPlainNumber(dst []byte, v *Value, n *Names) []byte {
	start := len(dst)
	return plainFrom(x.appendNumber(dst, v, n), start)
}

// text returns the text of the kernel at addr, if it is known.
func (n *Names) text(addr uint64) (string, bool) {
	if n.Texts == nil {
		return "", false
	}
	return n.Texts.Text(addr)
}

// appendNumber appends a number as text, names as they are.
func (x *show) appendNumber(dst []byte, value *Value, n *Names) []byte {
	v := value.Num
	switch x.as {
	case asHex:
		return appendHex(dst, v)
	case asPointed:
		if text, ok := n.text(v); ok {
			return append(dst, text...)
		}
		return appendHex(dst, v)
	case asChar:
		return appendChar(dst, byte(v))
	case asBool:
		return strconv.AppendBool(dst, v != 0)
	case asIP:
		return appendIP(dst, v)
	case asDev:
		return appendDev(dst, v)
	case asErrno:
		return appendErrno(dst, int64(v))
	case asSysnr:
		if n.Syscalls != nil {
			if name, ok := n.Syscalls.SyscallName(int(int64(v))); ok {
				return append(dst, name...)
			}
		}
	case asKsym:
		return value.appendSymbol(dst, n)
	case asEnum:
		if name := x.names.find(v); name != "" {
			return append(dst, name...)
		}
	case asFlags:
		return x.appendFlags(dst, v)
	case asDuration:
		return appendDuration(dst, v, x.unit, x.signed)
	case asUnit:
		return append(x.appendDec(dst, v), x.unit.String()...)
	}
	return x.appendDec(dst, v)
}

func (x *show) appendDec(dst []byte, v uint64) []byte {
	if x.signed {
		return strconv.AppendInt(dst, int64(v), 10)
	}
	return strconv.AppendUint(dst, v, 10)
}

// appendFlags appends A|B|0x40 as the kernel does (trace_output.c,
// trace_print_flags_seq): the first names win.
func (x *show) appendFlags(dst []byte, v uint64) []byte {
	if x.size < 8 {
		v &= 1<<(8*x.size) - 1 // no sign
	}
	if v == 0 {
		if x.names.zero != "" {
			return append(dst, x.names.zero...)
		}
		return append(dst, '0')
	}
	start := len(dst)
	for i := range x.names.list {
		e := &x.names.list[i]
		bits := e.Value
		if x.size < 8 {
			bits &= 1<<(8*x.size) - 1
		}
		if bits == 0 || v&bits != bits {
			continue
		}
		v &^= bits
		if len(dst) > start {
			dst = append(dst, '|')
		}
		dst = append(dst, e.Name...)
		if v == 0 {
			return dst
		}
	}
	if len(dst) == start {
		dst = append(dst, x.names.zero...) // of no bit that has a name
	}
	if len(dst) > start {
		dst = append(dst, '|')
	}
	return appendHex(dst, v)
}

const hexDigits = "0123456789abcdef"

func appendHex(dst []byte, v uint64) []byte {
	return strconv.AppendUint(append(dst, "0x"...), v, 16)
}

func appendHexBytes(dst, b []byte) []byte {
	for _, c := range b {
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return dst
}

// appendChar appends 'c', with Go's escapes.
func appendChar(dst []byte, c byte) []byte {
	if c >= utf8.RuneSelf {
		return append(dst, '\'', '\\', 'x', hexDigits[c>>4], hexDigits[c&15], '\'')
	}
	return strconv.AppendQuoteRune(dst, rune(c))
}

func appendIP(dst []byte, v uint64) []byte {
	for shift := 24; shift >= 0; shift -= 8 {
		dst = strconv.AppendUint(dst, v>>shift&0xff, 10)
		if shift > 0 {
			dst = append(dst, '.')
		}
	}
	return dst
}

// appendDev appends a device number of the kernel's own form, major:minor
// (include/linux/kdev_t.h: 20 bits are the minor's).
func appendDev(dst []byte, v uint64) []byte {
	dst = strconv.AppendUint(dst, v>>20&0xfff, 10)
	dst = append(dst, ':')
	return strconv.AppendUint(dst, v&(1<<20-1), 10)
}

func appendErrno(dst []byte, v int64) []byte {
	if name := types.ErrnoName(-v); name != "" {
		return append(append(dst, '-'), name...)
	}
	return strconv.AppendInt(dst, v, 10)
}

// appendSymbol appends the name of an address, the kernel's if it says where in
// the function the address is.
func (v *Value) appendSymbol(dst []byte, n *Names) []byte {
	if len(v.Symbols) == 0 || v.Symbols[0] == "" {
		return appendSymbol(dst, v.Num, n)
	}
	if n.Symbols != nil && !strings.Contains(v.Symbols[0], "+") {
		if _, _, ok := n.Symbols.Symbol(v.Num); ok {
			return appendSymbol(dst, v.Num, n)
		}
	}
	return append(dst, v.Symbols[0]...)
}

// depth returns how many functions a stack has.
func (v *Value) depth() int {
	if v.Symbols != nil {
		return len(v.Symbols)
	}
	return stackDepth(v.Data)
}

// appendFrame appends the i-th function of a stack.
func (v *Value) appendFrame(dst []byte, i int, n *Names) []byte {
	if v.Symbols != nil {
		return append(dst, v.Symbols[i]...)
	}
	return appendSymbol(dst, binary.LittleEndian.Uint64(v.Data[8*i:]), n)
}

// appendSymbol appends f, f+0x1f, or the address.
func appendSymbol(dst []byte, addr uint64, n *Names) []byte {
	if n.Symbols != nil {
		if name, offset, ok := n.Symbols.Symbol(addr); ok {
			dst = append(dst, name...)
			if offset != 0 {
				dst = appendHex(append(dst, '+'), offset)
			}
			return dst
		}
	}
	return appendHex(dst, addr)
}

// stackDepth returns how many addresses a stack has: it ends with the bytes,
// or at 0 or all ones, which some kernels fill it up with.
func stackDepth(b []byte) int {
	n := len(b) / 8
	for i := range n {
		if a := binary.LittleEndian.Uint64(b[8*i:]); a == 0 || a == ^uint64(0) {
			return i
		}
	}
	return n
}

// appendDuration appends a duration with its three greatest digits, rounded,
// in the unit in which they are less than 1000: 999ns, 1.23ms, 12s, 5023s.
func appendDuration(dst []byte, v uint64, unit types.Unit, signed bool) []byte {
	if signed && int64(v) < 0 {
		dst = append(dst, '-')
		v = -v
	}
	scale := unit.NS()
	if v > (1<<63)/scale {
		return append(strconv.AppendUint(dst, v, 10), unit.String()...)
	}
	ns := v * scale
	if ns < 1000 {
		return append(strconv.AppendUint(dst, ns, 10), "ns"...)
	}
	for u := types.US; ; u++ {
		step := u.NS()
		whole := ns / step
		// decimals is how many make three digits; hundredths are what is left.
		var part uint64
		switch {
		case whole >= 100:
			whole, part = (ns+step/2)/step, 0
		case whole >= 10:
			tenths := (ns + step/20) / (step / 10)
			whole, part = tenths/10, tenths%10*10
		default:
			hundredths := (ns + step/200) / (step / 100)
			whole, part = hundredths/100, hundredths%100
		}
		if whole >= 1000 && u < types.S {
			continue
		}
		dst = strconv.AppendUint(dst, whole, 10)
		if part > 0 {
			dst = append(dst, '.', byte('0'+part/10))
			if part%10 > 0 {
				dst = append(dst, byte('0'+part%10))
			}
		}
		return append(dst, u.String()...)
	}
}

// appendWord appends text as one word, quoted as in Go if it is empty, begins
// with '(' as "(fault)" does, or has anything but letters, digits and marks
// that part nothing.
func appendWord(dst, s []byte) []byte {
	plain := len(s) > 0 && s[0] != '('
	for i := 0; plain && i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			plain = c > ' ' && c != '"' && c != '\\' && c != '=' && c != ',' && c != ';' && c != 0x7f
			i++
			continue
		}
		r, size := utf8.DecodeRune(s[i:])
		plain = unicode.IsPrint(r) && r != utf8.RuneError
		i += size
	}
	if plain {
		return append(dst, s...)
	}
	return strconv.AppendQuote(dst, string(s))
}

// Plain returns text as a terminal may have it: with what is no printable
// character of UTF-8 as \x1b. Line ends are characters of that kind.
func Plain(text string) string { return string(appendPlain(nil, []byte(text))) }

// PlainLines is Plain, but for the ends of lines and tabs, which stay.
func PlainLines(text string) string { return string(appendPlainLines(nil, []byte(text))) }

func appendPlainLines(dst, text []byte) []byte {
	for len(text) > 0 {
		n := bytes.IndexAny(text, "\n\t")
		if n < 0 {
			return appendPlain(dst, text)
		}
		dst = append(appendPlain(dst, text[:n]), text[n])
		text = text[n+1:]
	}
	return dst
}

// plainFrom makes plain what dst has from start on.
func plainFrom(dst []byte, start int) []byte {
	for _, c := range dst[start:] {
		if c < ' ' || c >= 0x7f {
			return appendPlain(dst[:start], bytes.Clone(dst[start:]))
		}
	}
	return dst
}

// appendPlain appends text with control characters and what is no UTF-8
// escaped.
func appendPlain(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f {
			dst = append(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(s[i:])
		if c >= utf8.RuneSelf && r != utf8.RuneError && unicode.IsPrint(r) {
			dst = append(dst, s[i:i+size]...)
		} else {
			for _, b := range s[i : i+size] {
				dst = append(dst, '\\', 'x', hexDigits[b>>4], hexDigits[b&15])
			}
		}
		i += size
	}
	return dst
}
