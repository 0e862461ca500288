package vm

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestBookKeepsResultsOfOneBoot(t *testing.T) {
	b := &book{cases: []Case{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	hear := func(ev event, data string) {
		t.Helper()
		if _, err := b.hear(ev, []byte(data)); err != nil {
			t.Fatalf("%+v: %v", ev, err)
		}
	}
	hear(event{Kind: eventStart, Case: "a"}, "")
	hear(event{Kind: eventLog, Case: "a"}, "long ")
	hear(event{Kind: eventLog, Case: "a", Offset: 5}, "line")
	hear(event{Kind: eventOutput, Case: "a", Name: "o"}, "first")
	hear(event{Kind: eventOutput, Case: "a", Name: "o"}, "sec")
	hear(event{Kind: eventOutput, Case: "a", Name: "o", Offset: 3}, "ond")
	hear(event{Kind: eventEnd, Case: "a", Status: Passed, Duration: time.Second}, "")
	hear(event{Kind: eventLog, Case: "a"}, "too late")
	hear(event{Kind: eventStart, Case: "b"}, "")
	hear(event{Kind: eventLog, Case: "a"}, "too late again")
	b.settle(ending{greeted: true, console: "x\n[    1.0] Kernel panic - not syncing: sysrq triggered crash\ny"})

	if len(b.results) != 2 {
		t.Fatalf("got %d results, want 2: case c is left to the next boot", len(b.results))
	}
	a, died := b.results[0], b.results[1]
	if a.Status != Passed || a.Duration != time.Second || !slices.Equal(a.Log, []string{"long line"}) || string(a.Outputs["o"]) != "second" || a.Console != "" {
		t.Errorf("a: got %+v", a)
	}
	if died.Status != Died || died.Reason != "kernel panic: sysrq triggered crash" || !strings.HasPrefix(died.Console, "x\n") || died.Log != nil {
		t.Errorf("b: got %+v", died)
	}
}

func TestBookRefusesEventsOutOfTurn(t *testing.T) {
	start := event{Kind: eventStart, Case: "a"}
	tests := map[string][]event{
		"other case":      {{Kind: eventStart, Case: "b"}},
		"twice":           {start, start},
		"one too many":    {start, {Kind: eventEnd, Case: "a"}, {Kind: eventStart, Case: "a"}},
		"piece amiss":     {start, {Kind: eventOutput, Case: "a", Name: "o", Offset: 1}},
		"offset negative": {start, {Kind: eventOutput, Case: "a", Name: "o", Offset: -1}},
		"unknown kind":    {start, {Kind: "moo", Case: "a"}},
	}
	for name, events := range tests {
		b := &book{cases: []Case{{Name: "a"}}}
		var err error
		for _, ev := range events {
			if err == nil {
				_, err = b.hear(ev, nil)
			}
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestGuestIsHeardToTheEnd(t *testing.T) {
	tests := []struct {
		name  string
		write func(w *frameWriter, d *memDisk)
		bye   bool
		err   error
	}{
		{"whole", func(w *frameWriter, _ *memDisk) { _ = w.write(event{Kind: eventBye}, nil) }, true, nil},
		{"no bye", func(*frameWriter, *memDisk) {}, false, nil},
		{"cut", func(w *frameWriter, d *memDisk) {
			_ = w.write(event{Kind: eventBye}, []byte("x"))
			d.b[len(d.b)-sectorBytes+headerBytes] = 0
		}, false, nil},
		{"garbage", func(_ *frameWriter, d *memDisk) {
			d.b = append(d.b, make([]byte, sectorBytes)...)
			copy(d.b[len(d.b)-sectorBytes:], "moo!")
		}, false, errBadFrame},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var disk memDisk
			w := newWriter(&disk, 1<<20)
			for _, ev := range []event{{Kind: eventHello}, {Kind: eventStart, Case: "a"}, {Kind: eventEnd, Case: "a", Status: Passed}} {
				if err := w.write(ev, nil); err != nil {
					t.Fatal(err)
				}
			}
			test.write(w, &disk)
			ended := &process{done: make(chan struct{}), kill: func() {}}
			close(ended.done)
			b := &book{cases: []Case{{Name: "a"}}}
			up := 0
			end, err := attend(t.Context(), ended, &frameReader{r: &disk}, b, func() { up++ })
			if !errors.Is(err, test.err) {
				t.Fatalf("got error %v, want %v", err, test.err)
			}
			if !end.greeted || up != 1 || end.bye != test.bye || end.hung {
				t.Errorf("got %+v, up %d times; want bye %v", end, up, test.bye)
			}
			if len(b.results) != 1 || b.results[0].Status != Passed {
				t.Errorf("got results %v", b.results)
			}
		})
	}
}

func TestEndingSaysWhatHappened(t *testing.T) {
	tests := []struct {
		name string
		end  ending
		want string
	}{
		{"bye with a reason", ending{greeted: true, bye: true, reason: "the guest has no case 'x'"}, "the guest has no case 'x'"},
		{"QEMU refused", ending{stderr: "qemu: no such machine"}, "the guest did not come up: qemu: no such machine"},
		{"no init", ending{console: "Kernel panic - not syncing: No working init found."}, "the guest did not come up: kernel panic: No working init found.; end of the console:"},
		{"hung at boot", ending{hung: true, console: "c"}, "the guest did not come up: the guest hung; end of the console:\nc"},
	}
	for _, test := range tests {
		if got := test.end.asError().Error(); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	if !errors.Is(ending{}.asError(), errNoBoot) {
		t.Error("a guest that did not come up: want errNoBoot")
	}
}

func TestComplaintStartsAtTheFirst(t *testing.T) {
	records := []string{
		"6,1,100,-;eth0: link up\n",
		"4,2,200,-;------------[ cut here ]------------\n SUBSYSTEM=x\n",
		"4,3,200,-;WARNING: CPU: 0 PID: 1 at kernel/trace/trace.c:1\n",
		"garbage",
		"4,4,200,c;Call Trace:\n",
	}
	got := complaint(records)
	want := "------------[ cut here ]------------\nWARNING: CPU: 0 PID: 1 at kernel/trace/trace.c:1\nCall Trace:"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := complaint(records[:1]); got != "" {
		t.Errorf("no complaint: got %q", got)
	}
	if got := complaint(slices.Repeat(records[1:], 10000)); len(got) > maxComplaint+10 {
		t.Errorf("got %d bytes of complaint", len(got))
	}
}

func TestConsoleTailKeepsTheEnd(t *testing.T) {
	var c tail
	for range 10000 {
		if _, err := c.Write([]byte("some line of the console\r\n")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Write([]byte("last\r\n")); err != nil {
		t.Fatal(err)
	}
	if got := c.lines(2); got != "some line of the console\nlast" {
		t.Errorf("got %q", got)
	}
	if len(c.buf) > 2*maxTail {
		t.Errorf("kept %d bytes", len(c.buf))
	}
}

func TestCaseThatMustEndItsGuest(t *testing.T) {
	k := Kernel{Name: "here"}
	c := Case{Kills: func(k Kernel) bool { return k.Name == "here" }}
	for status, bad := range map[Status]bool{Died: false, TimedOut: false, Passed: true, Failed: true, Skipped: true} {
		if got := (Result{Kernel: k, Status: status}).bad(c); got != bad {
			t.Errorf("%s where it must die: got %t", status, got)
		}
		elsewhere := status != Passed && status != Skipped
		if got := (Result{Kernel: Kernel{Name: "elsewhere"}, Status: status}).bad(c); got != elsewhere {
			t.Errorf("%s elsewhere: got %t", status, got)
		}
	}
}
