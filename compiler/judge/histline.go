package judge

import (
	"errors"
	"slices"
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
	if torn := shownRef(hist); torn != "" {
		return "", m.no("EINVAL", "Couldn't find field", torn, "'%s' is how the kernel shows a variable; written, it is '[SYSTEM.EVENT.]$NAME' without a modifier", torn)
	}
	for _, shown := range []string{"common_cpucommon_cpu", "common_cpucpu", "common_cpuCPU"} {
		if strings.Contains(hist, shown) {
			return "", m.no("EINVAL", "Couldn't find field", shown, "'%s' is how the kernel shows the CPU; written, it is 'common_cpu'", shown)
		}
	}
	for _, text := range []string{"stacktrace.stacktrace", "STACKTRACE.stacktrace"} {
		if strings.Contains(hist, text) && !m.j.t.Has(target.QuirkStacktraceModifier) {
			return "", m.no("EINVAL", "Invalid field modifier", text, "the stack trace of the event itself has no '.stacktrace'")
		}
	}
	return m.overridden(line)
}

// madeLater are the kernel's words for mistakes in an action that it finds as it
// makes the action, and so not where a histogram is removed.
var madeLater = []string{"Couldn't find synthetic event", "Couldn't find field", "For onmax(x) or onchange(x), x must be a variable", "Invalid field modifier"}

// withoutBadAction leaves out of a removal's text the action that err is about,
// if the kernel does not make it.
func withoutBadAction(text string, err error) (rest string, ok bool) {
	var e *command.SyntaxError
	if !strings.HasPrefix(strings.TrimSpace(text), "!") || !errors.As(err, &e) || !slices.Contains(madeLater, e.Kernel) {
		return text, false
	}
	start := strings.LastIndexByte(text[:min(e.Offset, len(text))], ':')
	if start < 0 || !strings.HasPrefix(text[start+1:], "on") {
		return text, false
	}
	end := strings.IndexByte(text[start+1:], ':')
	if end < 0 {
		cond := command.TriggerCond(text)
		if cond != "" {
			cond = " if " + cond
		}
		return text[:start] + cond, true
	}
	return text[:start] + text[start+1+end:], true
}

// shownRef returns a variable with something behind it, "" if there is none.
func shownRef(hist string) string {
	for i := strings.IndexByte(hist, '$'); i >= 0; {
		n := i + 1
		for n < len(hist) && isWord(hist[n]) {
			n++
		}
		if n+1 < len(hist) && n > i+1 && hist[n] == '.' && isWord(hist[n+1]) {
			return hist[i : n+2]
		}
		next := strings.IndexByte(hist[n:], '$')
		if i = n + next; next < 0 {
			break
		}
	}
	return ""
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// attributes are the parts of which the last counts.
var attributes = map[string]string{"key": "keys", "keys": "keys", "val": "vals", "vals": "vals", "values": "vals",
	"sort": "sort", "name": "name", "clock": "clock", "size": "size"}

// overridden leaves out the parts that a later one overrides.
func (m *maker) overridden(line string) (string, error) {
	cond := command.TriggerCond(line)
	hist := strings.TrimSuffix(line, cond)
	if m.j.t.Has(target.QuirkTrailingOperator) {
		cond = withoutTrailingOperator(cond)
	}
	parts := strings.Split(hist, ":")
	last := map[string]int{}
	again := false
	for i, p := range parts {
		if word, _, ok := strings.Cut(p, "="); ok {
			if i == 1 {
				word = strings.TrimLeft(word, " \t")
			}
			if a := attributes[word]; a != "" {
				again = again || last[a] > 0
				last[a] = i
			}
		}
	}
	if !again {
		return hist + cond, nil
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
	return strings.Join(keep, ":") + cond, nil
}

// withoutTrailingOperator cuts off what some kernels do not look at.
func withoutTrailingOperator(cond string) string {
	cut := strings.TrimRight(cond, " \t!")
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
