package diag_test

import (
	"fmt"
	"os"

	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// What a caller has found wrong by itself looks as what the compiler finds.
func ExampleText() {
	src, _ := source.New("x.ep", "trace sched.sched_switch { prev_pit }\n")
	_ = diag.Text(os.Stdout, diag.List{{
		Severity: diag.Error,
		Code:     diag.UnknownField,
		Source:   src,
		Span:     source.Span{Start: 27, End: 35},
		Message:  "event 'sched.sched_switch' has no field 'prev_pit'",
		Notes:    []diag.Note{{Message: "did you mean 'prev_pid'?", Span: source.NoSpan}},
	}}, diag.TextOptions{})
	// Output:
	// x.ep:1:28: error: event 'sched.sched_switch' has no field 'prev_pit' [unknown-field]
	// 	trace sched.sched_switch { prev_pit }
	// 	                           ^^^^^^^^
	// note: did you mean 'prev_pid'?
}

func ExampleExplain() {
	text, ok := diag.Explain(diag.UnknownField)
	fmt.Println(ok)
	fmt.Println(text)
	// Output:
	// true
	// An event has no field of that name.
	//
	// 	trace sched.sched_switch { prev_pit }  # wrong
	// 	trace sched.sched_switch { prev_pid }  # right
}

func ExampleNear() {
	fmt.Println(diag.Near("prev_pit", []string{"next_pid", "prev_pid", "prev_prio"}))
	// Output:
	// prev_pid true
}
