package check

import (
	"fmt"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// This file words what is wrong with the language's functions and with values of
// the context.

func (c *checker) unknownFunction(sp source.Span, name string) {
	message := fmt.Sprintf("there is no function '%s'", name)
	if ours := foreignFunctions[name]; ours != "" {
		c.err(diag.UnknownFunction, sp, message, todo("did you mean '%s'?", ours))
		c.fix(ours)
		return
	}
	if instead := insteadOf[name]; instead != "" {
		c.err(diag.UnknownFunction, sp, message, todo("%s", instead))
		return
	}
	names := sortedKeys(functions)
	c.unknown(diag.UnknownFunction, sp, name, message, names, todo("the functions are %s", strings.Join(names, ", ")))
}

// foreignFunctions are functions of other tools that ep calls otherwise.
var foreignFunctions = map[string]string{
	"string": "str", "ustring": "str", "kstr": "str", "hist": "log2", "lhist": "bucket", "buckets": "bucket",
	"quantize": "log2", "lquantize": "bucket", "file_path": "path",
}

// insteadOf are functions of other tools for what ep says without a function.
var insteadOf = map[string]string{
	"ksym": "write 'x as ksym'", "sym": "write 'x as ksym'", "ntop": "write 'x as ip'", "strncmp": "write '==', or '~ \"abc*\"'",
	"strcmp": "write '=='", "count": "'count' is always there in a histogram", "max": "the greatest so far is 'emit on max(E)' of an event",
	"min": "the kernel keeps no least value", "ntohs": "write 'x as be16'", "ntohl": "write 'x as be32'", "bswap": "write 'x as be16' or 'x as be32'",
}

func (c *checker) argumentCount(sp source.Span, name string, least, most, got int) {
	want := fmt.Sprint(least)
	if most != least {
		want = fmt.Sprintf("%d or %d", least, most)
	}
	noun := "arguments"
	if most == 1 {
		noun = "argument"
	}
	c.err(diag.BadArgument, sp, fmt.Sprintf("'%s' wants %s %s, got %d", name, want, noun, got), todo("write '%s'", usage[name]))
}

// usage shows how each function and value with arguments is written.
var usage = map[string]string{
	"str": "str(pointer)", "enter": "enter(value)", "bits": "bits(value, offset, width)", "sys": "sys(openat)",
	"path": "path(file)", "dentry": "dentry(pointer)", "addr": "addr(symbol)", "log2": "log2(value)",
	"bucket": "bucket(value, width)", "sum": "sum(value)", "avg": "avg(value)",
	"$reg": "$reg(name)", "$stack": "$stack(0)", "$arg": "$arg(1)",
}

func (c *checker) stringLength(sp source.Span) {
	c.err(diag.BadArgument, sp, fmt.Sprintf("a string's length must be a constant of 1 to %d", command.MaxArray), todo("leave it out to read to the end"))
}

func (c *checker) userStringLength(sp source.Span, p string) {
	c.err(diag.BadArgument, sp, "a probe copies no fixed number of bytes from user memory", todo("write 'str(%s)', which reads to the end", p))
}

func (c *checker) onlyInHist(sp source.Span, name string) {
	c.err(diag.MisplacedValue, sp, fmt.Sprintf("'%s' is for histograms only", name), todo("use it in 'hist … by' or in its values"))
}

func (c *checker) enterInJoin(e *syntax.Call) {
	c.err(diag.MisplacedValue, e.Func.Span(), "a join cannot read at the entry of a stage",
		todo("make the span an event of its own, with the field 'early = %s', and join that event; 'let' reads when its stage happens", c.src.Slice(e.Span())))
}

func (c *checker) enterOutsideSpan(sp source.Span) {
	c.err(diag.MisplacedValue, sp, "enter() is for spans: 'syscall X', 'func F'", todo("an event with one end reads when it happens; leave out 'enter'"))
}

func (c *checker) notAtEntry(x *ir.Context) {
	c.err(diag.MisplacedValue, x.Span(), fmt.Sprintf("'$%s' is not known at the entry", x.Kind), todo("take it out of enter()"))
}

func (c *checker) bitRange(sp source.Span, what string, least, most int64) {
	c.err(diag.BadArgument, sp, fmt.Sprintf("the %s of bits() must be a constant of %d to %d here", what, least, most), todo("bits(x, offset, width) stays within x"))
}

func (c *checker) noReturnValue(sp source.Span, v *stageView) {
	note := todo("'$ret' is a call's: 'syscall X' or 'syscall X.exit'")
	if p, ok := v.stage.Source.(*ir.Probe); ok {
		note = todo("'$ret' is a function's at its exit: '%s %s'", probeWord(p), p.Symbol)
		if _, void := p.Result.(types.Void); void && p.End != ir.EndEnter {
			note = todo("it returns nothing")
		}
	}
	if t, ok := v.lookup("ret"); ok {
		note = todo("the event has a field 'ret' (%s)", t)
	}
	c.err(diag.MisplacedValue, sp, fmt.Sprintf("%s has no return value", sourceName(v.stage.Source)), note)
}

func (c *checker) noElapsed(sp source.Span, v *stageView) {
	of := "syscall X"
	if p, ok := v.stage.Source.(*ir.Probe); ok && p.End == ir.EndExit {
		of = probeWord(p) + " " + p.Symbol
	}
	c.err(diag.MisplacedValue, sp, fmt.Sprintf("%s has no length of time", sourceName(v.stage.Source)),
		todo("'$elapsed' is a span's: '%s'; in a join write 'b.$time - a.$time'", of))
}

// noElapsedJoin is for a join without spans, whose length of time is the
// difference of two stages' times.
func (c *checker) noElapsedJoin(sp source.Span, stages []*stageView) {
	first, last := stages[0].stage.Alias, stages[len(stages)-1].stage.Alias
	if first == "" || last == "" {
		first, last = "a", "b"
	}
	c.err(diag.MisplacedValue, sp, "no stage of this join has a length of time",
		todo("write '%s.$time - %s.$time'", last, first))
}

func (c *checker) onlyInKprobe(sp source.Span, name string) {
	c.err(diag.MisplacedValue, sp, fmt.Sprintf("'$%s' is for 'kprobe' only", name), todo("events have fields; calls have arguments by name"))
}

func (c *checker) contextArgument(sp source.Span, name string, wanted bool) {
	if wanted {
		c.err(diag.BadArgument, sp, fmt.Sprintf("'$%s' wants an argument", name), todo("write '$%s(…)'", name))
		return
	}
	c.err(diag.BadArgument, sp, fmt.Sprintf("'$%s' takes no argument", name), todo("write '$%s'", name))
}

func (c *checker) contextNumber(sp source.Span, name string, least, most int64) {
	c.err(diag.BadArgument, sp, fmt.Sprintf("'$%s' wants a constant of %d to %d", name, least, most), todo("write '$%s(%d)'", name, least))
}

func (c *checker) wantRegister(sp source.Span, have []string) {
	c.err(diag.BadArgument, sp, "want a register's name", todo("the registers are %s", strings.Join(have, " ")))
}

func (c *checker) unknownRegister(sp source.Span, name string, have []string, arch string) {
	notes := []diag.Note{todo("the registers are %s", strings.Join(have, " "))}
	if short, ok := strings.CutPrefix(name, "r"); ok && arch == "x86_64" {
		for _, r := range have {
			if r == short {
				c.err(diag.BadArgument, sp, fmt.Sprintf("%s has no register '%s'", arch, name), todo("the kernel calls it '%s'", short))
				c.fix(short)
				return
			}
		}
	}
	c.err(diag.BadArgument, sp, fmt.Sprintf("%s has no register '%s'", arch, name), notes...)
}
