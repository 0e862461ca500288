package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/types"
	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/events"
	"github.com/eptrace/ep/runtime/hist"
	"github.com/eptrace/ep/runtime/journal"
	"github.com/eptrace/ep/runtime/session"
	"github.com/eptrace/ep/runtime/symbol"
	"github.com/eptrace/ep/runtime/tracefs"
)

type runCmd struct {
	File       string        `arg:"" optional:"" help:"The script; '-' is standard input."`
	Expr       *string       `short:"e" name:"expr" placeholder:"SCRIPT" help:"The script itself, instead of a file."`
	Set        []string      `sep:"none" placeholder:"NAME=VALUE" help:"Give a param of the script a value. May be repeated."`
	For        time.Duration `placeholder:"TIME" help:"Stop after this time, such as 10s or 2m."`
	Command    string        `short:"c" placeholder:"CMD" help:"Run this program, trace it and its children alone, and stop when it ends."`
	PID        []int         `short:"p" name:"pid" placeholder:"PID" help:"Trace this process and its children alone, and stop when they have ended. May be repeated."`
	Output     string        `short:"o" placeholder:"FILE" help:"Write records and histograms to FILE instead of standard output."`
	Format     string        `enum:"text,json" default:"text" placeholder:"FORM" help:"Print text, or lines of JSON (json)."`
	Time       string        `enum:"trace,wall" default:"trace" placeholder:"CLOCK" help:"Times of records: seconds of the trace clock (trace), or the time of day (wall)."`
	Interval   time.Duration `placeholder:"TIME" help:"Print the histograms each time this has passed, too."`
	Instance   instanceName  `placeholder:"NAME" help:"Use this tracefs instance instead of one of its own."`
	TopLevel   bool          `help:"Record into the top-level buffer instead of an instance."`
	StrictLoss bool          `help:"Exit with 5 if records were lost or not counted."`
}

// Help implements kong.HelpProvider.
func (*runCmd) Help() string {
	return `What the script traces is printed until Ctrl-C, the end of --for, or that of -c's program; then its histograms. Everything that was made in the kernel is taken back, whatever the end.

With -c the exit code is that of the program; its standard output goes to standard error, unless -o is given, so that it does not mix with records.

Examples:

    sudo ep run openat.ep
    sudo ep run --for 10s --set min=1ms wakeup.ep
    sudo ep run -c 'make -j4' -o opens.txt openat.ep
    sudo ep run -e 'hist kmem.kmalloc by site = call_site as ksym { bytes = sum(bytes_req) }' --interval 1s
    sudo ep run --format json openat.ep | jq .fields.file
`
}

// Run carries out the command.
func (c *runCmd) Run(env *Env, g *globals) error {
	src, list, err := oneScript(env, c.File, c.Expr)
	if err != nil {
		return err
	}
	set, err := (&scriptFlags{Set: c.Set}).params()
	if err != nil {
		return err
	}
	args, err := c.usage()
	if err != nil {
		return err
	}
	if err := g.printText(list); err != nil || list.HasErrors() {
		return orScriptError(err)
	}
	if err := g.parses(src); err != nil {
		return err
	}
	m, err := openMachine(env, true)
	if err != nil {
		return err
	}
	defer m.close()
	m.offerClean()
	// Others that begin meanwhile would find names free that this run is going to take.
	unlock, err := m.lock()
	if err != nil {
		return err
	}
	defer unlock()
	p, err := c.plan(m, g, compilation{src: src, set: set, instance: c.instance(m, src.Name())})
	if err != nil {
		return err
	}
	return c.trace(m, g, p, args, unlock)
}

// usage checks what kong cannot, and returns the words of -c's program.
func (c *runCmd) usage() ([]string, error) {
	switch {
	case c.TopLevel && c.Instance != "":
		return nil, usagef("want --instance or --top-level, got both")
	case c.TopLevel && (c.Command != "" || len(c.PID) > 0):
		return nil, usagef("-c and -p want an instance; leave --top-level out")
	case c.For < 0 || c.Interval < 0:
		return nil, usagef("a time cannot be negative")
	case c.Interval > 0 && c.Interval < 10*time.Millisecond:
		return nil, usagef("--interval is at least 10ms")
	case c.Command == "":
		return nil, nil
	}
	args, err := session.Words(c.Command)
	if err != nil {
		return nil, usagef("-c '%s': %w", c.Command, err)
	}
	return args, nil
}

// instance returns the instance to record in: one of the run's own, mostly.
func (c *runCmd) instance(m *machine, script string) string {
	switch {
	case c.TopLevel:
		return ""
	case c.Instance != "":
		return string(c.Instance)
	}
	name := fmt.Sprintf("ep-%s-%d", shortName(script), m.self.PID)
	for n := 2; m.fs.Exists(tracefs.In(name, "")); n++ {
		name = fmt.Sprintf("ep-%s-%d-%d", shortName(script), m.self.PID, n)
	}
	return name
}

// shortName makes a part of the name of an instance, or the name to install
// under, of a script's file: "tools/openat.ep" gives "openat".
func shortName(script string) string {
	script = strings.TrimSuffix(script[strings.LastIndexByte(script, '/')+1:], ".ep")
	var b strings.Builder
	for i := 0; i < len(script) && b.Len() < 40; i++ {
		if ch := script[i]; ch >= '0' && ch <= '9' || ch|0x20 >= 'a' && ch|0x20 <= 'z' || ch == '_' || ch == '.' || ch == '-' {
			b.WriteByte(ch)
		}
	}
	if name := strings.Trim(b.String(), "-."); name != "" && script != inline {
		return name
	}
	return "script"
}

// offerClean says in a line what ended runs have left.
func (m *machine) offerClean() {
	if n := len(m.stale()); n > 0 {
		what := "an earlier run has"
		if n > 1 {
			what = fmt.Sprintf("%d earlier runs have", n)
		}
		fmt.Fprintf(m.env.Stderr, "ep: %s left events behind; 'ep clean' removes them\n", what)
	}
}

// mostSuffixes bounds how many runs of one script can be beside each other.
const mostSuffixes = 100

// plan compiles the script. Where other runs of ep have its names, it gets
// others.
func (c *runCmd) plan(m *machine, g *globals, script compilation) (*plan.Plan, error) {
	for n := 1; ; n++ {
		suffix := ""
		if n > 1 {
			suffix = fmt.Sprintf("_%d", n)
		}
		p, list, err := m.compile(script, suffix)
		if err != nil {
			return nil, err
		}
		if p == nil {
			return nil, orScriptError(g.printText(list))
		}
		if n < mostSuffixes && m.onlyOurs(p) {
			continue
		}
		if n > 1 {
			fmt.Fprintf(m.env.Stderr, "ep: another run has the same names; the kernel's names of this one end in '%s'\n", suffix)
		}
		return p, g.printText(list)
	}
}

// onlyOurs reports whether names of p are taken, and by ep alone.
func (m *machine) onlyOurs(p *plan.Plan) bool {
	t := m.transaction(nil)
	names, err := t.InTheWay(apply.Steps(p))
	if err != nil || len(names) == 0 {
		return false // applying will say
	}
	for _, n := range names {
		if m.holder("events/"+n.Group+"/"+n.Name, "") == "" {
			return false
		}
	}
	return true
}

// trace runs the plan. It calls applied when all is in force.
func (c *runCmd) trace(m *machine, g *globals, p *plan.Plan, args []string, applied func()) error {
	out, finish, err := c.output(m.env)
	if err != nil {
		return err
	}
	ctx, caught := catchSignals()
	symbols := symbol.New(m.proc)
	o := session.Options{FS: m.fs, Proc: m.proc, Follow: c.PID, For: c.For, Interval: c.Interval, Output: c.format(ctx, m, g, out, symbols),
		Applied: func() {
			applied()
			if showsSymbols(p) {
				go func() { _ = symbols.Load() }() // while records come; an address has no name if it cannot
			}
		},
		Say: func(format string, args ...any) {
			fmt.Fprintf(m.env.Stderr, "ep: %s\n", events.PlainLines(fmt.Sprintf(format, args...)))
		}}
	if args != nil {
		stdout := m.env.Stderr
		if c.Output != "" {
			stdout = m.env.Stdout
		}
		if o.Child, err = session.Start(args, m.env.Stdin, past(stdout), past(m.env.Stderr)); err != nil {
			code := 126
			if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
				code = 127
			}
			return exitError{code, err}
		}
	}
	id := fmt.Sprintf("run-%d-%d", m.self.PID, m.self.Start)
	w, err := m.dir.Create(id, m.head(journal.Run, shortName(p.Script.Name()), p.Script.Name(), p))
	if err != nil {
		if o.Child != nil {
			o.Child.Stop()
		}
		return exitError{exitMachine, err}
	}
	o.Apply = m.transaction(w)
	reading, stopLooking := whileRead(ctx, out)
	result, err := session.Run(reading, p, o)
	if errors.Is(context.Cause(reading), unix.EPIPE) && (err == nil || errors.Is(err, context.Canceled)) {
		err = unix.EPIPE
	}
	stopLooking()
	err = errors.Join(err, finish())
	if left := m.leftBy(id); !left {
		err = errors.Join(err, w.Remove())
	} else {
		_ = w.Close() // it stays, for ep clean
		err = errors.Join(err, errors.New("not all could be taken back; 'ep clean' tries again"))
	}
	return c.exit(m, g, p, result, err, caught())
}

// showsSymbols reports whether records of p have addresses that are shown by name.
func showsSymbols(p *plan.Plan) bool {
	for _, s := range p.Streams {
		for _, f := range s.Fields {
			switch t := f.Type.(type) {
			case types.Stack:
				return true
			case types.Int:
				if t.Form == types.Ksym {
					return true
				}
			}
		}
	}
	return false
}

// leftBy reports whether a journal says that something may be left.
func (m *machine) leftBy(id string) bool {
	j, err := m.dir.Read(id)
	if err != nil {
		return true
	}
	for i := range j.Steps {
		if j.Left(i) {
			return true
		}
	}
	return false
}

// exit says what came of the run and returns how the command ends.
func (c *runCmd) exit(m *machine, g *globals, p *plan.Plan, r session.Result, err error, sig syscall.Signal) error {
	if errors.Is(err, unix.EPIPE) && len(flat(err)) == 1 {
		return exitError{code: 128 + int(syscall.SIGPIPE)} // who read has enough
	}
	if errors.Is(err, context.Canceled) && sig != 0 && len(flat(err)) == 1 {
		return exitError{code: 128 + int(sig)}
	}
	if errors.Is(err, session.ErrStuck) && len(flat(err)) == 1 {
		fmt.Fprintf(m.env.Stderr, "ep: %s; all was taken back\n", events.PlainLines(err.Error()))
		return exitError{code: 128 + int(sig)}
	}
	if err != nil {
		return g.failApply(err)
	}
	fmt.Fprintf(m.env.Stderr, "ep: %s\n", summary(p, r))
	if len(r.Changed) > 0 {
		more := ""
		if n := len(r.Changed) - 3; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		return exitError{exitMachine, fmt.Errorf("somebody changed what this run set, so it may have missed events: %s%s",
			strings.Join(r.Changed[:min(3, len(r.Changed))], ", "), more)}
	}
	switch {
	case c.StrictLoss && r.Lost+r.Dropped+r.Full+r.Missed > 0:
		return exitError{code: exitLost}
	case sig != 0:
		return exitError{code: 128 + int(sig)}
	case c.Command != "" && r.Exit > 0:
		return exitError{code: r.Exit}
	}
	return nil
}

// summary is the last line.
func summary(p *plan.Plan, r session.Result) string {
	var parts []string
	if len(p.Streams) > 0 || r.Records > 0 {
		records := count(r.Records, "record")
		if r.InSnapshot > 0 {
			records += fmt.Sprintf(" (%d of a snapshot)", r.InSnapshot)
		}
		parts = append(parts, records)
	}
	if len(p.Tables) > 0 {
		parts = append(parts, count(uint64(len(p.Tables)), "histogram"))
	}
	s := strings.Join(parts, ", ")
	if s == "" {
		s = "done"
	}
	s += fmt.Sprintf(" in %.1fs", r.Took.Seconds())
	if r.Lost > 0 {
		s += fmt.Sprintf("; %s lost: make the buffer larger (option buffer) or the events fewer", count(r.Lost, "record"))
	}
	if r.Dropped > 0 {
		s += fmt.Sprintf("; %s not counted: give the histogram a larger size", count(r.Dropped, "event"))
	}
	if r.Full > 0 {
		s += fmt.Sprintf("; %s found no room in a join: give its event a larger size", count(r.Full, "event"))
	}
	if r.Missed > 0 {
		s += fmt.Sprintf("; %s not followed to the return: raise 'option maxactive'", count(r.Missed, "call"))
	}
	return s
}

func count(n uint64, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// notEnding are the signals below the real-time ones that do not end a program, that
// nothing can catch, or that Go's runtime uses itself. SIGHUP is looked at apart.
var notEnding = []syscall.Signal{syscall.SIGHUP, syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGCHLD, syscall.SIGCONT,
	syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGURG, syscall.SIGWINCH, syscall.SIGPROF}

// lastSignal is the last signal that is not a real-time one.
const lastSignal = syscall.Signal(31)

// catchSignals returns a context that ends at the first signal that ends
// programs, and what tells which that was. Further ones change nothing: what was
// done is being taken back. A closed pipe is an error of the write.
func catchSignals() (context.Context, func() syscall.Signal) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 8)
	for s := syscall.Signal(1); s <= lastSignal; s++ {
		if !slices.Contains(notEnding, s) {
			signal.Notify(signals, s)
		}
	}
	if !signal.Ignored(syscall.SIGHUP) { // else it is to go on without its terminal: nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		for s := range signals {
			if s != syscall.SIGPIPE {
				cancel(caughtSignal{s.(syscall.Signal)})
			}
		}
	}()
	return ctx, func() syscall.Signal {
		var s caughtSignal
		if errors.As(context.Cause(ctx), &s) {
			return s.Signal
		}
		return 0
	}
}

type caughtSignal struct{ syscall.Signal }

func (s caughtSignal) Error() string { return s.String() }

// output opens where records go.
func (c *runCmd) output(env *Env) (w io.Writer, finish func() error, err error) {
	if c.Output == "" || c.Output == stdin {
		return past(env.Stdout), func() error { return nil }, nil
	}
	f, err := os.OpenFile(c.Output, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, nil, exitError{exitMachine, fmt.Errorf("write '%s': %w", c.Output, cause(err))}
	}
	return f, func() error {
		if err := f.Close(); err != nil {
			return fmt.Errorf("write '%s': %w", c.Output, cause(err))
		}
		return nil
	}, nil
}

// format returns the output that the flags ask for.
func (c *runCmd) format(ctx context.Context, m *machine, g *globals, w io.Writer, symbols *symbol.Kernel) session.Output {
	f := session.Format{Wall: c.Time == "wall", Problems: m.env.Stderr,
		Names: events.Names{Symbols: symbols, Texts: symbol.NewTexts(m.fs.FS())}}
	if t, err := openLive(m.env); err == nil {
		f.Names.Syscalls = t
	}
	f.Hist = hist.Options{Names: f.Names, Percent: true}
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		f.Redraw = true
		f.Hist.Color = g.color == "auto" && m.env.Getenv("NO_COLOR") == "" && m.env.Getenv("TERM") != "dumb"
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil {
			f.Hist.Width = columns
		}
	}
	f.Hist.Color = f.Hist.Color || g.color == "always"
	w = session.Patient(ctx, w)
	if c.Format == "json" {
		return session.NewJSON(w, f)
	}
	return session.NewText(w, f)
}
