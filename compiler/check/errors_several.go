package check

import (
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
)

// This file words what is wrong with a statement about several sources.

// noteSource says for which of several sources the errors since list[from] are.
func (c *checker) noteSource(from int, src *syntax.Source) {
	for i := from; i < len(c.list); i++ {
		c.list[i].Notes = append(c.list[i].Notes, place(src.Span(), "of this source"))
	}
}

// sayOnce keeps, of the same mistake with several sources since list[from], the
// first, and tells how many more there are.
func (c *checker) sayOnce(from int) {
	type mistake struct {
		severity diag.Severity
		code     diag.Code
		span     source.Span
	}
	first := map[mistake]int{} // in kept
	more := map[mistake]map[string]bool{}
	kept := c.list[:from:from]
	for _, d := range c.list[from:] {
		m := mistake{d.Severity, d.Code, d.Span}
		at, again := first[m]
		if !again {
			first[m] = len(kept)
			more[m] = map[string]bool{}
			kept = append(kept, d)
			continue
		}
		if d.Message != kept[at].Message {
			more[m][d.Message] = true
		}
	}
	for m, at := range first {
		switch n := len(more[m]); n {
		case 0:
		case 1:
			kept[at].Notes = append(kept[at].Notes, todo("so it is with one more of the sources"))
		default:
			kept[at].Notes = append(kept[at].Notes, todo("so it is with %d more of the sources", n))
		}
	}
	c.list = kept
}
