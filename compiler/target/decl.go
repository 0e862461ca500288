package target

import (
	"strings"

	"github.com/eptrace/ep/lang/types"
)

// decl is a field's declaration taken apart.
//
//	DECL  := [__data_loc|__rel_loc] BASE {'*'|QUALIFIER} [ARRAY] NAME [ARRAY]
//	BASE  := words; a struct, union or enum has two
//	ARRAY := '[' [NUMBER|MACRO] ']'
//
// The array stands before the name in what is dynamic ("__data_loc char[] x")
// and after it in what is not ("char comm[16]").
type decl struct {
	name     string
	loc      Loc
	base     string // without const and volatile: "unsigned long", "struct page"
	stars    int
	array    bool
	length   string // what stands in the brackets
	pointers string // base, stars and qualifiers as they were written
	user     bool   // __user, or the btf_type_tag of that name
}

// text is the type as the kernel's own text of it, which has the array's size
// at the end.
func (d decl) text() string {
	s := d.pointers
	switch d.loc {
	case DataLoc:
		s = "__data_loc " + s
	case RelLoc:
		s = "__rel_loc " + s
	}
	if d.array {
		s += "[" + d.length + "]"
	}
	return s
}

func parseDecl(s string) decl {
	var d decl
	s, d.user = removeAttributes(s)
	if rest, ok := strings.CutPrefix(s, "__data_loc "); ok {
		s, d.loc = rest, DataLoc
	} else if rest, ok := strings.CutPrefix(s, "__rel_loc "); ok {
		s, d.loc = rest, RelLoc
	}
	s = strings.TrimSpace(s)
	// A function pointer written out: "void (*fn)(struct work *)".
	if before, rest, ok := strings.Cut(s, "(*"); ok {
		name, _, _ := strings.Cut(rest, ")")
		d.name = identifier(strings.TrimSpace(name))
		d.pointers, d.base, d.stars = strings.TrimSpace(before)+" (*)()", "void", 1
		return d
	}
	if open := strings.IndexByte(s, '['); open >= 0 {
		d.array = true
		length, after, _ := strings.Cut(s[open+1:], "]")
		d.length = strings.TrimSpace(length)
		// A second dimension is kept in the text of the first.
		if strings.HasPrefix(after, "[") {
			if end := strings.LastIndexByte(after, ']'); end > 0 {
				d.length, after = d.length+"]"+after[:end], after[end+1:]
			}
		}
		s = s[:open] + " " + strings.TrimSpace(after)
	}
	s = strings.TrimRight(s, " ")
	start := len(s)
	for start > 0 && isWord(s[start-1]) {
		start--
	}
	d.name = s[start:]
	d.pointers = strings.TrimSpace(s[:start])
	var base []string
	for _, word := range strings.Fields(strings.ReplaceAll(d.pointers, "*", " * ")) {
		switch word {
		case "*":
			d.stars++
		case "const", "volatile", "restrict", "__restrict", "__percpu", "__rcu", "__iomem", "__force", "__kernel", "__seg_gs", "__seg_fs":
		default:
			base = append(base, word)
		}
	}
	d.base = strings.Join(base, " ")
	return d
}

// removeAttributes takes "__user" and "__attribute__((…))" away. Kernels built
// with a compiler that has btf_type_tag show it in the format (case: v6.16,
// const char __attribute__((btf_type_tag("user"))) * filename).
func removeAttributes(s string) (rest string, user bool) {
	for {
		at := strings.Index(s, "__attribute__")
		if at < 0 {
			break
		}
		end, depth := at+len("__attribute__"), 0
		for end < len(s) {
			c := s[end]
			end++
			if c == '(' {
				depth++
			}
			if c == ')' {
				if depth--; depth <= 0 {
					break
				}
			}
			if depth == 0 && c != ' ' {
				break
			}
		}
		if strings.Contains(s[at:end], `btf_type_tag("user")`) {
			user = true
		}
		s = strings.TrimRight(s[:at], " ") + " " + strings.TrimLeft(s[end:], " ")
	}
	if before, after, ok := strings.Cut(s, "__user"); ok && (after == "" || !isWord(after[0])) {
		s, user = strings.TrimRight(before, " ")+" "+strings.TrimLeft(after, " "), true
	}
	return strings.TrimSpace(s), user
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// identifier returns s if it is one word, "" otherwise.
func identifier(s string) string {
	for i := range len(s) {
		if !isWord(s[i]) {
			return ""
		}
	}
	return s
}

// typeOf says what a field's values mean.
func typeOf(f *Field, d decl, system string) types.Type {
	switch {
	case d.loc != InPlace:
		// "__data_loc cpumask_t *[] mask" and the like are not of the type
		// that they say.
		elem := elemType(d, 0, f.Signed, system)
		if isChar(d) {
			return types.String{}
		}
		if types.Size(elem) == 0 || !d.array {
			return types.Struct{Name: d.base}
		}
		return types.Array{Elem: elem}
	case d.array:
		if isChar(d) {
			return types.String{Cap: f.Size}
		}
		return arrayType(f, d, system)
	case d.stars > 0:
		return pointerTo(d, system)
	}
	size := f.Size
	if system == "syscalls" {
		// Each argument takes a long whatever its type (trace_syscalls.c);
		// the declaration tells how much of it counts.
		if w := typedefWidth(d.base, f.Size); w.size != 0 && w.size <= f.Size {
			return scalar(d.base, w.size, w.signed)
		}
		return scalar(d.base, size, f.Signed)
	}
	return scalar(d.base, size, f.Signed)
}

// arrayType is the type of an array in the record. How long it is follows from
// the sizes, since the brackets may hold a macro's name.
func arrayType(f *Field, d decl, system string) types.Type {
	n := 0
	for i := 0; i < len(d.length) && '0' <= d.length[i] && d.length[i] <= '9' && n < 1<<16; i++ {
		n = n*10 + int(d.length[i]-'0')
	}
	width := 0
	if n > 0 && f.Size%n == 0 {
		width = f.Size / n
	}
	elem := elemType(d, width, f.Signed, system)
	size := types.Size(elem)
	if size == 0 {
		return types.Struct{Name: d.text()}
	}
	return types.Array{Elem: elem, Len: f.Size / size}
}

// elemType is the type of what an array or a pointer of d is made of. width is
// the size if the record tells it, 0 if the declaration must.
func elemType(d decl, width int, signed bool, system string) types.Type {
	if d.array && d.stars > 0 {
		return pointerTo(d, system)
	}
	if width == 0 {
		w := typedefWidth(d.base, 8)
		width, signed = w.size, w.signed
	} else if w := typedefWidth(d.base, width); w.size == width {
		signed = w.signed // of arrays, the file tells of some whether the array is
	}
	return scalar(d.base, width, signed)
}

// isChar reports whether an array of d is text. Bytes that are not are u8 or
// unsigned char in the kernel's declarations.
func isChar(d decl) bool { return d.stars == 0 && d.base == "char" }

func pointerTo(d decl, system string) types.Type {
	p := types.Pointer{User: d.user || system == "syscalls"}
	w := typedefWidth(d.base, 8)
	switch {
	case d.base == "void":
		p.Elem = types.Void{}
	case w.size != 0:
		p.Elem = scalar(d.base, w.size, w.signed)
	default:
		p.Elem = types.Struct{Name: tagName(d.base)}
	}
	for range min(d.stars, 8) - 1 {
		p = types.Pointer{Elem: p, User: p.User}
	}
	return p
}

// scalar is the type of a value of a C type called base.
func scalar(base string, size int, signed bool) types.Type {
	switch size {
	case 1, 2, 4, 8:
	default:
		return types.Struct{Name: tagName(base)}
	}
	switch {
	case strings.HasPrefix(base, "struct ") || strings.HasPrefix(base, "union "):
		return types.Struct{Name: tagName(base)}
	case size == 1 && (base == "bool" || base == "_Bool"):
		return types.Bool{}
	case size == 1 && base == "char":
		return types.Int{Size: 1, Signed: signed, Form: types.Char}
	case size == 4 && base == "dev_t":
		return types.Int{Size: 4, Form: types.Dev}
	case size == 2 && base == "__be16", size == 4 && base == "__be32":
		return types.Int{Size: size, Form: types.BE}
	}
	return types.Int{Size: size, Signed: signed}
}

// tagName takes "struct" and "union" away.
func tagName(base string) string {
	base = strings.TrimPrefix(base, "struct ")
	return strings.TrimPrefix(base, "union ")
}
