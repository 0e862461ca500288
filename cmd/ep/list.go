package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/stdlib"
)

type listCmd struct {
	Patterns []string `arg:"" optional:"" name:"pattern" complete:"events" help:"What to list: 'sched.*', 'syscall:open*', 'func:vfs_*', 'tracepoint:sched*', 'std/*'. A name without a dot is an event's or a system's. Default: all events."`
	Target   string   `placeholder:"TARGET" complete:"targets" help:"The kernel to look at: a name of 'ep target list', a file, a folder, or 'live'. Default: live where tracefs can be read, else ${default_target}."`
	Verbose  bool     `short:"v" help:"Print fields, arguments and their types as ep sees them, and the names of values."`
	JSON     bool     `name:"json" help:"Print one JSON object instead of text."`
}

// Help implements kong.HelpProvider.
func (*listCmd) Help() string {
	return `Each line is what a script writes to trace it. In a pattern '*' stands for any text, '?' for a character, '[a-c]' for one of several. Events are found by their names alone; only -v reads their formats.

Examples:

    ep list 'sched.*'
    ep list -v sched_switch
    ep list syscall:'open*'
    ep list -v func:vfs_read
    ep list -v std/
    ep list --target 6.12-arm64 tracepoint:'tcp_*'
    ep list --json -v sched.sched_switch | jq '.entries[].fields[].name'
`
}

// Run carries out the command.
func (c *listCmd) Run(env *Env, g *globals) error {
	t, err := g.chooseTarget(c.Target)
	if err != nil {
		return err
	}
	l := lister{t: t, verbose: c.Verbose, seen: map[string]bool{}}
	if len(c.Patterns) == 0 {
		c.Patterns = []string{"*.*"}
	}
	for _, p := range c.Patterns {
		if err := l.list(p); err != nil {
			return err
		}
	}
	var out bytes.Buffer
	if c.JSON {
		if err := printJSON(&out, listing{Version: 1, Target: t.Name(), Entries: l.entries}); err != nil {
			return fmt.Errorf("print the list: %w", err)
		}
	} else {
		for i := range l.entries {
			l.entries[i].print(&out)
		}
	}
	return writeOutput(env, "", out.Bytes())
}

// lister collects what matches patterns.
type lister struct {
	t       *target.Target
	verbose bool
	entries []entry
	seen    map[string]bool // entries, by how they are written
}

// list adds what one pattern matches; it is an error if that is nothing.
func (l *lister) list(pattern string) error {
	kind, glob, ok := strings.Cut(pattern, ":")
	switch {
	case ok:
	case strings.Contains(pattern, "/"):
		kind, glob = "module", pattern
	default:
		kind, glob = "event", pattern
	}
	if _, err := path.Match(glob, ""); err != nil {
		return usagef("'%s' is no pattern: a '[' wants a ']'", pattern)
	}
	n := len(l.entries)
	var near []string
	var err error
	switch kind {
	case "event":
		near, err = l.events(glob)
	case "module":
		if strings.HasSuffix(glob, "/") {
			glob += "*"
		}
		near = stdlib.Modules()
		l.each(near, glob, l.module)
	case "syscall":
		near = l.t.Syscalls()
		l.each(near, glob, l.syscall)
	case "func":
		near, err = l.functions(glob)
	case "tracepoint":
		near, err = l.t.Tracepoints()
		l.each(near, glob, l.tracepoint)
	default:
		return usagef("nothing of the kind '%s'; there are syscall:, func: and tracepoint:, and events without a kind", kind)
	}
	switch {
	case errors.Is(err, target.ErrNoBTF) || errors.Is(err, target.ErrNotFound):
		return exitError{exitScript, fmt.Errorf("target '%s' has no list of those: %w", l.t.Name(), err)}
	case err != nil:
		return exitError{exitMachine, err}
	case len(l.entries) > n || l.repeated(kind, glob):
		return nil
	}
	note := ""
	if name, ok := diag.Near(glob, near); ok {
		note = fmt.Sprintf("; did you mean '%s'?", prefixes[kind]+name)
	}
	return exitError{exitScript, fmt.Errorf("target '%s' has nothing that matches '%s'%s", l.t.Name(), pattern, note)}
}

// prefixes stand before names in patterns, by kind.
var prefixes = map[string]string{"syscall": "syscall:", "func": "func:", "tracepoint": "tracepoint:"}

// repeated reports whether an earlier pattern has listed what this one matches.
func (l *lister) repeated(kind, glob string) bool {
	for i := range l.entries {
		e := &l.entries[i]
		if ok, _ := path.Match(glob, e.Name); ok && e.Kind == kind {
			return true
		}
	}
	return false
}

// each calls add with the names that match.
func (l *lister) each(names []string, glob string, add func(name string)) {
	for _, name := range names {
		if ok, _ := path.Match(glob, name); ok {
			add(name)
		}
	}
}

// events adds the events that match, and returns the names to be near to. With a
// dot, the folder of a system that does not match is not even read.
func (l *lister) events(glob string) ([]string, error) {
	systems, err := l.t.Systems()
	if err != nil {
		return nil, err
	}
	systemGlob, eventGlob, dotted := strings.Cut(glob, ".")
	plain := !strings.ContainsAny(glob, `*?[\`)
	var near []string
	if !dotted {
		near = append(near, systems...)
	}
	for _, s := range systems {
		whole, _ := path.Match(systemGlob, s)
		if dotted && !whole && !plain {
			continue
		}
		events, err := l.t.Events(s)
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			match, _ := path.Match(eventGlob, e)
			if !dotted {
				match, _ = path.Match(glob, e)
				match = match || whole
			}
			switch {
			case match && (whole || !dotted):
				l.event(s, e)
			case !dotted:
				near = append(near, e)
			case plain:
				near = append(near, s+"."+e)
			}
		}
	}
	return near, nil
}

// functions adds the functions that match: those that the target says can be
// probed, or else those that the kernel's type information tells of.
func (l *lister) functions(glob string) ([]string, error) {
	var all []string
	names, err := l.t.Functions(func(name string) bool {
		ok, _ := path.Match(glob, name)
		return ok
	})
	if errors.Is(err, target.ErrNotFound) || errors.Is(err, fs.ErrPermission) {
		if all, err = l.t.TypedFunctions(); err == nil {
			names = all
		}
	}
	if err != nil {
		return nil, err
	}
	l.each(names, glob, l.function)
	if len(names) == 0 {
		if name, ok := l.t.NearSymbol(glob); ok {
			all = []string{name}
		}
	}
	return all, nil
}

// add adds an entry, unless it is there already.
func (l *lister) add(e entry) {
	if l.seen[e.Source] {
		return
	}
	l.seen[e.Source] = true
	l.entries = append(l.entries, e)
}
