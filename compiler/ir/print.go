package ir

import (
	"fmt"
	"strings"

	"github.com/eptrace/ep/lang/types"
)

// String returns the program as text, for tests and for whoever wants to see
// what the checker made of a script: each event with its stages, and each field
// with its type and its value in normal form.
func (p *Program) String() string {
	var b strings.Builder
	for _, ev := range p.Events {
		ev.print(&b)
	}
	for _, t := range p.Traces {
		switch {
		case t.Event != nil:
			fmt.Fprintf(&b, "trace %s", t.Event.fullName())
		case t.Kernel != nil:
			fmt.Fprintf(&b, "trace %s.%s", t.Kernel.System, t.Kernel.Name)
		}
		if t.Print != "" {
			fmt.Fprintf(&b, " print %q", t.Print)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (e *Event) fullName() string {
	if e.Group == "" {
		return e.Name
	}
	return e.Group + "." + e.Name
}

func (e *Event) print(b *strings.Builder) {
	fmt.Fprintf(b, "event %s", e.fullName())
	if e.Size != 0 {
		fmt.Fprintf(b, " size %d", e.Size)
	}
	b.WriteByte('\n')
	for _, s := range e.Stages {
		s.print(b)
	}
	if e.Having != nil {
		fmt.Fprintf(b, "  having %s\n", e.Having)
	}
	for _, f := range e.Fields {
		fmt.Fprintf(b, "  %s: %s = %s\n", f.Name, described(f.Type), f.Value)
	}
}

func (s *Stage) print(b *strings.Builder) {
	fmt.Fprintf(b, "  #%d %s", s.Index, sourceText(s.Source))
	if s.Alias != "" {
		fmt.Fprintf(b, " as %s", s.Alias)
	}
	b.WriteByte('\n')
	for _, k := range s.Keys {
		fmt.Fprintf(b, "    by %s == %s\n", k.Left, k.Right)
	}
	if s.Where != nil {
		fmt.Fprintf(b, "    where %s\n", s.Where)
	}
}

// sourceText names a source as a script does.
func sourceText(s Source) string {
	end := func(e End) string { return [...]string{".enter", ".exit", ""}[e] }
	switch s := s.(type) {
	case *KernelEvent:
		return s.Format.System + "." + s.Format.Name
	case *Derived:
		return s.Event.fullName()
	case *Syscall:
		return "syscall " + s.Name + end(s.End)
	case *Probe:
		word := [...]string{"kprobe", "func", "tracepoint", "ufunc", "uprobe", "usdt"}[s.Place]
		name := s.Symbol
		if s.Module != "" {
			name = s.Module + ":" + name
		}
		if s.Path != "" {
			name = fmt.Sprintf("%q:%s", s.Path, name)
		}
		if s.Offset != 0 {
			name += fmt.Sprintf("+%d", s.Offset)
		}
		if s.Place == AtFunc || s.Place == AtUserFunc {
			name += end(s.End)
		}
		return word + " " + name
	}
	return "?"
}

// described is a type with what its name does not tell: the room of a text, the
// width of a duration, that its values have names.
func described(t types.Type) string {
	switch t := t.(type) {
	case types.String:
		if t.Cap > 0 {
			return fmt.Sprintf("str of %d", t.Cap)
		}
	case types.Duration:
		sign := "u"
		if t.Signed {
			sign = "s"
		}
		return fmt.Sprintf("%s in %s%d", t, sign, t.Size*8)
	case types.Int:
		if t.Names != nil {
			return t.String() + " with names"
		}
	}
	return t.String()
}
