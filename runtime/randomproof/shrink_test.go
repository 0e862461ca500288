package randomproof

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/runtime/vm"
)

// failure is a script that failed, and how it was cut down since.
type failure struct {
	kernel vm.Kernel
	seed   int64
	edits  []int // of what was left each time
	found  finding
	answer answer
}

// mostShrunk is how many failures are cut down, and mostRounds how often.
const (
	mostShrunk = 6
	mostRounds = 12
	mostTried  = 60 // candidates in a round
)

var failures []failure // guarded by mu

// script makes the script of a failure anew.
func (f *failure) script(on *target.Target) *script {
	s := generate(on, f.seed)
	for _, i := range f.edits {
		s.edits()[i]()
	}
	return s
}

// shrinkAll cuts down some of what failed, and prints it.
func shrinkAll(w io.Writer) {
	if os.Getenv("EP_RANDOM_N") == "" || os.Getenv("EP_RANDOM_SHRINK") == "0" {
		return
	}
	for i := range min(len(failures), mostShrunk) {
		f := &failures[i]
		if err := f.shrink(); err != nil {
			fmt.Fprintf(w, "%s: script %d: cannot be cut down: %v\n", f.kernel.Name, f.seed, err)
			continue
		}
		on, err := target.Embedded(f.kernel.Name)
		if err != nil {
			continue
		}
		s := f.script(on)
		fmt.Fprintf(w, "%s: script %d, cut down %d times: %s\n%s%s\n%s\n", f.kernel.Name, f.seed, len(f.edits), f.found.kind, f.found.what, quoted(s), doneText(s, &f.answer))
	}
}

// shrink cuts a failure down, each time to the shortest script that still fails
// in the same way.
func (f *failure) shrink() error {
	on, err := target.Embedded(f.kernel.Name)
	if err != nil {
		return err
	}
	for range mostRounds {
		var tried []*script
		var jobs []job
		n := len(f.script(on).edits())
		if n > mostTried {
			n = mostTried
		}
		for i := range n {
			c := *f
			c.edits = append(slices.Clone(f.edits), i)
			s := c.script(on)
			tried = append(tried, s)
			jobs = append(jobs, s.job())
		}
		got, err := runJobs(f.kernel, jobs)
		if err != nil {
			return err
		}
		best := -1
		for i := range got.List {
			found := tried[i].judge(&got.List[i], got.Facts)
			if found.kind != f.found.kind || best >= 0 && tried[i].weight() >= tried[best].weight() {
				continue
			}
			best = i
		}
		if best < 0 {
			return nil
		}
		f.edits = append(f.edits, best)
		f.answer = got.List[best]
		f.found = tried[best].judge(&f.answer, got.Facts)
	}
	return nil
}

// weight is how much there is to read of a script.
func (s *script) weight() int { return len(s.String()) + len(s.moduleText()) + 12*len(s.steps) }

// runJobs boots a kernel for a list of jobs.
func runJobs(k vm.Kernel, jobs []job) (answers, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "randomproof-")
	if err != nil {
		return answers{}, err
	}
	defer os.RemoveAll(dir)
	data, err := json.Marshal(jobs)
	if err != nil {
		return answers{}, err
	}
	name := filepath.Join(dir, "jobs.json")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		return answers{}, err
	}
	program, err := vm.Build(ctx, k.GoArch(), ".")
	if err != nil {
		return answers{}, err
	}
	m := vm.Machine{Files: map[string]string{jobsFile + "." + k.Name: name}}
	done, err := m.Run(ctx, k, program, cases()[:1])
	if err != nil {
		return answers{}, err
	}
	var got answers
	err = json.Unmarshal(done[0].Outputs["answers"], &got)
	return got, err
}

// edits are the ways to make a script less, those first that take most away.
// Some make one that ep refuses.
func (s *script) edits() (list []func()) {
	add := func(f func()) { list = append(list, f) }
	drop := func(n int, f func(i int)) {
		for i := range n {
			add(func() { f(i) })
		}
	}
	drop(len(s.events), func(i int) {
		s.events, s.module = slices.Delete(s.events, i, i+1), 0
	})
	drop(len(s.traces), func(i int) { s.traces = slices.Delete(s.traces, i, i+1) })
	drop(len(s.tables), func(i int) { s.tables = slices.Delete(s.tables, i, i+1) })
	drop(len(s.acts), func(i int) { s.acts = slices.Delete(s.acts, i, i+1) })
	drop(len(s.options), func(i int) { s.options = slices.Delete(s.options, i, i+1) })
	if n := len(s.steps); n > 1 {
		add(func() { s.steps = s.steps[:n/2] })
		add(func() { s.steps = s.steps[n/2:] })
	}
	for _, e := range s.events {
		list = append(list, e.edits()...)
	}
	for _, t := range s.traces {
		if t.inline {
			list = append(list, t.of.edits()...)
		}
		if t.print != nil {
			add(func() { t.print = nil })
		}
	}
	for _, t := range s.tables {
		list = append(list, t.edits()...)
	}
	for _, a := range s.acts {
		list = append(list, a.of.edits()...)
	}
	drop(len(s.steps), func(i int) { s.steps = slices.Delete(s.steps, i, i+1) })
	return list
}

func (e *event) edits() (list []func()) {
	add := func(f func()) { list = append(list, f) }
	if n := len(e.stages); n > 1 {
		add(func() { e.stages = e.stages[:n-1] })
	}
	if e.having != nil {
		add(func() { e.having = nil })
		list = append(list, conditionEdits(&e.having)...)
	}
	if e.emit != nil {
		add(func() { e.emit = nil })
	}
	if e.size > 0 {
		add(func() { e.size = 0 })
	}
	for _, st := range e.stages {
		list = append(list, st.edits()...)
	}
	for i := range e.fields {
		f := e.fields[i]
		if len(e.fields) > 1 {
			add(func() { e.fields = slices.Delete(e.fields, i, i+1) })
		}
		if f.to != nil {
			add(func() { f.to = nil })
		}
		for _, k := range parts(f.x) {
			if _, constant := k.(*literal); !constant {
				add(func() { f.x = k })
			}
		}
	}
	return list
}

func (s *stage) edits() (list []func()) {
	add := func(f func()) { list = append(list, f) }
	if s.where != nil {
		list = append(list, conditionEdits(&s.where)...)
		if _, me := s.where.(*mine); !me {
			add(func() { s.where = nil })
		}
	}
	if s.lets != nil {
		add(func() { s.lets = nil })
	}
	if len(s.keys) > 1 {
		add(func() { s.keys = s.keys[:1] })
	}
	return list
}

func (t *table) edits() (list []func()) {
	add := func(f func()) { list = append(list, f) }
	for i := range t.keys {
		if len(t.keys) > 1 {
			add(func() { t.keys = slices.Delete(t.keys, i, i+1) })
		}
	}
	for i := range t.values {
		add(func() { t.values = slices.Delete(t.values, i, i+1) })
	}
	if t.sort != "" {
		add(func() { t.sort = "" })
	}
	return append(list, t.of.edits()...)
}

// conditionEdits put a part of a condition in its place.
func conditionEdits(at *condition) (list []func()) {
	for _, k := range parts(*at) {
		if c, ok := k.(condition); ok {
			list = append(list, func() { *at = c })
		}
	}
	return list
}
