package judge

import "slices"

// madeEvents are the events that writes made, in the order of their making.
type madeEvents struct {
	all   []*event            // with those that are gone
	gone  int                 // how many of all are
	named map[string][]*event // by bare name, without those that are gone
}

func (m *madeEvents) add(e *event) {
	if m.named == nil {
		m.named = map[string][]*event{}
	}
	m.all = append(m.all, e)
	m.named[e.event] = append(m.named[e.event], e)
}

// remove takes e out. The list is made shorter now and then, so that removing
// many events takes no longer for each.
func (m *madeEvents) remove(e *event) {
	e.gone = true
	m.gone++
	rest := slices.DeleteFunc(m.named[e.event], func(o *event) bool { return o == e })
	if m.named[e.event] = rest; len(rest) == 0 {
		delete(m.named, e.event)
	}
	if 2*m.gone > len(m.all) {
		m.all = m.list()
		m.gone = 0
	}
}

// list returns the events that are there.
func (m *madeEvents) list() []*event {
	list := make([]*event, 0, len(m.all)-m.gone)
	for _, e := range m.all {
		if !e.gone {
			list = append(list, e)
		}
	}
	return list
}

// called returns the events of a bare name, of any name if it is "".
func (m *madeEvents) called(name string) []*event {
	if name == "" {
		return m.list()
	}
	return slices.Clone(m.named[name])
}
