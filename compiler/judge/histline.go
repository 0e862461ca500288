package judge

import (
	"regexp"
	"strings"

	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/target"
)

// The kernel parts a histogram's text at each colon, and what ends the line is
// not looked at twice: a later keys= counts, a second line is more of the same
// line (parse_hist_trigger_attrs).

// written returns the line as command.Parse reads it: without those parts that a
// later one overrides. It refuses what kernels show but do not read.
func (m *maker) written(line string) (string, error) {
	hist := strings.TrimSuffix(line, command.TriggerCond(line))
	for _, shown := range []string{" [active]", " [paused]"} {
		if strings.HasSuffix(strings.TrimSpace(line), shown) {
			return "", m.no("EINVAL", "Couldn't find field", shown[1:], "'%s' is how the kernel shows the histogram, not how it is written", shown[1:])
		}
	}
	if torn := readBackRef.FindString(hist); torn != "" {
		return "", m.no("EINVAL", "Couldn't find field", torn, "'%s' is how the kernel shows a variable; written, it is '[SYSTEM.EVENT.]$NAME' without a modifier", torn)
	}
	if torn := readBackCPU.FindString(hist); torn != "" {
		return "", m.no("EINVAL", "Couldn't find field", torn, "'%s' is how the kernel shows the CPU; written, it is 'common_cpu'", torn)
	}
	return m.overridden(line)
}

var (
	readBackRef = regexp.MustCompile(`\$\w+\.\w+`)
	readBackCPU = regexp.MustCompile(`common_cpu(common_cpu|cpu|CPU)\b`)
)

// attributes are the parts of which the last counts.
var attributes = map[string]string{"key": "keys", "keys": "keys", "val": "vals", "vals": "vals", "values": "vals",
	"sort": "sort", "name": "name", "clock": "clock", "size": "size"}

// overridden leaves out the parts that a later one overrides.
func (m *maker) overridden(line string) (string, error) {
	cond := command.TriggerCond(line)
	hist := strings.TrimSuffix(line, cond)
	parts := strings.Split(hist, ":")
	last := map[string]int{}
	for i, p := range parts {
		if word, _, ok := strings.Cut(p, "="); ok {
			if a := attributes[strings.TrimLeft(word, map[bool]string{true: " \t"}[i == 1])]; a != "" {
				last[a] = i
			}
		}
	}
	var keep []string
	for i, p := range parts {
		word, value, ok := strings.Cut(p, "=")
		if a := attributes[word]; ok && a != "" && value != "" && last[a] > i && a != "size" {
			m.mislead("'%s' has no effect: a later one counts", strings.TrimSpace(p))
			continue
		}
		keep = append(keep, p)
	}
	if m.j.t.Has(target.QuirkTrailingOperator) {
		cond = withoutTrailingOperator(cond)
	}
	return strings.Join(keep, ":") + cond, nil
}

// withoutTrailingOperator cuts off what some kernels do not look at.
func withoutTrailingOperator(cond string) string {
	cut := strings.TrimRight(cond, " \t")
	for _, op := range []string{"&&", "||"} {
		if s, ok := strings.CutSuffix(cut, op); ok {
			return s
		}
	}
	return cond
}

// varLists returns the lists of variables of a histogram's text: what stands
// between two colons and sets something, parted at commas.
func varLists(line string) [][]string {
	hist := strings.TrimSuffix(line, command.TriggerCond(line))
	hist = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(hist, " \t"), " if"), " \t")
	var lists [][]string
	for i, p := range strings.Split(hist, ":") {
		word, _, ok := strings.Cut(p, "=")
		if i == 0 || !ok || attributes[word] != "" || i == 1 && attributes[strings.TrimLeft(word, " \t")] != "" {
			continue
		}
		lists = append(lists, strings.Split(p, ","))
	}
	return lists
}

func varName(assignment string) string {
	n, _, _ := strings.Cut(assignment, "=")
	return n
}
