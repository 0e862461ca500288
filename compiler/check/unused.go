package check

import (
	"fmt"

	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
)

// checkUnused warns of what a script without errors declares and no other
// statement names.
func (c *checker) checkUnused(script *syntax.Script) {
	if c.list.HasErrors() {
		return
	}
	if len(script.Items) == 0 {
		c.add(diag.Warning, diag.Unused, source.NoSpan, "the script is empty: it does nothing", todo("begin with 'trace SOURCE'; 'ep list' shows sources"))
		return
	}
	for _, d := range c.order {
		if d.used || d.name == "" || c.decls[d.name] != d {
			continue
		}
		switch d.item.(type) {
		case *syntax.Event:
			if d.event != nil {
				c.unused(d.span, "event", d.name, fmt.Sprintf("add 'trace %s' to see its records; the kernel makes the event all the same", d.name))
			}
		case *syntax.Param:
			c.unused(d.span, "param", d.name, "use it, or take it out: setting it changes nothing")
		case *syntax.Const:
			c.unused(d.span, "const", d.name, "use it, or take it out")
		}
	}
	for _, name := range sortedKeys(c.modules) {
		if m := c.modules[name]; m.check != nil && !m.used {
			c.unused(m.span, "module", name, fmt.Sprintf("its events are '%s.NAME'; nothing of a module runs by itself", name))
		}
	}
}

func (c *checker) unused(sp source.Span, what, name, do string) {
	c.add(diag.Warning, diag.Unused, sp, fmt.Sprintf("nothing uses %s '%s'", what, name), todo("%s", do))
}
