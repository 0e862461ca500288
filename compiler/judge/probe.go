package judge

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
)

// probe is the line of a probe while it is judged.
type probe struct {
	j      *Judge
	line   string
	words  []string // of the line: its head, its place, its arguments, an eprobe's condition
	kind   kind
	exit   bool // at a function's return
	entry  bool // at a function's first instruction, where its arguments are
	on     *event
	module string        // of the function, "" for the kernel itself
	symbol string        // the function or tracepoint, "" if not known
	proto  *target.Proto // of symbol; see prototype
	looked bool
	// What was found so far.
	place    string
	fields   []target.Field
	args     []string // "NAME=BODY"
	types    []command.FetchType
	misleads []string
}

// makeProbe makes an event of a probe, or adds a probe to one.
func (j *Judge) makeProbe(c command.Command, line string) ([]string, error) {
	code, _, _ := strings.Cut(line, "#")
	p := &probe{j: j, line: line, words: strings.Fields(code)}
	args, err := p.put(c)
	if err == nil {
		err = p.arguments(args)
	}
	if err == nil {
		if c, ok := c.(*command.Eprobe); ok && c.If != nil {
			err = p.condition(c)
		}
	}
	if err == nil {
		n, _ := makes(c)
		p.misleadHead(n, args)
		err = p.register(n)
	}
	return p.misleads, err
}

// put finds where a probe is put, and returns its arguments.
func (p *probe) put(c command.Command) ([]command.Arg, error) {
	switch c := c.(type) {
	case *command.Eprobe:
		return c.Args, p.placeEprobe(c)
	case *command.Kprobe:
		return c.Args, p.placeKprobe(c)
	case *command.Fprobe:
		return c.Args, p.placeFprobe(c)
	case *command.Tprobe:
		return c.Args, p.placeTprobe(c)
	case *command.Uprobe:
		return c.Args, p.placeUprobe(c)
	}
	return nil, no("EINVAL", "", "no such kind of event")
}

// register makes the event, or appends the probe to the event of the same name,
// kind and arguments: register_trace_kprobe and append_trace_kprobe of
// kernel/trace/trace_kprobe.c, and their like for the others.
func (p *probe) register(n name) error {
	made := probeLine{place: p.place, args: p.args}
	for _, e := range p.j.find(n) {
		if e.kind == synthetic && n.group != "synthetic" {
			continue
		}
		if !sameFamily(e.kind, p.kind) {
			return no("EEXIST", "Given group/event name is already used by another event", "there is an event %s already", n).at(p.line, n.event)
		}
		if e.kind != p.kind || e.exit != p.exit {
			return no("EEXIST", "Probe type is different from existing probe", "%s is a probe of another kind; probes of one kind alone share an event", n).at(p.line, n.event)
		}
		own := e.format.Fields[len(e.format.Fields)-len(e.lines[0].args):]
		same := len(own) == len(p.fields)
		for i := range own {
			same = same && own[i].Name == p.fields[i].Name && e.types[i] == p.types[i]
		}
		if !same {
			return no("EEXIST", "Argument type or name is different from existing probe", "%s has other fields; probes with the same fields alone share an event", n).at(p.line, n.event)
		}
		for _, l := range e.lines {
			if l.place == made.place && slices.Equal(l.args, made.args) {
				return no("EEXIST", "There is already the exact same probe event", "%s has just this probe already", n).at(p.line, n.event)
			}
		}
		e.lines = append(e.lines, made)
		return nil
	}
	fields := p.fields
	if p.kind != eprobe {
		fields = append(p.placeFields(), fields...)
	}
	p.j.add(&event{
		name: n, kind: p.kind, on: p.on, lines: []probeLine{made}, exit: p.exit, types: p.types,
		format: &target.Format{System: n.group, Name: n.event, Common: commonFields(), Fields: fields},
	})
	return nil
}

// sameFamily reports whether probes of the kinds a and b are looked for by name
// in one list.
func sameFamily(a, b kind) bool {
	family := func(k kind) kind {
		switch k {
		case kretprobe:
			return kprobe
		case tprobe:
			return fprobe
		}
		return k
	}
	return family(a) == family(b) && a != eprobe && a != static && a != synthetic
}

// placeFields returns the fields that tell where a probe is.
func (p *probe) placeFields() []target.Field {
	at := func(name string) target.Field {
		return target.Field{Name: name, Decl: "unsigned long", Size: p.j.t.Arch().WordSize()}
	}
	if p.exit {
		return []target.Field{at("__probe_func"), at("__probe_ret_ip")}
	}
	return []target.Field{at("__probe_ip")}
}

// commonFields returns the fields that every record begins with.
func commonFields() []target.Field {
	return []target.Field{
		{Name: "common_type", Decl: "unsigned short", Size: 2},
		{Name: "common_flags", Decl: "unsigned char", Size: 1},
		{Name: "common_preempt_count", Decl: "unsigned char", Size: 1},
		{Name: "common_pid", Decl: "int", Size: 4, Signed: true},
	}
}

// The sum of what a probe's arguments take in its record: MAX_PROBE_EVENT_SIZE
// of kernel/trace/trace_probe.c.
func (p *probe) payload() error {
	sum := 0
	for _, f := range p.fields {
		sum += f.Size
	}
	limit := p.j.t.Limits().Payload
	if sum > limit && !p.j.t.Has(target.QuirkPayloadUnchecked) {
		return no("E2BIG", "Event too big (too many fields?)", "the record would have %d bytes; the kernel takes %d", sum, limit)
	}
	return nil
}

// arguments judges the arguments of a probe.
func (p *probe) arguments(args []command.Arg) error {
	limit := p.j.t.Limits()
	if len(args) > limit.Args {
		if !p.j.t.Has(target.QuirkArgsDropped) {
			return no("E2BIG", "Too many arguments are specified", "%d arguments; the kernel takes %d", len(args), limit.Args)
		}
		p.mislead("arguments after the %dth are dropped in silence", limit.Args)
		args = args[:limit.Args]
	}
	names := map[string]bool{}
	all := false
	for i, a := range args {
		word := p.words[2+i]
		if s, ok := a.Fetch.(command.Special); ok && s.Text == "$arg*" {
			if all {
				return no("EINVAL", "$arg* can be used only once in the parameters", "'$arg*' is there twice").at(p.line, word)
			}
			all = true
			if err := p.everyArgument(word, names); err != nil {
				return err
			}
			continue
		}
		if err := p.argument(a, word, names); err != nil {
			var r *Refusal
			if errors.As(err, &r) && r.Hi == 0 {
				r.at(p.line, word)
			}
			return err
		}
	}
	p.misleadSymstr(args)
	return p.payload()
}

// argument judges one argument and adds its field. word is its text.
func (p *probe) argument(a command.Arg, word string, names map[string]bool) error {
	body := word
	named := false
	if i := strings.IndexByte(word, '='); i >= 0 {
		body, named = word[i+1:], true
	}
	if err := p.argumentName(a.Name, word, names); err != nil {
		return err
	}
	if limit := p.j.t.Limits().ArgText; len(body) > limit {
		return no("E2BIG", "Argument expression is too long", "the argument has %d characters; the kernel takes %d", len(body), limit)
	}
	v, err := p.fetch(a.Fetch, named)
	if err != nil {
		return err
	}
	f, err := p.typed(a, v)
	if err != nil {
		return err
	}
	p.fields = append(p.fields, f)
	p.args = append(p.args, a.Name+"="+body)
	t := a.Type
	switch {
	case t.Base != "":
	case v.text && p.kind != eprobe:
		t.Base = "string"
	case v.btf != nil:
		t.Base = f.Decl
	default:
		t.Base = "x64"
	}
	p.types = append(p.types, t)
	p.misleadArgument(a, v)
	return nil
}

// argumentName judges the name of an argument: traceprobe_conflict_field_name.
func (p *probe) argumentName(n, word string, names map[string]bool) error {
	switch {
	case command.ArgName(n) == command.ArgNameRefused:
		return no("EINVAL", "This argument name is already used", "'%s' is a name of the kernel's own", n).at(p.line, word)
	case names[n]:
		return no("EINVAL", "This argument name is already used", "two arguments are called '%s'", n).at(p.line, word)
	case command.ArgName(n) == command.ArgNameHidden:
		p.mislead("in filters and histograms '%s' means the kernel's own, not this argument", n)
	}
	names[n] = true
	return nil
}

// everyArgument is `$arg*`: an argument for each parameter of the function.
func (p *probe) everyArgument(word string, names map[string]bool) error {
	if !strings.HasPrefix(word, "$arg*") { // a type after it is not looked at
		return no("EINVAL", "Invalid $-variable specified", "'$arg*' has neither a name nor a type").at(p.line, word)
	}
	if err := p.needsBTF(target.BTFArgs, "$arg*"); err != nil {
		return err
	}
	proto := p.prototype()
	if proto == nil {
		return no("ENOENT", "No BTF entry for this probe point", "the kernel's types do not tell this function's parameters").at(p.line, word)
	}
	for i, param := range proto.Params {
		n := param.Name
		if n == "" {
			n = "arg" + strconv.Itoa(i+1)
		}
		if err := p.argumentName(n, word, names); err != nil {
			return err
		}
		f := fieldOfType(param.Type, p.j.t.Arch().WordSize())
		f.Name = n
		p.fields = append(p.fields, f)
		p.args = append(p.args, n+"="+n)
		p.types = append(p.types, command.FetchType{Base: f.Decl})
	}
	return nil
}

func (p *probe) mislead(format string, args ...any) {
	p.misleads = append(p.misleads, sprintf(format, args...))
}
