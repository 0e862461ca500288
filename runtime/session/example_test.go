package session_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/runtime/session"
	"github.com/eptrace/ep/runtime/tracefs"
)

// A whole run, as `ep run --for 10s` does it: all is taken back whatever comes.
func ExampleRun() {
	var p *plan.Plan // of compiler.Compile, for an instance of its own
	fs, err := tracefs.Open("")
	if err != nil {
		fmt.Println(err) // there is none, or it takes root
		return
	}
	defer fs.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	result, err := session.Run(ctx, p, session.Options{
		FS:     fs,
		Proc:   os.DirFS("/proc"),
		For:    10 * time.Second,
		Output: session.NewText(os.Stdout, session.Format{}),
	})
	fmt.Println(result.Records, "records,", result.Lost, "lost,", err)
}
