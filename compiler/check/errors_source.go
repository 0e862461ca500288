package check

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
)

// This file words what is wrong with the sources of events: names that are not
// there, or that cannot be used.

func (c *checker) notAnEvent(sp source.Span, name string, at source.Span) {
	c.err(diag.UnknownEvent, sp, fmt.Sprintf("'%s' is no event", name), place(at, "it is declared here"))
}

// unknownEventName reports a source of one name that is no event of the script.
func (c *checker) unknownEventName(sp source.Span, name string) {
	if systems := c.t.EventNamed(name); len(systems) > 0 {
		full := systems[0] + "." + name
		c.err(diag.UnknownEvent, sp, fmt.Sprintf("the script has no event '%s'", name),
			todo("the target's event is written '%s'", full))
		c.fix(full)
		return
	}
	note := todo("an event of the target is written with its group: 'sched.sched_switch'")
	if _, ok := c.t.Syscall(name); ok {
		note = todo("the system call is written 'syscall %s'", name)
	} else if state, err := c.t.Symbol(name); err == nil && (state == target.SymbolProbeable || state == target.SymbolFprobeOnly) {
		note = todo("the function of the kernel is written 'func %s'", name)
	}
	c.unknown(diag.UnknownEvent, sp, name, fmt.Sprintf("the script has no event '%s'", name), c.eventNames(), note)
}

// eventNames lists the script's events.
func (c *checker) eventNames() []string {
	var out []string
	for _, d := range c.order {
		if _, ok := d.item.(*syntax.Event); ok {
			out = append(out, d.name)
		}
	}
	return out
}

// unknownEvent reports `group.name` that the target has not: a near name in
// the group, the same name in another, or a near group.
func (c *checker) unknownEvent(q *syntax.QName, group, name string) {
	message := fmt.Sprintf("target '%s' has no event '%s.%s'", c.t.Name(), group, name)
	if events, err := c.t.Events(group); err == nil && len(events) > 0 {
		if systems := c.t.EventNamed(name); len(systems) > 0 {
			c.err(diag.UnknownEvent, q.Span(), message, todo("did you mean '%s.%s'?", systems[0], name))
			c.fix(systems[0] + "." + name)
			return
		}
		notes := []diag.Note{}
		if group == "syscalls" {
			notes = append(notes, todo("'syscall %s' works where the kernel has no such event", strings.TrimPrefix(strings.TrimPrefix(name, "sys_enter_"), "sys_exit_")))
		}
		if len(notes) == 0 {
			notes = append(notes, todo("'%s' has %s", group, some(events, 8)))
		}
		c.unknown(diag.UnknownEvent, q.Name.Span(), name, message, events, notes...)
		return
	}
	for _, d := range c.eventNames() {
		if d == name {
			c.err(diag.UnknownEvent, q.Span(), message, todo("the script's event is written '%s'", name))
			c.fix(name)
			return
		}
	}
	systems, _ := c.t.Systems()
	if near, ok := diag.Near(group, systems); ok && c.hasEventLike(near, name) {
		c.err(diag.UnknownEvent, q.Group.Span(), message, todo("did you mean '%s'?", near))
		c.fix(near)
		return
	}
	c.err(diag.UnknownEvent, q.Span(), message,
		todo("the target has no group '%s'; a module that is not loaded, or a kernel option, may bring it", group))
}

// hasEventLike reports whether the target's group has an event of about the name.
func (c *checker) hasEventLike(group, name string) bool {
	events, err := c.t.Events(group)
	_, near := diag.Near(name, events)
	return err == nil && (near || slices.Contains(events, name))
}

func (c *checker) unreadableEvent(sp source.Span, group, name string, err error) {
	why, note := err.Error(), todo("compile against a saved target")
	if errors.Is(err, fs.ErrPermission) {
		why, note = "permission denied", todo("run as root, or compile against a saved target")
	}
	c.err(diag.UnreadableEvent, sp, fmt.Sprintf("cannot read the format of '%s.%s': %s", group, name, why), note)
}

func (c *checker) badSyscallName(sp source.Span, example string) {
	c.err(diag.UnknownSyscall, sp, "want the name of a system call", todo("write '%s'", example))
}

func (c *checker) unknownSyscall(sp source.Span, name string) {
	var notes []diag.Note
	if bare, ok := strings.CutPrefix(name, "sys_"); ok {
		if _, ok := c.t.Syscall(bare); ok {
			notes = append(notes, todo("write '%s'", bare))
		}
	}
	message := fmt.Sprintf("%s has no system call '%s'", c.t.Arch(), name)
	if newer, ok := c.newerSyscall(name); ok {
		c.err(diag.UnknownSyscall, sp, message, todo("programs call '%s' there", newer))
		return
	}
	if len(notes) > 0 {
		c.err(diag.UnknownSyscall, sp, message, notes...)
		return
	}
	c.unknown(diag.UnknownSyscall, sp, name, message, c.t.Syscalls(), todo("'kprobe' can watch a function of the kernel"))
}

func (c *checker) noSyscallEvent(sp source.Span, name string) {
	c.err(diag.UnknownSyscall, sp, fmt.Sprintf("the target does not tell the arguments of '%s'", name),
		todo("declare them by position: 'syscall %s(fd, buf: user *char)'", name))
}

func (c *checker) signatureAtExit(sp source.Span) {
	c.err(diag.MisplacedValue, sp, "a system call's exit has no arguments", todo("leave '.exit' out: 'syscall X' has the arguments and '$ret'"))
}

func (c *checker) badSymbol(sp source.Span, name string) {
	c.err(diag.UnknownSymbol, sp, fmt.Sprintf("'%s' is no kernel symbol", name), todo("a symbol is made of letters, digits, '_' and '.'"))
}

func (c *checker) unknownSymbol(p *ir.Probe) {
	sp, name := p.Span, p.Symbol
	if _, err := c.t.FuncProto("", name); err == nil {
		c.notProbeable(sp, name) // it is no misspelt one
		return
	}
	message := fmt.Sprintf("target '%s' has no function '%s'", c.t.Name(), name)
	// gcc makes NAME.isra.N, NAME.constprop.N, NAME.part.N of a function.
	made, err := c.t.Functions(func(s string) bool { return strings.HasPrefix(s, name+".") })
	if err == nil && len(made) > 0 {
		c.err(diag.UnknownSymbol, sp, message, todo("the compiler made '%s' of it, whose arguments may be others: 'func `%s`.enter'", made[0], made[0]))
		return
	}
	for _, prefix := range []string{"ksys_", "do_sys_", "SyS_", "sys_"} {
		if call, cut := strings.CutPrefix(name, prefix); cut {
			if _, ok := c.t.Syscall(call); ok {
				c.err(diag.UnknownSymbol, sp, message, todo("the system call is written 'syscall %s'", call))
				return
			}
		}
	}
	if near, ok := c.t.NearSymbol(name); ok {
		c.err(diag.UnknownSymbol, sp, message, todo("did you mean '%s'?", near))
		c.fix(near)
		return
	}
	word := probeWord(p)
	if p.Place == ir.AtInstruction {
		word = "kprobe"
	}
	c.err(diag.UnknownSymbol, sp, message, todo("it may be inlined, or be in a module: '%s MODULE:%s'", word, name))
}

// unknownVariable is for a name that is no symbol of the kernel.
func (c *checker) unknownVariable(sp source.Span, name string) {
	message := fmt.Sprintf("target '%s' has no variable '%s'", c.t.Name(), name)
	if near, ok := c.t.NearVariable(name); ok {
		c.err(diag.UnknownSymbol, sp, message, todo("did you mean '%s'?", near))
		c.fix(near)
		return
	}
	c.err(diag.UnknownSymbol, sp, message, todo("/proc/kallsyms lists the kernel's names"))
}

func (c *checker) badModule(sp source.Span, name string) {
	c.err(diag.UnknownSymbol, sp, fmt.Sprintf("no module is called '%s'", name), todo("a module's name is made of letters, digits, '_' and '-'"))
}

func (c *checker) ambiguousSymbol(sp source.Span, name string, modules []string) {
	note := todo("they are static functions of several files; choose one by its distance from '_text' in /proc/kallsyms: 'kprobe _text+OFF', for this kernel build only")
	for _, m := range modules {
		if m != "" {
			note = todo("say which: '%s:%s' is the module's", m, name)
			break
		}
	}
	c.err(diag.AmbiguousSymbol, sp, fmt.Sprintf("target '%s' has %d separate functions called '%s'", c.t.Name(), len(modules), name), note)
}

func (c *checker) onlyFprobe(sp source.Span, name string) {
	c.err(diag.NotProbeable, sp, fmt.Sprintf("the kernel lets no kprobe on '%s'", name), todo("'func %s' may be allowed", name))
}

func (c *checker) notProbeable(sp source.Span, name string) {
	c.err(diag.NotProbeable, sp, fmt.Sprintf("the kernel lets nobody probe '%s'", name),
		todo("probe a function that calls it or that it calls, or use an event of the same moment"))
}

// startOfText is for the mark of the kernel's first code, which is not a function.
func (c *checker) startOfText(sp source.Span, name string) {
	c.err(diag.NotProbeable, sp, fmt.Sprintf("'%s' marks where the kernel's code begins and is not a function", name),
		todo("add an offset to an instruction: 'kprobe %s+OFF'", name))
}

// insideInstruction is for an offset at which no instruction begins.
func (c *checker) insideInstruction(sp source.Span, k *ir.Probe) {
	c.err(diag.NotProbeable, sp, fmt.Sprintf("no instruction of '%s' begins at +%d", k.Symbol, k.Offset),
		todo("'objdump -d' of this kernel's vmlinux shows where they begin"))
}

func (c *checker) dataNotCode(sp source.Span, name string) {
	c.err(diag.NotProbeable, sp, fmt.Sprintf("'%s' is a variable of the kernel, no function", name), todo("'addr(%s)' is its address, for a probe elsewhere to read", name))
}

func (c *checker) syscallWrapper(sp source.Span, name, call string) {
	note := todo("write 'syscall %s.enter'", call)
	if strings.Contains(name, "compat_sys_") || strings.HasPrefix(name, "__ia32_") {
		note = todo("'syscall %s' does not see calls of 32-bit programs either: probe a function that serves all callers, as do_sys_openat2 does for openat", call)
	}
	c.err(diag.SyscallWrapper, sp, fmt.Sprintf("'%s' gets the saved registers, not the arguments", name), note)
}

func (c *checker) argumentsInside(sp source.Span, symbol string) {
	if target.TextStart(symbol) {
		c.err(diag.MisplacedValue, sp, fmt.Sprintf("the arguments of an instruction counted from '%s' are unknown", symbol), todo("read registers with $reg(…)"))
		return
	}
	c.err(diag.MisplacedValue, sp, fmt.Sprintf("there are no arguments in the middle of '%s'", symbol),
		todo("leave the offset out, or read registers with $reg(…)"))
}

func (c *checker) resultOfKprobe(sp source.Span) {
	c.err(diag.MisplacedValue, sp, "a kprobe sees no result", todo("'func F' sees a function's return"))
}
