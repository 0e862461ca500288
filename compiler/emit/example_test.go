package emit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/emit"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/source"
)

func examplePlan(text string) *plan.Plan {
	src, err := source.New("example.ep", text)
	if err != nil {
		panic(err)
	}
	t, err := target.Embedded("6.12-x86_64")
	if err != nil {
		panic(err)
	}
	p, list := compiler.Compile(src, t, compiler.Options{})
	if p == nil {
		panic(list[0].Message)
	}
	return p
}

// Lines for a shell in the root of tracefs.
func ExampleEcho() {
	_ = emit.Echo(os.Stdout, examplePlan("trace sched.sched_switch where prev_pid > 1 { next_pid }"))
	// Output:
	// echo 'e:ep_example/sched_switch sched.sched_switch next_pid=$next_pid:s32 if prev_pid > 1' >> dynamic_events
	// echo 1 > events/ep_example/sched_switch/enable
}

func ExampleUndo() {
	_ = emit.Undo(os.Stdout, examplePlan("trace sched.sched_switch where prev_pid > 1 { next_pid }"))
	// Output:
	// echo 0 > events/ep_example/sched_switch/enable
	// echo -:ep_example/sched_switch >> dynamic_events
}

// A script that does it all by itself on a machine that has no more than a
// shell.
func ExampleSh() {
	var script strings.Builder
	_ = emit.Sh(&script, examplePlan("trace sched.sched_switch"), emit.Machine{Arch: target.X86_64})
	for line := range strings.Lines(script.String()) {
		if strings.HasPrefix(line, "#!") || strings.Contains(line, "step 1") {
			fmt.Print(line)
		}
	}
	// Output:
	// #!/bin/sh
	// 	step 1 example.ep:1 set events/sched/sched_switch/enable 1
}

func ExampleJSON() {
	var out bytes.Buffer
	_ = emit.JSON(&out, examplePlan("trace sched.sched_switch { next_pid }"))
	var read struct {
		Version int
		Writes  []struct{ File, Data string }
	}
	if err := json.Unmarshal(out.Bytes(), &read); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(read.Version, read.Writes[0].File, read.Writes[0].Data)
	// Output:
	// 1 dynamic_events e:ep_example/sched_switch sched.sched_switch next_pid=$next_pid:s32
}

// What a kernel takes while it boots. What it does not take is in the list.
func ExampleBootconfig() {
	list, err := emit.Bootconfig(os.Stdout, examplePlan("trace sched.sched_switch"))
	fmt.Println(len(list), err)
	list, _ = emit.Bootconfig(os.Stdout, examplePlan("trace sched.sched_switch { next_pid }"))
	fmt.Println(list[0].Code, list[0].Message)
	// Output:
	// # example.ep, compiled by ep for 6.12-x86_64. Requires CONFIG_BOOTTIME_TRACING, this text in the initrd
	// # (bootconfig -a FILE INITRD), and the word 'bootconfig' on the kernel's command line.
	// ftrace.event.sched.sched_switch {
	// 	enable
	// }
	// 0 <nil>
	// not-at-boot a booting kernel cannot do this
}
