package judge

import (
	"slices"

	"github.com/eptrace/ep/compiler/target"
)

// table is what several histograms of one name share. It lasts as long as one
// of them does, and its name is good in all buffers.
type table struct {
	shape string
	users int
}

// same is what makes two histograms of one event the same.
type same struct {
	table       *table
	shape, cond string
}

// like returns the histogram of the event that is the same as m's, nil if there
// is none. One with a name that nobody uses is compared with those that have no
// name.
func (m *maker) like() *hist {
	return m.traced.byShape[same{m.j.tables[m.h.cmd.Name], m.h.shape, m.h.cond}]
}

// update pauses, continues or clears the histogram that is the same, and tells
// whether it did (existing_hist_update_only).
func (m *maker) update() bool {
	c := m.h.cmd
	if c.State == "" || c.Name != "" && m.j.tables[c.Name] == nil {
		return false
	}
	return m.like() != nil
}

// remove removes the histogram that is the same. If there is none the kernel
// says nothing.
func (m *maker) remove() error {
	h := m.like()
	if h == nil {
		m.misleadNothing()
		return nil
	}
	if h.users > 0 {
		return m.no("EBUSY", "", "", "another histogram refers to its variables; that has to go first")
	}
	m.j.unlink(h)
	return nil
}

// register keeps the histogram (hist_register_trigger).
func (m *maker) register() error {
	j, h, c := m.j, m.h, m.h.cmd
	t := j.tables[c.Name]
	if t != nil && t.shape != h.shape {
		return m.refuse(m.no("EINVAL", "Named hist trigger doesn't match existing named trigger (includes variables)", "name="+c.Name,
			"there is a histogram named '%s' with other keys, values or variables", c.Name))
	}
	if m.like() != nil && (t != nil || c.Name == "") {
		return m.refuse(m.no("EEXIST", "Hist trigger already exists", "", "the event has the same histogram already"))
	}
	if c.State == "continue" || c.State == "clear" {
		return m.refuse(m.no("ENOENT", "Can't clear or continue a nonexistent hist trigger", "", "the event has no such histogram to %s", c.State))
	}
	if h.stamped && c.Clock != "" && !j.hasClock(c.Clock) {
		return m.refuse(m.no("EINVAL", "Couldn't set trace_clock", c.Clock, "this kernel has no clock '%s'", c.Clock).near(c.Clock, clocks))
	}
	if c.Name != "" {
		if t == nil {
			t = &table{shape: h.shape}
			j.tables[c.Name] = t
		}
		t.users++
		h.table = t
	}
	j.link(h)
	return nil
}

// refuse takes back what the actions of a histogram hold that is not kept. Some
// kernels let the histograms stay that were made for them.
func (m *maker) refuse(err error) error {
	m.j.release(m.h)
	if !m.j.t.Has(target.QuirkHelpersStay) {
		for _, helper := range m.h.helpers {
			m.j.unlink(helper)
		}
	}
	return err
}

// clocks are those of every machine; x86 has one more.
var clocks = []string{"local", "global", "counter", "uptime", "perf", "mono", "mono_raw", "boot", "tai"}

func (j *Judge) hasClock(name string) bool {
	return slices.Contains(clocks, name) || name == "x86-tsc" && (j.t.Arch() == target.X86_64 || j.t.Arch() == target.I386)
}

// link puts h where it is found.
func (j *Judge) link(h *hist) {
	h.in.hists = append(h.in.hists, h)
	h.in.byShape[same{h.table, h.shape, h.cond}] = h
	for _, v := range h.vars {
		if h.in.vars[v.label] == nil {
			h.in.vars[v.label] = v
		}
		h.buffer.vars[v.label] = append(h.buffer.vars[v.label], v)
	}
	if h.keeps() {
		h.buffer.keepers++
	}
	for _, v := range h.refs {
		if v.of != h {
			v.of.users++
		}
	}
	for _, v := range h.once {
		v.once++
	}
	if e := j.synthNamed(h.event.event); e != nil && e != h.event && j.t.Has(target.QuirkSyntheticNames) {
		h.twin = e
		e.makers++
	}
}

// keeps reports whether h keeps its instance from going: it has variables, or
// refers to some (save_hist_vars).
func (h *hist) keeps() bool { return len(h.vars) > 0 || len(h.refs) > 0 }

// unlink removes h from its event.
func (j *Judge) unlink(h *hist) {
	h.in.hists = slices.DeleteFunc(h.in.hists, func(o *hist) bool { return o == h })
	delete(h.in.byShape, same{h.table, h.shape, h.cond})
	j.drop(h)
}

// drop takes back what h holds.
func (j *Judge) drop(h *hist) {
	for _, v := range h.vars {
		if h.in.vars[v.label] == v {
			delete(h.in.vars, v.label)
		}
		list := slices.DeleteFunc(h.buffer.vars[v.label], func(o *variable) bool { return o == v })
		if h.buffer.vars[v.label] = list; len(list) == 0 {
			delete(h.buffer.vars, v.label)
		}
	}
	if h.keeps() {
		h.buffer.keepers--
	}
	for _, v := range h.refs {
		if v.of != h {
			v.of.users--
		}
	}
	for _, v := range h.once {
		v.once--
	}
	if h.twin != nil {
		h.twin.makers--
	}
	if h.table != nil {
		if h.table.users--; h.table.users == 0 {
			delete(j.tables, h.cmd.Name)
		}
	}
	j.release(h)
	for _, helper := range h.helpers {
		if helper.users == 0 && slices.Contains(helper.in.hists, helper) {
			j.unlink(helper)
		}
	}
}

// release gives back what h's actions hold.
func (j *Judge) release(h *hist) {
	for _, e := range h.emits {
		e.makers--
	}
	h.emits = nil
	if h.snapshot {
		h.buffer.snapshot = false
	}
}

// removeHists removes the histograms of f's event, if no other needs one's
// variables (hist_unreg_all).
func (j *Judge) removeHists(f file) {
	t := f.buffer.of(f.events[0])
	for _, h := range t.hists {
		if h.users > 0 {
			return
		}
	}
	for len(t.hists) > 0 {
		j.unlink(t.hists[0])
	}
}

// synthNamed returns the synthetic event of a name, nil if there is none.
func (j *Judge) synthNamed(event string) *event {
	for _, e := range j.events[name{"synthetic", event}] {
		if e.kind == synthetic {
			return e
		}
	}
	return nil
}
