package doctor

import (
	"io/fs"
	"path"
	"strings"

	"github.com/eptrace/ep/runtime/journal"
)

// kinds are the letters that lines of dynamic_events begin with.
var kinds = map[byte]string{'p': "kprobe", 'r': "kretprobe", 'e': "eprobe", 's': "synthetic event", 'f': "fprobe", 't': "tprobe", 'u': "uprobe"}

// leftovers lists what acts or records in tracefs: dynamic events, instances,
// and for the top level and each instance the events that are on, triggers,
// filters.
func (x *examination) leftovers() {
	text := x.read(path.Join(x.dir, "dynamic_events"))
	if text == "" { // before v5.0
		text = x.read(path.Join(x.dir, "kprobe_events")) + x.read(path.Join(x.dir, "uprobe_events"))
	}
	for line := range strings.Lines(text) {
		x.dynamicEvent(strings.TrimSuffix(line, "\n"))
	}
	x.buffer("")
	entries, err := fs.ReadDir(x.m.Root, path.Join(x.dir, "instances"))
	if err != nil {
		return // a kernel without instances
	}
	for _, e := range entries {
		if e.IsDir() {
			x.leave(Leftover{Kind: "instance", Name: e.Name(), Ep: madeByEp(e.Name())}, "instances/"+e.Name())
			x.buffer(e.Name())
		}
	}
}

// leave notes something, which is what a journal may tell of.
func (x *examination) leave(l Leftover, what string) {
	l.Script = x.owners[what]
	l.Ep = l.Ep || l.Script != ""
	x.report.Leftovers = append(x.report.Leftovers, l)
}

// owners returns the names of scripts by what their journals say they made. A
// file of triggers that holds another's too is taken for the script's.
func owners(list []*journal.Journal) map[string]string {
	all := map[string]string{}
	for _, j := range list {
		for i, s := range j.Steps {
			if !j.Left(i) {
				continue
			}
			what := s.File
			if what == "dynamic_events" {
				_, name, _ := strings.Cut(s.Data, ":")
				if what, _, _ = strings.Cut(name, " "); !strings.Contains(what, "/") {
					what = "synthetic/" + what // s:NAME
				}
			}
			all[what] = j.Name
		}
	}
	return all
}

// dynamicEvent notes a line of dynamic_events: a letter, perhaps a number, a
// colon, and GROUP/NAME. A probe may be on user space too, at PATH:OFFSET; the
// kernel begins it with the kprobe's letter.
func (x *examination) dynamicEvent(line string) {
	head, rest, ok := strings.Cut(line, ":")
	if !ok || head == "" || kinds[head[0]] == "" {
		return
	}
	name, place, _ := strings.Cut(strings.ReplaceAll(rest, "\t", " "), " ")
	kind := kinds[head[0]]
	if (head[0] == 'p' || head[0] == 'r') && strings.HasPrefix(place, "/") {
		kind = "uprobe"
	}
	group, _, _ := strings.Cut(name, "/")
	x.leave(Leftover{Kind: kind, Name: strings.Replace(name, "/", ".", 1), Text: line, Ep: madeByEp(group)}, name)
}

// madeByEp reports whether ep gives groups and instances such names by itself.
func madeByEp(name string) bool {
	return name == "ep" || strings.HasPrefix(name, "ep_") || strings.HasPrefix(name, "ep-")
}

// buffer notes what is on in one buffer, the top level's or an instance's.
func (x *examination) buffer(instance string) {
	in := ""
	if instance != "" {
		in = "instances/" + instance + "/"
	}
	dir := path.Join(x.dir, in)
	for name := range strings.Lines(x.read(path.Join(dir, "set_event"))) {
		name = strings.Replace(strings.TrimSpace(name), ":", ".", 1)
		group, event, _ := strings.Cut(name, ".")
		x.leave(Leftover{Kind: "event on", Name: name, In: instance, Ep: madeByEp(group)}, in+"events/"+group+"/"+event+"/enable")
	}
	systems, err := x.t.Systems()
	if err != nil {
		return // it was readable before: whoever unmounts meanwhile gets less
	}
	for _, s := range systems {
		events, err := x.t.Events(s)
		if err != nil {
			continue // of a module that went
		}
		for _, e := range events {
			x.eventFiles(in+"events/"+s+"/"+e, s+"."+e, instance)
		}
	}
}

// eventFiles notes an event's triggers and filter; dir is in tracefs.
func (x *examination) eventFiles(dir, name, instance string) {
	group, _, _ := strings.Cut(name, ".")
	for line := range strings.Lines(x.read(path.Join(x.dir, dir, "trigger"))) {
		// Without triggers the file lists those that there could be.
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			x.leave(Leftover{Kind: "trigger", Name: name, In: instance, Text: line, Ep: madeByEp(group)}, dir+"/trigger")
		}
	}
	filter := strings.TrimSpace(x.read(path.Join(x.dir, dir, "filter")))
	if filter != "" && filter != "none" {
		x.leave(Leftover{Kind: "filter", Name: name, In: instance, Text: filter, Ep: madeByEp(group)}, dir+"/filter")
	}
}
