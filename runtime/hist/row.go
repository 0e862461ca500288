package hist

import (
	"bytes"
	"math"
	"strconv"

	"github.com/eptrace/ep/runtime/symbol"
)

// A row (hist_trigger_print_key and hist_trigger_entry_print; a `%-50s` is
// padded with blanks to 50 bytes and never cut):
//
//	ROW    := "{ " KEY {", " KEY} [" "] "} hitcount: " N {"  " NAME ": " N}
//	KEY    := NAME ": " N                          %10llu, of negative ones too
//	        | NAME ": " HEX                        .hex
//	        | NAME ": [" HEX "] " SYMBOL           .sym %-45ps, .sym-offset %-55pS
//	        | NAME ": " CALL "[" N "]"             .syscall %-30s
//	        | NAME ": " COMM "[" N "]"             .execname %-16s
//	        | NAME ": ~ 2^" N                      .log2 %-2llu
//	        | NAME ": ~ " N "-" N                  .buckets
//	        | NAME ": " TEXT                       %-50s
//	        | NAME (":\n" | ".stacktrace") {"         " SYMBOL "\n"}
//
// The blank before the brace is missing in rows with a stack. Text may hold anything but NUL: ends of lines, and what looks like the rest
// of the row. If it is shorter than 50 bytes, as names of tasks always are, it
// ends where its padding does. If not, it ends at the first place from which on
// the row can be read to its end.

const (
	textWidth = 50
	execWidth = 16
	// maxTries bounds how often the end of a text is guessed in one row.
	maxTries = 1000
	// maxText bounds how long a text may be: a kernel has no key of more.
	maxText = 512
)

// cursor reads a row.
type cursor struct {
	text  []byte
	at    int
	tries int
	b     *builder
}

// row reads the row that text begins with, into room of b that is used again,
// and returns how long it is with its end of line.
func (f *format) row(text []byte, b *builder) (r *Row, n int, ok bool) {
	r = &b.row
	r.Keys = b.keys[:0]
	for range f.keys {
		r.Keys = append(r.Keys, Key{})
	}
	r.Values = b.vals[:0]
	for range f.columns {
		r.Values = append(r.Values, Value{})
	}
	b.keys, b.vals, b.frames = r.Keys, r.Values, b.frames[:0]
	c := &cursor{text: text, b: b, tries: maxTries}
	if !c.take("{ ") || !c.from(f, r, 0) {
		return nil, 0, false
	}
	if f.plain {
		r.Keys = nil
	}
	return r, c.at, true
}

// from reads the row from its i-th key on.
func (c *cursor) from(f *format, r *Row, i int) bool {
	if i == len(f.keys) {
		return c.rest(f, r)
	}
	if i > 0 && !c.take(", ") {
		return false
	}
	if !c.name() {
		return false
	}
	k, key := &f.keys[i], &r.Keys[i]
	if k.as != formString {
		return c.key(k, key) && c.from(f, r, i+1)
	}
	if !c.take(": ") {
		return false
	}
	start := c.at
	for end := start + textWidth; end < len(c.text) && end-start <= maxText && c.tries > 0; end++ {
		if next := c.text[end]; next != ',' && next != ' ' && next != '}' {
			continue
		}
		c.tries--
		c.at = end
		if c.from(f, r, i+1) {
			key.Text = c.b.intern(bytes.TrimRight(c.text[start:end], " "))
			return true
		}
	}
	return false
}

// rest reads what follows the keys.
func (c *cursor) rest(f *format, r *Row) (ok bool) {
	c.take(" ")
	if !c.take("} hitcount: ") {
		return false
	}
	if r.Count, ok = c.number(10); !ok {
		return false
	}
	for i := range f.vals {
		c.blanks()
		if !c.name() || !c.take(": ") {
			return false
		}
		base := 10
		if f.vals[i].hex {
			base = 16
		}
		sum, ok := c.number(base)
		if !ok {
			return false
		}
		for k, of := range f.columns {
			if of == i {
				r.Values[k].Sum = sum
			}
		}
	}
	return c.take("\n")
}

// key reads a key after its name.
func (c *cursor) key(k *keyFormat, key *Key) (ok bool) {
	if k.as == formStack {
		return c.stack(key)
	}
	if !c.take(": ") {
		return false
	}
	switch k.as {
	case formHex:
		key.Num, ok = c.number(16)
		key.Num = k.shape.FromKernel(key.Num)
	case formSym:
		return c.symbol(key)
	case formSyscall:
		// The name is known from the number.
		i := bytes.IndexByte(c.text[c.at:min(c.at+maxText, len(c.text))], '[')
		if i < 0 {
			return false
		}
		c.at += i + 1
		key.Num, ok = c.number(10)
		key.Num = k.shape.FromKernel(key.Num)
		return ok && c.take("]")
	case formExec:
		start := c.at
		c.at = min(c.at+execWidth, len(c.text))
		key.Text = c.b.intern(bytes.TrimRight(c.text[start:c.at], " "))
		if !c.take("[") {
			return false
		}
		key.Num, ok = c.number(10)
		return ok && c.take("]")
	case formLog2:
		if !c.take("~ 2^") {
			return false
		}
		var power uint64
		if power, ok = c.number(10); !ok {
			return false
		}
		c.padding()
		key.Num, key.Last = log2Slot(k, power)
	case formBuckets:
		if !c.take("~ ") {
			return false
		}
		if key.Num, ok = c.number(10); !ok || !c.take("-") {
			return false
		}
		key.Last, ok = c.number(10)
		if key.Last < key.Num {
			key.Last = math.MaxUint64 // the slot goes on at 0, which is another
		}
		if k.beyond && key.Num == 0 {
			key.Num, key.Last = log2Slot(k, 0)
		} else if k.beyond {
			key.Num, key.Last = log2Slot(k, 64)
		}
	default:
		key.Num, ok = c.number(10)
		key.Num = k.shape.FromKernel(key.Num)
	}
	return ok
}

// log2Slot returns the bounds of the slot 2^power. The kernel rounds up to a
// power of two (hist_field_log2), so that 2^5 holds 17 to 32.
//
// What that makes of 0, and of what is negative or above 2^63, C leaves open:
// 0 comes out in 2^0, with 1, or in 2^-1, printed unsigned; the others in 2^64,
// 2^0 or 2^-1. So the least slot is one of all that is no more than 1, save that
// unsigned numbers above 2^63 have one where the kernel has it.
func log2Slot(k *keyFormat, power uint64) (first, last uint64) {
	switch {
	case power == 0 || power > 64 || power == 64 && k.signed:
		return k.first, 1
	case power == 64:
		return 1<<63 + 1, math.MaxUint64
	case power == 63 && k.signed:
		return 1<<62 + 1, math.MaxInt64
	}
	return 1<<(power-1) + 1, 1 << power
}

// symbol reads "[ADDRESS] NAME+0x1f/0x40 [MODULE]", padded.
func (c *cursor) symbol(key *Key) (ok bool) {
	if !c.take("[") {
		return false
	}
	if key.Num, ok = c.number(16); !ok || !c.take("] ") {
		return false
	}
	line := c.text[c.at:min(c.at+2*maxText, len(c.text))]
	end := bytes.IndexAny(line, ",}\n")
	if end < 0 || line[end] == '\n' {
		return false
	}
	c.at += end
	if line[end] == '}' && c.text[c.at-1] == ' ' {
		c.at-- // of the end of the keys
	}
	if name := bytes.TrimRight(line[:end], " "); !bytes.HasPrefix(name, []byte("0x")) {
		key.Text = c.b.symbolName(name)
	}
	return true
}

// stack reads the lines of a stack after its name. That of a synthetic event's
// field is "NAME.stacktrace", with neither a colon nor an end of line.
func (c *cursor) stack(key *Key) bool {
	if !c.take(".stacktrace") && !c.take(":\n") {
		return false
	}
	start := len(c.b.frames)
	for c.at < len(c.text) && c.text[c.at] == ' ' {
		n := lineLength(c.text[c.at:])
		line := bytes.TrimSpace(c.text[c.at : c.at+n])
		if len(line) == 0 || line[0] == '}' {
			break
		}
		c.b.frames = append(c.b.frames, c.b.symbolName(line))
		c.at += n
	}
	key.Stack = c.b.frames[start:len(c.b.frames):len(c.b.frames)]
	return true
}

func (c *cursor) take(s string) bool {
	if len(c.text)-c.at < len(s) || string(c.text[c.at:c.at+len(s)]) != s {
		return false
	}
	c.at += len(s)
	return true
}

func (c *cursor) blanks() {
	for c.at < len(c.text) && c.text[c.at] == ' ' {
		c.at++
	}
}

// padding skips blanks up to the one before the end of the keys.
func (c *cursor) padding() {
	c.blanks()
	if c.at < len(c.text) && c.text[c.at] == '}' && c.text[c.at-1] == ' ' {
		c.at--
	}
}

// name skips the name of a field.
func (c *cursor) name() bool {
	start := c.at
	for c.at < len(c.text) {
		b := c.text[c.at]
		if b != '_' && (b < '0' || b > '9') && (b < 'A' || b > 'Z') && (b < 'a' || b > 'z') {
			break
		}
		c.at++
	}
	return c.at > start
}

// number reads a number behind blanks.
func (c *cursor) number(base int) (uint64, bool) {
	c.blanks()
	start := c.at
	for c.at < len(c.text) && c.at-start < 20 {
		b := c.text[c.at]
		if (b < '0' || b > '9') && (base == 10 || b < 'a' || b > 'f') {
			break
		}
		c.at++
	}
	n, err := strconv.ParseUint(string(c.text[start:c.at]), base, 64)
	return n, err == nil
}

// symbolName returns NAME+0x1f/0x40 [MODULE] as a script would say it,
// MODULE:NAME+0x1f. An address that the kernel has no name for stays as it is.
func (b *builder) symbolName(text []byte) string {
	name, module, _ := bytes.Cut(text, []byte(" "))
	if i := bytes.LastIndexByte(name, '/'); i >= 0 {
		name = name[:i]
	}
	if i := bytes.LastIndex(name, []byte("+0x0")); i >= 0 && i == len(name)-4 {
		name = name[:i]
	}
	// Newer kernels may add a build ID behind the module's name.
	module, _, _ = bytes.Cut(bytes.Trim(module, "[] "), []byte(" "))
	if len(module) == 0 {
		return b.intern(name)
	}
	return symbol.Of(b.intern(module), b.intern(name))
}
