package lower

import (
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/types"
)

// A stack is kept by a variable at the moment it is of, common_stacktrace, and a
// synthetic event gets it from that variable. It goes no further: a variable
// that is made of a synthetic event's stack, or of another variable, keeps the
// stack of its own moment, or where the other keeps one (trace_events_hist.c,
// hist_trigger_elt_update calls stack_trace_save for both). Only as a key is a
// synthetic event's stack what it says.

// stackStage returns the step that a stack is of.
func stackStage(x ir.Expr) (int, bool) {
	if e, ok := x.(*ir.Early); ok {
		x = e.X
	}
	c, ok := uncast(x).(*ir.Context)
	if !ok || c.Kind != ir.Kstack {
		return 0, false
	}
	return c.Stage, true
}

// stackOf is the stack of a step, in place of x.
func stackOf(stage int, x ir.Expr) ir.Expr {
	return &ir.Context{At: ir.At{T: x.Type(), Sp: x.Span()}, Stage: stage, Kind: ir.Kstack}
}

func hasStack(f *ir.Field) bool { return isStack(f.Value) }

func isStack(x ir.Expr) bool {
	_, ok := x.Type().(types.Stack)
	return ok
}
