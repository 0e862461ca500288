package apply

import (
	"context"
	"errors"
	"slices"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/runtime/journal"
)

// Difference is what takes an installed script, as it is in the kernel now, to
// what a plan says. The zero value is none.
type Difference struct {
	Remove []journal.Step // what is taken back, in that order
	Add    []journal.Step // what is done then, in order
	// Lost are those of Add that were done once and are not there any more: who
	// changed them is not known.
	Lost []journal.Step

	remove []int // numbers of the journal's steps, the first first
	lost   []int
	add    []step
}

// None reports whether there is nothing to be done.
func (d *Difference) None() bool { return len(d.Remove) == 0 && len(d.Add) == 0 }

// Compare tells what Update would do for p, where j says what is installed; nil
// if nothing is. Nothing is changed.
func (t *Transaction) Compare(j *journal.Journal, p *plan.Plan) (*Difference, error) {
	if j == nil {
		j = &journal.Journal{}
	}
	old := t.Recover(j)
	presence, err := old.presence()
	if err != nil {
		return nil, err
	}
	want := planSteps(p)
	match := matches(old, want)
	keep := make([]bool, len(old.steps))
	for i := range want {
		if m := match[i]; m >= 0 && presence[m] == Present {
			keep[m] = true
		}
	}
	for old.spread(keep) {
	}
	d := &Difference{}
	for i := range want {
		s := want[i]
		m := match[i]
		if m >= 0 && keep[m] || m < 0 && old.isSo(&s, want) {
			continue
		}
		d.add = append(d.add, s)
		d.Add = append(d.Add, s.Step)
		if m >= 0 && presence[m] != Present {
			d.Lost = append(d.Lost, s.Step)
		}
	}
	for i := range old.steps {
		if !old.left(i) || keep[i] {
			continue
		}
		if presence[i] != Present {
			d.lost = append(d.lost, i)
			continue
		}
		d.remove = append(d.remove, i)
		d.Remove = append([]journal.Step{old.steps[i].Step}, d.Remove...)
	}
	d.settle(want)
	return d, nil
}

// presence looks at all steps that may have left something. Where several set
// one file, the last tells.
func (a *Applied) presence() ([]Presence, error) {
	list := make([]Presence, len(a.steps))
	last := map[string]int{}
	for i := range a.steps {
		if !a.left(i) {
			continue
		}
		there, err := a.view.look(&a.steps[i])
		if err != nil {
			return nil, err
		}
		if there == Absent && a.removedLater(i) {
			there = Present // that it is not there is what the script says
		}
		list[i] = there
		if a.steps[i].Kind == journal.Value {
			last[a.steps[i].File] = i
		}
	}
	for i := range a.steps {
		if l, ok := last[a.steps[i].File]; ok && a.left(i) {
			list[i] = list[l]
		}
	}
	return list, nil
}

// removedLater reports whether a later step removes the trigger of step i.
func (a *Applied) removedLater(i int) bool {
	s := &a.steps[i]
	for k := i + 1; k < len(a.steps); k++ {
		if o := &a.steps[k]; a.left(k) && s.Kind == journal.Command && o.File == s.File && (o.Data == "!"+s.Data || removesTrigger(o.cmd, s.cmd)) {
			return true
		}
	}
	return false
}

// removesTrigger reports whether the removal removes the trigger made. The kernel goes
// by what a trigger does, whatever its count and its condition are: a run gives
// triggers conditions that their removals do not have.
func removesTrigger(removal, made command.Command) bool {
	r, ok := removal.(*command.Trigger)
	m, isTrigger := made.(*command.Trigger)
	if !ok || !isTrigger || !r.Remove || m.Remove {
		return false
	}
	x, y := *r, *m
	x.Remove, x.Count, x.If = false, -1, nil
	y.Count, y.If = -1, nil
	return command.Equal(&x, &y)
}

// matches returns for each wanted step the one of a that is the same, -1 for
// none.
func matches(a *Applied, want []step) []int {
	used := make([]bool, len(a.steps))
	list := make([]int, len(want))
	for i, w := range want {
		list[i] = -1
		for k := range a.steps {
			s := &a.steps[k]
			if !used[k] && a.left(k) && s.Kind == w.Kind && s.File == w.File && s.Data == w.Data {
				list[i], used[k] = k, true
				break
			}
		}
	}
	return list
}

// spread gives up what hangs on something that is not kept, and reports whether
// it did.
func (a *Applied) spread(keep []bool) bool {
	changed := false
	for i := range a.steps {
		if !keep[i] {
			continue
		}
		for k := range i {
			if a.left(k) && !keep[k] && a.steps[i].hangsOn(&a.steps[k]) {
				keep[i], changed = false, true
				break
			}
		}
	}
	return changed
}

// hangsOn reports whether s cannot be there without o: o makes its instance or
// an event that it names, or is a histogram on an event that it is matched with.
func (s *step) hangsOn(o *step) bool {
	if o.Kind == journal.Instance {
		return len(s.File) > len(o.File) && s.File[:len(o.File)+1] == o.File+"/"
	}
	name := o.event()
	if o.dynamic() && name.Name != "" {
		return slices.Contains(s.names(), name)
	}
	h, ok := o.cmd.(*command.Hist)
	if !ok {
		return false
	}
	own, ok := s.cmd.(*command.Hist)
	if !ok {
		return false
	}
	on := command.EventName{Group: h.Event.Group, Name: h.Event.Name}
	return slices.ContainsFunc(own.Actions, func(x command.HistAction) bool {
		return x.Match.Group == on.Group && x.Match.Name == on.Name
	}) || slices.ContainsFunc(h.Actions, func(x command.HistAction) bool {
		return x.Match.Group == own.Event.Group && x.Match.Name == own.Event.Name
	})
}

// names returns the events that s names, itself aside.
func (s *step) names() []command.EventName {
	plain := func(n command.EventName) command.EventName {
		return command.EventName{Group: n.Group, Name: n.Name}
	}
	switch c := s.cmd.(type) {
	case *command.Eprobe:
		return []command.EventName{plain(c.On)}
	case *command.Hist:
		list := []command.EventName{plain(c.Event)}
		for _, x := range c.Actions {
			list = append(list, plain(x.Match), command.EventName{Group: "synthetic", Name: x.Synth})
		}
		return list
	case *command.Trigger:
		return []command.EventName{plain(c.Event), plain(c.Target)}
	case *command.Filter:
		return []command.EventName{plain(c.Event)}
	case *command.Enable:
		return []command.EventName{plain(c.Event)}
	}
	return nil
}

// isSo reports whether a file of one value holds what s wants though no step of
// a says so: it was so before.
func (a *Applied) isSo(s *step, want []step) bool {
	if s.Kind == journal.Instance {
		return a.t.FS.Exists(s.File)
	}
	if s.Kind != journal.Value {
		return false
	}
	for i := range want {
		if want[i].File == s.File && want[i].Data != s.Data {
			return false
		}
	}
	text, err := a.t.FS.Read(s.File)
	return err == nil && sameValue(s.File, string(text), s.Data)
}

// settle has files that a plan sets more than once be set so again if anything
// is made: no thread is to trigger anything meanwhile.
func (d *Difference) settle(want []step) {
	makes := slices.ContainsFunc(d.add, func(s step) bool { return s.Kind == journal.Command && !s.dynamic() })
	if !makes {
		return
	}
	files := map[string]int{}
	for i := range want {
		if want[i].Kind == journal.Value {
			files[want[i].File]++
		}
	}
	added := func(s *step) bool {
		return slices.ContainsFunc(d.add, func(o step) bool { return o.File == s.File && o.Data == s.Data && o.Kind == s.Kind })
	}
	var list []step
	for i := range want {
		if added(&want[i]) || files[want[i].File] > 1 {
			list = append(list, want[i])
		}
	}
	d.add, d.Add = list, nil
	for _, s := range list {
		d.Add = append(d.Add, s.Step)
	}
}

// Update takes an installed script to what p says, by the least change: what is
// the same and still there stays in force all the time. If something fails, what
// was changed is changed back.
//
// The Transaction's journal must be j's, opened to append.
func (t *Transaction) Update(ctx context.Context, j *journal.Journal, p *plan.Plan) (*Difference, error) {
	d, err := t.Compare(j, p)
	if err != nil || d.None() {
		return d, err
	}
	old := t.Recover(j)
	old.script = p.Script
	a := &Applied{t: t, view: view{fs: t.FS}, script: p.Script, steps: d.add, first: len(j.Steps), held: map[string]*string{}}
	set := d.setAnew(old)
	for _, i := range set {
		a.held[old.steps[i].File] = old.steps[i].Held
	}
	for i := range old.steps {
		if s := &old.steps[i]; s.Kind == journal.Instance && old.left(i) && t.FS.Exists(s.File) {
			a.homes = append(a.homes, s.File)
		}
	}
	for _, i := range slices.Backward(d.remove) {
		if slices.Contains(set, i) {
			continue
		}
		if err := old.undoBatch(i, i+1); err != nil {
			return nil, errors.Join(err, old.again(d.remove))
		}
	}
	if err := a.prepare(); err != nil {
		return nil, errors.Join(err, old.again(d.remove))
	}
	if err := a.do(ctx); err != nil {
		err = errors.Join(err, a.Undo())
		for _, i := range set {
			err = errors.Join(err, old.undone(i, i+1))
		}
		return nil, errors.Join(err, old.again(d.remove))
	}
	for _, i := range append(set, d.lost...) {
		if err := old.undone(i, i+1); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// setAnew returns those of d.remove that need not be taken back: files of one
// value that are set once, and are set once to something else. So a filter is
// changed with no record passing between.
func (d *Difference) setAnew(old *Applied) []int {
	files := map[string]int{}
	for _, i := range d.remove {
		files[old.steps[i].File]++
	}
	var list []int
	for _, i := range d.remove {
		s := &old.steps[i]
		again := 0
		for k := range d.add {
			if d.add[k].File == s.File {
				again++
			}
		}
		goes := slices.ContainsFunc(d.remove, func(k int) bool { return s.hangsOn(&old.steps[k]) })
		if s.Kind == journal.Value && files[s.File] == 1 && again == 1 && !goes {
			list = append(list, i)
		}
	}
	return list
}

// again does steps that were taken back, also those of which the kernel said that
// it could not.
func (a *Applied) again(list []int) error {
	a.view.stale()
	var errs []error
	for _, i := range list {
		there, err := a.view.look(&a.steps[i])
		if err == nil && there == Absent {
			err = a.doBatch(i, i+1, nil)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Drift is a step that is not in the kernel as it was done.
type Drift struct {
	Step journal.Step
	Is   Presence // Absent or Changed
}

// Drifts tells what others have changed of what was applied: steps that the kernel
// does not show, or shows otherwise. Values that change without anybody's doing do
// not count: those that the script's own triggers turn, and lists of threads.
func (a *Applied) Drifts() ([]Drift, error) {
	a.view.stale()
	presence, err := a.presence()
	if err != nil {
		return nil, err
	}
	turned := map[string]bool{}
	for i := range a.steps {
		if a.steps[i].Kind == journal.Kept {
			turned[a.steps[i].File] = true
		}
	}
	var list []Drift
	for i := range a.steps {
		s := &a.steps[i]
		if a.left(i) && presence[i] != Present && !(s.Kind == journal.Value && (turned[s.File] || listsThreads(s.File))) {
			list = append(list, Drift{s.Step, presence[i]})
		}
	}
	return list, nil
}

// Drifts tells what of the journal's steps is not in the kernel any more, or is
// another.
func (t *Transaction) Drifts(j *journal.Journal) ([]Drift, error) {
	a := t.Recover(j)
	presence, err := a.presence()
	if err != nil {
		return nil, err
	}
	var list []Drift
	for i := range a.steps {
		if a.left(i) && presence[i] != Present {
			list = append(list, Drift{a.steps[i].Step, presence[i]})
		}
	}
	return list, nil
}
