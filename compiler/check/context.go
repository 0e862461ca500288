package check

import (
	"slices"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// contextKinds are the values of the context by name. $reg, $stack and $arg
// have an argument.
var contextKinds = map[string]ir.ContextKind{
	"tid": ir.Tid, "comm": ir.Comm, "cpu": ir.CPU, "time": ir.Time, "kstack": ir.Kstack,
	"ret": ir.Ret, "elapsed": ir.Elapsed, "ip": ir.IP, "func": ir.Func,
	"reg": ir.Reg, "stack": ir.StackWord, "arg": ir.Arg,
}

// contextType returns the type of a value of the context. A task's name has 16
// bytes (TASK_COMM_LEN); a return value is a long.
func contextType(k ir.ContextKind) types.Type {
	switch k {
	case ir.Tid:
		return types.Int{Size: 4, Signed: true}
	case ir.Comm:
		return types.String{Cap: 16}
	case ir.CPU:
		return types.Int{Size: 4}
	case ir.Time, ir.Elapsed:
		return types.Duration{Unit: types.NS, Size: 8}
	case ir.Kstack:
		return types.Stack{}
	case ir.Ret:
		return types.Int{Size: 8, Signed: true}
	case ir.IP, ir.Func:
		return types.Int{Size: 8, Form: types.Ksym}
	}
	return types.Int{Size: 8, Form: types.Hex}
}

// context checks `$name` of the stage v; v is nil where it is not said which.
func (sc *scope) context(e *syntax.Context, v *stageView, sp source.Span) ir.Expr {
	c := sc.c
	kind, known := contextKinds[e.Name]
	switch {
	case !known:
		c.unknownContext(e.Span(), e.Name)
		return c.invalid(sp)
	case sc.own != nil && sc.below && sc.outer.bare() != nil:
		return sc.outer.context(e, sc.outer.bare(), sp) // an emit: of the single stage
	case sc.own != nil:
		c.contextInHaving(e.Span(), e.Name, sc.below)
		return c.invalid(sp)
	case len(sc.stages) == 0:
		c.contextInConstant(e.Span(), e.Name)
		return c.invalid(sp)
	case v == nil && kind == ir.Elapsed && !slices.ContainsFunc(sc.stages, func(v *stageView) bool { return isSpan(v.stage.Source) }):
		c.noElapsedJoin(e.Span(), sc.stages)
		return c.invalid(sp)
	case v == nil:
		c.missingStage(e.Span(), "$"+e.Name, sc.stages)
		return c.invalid(sp)
	case v.stage.Source == nil:
		return c.invalid(sp)
	}
	x := &ir.Context{At: ir.At{T: contextType(kind), Sp: sp}, Stage: v.index, Kind: kind}
	probe, _ := v.stage.Source.(*ir.Probe)
	wantsArg := kind == ir.Reg || kind == ir.StackWord || kind == ir.Arg
	switch {
	case kind == ir.Ret:
		t, ok := resultType(v.stage.Source)
		if !ok {
			c.noReturnValue(e.Span(), v)
			return c.invalid(sp)
		}
		x.T = t
	case kind == ir.Elapsed && !isSpan(v.stage.Source):
		c.noElapsed(e.Span(), v)
		return c.invalid(sp)
	case kind == ir.Func:
		return textConst(sourceWord(v.stage.Source), sp)
	case wantsArg && probe == nil || kind == ir.IP && probe == nil:
		c.onlyInKprobe(e.Span(), e.Name)
		return c.invalid(sp)
	case kind == ir.IP:
		return ipOf(x, probe)
	case wantsArg != (e.Args != nil):
		c.contextArgument(e.Span(), e.Name, wantsArg)
		return c.invalid(sp)
	}
	if wantsArg && !sc.contextArg(x, e, probe) {
		return c.invalid(sp)
	}
	return x
}

// ipOf completes `$ip`: where the probe is, at a return the function that
// returns (kernel/trace/trace_probe.h, FIELD_STRING_IP and FIELD_STRING_FUNC).
func ipOf(x *ir.Context, probe *ir.Probe) ir.Expr {
	x.Reg = "__probe_ip"
	if probe.End != ir.EndEnter {
		x.Reg = "__probe_func"
	}
	if len(probe.Sites) > 0 { // in user space, where the kernel knows no names
		x.T = types.Int{Size: 8, Form: types.Hex}
	}
	return x
}

// contextArg checks the argument of $reg, $stack and $arg.
func (sc *scope) contextArg(x *ir.Context, e *syntax.Context, probe *ir.Probe) bool {
	c := sc.c
	if len(e.Args) != 1 {
		c.argumentCount(e.Span(), "$"+e.Name, 1, 1, len(e.Args))
		return false
	}
	if x.Kind == ir.Reg {
		id, ok := e.Args[0].(*syntax.Ident)
		if !ok {
			c.wantRegister(e.Args[0].Span(), c.t.Arch().Registers())
			return false
		}
		for _, r := range c.t.Arch().Registers() {
			if r == id.Text() {
				x.Reg = r
				return true
			}
		}
		c.unknownRegister(id.Span(), id.Text(), c.t.Arch().Registers(), string(c.t.Arch()))
		return false
	}
	n, ok := constInt(c.expr(e.Args[0], sc))
	least, most := int64(0), int64(ir.MaxStackWord)
	if x.Kind == ir.Arg {
		least = 1
		if probe.Offset != 0 && !probe.Addressed {
			c.argumentsInside(e.Span(), probe.Symbol)
			return false
		}
	}
	if !ok || n < least || n > most {
		c.contextNumber(e.Args[0].Span(), e.Name, least, most)
		return false
	}
	x.N = int(n)
	return true
}

// resultType returns the type of what a source's call returns; false if it is no
// call, has not returned, or returns nothing.
func resultType(s ir.Source) (types.Type, bool) {
	switch s := s.(type) {
	case *ir.Syscall:
		// A number if all went well, else an errno below zero: shown by name.
		return types.Int{Size: 8, Signed: true, Form: types.Errno}, s.End != ir.EndEnter
	case *ir.Probe:
		if s.Place != ir.AtFunc && s.Place != ir.AtUserFunc || s.End == ir.EndEnter {
			return nil, false
		}
		switch t := s.Result.(type) {
		case nil:
			return types.Int{Size: 8, Form: types.Hex}, true
		case types.Void:
			return nil, false
		default:
			return t, true
		}
	}
	return nil, false
}

// sourceWord is what $func is of a source: the name of its function, call or
// event.
func sourceWord(s ir.Source) string {
	switch s := s.(type) {
	case *ir.KernelEvent:
		return s.Format.Name
	case *ir.Derived:
		return s.Event.Name
	case *ir.Syscall:
		return s.Name
	case *ir.Probe:
		return s.Symbol
	}
	return ""
}
