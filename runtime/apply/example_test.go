package apply_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/tracefs"
)

// A plan is applied whole or not at all. What the kernel refuses is shown at its
// place in the script. testdata/outside is a whole program.
func ExampleApply() {
	var p *plan.Plan // of compiler.Compile
	fs, err := tracefs.Open("")
	if err != nil {
		fmt.Println(err) // there is none, or it takes root
		return
	}
	defer fs.Close()
	applied, err := apply.Apply(context.Background(), fs, p)
	var refused *apply.Error
	switch {
	case errors.As(err, &refused):
		_ = diag.Text(os.Stderr, diag.List{refused.Diagnostic()}, diag.TextOptions{})
		return
	case err != nil:
		fmt.Println(err)
		return
	}
	// It is in force now: read records and histograms. Then take it back.
	if err := applied.Undo(); err != nil {
		fmt.Println(err) // all that could be taken back is
	}
}
