package check

import (
	"sort"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/ir"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/lang/types"
)

// sameKind reports whether a and b are both numbers, durations, texts or truth
// values.
func sameKind(a, b types.Type) bool {
	kind := func(t types.Type) int {
		switch t.(type) {
		case types.Int, types.Untyped:
			return 1
		case types.Duration:
			return 2
		case types.String:
			return 3
		case types.Bool:
			return 4
		}
		return 0
	}
	return kind(a) == kind(b)
}

func (c *checker) invalidConst(sp source.Span) *ir.Const { return c.invalid(sp).(*ir.Const) }

// constant returns the value of a param or const, nil if name is neither.
func (c *checker) constant(id *syntax.Ident) *ir.Const {
	d, ok := c.decls[id.Text()]
	if !ok {
		return nil
	}
	switch d.item.(type) {
	case *syntax.Param, *syntax.Const:
	default:
		return nil
	}
	d.used = true
	if d.state == open {
		c.recursiveConst(id.Span(), d.name)
		return c.invalidConst(id.Span())
	}
	c.resolve(d)
	return d.value
}

// constNames lists the params and consts, for a near one.
func (c *checker) constNames() []string {
	var out []string
	for _, d := range c.order {
		switch d.item.(type) {
		case *syntax.Param, *syntax.Const:
			out = append(out, d.name)
		}
	}
	sort.Strings(out)
	return out
}

// optionNames are the options of the language.
var optionNames = []string{"group", "instance", "buffer", "clock", "overwrite", "maxactive", "paused", "functions"}

// options checks the option statements and fills in the defaults.
func (c *checker) options(items []syntax.Item) {
	o := &c.prog.Options
	first := map[string]source.Span{}
	for _, item := range items {
		opt, ok := item.(*syntax.Option)
		if !ok {
			continue
		}
		name := opt.Name.Text()
		if at, taken := first[name]; taken {
			c.duplicateName(opt.Name.Span(), name, at)
			continue
		}
		first[name] = opt.Name.Span()
		switch name {
		case "group":
			if v, ok := c.optionWord(opt); ok {
				switch {
				case v == "synthetic":
					c.syntheticGroup(opt.Value.Span(), "")
				case !command.ValidGroup(v):
					c.invalidName(opt.Value.Span(), "group", v, "a group's name is made of letters, digits, '_' and '-', and has at most 63 characters")
				default:
					o.Group = v
				}
			}
		case "instance":
			if v, ok := c.optionWord(opt); ok {
				if !plan.ValidInstance(v) {
					c.invalidName(opt.Value.Span(), "instance", v, plan.InstanceRule)
					continue
				}
				o.Instance = v
			}
		case "functions":
			if v, ok := c.optionWord(opt); ok {
				if v != "auto" && v != "kprobe" && v != "fprobe" {
					c.optionValue(opt.Value.Span(), name, v, []string{"auto", "kprobe", "fprobe"})
					continue
				}
				o.Functions = v
			}
		case "buffer":
			if n, ok := opt.Value.(*syntax.Number); ok && strings.TrimLeft(n.Raw, "0123456789_") == "" {
				c.sizeWithoutUnit(n)
				continue
			}
			if v, ok := c.optionNumber(opt, 1, 1<<40); ok {
				o.BufferKB = int((v + 1023) / 1024)
				o.Settings = opt.Span()
			}
		case "maxactive":
			if v, ok := c.optionNumber(opt, 1, command.MaxActive); ok {
				o.MaxActive = int(v)
			}
		case "clock":
			if v, ok := c.optionWord(opt); ok {
				if !contains(clocks, v) {
					c.optionValue(opt.Value.Span(), name, v, clocks)
					continue
				}
				o.Clock, o.Settings = v, opt.Span()
			}
		case "overwrite":
			if v, ok := c.optionWord(opt); ok {
				switch v {
				case "yes":
					o.Overwrite = "1"
				case "no":
					o.Overwrite = "0"
				default:
					c.optionValue(opt.Value.Span(), name, v, []string{"yes", "no"})
					continue
				}
				o.Settings = opt.Span()
			}
		case "paused":
			if opt.Value != nil {
				c.err(diag.UnknownOption, opt.Value.Span(), "option 'paused' takes no value", todo("leave it out"))
				continue
			}
			o.Paused, o.Settings = true, opt.Span()
		default:
			c.unknownOption(opt.Name.Span(), name)
		}
	}
	if o.Group == "" {
		o.Group = c.defaultGroup()
	}
}

// clocks are the trace clocks that count nanoseconds, in which $time is
// (kernel/trace/trace.c, trace_clocks).
var clocks = []string{"local", "global", "perf", "mono", "mono_raw", "boot", "tai"}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// optionNumber returns an option's value that is a whole number, or a size in
// bytes.
func (c *checker) optionNumber(opt *syntax.Option, least, most uint64) (uint64, bool) {
	if n, ok := opt.Value.(*syntax.Number); ok {
		v, unit, err := n.Value()
		if err == nil && unit == "" && v >= least && v <= most {
			return v, true
		}
	}
	at := opt.Name.Span()
	if opt.Value != nil {
		at = opt.Value.Span()
	}
	c.optionWantsNumber(at, opt.Name.Text(), least, most)
	return 0, false
}

// optionWord returns an option's value: a name or a quoted text.
func (c *checker) optionWord(opt *syntax.Option) (string, bool) {
	switch v := opt.Value.(type) {
	case *syntax.Ident:
		return v.Text(), true
	case *syntax.String:
		if s, err := v.Value(); err == nil {
			return s, true
		}
	}
	at := opt.Name.Span()
	if opt.Value != nil {
		at = opt.Value.Span()
	}
	c.optionWants(at, opt.Name.Text())
	return "", false
}

// defaultGroup names the group of a script's events: after the script, or as the
// kernel names that of all kprobes it makes while it boots.
func (c *checker) defaultGroup() string {
	if c.t.Booting() {
		return "kprobes"
	}
	return groupAfter(c.src.Name())
}

// groupAfter makes a group of a script's name: "tools/openat.ep" gives
// "ep_openat", standard input and a script on the command line ("-", "-e") "ep".
func groupAfter(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	if strings.HasPrefix(name, "-") {
		return "ep"
	}
	name = strings.TrimSuffix(name, ".ep")
	var b strings.Builder
	b.WriteString("ep_")
	for i := 0; i < len(name) && b.Len() < 63; i++ {
		ch := name[i]
		if ch >= '0' && ch <= '9' || ch|0x20 >= 'a' && ch|0x20 <= 'z' {
			b.WriteByte(ch)
		} else {
			b.WriteByte('_')
		}
	}
	if g := strings.TrimRight(b.String(), "_"); g != "ep" {
		return g
	}
	return "ep"
}

// template checks the form of a line, `{field}` or `{field:type}`, and returns
// its text.
func (c *checker) template(s *syntax.String, vars []ir.Var) string {
	if s == nil {
		return ""
	}
	text, err := s.Value()
	if err != nil {
		c.badNumber(s.Span(), s.Raw, err.Error())
		return ""
	}
	shown := false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '}':
			if i+1 < len(text) && text[i+1] == '}' {
				i++
				continue
			}
			c.strayBrace(placed(s, text, i, i+1), "}")
			return text
		case '{':
			if i+1 < len(text) && text[i+1] == '{' {
				i++
				continue
			}
			end := strings.IndexByte(text[i:], '}')
			if end < 0 {
				c.strayBrace(placed(s, text, i, i+1), "{")
				return text
			}
			c.placeholder(s, text, i+1, i+end, vars)
			shown = true
			i += end
		}
	}
	c.likelyForm(s, text, shown, vars)
	return text
}

// placeholder checks one `{name}` or `{name:type}` of a form, at [lo, hi) of it.
func (c *checker) placeholder(s *syntax.String, form string, lo, hi int, vars []ir.Var) {
	name, typ, typed := strings.Cut(form[lo:hi], ":")
	at := placed(s, form, lo, lo+len(name))
	names := make([]string, 0, len(vars))
	found := false
	var field types.Type
	if context, ok := strings.CutPrefix(name, "$"); ok {
		kind, known := contextKinds[context]
		found = known && kind < ir.Kstack // what every record has
	}
	for _, v := range vars {
		names = append(names, v.Name)
		if v.Name == name {
			found, field = true, v.Type
		}
	}
	if !found {
		c.unknownPlaceholder(at, name, names)
	}
	if typed {
		typeAt := placed(s, form, lo+len(name)+1, hi)
		t, ok := types.Basic(typ)
		if !ok {
			c.unknownType(typeAt, typ)
		} else if field != nil && types.Scalar(field) && types.Scalar(t) && !types.SameWidth(field, t) {
			c.otherWidth(typeAt, "'"+name+"' ("+kindName(field)+")", field, t)
		}
	}
}
