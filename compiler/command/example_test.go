package command_test

import (
	"fmt"

	"github.com/eptrace/ep/compiler/command"
)

// A line that tracefs takes becomes a value and a line again.
func ExampleParse() {
	c, err := command.Parse("dynamic_events", "e:sched/switch sched.sched_switch prev=$prev_pid:u32 if prev_pid > 0")
	if err != nil {
		fmt.Println(err)
		return
	}
	e := c.(*command.Eprobe)
	fmt.Println(e.Name, e.Args[0].Name)
	fmt.Println(command.Line(e))
	fmt.Println(command.Line(command.Undo(e)))
	// Output:
	// switch prev
	// e:sched/switch sched.sched_switch prev=$prev_pid:u32 if prev_pid > 0
	// -:sched/switch
}

func ExampleParse_wrong() {
	_, err := command.Parse("dynamic_events", "e:sched/switch sched.sched_switch prev=$prev_pid:u33")
	fmt.Println(err)
	// Output:
	// byte 49: no such type
}
