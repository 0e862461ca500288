package compiler_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/emit"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// A script becomes a plan for one kernel: here for one that ep carries with it;
// target.Open("live", os.DirFS("/")) is this machine's.
func ExampleCompile() {
	src, err := source.New("switch.ep", `
event switch from sched.sched_switch { prev = prev_pid, next = next_pid }
trace switch
`)
	if err != nil {
		fmt.Println(err) // the text is no UTF-8
		return
	}
	t, err := target.Embedded("6.12-x86_64")
	if err != nil {
		fmt.Println(err)
		return
	}
	p, list := compiler.Compile(src, t, compiler.Options{})
	if list.HasErrors() {
		_ = diag.Text(os.Stdout, list, diag.TextOptions{})
		return
	}
	_ = emit.Echo(os.Stdout, p)
	// Output:
	// echo 'e:ep_switch/switch sched.sched_switch prev=$prev_pid:s32 next=$next_pid:s32' >> dynamic_events
	// echo 1 > events/ep_switch/switch/enable
}

// What is wrong with a script is a list, not an error: each entry has a place,
// a code that stays the same for good, and notes.
func ExampleCompile_wrong() {
	src, _ := source.New("wrong.ep", "trace sched.sched_switch { prev_pit }\ntrace sched.sched_swich\n")
	t, _ := target.Embedded("6.12-x86_64")
	_, list := compiler.Compile(src, t, compiler.Options{})
	for _, d := range list {
		fmt.Println(src.Position(d.Span.Start), src.Slice(d.Span), d.Code)
		for _, n := range d.Notes {
			fmt.Println("  ", n.Message)
		}
	}
	// Output:
	// 1:28 prev_pit unknown-field
	//    did you mean 'prev_pid'?
	// 2:13 sched_swich unknown-event
	//    did you mean 'sched_switch'?
}

// Params are set, the tracefs instance is chosen, and modules come from where
// the caller keeps them.
func ExampleOptions() {
	src, _ := source.New("slow.ep", "import \"limits\"\nparam least: us = limits.usual\ntrace syscall read where $elapsed > least { took = $elapsed }\n")
	t, _ := target.Embedded("6.12-x86_64")
	p, list := compiler.Compile(src, t, compiler.Options{
		Set:      map[string]string{"least": "5ms"},
		Instance: "mine",
		Import: func(path string) (*source.Source, error) {
			if path != "limits" {
				return nil, fs.ErrNotExist
			}
			return source.New(path, "const usual = 1ms\n")
		},
	})
	if list.HasErrors() {
		_ = diag.Text(os.Stdout, list, diag.TextOptions{})
		return
	}
	for i := range p.Writes {
		if w := &p.Writes[i]; strings.HasSuffix(w.File, "/trigger") {
			fmt.Println(emit.Line(p, w))
		}
	}
	// Output:
	// echo 'hist:keys=common_pid:read_time=common_timestamp' >> instances/mine/events/syscalls/sys_enter_read/trigger
	// echo 'hist:keys=common_pid:read_took=common_timestamp-$read_time:onmatch(syscalls.sys_enter_read).trace(read_values,$read_took)' >> instances/mine/events/syscalls/sys_exit_read/trigger
}
