package apply

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/runtime/tracefs"
)

// These tests see the writes as plain files take them: each is appended, or
// takes the place of all. What a kernel makes of them is proved in
// runtime/proof.

const text = "event sched.switch from sched.sched_switch { prev = prev_pid }\ntrace sched.switch\n"

// newPlan is a plan of three writes; the last file is missing if broken.
func newPlan(t *testing.T, broken bool) *plan.Plan {
	t.Helper()
	src, err := source.New("switch.ep", text)
	if err != nil {
		t.Fatal(err)
	}
	last := "events/sched/switch/enable"
	if broken {
		last = "events/sched/switch/none"
	}
	return &plan.Plan{Script: src, Writes: []plan.Write{
		{File: "dynamic_events", Data: "e:sched/switch sched.sched_switch prev=$prev_pid:u32;", Undo: &plan.Write{File: "dynamic_events", Data: "-:sched/switch;"}},
		{File: "events/sched/switch/filter", Instanced: true, Data: "prev > 1", Mode: plan.Truncate,
			Undo: &plan.Write{File: "events/sched/switch/filter", Instanced: true, Data: "0", Mode: plan.Truncate}},
		{File: last, Instanced: true, Data: "1", Mode: plan.Truncate,
			Undo:   &plan.Write{File: last, Instanced: true, Data: "0", Mode: plan.Truncate},
			Origin: []plan.Origin{{Lo: 0, Hi: 1, Span: source.Span{Start: 63, End: 81}}}},
	}}
}

var before = map[string]string{
	"dynamic_events":             "",
	"trace_clock":                "[local] global\n",
	"error_log":                  "",
	"events/sched/switch/filter": "none\n",
	"events/sched/switch/enable": "0*\n",
}

func fake(t *testing.T) (*tracefs.FS, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range before {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := tracefs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, dir
}

func want(t *testing.T, f *tracefs.FS, files map[string]string) {
	t.Helper()
	for name, want := range files {
		if got, err := f.Read(name); err != nil || string(got) != want {
			t.Errorf("%s: got %q and %v, want %q", name, got, err, want)
		}
	}
}

func TestApplyWritesAndUndoTakesBack(t *testing.T) {
	f, _ := fake(t)
	a, err := Apply(t.Context(), f, newPlan(t, false))
	if err != nil {
		t.Fatal(err)
	}
	want(t, f, map[string]string{
		"dynamic_events":             "e:sched/switch sched.sched_switch prev=$prev_pid:u32;",
		"events/sched/switch/filter": "prev > 1",
		"events/sched/switch/enable": "1",
	})
	if err := a.Undo(); err != nil {
		t.Fatal(err)
	}
	want(t, f, map[string]string{
		"dynamic_events":             "e:sched/switch sched.sched_switch prev=$prev_pid:u32;-:sched/switch;",
		"events/sched/switch/filter": "0",
		"events/sched/switch/enable": "0",
	})
}

func TestWhatAFileHeldIsGivenBack(t *testing.T) {
	f, dir := fake(t)
	held := map[string]string{"events/sched/switch/filter": "prev == 7\n", "events/sched/switch/enable": "1\n", "trace_clock": "local global [mono]\n"}
	for name, text := range held {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := newPlan(t, false)
	p.Writes = append(p.Writes, plan.Write{File: "trace_clock", Instanced: true, Data: "global", Mode: plan.Truncate,
		Undo: &plan.Write{File: "trace_clock", Instanced: true, Data: "local", Mode: plan.Truncate}})
	a, err := Apply(t.Context(), f, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Undo(); err != nil {
		t.Fatal(err)
	}
	want(t, f, map[string]string{"events/sched/switch/filter": "prev == 7", "events/sched/switch/enable": "1", "trace_clock": "mono"})
}

func TestFailureTakesBackWhatWasDone(t *testing.T) {
	f, _ := fake(t)
	_, err := Apply(t.Context(), f, newPlan(t, true))
	var refused *Error
	if !errors.As(err, &refused) || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("got %v, want an *Error of ErrNotExist", err)
	}
	if refused.File != "events/sched/switch/none" || refused.Byte != -1 || refused.Log != nil || !strings.HasPrefix(err.Error(), "switch.ep:2:1: ") {
		t.Errorf("got %+v: %v", refused, err)
	}
	want(t, f, map[string]string{
		"dynamic_events":             "e:sched/switch sched.sched_switch prev=$prev_pid:u32;-:sched/switch;",
		"events/sched/switch/filter": "0",
		"events/sched/switch/enable": "0*\n",
	})
}

func TestApplyHeedsItsContext(t *testing.T) {
	f, _ := fake(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Apply(ctx, f, newPlan(t, false)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	want(t, f, before)
}

func TestInstanceIsMadeAndRemoved(t *testing.T) {
	f, dir := fake(t)
	if err := os.Mkdir(filepath.Join(dir, "instances"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := newPlan(t, false)
	p.Instance, p.Writes = "mine", p.Writes[:1]
	a, err := Apply(t.Context(), f, p)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Exists("instances/mine") {
		t.Error("the instance was not made")
	}
	if err := a.Undo(); err != nil {
		t.Error(err)
	}
	if f.Exists("instances/mine") {
		t.Error("the instance was not removed")
	}
}

func TestSpanIsTheInnermostOrigin(t *testing.T) {
	span := func(a, b int) source.Span { return source.Span{Start: source.Pos(a), End: source.Pos(b)} }
	w := &plan.Write{Data: "hist:keys=pid", Origin: []plan.Origin{{Lo: 0, Hi: 13, Span: span(5, 50)}, {Lo: 10, Hi: 13, Span: span(20, 23)}, {Lo: 5, Hi: 9, Span: span(60, 61)}}}
	for _, c := range []struct {
		at   int
		want source.Span
	}{{11, span(20, 23)}, {6, span(60, 61)}, {0, span(5, 50)}, {-1, span(5, 61)}, {99, span(5, 61)}} {
		if got := spanAt(w, c.at); got != c.want {
			t.Errorf("byte %d: got %v, want %v", c.at, got, c.want)
		}
	}
	if got := spanAt(&plan.Write{}, 0); got.Valid() {
		t.Errorf("got %v of a write without origins", got)
	}
}
