package main

import (
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler/target"
)

// Whatever is read, each write has a verdict and a line that is there.
func FuzzWritesHaveVerdicts(f *testing.F) {
	for _, s := range []string{
		"mkdir <-\ndynamic_events <- e:foo sched.sched_switch\n\n>dynamic_events <- -:foo\nmkdir instances/a <-",
		"#!/bin/sh\ncd /sys/kernel/tracing\nf() { echo \"$1 $@\" >> dynamic_events; f $1; }\nf a; for i in a b; do f $i; done",
		"cat > dynamic_events <<-'EOF'\n\te:foo x\nEOF\n(cd events; echo 1 > enable) || { printf '%s\\n' 1 2; } | tee -a set_event",
		"for i in {1..99999999}; do echo $i {a,b}{c,d} > trace; done; select x in a; do echo $x > trace; done",
		"while :; do cd \"$(pwd)\"; done > trace\nset -- a; shift; eval echo \\$1 \\> trace; x=$((x+1)) exit",
	} {
		f.Add(s)
	}
	t617, err := target.Embedded("6.17-x86_64")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := judgeWrites(strings.NewReader(text), t617)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range list {
			if w.Line < 1 || w.Line > 1+strings.Count(text, "\n") || w.Verdict == "" || w.Verdict != accepted && w.said == "" {
				t.Fatalf("%+v", w)
			}
		}
	})
}
