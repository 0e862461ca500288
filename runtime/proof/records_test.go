package proof

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// record is one line of a trace file.
type record struct {
	comm  string
	tid   int
	cpu   int
	time  float64 // seconds of the trace clock
	event string
	text  string // what the event prints
	names []string
	value map[string]string // by field; strings without their quotes
}

// lineForm is a line of a trace (kernel/trace/trace_output.c,
// trace_print_context):
//
//	COMM "-" TID "[" CPU "]" FLAGS TIME ":" EVENT ":" TEXT
var lineForm = regexp.MustCompile(`^ *(.+)-(\d+) +\[(\d+)\] +\S+ +(\d+\.\d+): (\w+): (.*)$`)

// parseTrace reads a trace file. Lost events are an error: a proof must see all.
func parseTrace(text string) ([]record, error) {
	var list []record
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m := lineForm.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("no record: %q", line)
		}
		r := record{comm: m[1], event: m[5], text: m[6]}
		var err error
		if r.tid, err = strconv.Atoi(m[2]); err != nil {
			return nil, err
		}
		if r.cpu, err = strconv.Atoi(m[3]); err != nil {
			return nil, err
		}
		if r.time, err = strconv.ParseFloat(m[4], 64); err != nil {
			return nil, err
		}
		r.names, r.value = parseFields(r.text)
		list = append(list, r)
	}
	return list, nil
}

var fieldStart = regexp.MustCompile(`(?:^| )([A-Za-z_]\w*)=`)

// parseFields reads `name=value …`, as dynamic events print their fields. A
// value goes on to the next name, save in quotes.
func parseFields(text string) ([]string, map[string]string) {
	var names []string
	value := map[string]string{}
	for {
		m := fieldStart.FindStringSubmatchIndex(text)
		if m == nil {
			return names, value
		}
		name, rest := text[m[2]:m[3]], text[m[1]:]
		var v string
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			v, rest, _ = strings.Cut(quoted, `"`)
		} else {
			end := len(rest)
			if next := fieldStart.FindStringIndex(rest); next != nil {
				end = next[0]
			}
			v, rest = rest[:end], rest[end:]
		}
		names = append(names, name)
		value[name] = v
		text = rest
	}
}

// number returns a field as the decimal number that it must be printed as.
func (r record) number(name string) (int64, error) {
	v, ok := r.value[name]
	if !ok {
		return 0, fmt.Errorf("no field '%s' in %q", name, r.text)
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("field '%s' is no decimal number in %q", name, r.text)
	}
	return n, nil
}

func (r record) String() string {
	return fmt.Sprintf("%s-%d [%d] %.6f: %s: %s", r.comm, r.tid, r.cpu, r.time, r.event, r.text)
}

// of returns the records of an event; tid 0 stands for every thread.
func of(list []record, event string, tid int) []record {
	var out []record
	for _, r := range list {
		if r.event == event && (tid == 0 || r.tid == tid) {
			out = append(out, r)
		}
	}
	return out
}

// byThread returns the records of a thread.
func byThread(list []record, tid int) []record {
	var out []record
	for _, r := range list {
		if r.tid == tid {
			out = append(out, r)
		}
	}
	return out
}

// show prints records one a line.
func show(list []record) string {
	if len(list) == 0 {
		return "no records"
	}
	var b strings.Builder
	for i, r := range list {
		if i == 40 {
			fmt.Fprintf(&b, "and %d more\n", len(list)-i)
			break
		}
		b.WriteString(r.String() + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestTraceIsParsed(t *testing.T) {
	const text = `# tracer: nop
#
 kworker/u34:5-141     [001] d..4.  5041.240259: switch: (sched.sched_switch) prev=141 next=-1085
 sshd-session-1082    [004] d..4   5041.239906: openat: (synthetic.openat_join) file="/a b=c d" fd=3
           <...>-7       [000] ...1.     1.000001: lat: pid=7 comm=two words lat=12
`
	list, err := parseTrace(text)
	if err != nil || len(list) != 3 {
		t.Fatalf("got %d records and %v", len(list), err)
	}
	if r := list[0]; r.comm != "kworker/u34:5" || r.tid != 141 || r.cpu != 1 || r.event != "switch" || r.value["next"] != "-1085" {
		t.Errorf("got %+v", r)
	}
	if n, err := list[0].number("next"); n != -1085 || err != nil {
		t.Errorf("got %d and %v", n, err)
	}
	if r := list[1]; r.comm != "sshd-session" || r.value["file"] != "/a b=c d" || r.value["fd"] != "3" || len(r.names) != 2 {
		t.Errorf("got %+v", r)
	}
	if r := list[2]; r.value["comm"] != "two words" || r.value["lat"] != "12" || r.time != 1.000001 {
		t.Errorf("got %+v", r)
	}
	if _, err := parseTrace("CPU:1 [LOST 15 EVENTS]\n"); err == nil {
		t.Error("lost events are no error")
	}
}
