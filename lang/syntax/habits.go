package syntax

import (
	"strings"

	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// This file has what the habits of other languages, of tools and of tracefs make
// people write, with what to write here.

// nearUnits are spellings of units that are not ours, in lower case.
var nearUnits = map[string]string{
	"k": "KiB", "kb": "KiB", "kib": "KiB", "m": "MiB", "mb": "MiB", "mib": "MiB", "g": "GiB", "gb": "GiB", "gib": "GiB",
	"sec": "s", "secs": "s", "nsec": "ns", "usec": "us", "µs": "us", "msec": "ms",
}

// foreignHeads are words of other languages, with ours.
var foreignHeads = map[string]string{
	"probe": "trace", "let": "const", "var": "param", "def": "const", "set": "option", "include": "import",
	"use": "import", "record": "trace", "count": "hist", "histogram": "hist", "synthetic": "event", "eprobe": "event",
}

// wrongOperators are operators that other languages have, with what to write
// here; "" where there is nothing.
var wrongOperators = map[string]string{
	"=": "==", "===": "==", "!==": "!=", "<>": "!=", "=>": ">=", "and": "&&", "or": "||", "not": "!", "..=": "..",
	"=~": "~", "<<": "", ">>": "", "^": "", "%": "", ":=": "=", "+=": "", "-=": "", "|=": "",
	"is": "==", "like": "~", "xor": "", "mod": "", "matches": "~",
}

// foreignClauses are words of other languages, with ours.
var foreignClauses = map[string]string{
	"if": "where", "when": "where", "filter": "where", "if:": "where", "group": "by", "order": "sort",
	"unless": "where", "keys": "by", "vals": "{", "join": "then",
}

// foreignActions are what the kernel and others call our actions.
var foreignActions = map[string]string{
	"traceoff": "stop", "traceon": "start", "stacktrace": "stack", "disable": "stop", "enable": "start",
	"disable_event": "stop", "enable_event": "start", "kstack": "stack",
}

// foreignKinds are kinds of sources in other tools, with what ep has.
var foreignKinds = map[string]string{
	"kretprobe": "func F.exit", "fentry": "func F.enter", "fexit": "func F.exit", "kfunc": "func F.enter", "kretfunc": "func F.exit",
	"fprobe": "func F", "uretprobe": `ufunc "PATH":F.exit`, "rawtracepoint": "tracepoint NAME", "eprobe": "GROUP.EVENT",
}

// globOf are methods of texts in other languages, as globs.
var globOf = map[string]string{
	"startswith": `"abc*"`, "hasprefix": `"abc*"`, "endswith": `"*abc"`, "hassuffix": `"*abc"`,
	"contains": `"*abc*"`, "includes": `"*abc*"`, "matches": `"a*c"`,
}

// misplacedWords are words that mean something else here or elsewhere: anywhere, in
// a statement, or in a statement after a clause.
var misplacedWords = map[string]struct{ message, note string }{
	"limit":    {"unknown clause '%s'", "all rows are shown; 'sort by count desc' shows the largest first"},
	"top":      {"unknown clause '%s'", "all rows are shown; 'sort by count desc' shows the largest first"},
	"every":    {"unknown clause '%s'", "'ep run --interval 1s' prints it every second"},
	"interval": {"unknown clause '%s'", "'ep run --interval 1s' prints it every second"},
	"for":      {"unknown clause '%s'", "'ep run --for 10s' ends after ten seconds"},
	"timeout":  {"unknown clause '%s'", "'ep run --for 10s' ends after ten seconds"},

	"trace: limit": {"a trace has no '%s'", enoughRecords},
	"trace: times": {"a trace has no '%s'", enoughRecords},
	"trace: top":   {"a trace has no '%s'", enoughRecords},
	"event: by":    {"'%s' must follow 'then STAGE'", "these keys pair a later event with an earlier one; to count by a key, write a hist"},

	"event after by: where": {"the '%s' of a stage must come before its 'by'", stageForm},
	"event after by: let":   {"the '%s' of a stage must come before its 'by'", stageForm},
	"hist after : paused":   {"'%s' must be between a hist's name and 'from'", "write 'hist NAME paused from …'"},
}

const (
	enoughRecords = "'ep run FILE | head -10' ends after ten records; 'on … times 1 do stop' stops recording"
	stageForm     = "write 'then STAGE as b where … by …'; a condition on the new event follows 'having'"
)

// misplacedWord is about a word of the table above.
func misplacedWord(got word, key string) *mistake {
	w := misplacedWords[key]
	return newMistake(diag.MisplacedClause, got.span(), w.message, got.text).note("%s", w.note)
}

// notJoined is about a group and its event with ':' or, as tracefs has them, '/'.
func notJoined(all, at source.Span, group, name string) *mistake {
	return newMistake(diag.Syntax, at, "expected '.' between a group and its event").
		note("write '%s.%s'", group, name).fix(all, group+"."+name)
}

// colonAfterKind is about `kprobe:vfs_read` and `tracepoint:sched:sched_switch`.
func colonAfterKind(sp source.Span, kind string, names []string) *mistake {
	m := newMistake(diag.Syntax, sp, "unexpected ':' after '%s'", kind)
	switch {
	case len(names) == 2 && kind == "tracepoint":
		return m.note("write '%s.%s'", names[0], names[1])
	case len(names) > 0:
		return m.note("write '%s %s'", kind, strings.Join(names, ":"))
	}
	return m
}

// wantKeys says that a stage of a join has no keys.
func wantKeys(m *mistake) *mistake {
	return m.note("a stage after 'then' needs keys that pair it with the stages before: 'by a.f == b.g'")
}

// onForBy is about `then b on a.f == b.g`.
func onForBy(got word) *mistake {
	return newMistake(diag.MisplacedClause, got.span(), "the keys of a join follow 'by'").note("write 'by'").fix(got.span(), "by")
}

// valuesOfPrint is about values behind the text of print.
func valuesOfPrint(got word) *mistake {
	return newMistake(diag.Syntax, got.span(), "unexpected %s", quote(got.text)).
		note("put a value into the string: 'print \"… {%s}\"'", got.text)
}

// assignedOption is about `option clock = mono`.
func assignedOption(sp source.Span) *mistake {
	return newMistake(diag.Syntax, sp, "unexpected '=' before the value of an option").note("write 'option NAME VALUE'").fix(sp, "")
}

// questionBeforeEnd is about `func F?.exit`.
func questionBeforeEnd(sp source.Span, end string) *mistake {
	return newMistake(diag.Syntax, sp, "'?' must be at the end of a source").note("write '.%s?'", end)
}

// foreignKind is about a kind of source in other tools.
func foreignKind(got word, form string) *mistake {
	return newMistake(diag.Syntax, got.span(), "unknown kind of source '%s'", got.text).note("write '%s'", form)
}

// nameInQuotes is about `syscall "openat"`.
func nameInQuotes(got word) *mistake {
	return newMistake(diag.Syntax, got.span(), "the name of a system call or function must not be in quotes").
		note("write '%s'", strings.Trim(got.text, `"`)).fix(got.span(), strings.Trim(got.text, `"`))
}
