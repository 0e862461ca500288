package check

import (
	"fmt"
	"go/constant"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// describe names a value and its type: 'comm' (str).
func (c *checker) describe(x ir.Expr) string {
	text := c.src.Slice(x.Span())
	if text == "" || len(text) > 40 || strings.ContainsAny(text, "\n") {
		return kindName(x.Type())
	}
	return fmt.Sprintf("'%s' (%s)", text, kindName(x.Type()))
}

// kindName names a type as a person would.
func kindName(t types.Type) string {
	switch t := t.(type) {
	case types.Untyped:
		return "number"
	case types.String:
		return "str"
	case types.Duration:
		return "duration in " + t.Unit.String()
	}
	return t.String()
}

func (c *checker) mismatched(sp source.Span, x, y ir.Expr) {
	c.err(diag.MismatchedTypes, sp, fmt.Sprintf("cannot compare %s with %s", c.describe(x), c.describe(y)), c.mismatchNote(x, y)...)
}

// mismatchNote says what would make the two comparable.
func (c *checker) mismatchNote(x, y ir.Expr) []diag.Note {
	tx, ty := x.Type(), y.Type()
	if types.Scalar(tx) && types.Scalar(ty) && !types.SameBytes(tx, ty) {
		return []diag.Note{todo("the kernel compares the bytes, which are in different orders")}
	}
	if _, ok := tx.(types.String); ok {
		if _, isInt := ty.(types.Untyped); isInt {
			return []diag.Note{todo("a string is compared with a quoted text")}
		}
	}
	if _, ok := ty.(types.String); ok {
		if i, isInt := tx.(types.Int); isInt && i.Names == nil {
			if form := shownAs[i.Form]; form != "" {
				return []diag.Note{todo("write it as records show it: '%s'", form)}
			}
			return []diag.Note{todo("a number is compared with a number; this one has no names")}
		}
	}
	if _, ok := ty.(types.Duration); ok {
		if _, isInt := tx.(types.Int); isInt {
			return []diag.Note{todo("if it counts nanoseconds, say so: '%s as ns'", c.src.Slice(x.Span()))}
		}
	}
	if px, ok := tx.(types.Pointer); ok {
		if py, ok := ty.(types.Pointer); ok && px.User != py.User {
			return []diag.Note{todo("one is an address of the kernel's, the other of user space")}
		}
	}
	if _, ok := tx.(types.Duration); ok {
		if _, text := ty.(types.String); text {
			return []diag.Note{todo("a duration is written without quotes: '10us'")}
		}
		return []diag.Note{todo("'as ns' makes a duration of a plain number of nanoseconds")}
	}
	return []diag.Note{todo("both sides must be of one kind")}
}

// shownAs are examples of values that are written as text.
var shownAs = map[types.Form]string{types.IP: `"10.0.0.1"`, types.Dev: `"8:0"`, types.Sysnr: "openat"}

func (c *checker) notACondition(x ir.Expr) {
	text := c.src.Slice(x.Span())
	note := todo("compare it with something")
	switch x.Type().(type) {
	case types.Int, types.Untyped, types.Pointer:
		note = todo("write '%s != 0'", text)
	case types.String:
		note = todo("write '%s == \"…\"'", text)
	}
	c.err(diag.NotACondition, x.Span(), fmt.Sprintf("want a condition, got %s", c.describe(x)), note)
}

// castFirst is about `p + 8 as *T`, which is p + (8 as *T).
func (c *checker) castFirst(e *syntax.Binary, cast *syntax.Cast) {
	text := func(n interface{ Span() source.Span }) string { return c.src.Slice(n.Span()) }
	c.err(diag.NotANumber, cast.Span(), fmt.Sprintf("'as' comes before '%s', so this is no number", e.Op),
		todo("write '(%s %s %s) as %s'", text(e.X), e.Op, text(cast.X), text(cast.Type)))
}

func (c *checker) notANumber(x ir.Expr, op string) {
	c.err(diag.NotANumber, x.Span(), fmt.Sprintf("%s works on numbers, not on %s", op, c.describe(x)), todo("use a field that is a number"))
}

func (c *checker) notAString(x ir.Expr, op string) {
	note := todo("compare numbers with '=='")
	if p, ok := x.Type().(types.Pointer); ok && textPointer(p) {
		note = todo("read the text behind the pointer: 'str(%s)'", c.src.Slice(x.Span()))
	}
	c.err(diag.NotAString, x.Span(), fmt.Sprintf("%s works on strings, not on %s", op, c.describe(x)), note)
}

func (c *checker) notAPointer(sp source.Span, x ir.Expr, op string) {
	note := todo("only what is behind a pointer can be read")
	if i, ok := x.Type().(types.Int); ok && i.Size == 8 {
		note = todo("if it is an address, say of what: '%s as *u32' or 'as user *char'", c.src.Slice(sp))
	}
	c.err(diag.NotAPointer, sp, fmt.Sprintf("%s wants a pointer, got %s", op, c.describe(x)), note)
}

// castBeforeStar is about `*p as T`, which is `*(p as T)`.
func (c *checker) castBeforeStar(sp source.Span, x ir.Expr, cast *syntax.Cast) {
	in := c.src.Slice(cast.X.Span())
	c.err(diag.NotAPointer, sp, fmt.Sprintf("'*' wants a pointer, got %s", c.describe(x)),
		todo("'as' comes first; write '(*%s) as %s'", in, c.src.Slice(cast.Type.Span())))
}

func (c *checker) notText(sp source.Span, x ir.Expr, t types.Pointer) {
	note := todo("str() reads characters; if there are some, say so: '%s as %s'", c.src.Slice(sp), types.Pointer{Elem: types.Int{Size: 1, Form: types.Char}, User: t.User})
	if _, ok := t.Elem.(types.Pointer); ok {
		note = todo("it points to pointers: 'str(%s[0])' reads the first text", c.src.Slice(sp))
	}
	c.err(diag.NotTextPointer, sp, fmt.Sprintf("str() wants a pointer to text, got %s", c.describe(x)), note)
}

func (c *checker) alreadyString(sp source.Span, x ir.Expr) {
	c.err(diag.NotAPointer, sp, fmt.Sprintf("%s is a string already", c.describe(x)), todo("write '%s' without str()", c.src.Slice(sp)))
}

func (c *checker) addressSpace(sp source.Span, x ir.Expr) {
	text := c.src.Slice(sp)
	c.err(diag.AddressSpace, sp, fmt.Sprintf("%s is a number; whose memory it is an address of is not known", c.describe(x)),
		todo("write 'str(%s as user *char)' for user space, 'str(%s as *char)' for the kernel", text, text))
}

func (c *checker) mixedAddressSpace(sp source.Span, x ir.Expr, to types.Pointer) {
	c.err(diag.AddressSpace, sp, fmt.Sprintf("%s cannot become %s: one is user space's, the other the kernel's", c.describe(x), to),
		todo("keep the address space; only a plain number can be given one"))
}

func (c *checker) stringOfPointer(sp source.Span, x ir.Expr) {
	text := c.src.Slice(x.Span())
	c.err(diag.MismatchedTypes, sp, fmt.Sprintf("%s is an address, not a text", c.describe(x)), todo("read the text: 'str(%s)'", text))
}

func (c *checker) strWanted(sp source.Span, x ir.Expr) {
	c.err(diag.BadConversion, sp, fmt.Sprintf("%s is an address, not a text", c.describe(x)), todo("read the text: 'str(%s)'", c.src.Slice(x.Span())))
}

func (c *checker) unknownPointee(sp source.Span, x ir.Expr) {
	c.err(diag.UnknownPointee, sp, fmt.Sprintf("what %s points to has no known size", c.describe(x)),
		todo("say what is there: '(%s as *u32)'", c.src.Slice(x.Span())))
}

func (c *checker) notAnArray(x ir.Expr) {
	c.err(diag.NotAnArray, x.Span(), fmt.Sprintf("%s has no elements", c.describe(x)), todo("an index wants an array or a pointer"))
}

func (c *checker) indexNotConstant(i ir.Expr) {
	c.err(diag.NotConstant, i.Span(), "an index must be a whole constant", todo("a probe reads at fixed offsets"))
}

func (c *checker) indexOutOfRange(sp source.Span, n int64, x ir.Expr, t types.Array) {
	if t.Len == 0 {
		c.err(diag.IndexOutOfRange, sp, fmt.Sprintf("no object is so large that it has an element %d", n), todo("write a smaller index"))
		return
	}
	c.err(diag.IndexOutOfRange, sp, fmt.Sprintf("'%s' has no element %d", c.src.Slice(x.Span()), n), todo("its %d elements are 0 to %d", t.Len, t.Len-1))
}

func (c *checker) behindText(sp source.Span, x ir.Expr) {
	c.err(diag.IndexOutOfRange, sp, fmt.Sprintf("'%s' may end before this element", c.src.Slice(x.Span())),
		todo("its length differs by record; only element 0 is always there; '~' matches a pattern"))
}

func (c *checker) noMember(e *syntax.Selector, x ir.Expr) {
	op := "."
	if e.Arrow {
		op = "->"
	}
	note := todo("'%s' wants a struct, or a pointer to one", op)
	if i, ok := x.Type().(types.Int); ok && i.Size == 8 {
		note = todo("if it is an address, say of what: '(%s as *STRUCT)->%s'", c.src.Slice(e.X.Span()), c.src.Slice(e.Sel.Span()))
	}
	c.err(diag.NotAPointer, e.Span(), fmt.Sprintf("%s has no members", c.describe(x)), note)
}

func (c *checker) notConstant(x ir.Expr) {
	if types.IsInvalid(x.Type()) {
		return
	}
	c.err(diag.NotConstant, x.Span(), fmt.Sprintf("want a constant, got %s", c.describe(x)), todo("a constant is a literal, a param, a const, or a name of the value"))
}

func (c *checker) patternNotConstant(x ir.Expr) {
	c.err(diag.NotConstant, x.Span(), "a pattern must be a quoted text", todo("write '~ \"ba*\"'"))
}

func (c *checker) outOfRange(k *ir.Const, x ir.Expr) {
	least, greatest := types.Bounds(x.Type())
	note := todo("it is %d to %d", least, greatest)
	if n, ok := constInt(k); ok && n < 0 && least == 0 {
		note = todo("it is never below 0")
		if size := types.Size(x.Type()); size > 0 {
			note = todo("it has no sign: what the kernel stores as %d is %d here", n, uint64(n)<<(64-size*8)>>(64-size*8))
		}
	}
	what := c.describe(x)
	if x.Span() == k.Span() {
		what = x.Type().String()
	}
	c.err(diag.ConstantOutOfRange, k.Sp, fmt.Sprintf("%s can never be %s", what, k.Value.ExactString()), note)
}

func (c *checker) durationOutOfRange(k *ir.Const, x ir.Expr, t types.Duration, greatest uint64) {
	note := todo("it is at most %d%s", greatest, t.Unit)
	if !t.Signed && constant.Sign(k.Value) < 0 {
		note = todo("it is never below 0")
	}
	c.err(diag.ConstantOutOfRange, k.Sp, fmt.Sprintf("%s can never be %s", c.describe(x), c.shown(k.Sp, "so long")), note)
}

func (c *checker) inexactDuration(k *ir.Const, x ir.Expr, u types.Unit) {
	c.err(diag.ConstantOutOfRange, k.Sp, fmt.Sprintf("%s can never be %s: it is kept in whole %s", c.describe(x), c.shown(k.Sp, "this"), u),
		todo("compare with '<' or '>', or with whole %s", u))
}

// otherUnit warns of a plain number that is taken for another unit than its name
// tells: 'as' converts durations alone.
func (c *checker) otherUnit(sp source.Span, x ir.Expr, told, taken types.Unit) {
	text := c.src.Slice(x.Span())
	c.add(diag.Warning, diag.MissingUnit, sp, fmt.Sprintf("%s is a number, which 'as %s' takes as it is; its name says %s", c.describe(x), taken, told),
		todo("write '%s as %s as %s', which converts it", text, told, taken))
}

func (c *checker) numberForDuration(k *ir.Const, x ir.Expr) {
	text := c.src.Slice(k.Sp)
	c.err(diag.MissingUnit, k.Sp, fmt.Sprintf("%s is held against a number without a unit", c.describe(x)), todo("write '%sns', '%sus', '%sms' or '%ss'", text, text, text, text))
}

func (c *checker) durationAndNumber(sp source.Span, op syntax.Op, x, y ir.Expr) {
	number := x
	if _, is := x.Type().(types.Duration); is {
		number = y
	}
	note := todo("give the number a unit: '10us'")
	if _, constant := number.(*ir.Const); !constant {
		note = todo("say what unit the number has: '%s as ns'", c.src.Slice(number.Span()))
	}
	what := fmt.Sprintf("cannot add %s and %s", c.describe(x), c.describe(y))
	if op == "-" {
		what = fmt.Sprintf("cannot take %s from %s", c.describe(y), c.describe(x))
	}
	c.err(diag.MissingUnit, sp, what, note)
}

func (c *checker) unknownValueName(sp source.Span, name string, x ir.Expr, names *types.Names) {
	list := strings.Split(names.String(), ", ")
	c.unknown(diag.UnknownName, sp, name, fmt.Sprintf("%s has no value called '%s'", c.describe(x), name), list, todo("its values are %s", some(list, 12)))
	c.list[len(c.list)-1].Fixes = nil
}

func (c *checker) arrayCompared(x ir.Expr, t types.Array) {
	c.err(diag.MismatchedTypes, x.Span(), fmt.Sprintf("an array cannot be compared: %s", c.describe(x)), todo("compare an element: '%s[0]'", c.src.Slice(x.Span())))
}

func (c *checker) orderOfStrings(sp source.Span, op string) {
	c.err(diag.MismatchedTypes, sp, fmt.Sprintf("strings have no order: '%s'", op), todo("compare with '==', '!=' or '~'"))
}

func (c *checker) orOfValues(e *syntax.Binary, x ir.Expr) {
	note := todo("for 'one or the other' write '||'")
	if in, ok := syntax.Unparen(e.X).(*syntax.Binary); ok && in.Op == "&" && in == e.X {
		note = todo("'&' binds tighter: write '%s & (%s | %s)'", c.src.Slice(in.X.Span()), c.src.Slice(in.Y.Span()), c.src.Slice(e.Y.Span()))
	}
	c.err(diag.NotConstant, e.OpSpan, "'|' joins constants only", note)
}

func (c *checker) emptySet(sp source.Span) {
	c.err(diag.NotConstant, sp, "a set without members holds nothing", todo("write 'in { 1, 2, 5..9 }'"))
}

// rangeInOrder reports a range whose ends are the wrong way round, or that is
// not one of numbers.
func (c *checker) rangeInOrder(r *syntax.Range, x ir.Expr, lo, hi *ir.Const) bool {
	if _, text := x.Type().(types.String); text {
		c.err(diag.MismatchedTypes, r.Span(), "strings have no ranges", todo("list them, or use '~'"))
		return false
	}
	a, okA := constInt(lo)
	b, okB := constInt(hi)
	if okA && okB && a > b {
		c.err(diag.ConstantOutOfRange, r.Span(), "the range is empty: its first end is the greater", todo("write '%s..%s'", c.src.Slice(hi.Sp), c.src.Slice(lo.Sp)))
		return false
	}
	return true
}

func (c *checker) divisionByZero(sp source.Span) {
	c.err(diag.DivisionByZero, sp, "division by zero", todo("divide by something else"))
}

func (c *checker) badNumber(sp source.Span, text, want string) {
	c.err(diag.BadNumber, sp, fmt.Sprintf("'%s' does not fit: want %s", text, want))
}

// constantCondition warns of a condition that is known now.
func (c *checker) constantCondition(clause string, e syntax.Expr, x ir.Expr) {
	v, ok := outcome(x)
	if !ok {
		return
	}
	if v {
		c.add(diag.Warning, diag.ConstantCondition, e.Span(), fmt.Sprintf("this '%s' always holds", clause), todo("leave it out"))
		return
	}
	c.add(diag.Warning, diag.ConstantCondition, e.Span(), fmt.Sprintf("this '%s' never holds", clause), todo("nothing is recorded"))
}

func (c *checker) perCPU(sp source.Span, name string) {
	c.err(diag.NotStorable, sp, fmt.Sprintf("each CPU has a variable '%s' of its own, which this kernel's probes do not find", name),
		todo("Linux 7.3 has this_cpu_ptr; until then take it where the kernel has it at hand: an argument of a function that works on it"))
}

func (c *checker) addressStored(sp source.Span) {
	c.err(diag.NotStorable, sp, "a probe reads what is at this address, and does not record the address", todo("write '*(%s as *u64)', of the type that is there", c.src.Slice(sp)))
}

// networkOrder is about a number whose bytes the kernel has in another order
// than its own.
func (c *checker) networkOrder(x ir.Expr, what string) {
	c.err(diag.CannotCompute, x.Span(), fmt.Sprintf("%s does not work on %s: its bytes are in network order", what, c.describe(x)),
		todo("record it as it is, or compare it with a constant"))
}

// otherWidth is about `x as t` between numbers of different widths, of which one
// has its bytes in network order.
func (c *checker) otherWidth(sp source.Span, what string, from, to types.Type) {
	note := todo("leave the type out: it is shown as the number that it means")
	if !types.BigEndian(from) {
		note = todo("make it as wide first: '(… as u%d) as %s'", 8*types.Size(to), to)
	}
	c.err(diag.BadConversion, sp, fmt.Sprintf("%s cannot become %s: bytes in network order are neither cut nor filled up", what, kindName(to)), note)
}

func (c *checker) conditionStored(sp source.Span) {
	c.err(diag.CannotCompute, sp, "no record of the kernel holds whether a condition is true", todo("test it in 'where', or record the values that it is about"))
}

func (c *checker) cannotConvert(sp source.Span, x ir.Expr, t types.Type) {
	c.err(diag.BadConversion, sp, fmt.Sprintf("%s cannot become %s", c.describe(x), kindName(t)), todo("keep its own type, or read what you need of it"))
}

func (c *checker) wideBool(sp source.Span, x ir.Expr) {
	c.err(diag.BadConversion, sp, fmt.Sprintf("%s has more than the one byte of a bool", c.describe(x)), todo("as a condition write '%s != 0'", c.src.Slice(x.Span())))
}

func (c *checker) narrowPointer(sp source.Span, x ir.Expr, t types.Pointer) {
	c.err(diag.BadConversion, sp, fmt.Sprintf("%s is too narrow for an address", c.describe(x)), todo("an address has 64 bits"))
}

func (c *checker) voidValue(sp source.Span) {
	c.err(diag.UnknownType, sp, "nothing can be of type void", todo("'*void' is a pointer to anything"))
}

func (c *checker) arrayLength(sp source.Span, text string) {
	c.err(diag.BadArgument, sp, fmt.Sprintf("an array cannot have %s elements", text), todo("a record holds arrays of 1 to %d", command.MaxArray))
}

func (c *checker) arrayOf(sp source.Span, t types.Type) {
	c.err(diag.NotStorable, sp, fmt.Sprintf("a record holds no arrays of %s", kindName(t)), todo("use an array of integers"))
}

func (c *checker) unknownType(sp source.Span, name string) {
	if near, ok := nearType(name); ok {
		c.unknownTypeNear(sp, name, near)
		return
	}
	c.err(diag.UnknownType, sp, fmt.Sprintf("there is no type '%s'", name), todo("the types are %s", strings.Join(types.BasicNames(), " ")))
}

func (c *checker) unknownTypeNear(sp source.Span, name, near string) {
	c.err(diag.UnknownType, sp, fmt.Sprintf("there is no type '%s'", name), todo("did you mean '%s'?", near))
	c.fix(near)
}

// nearType returns the type that a name of C or of another language stands for,
// or that it nearly is.
func nearType(name string) (string, bool) {
	switch name {
	case "int", "int32", "i32", "pid_t", "int32_t":
		return "s32", true
	case "uint", "uint32", "uint32_t", "unsigned":
		return "u32", true
	case "long", "int64", "i64", "int64_t", "ssize_t":
		return "s64", true
	case "ulong", "uint64", "uint64_t", "size_t":
		return "u64", true
	case "short", "int16", "int16_t":
		return "s16", true
	case "uint16", "uint16_t":
		return "u16", true
	case "byte", "uint8", "uint8_t":
		return "u8", true
	case "string", "ustring":
		return "str", true
	case "hex":
		return "x64", true
	case "symbol", "sym":
		return "ksym", true
	}
	if len(name) < 2 {
		return "", false
	}
	return diag.Near(name, types.BasicNames())
}

func (c *checker) fieldNotStorable(sp source.Span, name string) {
	c.err(diag.NotStorable, sp, fmt.Sprintf("the event's field '%s' cannot be copied into a record", name), todo("list the fields that are wanted, without it: '{ … }'"))
}

func (c *checker) notStorable(x ir.Expr, t types.Type) {
	c.err(diag.NotStorable, x.Span(), fmt.Sprintf("no record can hold %s", c.describe(x)), todo("leave it out, or name a part of it"))
}

func (c *checker) arrayNotStorable(x ir.Expr, t types.Array) {
	if t.Len == 0 {
		c.err(diag.NotStorable, x.Span(), fmt.Sprintf("%s has another length in each record and cannot be copied", c.describe(x)),
			todo("list the fields that are wanted, without it"))
		return
	}
	c.err(diag.NotStorable, x.Span(), fmt.Sprintf("an array of %d is too long for a record", t.Len), todo("a probe copies at most %d elements; name one: '%s[0]'", command.MaxArray, c.src.Slice(x.Span())))
}

func (c *checker) stringInRegister(sp source.Span) {
	c.err(diag.BadConversion, sp, "an argument is a number or an address, not a text", todo("declare 'user *char' or '*char' and read it with str()"))
}

func (c *checker) arrayInRegister(sp source.Span, t types.Type) {
	c.err(diag.BadConversion, sp, "an argument is a number or an address, not an array", todo("C passes the address of an array: '*%s'", t.(types.Array).Elem))
}

func (c *checker) immediateText(sp source.Span, why string) {
	c.err(diag.NotStorable, sp, "the kernel takes no such text as a field's value: "+why, todo("print it instead: trace … print \"…\""))
}

// filterText reports a text that no filter of the kernel can hold.
func (c *checker) filterText(sp source.Span, s string) bool {
	if command.ValidFilterString(s) {
		return true
	}
	why := "it must be shorter than 256 bytes and without control characters"
	if strings.Contains(s, `"`) && strings.Contains(s, "'") {
		why = "it may hold one kind of quote, not both"
	}
	c.err(diag.CannotFilter, sp, "no filter of the kernel can hold this text", todo("%s", why))
	return false
}

func (c *checker) missingFields(sp source.Span) {
	c.err(diag.MissingFields, sp, "an event of several stages must say its fields", todo("add '{ name = stage.field }'"))
}

func (c *checker) tooManyFields(sp source.Span, n int) {
	c.err(diag.TooManyFields, sp, fmt.Sprintf("the event has %d fields; the kernel allows %d", n, command.MaxArgs), todo("split it into two events"))
}

func (c *checker) tooManyKeys(sp source.Span, n int) {
	c.err(diag.TooManyKeys, sp, fmt.Sprintf("the join has %d keys; the kernel allows %d", n, command.MaxHistKeys), todo("leave out the keys that the others imply"))
}

func (c *checker) sizeOutOfRange(sp source.Span, text string) {
	c.err(diag.BadSize, sp, fmt.Sprintf("a table cannot have %s entries", text), todo("it has %d to %d", command.MinHistSize, command.MaxHistSize))
}

func (c *checker) sizeWithoutJoin(sp source.Span) {
	c.err(diag.BadSize, sp, "an event of one stage has no table", todo("'size' is for joins, spans, hists and 'emit on'"))
}

func (c *checker) keyOfLater(sp source.Span) {
	c.err(diag.BadKey, sp, "a key must tie this stage to an earlier one", todo("write 'earlier.f == this.g', or one name that both have"))
}

func (c *checker) keyForm(sp source.Span) {
	c.err(diag.BadKey, sp, "a key is 'a.f == b.g' or one name", todo("conditions go into 'where' or 'having'"))
}

func (c *checker) keyNotThere(sp source.Span, name string, v *stageView) {
	c.err(diag.BadKey, sp, fmt.Sprintf("%s has no field '%s' to join by", sourceName(v.stage.Source), name), todo("write 'a.f == b.g' where the names differ; it has %s", some(v.offers(), 12)))
}

func (c *checker) keysNeverMatch(sp source.Span, x, y ir.Expr, why string) {
	c.err(diag.KeysNeverMatch, sp, fmt.Sprintf("the keys can never be equal: %s and %s", c.describe(x), c.describe(y)), todo("%s", why))
}

func (c *checker) signedKeys(sp source.Span, x, y ir.Expr) {
	c.add(diag.Warning, diag.SignedKeys, sp, fmt.Sprintf("the keys differ in sign: %s and %s", c.describe(x), c.describe(y)),
		todo("values below zero never match; keys are compared with 64 bits"))
}

func (c *checker) userMemoryAtEntry(sp source.Span, call string, early bool) {
	note := todo("read it when the call returns: '%s'", call)
	if early {
		note = todo("without 'enter' it is read when the call returns")
	}
	c.add(diag.Warning, diag.UserMemoryAtEntry, sp, "user memory may not be there yet when a system call begins: it then reads as \"(fault)\"", note)
}

func (c *checker) memoryGone(sp source.Span, text string) {
	if in, ok := strings.CutPrefix(text, "str(enter("); ok { // the pointer is the entry's, what it points to is not
		text = "str(" + strings.TrimSuffix(in, ")")
	}
	c.err(diag.MemoryGone, sp, "the caller's memory is gone when execve returns", todo("read it at the entry: 'enter(%s)'", text))
}

// placed returns where the text at [lo, hi) of a string's value stands: all of
// the string if it has escapes.
func placed(s *syntax.String, value string, lo, hi int) source.Span {
	sp := s.Span()
	if len(s.Raw) < 2 || s.Raw[1:len(s.Raw)-1] != value {
		return sp
	}
	start := sp.Start + 1
	return source.Span{Start: start + source.Pos(lo), End: start + source.Pos(hi)}
}

func (c *checker) strayBrace(sp source.Span, brace string) {
	c.err(diag.BadPrint, sp, fmt.Sprintf("unmatched '%s' in the print format", brace), todo("write '%s%s' for a brace itself", brace, brace))
}

func (c *checker) unknownPlaceholder(sp source.Span, name string, names []string) {
	if near, ok := diag.Near(name, names); ok {
		c.err(diag.BadPrint, sp, fmt.Sprintf("the form names '%s', which is no field of the event", name), todo("did you mean '%s'?", near))
		return
	}
	c.err(diag.BadPrint, sp, fmt.Sprintf("the form names '%s', which is no field of the event", name), todo("the fields are %s", some(names, 12)))
}

// decidedComparison warns of a comparison that its value's type decides.
func (c *checker) decidedComparison(sp source.Span, holds bool) {
	word := "never"
	if holds {
		word = "always"
	}
	c.add(diag.Warning, diag.ConstantCondition, sp, fmt.Sprintf("this comparison %s holds: the value's type has no other values", word), todo("compare with another constant"))
}
