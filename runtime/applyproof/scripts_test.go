package applyproof

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/eptrace/ep/runtime/events"
	"github.com/eptrace/ep/runtime/hist"
	"github.com/eptrace/ep/runtime/session"
)

// notHere are the scripts that may record nothing in a guest, with what they wait
// for.
var notHere = map[string]string{
	"blk_update.ep":                 "a disk",
	"cases/10-suspend-minimal.ep":   "a suspend",
	"cases/17-initcall-latency.ep":  "the boot",
	"cases/19-drm-enomem.ep":        "a driver",
	"cases/20-audio-capture.ep":     "a driver",
	"cases/21-asoc.ep":              "a driver",
	"cases/23-tcpretrans.ep":        "a lossy network",
	"cases/29-stack-once.ep":        "a read of debugfs",
	"cases/31-one-thread.ep":        "the first process, which the test is",
	"histogram/trigger-event.ep":    "a first read that takes memory",
	"histogram/trigger-snapshot.ep": "a disk",
	"histogram/trigger-stop.ep":     "a disk",
	"tools/block-stages.ep":         "a disk",
	"tools/contention.ep":           "a contended lock",
}

// shown is an Output that counts what has been shown.
type shown struct {
	session.Output
	records, rows int
}

func (s *shown) Record(r *events.Record) error {
	s.records++
	return s.Output.Record(r)
}

func (s *shown) Tables(list []*hist.Table, last bool) error {
	for _, t := range list {
		s.rows += len(t.Rows)
	}
	return s.Output.Tables(list, last)
}

// runScripts runs each script of testdata/scripts as ep run does, while a worker
// does what it is about; demands that it shows something; and that the whole of
// tracefs be as before.
func runScripts(b *bench) {
	before := b.whole()
	w := newWorker(b)
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
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		defer cancel()
		done := make(chan struct{})
		var once sync.Once // it may say more than that
		out := &shown{Output: session.NewText(io.Discard, session.Format{Names: events.Names{}})}
		result, err := session.Run(ctx, p, session.Options{FS: b.fs, Proc: os.DirFS("/proc"), Output: out,
			Say: func(string, ...any) { // it traces
				once.Do(func() {
					go func() {
						defer close(done)
						w.work(p.Instance)
						cancel()
					}()
				})
			}})
		if err != nil {
			b.Errorf("%s: %v", name, err)
			return nil
		}
		<-done
		ran++
		if len(result.Changed) > 0 {
			b.Errorf("%s: nobody else is here, but somebody changed %q", name, result.Changed)
		}
		b.Logf("%s: %d records, %d rows", name, out.records, out.rows)
		wants := notHere[name]
		if name == "histogram/trigger-stack.ep" && !b.Kernel().AtLeast(6, 0) {
			wants = "the kernel's other event of memory, which 5.10 has"
		}
		if out.records+out.rows == 0 && wants == "" {
			b.Errorf("%s shows nothing", name)
		}
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
