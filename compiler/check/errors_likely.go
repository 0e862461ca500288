package check

import (
	"fmt"

	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// This file words what is allowed and likely not meant.

func (c *checker) wrongTask(x *ir.Context, src, thread, instead string) {
	c.add(diag.Warning, diag.WrongTask, x.Sp, fmt.Sprintf("the thread of %s is %s", src, thread), todo("%s", instead))
}

func (c *checker) neverReturns(sp source.Span, call string) {
	c.add(diag.Warning, diag.NeverReturns, sp, fmt.Sprintf("a thread does not return from '%s'", call), todo("write 'syscall %s.enter'", call))
}

func (c *checker) unsureKey(sp source.Span, name, with, why string) {
	c.add(diag.Warning, diag.UnsureKey, sp, fmt.Sprintf("'%s' alone does not tell what belongs together: %s", name, why), todo("add the key '%s'", with))
}

func (c *checker) tableFills(sp source.Span, or string) {
	notes := []diag.Note{todo("say how many there may be: 'size 65536'; what is lost is counted")}
	if or != "" {
		notes = append(notes, todo("%s", or))
	}
	c.add(diag.Warning, diag.TableFills, sp, "there is no end of such keys, and the table has 2048 entries, of which none is freed", notes...)
}

func (c *checker) keysContradict(sp source.Span, a, b string) {
	c.err(diag.KeysNeverMatch, sp, fmt.Sprintf("the keys can never be equal: one is %s, the other %s", a, b), todo("the conditions of the stages say so"))
}

func (c *checker) anyBit(b *ir.Binary, name, other string) {
	text := c.src.Slice(b.Span())
	c.add(diag.Warning, diag.AnyBit, b.Span(), fmt.Sprintf("any bit of '%s' makes this true, and '%s' has some of them", name, other),
		todo("if all are meant, write '%s == %s'", text, c.src.Slice(b.Y.Span())))
}
