package judge

import (
	"errors"
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// fetched is what a fetch yields, as far as a type may follow it.
type fetched struct {
	// memory: the value is in memory, at an address that the fetch has: a
	// dereference, a field of an eprobe's event, a constant, the task's name.
	memory bool
	deref  bool          // its last step reads memory
	user   bool          // its last step reads user memory
	code   bool          // a register or the like, which may hold an address of code
	text   bool          // the task's name or a string constant
	field  *target.Field // of an eprobe's event
	btf    types.Type    // by the kernel's types; nil if they do not tell
}

const (
	badVar   = "Invalid $-variable specified"
	badFetch = "Invalid fetch argument"
)

// fetch judges how a value is got. named tells whether the argument has a name:
// the kernel looks up one without in its types.
func (p *probe) fetch(f command.Fetch, named bool) (fetched, error) {
	t := p.j.t
	if n := nesting(f); n > t.Limits().ArgNesting {
		return fetched{}, no("E2BIG", "Too many nested typecasts/dereferences", "%d values lie one in the other; the kernel takes %d", n, t.Limits().ArgNesting)
	}
	switch f := f.(type) {
	case command.FieldOf:
		return p.fetchField(f.Name)
	case command.ArgN:
		return p.fetchArg(f.N, named)
	case command.RetVal:
		return p.fetchResult()
	case command.Comm:
		return fetched{memory: true, text: true}, nil
	case command.StackAddr, command.StackN:
		if p.kind == eprobe {
			return fetched{}, no("EINVAL", badVar, "an eprobe has no stack to read")
		}
		if s, ok := f.(command.StackN); ok && p.kind != uprobe && s.N > maxStack {
			return fetched{}, no("EINVAL", "Invalid stack number", "the stack has %d words", maxStack)
		}
		_, word := f.(command.StackN)
		return fetched{code: word}, nil
	case command.Reg:
		return p.fetchRegister(f.Name)
	case command.At:
		return p.fetchSymbol(f)
	case command.FileAt:
		if p.kind != uprobe {
			return fetched{}, no("EINVAL", "File offset is not available with kprobe", "only a uprobe has a file")
		}
		return fetched{memory: true, deref: true}, nil
	case command.Imm:
		return fetched{memory: true}, nil
	case command.ImmString:
		return fetched{memory: true, text: true}, nil
	case command.Deref:
		v, err := p.fetch(f.X, named)
		if err != nil {
			return v, err
		}
		_, constant := f.X.(command.ImmString)
		if v.text && (constant || p.kind != eprobe || !t.Has(target.QuirkCommDereference)) {
			return v, no("EINVAL", "$comm can not be dereferenced", "text cannot be dereferenced; take it as it is")
		}
		return fetched{memory: true, deref: true, user: f.User}, nil
	case command.Var:
		return p.fetchVariable(f.Path)
	case command.Typecast:
		return p.fetchCast(f)
	case command.Special:
		return p.fetchSpecial(f.Text)
	}
	return fetched{}, no("EINVAL", badFetch, "no such value")
}

// maxStack is the words of a kernel stack, PARAM_MAX_STACK of
// kernel/trace/trace_probe.h.
const maxStack = 2048

// nesting counts the dereferences and casts of f that lie one in the other.
func nesting(f command.Fetch) int {
	switch f := f.(type) {
	case command.Deref:
		return 1 + nesting(f.X)
	case command.Typecast:
		return 1 + nesting(f.X)
	}
	return 0
}

// fetchField is a field of the event that an eprobe hangs on: one of its own.
func (p *probe) fetchField(n string) (fetched, error) {
	format := p.j.formatOf(p.on)
	if f := format.Field(n); f != nil {
		return fetched{memory: true, code: true, field: f}, nil
	}
	if n == "comm" {
		return fetched{memory: true, text: true}, nil
	}
	reason := sprintf("%s has no field '%s'", p.on.name, n)
	for _, f := range format.Common {
		if f.Name == n {
			reason = sprintf("an eprobe cannot reach '%s': only the event's own fields", n)
		}
	}
	r := no("EINVAL", badVar, "%s", reason).at(p.line, n).near(n, fieldNames(format))
	return fetched{}, r
}

func fieldNames(f *target.Format) []string {
	var names []string
	for _, g := range f.Fields {
		names = append(names, g.Name)
	}
	return names
}

// fetchArg is `$argN`.
func (p *probe) fetchArg(n int, named bool) (fetched, error) {
	t := p.j.t
	switch {
	case p.kind == uprobe:
		return fetched{}, no("EINVAL", "$arg* can be used only on function entry or exit", "a uprobe does not know arguments; take a register")
	case p.kind == kprobe && !p.entry:
		return fetched{}, no("EINVAL", badVar, "arguments are known at a function's entry alone")
	case !t.Has(target.KprobeArgs):
		return fetched{}, no("EINVAL", badVar, "this kernel has no %s", target.KprobeArgs)
	case p.exit && !t.Has(target.ReturnArgs):
		return fetched{}, no("EINVAL", badVar, "this kernel has no %s", target.ReturnArgs)
	case n > maxStack:
		return fetched{}, no("EINVAL", "Invalid argument number", "no function has %d arguments", n)
	}
	if named && p.j.quiet {
		return fetched{code: !p.exit}, nil
	}
	proto := p.prototype()
	switch {
	case proto == nil:
	case n <= len(proto.Params) && !named:
		return fetched{code: !p.exit, btf: proto.Params[n-1].Type}, nil
	case n <= len(proto.Params):
	case !named:
		return fetched{}, no("ENOENT", "This variable is not found at this probe point", "the function has %d parameters", len(proto.Params))
	default:
		p.mislead("the function has %d parameters, so $arg%d is whatever is there", len(proto.Params), n)
	}
	return fetched{code: !p.exit}, nil
}

// fetchResult is `$retval`.
func (p *probe) fetchResult() (fetched, error) {
	switch {
	case p.kind == eprobe:
		return fetched{}, no("EINVAL", badVar, "an eprobe has no result of a function")
	case !p.exit:
		return fetched{}, no("EINVAL", "$retval is not available on probe", "only a probe of a return has a result")
	}
	proto := p.prototype()
	if proto == nil {
		return fetched{code: true}, nil
	}
	if _, void := proto.Result.(types.Void); void {
		return fetched{}, no("ENOENT", "This function returns 'void' type", "the function returns nothing")
	}
	return fetched{code: true, btf: proto.Result}, nil
}

// fetchRegister is `%NAME`.
func (p *probe) fetchRegister(n string) (fetched, error) {
	switch p.kind {
	case kprobe, kretprobe, uprobe:
	default:
		return fetched{}, no("EINVAL", badVar, "only kprobes and uprobes have registers")
	}
	list := p.j.t.Arch().Registers()
	if len(list) > 0 && !slices.Contains(list, n) {
		r := no("EINVAL", "Invalid register name", "%s has no register '%s'", p.j.t.Arch(), n).near(n, list)
		if r.Near == "" && len(n) > 2 && slices.Contains(list, n[1:]) {
			r.Near = n[1:] // rax
		}
		return fetched{}, r
	}
	return fetched{code: true}, nil
}

// fetchSymbol is `@ADDR` or `@SYM`.
func (p *probe) fetchSymbol(f command.At) (fetched, error) {
	v := fetched{memory: true, deref: true}
	if f.Symbol == "" {
		return v, nil
	}
	if p.kind == uprobe {
		return v, no("EINVAL", "Symbol is not available with uprobe", "a uprobe does not know the kernel's symbols")
	}
	return v, p.kernelSymbol(f.Symbol)
}

// kernelSymbol refuses a name that is no symbol of the kernel.
func (p *probe) kernelSymbol(n string) error {
	state, err := p.j.t.Symbol(n)
	if err != nil {
		return err
	}
	switch state {
	case target.SymbolAbsent:
		if (p.kind == fprobe || p.kind == tprobe) && !p.j.t.Has(target.FprobeMaxactive) {
			p.mislead("the kernel has no symbol '%s', which it looks for as the event is turned on", n)
			return nil
		}
		r := no("ENOENT", badSymbol, "the kernel has no symbol '%s'", n).at(p.line, n)
		r.Near, _ = p.j.t.NearVariable(n)
		return r
	case target.SymbolUnlisted:
		// Only the variables of each CPU are known without the list.
		if _, ok := p.j.t.VarType(n); !ok {
			p.mislead("whether there is a symbol '%s' is not known of this target", n)
		}
	}
	return nil
}

// needsBTF refuses what the kernel looks up in its types where it does not.
func (p *probe) needsBTF(f target.Feature, what string) error {
	t := p.j.t
	switch {
	case p.kind == uprobe || p.kind == eprobe:
		return no("EINVAL", "BTF is not available or not supported", "'%s' is a name that only probes of functions and tracepoints have", what)
	case !t.Has(f):
		return no("EINVAL", badFetch, "this kernel has no %s", f)
	case p.exit && !t.Has(target.ReturnArgs):
		return no("EINVAL", badFetch, "this kernel has no %s", target.ReturnArgs)
	case p.kind == kprobe && !p.entry:
		return no("EINVAL", badVar, "arguments are known at a function's entry alone")
	}
	return nil
}

// fetchVariable is a name that the kernel knows by its types, with the members
// behind it; of an eprobe since v7.3 a field.
func (p *probe) fetchVariable(path string) (fetched, error) {
	head, rest := cutPath(path)
	if p.kind == eprobe {
		if !p.j.t.Has(target.EprobeBareField) {
			return fetched{}, no("EINVAL", "BTF is not available or not supported", "a field is written with a '$' here: '$%s'", head)
		}
		v, err := p.fetchField(head)
		var r *Refusal
		if errors.As(err, &r) {
			r.Kernel = "This event field is not found."
			return v, r
		}
		if rest != "" {
			return v, no("EINVAL", badFetch, "a field has no members; a typecast gives it a struct: (STRUCT)%s", path)
		}
		return v, nil
	}
	if err := p.needsBTF(target.BTFArgs, head); err != nil {
		return fetched{}, err
	}
	if rest != "" && !p.j.t.Has(target.BTFMembers) {
		return fetched{}, no("EINVAL", badFetch, "this kernel has no %s", target.BTFMembers)
	}
	proto := p.prototype()
	if proto == nil {
		return fetched{}, no("ENOENT", "No BTF entry for this probe point", "the kernel's types do not tell this function's parameters")
	}
	var names []string
	for _, param := range proto.Params {
		if param.Name == head {
			v := fetched{code: !p.exit, btf: param.Type} // at the return it is of what was stored
			if rest == "" {
				return v, nil
			}
			return p.members(param.Type, path[len(head):])
		}
		names = append(names, param.Name)
	}
	return fetched{}, no("ENOENT", "This variable is not found at this probe point", "the function has no parameter '%s'", head).at(p.line, head).near(head, names)
}

// fetchSpecial is a form that newer kernels have.
func (p *probe) fetchSpecial(text string) (fetched, error) {
	t := p.j.t
	switch {
	case text == "$arg*":
		return fetched{}, no("EINVAL", badVar, "'$arg*' has neither a name nor a type")
	case strings.HasPrefix(text, "$retval"):
		v, err := p.fetchResult()
		if err != nil {
			return v, err
		}
		if !t.Has(target.BTFMembers) {
			return v, no("EINVAL", badVar, "this kernel has no %s", target.BTFMembers)
		}
		if v.btf == nil {
			return v, no("ENOENT", "No BTF entry for this probe point", "the kernel's types do not tell what this function returns")
		}
		return p.members(v.btf, strings.TrimPrefix(text, "$retval"))
	case strings.HasPrefix(text, "$current"):
		if !t.Has(target.CurrentFetch) || p.kind == eprobe || p.kind == uprobe {
			return fetched{}, no("EINVAL", badVar, "there is no $current here")
		}
		v := fetched{code: true}
		s, err := t.Struct("task_struct")
		if err != nil {
			return v, nil
		}
		v.btf = types.Pointer{Elem: s}
		if rest := strings.TrimPrefix(text, "$current"); rest != "" {
			return p.members(v.btf, rest)
		}
		return v, nil
	case strings.HasPrefix(text, "this_cpu_"):
		if !t.Has(target.PerCPUFetch) || p.kind == eprobe || p.kind == uprobe {
			return fetched{}, no("ENOENT", "This variable is not found at this probe point", "this kernel has no %s", target.PerCPUFetch)
		}
		inner := strings.TrimSuffix(text[strings.IndexByte(text, '(')+1:], ")")
		c, err := command.Parse("dynamic_events", "p:x x x="+inner)
		if err != nil {
			return fetched{}, no("EINVAL", badFetch, "'%s' is no value", inner)
		}
		if _, err := p.fetch(c.(*command.Kprobe).Args[0].Fetch, true); err != nil {
			return fetched{}, err
		}
		return fetched{memory: true, deref: strings.HasPrefix(text, "this_cpu_read"), code: true}, nil
	}
	return fetched{}, no("EINVAL", badVar, "no such variable")
}
