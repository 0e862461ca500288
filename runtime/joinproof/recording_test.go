package joinproof

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// recording is what came of a script.
type recording struct {
	rows   map[string][]row   // by stream
	tables map[string][]group // by histogram
}

// row is one record: numbers as their bits, extended by sign, and texts.
type row struct {
	numbers map[string]uint64
	texts   map[string]string
	tid     int32
}

func (r row) num(name string) int64 { return int64(r.numbers[name]) }

// column lists one number of all rows.
func column(rows []row, name string) []uint64 {
	var out []uint64
	for _, r := range rows {
		out = append(out, r.numbers[name])
	}
	return out
}

// sameNumbers fails the case if a field's values are not those wanted.
func (m *machine) sameNumbers(name string, rows []row, field string, want []uint64) {
	if got := column(rows, field); !slices.Equal(got, want) {
		m.g.Errorf("%s: got %d, want %d", name, got, want)
	}
}

// group is one row of a histogram: its columns' texts.
type group map[string]string

func (g group) num(name string) int64 {
	n, err := strconv.ParseInt(g[name], 0, 64)
	if err != nil {
		return -1
	}
	return n
}

var (
	histLine = regexp.MustCompile(`^\{ (.*) \} (.*)$`)
	histPair = regexp.MustCompile(`(\S+): +(~ \S+|\S+)`)
)

// groups parses the part of a hist file that is of the trigger with the same
// keys; an event has one such in these tests.
func groups(text, command string) []group {
	keys := strings.FieldsFunc(command, func(r rune) bool { return r == ':' || r == ' ' })[1]
	var out []group
	for part := range strings.SplitSeq(text, "# event histogram") {
		if !strings.Contains(part, ":"+keys+":") {
			continue
		}
		for line := range strings.SplitSeq(part, "\n") {
			match := histLine.FindStringSubmatch(line)
			if match == nil {
				continue
			}
			one := group{}
			for pair := range strings.SplitSeq(match[1], ", ") {
				if kv := histPair.FindStringSubmatch(pair); kv != nil {
					one[kv[1]] = kv[2]
				}
			}
			for _, kv := range histPair.FindAllStringSubmatch(match[2], -1) {
				one[kv[1]] = kv[2]
			}
			out = append(out, one)
		}
	}
	return out
}
