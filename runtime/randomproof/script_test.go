package randomproof

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eptrace/ep/lang/types"
)

// script is a random script. Its parts print themselves, and the model
// evaluates them.
type script struct {
	seed    int64
	options []string
	module  int // so many of the first events are those of a module
	events  []*event
	traces  []*trace
	tables  []*table
	acts    []*action
	steps   []step // the workload
	top     bool   // it runs at the top level, not in an instance
	idle    bool   // only applied and taken back
}

// event is `event NAME from … { … }`, or what a trace says of its source.
type event struct {
	name   string
	stages []*stage
	size   int
	having condition
	emit   *emit
	fields []*field // nil: all of the source
}

// stage is `SOURCE, … as NAME where C let …`, in a join with its keys.
type stage struct {
	sources []*origin
	as      string
	where   condition
	lets    []*let
	keys    []pairKey
}

type let struct {
	name string
	x    expr
}

// pairKey is `a.f == b.g`, or one name that both have.
type pairKey struct {
	left, right expr
	short       string
}

// emit is `emit on max(E) per K, …`.
type emit struct {
	max bool
	x   expr
	per []expr
}

// field is `name`, `name = E`, `name: T` or `name: T = E`.
type field struct {
	name  string
	x     expr
	to    types.Type // nil: as it is
	short bool       // x names it
}

func (f *field) typ() types.Type {
	if f.to != nil {
		return (&cast{f.x, f.to}).typ()
	}
	return f.x.typ()
}

func (f *field) eval(e *env) value {
	v := f.x.eval(e)
	if f.to != nil {
		v = v.convert(f.typ())
	}
	return v
}

// trace is `trace SOURCE print "…"`.
type trace struct {
	of     *event
	inline bool // of is written here, and is not an event of its own
	paused bool
	print  []piece // nil: the default
}

// piece is a part of a form: text, or a field, perhaps as another type.
type piece struct {
	text  string
	field *field
	to    types.Type
}

// table is a histogram.
type table struct {
	name   string
	of     *stage
	keys   []tableKey
	values []tableValue
	sort   string
	desc   bool
	size   int
	paused bool
}

type tableKey struct {
	name  string
	x     expr
	slot  string // "", "log2", "bucket"
	width int64
}

type tableValue struct {
	name string
	x    expr
	mean bool
}

// action is `on STAGE times N do start X, stop X`.
type action struct {
	of    *stage
	times int
	do    string // "start", "stop", "stack"
	what  string // the name of an event or a histogram
}

// origin is the source that a stage hangs on.
type origin struct {
	form  string
	refs  []*ref // what it has, without a stage
	event *event // an event of the script
	kinds []string
	// of returns what happened to it, in order; nil: the model does not know.
	of func(w *world) []*occurrence
	// rare says that only the workload makes it happen.
	rare bool
	// need is a condition without which the source is another thing.
	need condition
}

// constants are the named literals of a script, each once.
func (s *script) constants() []*literal {
	var list []*literal
	s.eachExpr(func(x expr) {
		if l, ok := x.(*literal); ok && l.name != "" && !slices.ContainsFunc(list, func(o *literal) bool { return o.name == l.name }) {
			list = append(list, l)
		}
	})
	return list
}

// eachExpr calls f for all expressions of the script.
func (s *script) eachExpr(f func(expr)) {
	for _, e := range s.events {
		e.eachExpr(f)
	}
	for _, t := range s.traces {
		if t.inline {
			t.of.eachExpr(f)
		}
	}
	for _, t := range s.tables {
		t.of.eachExpr(f)
		for _, k := range t.keys {
			walk(k.x, f)
		}
		for _, v := range t.values {
			walk(v.x, f)
		}
	}
	for _, a := range s.acts {
		a.of.eachExpr(f)
	}
}

func (e *event) eachExpr(f func(expr)) {
	for _, s := range e.stages {
		s.eachExpr(f)
	}
	if e.having != nil {
		walk(e.having, f)
	}
	if e.emit != nil {
		walk(e.emit.x, f)
		for _, p := range e.emit.per {
			walk(p, f)
		}
	}
	for _, d := range e.fields {
		walk(d.x, f)
	}
}

func (s *stage) eachExpr(f func(expr)) {
	if s.where != nil {
		walk(s.where, f)
	}
	for _, l := range s.lets {
		walk(l.x, f)
	}
	for _, k := range s.keys {
		walk(k.left, f)
		walk(k.right, f)
	}
}

// String is the script's text; moduleText is that of its module.
func (s *script) String() string {
	var b strings.Builder
	for _, o := range s.options {
		fmt.Fprintf(&b, "option %s\n", o)
	}
	if s.module > 0 {
		b.WriteString("import \"random\" as lib\n")
	}
	mineUsed := false
	s.eachExpr(func(x expr) {
		_, is := x.(*mine)
		mineUsed = mineUsed || is
	})
	if mineUsed {
		b.WriteString(meParam)
	}
	for _, l := range s.constants() {
		fmt.Fprintf(&b, "%s\n", l.declaration())
	}
	for _, e := range s.events[s.module:] {
		fmt.Fprintf(&b, "event %s from %s\n", e.name, s.inScript(e.text()))
	}
	for _, t := range s.traces {
		b.WriteString(s.inScript(t.String()) + "\n")
	}
	for _, t := range s.tables {
		b.WriteString(s.inScript(t.String()) + "\n")
	}
	for _, a := range s.acts {
		b.WriteString(s.inScript(a.String()) + "\n")
	}
	return b.String()
}

func (s *script) moduleText() string {
	var b strings.Builder
	for _, e := range s.events[:s.module] {
		fmt.Fprintf(&b, "event %s from %s\n", e.name, strings.ReplaceAll(e.text(), ownMark, ""))
	}
	return b.String()
}

// ownMark stands before the name of an event of the script's own until it is
// known whether that is a module's.
const ownMark = "\x01"

func (s *script) inScript(text string) string {
	for _, e := range s.events[:s.module] {
		text = strings.ReplaceAll(text, ownMark+e.name+" ", "lib."+e.name+" ")
	}
	return strings.ReplaceAll(text, ownMark, "")
}

// declaration is `const NAME: TYPE = VALUE`. A param that must be set has none.
func (l *literal) declaration() string {
	t := ""
	if _, untyped := l.t.(types.Untyped); !untyped && l.kind == "param" {
		t = ": " + l.t.String()
	}
	return fmt.Sprintf("%s %s%s = %s", l.kind, l.name, t, l.form)
}

func (e *event) text() string {
	var b strings.Builder
	for i, s := range e.stages {
		if i > 0 {
			b.WriteString("\n  then ")
		}
		b.WriteString(s.String())
	}
	if e.size > 0 {
		fmt.Fprintf(&b, "\n  size %d", e.size)
	}
	if e.having != nil {
		fmt.Fprintf(&b, "\n  having %s", e.having)
	}
	if e.emit != nil {
		on := "change"
		if e.emit.max {
			on = "max"
		}
		fmt.Fprintf(&b, "\n  emit on %s(%s)", on, e.emit.x)
		for i, p := range e.emit.per {
			fmt.Fprintf(&b, "%s %s", []string{" per", ","}[min(i, 1)], p)
		}
	}
	if e.fields != nil {
		b.WriteString("\n{\n")
		for _, f := range e.fields {
			fmt.Fprintf(&b, "  %s\n", f)
		}
		b.WriteString("}")
	}
	return b.String()
}

func (f *field) String() string {
	if f.short {
		s := f.x.String()
		if f.to != nil {
			s += ": " + f.to.String()
		}
		return s
	}
	if f.to != nil {
		return fmt.Sprintf("%s: %s = %s", f.name, f.to, f.x)
	}
	return fmt.Sprintf("%s = %s", f.name, f.x)
}

func (s *stage) String() string {
	var list []string
	for _, src := range s.sources {
		list = append(list, src.String())
	}
	out := strings.Join(list, ", ") + " "
	if s.as != "" {
		out += "as " + s.as + " "
	}
	if s.where != nil {
		out += "where " + s.where.String() + " "
	}
	for i, l := range s.lets {
		out += fmt.Sprintf("%s %s = %s ", []string{"let", ","}[min(i, 1)], l.name, l.x)
	}
	for i, k := range s.keys {
		text := k.short
		if text == "" {
			text = fmt.Sprintf("%s == %s", k.left, k.right)
		}
		out += fmt.Sprintf("%s %s ", []string{"by", ","}[min(i, 1)], text)
	}
	return strings.TrimSuffix(out, " ") + " "
}

func (s *origin) String() string {
	if s.event != nil {
		return ownMark + s.event.name + " "
	}
	return s.form
}

func (t *trace) String() string {
	out := "trace "
	if t.inline {
		out += t.of.text()
	} else {
		out += ownMark + t.of.name + " "
	}
	if t.paused {
		out += " paused"
	}
	if t.print != nil {
		out += ` print "`
		for _, p := range t.print {
			switch {
			case p.field == nil:
				out += strings.NewReplacer("{", "{{", "}", "}}").Replace(p.text)
			case p.to != nil:
				out += fmt.Sprintf("{%s:%s}", p.field.name, p.to)
			default:
				out += "{" + p.field.name + "}"
			}
		}
		out += `"`
	}
	return out
}

func (t *table) String() string {
	out := "hist " + t.name
	if t.paused {
		out += " paused"
	}
	out += " from " + t.of.String()
	for i, k := range t.keys {
		x := k.x.String()
		switch k.slot {
		case "log2":
			x = "log2(" + x + ")"
		case "bucket":
			x = fmt.Sprintf("bucket(%s, %d)", x, k.width)
		}
		out += fmt.Sprintf("%s %s = %s", []string{"by", ","}[min(i, 1)], k.name, x)
	}
	if len(t.values) > 0 {
		out += " {"
		for i, v := range t.values {
			f := "sum"
			if v.mean {
				f = "avg"
			}
			out += fmt.Sprintf("%s %s = %s(%s)", []string{"", ","}[min(i, 1)], v.name, f, v.x)
		}
		out += " }"
	}
	if t.sort != "" {
		out += " sort by " + t.sort
		if t.desc {
			out += " desc"
		}
	}
	if t.size > 0 {
		out += fmt.Sprintf(" size %d", t.size)
	}
	return out
}

func (a *action) String() string {
	out := "on " + a.of.String()
	if a.times > 0 {
		out += fmt.Sprintf("times %d ", a.times)
	}
	out += "do " + a.do
	if a.what != "" {
		out += " " + a.what
	}
	return out
}

// meParam is the param that the guest sets to the thread of the workload.
const meParam = "param me: s32\n"

// set is what the params of the script are set to.
func (s *script) set(me string) map[string]string {
	if strings.Contains(s.String(), meParam) {
		return map[string]string{"me": me}
	}
	return nil
}

// instance is the instance that the script runs in, if it names none.
func (s *script) instance() string {
	if s.top {
		return ""
	}
	return standing
}
