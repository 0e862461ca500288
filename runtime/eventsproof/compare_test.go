package eventsproof

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/types"
	"github.com/eptrace/ep/runtime/events"
)

// textLine is a record as the kernel renders it.
type textLine struct {
	task   string
	tid    int
	cpu    int
	us     uint64
	event  string
	body   string
	fields map[string]string
	stack  []string
}

var (
	head = regexp.MustCompile(`^\s*(.+)-(\d+)\s+\[(\d+)\]\s+(\S+)\s+(\d+)\.(\d+): (.*)$`)
	// name=value and name: value; a value is quoted, in braces, or a word.
	pair = regexp.MustCompile(`(\w+)(?:=|: )("[^"]*"|\(fault\)|'.'|\{[^}]*\}|[^\s,)\]]+)`)
)

// parseText reads a trace file.
func parseText(text string) []textLine {
	var out []textLine
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == '#' || strings.Contains(line, "LOST") && strings.HasPrefix(line, "CPU:") {
			continue
		}
		m := head.FindStringSubmatch(line)
		if m == nil {
			if len(out) == 0 {
				continue
			}
			// The rest of a record of several lines.
			l := &out[len(out)-1]
			if frame, ok := strings.CutPrefix(line, "=> "); ok {
				l.stack = append(l.stack, frame)
				continue
			}
			l.body += "\n" + line
			for _, p := range pair.FindAllStringSubmatch(line, -1) {
				l.fields[p[1]] = p[2]
			}
			continue
		}
		l := textLine{task: m[1], fields: map[string]string{}}
		l.tid, _ = strconv.Atoi(m[2])
		l.cpu, _ = strconv.Atoi(m[3])
		sec, _ := strconv.ParseUint(m[5], 10, 64)
		us, _ := strconv.ParseUint(m[6], 10, 64)
		l.us = sec*1e6 + us
		l.event, l.body, _ = strings.Cut(m[7], ": ")
		if call, rest, ok := strings.Cut(m[7], "("); ok && strings.HasPrefix(call, "sys_") && !strings.Contains(call, ":") {
			l.event, l.body = strings.Replace(call, "sys_", "sys_enter_", 1), rest
		} else if call, ret, ok := strings.Cut(m[7], " -> "); ok && strings.HasPrefix(call, "sys_") {
			l.event, l.body = strings.Replace(call, "sys_", "sys_exit_", 1), "ret="+ret
		}
		switch l.event {
		case "sys_enter": // NR 35 (3c049abaff00, 0, …)
			nr, args, _ := strings.Cut(strings.TrimPrefix(l.body, "NR "), " (")
			l.body = "id=" + nr + " args={" + strings.TrimSuffix(args, ")") + "}"
		case "sys_exit": // NR 35 = 0
			nr, ret, _ := strings.Cut(strings.TrimPrefix(l.body, "NR "), " = ")
			l.body = "id=" + nr + " ret=" + ret
		}
		for _, p := range pair.FindAllStringSubmatch(l.body, -1) {
			l.fields[p[1]] = p[2]
		}
		out = append(out, l)
	}
	return out
}

// checked counts, by event and field, how many values were compared.
type checked map[string]int

// compare reads a recording with a Reader and holds every record and field
// against the kernel's text.
func compare(t *testing.T, dir string, streams []plan.Stream, count checked) {
	t.Helper()
	// A recording ends; so reading begins at its end.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := events.Open(os.DirFS(dir), streams, events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := os.ReadFile(filepath.Join(dir, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	lines := parseText(string(text))
	c := comparer{t: t, count: count, symbols: map[string]string{}, matched: map[int]int{}, taken: takenBack(t, dir)}
	// Where the kernel has wrong times it has a wrong order of CPUs too.
	order := func(cpu int) int { return 0 }
	if c.taken {
		order = func(cpu int) int { return cpu }
	}
	queues := map[int][]textLine{}
	for _, l := range lines {
		queues[order(l.cpu)] = append(queues[order(l.cpu)], l)
	}
	n := 0
	for rec, err := range r.Records(ctx) {
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		q := queues[order(rec.CPU)]
		// The kernel shows nothing from before its buffers were last reset, as
		// they are when a hist changes the clock (trace.c, tracing_iter_reset).
		if c.matched[rec.CPU] == 0 && c.early < 50 && (len(q) == 0 || (rec.Time+500)/1000 < q[0].us) {
			c.early++
			continue
		}
		c.matched[rec.CPU]++
		n++
		if len(q) == 0 {
			t.Fatalf("%s: record %d of CPU %d is one that the kernel does not show", dir, n, rec.CPU)
		}
		c.record(rec, &q[0])
		queues[order(rec.CPU)] = q[1:]
	}
	if n != len(lines) || n == 0 {
		t.Errorf("%s: got %d records, the kernel shows %d", dir, n, len(lines))
	}
	if r.Late() > 0 {
		t.Errorf("%s: %d records came late", dir, r.Late())
	}
	for _, l := range r.Losses() {
		if l.Bad > 0 {
			t.Errorf("%s: %d bad pages", dir, l.Bad)
		}
	}
	if c.wrong > 0 {
		t.Errorf("%s: %d values differ", dir, c.wrong)
	}
}

type comparer struct {
	t       *testing.T
	count   checked
	wrong   int
	symbols map[string]string // an address's text; one address has one
	taken   bool              // see takenBack
	matched map[int]int       // records that the kernel shows, by CPU
	early   int               // records that it does not
}

// takenBack reports whether records were taken back in the recording after
// others had come, which measure their time from them. The kernel's own reader
// passes over the time of what was taken back (ring_buffer.c,
// rb_update_read_stamp), so that its text has too early times up to the next
// absolute one. Those who wrote them mean otherwise (rb_read_data_buffer), and
// trace-cmd 3.1.6 has the same times as ep.
func takenBack(t *testing.T, dir string) bool {
	files, err := filepath.Glob(filepath.Join(dir, "per_cpu/*/trace_pipe_raw"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for page := range slices.Chunk(data, 4096) {
			commit := int(binary.LittleEndian.Uint32(page[8:]) & 0xfffff)
			for e := page[16 : 16+commit]; len(e) >= 8; {
				head, word := binary.LittleEndian.Uint32(e), int(binary.LittleEndian.Uint32(e[4:]))
				n := 4 + 4*int(head&31)
				switch kind := head & 31; {
				case kind == 29 && head>>5 > 1:
					return true
				case kind == 29:
					n = 4 + word
				case kind == 0:
					n = 4 + (word+3)&^3
				case kind > 29:
					n = 8
				}
				e = e[min(n, len(e)):]
			}
		}
	}
	return false
}

func (c *comparer) errorf(format string, args ...any) {
	if c.wrong++; c.wrong <= 10 {
		c.t.Errorf(format, args...)
	}
}

func (c *comparer) record(r *events.Record, l *textLine) {
	us := (r.Time + 500) / 1000
	if c.taken && l.us < us {
		us = l.us
	}
	if l.cpu != r.CPU || l.tid != int(r.TID) || l.us != us || l.event != r.Stream.Event {
		c.errorf("got CPU %d tid %d %d us %s, the kernel has CPU %d tid %d %d us %s", r.CPU, r.TID, us, r.Stream.Event, l.cpu, l.tid, l.us, l.event)
		return
	}
	for i, f := range r.Stream.Fields {
		v := r.Values[i]
		key := r.Stream.Event + "." + f.Name
		if _, ok := f.Type.(types.Stack); ok {
			c.stack(key, v, l)
			continue
		}
		want, ok := l.fields[f.Name]
		if !ok || elsewhere[key] || types.NamesOf(f.Type) == nil && unnamed.MatchString(want) && types.Scalar(f.Type) {
			continue
		}
		c.count[key]++
		if want == "(efault" && strings.HasPrefix(l.body[strings.Index(l.body, want):], "(efault)"+string(v.Data)) {
			continue // 6.17 writes that before a text of fixed size, whose bytes are right
		}
		if !c.same(f.Type, v, want) {
			c.errorf("%s (%s): got %x %q state %d, the kernel has %s in %q", key, f.Type, v.Num, v.Data, v.State, want, l.body)
		}
	}
}

// unnamed are names that the format does not tell: of an enum that the kernel
// writes as C's word for it.
var unnamed = regexp.MustCompile(`^[A-Z][A-Z_|]+(\|0x[0-9a-f]+)?$`)

// elsewhere are fields whose name stands before something else in the text.
var elsewhere = map[string]bool{
	"irq_handler_exit.ret": true, // "handled"
	"strs.two":             true, // an array of strings, which a script cannot have
}

func (c *comparer) stack(key string, v events.Value, l *textLine) {
	n := len(v.Data) / 8
	if n != len(l.stack) {
		c.errorf("%s: got %d frames % x, the kernel has %d", key, n, v.Data, len(l.stack))
		return
	}
	for i, frame := range l.stack {
		c.count[key]++
		c.symbol(key, binary.LittleEndian.Uint64(v.Data[8*i:]), frame)
	}
}

func (c *comparer) symbol(key string, addr uint64, text string) {
	at := fmt.Sprintf("%#x", addr)
	if before, ok := c.symbols[at]; ok && before != text {
		c.errorf("%s: %s is %s and %s", key, at, before, text)
	}
	c.symbols[at] = text
}

// same reports whether the kernel's text is the value's.
func (c *comparer) same(t types.Type, v events.Value, want string) bool {
	if want == "(fault)" {
		return v.State == events.Fault
	}
	if v.State != events.Present {
		return false
	}
	switch t := t.(type) {
	case types.String:
		return string(v.Data) == strings.Trim(want, `"`) || want[0] != '"' && strings.HasPrefix(string(v.Data), want)
	case types.Array:
		var words []string
		for w := range strings.SplitSeq(strings.Trim(want, "{}\""), ",") {
			words = append(words, strings.TrimSpace(w))
		}
		size := types.Size(t.Elem)
		if len(words)*size != len(v.Data) {
			return false
		}
		for i, w := range words {
			if !c.sameNumber(t.Elem, element(v.Data[i*size:(i+1)*size], types.Signed(t.Elem)), w) {
				return false
			}
		}
		return true
	}
	return c.sameNumber(t, v.Num, want)
}

func element(b []byte, signed bool) uint64 {
	var full [8]byte
	copy(full[:], b)
	n := binary.LittleEndian.Uint64(full[:])
	if shift := 64 - 8*len(b); signed {
		n = uint64(int64(n<<shift) >> shift)
	}
	return n
}

var function = regexp.MustCompile(`^[a-zA-Z_][\w.]*(\+0x[0-9a-f]+/0x[0-9a-f]+)?$`)

func (c *comparer) sameNumber(t types.Type, n uint64, want string) bool {
	size := types.Size(t)
	bits := n
	if size > 0 && size < 8 {
		bits &= 1<<(8*size) - 1
	}
	for _, s := range []string{
		strconv.FormatInt(int64(n), 10), strconv.FormatUint(n, 10), strconv.FormatUint(bits, 10),
		fmt.Sprintf("%#x", bits), fmt.Sprintf("%x", bits), fmt.Sprintf("%016x", bits), fmt.Sprintf("%#x", n), fmt.Sprintf("%x", n),
		"'" + string([]byte{byte(bits)}) + "'", fmt.Sprintf("%03d", n), fmt.Sprintf("%04o", bits), fmt.Sprintf("%d:%d", n>>20, n&(1<<20-1)),
		fmt.Sprintf("%d.%d.%d.%d", bits>>24&0xff, bits>>16&0xff, bits>>8&0xff, bits&0xff),
	} {
		if s == want {
			return true
		}
	}
	if _, ok := t.(types.Bool); ok {
		return want == strconv.FormatBool(n != 0) || want == strconv.FormatUint(n, 10)
	}
	if names := types.NamesOf(t); names != nil {
		return sameNames(names, bits, size, want)
	}
	if i, ok := t.(types.Int); (ok && i.Form == types.Ksym || size == 8) && function.MatchString(want) {
		c.symbol("", n, want)
		return true
	}
	return false
}

// sameNames holds what the renderer makes of a named value against the text.
func sameNames(names *types.Names, bits uint64, size int, want string) bool {
	f, err := renderNamed(names, bits, size)
	if err != nil {
		return false
	}
	// The kernel masks some flags first, and has "+" for one of a task's state.
	named, _, _ := strings.Cut(f, "|0x")
	return f == want || f == strings.ReplaceAll(want, "+", "|0x100") || named == want && want != "" ||
		want == "O_RDONLY|"+f // of 7.3, which names the way to open too
}

// renderNamed renders one value with names through the package's own Text.
func renderNamed(names *types.Names, bits uint64, size int) (string, error) {
	s, err := events.NewStream(plan.Stream{Print: "{f}", Group: "g", Event: "e", Fields: []plan.Field{{Name: "f", Type: types.Int{Size: size, Names: names}}}}, namedFormat(size))
	if err != nil {
		return "", err
	}
	record := make([]byte, 16)
	binary.LittleEndian.PutUint64(record[8:], bits)
	var r events.Record
	s.Decode(record, &r)
	var text events.Text
	return strings.TrimSuffix(string(text.AppendRecord(nil, &r)), "\n"), nil
}

// unpack lays a recording's files in a folder and returns the recordings in
// it.
func unpack(t *testing.T, files map[string][]byte) map[string]string {
	t.Helper()
	dir := t.TempDir()
	out := map[string]string{}
	for name, data := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		recording, _, _ := strings.Cut(name, "/")
		out[recording] = filepath.Join(dir, recording)
	}
	return out
}

// recordedStreams returns a stream with all fields for each format there is.
func recordedStreams(t *testing.T, dir string) []plan.Stream {
	t.Helper()
	formats, err := filepath.Glob(filepath.Join(dir, "events/*/*/format"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(formats)
	var out []plan.Stream
	for _, f := range formats {
		event := filepath.Dir(f)
		s := plan.Stream{Group: path.Base(filepath.Dir(event)), Event: path.Base(event)}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		format, err := target.ParseFormat(s.Group, s.Event, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range format.Fields {
			field := plan.Field{Name: k.Name, Type: k.Type, Kernel: k.Decl}
			if k.Name == "stack" {
				field.Type = types.Stack{}
			}
			if _, ok := k.Type.(types.String); ok && s.Group == "epproof" {
				field.Kernel = "string" // as a plan says of a probe
			}
			s.Fields = append(s.Fields, field)
		}
		out = append(out, s)
	}
	return out
}
