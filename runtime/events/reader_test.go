package events

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/eptrace/ep/compiler/plan"
	"golang.org/x/sys/unix"
)

// fakeTracefs lays out an instance with one event g.e (ID 7, an s64 n), whose
// CPUs have the bytes given as their trace_pipe_raw.
func fakeTracefs(t *testing.T, cpus ...[]byte) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"events/header_page":  headerPage64,
		"events/header_event": headerEvent,
		"trace_clock":         "local global [mono] boot\n",
		"events/g/e/format":   "name: e\nID: 7\nformat:\n" + commonFields + "\tfield:s64 n;\toffset:8;\tsize:8;\tsigned:1;\n",
	}
	for cpu, pages := range cpus {
		per := "per_cpu/cpu" + strconv.Itoa(cpu)
		files[per+"/trace_pipe_raw"] = string(pages)
		files[per+"/stats"] = "entries: 100000\noverrun: 0\ncommit overrun: 0\nbytes: 0\noldest event ts:     1.000002\nnow ts:     3.000004\ndropped events: 0\nread events: 0\n"
	}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// pageOf makes a whole page of records of event id, one for each time.
func pageOf(id uint32, lost uint64, times ...uint64) []byte {
	now := times[0]
	var words []uint32
	for _, at := range times {
		words = append(words, uint32(at-now)<<5|4, id, 42, uint32(at), 0)
		now = at
	}
	flags := uint32(0)
	if lost > 0 {
		flags = missedEvents | missedStored
	}
	b := testPage(times[0], flags, words...)
	if lost > 0 {
		b = binary.LittleEndian.AppendUint64(b, lost)
	}
	return append(b, make([]byte, 4096-len(b))...)
}

var testStreams = []plan.Stream{{Name: "e", Group: "g", Event: "e"}}

// readAll reads what is there and returns CPU:TIME of each record.
func readAll(t *testing.T, r *Reader) (out []string, errs []error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for rec, err := range r.Records(ctx) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if uint64(rec.Values[0].Int()) != rec.Time || rec.TID != 42 {
			t.Errorf("got n=%d tid=%d at %d", rec.Values[0].Int(), rec.TID, rec.Time)
		}
		s := strconv.Itoa(rec.CPU) + ":" + strconv.FormatUint(rec.Time, 10)
		if rec.Lost > 0 || rec.LostSome {
			s += " after " + strconv.FormatUint(rec.Lost, 10)
		}
		out = append(out, s)
	}
	return out, errs
}

func TestCPUsAreMergedByTime(t *testing.T) {
	dir := fakeTracefs(t,
		slices.Concat(pageOf(7, 0, 10, 20, 20), pageOf(9, 3, 25), pageOf(7, 2, 30, 50)),
		slices.Concat(pageOf(7, 0, 5, 20, 40)),
		nil)
	for _, memory := range []int{1, 0} {
		r, err := Open(os.DirFS(dir), testStreams, Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		got, errs := readAll(t, r)
		want := []string{"1:5", "0:10", "0:20", "0:20", "1:20", "0:30 after 5", "1:40", "0:50"}
		if !slices.Equal(got, want) || errs != nil {
			t.Errorf("memory %d: got %q and %v, want %q", memory, got, errs, want)
		}
		if l := r.Losses(); l[0].Read != 6 || l[1].Read != 3 || r.Late() != 0 {
			t.Errorf("got %+v, late %d", l, r.Late())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestQueuesAreBounded(t *testing.T) {
	var one, two []byte
	for i := range uint64(1000) {
		one = append(one, pageOf(7, 0, 10+10*i, 11+10*i)...)
		two = append(two, pageOf(7, 0, 5+10*i, 12+10*i)...)
	}
	r, err := Open(os.DirFS(fakeTracefs(t, one, two)), testStreams, Options{Memory: 8 * 4096})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, errs := readAll(t, r)
	if len(got) != 4000 || errs != nil || r.Late() != 0 {
		t.Errorf("got %d records, %v, %d late", len(got), errs, r.Late())
	}
	if n := len(r.free); n > 2*4+2 {
		t.Errorf("%d pages were made: want 4 a CPU", n)
	}
}

func TestAClockThatGoesBackHoldsNothingUp(t *testing.T) {
	var pages []byte
	for range 20 {
		pages = append(pages, pageOf(7, 0, 100, 200)...)
		pages = append(pages, pageOf(7, 0, 10, 20)...)
	}
	r, err := Open(os.DirFS(fakeTracefs(t, pages, pages)), testStreams, Options{Memory: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, errs := readAll(t, r); len(got) != 160 || errs != nil || r.Late() == 0 {
		t.Errorf("got %d records, %v, %d late", len(got), errs, r.Late())
	}
}

func TestALoopMayBeTakenUpAgain(t *testing.T) {
	r, err := Open(os.DirFS(fakeTracefs(t, pageOf(7, 0, 1, 2, 3), pageOf(7, 0, 2, 4))), testStreams, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for rec := range r.Records(ctx) {
		if rec.Time == 2 {
			break
		}
	}
	if got, _ := readAll(t, r); !slices.Equal(got, []string{"1:2", "0:3", "1:4"}) {
		t.Errorf("got %q", got)
	}
}

func TestBadPagesAreToldAndPassedOver(t *testing.T) {
	bad := testPage(1, 0, 28)
	bad = append(bad, make([]byte, 4096-len(bad))...)
	worse := make([]byte, 4096)
	for i := range worse {
		worse[i] = 0xff
	}
	r, err := Open(os.DirFS(fakeTracefs(t, slices.Concat(bad, pageOf(7, 0, 5), worse, pageOf(7, 0, 6)))), testStreams, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, errs := readAll(t, r)
	if !slices.Equal(got, []string{"0:5", "0:6"}) || len(errs) != 2 || r.Losses()[0].Bad != 2 {
		t.Errorf("got %q, %v, %+v", got, errs, r.Losses())
	}
}

func TestOneEventInTwoStreams(t *testing.T) {
	streams := []plan.Stream{{Name: "a", Group: "g", Event: "e"}, {Name: "b", Group: "g", Event: "e", Print: "{n}"}}
	r, err := Open(os.DirFS(fakeTracefs(t, pageOf(7, 2, 5))), streams, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var lines []byte
	text := Text{}
	for rec, err := range r.Records(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		lines = text.AppendRecord(lines, rec.Clone())
	}
	if want := "-- 2 lost on CPU 0 --\n0.000000 [0] <...>-42             a n=5\n5\n"; string(lines) != want {
		t.Errorf("got %q, want %q", lines, want)
	}
}

func TestLossesAreTheKernelsCount(t *testing.T) {
	dir := fakeTracefs(t, pageOf(7, 2, 5))
	r, err := Open(os.DirFS(dir), testStreams, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	readAll(t, r)
	stats := filepath.Join(dir, "per_cpu/cpu0/stats")
	if err := os.WriteFile(stats, []byte("overrun: 7\ncommit overrun: 1\ndropped events: 4\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, want := r.Losses()[0], (Loss{Read: 1, Overrun: 7, Dropped: 5, told: 2, Exact: true}); got != want || got.Lost() != 12 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := os.Remove(stats); err != nil {
		t.Fatal(err)
	}
	if got, want := r.Losses()[0], (Loss{Read: 1, Overrun: 2, told: 2}); got != want {
		t.Errorf("without stats: got %+v, want %+v", got, want)
	}
}

func TestTheEndIsWhatWasThereThen(t *testing.T) {
	dir := fakeTracefs(t, slices.Concat(pageOf(7, 0, 1, 2), pageOf(7, 0, 3), pageOf(7, 0, 4)), pageOf(7, 0, 3, 9))
	stats := filepath.Join(dir, "per_cpu/cpu0/stats")
	if err := os.WriteFile(stats, []byte("entries: 3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Open(os.DirFS(dir), testStreams, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, errs := readAll(t, r); !slices.Equal(got, []string{"0:1", "0:2", "0:3", "1:3", "1:9"}) || errs != nil {
		t.Errorf("got %q and %v", got, errs)
	}
	if l := r.Losses()[0]; l.Left != 3 || l.Read != 3 {
		t.Errorf("got %+v", l)
	}
}

// TestLossesWithoutANumber: pages too full for one are told of by the stats,
// once in a while, and all that is told is what was lost.
func TestLossesWithoutANumber(t *testing.T) {
	marked := func(at uint64) []byte {
		b := testPage(at, missedEvents, 4, 7, 42, uint32(at), 0)
		return append(b, make([]byte, 4096-len(b))...)
	}
	dir := fakeTracefs(t, slices.Concat(pageOf(7, 2, 1), marked(2), marked(3), pageOf(7, 0, 4)))
	r, err := Open(os.DirFS(dir), testStreams, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	stats := filepath.Join(dir, "per_cpu/cpu0/stats")
	if err := os.WriteFile(stats, []byte("entries: 9\noverrun: 50\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, errs := readAll(t, r)
	if want := []string{"0:1 after 2", "0:2 after 48", "0:3", "0:4"}; !slices.Equal(got, want) || errs != nil {
		t.Errorf("got %q and %v, want %q", got, errs, want)
	}
}

func TestOpenSaysWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		remove string
		want   string
	}{
		{"events/header_page", "read header_page"},
		{"trace_clock", "read trace_clock"},
		{"events/g/e/format", "read format of 'g.e'"},
		{"per_cpu", "list CPUs"},
		{"per_cpu/cpu0/trace_pipe_raw", "open the buffer of CPU 0"},
		{"per_cpu/cpu0/stats", "read stats of CPU 0"},
	} {
		dir := fakeTracefs(t, nil)
		if err := os.RemoveAll(filepath.Join(dir, c.remove)); err != nil {
			t.Fatal(err)
		}
		_, err := Open(os.DirFS(dir), testStreams, Options{})
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("without %s: got %v, want %q", c.remove, err, c.want)
		}
	}
}

// TestReadingFollowsAndEnds reads from pipes, which have polling as the
// kernel's files do.
func TestReadingFollowsAndEnds(t *testing.T) {
	dir := fakeTracefs(t, nil, nil)
	for _, cpu := range []string{"0", "1"} {
		file := filepath.Join(dir, "per_cpu/cpu"+cpu+"/trace_pipe_raw")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mkfifo(file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open := func(cpu string) *os.File {
		f, err := os.OpenFile(filepath.Join(dir, "per_cpu/cpu"+cpu+"/trace_pipe_raw"), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	zero, one := open("0"), open("1")
	r, err := Open(os.DirFS(dir), testStreams, Options{Delay: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	write := func(f *os.File, page []byte) {
		if _, err := f.Write(page); err != nil {
			t.Error(err)
		}
	}
	write(zero, pageOf(7, 0, 1, 3))
	write(one, pageOf(7, 0, 2))
	var got []uint64
	for rec, err := range r.Records(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rec.Time)
		switch rec.Time {
		case 3:
			write(one, pageOf(7, 0, 4, 5))
		case 5:
			// Written before the end, and so read.
			write(zero, pageOf(7, 0, 6))
			cancel()
		}
	}
	if !slices.Equal(got, []uint64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("got %d", got)
	}
}

func TestClocks(t *testing.T) {
	dir := fakeTracefs(t, nil)
	for _, c := range []struct {
		text, name string
		time, wall bool
	}{
		{"local [mono]", "mono", true, true},
		{"[local] global", "local", true, true},
		{"local [counter]", "counter", false, false},
	} {
		if err := os.WriteFile(filepath.Join(dir, "trace_clock"), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		clock, err := readClock(os.DirFS(dir), ".")
		if err != nil {
			t.Fatal(err)
		}
		_, ok := clock.Wall(1)
		if clock.Name() != c.name || clock.IsTime() != c.time || ok != c.wall {
			t.Errorf("%q: got %s, time %v, wall %v", c.text, clock.Name(), clock.IsTime(), ok)
		}
	}
	// Of a clock that programs can read, now is now.
	clock := &Clock{name: "mono"}
	clock.compare()
	wall, ok := clock.Wall(uint64(gettime(unix.CLOCK_MONOTONIC)))
	if d := time.Since(wall).Abs(); !ok || d > time.Second {
		t.Errorf("got %v, %v from now", wall, d)
	}
	if boot, ok := clock.Boot(uint64(gettime(unix.CLOCK_MONOTONIC))); !ok || boot == 0 {
		t.Errorf("got boot %d", boot)
	}
	if _, err := readClock(fstest.MapFS{"trace_clock": {Data: []byte("local")}}, "."); err == nil {
		t.Error("a file that chooses no clock: got no error")
	}
}

func TestTimesAreWritten(t *testing.T) {
	clock := &Clock{name: "mono"}
	clock.at.Store(&offsets{wall: 1_700_000_000_000_000_000})
	counter := &Clock{name: "counter"}
	for _, c := range []struct {
		form       TimeForm
		text, json string
	}{
		{TimeForm{}, "1.500000", "1500000123"},
		{TimeForm{Clock: counter, Wall: true}, "1500000123", "1500000123"},
		{TimeForm{Clock: clock, Wall: true}, "22:13:21.500000", `"2023-11-14T22:13:21.500000123Z"`},
		{TimeForm{Clock: clock, Wall: true, Zone: time.FixedZone("x", 3600)}, "23:13:21.500000", `"2023-11-14T22:13:21.500000123Z"`},
	} {
		j := JSON{Times: c.form}
		text, json := string(c.form.append(nil, 1_500_000_123)), string(j.appendTime(nil, 1_500_000_123))
		if text != c.text || json != c.json {
			t.Errorf("got %s and %s, want %s and %s", text, json, c.text, c.json)
		}
	}
}

func TestTaskNames(t *testing.T) {
	proc := fstest.MapFS{"5/comm": {Data: []byte("cat\n")}}
	tracefs := fstest.MapFS{"saved_cmdlines": {Data: []byte("6 a b\n7 <...>\nx y\n")}}
	now := time.Unix(0, 0)
	n := NewTaskNames(proc, tracefs)
	n.now = func() time.Time { return now }
	check := func(tid int32, want string) {
		t.Helper()
		if got := n.Comm(tid); got != want {
			t.Errorf("%d at %v: got %q, want %q", tid, now.Sub(time.Unix(0, 0)), got, want)
		}
	}
	check(0, "<idle>")
	check(5, "cat")
	check(6, "a b")
	check(7, "")
	proc["5/comm"] = &fstest.MapFile{Data: []byte("dog\n")}
	tracefs["saved_cmdlines"] = &fstest.MapFile{Data: []byte("7 late\n")}
	check(5, "cat")
	check(7, "")
	now = now.Add(savedLasts)
	check(7, "late")
	now = now.Add(commLasts)
	check(5, "dog")
	check(6, "a b") // it has ended, and is known by its last name
	for tid := range int32(3 * maxTasks) {
		n.Comm(tid + 100)
	}
	if len(n.known) > maxTasks {
		t.Errorf("%d names are kept: want %d", len(n.known), maxTasks)
	}
	if NewTaskNames(nil, nil).Comm(1) != "" {
		t.Error("a name from nowhere")
	}
}

func TestLinesEndOnce(t *testing.T) {
	s := streamsOf(t, map[string][]byte{"r/events/g/e/format": []byte("ID: 7\n" + commonFields)}, "r")[7]
	r := Record{Stream: s}
	text := Text{}
	if got := text.AppendRecord(nil, &r); bytes.Count(got, []byte("\n")) != 1 {
		t.Errorf("got %q", got)
	}
}

// TestLossesOfSwappedBuffers: a snapshot makes the kernel count anew, in the other
// buffer.
func TestLossesOfSwappedBuffers(t *testing.T) {
	for _, c := range []struct {
		what             string
		buffer, snapshot Loss
		want             Loss
	}{
		{"losses before the snapshot, read behind it", Loss{Read: 1, Exact: true}, Loss{Read: 4, Overrun: 7, told: 7, Exact: true}, Loss{Read: 5, Overrun: 7, told: 7, Exact: true}},
		{"losses before the snapshot, all read before it", Loss{Read: 5, told: 7, Exact: true}, Loss{Exact: true}, Loss{Read: 5, Overrun: 7, told: 7, Exact: true}},
		{"losses on both sides", Loss{Read: 5, Overrun: 3, told: 5, Exact: true}, Loss{Read: 1, Overrun: 4, told: 2}, Loss{Read: 6, Overrun: 7, told: 7}},
	} {
		if got := WithSnapshot([]Loss{c.buffer}, []Loss{c.snapshot})[0]; got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.what, got, c.want)
		}
	}
}
