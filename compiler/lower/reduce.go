package lower

import (
	"github.com/eptrace/ep/compiler/command"
	"go/constant"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// recipe is an event reduced to happenings of kernel events. Expressions refer
// to steps by index.
type recipe struct {
	ev     *ir.Event
	steps  []step
	fields []*ir.Field // values over the steps
	emit   *ir.Emit    // when the event is emitted; nil: each time
	having []ir.Expr   // conditions about the outcome: a record that fails them is used up

	disarm []*command.Trigger // to be taken off once the join's histograms are there
}

// step is one happening: of an event that is a record, or of a probe that is
// yet to be made.
type step struct {
	on     *record
	probe  *ir.Probe
	where  []ir.Expr // about this step alone; a happening that fails them did not happen
	keys   []ir.Key  // how it follows the steps before
	span   source.Span
	alias  string
	nested *recipe // of the script's event that on is, for composing with it
}

// reduce brings an event down to kernel events; nil if that failed, which has
// been reported.
func (l *lowerer) reduce(ev *ir.Event) *recipe {
	rec := &recipe{ev: ev, fields: ev.Fields}
	if ev.Having != nil {
		rec.having = ir.Conjuncts(withFields(ev.Having))
	}
	if ev.Emit != nil {
		e := *ev.Emit
		e.Value, e.Per = withFields(e.Value), nil
		for _, p := range ev.Emit.Per {
			e.Per = append(e.Per, withFields(p))
		}
		rec.emit = &e
	}
	if len(ev.Stages) == 1 && isSpan(ev.Stages[0].Source) {
		return l.reduceSpan(rec)
	}
	for _, st := range ev.Stages {
		if !l.reduceStage(rec, st) {
			return nil
		}
	}
	if !l.spanStages(rec) {
		return nil
	}
	for _, st := range ev.Stages { // when all that is asked of each is known
		if call, ok := st.Source.(*ir.Syscall); ok && call.End != ir.EndBoth && !l.reduceCall(rec, st.Index, call) {
			return nil
		}
	}
	if len(rec.steps) == 1 {
		// One happening is never used up: what having refuses, where does.
		rec.steps[0].where = append(rec.steps[0].where, rec.having...)
		rec.having = nil
	}
	return rec
}

// withFields puts for each field of the new event what it is.
func withFields(x ir.Expr) ir.Expr {
	return ir.Rewrite(x, func(x ir.Expr) ir.Expr {
		if own, ok := x.(*ir.Own); ok {
			return own.Field.Value
		}
		return x
	})
}

// reduceStage adds one stage to a recipe.
func (l *lowerer) reduceStage(rec *recipe, st *ir.Stage) bool {
	s := step{where: ir.Conjuncts(st.Where), keys: st.Keys, span: st.Span, alias: st.Alias}
	switch src := st.Source.(type) {
	case *ir.KernelEvent:
		s.on = l.staticRecord(src.Format)
		l.seesMarkers(s.on, st.Span)
	case *ir.Probe:
		if src.End != ir.EndBoth { // else spanStages sees to it
			s.probe = src
		}
	case *ir.Derived:
		return l.reduceDerived(rec, st, s, src.Event)
	}
	rec.steps = append(rec.steps, s)
	return true
}

// reduceDerived adds a stage that is an event of the script. A sole stage that
// is a probe is composed: the new event's probe reads what that one reads, for
// the kernel takes no probe on a probe's event.
func (l *lowerer) reduceDerived(rec *recipe, st *ir.Stage, s step, ev *ir.Event) bool {
	r := l.event(ev)
	if r == nil {
		return false
	}
	s.on = r
	if r.recipe == nil {
		rec.steps = append(rec.steps, s)
		return true
	}
	if len(rec.ev.Stages) > 1 {
		s.nested = r.recipe
		rec.steps = append(rec.steps, s)
		return true
	}
	rec.steps = append(rec.steps, s)
	l.compose(rec, st.Index, r.recipe)
	base := r.recipe.steps[0]
	base.where = append(append([]ir.Expr{}, base.where...), rec.steps[0].where...)
	base.span, base.alias = s.span, s.alias
	rec.steps[0] = base
	return true
}

// compose puts for each field of inner's event what inner reads for it.
func (l *lowerer) compose(rec *recipe, stage int, inner *recipe) {
	values := map[string]ir.Expr{}
	for _, f := range inner.fields {
		values[f.Name] = f.Value
	}
	rec.rewrite(func(x ir.Expr) ir.Expr {
		return substitute(x, stage, func(name string, ref *ir.FieldRef) ir.Expr {
			v := values[name]
			if v == nil {
				return ref
			}
			if v.Type() != ref.T {
				v = &ir.Cast{At: ir.At{T: ref.T, Sp: ref.Sp}, X: v}
			}
			return v
		})
	})
	rec.rewrite(func(x ir.Expr) ir.Expr { return ir.Rewrite(x, widened) })
}

// widened makes bits of what is cut to fewer bytes, without a sign, and then
// widened: a probe reads a value once, by one type.
func widened(x ir.Expr) ir.Expr {
	outer, ok := x.(*ir.Cast)
	if !ok {
		return x
	}
	in, ok := outer.X.(*ir.Cast)
	if !ok || keepsValue(in) || types.Size(outer.T) <= types.Size(in.T) {
		return x
	}
	if t, ok := in.T.(types.Int); !ok || t.Signed || types.Size(in.X.Type()) < t.Size {
		return x
	}
	switch in.X.(type) {
	case *ir.FieldRef, *ir.Context:
		n := types.Size(in.T) * 8
		return &ir.Cast{At: outer.At, X: &ir.Bits{At: ir.At{T: in.T, Sp: in.Sp}, X: in.X, Width: n}}
	}
	return x
}

// rewrite replaces every expression of the recipe by what f makes of it.
func (r *recipe) rewrite(f func(ir.Expr) ir.Expr) {
	fields := make([]*ir.Field, len(r.fields))
	for i, old := range r.fields {
		n := *old
		n.Value = f(old.Value)
		fields[i] = &n
	}
	r.fields = fields
	having := make([]ir.Expr, len(r.having))
	for i, h := range r.having {
		having[i] = f(h)
	}
	r.having = having
	if r.emit != nil {
		e := *r.emit
		e.Value, e.Per = f(e.Value), make([]ir.Expr, len(r.emit.Per))
		for i, p := range r.emit.Per {
			e.Per[i] = f(p)
		}
		r.emit = &e
	}
	for i := range r.steps {
		s := &r.steps[i]
		where := make([]ir.Expr, len(s.where))
		for j, w := range s.where {
			where[j] = f(w)
		}
		s.where = where
		keys := make([]ir.Key, len(s.keys))
		for j, k := range s.keys {
			keys[j] = ir.Key{Left: f(k.Left), Right: f(k.Right), Span: k.Span}
		}
		s.keys = keys
	}
}

// never folds the recipe's conditions and reports whether one of them never
// holds: then there is no record to be had. The checker has warned of what the
// script says itself; what comes of composing events is warned of here.
func (l *lowerer) never(r *recipe) bool {
	never := false
	for i := range r.steps {
		never = l.fold(&r.steps[i].where) || never
	}
	return l.fold(&r.having) || never
}

// fold takes constant conditions out of a list, and reports whether one of them
// is false.
func (l *lowerer) fold(list *[]ir.Expr) (never bool) {
	var kept []ir.Expr
	for _, x := range *list {
		_, known := x.(*ir.Const)
		x = ir.Rewrite(x, foldCondition)
		if k, ok := x.(*ir.Const); ok {
			if !constant.BoolVal(k.Value) {
				never = true
				if !known {
					l.neverHolds(x.Span())
				}
			}
			continue
		}
		kept = append(kept, x)
	}
	*list = kept
	return never
}

// exprs calls f for every expression that is evaluated for its value.
func (r *recipe) exprs(f func(ir.Expr)) {
	r.values(f)
	for _, x := range r.having {
		f(x)
	}
	for _, s := range r.steps {
		for _, w := range s.where {
			f(w)
		}
		for _, k := range s.keys {
			f(k.Left)
			f(k.Right)
		}
	}
}

// reduceCall makes step i, the entry or exit of a system call, a step on the
// event that serves: sys_enter_X, or raw_syscalls with the call's number.
func (l *lowerer) reduceCall(rec *recipe, i int, call *ir.Syscall) bool {
	raw, ok := l.useRaw(rec, i, call)
	if !ok {
		return false
	}
	name := "sys_enter"
	if call.End == ir.EndExit {
		name = "sys_exit"
	}
	system := "raw_syscalls"
	if !raw {
		event, _ := l.t.SyscallEvent(call.Name)
		system, name = "syscalls", name+"_"+event
	}
	f, err := l.t.Format(system, name)
	if err != nil {
		l.noSyscallEvents(rec.steps[i].span, call.Name)
		return false
	}
	s := &rec.steps[i]
	s.on = l.staticRecord(f)
	if raw {
		id := &ir.FieldRef{At: ir.At{T: f.Field("id").Type, Sp: s.span}, Stage: i, Name: "id"}
		nr := numberOf(int64(call.Nr), id.T, s.span)
		s.where = append([]ir.Expr{&ir.Binary{At: ir.At{T: types.Bool{}, Sp: s.span}, Op: "==", X: id, Y: nr}}, s.where...)
	}
	rec.rewrite(func(x ir.Expr) ir.Expr {
		return ir.Rewrite(x, func(x ir.Expr) ir.Expr {
			switch x := x.(type) {
			case *ir.FieldRef:
				if raw && x.Stage == i {
					return rawArg(f, i, call, x)
				}
			case *ir.Context:
				if x.Stage == i && x.Kind == ir.Ret {
					return &ir.FieldRef{At: x.At, Stage: i, Name: "ret"}
				}
			}
			return x
		})
	})
	return true
}

// rawArg is an argument of a call as raw_syscalls.sys_enter has it: one of six
// longs. The event's own fields stay.
func rawArg(f *target.Format, stage int, call *ir.Syscall, x *ir.FieldRef) ir.Expr {
	for n, a := range call.Args {
		if a.Name != x.Name || a.Name == "" {
			continue
		}
		args := f.Field("args")
		array := &ir.FieldRef{At: ir.At{T: args.Type, Sp: x.Sp}, Stage: stage, Name: "args"}
		return &ir.Load{At: ir.At{T: x.T, Sp: x.Sp}, X: array, Off: int64(n) * 8}
	}
	return x
}

// useRaw decides between the call's own event and raw_syscalls. Kernels without
// CONFIG_FTRACE_SYSCALLS have neither; some have raw_syscalls alone, and on some
// an eprobe cannot read a `char *` field, which the call's own event has.
func (l *lowerer) useRaw(rec *recipe, i int, call *ir.Syscall) (raw, ok bool) {
	name := "sys_enter"
	if call.End == ir.EndExit {
		name = "sys_exit"
	}
	event, own := l.t.SyscallEvent(call.Name)
	own = own && l.t.HasEvent("syscalls", name+"_"+event)
	if own && !(l.t.Has(target.QuirkEprobePointerByte) && l.fetchesText(rec, i, call)) {
		return false, true
	}
	if !l.t.HasEvent("raw_syscalls", name) {
		if own { // the fetch itself will be reported
			return false, true
		}
		l.noSyscallEvents(rec.steps[i].span, call.Name)
		return false, false
	}
	if call.End == ir.EndEnter && len(call.Args) > 0 && l.t.Has(target.Eprobes) && !l.t.Has(target.EprobeArrayAddress) && l.usesArgs(rec, i, call) {
		l.rawUnreadable(rec.steps[i].span, call.Name)
		return false, false
	}
	return true, true
}

// usesArgs reports whether the recipe names an argument of step i's call.
func (l *lowerer) usesArgs(rec *recipe, i int, call *ir.Syscall) bool {
	used := false
	rec.exprs(func(x ir.Expr) {
		ir.Visit(x, func(x ir.Expr) bool {
			if ref, ok := x.(*ir.FieldRef); ok && ref.Stage == i {
				used = true
			}
			return !used
		})
	})
	return used
}

// fetchesText reports whether an eprobe on the call's own entry event would
// have to read a `char *` field: as a sole step for any use of one; in a join if
// one is read early or if the step needs an event of its own, which then holds
// all that is carried.
func (l *lowerer) fetchesText(rec *recipe, i int, call *ir.Syscall) bool {
	if call.End != ir.EndEnter {
		return false
	}
	s := &rec.steps[i]
	any, early := false, false
	rec.exprs(func(x ir.Expr) {
		any = any || charPointer(x, i)
		ir.Visit(x, func(x ir.Expr) bool {
			if e, ok := x.(*ir.Early); ok && charPointer(e.X, i) {
				early = true
			}
			return true
		})
	})
	sole := len(rec.ev.Stages) == 1 && len(rec.steps) == 1
	return early || any && (sole || len(s.where) > 0 || l.keyedByArgument(rec, i))
}

// keyedByArgument reports whether a key of step i is an argument of its call.
func (l *lowerer) keyedByArgument(rec *recipe, i int) bool {
	found := false
	for _, s := range rec.steps {
		for _, k := range s.keys {
			for _, x := range []ir.Expr{k.Left, k.Right} {
				ir.Visit(x, func(x ir.Expr) bool {
					ref, ok := x.(*ir.FieldRef)
					found = found || ok && ref.Stage == i
					return !found
				})
			}
		}
	}
	return found
}

// charPointer reports whether x has a `char *` field of step i in it.
func charPointer(x ir.Expr, i int) bool {
	found := false
	ir.Visit(x, func(x ir.Expr) bool {
		if ref, ok := x.(*ir.FieldRef); ok && ref.Stage == i {
			if p, ok := ref.T.(types.Pointer); ok {
				if e, ok := p.Elem.(types.Int); ok && e.Form == types.Char {
					found = true
				}
			}
		}
		return !found
	})
	return found
}

// isSpan reports whether a source has both ends of a call or a function.
func isSpan(src ir.Source) bool {
	switch src := src.(type) {
	case *ir.Syscall:
		return src.End == ir.EndBoth
	case *ir.Probe:
		return src.End == ir.EndBoth
	}
	return false
}
