package randomproof

import (
	"slices"
	"strings"

	"github.com/eptrace/ep/lang/types"
)

// occurrence is one time that a source happened.
type occurrence struct {
	kind string // "enter lseek", "exit vfs_read", … ; "" of an event of the script
	seq  int    // its place among all that happened
	step int    // of the workload
	vals map[string]value
	sure truth // always or maybe
}

func (o *occurrence) value(name string) (value, bool) {
	v, ok := o.vals[name]
	return v, ok
}

// meaning says what a script's events are, given what happened.
type meaning struct {
	world *world
	known map[*event]*outcome
}

// outcome is what happened to an event. open says that the model cannot tell.
type outcome struct {
	list []*occurrence
	open bool
}

func newMeaning(w *world) *meaning { return &meaning{world: w, known: map[*event]*outcome{}} }

// source returns what happened to a source.
func (m *meaning) source(s *origin) outcome {
	switch {
	case s.event != nil:
		return m.event(s.event)
	case s.of == nil:
		return outcome{open: true}
	}
	return outcome{list: s.of(m.world)}
}

// passed is a stage that has happened, with those before it.
type passed struct {
	env  env
	seq  int
	sure truth
}

// stage returns what a stage's `where` lets through, with the values of its
// `let`.
func (m *meaning) stage(s *stage) (list []passed, open bool) {
	for _, src := range s.sources {
		o := m.source(src)
		if o.open {
			return nil, true
		}
		for _, occ := range o.list {
			st := staged{name: s.as, of: occ}
			e := env{stages: []staged{st}}
			sure := occ.sure
			if s.where != nil {
				sure = sure.and(s.where.holds(&e))
			}
			if sure == never {
				continue
			}
			lets := map[string]value{}
			for _, l := range s.lets {
				v := l.x.eval(&e)
				v.t = l.x.typ()
				lets[l.name] = v
			}
			st.lets = lets
			list = append(list, passed{env: env{stages: []staged{st}}, seq: occ.seq, sure: sure})
		}
	}
	slices.SortStableFunc(list, func(a, b passed) int { return a.seq - b.seq })
	return list, false
}

// event returns the records of an event.
func (m *meaning) event(ev *event) outcome {
	if o := m.known[ev]; o != nil {
		return *o
	}
	o := m.derive(ev)
	m.known[ev] = &o
	return o
}

func (m *meaning) derive(ev *event) outcome {
	list, open := m.stage(ev.stages[0])
	for _, s := range ev.stages[1:] {
		next, nextOpen := m.stage(s)
		if open || nextOpen {
			return outcome{open: true}
		}
		list, open = pair(list, next, s)
	}
	if open {
		return outcome{open: true}
	}
	var out []*occurrence
	seen := map[string]value{} // of `emit on`: the latest or greatest value, by `per`
	for _, p := range list {
		occ := ev.record(p)
		if occ.sure == never {
			continue
		}
		if ev.emit != nil {
			e := p.env
			e.fields = occ.vals
			emits, open := ev.emit.emits(&e, seen)
			if open || occ.sure == maybe {
				return outcome{open: true}
			}
			if !emits {
				continue
			}
		}
		out = append(out, occ)
	}
	return outcome{list: out}
}

// record makes the record of one time that all stages of ev happened. It is sure
// never if `having` refuses it.
func (ev *event) record(p passed) *occurrence {
	last := p.env.stages[len(p.env.stages)-1].of
	occ := &occurrence{seq: p.seq, step: last.step, vals: map[string]value{}, sure: p.sure}
	if ev.fields == nil {
		for name, v := range last.vals {
			occ.vals[name] = v
		}
	}
	for _, f := range ev.fields {
		occ.vals[f.name] = f.eval(&p.env)
	}
	for name, v := range last.vals { // its own time, thread and CPU are the last stage's
		if strings.HasPrefix(name, "$") && name != "$ret" && name != "$elapsed" {
			occ.vals[name] = v
		}
	}
	if ev.having != nil {
		e := p.env
		e.fields = occ.vals
		occ.sure = occ.sure.and(ev.having.holds(&e))
	}
	return occ
}

// pair pairs each B with the latest earlier A of equal keys, once.
func pair(as, bs []passed, s *stage) (list []passed, open bool) {
	waiting := map[string]passed{}
	for len(as) > 0 || len(bs) > 0 {
		// What happens at one time is not earlier: the second stage goes first.
		if len(as) > 0 && (len(bs) == 0 || as[0].seq < bs[0].seq) {
			a := as[0]
			as = as[1:]
			k, ok := keyOf(&a.env, s.keys, true)
			if !ok || a.sure == maybe {
				return nil, true
			}
			waiting[k] = a
			continue
		}
		b := bs[0]
		bs = bs[1:]
		k, ok := keyOf(&b.env, s.keys, false)
		if !ok || b.sure == maybe {
			return nil, true
		}
		a, ok := waiting[k]
		if !ok {
			continue
		}
		delete(waiting, k)
		list = append(list, passed{env: env{stages: append(slices.Clone(a.env.stages), b.env.stages...)}, seq: b.seq, sure: always})
	}
	return list, false
}

func keyOf(e *env, keys []pairKey, left bool) (key string, known bool) {
	for _, k := range keys {
		x := k.right
		if left {
			x = k.left
		}
		v := x.eval(e)
		if !v.known() {
			return "", false
		}
		key += v.key() + "|"
	}
	return key, true
}

// emits reports whether a record is emitted, and keeps its value.
func (m *emit) emits(e *env, seen map[string]value) (emits, open bool) {
	v := m.x.eval(e)
	if !v.known() {
		return false, true
	}
	key := ""
	for _, p := range m.per {
		k := p.eval(e)
		if !k.known() {
			return false, true
		}
		key += k.key() + "|"
	}
	before, ok := seen[key]
	if m.max {
		if _, isDuration := m.x.typ().(types.Duration); !ok && !isDuration && types.Size(m.x.typ()) == 8 && v.lo.Sign() == 0 {
			return false, false // as the reference says of a first 0
		}
		if ok && v.lo.Cmp(before.lo) <= 0 {
			return false, false
		}
	} else if ok && v.key() == before.key() {
		return false, false
	}
	seen[key] = v
	return true, false
}

// during keeps what happened while something was started, by what starts and
// stops it. What happens at the same time as that is not sure.
func during(list []*occurrence, paused bool, acts []turn) []*occurrence {
	var out []*occurrence
	for _, o := range list {
		on := truthOf(!paused)
		for _, a := range acts {
			switch {
			case a.seq < o.seq && a.sure == always:
				on = truthOf(a.on)
			case a.seq <= o.seq:
				on = maybe
			}
		}
		if on == never {
			continue
		}
		if on == maybe && o.sure == always {
			c := *o
			c.sure = maybe
			o = &c
		}
		out = append(out, o)
	}
	return out
}

// turn is a start or a stop that happened.
type turn struct {
	seq  int
	on   bool
	sure truth
}

// turns returns the starts and stops of an event or a histogram.
func (m *meaning) turns(s *script, name string) (list []turn, open bool) {
	for _, a := range s.acts {
		if a.what != name {
			continue
		}
		hits, open := m.stage(a.of)
		if open {
			return nil, true
		}
		for i, h := range hits {
			if a.times > 0 && i >= a.times {
				break
			}
			list = append(list, turn{seq: h.seq, on: a.do == "start", sure: h.sure})
		}
	}
	slices.SortStableFunc(list, func(a, b turn) int { return a.seq - b.seq })
	return list, false
}
