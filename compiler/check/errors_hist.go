package check

import (
	"fmt"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// This file words what is wrong with histograms and with what the kernel is to
// do.

func (c *checker) countTaken(sp source.Span) {
	c.err(diag.DuplicateName, sp, "'count' is the number of events, which every histogram has", todo("leave it out, or choose another name"))
}

// countNamed is about a key that takes the name of its field, which is 'count'.
func (c *checker) countNamed(sp source.Span) {
	c.err(diag.DuplicateName, sp, "'count' is the number of events, which every histogram has", todo("give the key a name: 'size = %s'", c.src.Slice(sp)))
}

func (c *checker) keyWantsName(sp source.Span) {
	c.err(diag.BadKey, sp, "this key has no name", todo("write 'name = %s'", c.src.Slice(sp)))
}

func (c *checker) notAKey(x ir.Expr) {
	c.err(diag.BadKey, x.Span(), fmt.Sprintf("%s cannot be a key", c.describe(x)), todo("a key is a number, a text or a stack"))
}

func (c *checker) bucketUnit(sp source.Span, u types.Unit) {
	c.err(diag.ConstantOutOfRange, sp, fmt.Sprintf("a bucket must be a whole number of %s wide", u), todo("convert the key: 'bucket(x as ns, …)'"))
}

func (c *checker) bucketZero(sp source.Span) {
	c.err(diag.ConstantOutOfRange, sp, "a bucket must be 1 or more wide", todo("write 'bucket(x, 100)'"))
}

// valueForm is about a value that is not the sum or the mean of something: a name
// alone, a call of another function, or an expression.
func (c *checker) valueForm(sp source.Span, name *syntax.Ident, call *syntax.Call) {
	note := todo("'count' is always there")
	switch text := c.src.Slice(sp); {
	case call != nil && insteadOf[call.Func.Text()] != "":
		note = todo("%s", insteadOf[call.Func.Text()])
	case call == nil && name != nil && name.Span() == sp:
		note = todo("write '%s = sum(%s)'", text, text)
	}
	c.err(diag.BadArgument, sp, "a histogram's value is 'name = sum(E)' or 'name = avg(E)'", note)
}

func (c *checker) tooManyHistKeys(sp source.Span, n int) {
	c.err(diag.TooManyKeys, sp, fmt.Sprintf("there are %d keys; the kernel allows %d", n, command.MaxHistKeys), todo("leave one out"))
}

func (c *checker) tooManyValues(sp source.Span, n int) {
	c.err(diag.TooManyFields, sp, fmt.Sprintf("the histogram adds up %d values; the kernel adds up %d", n, command.MaxHistVals), todo("make a second histogram with the others"))
}

func (c *checker) tooManySorts(sp source.Span, n int) {
	c.err(diag.TooManyFields, sp, fmt.Sprintf("the histogram is sorted by %d columns; the kernel sorts by %d", n, command.MaxSort), todo("leave one out"))
}

func (c *checker) unknownSort(sp source.Span, name string, names []string) {
	c.unknown(diag.UnknownName, sp, name, fmt.Sprintf("the histogram has no column '%s' to sort by", name), names, todo("it has %s", some(names, 12)))
}

func (c *checker) neverStarted(sp source.Span, name string) {
	c.add(diag.Warning, diag.ConstantCondition, sp, fmt.Sprintf("'%s' is paused and nothing starts it", name), todo("add 'on … do start %s', or take 'paused' out", name))
}

func (c *checker) recordOfTracers(sp source.Span, name string) {
	c.err(diag.UnknownEvent, sp, fmt.Sprintf("'%s' is a record of the kernel's tracers, which nothing can be put on", name), todo("of that group only 'ftrace.print' is an event: what programs write to trace_marker"))
}

func (c *checker) alwaysOn(sp source.Span, name string) {
	c.err(diag.UnknownEvent, sp, fmt.Sprintf("'%s' is always on", name), todo("start or stop recording itself: 'do start', 'do stop'"))
}
