package judge

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/eptrace/ep/compiler/target"
)

// functionFiles are the files that choose functions for function tracing.
var functionFiles = []string{"set_ftrace_filter", "set_ftrace_notrace", "set_graph_function", "set_graph_notrace"}

// functions carries out a write to one of functionFiles: words that name a
// function, a pattern of some, or in the first two one by its number in
// available_filter_functions. There a word may have a module or a command behind
// a colon (ftrace_process_regex of kernel/trace/ftrace.c).
func (j *Judge) functions(f file, text string) error {
	for _, word := range strings.Fields(text) {
		if err := j.functionWord(f, word); err != nil {
			return err.at(text, word)
		}
	}
	return nil
}

func (j *Judge) functionWord(f file, word string) *Refusal {
	name, remove := strings.CutPrefix(word, "!")
	name, command, hasCommand := strings.Cut(name, ":")
	graph := strings.HasPrefix(f.kind, "set_graph")
	command, params, _ := strings.Cut(command, ":")
	switch {
	case graph && hasCommand, f.kind == "set_ftrace_notrace" && hasCommand && command != "mod":
		return no("EINVAL", "", "%s takes no ':'", f.kind)
	case hasCommand && command == "mod":
		return nil // it may be loaded later
	case !hasCommand && !graph && !remove && name != "" && strings.Trim(name, "0123456789") == "":
		return j.functionNumber(name)
	}
	set := f.kind + " " + name + ":" + command
	if remove && (graph || hasCommand) {
		errno := "EINVAL"
		if hasCommand {
			errno = "ENODEV"
		}
		if !f.buffer.functions[set] {
			return no(errno, "", "'%s' is not set here", word[1:])
		}
		delete(f.buffer.functions, set)
		return nil
	}
	if err := j.traced(name); err != nil {
		return err
	}
	if hasCommand {
		if err := j.functionCommand(command, params); err != nil {
			return err
		}
	}
	if f.buffer.functions == nil {
		f.buffer.functions = map[string]bool{}
	}
	f.buffer.functions[set] = true
	return nil
}

// functionNumber is a function by its place in the list of all.
func (j *Judge) functionNumber(s string) *Refusal {
	n, err := strconv.Atoi(s)
	if list, missing := j.t.Functions(func(string) bool { return true }); missing == nil && (err != nil || n < 1 || n > len(list)) {
		return no("EINVAL", "", "there is no function number %s", s)
	}
	return nil
}

// traced refuses a name or a pattern of no function that can be traced.
func (j *Judge) traced(name string) *Refusal {
	if strings.ContainsAny(name, "*?[") {
		list, err := j.t.Functions(func(f string) bool {
			ok, err := path.Match(name, f)
			return ok && err == nil
		})
		if err == nil && len(list) == 0 {
			return no("EINVAL", "", "no function that can be traced matches '%s'", name)
		}
		return nil
	}
	f, err := j.t.Function(name)
	if err != nil {
		return no("EINVAL", "", "%v", err)
	}
	switch f.State {
	case target.SymbolUnknown, target.SymbolFprobeOnly, target.SymbolProbeable:
		return nil
	}
	r := no("EINVAL", "", "there is no function '%s' that can be traced", name)
	r.Near, _ = j.t.NearSymbol(name)
	return r
}

// functionCommand is what a function that is called does, behind its name.
func (j *Judge) functionCommand(command, params string) *Refusal {
	commands := []string{"traceon", "traceoff", "stacktrace", "snapshot", "dump", "cpudump", "enable_event", "disable_event"}
	if !slices.Contains(commands, command) {
		return no("EINVAL", "", "there is no command '%s' of functions", command).near(command, commands)
	}
	if strings.HasSuffix(command, "_event") {
		group, rest, ok := strings.Cut(params, ":")
		var event string
		event, params, _ = strings.Cut(rest, ":")
		n := name{group, event}
		if !ok || j.file(n) == nil {
			r := no("EINVAL", "", "there is no event %s", n)
			r.Near = j.nearEvent(n)
			return r
		}
	}
	if _, err := strconv.ParseUint(params, 0, 64); params != "" && err != nil {
		return no("EINVAL", "", "'%s' is no count", params)
	}
	return nil
}
