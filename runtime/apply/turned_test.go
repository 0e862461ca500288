package apply

import (
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/runtime/journal"
)

// turning is a plan whose trigger turns an event and the buffer, and which removes
// another trigger again.
func turning(t *testing.T) *plan.Plan {
	p := newPlan(t, "")
	trigger := func(data, undo string, restore ...plan.Write) plan.Write {
		w := plan.Write{File: "events/sched/sched_waking/trigger", Instanced: true, Data: data, Restore: restore}
		if undo != "" {
			w.Undo = &plan.Write{File: w.File, Instanced: true, Data: undo}
		}
		return w
	}
	p.Writes = append(p.Writes[3:5:5],
		trigger("stacktrace", "!stacktrace"),
		trigger("!stacktrace", ""),
		trigger("enable_event:sched:switch", "!enable_event:sched:switch",
			plan.Write{File: "events/sched/switch/enable", Instanced: true, Data: "0", Mode: plan.Truncate}),
		trigger("traceoff", "!traceoff", plan.Write{File: "tracing_on", Instanced: true, Data: "1", Mode: plan.Truncate}))
	return p
}

// TestRemovedTriggerIsNoChangeOfOthers: a run gives a trigger a condition, which its
// removal does not have.
func TestRemovedTriggerIsNoChangeOfOthers(t *testing.T) {
	for _, made := range []string{"traceoff:0", "traceoff:0 if common_pid >= 0"} {
		k := newKernel(t)
		k.odd = func(_, line string) string { // it goes by the kind of a trigger
			if line == "!traceoff:0" {
				return "!" + made
			}
			return line
		}
		p := newPlan(t, "")
		file := "events/sched/sched_waking/trigger"
		p.Writes = append(p.Writes[3:5:5],
			plan.Write{File: file, Instanced: true, Data: made, Undo: &plan.Write{File: file, Instanced: true, Data: "!" + made}},
			plan.Write{File: file, Instanced: true, Data: "!traceoff:0"})
		a, err := Apply(t.Context(), k, p)
		if err != nil {
			t.Fatal(err)
		}
		if drifts, err := a.Drifts(); err != nil || len(drifts) > 0 {
			t.Errorf("'%s', which the script removed, is a change of others: %+v, %v", made, drifts, err)
		}
	}
}

func TestWhatTriggersTurnIsPutBack(t *testing.T) {
	for _, held := range []string{"0", "1"} {
		k := newKernel(t)
		k.files["tracing_on"] = held + "\n"
		before := k.state()
		a, err := Apply(t.Context(), k, turning(t))
		if err != nil {
			t.Fatal(err)
		}
		k.files["tracing_on"] = "0\n"
		k.files["events/sched/switch/enable"] = "1*\n"
		if drifts, err := a.Drifts(); err != nil || len(drifts) > 0 {
			t.Errorf("what triggers turned is a change of others: %+v, %v", drifts, err)
		}
		if err := a.Undo(); err != nil {
			t.Error(err)
		}
		same(t, "undone", before, k.state())
	}
}

// TestRemovedTriggerIsNotMadeAgain: whatever step a plan that removes triggers ends
// at, recovering makes none.
func TestRemovedTriggerIsNotMadeAgain(t *testing.T) {
	for _, after := range []bool{false, true} {
		for n := 0; ; n++ {
			k := newKernel(t)
			k.files["tracing_on"] = "1\n"
			before := k.state()
			tried := false
			k.fault = func(at int, late bool, _ string) error {
				if at == n && late == after {
					tried = true
					return errFault
				}
				return nil
			}
			a, err := Apply(t.Context(), k, turning(t))
			if err == nil {
				err = a.Undo()
			}
			k.fault = nil
			if a != nil && err != nil {
				if err := a.Undo(); err != nil {
					t.Errorf("change %d: %v", n, err)
				}
			}
			same(t, "broken", before, k.state())
			if !tried {
				break
			}
		}
	}
}

func TestDriftsAreTheChangesOfOthers(t *testing.T) {
	k := newKernel(t)
	a, err := Apply(t.Context(), k, newPlan(t, "mine"))
	if err != nil {
		t.Fatal(err)
	}
	if drifts, err := a.Drifts(); err != nil || len(drifts) != 0 {
		t.Errorf("nobody changed anything: %+v, %v", drifts, err)
	}
	k.files["instances/mine/events/sched/switch/enable"] = "0\n"
	k.files["instances/mine/events/sched/sched_waking/trigger"] = ""
	drifts, err := a.Drifts()
	var files []string
	for _, d := range drifts {
		files = append(files, d.Step.File)
	}
	if got := strings.Join(files, " "); err != nil || got != "instances/mine/events/sched/sched_waking/trigger instances/mine/events/sched/switch/enable" {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestOthersRecordsAreKept: removing an event that was on in an instance empties
// its buffer, so nothing is made where others record.
func TestOthersRecordsAreKept(t *testing.T) {
	for what, set := range map[string]func(k *kernel){
		"somebody records events": func(k *kernel) { k.files["instances/mine/events/enable"] = "1\n" },
		"there are records":       func(k *kernel) { k.files["instances/mine/per_cpu/cpu0/stats"] = "entries: 3\noverrun: 0\n" },
		"":                        func(k *kernel) { k.files["instances/mine/per_cpu/cpu0/stats"] = "entries: 0\n" },
	} {
		k := newKernel(t)
		if err := k.MakeInstance("mine"); err != nil {
			t.Fatal(err)
		}
		set(k)
		p := newPlan(t, "mine")
		p.Writes = p.Writes[2:8] // no clock: changing that is refused by itself
		writes := k.writes
		_, err := Apply(t.Context(), k, p)
		if what == "" {
			if err != nil {
				t.Errorf("an empty instance: %v", err)
			}
			continue
		}
		if want := what + " there, and removing this event would empty the buffer"; err == nil || !strings.Contains(err.Error(), want) || k.writes != writes {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestClosedJournal: what cannot be noted is not done, or is taken back.
func TestClosedJournal(t *testing.T) {
	dir, err := journal.OpenDir(t.TempDir()+"/ep", true)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	w, err := dir.Create("run-1", journal.Head{Kind: journal.Run})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w, err = dir.Append("run-1")
	if err != nil {
		t.Fatal(err)
	}
	before := newKernel(t).state()
	k := newKernel(t)
	tr := &Transaction{FS: k, Journal: w}
	full := 0
	k.fault = func(n int, after bool, _ string) error {
		if n == 1 && after {
			full++
			_ = w.Close() // from here on nothing can be noted
		}
		return nil
	}
	if _, err := tr.Apply(t.Context(), newPlan(t, "mine")); err == nil || full == 0 {
		t.Errorf("got %v after %d", err, full)
	}
	k.fault = nil
	j, err := dir.Read("run-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := (&Transaction{FS: k}).Recover(j).Undo(); err != nil {
		t.Error(err)
	}
	same(t, "recovered", before, k.state())
}
