package format_test

import (
	"fmt"

	"github.com/eptrace/ep/lang/format"
	"github.com/eptrace/ep/lang/source"
)

func ExampleFormat() {
	src, _ := source.New("x.ep", "event   x from sched.sched_switch where prev_pid>1{prev_pid,  # who\nnext_pid}\n")
	text, list := format.Format(src)
	fmt.Println(len(list))
	fmt.Print(text)
	// Output:
	// 0
	// event x from sched.sched_switch where prev_pid > 1 {
	//   prev_pid, # who
	//   next_pid
	// }
}
