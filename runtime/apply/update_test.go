package apply

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/runtime/journal"
)

// installed is a plan in force on a kernel, with its journal.
type installed struct {
	t   *testing.T
	k   *kernel
	dir *journal.Dir
}

func install(t *testing.T, p *plan.Plan) *installed {
	t.Helper()
	dir, err := journal.OpenDir(t.TempDir()+"/ep", true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	in := &installed{t, newKernel(t), dir}
	w, err := dir.Create("apply-x", journal.Head{Kind: journal.Install, Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := (&Transaction{FS: in.k, Journal: w}).Apply(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := w.Complete(true); err != nil {
		t.Fatal(err)
	}
	return in
}

func (in *installed) journal() *journal.Journal {
	in.t.Helper()
	j, err := in.dir.Read("apply-x")
	if err != nil {
		in.t.Fatal(err)
	}
	return j
}

func (in *installed) update(p *plan.Plan) (*Difference, error) {
	in.t.Helper()
	w, err := in.dir.Append("apply-x")
	if err != nil {
		in.t.Fatal(err)
	}
	defer w.Close()
	return (&Transaction{FS: in.k, Journal: w}).Update(in.t.Context(), in.journal(), p)
}

func (in *installed) remove() {
	in.t.Helper()
	w, err := in.dir.Append("apply-x")
	if err != nil {
		in.t.Fatal(err)
	}
	defer w.Close()
	if err := (&Transaction{FS: in.k, Journal: w}).Recover(in.journal()).Undo(); err != nil {
		in.t.Error(err)
	}
}

func datas(list []journal.Step) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.Data)
	}
	return out
}

func TestUpdateOfTheSameIsNothing(t *testing.T) {
	for _, instance := range []string{"", "mine"} {
		before := newKernel(t).state()
		in := install(t, newPlan(t, instance))
		state, writes := in.k.state(), in.k.writes
		for range 2 {
			d, err := in.update(newPlan(t, instance))
			if err != nil || !d.None() {
				t.Errorf("got %+v and %v", d, err)
			}
		}
		if in.k.writes != writes {
			t.Errorf("%d writes", in.k.writes-writes)
		}
		same(t, "updated", state, in.k.state())
		in.remove()
		same(t, "removed", before, in.k.state())
	}
}

func TestUpdateIsTheLeastChange(t *testing.T) {
	in := install(t, newPlan(t, "mine"))
	p := newPlan(t, "mine")
	p.Writes[3].Data = "e:sched/switch sched.sched_switch prev=$prev_pid:u64"
	d, err := in.update(p)
	if err != nil {
		t.Fatal(err)
	}
	// What hangs on the event goes with it; the other event and the histogram
	// stay.
	if got, want := datas(d.Remove), []string{"1", "prev > 1", "e:sched/switch sched.sched_switch prev=$prev_pid:u32"}; !slices.Equal(got, want) {
		t.Errorf("removed %q, want %q", got, want)
	}
	if got, want := datas(d.Add), []string{"e:sched/switch sched.sched_switch prev=$prev_pid:u64", "prev > 1", "1"}; !slices.Equal(got, want) {
		t.Errorf("added %q, want %q", got, want)
	}
	if d, err := in.update(p); err != nil || !d.None() {
		t.Errorf("again: got %+v and %v", d, err)
	}
	in.remove()
	same(t, "removed", newKernel(t).state(), in.k.state())
}

func TestWhatOthersRemovedIsMadeAgain(t *testing.T) {
	in := install(t, newPlan(t, "mine"))
	state := in.k.state()
	in.k.files["instances/mine/events/sched/sched_waking/trigger"] = ""
	in.k.files["instances/mine/events/sched/switch/enable"] = "0\n"
	drifts, err := (&Transaction{FS: in.k}).Drifts(in.journal())
	if err != nil || len(drifts) != 2 || drifts[0].Is != Absent || drifts[1].Step.Data != "1" {
		t.Errorf("got %+v and %v", drifts, err)
	}
	d, err := in.update(newPlan(t, "mine"))
	if err != nil || len(d.Lost) != 2 || len(d.Remove) != 0 {
		t.Errorf("got %+v and %v", d, err)
	}
	same(t, "mended", state, in.k.state())
	in.remove()
	same(t, "removed", newKernel(t).state(), in.k.state())
}

// TestFilterIsSetAnew: it is not taken back first, for what passes meanwhile is not
// asked for; the event is on, which is the script's own doing.
func TestFilterIsSetAnew(t *testing.T) {
	for _, instance := range []string{"", "mine"} {
		in := install(t, newPlan(t, instance))
		p := newPlan(t, instance)
		p.Writes[6].Data = "prev > 2"
		in.k.odd = func(file, line string) string {
			if strings.HasSuffix(file, "/filter") && line == "0" {
				t.Errorf("instance '%s': all records pass", instance)
			}
			return line
		}
		d, err := in.update(p)
		if err != nil || len(d.Add) != 1 || len(d.Remove) != 1 {
			t.Errorf("instance '%s': got %+v and %v", instance, d, err)
		}
		if d, err := in.update(p); err != nil || !d.None() {
			t.Errorf("again: got %+v and %v", d, err)
		}
		in.k.odd = nil
		in.remove()
		same(t, "removed", newKernel(t).state(), in.k.state())
	}
}

// TestWhatOthersSet: in the script's own instance it is set back; elsewhere it is
// theirs, and stays known as changed.
func TestWhatOthersSet(t *testing.T) {
	for _, instance := range []string{"", "mine"} {
		in := install(t, newPlan(t, instance))
		clock, filter := "trace_clock", "events/sched/switch/filter"
		if instance != "" {
			clock, filter = "instances/mine/"+clock, "instances/mine/"+filter
		}
		state := in.k.state()
		in.k.files[clock], in.k.files[filter] = "local global [mono]", "prev > 7\n"
		_, err := in.update(newPlan(t, instance))
		if instance != "" {
			if err != nil {
				t.Error(err)
			}
			same(t, "mended", state, in.k.state())
			continue
		}
		if !errors.Is(err, errInTheWay) {
			t.Errorf("got %v", err)
		}
		drifts, err := (&Transaction{FS: in.k}).Drifts(in.journal())
		if err != nil || len(drifts) != 2 || drifts[0].Is != Changed {
			t.Errorf("got %+v and %v", drifts, err)
		}
	}
}

func TestUpdateThatFailsChangesNothing(t *testing.T) {
	in := install(t, newPlan(t, "mine"))
	state := in.k.state()
	p := newPlan(t, "mine")
	p.Writes[4].Data = "e:sched/other sched.sched_switch next=$next_pid:BAD"
	p.Writes[6].Data = "prev > 2"
	p.Writes[7].Data = "1"
	_, err := in.update(p)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	same(t, "failed", unordered(state), unordered(in.k.state()))
	if d, err := in.update(newPlan(t, "mine")); err != nil || !d.None() {
		t.Errorf("the old plan: got %+v and %v", d, err)
	}
	in.remove()
	same(t, "removed", newKernel(t).state(), in.k.state())
}

// TestEveryFaultOfAnUpdate: after an error at any change the script is as it was
// installed; after an end of the process there, all can be taken back.
func TestEveryFaultOfAnUpdate(t *testing.T) {
	faults := 0
	for _, instance := range []string{"", "mine"} {
		for n := 0; ; n++ {
			tried := false
			for _, after := range []bool{false, true} {
				for _, dies := range []bool{false, true} {
					tried = breakUpdate(t, instance, n, after, dies) || tried
					faults++
				}
			}
			if !tried {
				break
			}
		}
	}
	t.Logf("%d faults", faults)
}

func breakUpdate(t *testing.T, instance string, n int, after, dies bool) (tried bool) {
	start := newKernel(t).state()
	in := install(t, newPlan(t, instance))
	in.k.files["events/sched/sched_switch/trigger"] = "hist:keys=comm [active]\n"
	start["events/sched/sched_switch/trigger"] = in.k.files["events/sched/sched_switch/trigger"]
	state := in.k.state()
	p := newPlan(t, instance)
	p.Writes[4].Data = "e:sched/other sched.sched_switch next=$next_pid:u64"
	p.Writes[6].Data = "prev > 2"
	first := in.k.writes
	in.k.fault = func(at int, afterwards bool, _ string) error {
		if at != first+n || after != afterwards || tried {
			return nil
		}
		tried = true
		if dies {
			panic(errFault)
		}
		return errFault
	}
	func() {
		defer func() {
			if r := recover(); r != nil && r != errFault {
				panic(r)
			}
		}()
		_, err := in.update(p)
		if tried && !errors.Is(err, errFault) {
			t.Errorf("instance '%s', change %d (after: %v): got %v", instance, n, after, err)
		}
		if tried {
			same(t, "failed", unordered(state), unordered(in.k.state()))
		}
	}()
	in.k.fault = nil
	in.remove()
	same(t, fmt.Sprintf("instance '%s', change %d (after: %v, dies: %v)", instance, n, after, dies), start, in.k.state())
	return tried
}

// unordered sorts the events: what was taken back and made again stands at
// another place of the list.
func unordered(s map[string]string) map[string]string {
	s = maps.Clone(s)
	lines := strings.Split(s["dynamic_events"], "\n")
	slices.Sort(lines)
	s["dynamic_events"] = strings.Join(lines, "\n")
	return s
}
