package randomproof

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// A wide script is about the target's own events, functions and structs, of
// which the model knows nothing: it is compiled, applied and taken back.

// pool is what a target has to make wide scripts of.
type pool struct {
	events    [][2]string // group and name
	functions []string
}

var pools sync.Map // target's name to *pool

func poolOf(on *target.Target) *pool {
	if p, ok := pools.Load(on.Name()); ok {
		return p.(*pool)
	}
	p := &pool{}
	groups, _ := on.Systems() // without one there are no events to choose from
	for _, group := range groups {
		if slices.Contains([]string{"ftrace", "synthetic", "kprobes", "uprobes", "eprobes"}, group) {
			continue
		}
		names, err := on.Events(group)
		if err != nil {
			continue
		}
		for _, name := range names {
			p.events = append(p.events, [2]string{group, name})
		}
	}
	p.functions, _ = on.Functions(func(name string) bool { // without one there are no functions to choose from
		return !strings.ContainsAny(name, ".$") && !strings.HasPrefix(name, "__") && !strings.HasPrefix(name, "bpf_")
	})
	pools.Store(on.Name(), p)
	return p
}

// generateWide makes a wide script.
func generateWide(on *target.Target, seed int64) *script {
	g := &generator{Rand: rand.New(rand.NewPCG(uint64(seed), 2)), seed: seed, on: on, s: &script{seed: seed, idle: true}, used: map[string]bool{}}
	g.options()
	g.wide = poolOf(on)
	for range 1 + g.IntN(3) {
		g.s.events = append(g.s.events, g.event())
	}
	for _, e := range g.s.events {
		if g.in(2) || e == g.s.events[len(g.s.events)-1] {
			g.s.traces = append(g.s.traces, g.trace(e))
		}
	}
	if g.in(3) {
		g.s.traces = append(g.s.traces, g.inline())
	}
	if g.in(2) {
		g.s.tables = append(g.s.tables, g.table())
	}
	return g.s
}

// anything is a source of the target's.
func (g *generator) anything() *origin {
	if len(g.wide.functions) > 0 && g.in(2) {
		for range 20 {
			if o := g.anyFunction(pick(g, g.wide.functions)); o != nil {
				return o
			}
		}
	}
	for {
		e := pick(g, g.wide.events)
		f, err := g.on.Format(e[0], e[1])
		if err != nil {
			continue
		}
		o := &origin{form: name(e[0]) + "." + name(e[1]), kinds: []string{e[0] + "." + e[1]}, rare: true, refs: contextRefs()}
		for _, k := range f.Fields {
			if t := plain(k.Type); t != nil && !reserved[k.Name] && !strings.HasPrefix(k.Name, "common_") && plainName(k.Name) {
				o.refs = append(o.refs, &ref{form: "%" + k.Name, t: t})
			}
		}
		return o
	}
}

// reserved are words that cannot be names without backticks everywhere.
var reserved = map[string]bool{"event": true, "hist": true, "on": true, "trace": true, "param": true, "const": true, "import": true, "option": true,
	"from": true, "then": true, "where": true, "let": true, "by": true, "having": true, "emit": true, "do": true, "as": true, "in": true, "else": true}

// name is a name as a script writes it.
func name(s string) string {
	if plainName(s) && !reserved[s] && (s[0] < '0' || s[0] > '9') {
		return s
	}
	return "`" + s + "`"
}

// plain is t, if values of it are numbers or texts that the generator makes
// expressions of; else nil.
func plain(t types.Type) types.Type {
	switch t := t.(type) {
	case types.Int:
		if t.Names == nil && t.Form == types.Dec {
			return t
		}
	case types.String:
		return str
	}
	return nil
}

// anyFunction is a function of the kernel with what is in its arguments, nil if
// nothing is known of it.
func (g *generator) anyFunction(f string) *origin {
	proto, err := g.on.FuncProto("", f)
	if err != nil || !plainName(f) || len(proto.Params) > 6 {
		return nil
	}
	end := pick(g, []string{".enter", ".enter", ".exit", ""})
	o := &origin{form: "func " + f + end, kinds: []string{"func " + f}, rare: true, refs: contextRefs()}
	if t := plain(proto.Result); t != nil && end != ".enter" {
		o.refs = append(o.refs, &ref{form: "%$ret", t: t}, &ref{form: "%$ret", t: t})
	}
	if end == "" {
		o.refs = append(o.refs, &ref{form: "%$elapsed", t: ns})
	}
	if end == ".exit" {
		return o
	}
	for _, p := range proto.Params {
		if p.Name == "" || reserved[p.Name] || !plainName(p.Name) {
			continue
		}
		if t := plain(p.Type); t != nil {
			o.refs = append(o.refs, &ref{form: "%" + p.Name, t: t})
		}
		for range 3 {
			if r := g.behind("%"+p.Name, p.Type, 1+g.IntN(3)); r != nil {
				o.refs = append(o.refs, r)
				if end == "" && g.in(3) {
					o.refs = append(o.refs, &ref{form: "enter(" + r.form + ")", t: r.t})
				}
			}
		}
	}
	return o
}

// behind is a member some pointers behind another value, nil if none is found.
func (g *generator) behind(form string, t types.Type, depth int) *ref {
	for range depth {
		p, ok := t.(types.Pointer)
		if !ok || p.User {
			return nil
		}
		s, ok := p.Elem.(types.Struct)
		if !ok || s.Name == "" {
			return nil
		}
		full, err := g.on.Struct(s.Name)
		if err != nil {
			return nil
		}
		members, err := g.on.Members(full)
		if err != nil || len(members) == 0 {
			return nil
		}
		m, err := g.on.Member(full, pick(g, members))
		if err != nil || !plainName(m.Name) || reserved[m.Name] {
			return nil
		}
		form, t = fmt.Sprintf("%s->%s", form, m.Name), m.Type
		if t := plain(t); t != nil {
			return &ref{form: form, t: t}
		}
	}
	return nil
}
