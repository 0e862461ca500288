package applyproof

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/eptrace/ep/runtime/events"
	"github.com/eptrace/ep/runtime/session"
)

// runScripts runs each script of testdata/scripts as ep run does, with something
// to record, and demands that the whole of tracefs be as before.
func runScripts(b *bench) {
	before := b.whole()
	ran, refused := 0, 0
	err := filepath.WalkDir(scriptDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := strings.TrimPrefix(path, scriptDir+"/")
		p, why := b.compile(name, "", "ep-proof")
		if p == nil {
			refused++
			b.Logf("%s: not on this kernel: %s", name, why)
			return nil
		}
		touchedBefore := b.state(touched(p))
		var out bytes.Buffer
		done := make(chan struct{})
		o := session.Options{FS: b.fs, Proc: os.DirFS("/proc"), For: time.Second,
			Output: session.NewText(&out, session.Format{Names: events.Names{}, Problems: &out}),
			Say: func(string, ...any) { // it traces
				go func() {
					defer close(done)
					b.work()
				}()
			}}
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		defer cancel()
		r, err := session.Run(ctx, p, o)
		if err != nil {
			b.Errorf("%s: %v", name, err)
			return nil
		}
		<-done
		ran++
		b.Logf("%s: %d records, %d bytes shown", name, r.Records, out.Len())
		b.same(name, touchedBefore, b.state(touched(p)))
		return nil
	})
	if err != nil {
		b.Fatalf("%v", err)
	}
	after := b.whole()
	b.same("all scripts", before, after)
	b.Logf("%d scripts ran, %d the compiler refused for this kernel; %d files compared", ran, refused, len(after))
}

// work starts some processes, which open and read files.
func (b *bench) work() {
	for range 3 {
		cmd := b.command("version")
		_ = cmd.Run() // that it ran is enough
	}
}
