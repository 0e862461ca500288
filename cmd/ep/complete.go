package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
)

// completion finds what the last of words may become. What a flag or an argument
// takes is told by its tag `complete`: files, targets, events, codes, or none; an
// enum needs no tag.
type completion struct {
	env   *Env
	model *kong.Application
	words []string
	items []item
	files bool // names of files too
	open  bool // the candidates are beginnings

	target string // what --target named so far
	taken  []string
}

// item is one candidate.
type item struct{ word, help string }

// complete walks the command line down to the last word, and completes that.
func (x *completion) complete() {
	node := x.model.Node
	last := len(x.words) - 1
	cur := x.words[last]
	var wants *kong.Value // the value that the flag before still wants
	for _, w := range x.words[:last] {
		switch {
		case wants != nil:
			x.note(wants, w)
			wants = nil
		case w == "--":
		case strings.HasPrefix(w, "-") && w != stdin:
			wants = x.flag(node, w)
		default:
			if child := childNamed(node, w); child != nil {
				node = child
			} else {
				x.taken = append(x.taken, w)
			}
		}
	}
	name, _, assigned := strings.Cut(cur, "=")
	switch {
	case wants != nil:
		x.value(wants, "", cur)
	case strings.HasPrefix(cur, "--") && assigned:
		if f := x.flag(node, name); f != nil {
			x.value(f, name+"=", strings.TrimPrefix(cur, name+"="))
		}
	case strings.HasPrefix(cur, "-") && cur != "":
		x.flags(node, cur)
	default:
		x.argument(node, cur)
	}
}

func childNamed(n *kong.Node, name string) *kong.Node {
	for _, c := range n.Children {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return c
		}
	}
	return nil
}

// flag returns the value that a flag wants in the next word, nil if none.
func (x *completion) flag(node *kong.Node, word string) *kong.Value {
	name, value, assigned := strings.Cut(word, "=")
	for _, f := range flagsOf(node) {
		if name != "--"+f.Name && (f.Short == 0 || name != "-"+string(f.Short)) {
			continue
		}
		if assigned {
			x.note(f.Value, value)
			return nil
		}
		if f.IsBool() {
			return nil
		}
		return f.Value
	}
	return nil
}

// note remembers what other values depend on.
func (x *completion) note(v *kong.Value, word string) {
	if v.Name == "target" {
		x.target = word
	}
}

// flagsOf returns the flags that are good for a command: its own and those of
// all.
func flagsOf(n *kong.Node) []*kong.Flag {
	var all []*kong.Flag
	for ; n != nil; n = n.Parent {
		all = append(all, n.Flags...)
	}
	return all
}

func (x *completion) flags(node *kong.Node, cur string) {
	for _, f := range flagsOf(node) {
		if !f.Hidden {
			x.add("--"+f.Name, cur, f.Help)
		}
	}
	slices.SortFunc(x.items, func(a, b item) int { return cmp.Compare(a.word, b.word) })
}

// argument completes a command's name or a positional argument.
func (x *completion) argument(node *kong.Node, cur string) {
	for _, c := range node.Children {
		if !c.Hidden {
			x.add(c.Name, cur, c.Help)
		}
	}
	if len(node.Positional) == 0 {
		return
	}
	at := node.Positional[min(len(x.taken), len(node.Positional)-1)]
	if node.Name == "show" && len(x.taken) > 0 {
		x.target = x.taken[0]
	}
	x.value(at, "", cur)
}

// value completes what v takes; before stands before it in the word.
func (x *completion) value(v *kong.Value, before, cur string) {
	n := len(x.items)
	switch v.Tag.Get("complete") {
	case "files":
		x.files = true
	case "targets":
		for _, name := range append(target.EmbeddedNames(), live) {
			x.add(name, cur, "")
		}
		x.files = true
	case "events":
		x.events(cur)
	case "codes":
		for _, c := range diag.Codes() {
			x.add(string(c), cur, "")
		}
		x.files = true
	case "script":
		// In a script on the command line, after a word that a source follows.
		head, word := "", cur
		if i := strings.LastIndexAny(cur, " \t(,"); i >= 0 {
			head, word = cur[:i+1], cur[i+1:]
		}
		before += head
		switch lastWord(head) {
		case "trace", "hist", "from", "then", "on":
			x.events(word)
		}
	default:
		if v.Enum != "" {
			for _, e := range strings.Split(v.Enum, ",") {
				x.add(e, cur, "")
			}
		}
	}
	for i := n; i < len(x.items); i++ {
		x.items[i].word = before + x.items[i].word
	}
}

func lastWord(s string) string {
	words := strings.Fields(s)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// add adds a candidate that begins with cur.
func (x *completion) add(word, cur, help string) {
	if strings.HasPrefix(word, cur) {
		first, _, _ := strings.Cut(help, "\n")
		x.items = append(x.items, item{word, first})
	}
}

// maxCandidates is how many events are offered; with more, a person types on.
const maxCandidates = 1000

// events completes names of events: first systems, then what is in one.
func (x *completion) events(cur string) {
	g := &globals{env: x.env, quiet: true}
	t, err := g.chooseTarget(x.target)
	if err != nil {
		return
	}
	kind, name, ok := strings.Cut(cur, ":")
	if ok {
		var names []string
		switch kind {
		case "syscall":
			names = t.Syscalls()
		case "tracepoint":
			names, _ = t.Tracepoints() // without type information there are none to offer
		case "func":
			names, err = t.Functions(func(s string) bool { return strings.HasPrefix(s, name) })
			if err != nil {
				names, _ = t.TypedFunctions() // likewise
			}
		}
		for _, n := range names {
			if len(x.items) < maxCandidates {
				x.add(kind+":"+n, cur, "")
			}
		}
		return
	}
	system, _, dotted := strings.Cut(cur, ".")
	if dotted {
		events, _ := t.Events(system) // a system that is not there has none to offer
		for _, e := range events {
			x.add(system+"."+e, cur, "")
		}
		return
	}
	systems, _ := t.Systems() // what cannot be read is not offered
	for _, s := range systems {
		x.add(s+".", cur, "")
	}
	for _, k := range []string{"syscall:", "func:", "tracepoint:"} {
		x.add(k, cur, "")
	}
	x.open = true
}
