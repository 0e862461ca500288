package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/runtime/journal"
	"github.com/eptrace/ep/runtime/tracefs"
	"golang.org/x/sys/unix"
)

// Recover returns what a run has left in the kernel, by its journal, for Undo to
// take back.
func (t *Transaction) Recover(j *journal.Journal) *Applied {
	a := &Applied{t: t, view: view{fs: t.FS}, states: append([]journal.State(nil), j.States...)}
	for _, s := range j.Steps {
		a.steps = append(a.steps, newStep(s, nil))
	}
	return a
}

// Undo takes back what was done, the last first, as if it had not been: also
// what files of one value held, and the instance if Apply made it. It goes on
// after an error, and returns all; what is still there can be taken back by
// another Undo.
//
// What is not there any more, or was changed by others meanwhile, is let be.
// Setting the clock back empties the buffer of the instance, and removing an
// event takes its records with it: read them first. Of two plans that set one
// file, as those do whose histograms keep times, undo the later first.
func (a *Applied) Undo() error {
	a.view.stale()
	var errs []error
	for hi := len(a.steps); hi > 0; {
		lo := hi - 1
		if a.left(lo) {
			for a.steps[lo].dynamic() && lo > 0 && a.steps[lo-1].dynamic() && a.left(lo-1) {
				lo--
			}
			if err := a.undoBatch(lo, hi); err != nil {
				errs = append(errs, err)
			}
		}
		hi = lo
	}
	return errors.Join(errs...)
}

// left reports whether step i may have left something in the kernel.
func (a *Applied) left(i int) bool {
	return a.states[i] == journal.Begun || a.states[i] == journal.Done
}

// undoBatch takes the steps [lo, hi) back: one, or several that are for
// dynamic_events.
func (a *Applied) undoBatch(lo, hi int) error {
	var lines []string
	for i := hi - 1; i >= lo; i-- {
		data, err := a.undoing(i)
		if err != nil {
			return fmt.Errorf("take back: %w", err)
		}
		if data != nil {
			lines = append(lines, *data)
		}
	}
	s := &a.steps[lo]
	if len(lines) == 0 {
		return a.undone(lo, hi)
	}
	err := a.takeBack(s, strings.Join(lines, "\n"))
	if hi-lo > 1 && err != nil {
		return a.undoEach(lo, hi)
	}
	if errors.Is(err, fs.ErrNotExist) && a.nothingLeft(s) {
		err = nil // it went between the look and the write
	}
	if err == nil {
		err = a.gone(lo, hi)
	}
	if err != nil {
		return a.whoHolds(s, err)
	}
	return a.undone(lo, hi)
}

// nothingLeft reports whether the kernel shows nothing of s any more.
func (a *Applied) nothingLeft(s *step) bool {
	a.view.stale()
	there, err := a.view.look(s)
	return err == nil && there == Absent && !s.odd
}

// undoEach takes back one by one what a batch has left.
func (a *Applied) undoEach(lo, hi int) error {
	a.view.stale()
	var errs []error
	for i := hi - 1; i >= lo; i-- {
		errs = append(errs, a.undoBatch(i, i+1))
	}
	return errors.Join(errs...)
}

// undoing returns what to write to take step i back, nil if there is nothing to
// be done.
func (a *Applied) undoing(i int) (*string, error) {
	s := &a.steps[i]
	if s.Undo == nil && s.Kind != journal.Instance || a.goesWith(s) {
		return nil, nil
	}
	there, err := a.view.look(s)
	if err != nil {
		return nil, err
	}
	s.odd = s.odd || a.interrupted(i, there)
	if there == Changed && (s.odd || a.setElsewhere(s)) {
		there = Present
	}
	if s.odd && there == Absent && s.Kind == journal.Command && !s.dynamic() {
		return a.oddTriggers(i)
	}
	if s.Kind == journal.Instance && there == Present {
		if err := a.emptied(i); err != nil {
			return nil, err
		}
	}
	if there != Present {
		// A value that others set is theirs; so is an event of the name that is
		// another.
		return nil, nil
	}
	if s.Kind == journal.Instance {
		return new(string), nil
	}
	data := s.Undo.Data
	switch s.Kind {
	case journal.Value:
		data = s.before()
	case journal.Kept:
		return a.given(s)
	}
	if s.dynamic() {
		data = a.removal(s)
	}
	return &data, nil
}

// given returns what gives a file back what it held before triggers changed it,
// nil if it holds that.
func (a *Applied) given(s *step) (*string, error) {
	text, err := a.t.FS.Read(s.File)
	if err != nil {
		return nil, missing(err)
	}
	data := s.before()
	if held, ok := heldIn(s.File, string(text)); ok && held == data {
		return nil, nil
	}
	return &data, nil
}

// missing returns nil of an error that says that a file is not there: what was in
// it has gone with it.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// interrupted reports whether a run that was killed at step i had the kernel make
// something else of it, which nobody had looked at yet: an event of the step's
// kind at the step's place, for the name was free before; or triggers in an
// instance that is the run's own.
func (a *Applied) interrupted(i int, there Presence) bool {
	s := &a.steps[i]
	if a.states[i] != journal.Begun || s.Kind != journal.Command {
		return false
	}
	if !s.dynamic() {
		return there == Absent && a.inOwnInstance(s)
	}
	list, err := a.view.list()
	if err != nil || there != Changed {
		return false
	}
	lines := list[s.event()]
	return len(lines) == 1 && place(lines[0]) == place(s.Data)
}

// place returns of a command for dynamic_events what makes which event where: its
// first two words, as the kernel shows them.
func place(line string) string {
	words := strings.Fields(line)
	line = strings.Join(words[:min(2, len(words))], " ")
	c, err := command.Parse(dynamicEvents, line)
	if err != nil {
		return line
	}
	if text, err := command.Print(command.Shown(c)); err == nil {
		return text
	}
	return line
}

// oddTriggers returns what removes the triggers that the kernel made of step i in
// other words than the step's, nil if there are none: those of its file that were
// not there before and are of no other step.
func (a *Applied) oddTriggers(i int) (*string, error) {
	s := &a.steps[i]
	text, err := a.t.FS.Read(s.File)
	if err != nil {
		return nil, missing(err)
	}
	var list []string
	for _, line := range triggerLines(string(text)) {
		if slices.Contains(s.was, line) {
			continue
		}
		others := false
		for k := range a.steps {
			others = others || k != i && a.steps[k].File == s.File && a.view.lookTrigger(&a.steps[k], line) == Present
		}
		if !others {
			list = append(list, "!"+line)
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	all := strings.Join(list, "\n")
	return &all, nil
}

// triggerLines returns the triggers that a file of triggers shows, as they would
// be written.
func triggerLines(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		line = strings.TrimSuffix(strings.TrimSuffix(line, " [active]"), " [paused]")
		list = append(list, line)
	}
	return list
}

// emptied demands that all triggers in the instance of step i were removed. An
// instance can be removed with its triggers, but the synthetic events that its
// histograms emit then count as used until the machine is booted anew: only
// "!hist:…" gives them free (kernel/trace/trace_events_hist.c,
// event_hist_trigger_parse; clear_event_triggers does not).
func (a *Applied) emptied(i int) error {
	for k := i + 1; k < len(a.steps); k++ {
		s := &a.steps[k]
		if a.left(k) && s.Kind == journal.Command && strings.HasPrefix(s.File, a.steps[i].File+"/") {
			return fmt.Errorf("%s is kept: '%s' is still there", a.steps[i].File, s.Data)
		}
	}
	return nil
}

// goesWith reports whether s is a setting of an instance that is removed too.
// (What is on must be turned off nevertheless: it holds events.)
func (a *Applied) goesWith(s *step) bool {
	return (s.Kind == journal.Value || s.Kind == journal.Kept) && !strings.Contains(s.File, "/events/") && a.inOwnInstance(s)
}

// inOwnInstance reports whether s is in an instance that was made with it.
func (a *Applied) inOwnInstance(s *step) bool {
	for i := range a.steps {
		if o := &a.steps[i]; o.Kind == journal.Instance && a.left(i) && strings.HasPrefix(s.File, o.File+"/") {
			return true
		}
	}
	return false
}

// setElsewhere reports whether a file holds what another step set it to.
func (a *Applied) setElsewhere(s *step) bool {
	if s.Kind != journal.Value {
		return false
	}
	text, err := a.t.FS.Read(s.File)
	if err != nil {
		return false
	}
	for i := range a.steps {
		o := &a.steps[i]
		if o.Kind == journal.Value && o.File == s.File && a.states[i] != journal.Planned && sameValue(o.File, string(text), o.Data) {
			return true
		}
	}
	return false
}

// removal returns the command that removes the event of s. If others have added
// probes of theirs to it, it says which is ours, by the kernel's own words.
func (a *Applied) removal(s *step) string {
	list, err := a.view.list()
	if err != nil || len(list[s.event()]) < 2 {
		return s.Undo.Data
	}
	line, ok := ownLine(s, list[s.event()])
	if !ok {
		return s.Undo.Data
	}
	_, words, _ := strings.Cut(line, " ")
	return strings.TrimSuffix(s.Undo.Data, ";") + " " + words
}

// takeBack writes the undo of s.
func (a *Applied) takeBack(s *step, data string) error {
	switch s.Kind {
	case journal.Instance:
		return a.t.FS.RemoveInstance(setting(s.File))
	case journal.Value, journal.Kept:
		return a.t.FS.Write(s.File, data, tracefs.Truncate)
	}
	a.view.stale()
	if s.dynamic() {
		return a.remove(data)
	}
	for line := range strings.SplitSeq(data, "\n") { // a trigger takes a write of its own
		if err := a.t.FS.Write(s.File, line, tracefs.Append); err != nil {
			return err
		}
	}
	return nil
}

// busyFor is how long removing an event is tried again. A trigger that was removed
// is freed later, and holds the event that it turned until then (Linux 7.2: some
// milliseconds).
const busyFor = time.Second

// remove writes data, which removes events, and tries again while they are busy
// and nothing shows by whom.
func (a *Applied) remove(data string) error {
	for end := time.Now().Add(busyFor); ; time.Sleep(busyFor / 100) {
		a.view.stale()
		err := a.t.FS.Write(dynamicEvents, data, tracefs.Append)
		if !errors.Is(err, unix.EBUSY) || strings.Contains(data, "\n") || time.Now().After(end) {
			return err
		}
		if d, parseErr := command.Parse(dynamicEvents, data); parseErr == nil {
			if d, ok := d.(*command.Delete); ok && len(a.uses(d.EventName)) > 0 {
				return err
			}
		}
	}
}

// gone demands that what was removed is not shown any more: "!hist:…" that fits
// no histogram removes nothing, and the kernel says that all is well.
func (a *Applied) gone(lo, hi int) error {
	for i := lo; i < hi; i++ {
		s := &a.steps[i]
		if s.Kind != journal.Command || removes(s.cmd) || s.Undo == nil || s.dynamic() && s.event().Name == "" {
			continue
		}
		there, err := a.view.look(s)
		if err != nil {
			return err
		}
		if s.odd && there == Absent && !s.dynamic() {
			more, err := a.oddTriggers(i)
			if err != nil {
				return err
			}
			if more != nil {
				there = Changed
			}
		}
		if there == Present || there == Changed && s.odd {
			return &fs.PathError{Op: "write", Path: s.File, Err: fmt.Errorf("%w: '%s' is still there", errNotAsAsked, s.Data)}
		}
	}
	return nil
}

// whoHolds says what cannot be taken back and, of an event, what still uses it.
func (a *Applied) whoHolds(s *step, err error) error {
	if !s.dynamic() || !errors.Is(err, unix.EBUSY) {
		return fmt.Errorf("take back: %w", err)
	}
	name := s.event()
	uses := a.uses(name)
	if len(uses) == 0 {
		uses = append(uses, "something uses it")
	}
	return fmt.Errorf("event '%s' cannot be removed: %s (%w)", name, strings.Join(uses, ", "), unix.EBUSY)
}

// uses tells what uses an event, as far as tracefs shows it.
func (a *Applied) uses(name command.EventName) []string {
	var uses []string
	if on := a.enabledIn(name); on != "" {
		uses = append(uses, "it is on in "+on)
	}
	if in := a.triggersOn(name); in != "" {
		uses = append(uses, "it has triggers in "+in)
	}
	if list, listErr := a.view.list(); listErr == nil {
		for event, lines := range list {
			for _, line := range lines {
				c, parseErr := command.Parse(dynamicEvents, line)
				if e, ok := c.(*command.Eprobe); parseErr == nil && ok && e.On.Group == name.Group && e.On.Name == name.Name {
					uses = append(uses, fmt.Sprintf("event '%s' is made of it", event))
				}
			}
		}
	}
	slices.Sort(uses)
	return uses
}

// triggersOn lists where an event has triggers, "" if nowhere.
func (a *Applied) triggersOn(name command.EventName) string {
	return a.where(name, "trigger", func(text string) bool { return len(triggerLines(text)) > 0 })
}

// enabledIn lists where an event is enabled, "" if nowhere.
func (a *Applied) enabledIn(name command.EventName) string {
	return a.where(name, "enable", func(text string) bool { return strings.HasPrefix(text, "1") })
}

// where lists the places whose file of an event is as is says.
func (a *Applied) where(name command.EventName, file string, is func(text string) bool) string {
	var list []string
	places := []string{""}
	if more, err := a.t.FS.Instances(); err == nil {
		places = append(places, more...)
	}
	for _, in := range places {
		text, err := a.t.FS.Read(tracefs.In(in, eventDir(name)+"/"+file))
		if err != nil || !is(string(text)) {
			continue
		}
		if in == "" {
			list = append(list, "the top level")
			continue
		}
		list = append(list, "instance '"+in+"'")
	}
	return strings.Join(list, ", ")
}
