package vm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// bootTimeout is how long a guest may take to its first word, and between two cases. A boot takes five seconds on
	// an idle machine; continuous integration is not idle.
	bootTimeout = 2 * time.Minute

	// hangGrace is what a guest has beyond a case's timeout to report the timeout itself, with its stacks.
	hangGrace = 10 * time.Second

	// consoleLines is how much of the console is shown for a guest that died: room for the trace of every goroutine and
	// the kernel's own.
	consoleLines = 150
)

// Run boots the kernel with program, which must call [Guest] or [Main] with the same cases, and runs the cases in it,
// in order, in one boot. It returns a Result for each, in order.
//
// A case whose guest dies or hangs gets the Status that says so, and the rest run in another boot. The error is about
// the machine: no emulator ([ErrNoQEMU]), no kernel ([ErrNotFetched]), a guest that does not come up, ctx; the results
// so far come with it. At any time no more guests run than the machine has processors, over all processes of the user.
func (m Machine) Run(ctx context.Context, k Kernel, program string, cases []Case) ([]Result, error) {
	if err := checkNames(cases); err != nil {
		return nil, fmt.Errorf("internal error: %w", err)
	}
	var results []Result
	for pending := cases; len(pending) > 0; {
		done, err := m.runSome(ctx, k, program, pending)
		results = append(results, done...)
		if err != nil {
			return results, fmt.Errorf("%s: %w", k.Name, err)
		}
		pending = pending[len(done):]
	}
	return results, nil
}

// runSome runs cases in one boot, and returns the results of those that began: at least one, if there is no error.
func (m Machine) runSome(ctx context.Context, k Kernel, program string, cases []Case) ([]Result, error) {
	asked := request{Kernel: k}
	for _, c := range cases {
		asked.Cases = append(asked.Cases, c.Name)
	}
	book := &book{kernel: k, cases: cases}
	end, err := m.boot(ctx, k, program, asked, nil, book)
	if err != nil {
		return book.results, err
	}
	book.settle(end)
	if len(book.results) == 0 {
		return nil, end.asError()
	}
	return book.results, nil
}

// listener is told what a guest says.
type listener interface {
	// hear takes one event, and returns how long the guest may be silent after it.
	hear(ev event, data []byte) (time.Duration, error)
}

// ending is how a guest ended.
type ending struct {
	greeted bool   // it came up
	bye     bool   // it ended of its own will
	hung    bool   // it was silent for too long, and was killed
	reason  string // why a guest that said bye could not do its work
	console string
	stderr  string // what QEMU itself complained of
}

// asError says why a guest did nothing of what it was asked.
func (e ending) asError() error {
	switch {
	case e.reason != "":
		return errors.New(e.reason)
	case !e.greeted && e.stderr != "" && e.console == "":
		return fmt.Errorf("%w: %s", errNoBoot, e.stderr)
	case !e.greeted:
		return fmt.Errorf("%w: %s; end of the console:\n%s", errNoBoot, e.cause(), e.console)
	default:
		return fmt.Errorf("the guest did nothing: %s; end of the console:\n%s", e.cause(), e.console)
	}
}

// cause says in one line what ended the guest.
func (e ending) cause() string {
	for line := range strings.Lines(e.console) {
		if _, text, ok := strings.Cut(line, "Kernel panic - "); ok {
			return "kernel panic: " + strings.TrimPrefix(strings.TrimSpace(text), "not syncing: ")
		}
	}
	if e.hung {
		return "the guest hung"
	}
	return "the guest ended without a word"
}

// boot boots a guest with the request and files, and has everything it says heard, until it ends.
func (m Machine) boot(ctx context.Context, k Kernel, program string, asked request, files map[string]content, l listener) (ending, error) {
	img, err := k.Image()
	if err != nil {
		return ending{}, err
	}
	if err := haveQEMU(k); err != nil {
		return ending{}, err
	}
	if err := checkStatic(program, k.GoArch()); err != nil {
		return ending{}, err
	}
	work, err := os.MkdirTemp("", "epvm-")
	if err != nil {
		return ending{}, err
	}
	defer os.RemoveAll(work)
	initramfs, disk := filepath.Join(work, "initramfs"), filepath.Join(work, "results")
	if err := m.pack(initramfs, program, asked, files); err != nil {
		return ending{}, fmt.Errorf("pack the initramfs: %w", err)
	}
	results, err := os.OpenFile(disk, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return ending{}, err
	}
	defer results.Close()
	if err := results.Truncate(diskBytes); err != nil {
		return ending{}, err
	}
	release, err := waitForTurn(ctx)
	if err != nil {
		return ending{}, err
	}
	defer release()
	start := time.Now()
	p, err := startQEMU(ctx, qemuProgram(k), qemuArgs(m, k, img.Vmlinuz, initramfs, disk))
	if err != nil {
		return ending{}, err
	}
	defer func() {
		p.kill()
		<-p.done
	}()
	return attend(ctx, p, &frameReader{r: results}, l, func() {
		m.logf("%s: %s is up after %.1fs", k.Name, img.Release, time.Since(start).Seconds())
	})
}

// pack writes the initramfs: program as init, the request, and the files of the machine and of the caller.
func (m Machine) pack(name, program string, asked request, files map[string]content) error {
	text, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	all := map[string]content{"/init": {path: program}, requestFile: {bytes: text}}
	maps.Copy(all, files)
	for guestPath, hostPath := range m.Files {
		all[path.Clean(guestPath)] = content{path: hostPath}
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(writeInitramfs(f, all), appendBootconfig(f, m.Bootconfig), f.Close())
}

// attend hears the guest until it ends, hangs, or ctx does.
func attend(ctx context.Context, p *process, frames *frameReader, l listener, up func()) (ending, error) {
	var end ending
	deadline := time.Now().Add(bootTimeout)
	// Frames are looked for, not waited for: nothing tells a process that a page of a file changed.
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for over := false; !over; {
		select {
		case <-p.done:
			over = true
		case <-ctx.Done():
			return end, ctx.Err()
		case <-tick.C:
		}
		for {
			ev, data, err := frames.next()
			if errors.Is(err, errNoFrame) || errors.Is(err, errBadFrame) {
				break
			}
			if err != nil {
				return end, err
			}
			silence := bootTimeout
			switch ev.Kind {
			case eventHello:
				end.greeted = true
				up()
			case eventBye:
				end.bye, end.reason = true, string(data)
				silence = hangGrace
			default:
				silence, err = l.hear(ev, data)
			}
			if err != nil {
				return end, err
			}
			deadline = time.Now().Add(silence)
		}
		if !over && time.Now().After(deadline) {
			end.hung = !end.bye
			p.kill()
		}
	}
	if ctx.Err() != nil {
		return end, ctx.Err()
	}
	if _, _, err := frames.next(); !end.bye && errors.Is(err, errBadFrame) {
		return end, err
	}
	end.console, end.stderr = p.console.lines(consoleLines), p.stderr.lines(10)
	return end, nil
}

// waitForTurn waits until fewer guests run than there are processors. Packages are tested in parallel, and guests that
// starve each other time out.
func waitForTurn(ctx context.Context) (release func(), err error) {
	dir, err := Dir()
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		for i := range runtime.NumCPU() {
			release, err := tryLock(filepath.Join(dir, fmt.Sprintf("guest%d.lock", i)))
			if err == nil || !errors.Is(err, unix.EWOULDBLOCK) {
				return release, err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for other guests to end: %w", ctx.Err())
		}
	}
}

// book keeps the results of the cases of one boot.
type book struct {
	kernel  Kernel
	cases   []Case
	results []Result  // of the cases that began; all but the last are done
	open    bool      // the last is not done
	due     time.Time // when it must be
}

var _ listener = (*book)(nil)

func (b *book) hear(ev event, data []byte) (time.Duration, error) {
	if ev.Kind == eventStart {
		n := len(b.results)
		if b.open || n == len(b.cases) || b.cases[n].Name != ev.Case {
			return 0, fmt.Errorf("internal error: the guest began case '%s' out of turn", ev.Case)
		}
		b.results = append(b.results, Result{Kernel: b.kernel, Case: ev.Case, Outputs: make(map[string][]byte)})
		b.open, b.due = true, time.Now().Add(b.cases[n].timeout()+hangGrace)
		return time.Until(b.due), nil
	}
	if !b.open || b.results[len(b.results)-1].Case != ev.Case {
		// A goroutine that a case left behind still talks. There is no good place for what it says.
		return bootTimeout, nil
	}
	r := &b.results[len(b.results)-1]
	switch ev.Kind {
	case eventLog:
		if ev.Offset > 0 && len(r.Log) > 0 {
			r.Log[len(r.Log)-1] += string(data)
			break
		}
		r.Log = append(r.Log, string(data))
	case eventOutput:
		if ev.Offset != 0 && ev.Offset != int64(len(r.Outputs[ev.Name])) {
			return 0, fmt.Errorf("internal error: a piece of output '%s' is out of place", ev.Name)
		}
		r.Outputs[ev.Name] = append(r.Outputs[ev.Name][:ev.Offset], data...)
	case eventKernel:
		r.Complaint += string(data)
	case eventEnd:
		r.Status, r.Reason, r.Duration = ev.Status, ev.Reason, ev.Duration
		b.open = false
		return bootTimeout, nil
	default:
		return 0, fmt.Errorf("internal error: the guest sent an event '%s' in a case", ev.Kind)
	}
	return time.Until(b.due), nil
}

// settle blames the end of the guest on the case that was running, if any.
func (b *book) settle(end ending) {
	if len(b.results) == 0 {
		return
	}
	r := &b.results[len(b.results)-1]
	if b.open {
		r.Status, r.Reason = Died, end.cause()
		if end.hung {
			r.Status = TimedOut
		}
		b.open = false
	}
	if r.Status == Died || r.Status == TimedOut {
		r.Console = end.console
	}
}
