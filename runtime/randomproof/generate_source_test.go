package randomproof

import (
	"fmt"
	"math/big"
	"slices"
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
	if g.wide != nil {
		return g.anything()
	}
	if g.in(4) {
		if o := g.function(); o != nil {
			return o
		}
	}
	if g.in(8) {
		if o := g.special(); o != nil {
			return o
		}
	}
	o := g.known()
	if g.in(15) && o.need == nil && !strings.HasPrefix(o.form, "raw_") {
		o.form = pick(g, []string{"func vfs_no_such_function.enter else ", "sched.no_such_event? else "}) + o.form
	}
	return o
}

// special is a source of the workload that is no call and no function of one:
// what a program writes to trace_marker, a signal; nil if there is none.
func (g *generator) special() *origin {
	if slices.ContainsFunc(g.s.steps, func(s step) bool { return s.Marker }) && g.in(2) {
		return &origin{form: "ftrace.print", kinds: []string{"print"}, rare: true, refs: contextRefs(),
			need: &like{&ref{form: "%buf", t: str}, pick(g, []string{"begin*", "end*", "mark*"})},
			of:   func(w *world) []*occurrence { return w.of("print") }}
	}
	for _, c := range g.calls {
		if c.name == "tgkill" {
			o := &origin{form: "signal.signal_generate", kinds: []string{"signal"}, refs: append(contextRefs(), &ref{form: "%comm", t: str}),
				of: func(w *world) []*occurrence { return w.of("signal") }}
			if g.in(2) { // before the event picks from what it is told
				o.form = "tracepoint signal_generate"
				o.refs = append(contextRefs(), &ref{form: "%group", t: s32}, &ref{form: "%result", t: s32}, &ref{form: "%task->pid", t: s32}, &ref{form: "%task->comm", t: str})
				return o
			}
			for _, name := range []string{"errno", "code", "pid", "group", "result"} {
				o.refs = append(o.refs, &ref{form: "%" + name, t: s32})
			}
			return o
		}
	}
	return nil
}

// several adds a source to a stage, and leaves what both have.
func (g *generator) several(s *stage) {
	a := s.sources[0]
	for range 20 {
		b := g.known()
		if b.need != nil || overlap(a.kinds, b.kinds) || strings.Contains(a.form, ".enter") != strings.Contains(b.form, ".enter") {
			continue
		}
		var refs []*ref
		for _, r := range a.refs {
			if slices.ContainsFunc(b.refs, func(o *ref) bool { return o.form == r.form && o.t == r.t }) {
				refs = append(refs, r)
			}
		}
		if strings.HasPrefix(a.form, "syscall ") && strings.HasPrefix(b.form, "syscall ") {
			refs = append(refs, &ref{form: "%$func", t: str})
		}
		one, two := *a, *b
		one.refs, two.refs = refs, refs
		s.sources = []*origin{&one, &two}
		s.where = nil
		if !a.rare || !b.rare {
			s.where = g.mine()
		}
		s.lets = nil
		return
	}
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
		if c.name == "madvise" && g.in(4) {
			list = append(list, &ref{form: strings.Replace(faulty, "start", "%start", 1), t: u64})
		}
		if g.in(12) {
			list = append(list, &ref{form: "%$kstack", t: types.Stack{}})
		}
		return append(list, contextRefs()...)
	}
	ret := &ref{form: "%$ret", t: result}
	of := func(kind string) func(*world) []*occurrence {
		return func(w *world) []*occurrence { return w.of(kind) }
	}
	switch g.IntN(8) {
	case 7: // the events of all calls
		nr := &literal{n: big.NewInt(int64(c.nr)), t: untyped, form: "sys(" + c.name + ")"}
		id := &ref{form: "%id", t: s64}
		o := &origin{form: "raw_syscalls.sys_enter", kinds: []string{"enter " + c.name}, of: of("enter " + c.name), rare: c.rare,
			refs: contextRefs(), need: &comparison{"==", id, nr}}
		if g.in(2) {
			o.form, o.kinds, o.of = "raw_syscalls.sys_exit", []string{"exit " + c.name}, of("exit "+c.name)
			o.refs = append(o.refs, &ref{form: "%ret", t: s64})
		}
		return o
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
		f := &functions[i]
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
			switch g.IntN(6) {
			case 4:
				return &origin{form: "kprobe " + f.signature(g, ""), kinds: []string{"func enter " + f.name}, of: of("enter " + f.name),
					refs: append(args, contextRefs()...)}
			case 5:
				return &origin{form: "func " + f.signature(g, ".enter"), kinds: []string{"func enter " + f.name}, of: of("enter " + f.name),
					refs: append(args, contextRefs()...)}
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

// signature is a function with its arguments declared by position.
func (f *function) signature(g *generator, end string) string {
	list := []string{pick(g, []string{"_", "file"})}
	for i, p := range f.params {
		for len(list) < f.at[i] {
			list = append(list, "_")
		}
		list = append(list, fmt.Sprintf("%s: %s", p.name, p.t))
	}
	return f.name + end + "(" + strings.Join(list, ", ") + ")"
}
