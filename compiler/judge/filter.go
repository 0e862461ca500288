package judge

import (
	"errors"
	"strconv"
	"strings"
	"unicode"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
)

// filter carries out a write to an event's or a group's filter file.
func (j *Judge) filter(f file, text string) (misleads []string, err error) {
	if strings.TrimSpace(text) == "0" {
		return nil, nil
	}
	if f.group {
		return j.groupFilter(f, text)
	}
	e := f.events[0]
	c, err := j.parseCond("events/"+e.group+"/"+e.event+"/filter", text)
	if err != nil {
		return nil, j.fieldFirst(e, err, text)
	}
	if misleads, err = j.cond(e, c, text); err != nil {
		return nil, err
	}
	if withoutTrailingOperator(text) != text {
		misleads = append(misleads, "what is missing after the last operator is taken for nothing; other kernels refuse it")
	}
	if t := f.buffer.traced[e]; t != nil && len(t.hists)+len(t.triggers) > 0 {
		misleads = append(misleads, sprintf("the triggers of %s see also what this filter keeps out; give them an 'if'", e.name))
	}
	if e.eprobes > 0 {
		misleads = append(misleads, sprintf("the eprobes on %s see also what this filter keeps out; give them an 'if'", e.name))
	}
	return misleads, nil
}

// fieldFirst makes of an error about a condition on e's fields that no operator
// follows a word, one that there is no such field, if there is none: the kernel
// looks for the field first.
func (j *Judge) fieldFirst(e *event, err error, text string) error {
	var r *Refusal
	if !errors.As(err, &r) || r.Kernel != "Invalid operator" {
		return err
	}
	before := strings.TrimRight(text[:r.Lo], " \t")
	n := len(before)
	for n > 0 && isWord(before[n-1]) {
		n--
	}
	p := predicate{j: j, e: e, p: &command.Pred{Field: before[n:]}, line: text}
	if none := p.find(); none != nil && before[n:] != "" {
		none.Lo, none.Hi = n, len(before)
		return none
	}
	return err
}

// parseCond reads the text of a filter file.
func (j *Judge) parseCond(path, text string) (command.Cond, error) {
	if j.t.Has(target.QuirkTrailingOperator) {
		text = withoutTrailingOperator(text)
	}
	c, err := command.Parse(path, text)
	if err != nil {
		return nil, syntax(err, text)
	}
	cond := c.(*command.Filter).If
	if cond == nil { // "none", which is only what an empty filter reads as
		return nil, no("EINVAL", "Field not found", "'0' clears a filter").at(text, strings.TrimSpace(text))
	}
	return cond, nil
}

// groupFilter sets the filter of each event of a group that can have it. The
// kernel is content if none can.
func (j *Judge) groupFilter(f file, text string) (misleads []string, err error) {
	var last error
	some := false
	for _, e := range f.events {
		c, err := j.parseCond("events/"+e.group+"/"+e.event+"/filter", text)
		if err == nil {
			_, err = j.cond(e, c, text)
		}
		if err == nil {
			some = true
		} else {
			last = err
		}
	}
	switch {
	case !some:
		return []string{"no event of the group can have this filter: " + last.Error()}, nil
	case last != nil:
		return []string{"some events of the group cannot have this filter and keep what they have: " + last.Error()}, nil
	}
	return nil, nil
}

// cond checks a condition on e's fields, as a filter, a trigger or an eprobe has
// it: parse_pred of kernel/trace/trace_events_filter.c. line is the text that it
// is part of. All that is wrong is the first refusal alone, as in the kernel.
func (j *Judge) cond(e *event, c command.Cond, line string) (misleads []string, err error) {
	switch c := c.(type) {
	case nil:
	case *command.And:
		return j.conds(e, c.List, line)
	case *command.Or:
		return j.conds(e, c.List, line)
	case *command.Not:
		return j.cond(e, c.X, line)
	case *command.Pred:
		p := predicate{j: j, e: e, p: c, line: line}
		if err := p.check(); err != nil {
			if err.Hi == 0 {
				err.at(line, c.Field)
			}
			return nil, err
		}
		return p.misleads, nil
	}
	return nil, nil
}

func (j *Judge) conds(e *event, list []command.Cond, line string) (misleads []string, err error) {
	for _, c := range list {
		found, err := j.cond(e, c, line)
		if err != nil {
			return nil, err
		}
		misleads = append(misleads, found...)
	}
	return misleads, nil
}

// class is how the kernel compares a field.
type class uint8

const (
	number    class = iota
	text            // a string in the record, or a pointer to one
	cpuNumber       // the number of the CPU
	cpuMask
	stack
)

// predicate is one comparison while it is judged.
type predicate struct {
	j        *Judge
	e        *event
	p        *command.Pred
	line     string // that it stands in
	field    target.Field
	class    class
	misleads []string
}

func (p *predicate) mislead(format string, args ...any) {
	p.misleads = append(p.misleads, sprintf(format, args...))
}

const illegalOp = "Illegal operation for field type"

func (p *predicate) check() *Refusal {
	if err := p.find(); err != nil {
		return err
	}
	if p.p.Suffix == "function" {
		if name := functionName(p.line, p.p.Value.Text); name != p.p.Value.Text {
			return no("EINVAL", "Function not found", "'%s' is taken for the function's name, which ends at a blank", name)
		}
		return p.function()
	}
	if p.e.kind == synthetic && p.j.isStackField(&p.field) && !p.j.t.Has(target.QuirkStacktraceModifier) {
		p.class = stack
	}
	switch p.p.Value.Kind {
	case command.CPUs:
		return p.cpus()
	case command.String:
		return p.text()
	}
	return p.number()
}

// find looks for the field: the event's own, a common one, then what every
// record has.
func (p *predicate) find() *Refusal {
	n := p.p.Field
	format := p.j.formatOf(p.e)
	var names []string
	for _, list := range [][]target.Field{format.Fields, format.Common} {
		for _, f := range list {
			if f.Name == n {
				p.field, p.class = f, classOf(f)
				return nil
			}
			names = append(names, f.Name)
		}
	}
	switch n {
	case "cpu", "CPU", "common_cpu":
		p.field, p.class = target.Field{Name: n, Decl: "int", Size: 4, Signed: true}, cpuNumber
		return nil
	case "comm", "COMM":
		p.field, p.class = target.Field{Name: n, Decl: "char *", Size: 8}, text
		return nil
	case "stacktrace", "STACKTRACE":
		if p.j.t.Has(target.CommonStacktrace) {
			p.field, p.class = target.Field{Name: n, Size: 8}, stack
			p.mislead("comparing '%s' means nothing", n)
			return nil
		}
	}
	return no("EINVAL", "Field not found", "%s has no field '%s'", p.e.name, n).near(n, append(names, "cpu", "comm"))
}

// classOf returns how the kernel compares f: filter_assign_type of
// kernel/trace/trace_events_filter.c.
func classOf(f target.Field) class {
	switch d := f.Decl; {
	case isText(&f), d == "char *", d == "const char *":
		return text
	case strings.Contains(d, "cpumask_t") && f.Loc != target.InPlace:
		return cpuMask
	}
	return number
}

// functionName returns the word of a line that begins with name after
// ".function", to the next blank.
func functionName(line, name string) string {
	_, rest, _ := strings.Cut(line, ".function")
	i := strings.Index(rest, name)
	if i < 0 {
		return name
	}
	word, _, _ := strings.Cut(strings.ReplaceAll(rest[i:], "\t", " "), " ")
	return word
}

// function is FIELD.function: whether an address lies in a function.
func (p *predicate) function() *Refusal {
	v := p.p.Value
	switch {
	case !p.j.t.Has(target.FilterFunction):
		return no("EINVAL", "Invalid operator", "this kernel has no %s", target.FilterFunction)
	case p.class != number && p.class != text || p.field.Size != p.j.t.Arch().WordSize() || isText(&p.field):
		return no("EINVAL", illegalOp, "'%s' is no address", p.field.Name)
	case p.p.Op != "==" && p.p.Op != "!=":
		return no("EINVAL", "Invalid operator", "a function is compared by == and != alone")
	case v.Kind != command.Number:
		return no("EINVAL", "Function not found", "a function's name has no quotes")
	}
	if _, err := strconv.ParseUint(v.Text, 0, 64); err == nil {
		return no("EINVAL", "Function not found", "where functions lie differs from boot to boot; name the function")
	}
	f, err := p.j.t.Function(v.Text)
	if err != nil {
		return no("EINVAL", "", "%v", err)
	}
	switch f.State {
	case target.SymbolAbsent:
		r := no("EINVAL", "Function not found", "there is no function '%s'", v.Text)
		r.Near, _ = p.j.t.NearSymbol(v.Text)
		return r
	case target.SymbolUnlisted:
		if _, err := p.j.t.FuncProto("", v.Text); err != nil {
			r := no("EINVAL", "Function not found", "there is no function '%s'", v.Text)
			r.Near, _ = p.j.t.NearSymbol(v.Text)
			return r
		}
	}
	return nil
}

// cpus is CPUS{LIST}. How many CPUs a machine has, a target does not tell.
func (p *predicate) cpus() *Refusal {
	switch {
	case !p.j.t.Has(target.FilterCPUs):
		return no("EINVAL", "Invalid value (did you forget quotes)?", "this kernel has no %s", target.FilterCPUs)
	case p.class == text || p.class == stack:
		return no("EINVAL", illegalOp, "'%s' is no CPU and no set of CPUs", p.field.Name)
	case p.p.Op != "==" && p.p.Op != "!=" && p.p.Op != "&":
		return no("EINVAL", illegalOp, "sets of CPUs are compared by ==, != and & alone")
	}
	if err := cpuList(p.p.Value.Text); err != nil {
		return no("EINVAL", "Invalid cpulist", "'%s' is no list of CPUs: %v", p.p.Value.Text, err)
	}
	if strings.Trim(p.p.Value.Text, " 0,-N") != "" {
		p.mislead("a machine that has not all of these CPUs refuses it")
	}
	return nil
}

// maxCPUs is more than any kernel can have.
const maxCPUs = 8192

// cpuList checks a list such as "0-3,7" or "0-63:2/4", with 'N' for the last
// (bitmap_parselist of lib/bitmap-str.c). Empty parts do not matter.
func cpuList(s string) error {
	if strings.TrimSpace(s) == "" {
		return errors.New("it is empty")
	}
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		run, group, steps := strings.Cut(part, ":")
		first, last, isRange := strings.Cut(run, "-")
		if run == "all" {
			first, last, isRange = "0", "N", true
		}
		if steps && !isRange {
			return errors.New("want FIRST-LAST before ':'")
		}
		a, err := oneCPU(first)
		b := a
		if err == nil && isRange {
			b, err = oneCPU(last)
		}
		if err != nil {
			return err
		}
		if b < a {
			return errors.New("want FIRST-LAST")
		}
		if steps {
			used, of, ok := strings.Cut(group, "/")
			n, err1 := oneCPU(used)
			m, err2 := oneCPU(of)
			if !ok || err1 != nil || err2 != nil || m == 0 || n > m {
				return errors.New("want USED/OF after ':'")
			}
		}
	}
	return nil
}

func oneCPU(s string) (uint64, error) {
	if s == "N" {
		return maxCPUs - 1, nil
	}
	n, err := strconv.ParseUint(s, 10, 32)
	switch {
	case err != nil:
		return 0, errors.New("want numbers")
	case n >= maxCPUs:
		return 0, errors.New("no kernel has so many")
	}
	return n, nil
}

// text compares with a string.
func (p *predicate) text() *Refusal {
	switch {
	case p.class != text:
		return no("EINVAL", "Expecting numeric field", "'%s' is a number; write one, without quotes", p.field.Name)
	case p.p.Op != "==" && p.p.Op != "!=" && p.p.Op != "~":
		return no("EINVAL", illegalOp, "text is compared by ==, != and ~ alone")
	case len(p.p.Value.Text) > p.j.t.Limits().FilterText:
		return no("EINVAL", "Operand too long", "the text has %d bytes; the kernel takes %d", len(p.p.Value.Text), p.j.t.Limits().FilterText)
	case p.p.Suffix == "ustring" && !p.j.t.Has(target.FilterUstring):
		return no("EINVAL", "Invalid operator", "this kernel has no %s", target.FilterUstring)
	}
	if p.p.Op != "~" && strings.ContainsAny(p.p.Value.Text, "*?[") {
		p.mislead("with %s '%s' is taken as it stands; ~ takes it as a pattern", p.p.Op, p.p.Value.Text)
	}
	pointer := strings.HasPrefix(p.e.group, "syscalls") && p.field.Decl != "" && !isText(&p.field)
	if pointer && p.p.Suffix == "" {
		p.mislead("'%s' points to user memory; '%s.ustring' reads there", p.field.Name, p.field.Name)
	}
	return nil
}

// number compares with a number.
func (p *predicate) number() *Refusal {
	v := p.p.Value.Text
	if v == "" || v[0] != '-' && (v[0] < '0' || v[0] > '9') {
		return no("EINVAL", "Invalid value (did you forget quotes)?", "'%s' is no number; text stands between quotes", v)
	}
	switch {
	case p.class == text:
		return no("EINVAL", "Expecting string field", "'%s' is text; write it between quotes", p.field.Name)
	case p.p.Op == "~":
		return no("EINVAL", illegalOp, "a number is no pattern")
	case len(v) > command.MaxFilterNumber:
		return no("EINVAL", "Operand too long", "the number has %d digits", len(v))
	}
	fits, bits := true, 8*p.field.Size
	if p.field.Signed {
		n, err := strconv.ParseInt(v, 0, 64)
		if err != nil {
			return no("EINVAL", "Illegal integer value", "'%s' is no number that '%s' may have", v, p.field.Name)
		}
		if bits > 0 && bits < 64 {
			fits = n >= -1<<(bits-1) && n < 1<<(bits-1)
		}
	} else {
		n, err := strconv.ParseUint(v, 0, 64)
		if err != nil {
			return no("EINVAL", "Illegal integer value", "'%s' is no number that '%s', which has no sign, may have", v, p.field.Name)
		}
		if bits > 0 && bits < 64 {
			fits = n>>bits == 0
		}
	}
	array := p.field.Array && p.class == number
	switch {
	case array:
		p.mislead("'%s' is an array, which no comparison matches", p.field.Name)
	case !fits:
		p.mislead("%s does not fit the %d bits of '%s' and is cut in silence", v, bits, p.field.Name)
	}
	if len(v) > 1 && v[0] == '0' && v[1] >= '0' && v[1] <= '9' {
		p.mislead("%s is octal", v)
	}
	return nil
}
