package apply

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/runtime/journal"
	"golang.org/x/sys/unix"
)

const text = "event sched.switch from sched.sched_switch { prev = prev_pid }\ntrace sched.switch\n"

// newPlan is a plan with a write of each kind.
func newPlan(t *testing.T, instance string) *plan.Plan {
	t.Helper()
	src, err := source.New("switch.ep", text)
	if err != nil {
		t.Fatal(err)
	}
	set := func(file, data, undo string) plan.Write {
		return plan.Write{File: file, Instanced: true, Data: data, Mode: plan.Truncate,
			Undo:   &plan.Write{File: file, Instanced: true, Data: undo, Mode: plan.Truncate},
			Origin: []plan.Origin{{Lo: 0, Hi: 1, Span: source.Span{Start: 63, End: 81}}}}
	}
	add := func(file, data, undo string, instanced bool) plan.Write {
		return plan.Write{File: file, Instanced: instanced, Data: data, Undo: &plan.Write{File: file, Instanced: instanced, Data: undo},
			Origin: []plan.Origin{{Lo: 0, Hi: len(data), Span: source.Span{Start: 0, End: 62}}}}
	}
	hist := "hist:keys=pid:ts=common_timestamp"
	return &plan.Plan{Script: src, Instance: instance, Writes: []plan.Write{
		set("trace_clock", "global", "local"),
		set("set_event_pid", "4194304", ""),
		add("dynamic_events", "s:synthetic/both u64 lat", "-:synthetic/both", false),
		add("dynamic_events", "e:sched/switch sched.sched_switch prev=$prev_pid:u32", "-:sched/switch", false),
		add("dynamic_events", "e:sched/other sched.sched_switch next=$next_pid:u32", "-:sched/other", false),
		add("events/sched/sched_waking/trigger", hist, "!"+hist, true),
		set("events/sched/switch/filter", "prev > 1", "0"),
		set("events/sched/switch/enable", "1", "0"),
		set("set_event_pid", "", ""),
	}}
}

func TestApplyDoesAllAndUndoTakesAllBack(t *testing.T) {
	for _, instance := range []string{"", "mine"} {
		k := newKernel(t)
		before := k.state()
		a, err := Apply(t.Context(), k, newPlan(t, instance))
		if err != nil {
			t.Fatal(err)
		}
		dir := ""
		if instance != "" {
			dir = "instances/" + instance + "/"
		}
		for file, want := range map[string]string{
			dir + "events/sched/switch/filter": "prev > 1\n", dir + "events/sched/switch/enable": "1\n",
			dir + "trace_clock": "local [global] mono", dir + "set_event_pid": "",
		} {
			if got := k.files[file]; got != want {
				t.Errorf("%s: got %q, want %q", file, got, want)
			}
		}
		if len(k.events) != 3 {
			t.Errorf("got events %q", k.events)
		}
		if want := k.writes; instance == "" && want != 7 {
			t.Errorf("took %d writes; events are made in one", want)
		}
		if err := a.Undo(); err != nil {
			t.Fatal(err)
		}
		same(t, "undone", before, k.state())
	}
}

func TestWhatAFileHeldIsGivenBack(t *testing.T) {
	k := newKernel(t)
	k.files["options/overwrite"] = "0\n"
	before := k.state()
	p := newPlan(t, "")
	p.Writes = append(p.Writes, plan.Write{File: "options/overwrite", Instanced: true, Data: "1", Mode: plan.Truncate,
		Undo: &plan.Write{File: "options/overwrite", Instanced: true, Data: "1", Mode: plan.Truncate}})
	a, err := Apply(t.Context(), k, p)
	if err != nil {
		t.Fatal(err)
	}
	if got := k.files["options/overwrite"]; got != "1\n" {
		t.Errorf("got %q", got)
	}
	if err := a.Undo(); err != nil {
		t.Fatal(err)
	}
	same(t, "undone", before, k.state())
}

func TestWhatOthersChangedIsLetBe(t *testing.T) {
	k := newKernel(t)
	a, err := Apply(t.Context(), k, newPlan(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	k.files["trace_clock"] = "local global [mono]"
	k.files["events/sched/sched_waking/trigger"] = "hist:keys=comm [active]\n"
	if err := a.Undo(); err != nil {
		t.Fatal(err)
	}
	if got := k.files["trace_clock"]; got != "local global [mono]" {
		t.Errorf("the clock that others set: got %q", got)
	}
	if got := k.files["events/sched/sched_waking/trigger"]; got != "hist:keys=comm [active]\n" {
		t.Errorf("the trigger of others: got %q", got)
	}
}

// TestWhatIsInTheWay: nothing is changed if others have what the plan needs, and
// the error says who.
func TestWhatIsInTheWay(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(k *kernel)
		want string
	}{
		{"event", func(k *kernel) { k.addEvent("sched/other", "p:sched/other vfs_read") },
			"event 'sched.other' is taken: there is a probe of this name, made by somebody"},
		{"event that is on", func(k *kernel) {
			k.addEvent("sched/other", "p:sched/other vfs_read")
			k.files["events/sched/other/enable"] = "1\n"
		}, "event 'sched.other' is taken: there is a probe of this name, on in the top level, made by somebody"},
		{"event of the kernel", func(k *kernel) { k.addEvent("sched/switch", "") },
			"event 'sched.switch' is taken: an event of the kernel's own has this name, made by somebody"},
		{"trigger", func(k *kernel) {
			k.files["events/sched/sched_waking/trigger"] = "hist:keys=pid:vals=hitcount:ts=common_timestamp:sort=hitcount:size=2048:clock=global [active]\n"
		},
			"cannot make the histogram on 'sched.sched_waking': the event has this trigger already, made by somebody"},
		{"clock", func(k *kernel) { k.files["trace_clock"] = "local global [mono]" },
			"cannot set trace_clock: the clock is 'mono', which somebody chose"},
		{"clock of others' records", func(k *kernel) { k.files["events/enable"] = "X\n" },
			"cannot set trace_clock: somebody records events there, and another clock would empty the buffer"},
		{"clock of a tracer", func(k *kernel) { k.files["current_tracer"] = "function\n" },
			"cannot set trace_clock: somebody uses the tracer 'function' there, and another clock would empty the buffer"},
		{"threads that are followed", func(k *kernel) { k.files["set_event_pid"] = "12\n34\n" },
			"cannot set set_event_pid: somebody follows threads there: 12 34"},
	} {
		k := newKernel(t)
		c.set(k)
		before := k.state()
		tr := &Transaction{FS: k, Holder: func(_, _ string) string { return "somebody" }}
		if err := tr.Free(newPlan(t, "")); !errors.Is(err, errInTheWay) {
			t.Errorf("%s: Free: got %v", c.name, err)
		}
		_, err := tr.Apply(t.Context(), newPlan(t, ""))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v", c.name, err)
			continue
		}
		d := e.Diagnostic()
		if d.Message != c.want || d.Code != diag.NameInUse || !d.Span.Valid() {
			t.Errorf("%s: got %+v, want %q", c.name, d, c.want)
		}
		if k.writes != 0 {
			t.Errorf("%s: %d writes", c.name, k.writes)
		}
		same(t, c.name, before, k.state())
	}
}

func TestRefusalIsAtTheScript(t *testing.T) {
	k := newKernel(t)
	before := k.state()
	p := newPlan(t, "mine")
	p.Writes[3].Data = "e:sched/switch sched.sched_switch prev=$prev_pid:BAD"
	p.Writes[3].Origin = append(p.Writes[3].Origin, plan.Origin{Lo: 35, Hi: 52, Span: source.Span{Start: 45, End: 60}})
	_, err := Apply(t.Context(), k, p)
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, unix.EINVAL) {
		t.Fatalf("got %v", err)
	}
	if e.Log == nil || e.Log.Text != "Unknown type" || e.Byte != 49 || p.Script.Slice(e.Span) != "prev = prev_pid" {
		t.Errorf("got %+v: %v, byte %d", e, e.Log, e.Byte)
	}
	d := e.Diagnostic()
	if d.Code != diag.KernelRefused || d.Message != "this kernel refused the event 'sched.switch': unknown type" {
		t.Errorf("got %+v", d)
	}
	same(t, "refused", before, k.state())
}

func TestLieOfTheKernelIsFound(t *testing.T) {
	k := newKernel(t)
	a, err := Apply(t.Context(), k, newPlan(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	k.lie = true
	if err := a.Undo(); !errors.Is(err, errNotAsAsked) {
		t.Errorf("got %v, want %v", err, errNotAsAsked)
	}
	k.lie = false
	if err := a.Undo(); err != nil {
		t.Errorf("the second try: %v", err)
	}
}

// TestWhatTheKernelMadeOtherwiseIsTakenBack: a write that succeeds, and whose file
// then shows something else.
func TestWhatTheKernelMadeOtherwiseIsTakenBack(t *testing.T) {
	for _, c := range []struct{ name, file, asked, made string }{
		{"event", "dynamic_events", "prev=$prev_pid:u32", "prev=$prev_pid:u8"},
		{"event of the same write", "dynamic_events", "next=$next_pid:u32", "next=$next_pid:u64"},
		{"trigger", "events/sched/sched_waking/trigger", "keys=pid", "keys=pid,prio"},
		{"filter", "events/sched/switch/filter", "prev > 1", "prev > 2"},
		{"enable", "events/sched/switch/enable", "1", "0"},
		{"clock", "trace_clock", "global", "mono"},
	} {
		for _, instance := range []string{"", "mine"} {
			k := newKernel(t)
			k.files["events/sched/sched_waking/trigger"] = "hist:keys=comm [active]\n"
			before := k.state()
			k.odd = func(file, line string) string {
				if strings.HasSuffix(file, c.file) && !strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "!") {
					return strings.Replace(line, c.asked, c.made, 1)
				}
				return line
			}
			_, err := Apply(t.Context(), k, newPlan(t, instance))
			if !errors.Is(err, errNotAsAsked) || len(flatten(err)) != 1 {
				t.Errorf("%s, instance '%s': got %v", c.name, instance, err)
			}
			same(t, c.name+" in '"+instance+"'", before, k.state())
		}
	}
}

// TestWhatAKilledRunHadMadeOtherwiseIsTakenBack: the process ends before it could
// look at what the kernel made of a command.
func TestWhatAKilledRunHadMadeOtherwiseIsTakenBack(t *testing.T) {
	for _, c := range []struct{ name, file, asked, made, instance string }{
		{"event", "dynamic_events", "prev=$prev_pid:u32", "prev=$prev_pid:u8", ""},
		{"event of the same write", "dynamic_events", "next=$next_pid:u32", "next=$next_pid:u64", ""},
		{"trigger", "events/sched/sched_waking/trigger", "keys=pid", "keys=pid,prio", "mine"},
	} {
		k := newKernel(t)
		k.files["events/sched/sched_waking/trigger"] = "hist:keys=comm [active]\n"
		before := k.state()
		k.odd = func(file, line string) string {
			if strings.HasSuffix(file, c.file) && !strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "!") {
				return strings.Replace(line, c.asked, c.made, 1)
			}
			return line
		}
		j := killed(t, k, c.instance, func(file string) bool { return strings.HasSuffix(file, c.file) })
		// What others then put into its place is theirs.
		if c.instance == "" {
			other := newKernel(t)
			other.addEvent("sched/switch", "p:sched/switch vfs_read")
			theirs := other.state()
			if err := (&Transaction{FS: other}).Recover(j).Undo(); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			same(t, c.name+" of others", theirs, other.state())
		}
		if err := (&Transaction{FS: k}).Recover(j).Undo(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		same(t, c.name, before, k.state())
	}
}

// newJournal begins the journal "run-1" in a folder of its own.
func newJournal(t *testing.T) (*journal.Dir, *journal.Writer) {
	t.Helper()
	dir, err := journal.OpenDir(t.TempDir()+"/ep", true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	w, err := dir.Create("run-1", journal.Head{Kind: journal.Run})
	if err != nil {
		t.Fatal(err)
	}
	return dir, w
}

// killed applies a plan by a process that ends after the first change of a file,
// and returns its journal.
func killed(t *testing.T, k *kernel, instance string, at func(file string) bool) *journal.Journal {
	t.Helper()
	dir, w := newJournal(t)
	k.fault = func(_ int, after bool, file string) error {
		if after && at(file) {
			panic(errFault)
		}
		return nil
	}
	func() {
		defer func() { _ = recover() }()
		_, err := (&Transaction{FS: k, Journal: w}).Apply(t.Context(), newPlan(t, instance))
		t.Fatalf("it was not killed: %v", err)
	}()
	k.fault = nil
	j, err := dir.Read("run-1")
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// flatten returns the errors that were joined.
func flatten(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var list []error
	for _, e := range joined.Unwrap() {
		list = append(list, flatten(e)...)
	}
	return list
}

// TestThreadsAreAddedToAList: a list that an earlier step has filled is not
// emptied on the way, for an empty one means every thread.
func TestThreadsAreAddedToAList(t *testing.T) {
	k := newKernel(t)
	p := newPlan(t, "mine")
	p.Writes[len(p.Writes)-1].Data = "12 34"
	if _, err := Apply(t.Context(), k, p); err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(k.files["instances/mine/set_event_pid"]); !slices.Equal(got, []string{"4194304", "12", "34"}) {
		t.Errorf("got %q", got)
	}
}

func TestApplyHeedsItsContext(t *testing.T) {
	k := newKernel(t)
	before := k.state()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Apply(ctx, k, newPlan(t, "")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	same(t, "cancelled", before, k.state())
}

// TestEveryFaultIsTakenBack: an error before or after each change, on the way
// there and on the way back; and an end of the process there, with what the
// journal says.
func TestEveryFaultIsTakenBack(t *testing.T) {
	faults := 0
	for _, instance := range []string{"", "mine"} {
		for n := 0; ; n++ {
			tried := false
			for _, after := range []bool{false, true} {
				for _, dies := range []bool{false, true} {
					tried = breakAt(t, instance, n, after, dies) || tried
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

// breakAt has change n fail, or the process end there, and reports whether there
// was such a change.
func breakAt(t *testing.T, instance string, n int, after, dies bool) (tried bool) {
	k := newKernel(t)
	k.addEvent("kprobes/theirs", "p:kprobes/theirs vfs_read")
	k.files["events/sched/sched_waking/trigger"] = "hist:keys=comm [active]\n"
	before := k.state()
	dir, w := newJournal(t)
	k.fault = func(at int, afterwards bool, _ string) error {
		if at != n || after != afterwards {
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
		tr := &Transaction{FS: k, Journal: w}
		a, err := tr.Apply(t.Context(), newPlan(t, instance))
		if err != nil {
			return
		}
		_ = a.Undo() // it may fail, and then the journal tells
	}()
	k.fault = nil
	j, err := dir.Read("run-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := (&Transaction{FS: k}).Recover(j).Undo(); err != nil {
		t.Errorf("instance '%s', change %d (after: %v, dies: %v): %v", instance, n, after, dies, err)
	}
	same(t, "recovered", before, k.state())
	return tried
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

// TestCausesAreToldApart: one errno has many causes, and each has its words and
// its code.
func TestCausesAreToldApart(t *testing.T) {
	steps := planSteps(newPlan(t, "mine"))
	steps = append(steps, newStep(journal.Step{Kind: journal.Value, File: "instances/mine/buffer_size_kb", Data: "4194304"}, nil))
	write := func(errno unix.Errno) error { return &fs.PathError{Op: "write", Path: "x", Err: errno} }
	open := func(errno unix.Errno) error { return &fs.PathError{Op: "openat", Path: "x", Err: errno} }
	for _, c := range []struct {
		step  int
		err   error
		facts facts
		code  diag.Code
		want  string
	}{
		{4, write(unix.EEXIST), facts{}, diag.NameInUse, "cannot make the eprobe 'sched.switch': there is one already"},
		{4, write(unix.EBUSY), facts{}, diag.EventBusy, "cannot change the eprobe 'sched.switch' while something uses it"},
		{4, open(unix.ENOENT), facts{}, diag.NotOnMachine, "this kernel takes no new events: tracefs has no dynamic_events"},
		{0, open(unix.ENOENT), facts{}, diag.NotOnMachine, "this kernel has no instances"},
		{6, open(unix.ENOENT), facts{}, diag.NotOnMachine, "event 'sched.sched_waking' is not there, or takes no triggers"},
		{8, open(unix.ENOENT), facts{}, diag.NotOnMachine, "this machine has no event 'sched.switch'"},
		{8, open(unix.EACCES), facts{}, diag.NotPermitted, "cannot turn 'sched.switch' on: permission denied"},
		{4, write(unix.EPERM), facts{root: true, lockdown: "integrity"}, diag.NotPermitted, "cannot make the eprobe 'sched.switch': this kernel is locked down (integrity)"},
		{4, write(unix.EPERM), facts{root: true}, diag.NotPermitted, "cannot make the eprobe 'sched.switch': the kernel does not permit it, though this is root"},
		{1, open(unix.EROFS), facts{root: true}, diag.NotPermitted, "cannot set trace_clock: tracefs is mounted read-only"},
		{6, write(unix.EINVAL), facts{}, diag.KernelRefused, "this kernel refused the histogram on 'sched.sched_waking', and only says 'invalid argument'"},
		{6, write(unix.ENOMEM), facts{}, diag.KernelRefused, "the kernel has no memory for the histogram on 'sched.sched_waking'"},
		{10, write(unix.ENOMEM), facts{}, diag.KernelRefused, "the kernel has no memory for a buffer of 4194304 KiB for each CPU"},
		{4, errNotAsAsked, facts{}, diag.KernelDiffers, "this kernel took the eprobe 'sched.switch' and made something else of it"},
	} {
		e := &Error{File: steps[c.step].File, Data: steps[c.step].Data, Err: c.err, step: &steps[c.step], facts: c.facts, Span: source.NoSpan}
		d := e.Diagnostic()
		if d.Code != c.code || d.Message != c.want {
			t.Errorf("%v: got [%s] %q, want [%s] %q", c.err, d.Code, d.Message, c.code, c.want)
		}
		if len(d.Notes) > 2 {
			t.Errorf("%v: %d notes; one thing to do", c.err, len(d.Notes))
		}
	}
}

func TestHeldIsWhatSetsTheFileSo(t *testing.T) {
	for _, c := range []struct {
		file, shown, held string
		ok                bool
	}{
		{"trace_clock", "local [global] mono\n", "global", true},
		{"events/a/b/enable", "0*\n", "0", true},
		{"events/a/enable", "X\n", "X", false},
		{"events/a/b/filter", "none\n", "0", true},
		{"events/a/b/filter", "pid == 3\n", "pid == 3", true},
		{"events/a/b/filter", "pid == x\n       ^\nparse_error: Field not found\n", "", false},
		{"set_event_pid", "1\n22\n", "1 22", true},
		{"buffer_size_kb", "7 (expanded: 1408)\n", "7", true},
		{"options/event-fork", "1\n", "1", true},
	} {
		held, ok := heldIn(c.file, c.shown)
		if ok != c.ok || ok && held != c.held {
			t.Errorf("%s %q: got %q and %v", c.file, c.shown, held, ok)
		}
	}
}

func TestEventsInTheListAreFoundByName(t *testing.T) {
	lines := []string{"e:ep/a sched.sched_switch p=$prev_pid:u32", "s:synthetic/b\tu64 lat;", "r10:k/c vfs_read", "garbage", "p:nogroup x"}
	var got []string
	for _, l := range lines {
		if n, ok := eventOf(l); ok {
			got = append(got, n.String())
		}
	}
	if want := []string{"ep.a", "synthetic.b", "k.c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestInstanceIsKeptWithItsTriggers: an instance that is removed before its
// histograms leaves their synthetic events in use for ever.
func TestInstanceIsKeptWithItsTriggers(t *testing.T) {
	k := newKernel(t)
	before := k.state()
	a, err := Apply(t.Context(), k, newPlan(t, "mine"))
	if err != nil {
		t.Fatal(err)
	}
	k.fault = func(_ int, after bool, what string) error {
		if strings.HasSuffix(what, "/trigger") && !after {
			return errFault
		}
		return nil
	}
	if err := a.Undo(); !errors.Is(err, errFault) || !strings.Contains(err.Error(), "instances/mine is kept") {
		t.Errorf("got %v", err)
	}
	if !k.Exists("instances/mine") {
		t.Error("the instance is gone, and its trigger was in it")
	}
	k.fault = nil
	if err := a.Undo(); err != nil {
		t.Error(err)
	}
	same(t, "undone", before, k.state())
}
