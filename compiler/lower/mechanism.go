package lower

import (
	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
)

// mechanism is the kernel's way to probe a place: it makes the command of an
// event there, and tells what the command needs. A place with several sites has
// a command for each, which the kernel puts together into one event.
type mechanism struct {
	needs   target.Feature
	command func(name command.EventName, args []command.Arg, site int) command.Command
}

// mechanism chooses how to probe a place; nil if the target cannot, which has
// been reported.
//
// A function is probed through function tracing (fprobe) where the target has
// that, else by a breakpoint or jump (kprobe): an fprobe costs less, reaches
// functions that kprobes may not touch, and does not miss returns for want of
// room. `option functions` forces the one or the other.
func (l *lowerer) mechanism(rec *recipe) *mechanism {
	p := rec.steps[0].probe
	switch p.Place {
	case ir.AtInstruction:
		if !l.need(target.KprobeEvents, p.Span, "place a kprobe") {
			return nil
		}
		return l.kprobeAt(p, false, 0)
	case ir.AtTracepoint:
		if !l.t.Has(target.TracepointProbes) {
			l.noTracepointProbe(p)
			return nil
		}
		if !l.noRegister(rec) {
			return nil
		}
		if at, taken := l.tracepoints[p.Symbol]; taken && l.t.Has(target.QuirkOneTracepointProbe) {
			l.secondTracepointProbe(p.Span, p.Symbol, at)
			return nil
		}
		l.tracepoints[p.Symbol] = p.Span
		return &mechanism{target.TracepointProbes, func(name command.EventName, args []command.Arg, _ int) command.Command {
			return &command.Tprobe{EventName: name, Tracepoint: p.Symbol, At: p.Span, Args: args}
		}}
	case ir.AtFunc:
		return l.functionProbe(rec, p)
	case ir.AtUserFunc, ir.AtUser, ir.AtMark:
		if !l.need(target.UprobeEvents, p.Span, "probe user space") {
			return nil
		}
		return &mechanism{target.UprobeEvents, func(name command.EventName, args []command.Arg, site int) command.Command {
			s := p.Sites[site]
			return &command.Uprobe{EventName: name, Return: p.End == ir.EndExit, Path: p.Path, Offset: s.Offset, RefCtr: s.RefCtr, At: p.Span, Args: args}
		}}
	}
	panic("internal error: no mechanism for this place")
}

// functionProbe probes a kernel function's entry or return.
func (l *lowerer) functionProbe(rec *recipe, p *ir.Probe) *mechanism {
	exit := p.End == ir.EndExit
	state, err := l.t.Symbol(qualified(p))
	onlyFprobe := err == nil && state == target.SymbolFprobeOnly
	force := l.prog.Options.Functions
	useFprobe := force == "fprobe" || force == "auto" && l.t.Has(target.FprobeEvents) && register(rec) == nil
	if force == "auto" && l.awaited(p) {
		useFprobe = false // which would be refused
	}
	if onlyFprobe && force == "kprobe" {
		l.kprobeRefused(p.Span, p.Symbol)
		return nil
	}
	if useFprobe || onlyFprobe {
		if !l.need(target.FprobeEvents, p.Span, "place an fprobe") || !l.noRegister(rec) {
			return nil
		}
		return &mechanism{target.FprobeEvents, func(name command.EventName, args []command.Arg, _ int) command.Command {
			return &command.Fprobe{EventName: name, Return: exit, Module: p.Module, Symbol: p.Symbol, At: p.Span, Args: args}
		}}
	}
	if !l.need(target.KprobeEvents, p.Span, "probe a function") {
		return nil
	}
	return l.kprobeAt(p, exit, l.prog.Options.MaxActive)
}

// register returns a register that the recipe reads by its name, nil if none.
func register(rec *recipe) (found *ir.Context) {
	rec.exprs(func(x ir.Expr) {
		ir.Visit(x, func(x ir.Expr) bool {
			if c, ok := x.(*ir.Context); ok && c.Kind == ir.Reg {
				found = c
			}
			return found == nil
		})
	})
	return found
}

// noRegister reports a register where none can be read.
func (l *lowerer) noRegister(rec *recipe) bool {
	if c := register(rec); c != nil {
		l.registerOfFprobe(c.Sp, c.Reg)
		return false
	}
	return true
}

// kprobeAt is a kprobe at an instruction, or a kretprobe; nil if the kernel refuses
// one on this name, which has been reported: it counts all functions of the name,
// also those that cannot be traced.
func (l *lowerer) kprobeAt(p *ir.Probe, exit bool, active int) *mechanism {
	if !p.Addressed && p.Module == "" && l.t.Has(target.UniqueSymbols) {
		if n := l.t.Namesakes(p.Symbol); n > 1 {
			l.ambiguousFunction(p, n)
			return nil
		}
	}
	if !exit {
		active = 0
	}
	symbol := p.Symbol
	if p.Addressed {
		symbol = ""
	}
	return &mechanism{target.KprobeEvents, func(name command.EventName, args []command.Arg, _ int) command.Command {
		return &command.Kprobe{EventName: name, Return: exit, MaxActive: active, Module: p.Module, Symbol: symbol, Offset: p.Offset, At: p.Span, Args: args}
	}}
}

// awaited reports whether a function is one of a module that may not be loaded. A
// kprobe waits for it (kernel/trace/trace_kprobe.c, __register_trace_kprobe); an
// fprobe is refused, and so is $argN at the entry: whether that is an entry cannot
// be seen then.
func (l *lowerer) awaited(p *ir.Probe) bool {
	if p.Module == "" || p.Place != ir.AtInstruction && p.Place != ir.AtFunc {
		return false
	}
	state, err := l.t.Symbol(qualified(p))
	return err != nil || state != target.SymbolProbeable && state != target.SymbolFprobeOnly
}

// qualified is a symbol with its module, as the target's lists have it.
func qualified(p *ir.Probe) string {
	if p.Module != "" {
		return p.Module + ":" + p.Symbol
	}
	return p.Symbol
}
