package events_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/runtime/events"
)

// A reader that prints what an instance records, until it is interrupted.
// Tracing is turned off before the context ends, so that the end is exact.
func ExampleReader() {
	root, err := os.OpenRoot("/sys/kernel/tracing")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer root.Close()
	streams := []plan.Stream{{Name: "switch", Group: "sched", Event: "sched_switch"}} // mostly a Plan's Streams
	r, err := events.Open(root.FS(), streams, events.Options{
		Instance: "mine",
		Comms:    events.NewTaskNames(os.DirFS("/proc"), root.FS()),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()

	interrupted, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	context.AfterFunc(interrupted, func() {
		defer cancel()
		_ = root.WriteFile("instances/mine/tracing_on", []byte("0"), 0) // if not, more comes
	})

	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	text := events.Text{Times: events.TimeForm{Clock: r.Clock(), Wall: true}}
	var line []byte
	for rec, err := range r.Records(ctx) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		line = text.AppendRecord(line[:0], rec)
		if _, err := out.Write(line); err != nil {
			return
		}
	}
	for _, l := range r.Losses() {
		if l.Lost() > 0 {
			fmt.Fprintf(os.Stderr, "CPU %d: %d of %d lost\n", l.CPU, l.Lost(), l.Lost()+l.Read)
		}
	}
}
