package target

import (
	"fmt"

	"github.com/eptrace/ep/lang/types"
)

// Param is a parameter of a function or a tracepoint. Name is "" if the type
// information does not tell it.
type Param struct {
	Name string
	Type types.Type
}

// Proto is what a function takes and returns. Result is types.Void if it
// returns nothing, and always for a tracepoint.
type Proto struct {
	Params   []Param
	Result   types.Type
	Variadic bool // it takes more than Params
}

// FuncProto returns what a function of the kernel takes and returns. module is
// "" for the kernel itself. Of several functions of one name it is the first.
//
// The error is ErrNotFound, wrapped, if the type information tells of no such
// function, which may exist nevertheless: it tells of none that is written in
// assembler, and of none whose arguments the compiler moved. It is ErrNoBTF,
// wrapped, if there is no type information of the kernel or of the module.
func (t *Target) FuncProto(module, name string) (*Proto, error) {
	b, err := t.lockBTF()
	if err != nil {
		return nil, err
	}
	defer b.mu.Unlock()
	d, err := b.module(t, module)
	if err != nil {
		return nil, err
	}
	if id, ok := b.find(d, name, btfFunc); ok {
		if p := d.typ(d.typ(id).ref); p.kind == btfFuncProto {
			return markUser(name, b.proto(d, p)), nil
		}
	}
	return nil, fmt.Errorf("function '%s': %w", name, ErrNotFound)
}

// NearFunc returns the function of the kernel whose name is nearest to name;
// false if none is near or there is no type information.
func (t *Target) NearFunc(name string) (string, bool) {
	b, err := t.lockBTF()
	if err != nil {
		return "", false
	}
	defer b.mu.Unlock()
	return near(b.kernel, name, btfFunc, "")
}

// tracepointTypedef begins the names of the typedefs that tell of tracepoints
// (DEFINE_EVENT in include/trace/bpf_probe.h).
const tracepointTypedef = "btf_trace_"

// TracepointProto returns the arguments of a raw tracepoint, without the first
// (void *__data), which is not the tracepoint's. name has no system. The error
// is ErrNotFound or ErrNoBTF, wrapped.
//
// The typedef that tells the types tells no names: they are those of the
// function __traceiter_NAME, or __probestub_NAME, which take the same
// (include/linux/tracepoint.h).
func (t *Target) TracepointProto(name string) (*Proto, error) {
	b, err := t.lockBTF()
	if err != nil {
		return nil, err
	}
	defer b.mu.Unlock()
	d := b.kernel
	id, ok := b.find(d, tracepointTypedef+name, btfTypedef)
	if ok {
		if p := d.typ(d.typ(d.typ(id).ref).ref); p.kind == btfFuncProto && p.vlen > 0 {
			proto := b.proto(d, p)
			proto.Params = proto.Params[1:]
			b.nameParams(d, name, proto)
			return proto, nil
		}
	}
	return nil, fmt.Errorf("tracepoint '%s': %w", name, ErrNotFound)
}

// nameParams gives the parameters of a tracepoint their names.
func (b *btfs) nameParams(d *btfData, name string, p *Proto) {
	for _, prefix := range []string{"__traceiter_", "__probestub_"} {
		id, ok := b.find(d, prefix+name, btfFunc)
		if !ok {
			continue
		}
		f := d.typ(d.typ(id).ref)
		if f.kind != btfFuncProto || f.vlen != len(p.Params)+1 {
			continue
		}
		for i := range p.Params {
			if p.Params[i].Name == "" {
				p.Params[i].Name = string(d.text(d.word(f, (i+1)*8)))
			}
		}
		return
	}
}

// Tracepoints returns the names of the tracepoints that the type information
// tells of, sorted. The error is ErrNoBTF, wrapped.
func (t *Target) Tracepoints() ([]string, error) {
	b, err := t.lockBTF()
	if err != nil {
		return nil, err
	}
	defer b.mu.Unlock()
	return sortedNames(b.kernel, btfTypedef, tracepointTypedef), nil
}

// TracepointProbeable reports whether a probe on a raw tracepoint can be turned on,
// as far as the target's lists tell. The kernel attaches it to the empty function
// that each tracepoint has for it (kernel/trace/trace_fprobe.c, __probestub_NAME); of
// a tracepoint in code that is not traced, that cannot be traced either. 6.12.117
// refuses such a probe; 6.17.13, 7.2.13 and 7.3.4 make it and fail to turn it on, and
// on 6.17.13 it then stays busy.
func (t *Target) TracepointProbeable(name string) bool {
	state, err := t.Symbol("__probestub_" + name)
	if err != nil {
		return true // the list cannot be read: the kernel will say
	}
	return state == SymbolUnknown || state == SymbolProbeable || state == SymbolFprobeOnly
}

// TypedFunctions returns the names of the functions of the kernel itself that the
// type information tells of, sorted. Not all of them can be probed. The error is
// ErrNoBTF, wrapped.
func (t *Target) TypedFunctions() ([]string, error) {
	b, err := t.lockBTF()
	if err != nil {
		return nil, err
	}
	defer b.mu.Unlock()
	return sortedNames(b.kernel, btfFunc, ""), nil
}

func (b *btfs) proto(d *btfData, p btfType) *Proto {
	proto := &Proto{Result: b.goType(d, p.ref)}
	for i := range p.vlen {
		name, typ := d.word(p, i*8), d.word(p, i*8+4)
		if i == p.vlen-1 && name == 0 && typ == 0 {
			proto.Variadic = true
			break
		}
		proto.Params = append(proto.Params, Param{string(d.text(name)), b.goType(d, typ)})
	}
	return proto
}
