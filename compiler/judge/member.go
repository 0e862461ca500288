package judge

import (
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// cutPath parts a path before its first arrow or dot.
func cutPath(path string) (head, rest string) {
	if i := strings.IndexAny(path, "-."); i >= 0 {
		return path[:i], path[i:]
	}
	return path, ""
}

// members follows a path of members, `->a.b->c`, from a pointer: parse_btf_field
// of kernel/trace/trace_probe.c. Each arrow follows a pointer to a struct; a dot
// stays in it.
func (p *probe) members(t types.Type, path string) (fetched, error) {
	for path != "" {
		arrow := strings.HasPrefix(path, "->")
		ptr, isPtr := t.(types.Pointer)
		s, isStruct := t.(types.Struct)
		switch {
		case arrow && !isPtr:
			return fetched{}, no("EINVAL", "This is not a pointer to union/structure.", "'%s' follows what is no pointer", path).at(p.line, path)
		case arrow:
			if s, isStruct = ptr.Elem.(types.Struct); !isStruct {
				return fetched{}, no("EINVAL", "This is not a pointer to union/structure.", "'%s' follows a pointer to what is no struct", path).at(p.line, path)
			}
			path = path[2:]
		case !strings.HasPrefix(path, "."):
			return fetched{}, no("EINVAL", badFetch, "want '->' or '.'").at(p.line, path)
		case !isStruct:
			return fetched{}, no("EOPNOTSUPP", "Non pointer structure/union argument is not supported.", "'%s' follows a pointer; want '->'", path).at(p.line, path)
		default:
			path = path[1:]
		}
		head, rest := cutPath(path)
		m, err := p.j.t.Member(s, head)
		if err != nil {
			names, _ := p.j.t.Members(s)
			return fetched{}, no("ENOENT", "This field is not found.", "struct %s has no member '%s'", s.Name, head).at(p.line, head).near(head, names)
		}
		t, path = m.Type, rest
	}
	return fetched{memory: true, deref: true, btf: t}, nil
}

// fetchCast is `(STRUCT[,MEMBER])X->PATH`.
func (p *probe) fetchCast(f command.Typecast) (fetched, error) {
	t := p.j.t
	_, bare := f.X.(command.Var)
	early := p.kind == eprobe && bare && f.Member == "" // the one form of v7.2
	switch {
	case p.kind == uprobe, !t.Has(target.Typecast) && p.kind != eprobe:
		return fetched{}, no("EINVAL", "Typecasts are only for eprobe fields", "this kernel has no %s here", target.Typecast)
	case !t.Has(target.EprobeTypecast) && !t.Has(target.Typecast):
		return fetched{}, no("EINVAL", badFetch, "this kernel has no %s", target.EprobeTypecast)
	case !t.Has(target.Typecast) && !early:
		return fetched{}, no("EINVAL", "Attached event does not have this field", "this kernel casts a field without a '$' alone: (STRUCT)FIELD->MEMBER")
	}
	s, err := t.Struct(f.Struct)
	if err != nil {
		return fetched{}, no("EINVAL", "This is not a pointer to union/structure.", "the kernel has no struct '%s'", f.Struct).at(p.line, f.Struct)
	}
	path := f.Path
	if v, ok := f.X.(command.Var); ok && p.kind == eprobe {
		head, rest := cutPath(v.Path)
		if rest != "" {
			return fetched{}, no("EOPNOTSUPP", "Non pointer structure/union argument is not supported.", "'%s' is no field; want '->'", v.Path).at(p.line, v.Path)
		}
		if _, err := p.fetchField(head); err != nil {
			return fetched{}, err
		}
	} else if _, err := p.fetch(f.X, true); err != nil {
		return fetched{}, err
	}
	if f.Member != "" {
		for m := range strings.SplitSeq(f.Member, ".") {
			if _, err := t.Member(s, m); err != nil {
				names, _ := t.Members(s)
				return fetched{}, no("ENOENT", "This field is not found.", "struct %s has no member '%s'", s.Name, m).at(p.line, m).near(m, names)
			}
			break // what is in a member's struct is not looked up here
		}
	}
	if path == "" {
		if t.Has(target.Typecast) {
			return fetched{}, no("EINVAL", "Typecast requires a field access", "a typecast is followed by '->' and a member")
		}
		return fetched{memory: true, code: true}, nil
	}
	return p.members(types.Pointer{Elem: s}, "->"+path)
}
