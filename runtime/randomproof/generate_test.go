package randomproof

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
)

// generator makes scripts. What it makes follows from the seed and the target.
type generator struct {
	*rand.Rand
	seed   int64
	on     *target.Target
	calls  []*call // that the workload makes
	s      *script
	used   map[string]bool
	consts int
	wide   *pool // what a wide script is made of; else nil
}

// generate makes the script of a seed for a target.
func generate(on *target.Target, seed int64) *script {
	if seed%4 == 3 {
		return generateWide(on, seed)
	}
	g := &generator{Rand: rand.New(rand.NewPCG(uint64(seed), 1)), seed: seed, on: on, s: &script{seed: seed}, used: map[string]bool{}}
	for range 2 + g.IntN(3) {
		g.calls = append(g.calls, pick(g, calls))
	}
	g.s.steps = g.workload()
	if g.in(2) {
		g.s.options = append(g.s.options, "clock mono")
	}
	g.options()
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
	if g.in(6) {
		g.action()
	}
	g.s.top = len(g.s.options) == 0 && g.in(4)
	g.intoModule()
	return g.s
}

// in is true once in n times.
func (g *generator) in(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

// fresh returns a name that the script has not.
func (g *generator) fresh(names ...string) string {
	name := pick(g, names)
	for n := 2; g.used[name]; n++ {
		name = fmt.Sprintf("%s%d", strings.TrimRight(name, "0123456789"), n)
	}
	g.used[name] = true
	return name
}

func (g *generator) options() {
	list := []string{"functions kprobe", "functions auto", "group random_group", "maxactive 16", "buffer 256KiB", "overwrite yes", "overwrite no"}
	for _, o := range list {
		if g.in(15) {
			g.s.options = append(g.s.options, o)
		}
	}
	if g.in(12) {
		g.s.options = append(g.s.options, "instance random_own")
	}
	g.s.options = dropDoubles(g.s.options)
}

func dropDoubles(list []string) (out []string) {
	seen := map[string]bool{}
	for _, o := range list {
		word, _, _ := strings.Cut(o, " ")
		if !seen[word] {
			out = append(out, o)
		}
		seen[word] = true
	}
	return out
}

// event makes an event of one to four stages.
func (g *generator) event() *event {
	e := &event{name: g.fresh("seen", "work", "visit", "worked", "step")}
	if g.in(3) {
		g.join(e, 2+g.IntN(3)*g.IntN(2))
	} else {
		o := g.origin(true)
		e.stages = []*stage{g.stage(o, true)}
		if g.in(8) && o.event == nil && o.need == nil && g.wide == nil {
			g.several(e.stages[0])
		}
	}
	g.fill(e)
	if g.in(3) {
		e.having = g.condition(g.fieldRefs(e), 1)
	}
	if g.in(8) {
		g.emits(e)
	}
	if len(e.stages) > 1 && g.in(8) {
		e.size = 128 << g.IntN(4)
	}
	return e
}

// mine is `$tid == me`: of what other threads do too, only the workload's.
func (g *generator) mine() condition { return &mine{} }

// stage makes a stage on a source, with conditions.
func (g *generator) stage(o *origin, lets bool) *stage {
	s := &stage{sources: []*origin{o}, where: o.need}
	switch {
	case o.rare:
	case s.where != nil:
		s.where = &both{"&&", g.mine(), s.where}
	default:
		s.where = g.mine()
	}
	if g.in(3) {
		c := g.condition(o.refs, 2)
		if s.where != nil {
			c = &both{"&&", s.where, c}
		}
		s.where = c
	}
	if lets && g.in(6) {
		if x := g.number(o.refs, 1); x != nil {
			s.lets = []*let{{g.fresh("kept", "before", "part"), x}}
		}
	}
	return s
}

// join makes an event of n stages.
func (g *generator) join(e *event, n int) {
	names := []string{"a", "b", "c", "d"}
	var seen [][]string
	for i := range n {
		o := g.origin(false)
		for try := 0; try < 20 && slices.ContainsFunc(seen, func(k []string) bool { return overlap(k, o.kinds) }); try++ {
			o = g.origin(false)
		}
		if slices.ContainsFunc(seen, func(k []string) bool { return overlap(k, o.kinds) }) {
			if !(i == 1 && g.in(2) && e.stages[0].sources[0].event == nil) {
				break
			}
			o = e.stages[0].sources[0] // an event that follows itself
		}
		seen = append(seen, o.kinds)
		s := g.stage(o, i < n-1)
		s.as = names[i]
		e.stages = append(e.stages, s)
		if i > 0 {
			s.keys = g.keys(e.stages)
		}
	}
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(k string) bool { return slices.Contains(b, k) })
}

// keys are those of the last of stages: the thread, and perhaps a number that
// both have.
func (g *generator) keys(stages []*stage) []pairKey {
	last := stages[len(stages)-1]
	earlier := stages[g.IntN(len(stages)-1)]
	tid := func(s *stage) expr { return &ref{stage: s.as, form: "%$tid", t: s32} }
	keys := []pairKey{{left: tid(earlier), right: tid(last), short: "$tid"}}
	if earlier != stages[len(stages)-2] || g.in(2) {
		keys[0].short = ""
	}
	if g.in(3) {
		for _, a := range g.shuffled(earlier.sources[0].refs) {
			for _, b := range g.shuffled(last.sources[0].refs) {
				if a.t == b.t && plainInt(a.t) && a.self() != "$tid" && !a.memory() && !b.memory() {
					k := pairKey{left: a.in(earlier.as), right: b.in(last.as)}
					return append(keys, k)
				}
			}
		}
	}
	return keys
}

func plainInt(t types.Type) bool {
	i, ok := t.(types.Int)
	return ok && (i.Form == types.Dec || i.Form == types.Errno)
}

func (r *ref) in(stage string) *ref { c := *r; c.stage = stage; return &c }

func (g *generator) shuffled(list []*ref) []*ref {
	list = slices.Clone(list)
	g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// refsOf is all that an event's fields may be made of.
func (e *event) refsOf() []*ref {
	var list []*ref
	for _, s := range e.stages {
		for _, r := range s.sources[0].refs {
			list = append(list, r.in(s.as))
		}
		for _, l := range s.lets {
			list = append(list, &ref{stage: s.as, form: "%" + l.name, t: l.x.typ()})
		}
	}
	return list
}

// fill gives an event fields.
func (g *generator) fill(e *event) {
	refs := e.refsOf()
	taken := map[string]bool{}
	add := func(f *field) {
		if f == nil || taken[f.name] {
			return
		}
		taken[f.name] = true
		e.fields = append(e.fields, f)
	}
	for range 1 + g.IntN(4) {
		add(g.field(refs))
	}
	if len(e.stages) > 1 && g.in(2) {
		add(g.duration(e))
	}
	if len(e.fields) == 0 {
		r := &ref{stage: e.stages[len(e.stages)-1].as, form: "%$tid", t: s32}
		add(&field{name: "thread", x: r})
	}
}

// duration is a field for the time from one stage to another.
func (g *generator) duration(e *event) *field {
	i := g.IntN(len(e.stages) - 1)
	j := i + 1 + g.IntN(len(e.stages)-1-i)
	at := func(k int) expr { return &ref{stage: e.stages[k].as, form: "%$time", t: ns} }
	var x expr = &binary{"-", at(j), at(i)}
	f := &field{name: pick(g, []string{"took", "lat", "delta"}), x: x}
	if g.in(3) {
		f.to = types.Duration{Unit: types.US, Size: 8}
	}
	return f
}

// field makes a field of what there is.
func (g *generator) field(refs []*ref) *field {
	if g.in(2) { // by its own name
		r := pick(g, refs)
		name := strings.TrimPrefix(r.self(), "$")
		if plainName(name) {
			f := &field{name: name, x: r, short: true}
			if plainInt(r.t) && g.in(4) {
				f.to = g.otherInt(r.t)
				f.short = r.stage == "" && !strings.HasPrefix(r.form, "%$")
			}
			return f
		}
	}
	x := expr(pick(g, refs))
	if t := x.typ(); g.in(2) && (plainInt(t) || isDuration(t)) {
		if n := g.number(refs, 2); n != nil {
			x = n
		}
	}
	f := &field{name: pick(g, []string{"x", "y", "value", "other", "what"}), x: x}
	if plainInt(x.typ()) && g.in(4) {
		f.to = g.otherInt(x.typ())
	}
	return f
}

func isDuration(t types.Type) bool { _, ok := t.(types.Duration); return ok }

func plainName(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return !(r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9') })
}

// otherInt is a type to show or keep a number of type t as.
func (g *generator) otherInt(t types.Type) types.Type {
	size := types.Size(t)
	list := []types.Type{u8, u32, u64, s32, s64, x64, types.Int{Size: 4, Form: types.Hex}, types.Int{Size: 2}, types.Int{Size: 1, Signed: true}, types.Int{Size: 2, Signed: true}}
	switch size {
	case 1:
		list = append(list, types.Int{Size: 1, Form: types.Char})
	case 2:
		list = append(list, types.Int{Size: 2, Form: types.BE})
	case 4:
		list = append(list, types.Int{Size: 4, Form: types.BE}, types.Int{Size: 4, Form: types.IP}, types.Int{Size: 4, Form: types.Dev})
	}
	if types.Signed(t) && size >= 4 {
		list = append(list, types.Int{Size: 4, Signed: true, Form: types.Errno})
	}
	return pick(g, list)
}

// fieldRefs are an event's own fields, as `having` and other events see them.
func (g *generator) fieldRefs(e *event) []*ref {
	var list []*ref
	for _, f := range e.fields {
		list = append(list, &ref{form: "%" + f.name, t: f.typ()})
	}
	return list
}

// emits gives an event an `emit`.
func (g *generator) emits(e *event) {
	var numbers []*ref
	for _, r := range g.fieldRefs(e) {
		if plainInt(r.t) {
			numbers = append(numbers, r)
		}
	}
	if len(numbers) == 0 {
		return
	}
	e.emit = &emit{x: pick(g, numbers)}
	e.emit.max = !types.Signed(e.emit.x.typ()) && g.in(2)
	if g.in(2) {
		e.emit.per = append(e.emit.per, pick(g, numbers))
	}
}

// trace asks for an event's records.
func (g *generator) trace(e *event) *trace {
	t := &trace{of: e}
	if g.in(3) {
		t.print = g.form(e)
	}
	return t
}

// form makes a form of all fields.
func (g *generator) form(e *event) []piece {
	list := []piece{{text: "seen"}}
	for _, f := range e.fields {
		list = append(list, piece{text: pick(g, []string{" ", ", ", " {", " a="})})
		p := piece{field: f}
		if plainInt(f.typ()) && g.in(3) {
			p.to = pick(g, []types.Type{types.Int{Size: types.Size(f.typ()), Form: types.Hex}})
		}
		list = append(list, p)
	}
	return list
}

// inline is a trace of a source, with its fields.
func (g *generator) inline() *trace {
	o := g.origin(false)
	for o.event != nil {
		o = g.origin(false)
	}
	e := &event{stages: []*stage{g.stage(o, false)}}
	g.fill(e)
	return &trace{of: e, inline: true}
}

// table makes a histogram.
func (g *generator) table() *table {
	t := &table{name: g.fresh("counts", "calls", "sums"), of: g.stage(g.origin(false), false)}
	refs := t.of.sources[0].refs
	for i := range 1 + g.IntN(3) {
		r := pick(g, refs)
		if isTime(r) || r.memory() && g.in(2) {
			continue
		}
		k := tableKey{name: fmt.Sprintf("k%d", i), x: r}
		if plainInt(r.t) {
			switch g.IntN(4) {
			case 0:
				k.slot = "log2"
			case 1:
				k.slot, k.width = "bucket", pick(g, []int64{2, 10, 100, 4096})
			case 2:
				if x := g.number([]*ref{r}, 1); x != nil {
					k.x = x
				}
			}
		}
		t.keys = append(t.keys, k)
	}
	if len(t.keys) == 0 {
		t.keys = []tableKey{{name: "thread", x: &ref{form: "%$tid", t: s32}}}
	}
	for i := range g.IntN(3) {
		for _, r := range g.shuffled(refs) {
			if plainInt(r.t) || isDuration(r.t) {
				t.values = append(t.values, tableValue{name: fmt.Sprintf("v%d", i), x: r, mean: g.in(3)})
				break
			}
		}
	}
	if g.in(2) {
		t.sort, t.desc = "count", g.in(2)
	}
	if g.in(4) {
		t.size = 128 << g.IntN(5)
	}
	return t
}

func isTime(x expr) bool { return isDuration(x.typ()) }

// action starts and stops one of the script's traces or tables.
func (g *generator) action() {
	a := &action{of: g.stage(g.origin(false), false), do: pick(g, []string{"start", "stop", "stop"})}
	if g.in(2) {
		a.times = 1 + g.IntN(3)
	}
	if g.in(4) {
		a.do = "stack" // which changes no record
		g.s.acts = append(g.s.acts, a)
		return
	}
	if len(g.s.tables) > 0 && g.in(2) {
		a.what = g.s.tables[0].name
		g.s.tables[0].paused = a.do == "start"
	} else {
		t := g.s.traces[0]
		if t.inline {
			return
		}
		a.what = t.of.name
		t.paused = a.do == "start"
	}
	g.s.acts = append(g.s.acts, a)
}

// intoModule moves the first event into a module, if it needs nothing of the
// script.
func (g *generator) intoModule() {
	if !g.in(6) {
		return
	}
	own := slices.ContainsFunc(g.s.acts, func(a *action) bool { return a.what == g.s.events[0].name })
	g.s.events[0].eachExpr(func(x expr) {
		l, ok := x.(*literal)
		if _, me := x.(*mine); me || ok && l.name != "" {
			own = true
		}
	})
	if !own {
		g.s.module = 1
	}
}

// workload makes a list of calls.
func (g *generator) workload() []step {
	var list []step
	for range 10 + g.IntN(50) {
		list = append(list, g.step(pick(g, g.calls)))
	}
	return list
}

// small are the numbers that arguments are, and constants are about.
var small = []int64{0, 1, 2, 3, 5, 7, 8, 10, 15, 16, 99, 100, 255, 256, 1000, 4095, 4096, 65535, 65536, 1 << 20}

func (g *generator) argument(t types.Type) uint64 {
	n := pick(g, small)
	switch {
	case g.in(6) && types.Signed(t):
		n = -n
	case g.in(12):
		n = pick(g, []int64{1 << 31, 1<<31 - 1, 1<<32 - 1, 1 << 32, 1<<40 + 12345, -1, 1<<63 - 1, -1 << 63})
	}
	return fits(big.NewInt(n), types.Size(t), false).Uint64()
}

// step makes a call with arguments.
func (g *generator) step(c *call) step {
	s := step{Call: c.name}
	for i, p := range c.params {
		if p.t != nil {
			s.N[i] = g.argument(p.t)
		}
	}
	switch c.name {
	case "lseek":
		s.N[0] = fits(big.NewInt(-1), 4, false).Uint64()
		if g.in(2) {
			s.File = 1 + g.IntN(len(workFiles))
			s.N[1], s.N[2] = uint64(pick(g, small)), uint64(g.IntN(3))
		}
	case "madvise":
		s.N[2] = fits(big.NewInt(pick(g, []int64{1000, 1001, -1, -1000, 5000})), 4, false).Uint64()
	case "getpgid", "getsid":
		s.N[0] = fits(big.NewInt(pick(g, []int64{0, 1, 999999, -1, 77777})), 4, false).Uint64()
	case "openat", "faccessat":
		s.N = [6]uint64{fits(big.NewInt(-100), 4, false).Uint64(), 0, 0, 0}
		if g.in(3) {
			s.N[0] = pick(g, []uint64{0, 5, 1000})
		}
		s.Text = pick(g, []string{"/tmp/random/alpha", "/tmp/random/beta.txt", "/tmp/random/none", "/nowhere/at/all", "/tmp"})
		if c.name == "openat" {
			s.N[3] = pick(g, []uint64{0, 0o600, 0o644})
		} else {
			s.N[2] = uint64(g.IntN(8))
		}
	case "close":
		s.N[0] = pick(g, []uint64{1000, 77777, 1 << 31})
		s.Opened = g.in(2)
	case "read":
		s.File, s.N[2] = 1+g.IntN(len(workFiles)), uint64(pick(g, []int64{0, 1, 10, 100, 4096}))
	case "write":
		s.File, s.N[2] = 1+g.IntN(len(workFiles)), uint64(pick(g, []int64{0, 1, 10, 100, 4096}))
	case "fallocate":
		s.File = 1 + g.IntN(len(workFiles))
		s.N[1] = pick(g, []uint64{0, 0, 0x40000000})
		s.N[2], s.N[3] = uint64(pick(g, []int64{0, 1, 100, -5, 4096})), uint64(pick(g, []int64{1, 7, 100, 0, -1}))
	case "ioctl":
		s.N[0] = fits(big.NewInt(-1), 4, false).Uint64()
	case "tgkill":
		s.Self, s.N = true, [6]uint64{0, 0, 28} // SIGWINCH, which the guest ignores
	}
	if c.name == "write" && g.in(3) {
		s = step{Call: "write", Marker: true, Text: pick(g, []string{"begin", "end", "beginning of it", "mark 1"})}
	}
	return s
}
