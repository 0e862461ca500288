package compiler_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// Some lines stop a kernel, or have it write over its own memory, and are
// accepted. No plan has one of them, on no kernel, also where that one would
// take it well.

// harm returns what is harmful in a plan, "" if nothing is.
func harm(p *plan.Plan) string {
	stacks := map[string]bool{}                             // "event field" of synthetic events that are stacks
	switches := map[string]bool{"sched.sched_switch": true} // and what is made of it alone
	for _, w := range p.Writes {
		c, err := command.Parse(w.File, w.Data)
		if err != nil {
			return fmt.Sprintf("%q cannot be read: %v", w.Data, err)
		}
		switch c := c.(type) {
		case *command.Eprobe:
			switches[c.EventName.String()] = switches[c.On.String()]
		case *command.Synthetic:
			for _, f := range c.Fields {
				if strings.HasSuffix(f.Type, "long[]") {
					stacks["synthetic."+c.Name+" "+f.Name] = true
				}
			}
		case *command.Hist:
			if found := harmOfHist(c, stacks); found != "" {
				return fmt.Sprintf("%s: %s", found, w.Data)
			}
		case *command.Trigger:
			name := c.Event.String()
			if c.Kind == command.Snapshot && c.Count < 0 && switches[name] && !strings.HasPrefix(p.Target, "7.") {
				return "a snapshot at each switch"
			}
		}
		if w.File == "dynamic_events" && (strings.Contains(w.Data, ":symstr") || strings.Contains(w.Data, "=@+")) {
			return "a type or place that kernels misread: " + w.Data
		}
	}
	return ""
}

func harmOfHist(c *command.Hist, stacks map[string]bool) (found string) {
	var visit func(x command.HistExpr)
	visit = func(x command.HistExpr) {
		switch x := x.(type) {
		case command.HistField:
			if x.Modifier == "stacktrace" && !stacks[c.Event.String()+" "+x.Name] {
				found = "a stack of a field that is none"
			}
		case *command.HistBinary:
			visit(x.X)
			visit(x.Y)
		case *command.HistNeg:
			visit(x.X)
		}
	}
	for _, list := range [][]command.HistExpr{c.Keys, c.Vals} {
		for _, x := range list {
			visit(x)
		}
	}
	for _, v := range c.Vars {
		visit(v.Expr)
	}
	for _, a := range c.Actions {
		for _, x := range a.Params {
			if _, variable := x.(command.HistRef); !variable {
				found = "a parameter that is a bare field"
			}
		}
	}
	return found
}

// tempting are scripts whose shortest way would be a harmful line.
var tempting = []string{
	// onmatch(…).trace(syn,target_cpu) with the other hist keyed by the CPU
	"event lat from sched.sched_waking as a then sched.sched_switch as b by $cpu { to = a.target_cpu, next = b.next_pid }\ntrace lat",
	"event lat from sched.sched_waking as a then sched.sched_switch as b by a.pid + 1 == b.next_pid + 1 { to = a.target_cpu, next = b.next_pid }\ntrace lat",
	"event lat from sched.sched_waking as a then sched.sched_switch as b by $cpu emit on max(b.next_prio) { to = a.target_cpu, from_ = a.$tid }\ntrace lat",
	"event lat from sched.sched_waking as a then sched.sched_switch as b by $tid { where_ = a.$kstack, there = b.$kstack }\ntrace lat",
	// keys=v.stacktrace
	"hist sched.sched_switch by prev_pid, place = $kstack",
	"event blocked from sched.sched_switch as off then sched.sched_switch as back by off.prev_pid == back.next_pid { pid = back.next_pid, stack = off.$kstack }\nhist blocked by stack",
	"event blocked from sched.sched_switch as off then sched.sched_switch as back by off.prev_pid == back.next_pid { pid = back.next_pid, stack = off.$kstack }\nhist blocked by pid",
	"event where_ from kmem.kmalloc { call_site: ksym, bytes_req }\ntrace where_",
	// a snapshot at each switch
	"on sched.sched_switch do snapshot\non sched.sched_switch do stack\non sched.sched_switch do stop",
	"on sched.sched_switch where prev_pid == 1 times 1 do snapshot, stack, stop",
	"event e from sched.sched_switch { prev_pid }\non e do snapshot, stack, stop",
	// symstr
	"trace kmem.kmalloc { site = call_site as ksym, $comm, bytes_req }",
	"trace kprobe vfs_read { back = $stack(0) as ksym, $comm }",
	"trace kmem.kmalloc where call_site == vfs_read { site = call_site as ksym }",
}

// TestNoPlanHarms compiles the tempting scripts and all of testdata for all
// kernels.
func TestNoPlanHarms(t *testing.T) {
	texts := append(corpus(t, false), tempting...)
	compiled := 0
	for _, name := range target.EmbeddedNames() {
		tg := keptTarget(t, name)
		for i, text := range texts {
			src, err := source.New("harm.ep", text)
			if err != nil {
				t.Fatal(err)
			}
			p, list := compiler.Compile(src, tg, compiler.Options{Instance: "ep"})
			if p == nil {
				if i >= len(texts)-len(tempting) {
					for _, d := range list {
						if d.Code == diag.PlanRefused || d.Code == diag.Syntax {
							t.Errorf("%s: %s\n%s", name, d.Message, text)
						}
					}
				}
				continue
			}
			compiled++
			if found := harm(p); found != "" {
				t.Errorf("%s: %s\n%s", name, found, text)
			}
		}
	}
	if compiled < len(texts) {
		t.Errorf("only %d of %d scripts on %d kernels compile", compiled, len(texts), len(target.EmbeddedNames()))
	}
}

// TestHarmIsSeen: the test above would see it.
func TestHarmIsSeen(t *testing.T) {
	const events, trigger = "dynamic_events", "events/sched/sched_switch/trigger"
	for _, p := range []plan.Plan{
		{Writes: []plan.Write{{File: events, Data: "s:syn int c"}, {File: trigger, Data: "hist:keys=common_cpu:onmatch(sched.sched_waking).trace(syn,target_cpu)"}}},
		{Writes: []plan.Write{{File: events, Data: "s:syn u64 v"}, {File: "events/synthetic/syn/trigger", Data: "hist:keys=v.stacktrace"}}},
		{Writes: []plan.Write{{File: events, Data: "p:g/e vfs_read a=$stack0:symstr"}}},
		{Writes: []plan.Write{{File: events, Data: "p:g/e /bin/true:0x10 a=@+16:s32"}}},
		{Target: "6.1-x86_64", Writes: []plan.Write{{File: trigger, Data: "snapshot"}, {File: trigger, Data: "stacktrace"}}},
	} {
		if harm(&p) == "" {
			t.Errorf("nothing found in %v", p.Writes)
		}
	}
	good := plan.Plan{Writes: []plan.Write{{File: events, Data: "s:syn unsigned long[] st"}, {File: "events/synthetic/syn/trigger", Data: "hist:keys=st.stacktrace"}}}
	if found := harm(&good); found != "" {
		t.Error(found)
	}
}
