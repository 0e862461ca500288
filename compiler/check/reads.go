package check

import (
	"fmt"
	"strings"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/types"
)

// This file checks when memory is read. A value behind a pointer is read when
// the event fires, which for a span and a join is its last stage; within
// enter() and let it is read at its stage, and in a where at that stage.
// User memory may not be there when a system call begins, and the caller's
// memory is gone when execve has succeeded.

// readTimes checks all reads of an event.
func (c *checker) readTimes(ev *ir.Event) {
	last := ev.Stages[len(ev.Stages)-1]
	for _, f := range ev.Fields {
		c.reads(ev, f.Value, last.Index, false)
	}
	for _, st := range ev.Stages {
		c.reads(ev, st.Where, st.Index, false)
		for _, k := range st.Keys {
			c.reads(ev, k.Left, stageOf(k.Left), false)
			c.reads(ev, k.Right, st.Index, false)
		}
	}
}

// reads checks the reads in x, which is evaluated when stage at happens.
func (c *checker) reads(ev *ir.Event, x ir.Expr, at int, early bool) {
	ir.Visit(x, func(x ir.Expr) bool {
		switch x := x.(type) {
		case *ir.Early:
			// A let of a span is read when the call returns, enter() when it begins.
			c.reads(ev, x.X, x.Stage, !c.lets[x] || !isSpan(ev.Stages[x.Stage].Source))
			return false
		case *ir.Str:
			c.read(ev, x.Sp, x.X, at, early)
			return false
		case *ir.Load:
			if _, ok := x.X.Type().(types.Pointer); ok {
				c.read(ev, x.Sp, x.X, at, early)
				return false
			}
		}
		return true
	})
}

// read checks one read through the pointer p.
func (c *checker) read(ev *ir.Event, sp source.Span, p ir.Expr, at int, early bool) {
	ptr, ok := p.Type().(types.Pointer)
	if !ok || !ptr.User {
		return
	}
	from := stageOf(p)
	if from < 0 {
		return
	}
	origin := callOf(ev.Stages[from].Source)
	now := callOf(ev.Stages[at].Source)
	switch {
	case origin.name == "":
	case execve(origin.name) && !early && now.name == origin.name && now.end != ir.EndEnter:
		c.memoryGone(sp, c.src.Slice(sp))
	case execve(origin.name):
	case early && now.end == ir.EndBoth, now.end == ir.EndEnter && now.name != "":
		c.userMemoryAtEntry(sp, spanForm(origin.name), now.end == ir.EndBoth)
	}
}

// call is a system call's end.
type call struct {
	name string // "" if it is none; "*" for all
	end  ir.End
}

// callOf tells which system call's end a source is.
func callOf(s ir.Source) call {
	switch s := s.(type) {
	case *ir.Syscall:
		return call{s.Name, s.End}
	case *ir.KernelEvent:
		f := s.Format
		switch {
		case f.System == "raw_syscalls" && f.Name == "sys_enter":
			return call{"*", ir.EndEnter}
		case f.System == "raw_syscalls" && f.Name == "sys_exit":
			return call{"*", ir.EndExit}
		case f.System != "syscalls":
		case strings.HasPrefix(f.Name, "sys_enter_"):
			return call{f.Name[len("sys_enter_"):], ir.EndEnter}
		case strings.HasPrefix(f.Name, "sys_exit_"):
			return call{f.Name[len("sys_exit_"):], ir.EndExit}
		}
	case *ir.Derived:
		if st := s.Event.Stages; len(st) > 0 {
			return callOf(st[len(st)-1].Source)
		}
	}
	return call{}
}

func spanForm(name string) string {
	if name == "*" {
		return "syscall X { … }"
	}
	return fmt.Sprintf("syscall %s { … }", name)
}

func execve(name string) bool { return name == "execve" || name == "execveat" }
