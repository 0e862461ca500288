package check

import (
	"go/constant"
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// Some of what a kernel takes, and does as it is told, is hardly ever meant. This
// file finds it; all of it is warned of, save what can never be.

// likely looks at an event.
func (c *checker) likely(ev *ir.Event) {
	told := map[*ir.Stage]bool{}
	for _, st := range ev.Stages {
		c.likelySource(st)
		c.likelyComparisons(ev.Stages, st.Where)
		c.likelyTask(ev.Stages, told, st.Where)
		for _, k := range st.Keys {
			c.likelyTask(ev.Stages, told, k.Left)
			c.likelyTask(ev.Stages, told, k.Right)
			c.wokenByThread(ev.Stages, k.Left)
			c.wokenByThread(ev.Stages, k.Right)
			c.contradiction(ev.Stages, k)
			c.keyIsTime(k)
		}
		if st.Index > 0 {
			c.likelyKeys(st)
		}
	}
	c.likelyComparisons(nil, ev.Having)
	c.likelySize(ev)
	for _, f := range ev.Fields {
		c.likelyTask(ev.Stages, told, f.Value)
	}
	if e := ev.Emit; e != nil {
		for _, p := range e.Per {
			c.likelyTask(ev.Stages, told, p)
		}
	}
}

// likelyHist looks at a histogram.
func (c *checker) likelyHist(h *ir.Hist) {
	for i, st := range h.Stages {
		one, told := []*ir.Stage{st}, map[*ir.Stage]bool{}
		c.likelySource(st)
		c.likelyComparisons(h.Stages, st.Where)
		c.likelyTask(one, told, st.Where)
		for _, k := range h.Keys {
			c.likelyTask(one, told, k.Exprs[i])
		}
		for _, v := range h.Values {
			c.likelyTask(one, told, v.Exprs[i])
		}
	}
	if h.Size != 0 {
		return
	}
	for _, k := range h.Keys {
		_, time := k.Type.(types.Duration)
		switch {
		case k.Slot != ir.Each:
		case time:
			c.tableFills(k.Span, "or group the times: 'log2("+c.src.Slice(k.Exprs[0].Span())+")'")
		case endless(k.Exprs[0]):
			c.tableFills(k.Span, "")
		}
	}
}

// whose tells of the kernel's events on whose behalf they do not happen: $tid and
// $comm are then another thread's than one might think.
func whose(src ir.Source) (thread, instead string) {
	k, ok := src.(*ir.KernelEvent)
	if !ok {
		return "", ""
	}
	switch name := k.Format.Name; k.Format.System {
	case "sched":
		if name == "sched_switch" {
			return "the one that leaves the CPU", "write 'prev_pid' or 'prev_comm' for it, 'next_pid' or 'next_comm' for the one that comes"
		}
	case "irq":
		return "the one that was interrupted, whoever that is", "an interrupt belongs to a CPU: '$cpu'"
	case "timer":
		if name == "hrtimer_expire_entry" || name == "hrtimer_expire_exit" || name == "timer_expire_entry" || name == "timer_expire_exit" {
			return "the one that was interrupted, whoever that is", "a timer is told by its address, or its function"
		}
	case "block":
		if name == "block_rq_complete" {
			return "the one that was interrupted, whoever that is", "take it of 'block.block_rq_issue', joined by 'dev, sector'"
		}
	}
	return "", ""
}

// likelyTask finds $tid and $comm of such events, and tells of each stage once.
func (c *checker) likelyTask(stages []*ir.Stage, told map[*ir.Stage]bool, x ir.Expr) {
	ir.Visit(x, func(x ir.Expr) bool {
		ctx, ok := x.(*ir.Context)
		if !ok || ctx.Kind != ir.Tid && ctx.Kind != ir.Comm || ctx.Stage >= len(stages) {
			return true
		}
		st := stages[ctx.Stage]
		src := st.Source
		if thread, instead := whose(src); thread != "" && !told[st] {
			told[st] = true
			c.wrongTask(ctx, sourceName(src), thread, instead)
		}
		return true
	})
}

// wokenByThread finds the waker as a key, where the woken is meant.
func (c *checker) wokenByThread(stages []*ir.Stage, x ir.Expr) {
	ctx, ok := x.(*ir.Context)
	if !ok || ctx.Kind != ir.Tid {
		return
	}
	k, ok := stages[ctx.Stage].Source.(*ir.KernelEvent)
	if !ok || k.Format.System != "sched" {
		return
	}
	switch k.Format.Name {
	case "sched_waking", "sched_wakeup", "sched_wakeup_new":
		c.wrongTask(ctx, sourceName(k), "the one that wakes", "write 'pid' for the one that is woken")
	}
}

// likelySource finds the return of what does not return.
func (c *checker) likelySource(st *ir.Stage) {
	call, ok := st.Source.(*ir.Syscall)
	if ok && call.End != ir.EndEnter && (call.Name == "exit" || call.Name == "exit_group") {
		c.neverReturns(st.Span, call.Name)
	}
}

// likelyKeys finds keys that several happenings have at once.
func (c *checker) likelyKeys(st *ir.Stage) {
	names := map[string]source.Span{}
	for _, k := range st.Keys {
		switch x := k.Right.(type) {
		case *ir.FieldRef:
			names[x.Name] = k.Span
		case *ir.Context:
			names["$"+x.Kind.String()] = k.Span
		}
	}
	alone := func(name, with, why string) {
		at, ok := names[name]
		if _, has := names[with]; ok && !has {
			c.unsureKey(at, name, with, why)
		}
	}
	switch src := st.Source.(type) {
	case *ir.KernelEvent:
		switch src.Format.System {
		case "block":
			alone("sector", "dev", "each disk has a sector of that number")
		case "irq":
			alone("vec", "$cpu", "each CPU raises it")
		}
	case *ir.Syscall:
		if !comparesThread(st.Where) {
			alone("fd", "$tid", "each process has a file of that number")
		}
	}
}

// likelyModule finds a function that is not in the module it is said to be in: a
// kernel waits for such a module for ever.
func (c *checker) likelyModule(k *ir.Probe) {
	if state, err := c.t.Symbol(k.Module + ":" + k.Symbol); err != nil || state != target.SymbolAbsent && state != target.SymbolUnlisted {
		return
	}
	fn, err := c.t.Function(k.Symbol)
	if err != nil || len(fn.Modules) == 0 {
		return // the module may bring it when it is loaded
	}
	c.otherModule(k, fn.Modules[0])
}

// likelyCut finds a field's type that has no room for all bits of a number that is
// recorded as it is. What a register holds is of unknown width, and a result is an
// error or a small number.
func (c *checker) likelyCut(x ir.Expr, t types.Type, sp source.Span) {
	from, isInt := x.Type().(types.Int)
	to, toInt := t.(types.Int)
	switch x.(type) {
	case *ir.FieldRef, *ir.Load:
		if isInt && toInt && to.Size < from.Size && from.Form != types.Hex {
			c.numberCut(x, sp, from, to)
		}
	}
}

// comparesThread reports whether a condition is about $tid.
func comparesThread(x ir.Expr) bool {
	found := false
	ir.Visit(x, func(x ir.Expr) bool {
		ctx, ok := x.(*ir.Context)
		found = found || ok && ctx.Kind == ir.Tid
		return !found
	})
	return found
}

// likelySize finds keys of which there is no end in a table of the default size.
func (c *checker) likelySize(ev *ir.Event) {
	if ev.Size != 0 {
		return
	}
	if ev.Emit != nil {
		for _, p := range ev.Emit.Per {
			if endless(p) {
				c.tableFills(p.Span(), "")
				return
			}
		}
	}
	for _, st := range ev.Stages {
		for _, k := range st.Keys {
			if endless(k.Right) {
				c.tableFills(k.Span, "")
				return
			}
		}
	}
}

// endless reports whether there is no small bound to the values of x: an address,
// save one in code, or a place on a disk.
func endless(x ir.Expr) bool {
	if p, ok := x.Type().(types.Pointer); ok {
		e, _ := p.Elem.(types.Int)
		return p.User || e.Form != types.Char // the kernel's own texts are few
	}
	switch x := x.(type) {
	case *ir.FieldRef:
		return slices.Contains(endlessNames, x.Name)
	case *ir.Own:
		return endless(x.Field.Value)
	}
	return false
}

// endlessNames are the names that events of kernels give to such values where their
// type does not tell: places on disks and in memory, files, address spaces.
var endlessNames = []string{"sector", "lblk", "pblk", "block", "ino", "index", "pos", "offset", "pfn", "skbaddr", "sk_cookie", "sock_cookie", "mm_id", "seqno"}

// keyIsTime finds a key that two events have in common by chance only.
func (c *checker) keyIsTime(k ir.Key) {
	for _, x := range []ir.Expr{k.Left, k.Right} {
		if ctx, ok := x.(*ir.Context); ok && ctx.Kind == ir.Time {
			c.timeAsKey(k.Span)
			return
		}
	}
}

// contradiction finds a key that both sides want to be a constant, and not the
// same.
func (c *checker) contradiction(stages []*ir.Stage, k ir.Key) {
	left, right := stageOf(k.Left), stageOf(k.Right)
	if left < 0 || right < 0 {
		return
	}
	a, okA := wanted(stages[left].Where, k.Left)
	b, okB := wanted(stages[right].Where, k.Right)
	if okA && okB && a.Kind() == b.Kind() && !constant.Compare(a, tokens["=="], b) {
		c.keysContradict(k.Span, a.String(), b.String())
	}
}

// wanted returns the constant that a condition wants x to be.
func wanted(where, x ir.Expr) (constant.Value, bool) {
	for _, w := range ir.Conjuncts(where) {
		b, ok := w.(*ir.Binary)
		if !ok || b.Op != "==" {
			continue
		}
		k, ok := b.Y.(*ir.Const)
		if ok && b.X.String() == x.String() {
			return k.Value, true
		}
	}
	return nil, false
}

// likelyMask finds a condition that one of several bits of a named value makes true,
// though another value has some of them and is not part of it: where GFP_ATOMIC is
// meant, GFP_KERNEL will do.
func (c *checker) likelyMask(b *ir.Binary) {
	k, ok := b.Y.(*ir.Const)
	names := types.NamesOf(b.X.Type())
	if !ok || names == nil {
		return
	}
	name := strings.Trim(c.src.Slice(k.Span()), `"`)
	mask, ok := names.Value(name)
	if !ok {
		return
	}
	for _, other := range names.List {
		if other.Value&mask != 0 && other.Value&^mask != 0 && other.Value&mask != mask {
			c.anyBit(b, name, other.Name)
			return
		}
	}
}
