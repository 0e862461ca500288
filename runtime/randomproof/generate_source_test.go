package randomproof

import (
	"fmt"
	"strings"

	"github.com/eptrace/ep/lang/types"
)

// context is what every source has.
func contextRefs() []*ref {
	return []*ref{{form: "%$tid", t: s32}, {form: "%$cpu", t: u32}, {form: "%$comm", t: str}, {form: "%$time", t: ns}}
}

// origin makes a source: of the workload's calls, or an event of the script.
func (g *generator) origin(events bool) *origin {
	if len(g.s.events) > 0 && g.in(4) {
		return g.own(pick(g, g.s.events))
	}
	if g.in(4) {
		if o := g.function(); o != nil {
			return o
		}
	}
	return g.known()
}

// own is an event of the script as a source.
func (g *generator) own(e *event) *origin {
	o := &origin{event: e, refs: append(g.fieldRefs(e), contextRefs()...), rare: true}
	for _, s := range e.stages {
		for _, src := range s.sources {
			o.kinds = append(o.kinds, src.kinds...)
		}
	}
	return o
}

// known is a source of one of the workload's calls.
func (g *generator) known() *origin {
	c := pick(g, g.calls)
	args := func(span bool) (list []*ref) {
		for _, p := range c.params {
			switch {
			case p.text && span:
				list = append(list, &ref{form: "str(%" + p.name + ")", t: str})
			case p.text || p.addr:
			default:
				list = append(list, &ref{form: "%" + p.name, t: p.t})
				if span && g.in(4) {
					list = append(list, &ref{form: "enter(%" + p.name + ")", t: p.t})
				}
			}
		}
		return append(list, contextRefs()...)
	}
	ret := &ref{form: "%$ret", t: result}
	of := func(kind string) func(*world) []*occurrence {
		return func(w *world) []*occurrence { return w.of(kind) }
	}
	switch g.IntN(7) {
	case 0, 1:
		return &origin{form: "syscall " + c.name, kinds: []string{"exit " + c.name}, of: of("span " + c.name), rare: c.rare,
			refs: append(args(true), ret, ret, &ref{form: "%$elapsed", t: ns})}
	case 2, 3:
		return &origin{form: "syscall " + c.name + ".enter", kinds: []string{"enter " + c.name}, of: of("enter " + c.name), rare: c.rare, refs: args(false)}
	case 4:
		return &origin{form: "syscall " + c.name + ".exit", kinds: []string{"exit " + c.name}, of: of("exit " + c.name), rare: c.rare,
			refs: append(contextRefs(), ret, ret)}
	case 5:
		return &origin{form: "syscalls.sys_enter_" + c.name, kinds: []string{"enter " + c.name}, of: of("enter " + c.name), rare: c.rare, refs: args(false)}
	}
	return &origin{form: "syscalls.sys_exit_" + c.name, kinds: []string{"exit " + c.name}, of: of("exit " + c.name), rare: c.rare,
		refs: append(contextRefs(), &ref{form: "%ret", t: s64})}
}

// function is a function of the kernel that the workload's calls make, nil if it
// makes none.
func (g *generator) function() *origin {
	for _, i := range g.Perm(len(functions)) {
		f := functions[i]
		for _, c := range g.calls {
			if c.name != f.call {
				continue
			}
			var args, memory []*ref
			for _, p := range f.params {
				args = append(args, &ref{form: "%" + p.name, t: p.t})
			}
			for name, t := range fileRefs {
				form := strings.Replace(name, "file", "%file", 1)
				memory = append(memory, &ref{form: form, t: t})
			}
			sortRefs(memory)
			ret := &ref{form: "%$ret", t: s64}
			if f.name == "vfs_fallocate" {
				ret.t = s32
			}
			of := func(kind string) func(*world) []*occurrence {
				return func(w *world) []*occurrence { return w.of(kind) }
			}
			switch g.IntN(4) {
			case 0, 1:
				return &origin{form: fmt.Sprintf("func %s.enter", f.name), kinds: []string{"func enter " + f.name}, of: of("enter " + f.name),
					refs: append(append(args, memory...), contextRefs()...)}
			case 2:
				return &origin{form: fmt.Sprintf("func %s.exit", f.name), kinds: []string{"func exit " + f.name}, of: of("exit " + f.name),
					refs: append(contextRefs(), ret, ret)}
			}
			for _, r := range memory[:len(memory):len(memory)] {
				memory = append(memory, &ref{form: "enter(" + r.form + ")", t: r.t})
			}
			return &origin{form: "func " + f.name, kinds: []string{"func exit " + f.name}, of: of("span " + f.name),
				refs: append(append(append(args, memory...), contextRefs()...), ret, &ref{form: "%$elapsed", t: ns})}
		}
	}
	return nil
}

// fileRefs is the memory behind a file that the model knows.
var fileRefs = map[string]types.Type{
	"file->f_pos": s64, "file->f_inode->i_size": s64, "file->f_inode->i_ino": u64,
	"file->f_inode->i_sb->s_magic": u64, "path(file)": str,
}
