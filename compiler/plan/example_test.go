package plan_test

import (
	"fmt"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/emit"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
)

func compile(text string) *plan.Plan {
	src, err := source.New("waits.ep", text)
	if err != nil {
		panic(err)
	}
	t, err := target.Embedded("6.12-x86_64")
	if err != nil {
		panic(err)
	}
	p, list := compiler.Compile(src, t, compiler.Options{Instance: "mine"})
	if p == nil {
		panic(list[0].Message)
	}
	return p
}

// A walk over a plan: what is written where, why, and how it is undone.
func ExamplePlan() {
	p := compile("event switch from sched.sched_switch { next = next_pid }\ntrace switch\n")
	for i := range p.Writes {
		w := &p.Writes[i]
		fmt.Println(emit.File(p, w), w.Data)
		fmt.Println("  why: ", w.Why)
		fmt.Println("  undo:", w.Undo.Data)
	}
	for _, s := range p.Streams {
		fmt.Println("to be read:", s.Name)
		for _, f := range s.Fields {
			fmt.Println("  ", f.Name, f.Type)
		}
	}
	// Output:
	// dynamic_events e:ep_waits/switch sched.sched_switch next=$next_pid:s32
	//   why:  an eprobe is an event made of another's fields; 'sched.sched_switch' itself, and who else uses it, stays as it is
	//   undo: -:ep_waits/switch
	// instances/mine/events/ep_waits/switch/enable 1
	//   why:  an event records only while it is on
	//   undo: 0
	// to be read: switch
	//    next s32
}

// Each byte that comes from the script is tied to its place there, so that the
// kernel's complaint about a byte of the command is one about the script.
func ExampleOrigin() {
	p := compile("event switch from sched.sched_switch { next = next_pid }\ntrace switch\n")
	w := &p.Writes[0]
	for _, o := range w.Origin {
		fmt.Printf("%q is from %v: %q\n", w.Data[o.Lo:o.Hi], p.Script.Position(o.Span.Start), p.Script.Slice(o.Span))
	}
	// Output:
	// "ep_waits/switch" is from 1:7: "switch"
	// "sched.sched_switch" is from 1:19: "sched.sched_switch"
	// "next=$next_pid:s32" is from 1:40: "next = next_pid"
	// "$next_pid" is from 1:47: "next_pid"
}

// A histogram is described by its columns; runtime/hist reads it.
func ExampleTable() {
	p := compile(`hist reads from syscalls.sys_enter_read by $comm, size = log2(count) { bytes = sum(count) } sort by bytes desc`)
	for _, t := range p.Tables {
		fmt.Println(t.Name, t.Hists[0].Group, t.Hists[0].Event)
		for _, k := range t.Keys {
			fmt.Println("  key  ", k.Name, k.Type, k.Log2)
		}
		for _, v := range t.Values {
			fmt.Println("  value", v.Name, v.Type)
		}
	}
	// Output:
	// reads ep_waits reads_seen
	//   key   comm str false
	//   key   size u64 true
	//   value bytes u64
}
