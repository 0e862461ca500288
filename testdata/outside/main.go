// Command outside is a program of somebody else that uses ep as a library: it
// compiles a script for the machine that it runs on, has the kernel carry it
// out, ranges over the records, reads the histogram, and takes all back.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/events"
	"github.com/eptrace/ep/runtime/hist"
	"github.com/eptrace/ep/runtime/tracefs"
)

const script = `
event opens from syscall openat { file = str(filename), $ret }
trace opens
hist by_comm from opens by $comm sort by count desc
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "outside:", err)
		os.Exit(1)
	}
}

// run traces until ctx ends.
func run(ctx context.Context, out io.Writer) (err error) {
	// Compile, for this machine.
	src, err := source.New("opens.ep", script)
	if err != nil {
		return err
	}
	machine, err := target.Open("live", os.DirFS("/"))
	if err != nil {
		return err
	}
	p, list := compiler.Compile(src, machine, compiler.Options{Instance: "outside"})
	if err := diag.Text(out, list, diag.TextOptions{}); err != nil {
		return err
	}
	if p == nil {
		return errors.New("the script has errors")
	}

	// Walk the plan.
	for _, w := range p.Writes {
		fmt.Fprintf(out, "write %s: %s\n", w.File, w.Data)
	}

	// Apply it; whatever comes, take it back.
	fs, err := tracefs.Open("")
	if err != nil {
		return err
	}
	defer fs.Close()
	applied, err := apply.Apply(ctx, fs, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, applied.Undo()) }()

	// Range over what is recorded.
	if err := read(ctx, out, fs, p.Streams, p.Instance); err != nil {
		return err
	}

	// Read the histograms.
	for _, t := range p.Tables {
		table, err := hist.Read(fs.FS(), p.Instance, t)
		if err != nil {
			return err
		}
		for i := range table.Rows {
			r := &table.Rows[i]
			fmt.Fprintf(out, "opened by %s: %d\n", r.Key("comm").Text, r.Count)
		}
	}
	return nil
}

// read prints the records of an instance.
func read(ctx context.Context, out io.Writer, fs *tracefs.FS, streams []plan.Stream, instance string) error {
	r, err := events.Open(fs.FS(), streams, events.Options{Instance: instance})
	if err != nil {
		return err
	}
	defer r.Close()
	for rec, err := range r.Records(ctx) {
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "thread %d opened %s: %d\n", rec.TID, rec.Value("file").Text(), rec.Value("ret").Int())
	}
	for _, l := range r.Losses() {
		if l.Lost() > 0 {
			fmt.Fprintf(out, "CPU %d: %d lost\n", l.CPU, l.Lost())
		}
	}
	return nil
}
