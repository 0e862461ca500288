package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
	"github.com/eptrace/ep/stdlib"
)

// listing is what `ep list --json` prints. docs/json.md describes it.
type listing struct {
	Version int     `json:"version"`
	Target  string  `json:"target"`
	Entries []entry `json:"entries"`
}

// entry is something that can be traced.
type entry struct {
	Kind   string       `json:"kind"`   // event, syscall, func, tracepoint or module
	Name   string       `json:"name"`   // "sched.sched_switch", "openat"
	Source string       `json:"source"` // as a script writes it; of a module its name
	Number *int         `json:"number,omitempty"`
	Fields []fieldEntry `json:"fields,omitempty"` // or arguments
	Result string       `json:"result,omitempty"`
	Doc    string       `json:"doc,omitempty"`    // of a module: what it says of itself
	Params []paramEntry `json:"params,omitempty"` // of a module
}

type fieldEntry struct {
	Name   string      `json:"name"`
	Type   string      `json:"type"`
	Flags  bool        `json:"flags,omitempty"`
	Values []valueName `json:"values,omitempty"`
}

type valueName struct {
	Name  string `json:"name"`
	Value uint64 `json:"value"`
}

func (l *lister) event(system, name string) {
	e := entry{Kind: "event", Name: system + "." + name, Source: nameInScript(system) + "." + nameInScript(name)}
	if l.verbose {
		// An event that may not be read is listed all the same.
		if f, err := l.t.Format(system, name); err == nil {
			e.Fields = fieldsOf(f.Fields)
		}
	}
	l.add(e)
}

// syscall adds a system call. Its arguments are told by the event of its entry,
// if the target has that.
func (l *lister) syscall(name string) {
	e := entry{Kind: "syscall", Name: name, Source: "syscall " + nameInScript(name)}
	if nr, ok := l.t.Syscall(name); ok {
		e.Number = &nr
	}
	if l.verbose {
		if event, ok := l.t.SyscallEvent(name); ok {
			if f, err := l.t.Format("syscalls", "sys_enter_"+event); err == nil {
				for _, field := range fieldsOf(f.Fields) {
					if field.Name != "__syscall_nr" && !strings.HasSuffix(field.Name, "_val") {
						e.Fields = append(e.Fields, field)
					}
				}
			}
			if f, err := l.t.Format("syscalls", "sys_exit_"+event); err == nil {
				if ret := f.Field("ret"); ret != nil {
					e.Result = ret.Type.String()
				}
			}
		}
	}
	l.add(e)
}

func (l *lister) function(name string) {
	e := entry{Kind: "func", Name: name, Source: "func " + nameInScript(name)}
	if l.verbose {
		if p, err := l.t.FuncProto("", name); err == nil {
			e.proto(p)
		}
	}
	l.add(e)
}

func (l *lister) tracepoint(name string) {
	e := entry{Kind: "tracepoint", Name: name, Source: "tracepoint " + nameInScript(name)}
	if l.verbose {
		if p, err := l.t.TracepointProto(name); err == nil {
			e.proto(p)
		}
	}
	l.add(e)
}

// module adds a module of ep's own, which says at its head what it is for.
func (l *lister) module(name string) {
	e := entry{Kind: "module", Name: name, Source: name}
	if l.verbose {
		text, _ := stdlib.Module(name) // it is of the list
		if src, err := source.New(name, text); err == nil {
			e.Doc, e.Params = about(src), paramsOf(src)
		}
	}
	l.add(e)
}

func (e *entry) proto(p *target.Proto) {
	for _, a := range p.Params {
		e.Fields = append(e.Fields, newFieldEntry(a.Name, a.Type))
	}
	if _, none := p.Result.(types.Void); p.Result != nil && !none {
		e.Result = p.Result.String()
	}
}

func fieldsOf(fields []target.Field) []fieldEntry {
	var list []fieldEntry
	for _, f := range fields {
		list = append(list, newFieldEntry(f.Name, f.Type))
	}
	return list
}

func newFieldEntry(name string, t types.Type) fieldEntry {
	f := fieldEntry{Name: name, Type: t.String()}
	if names := types.NamesOf(t); names != nil {
		f.Flags = names.Flags
		for _, n := range names.List {
			f.Values = append(f.Values, valueName(n))
		}
	}
	return f
}

// listWidth is where the names of values are broken into lines.
const listWidth = 100

// print prints the entry as a line, and its fields below it.
func (e *entry) print(b *bytes.Buffer) {
	b.WriteString(e.Source)
	if e.Number != nil && (e.Fields != nil || e.Result != "") {
		fmt.Fprintf(b, ", number %d", *e.Number)
	}
	b.WriteByte('\n')
	for line := range strings.Lines(e.Doc) {
		b.WriteString(strings.TrimRight("  "+strings.TrimSuffix(line, "\n"), " ") + "\n")
	}
	e.printParams(b)
	width := 0
	for _, f := range e.Fields {
		width = max(width, len(f.Name))
	}
	for _, f := range e.Fields {
		fmt.Fprintf(b, "  %-*s  %s\n", width, f.Name, f.Type)
		f.printNames(b, width+4)
	}
	if e.Result != "" {
		fmt.Fprintf(b, "  %-*s  %s\n", width, "$ret", e.Result)
	}
}

// printParams prints how a module's params are set, with their defaults.
func (e *entry) printParams(b *bytes.Buffer) {
	width := 0
	for i := range e.Params {
		width = max(width, len(e.Params[i].String()))
	}
	for i := range e.Params {
		if i == 0 {
			b.WriteString("\n  params, with their defaults:\n")
		}
		p := &e.Params[i]
		lead := fmt.Sprintf("    %-*s  ", width, p)
		for line := range strings.Lines(p.Doc + "\n") {
			b.WriteString(strings.TrimRight(lead+line, " \n") + "\n")
			lead = strings.Repeat(" ", len(lead))
		}
	}
}

// printNames prints the names of a field's values below it.
func (f *fieldEntry) printNames(b *bytes.Buffer, indent int) {
	sep := ", "
	if f.Flags {
		sep = " | "
	}
	lead := strings.Repeat(" ", indent)
	line := lead
	for i, v := range f.Values {
		word := fmt.Sprintf("%s=%d", v.Name, v.Value)
		if f.Flags {
			word = fmt.Sprintf("%s=%#x", v.Name, v.Value)
		}
		if i < len(f.Values)-1 {
			word += strings.TrimRight(sep, " ")
		}
		if len(line) > indent && len(line)+1+len(word) > listWidth {
			b.WriteString(line + "\n")
			line = lead
		}
		if len(line) > indent {
			line += " "
		}
		line += word
	}
	if len(f.Values) > 0 {
		b.WriteString(line + "\n")
	}
}

// nameInScript returns a name as a script writes it: in backticks if it is no
// plain word. Reserved words are plain after a dot and a source's first word.
func nameInScript(s string) string {
	for i := 0; i < len(s); i++ {
		ch := s[i]
		if !(ch == '_' || ch|0x20 >= 'a' && ch|0x20 <= 'z' || i > 0 && ch >= '0' && ch <= '9') {
			return "`" + s + "`"
		}
	}
	return s
}
