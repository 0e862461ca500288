package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/command"
	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
	"github.com/eptrace/ep/lang/syntax"
	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/journal"
	"github.com/eptrace/ep/runtime/tracefs"
)

// machine is this machine's tracefs, with what ep has noted of its own doings
// there.
type machine struct {
	env      *Env
	fs       *tracefs.FS
	proc     fs.FS
	dir      *journal.Dir // nil if there is none, and none was wanted
	self     journal.Process
	boot     string
	journals []*journal.Journal // when the machine was opened; those of this boot
}

// openMachine opens the tracefs and the journals, which are made if writes is
// set. Its errors end with exitMachine.
func openMachine(env *Env, writes bool) (*machine, error) {
	m := &machine{env: env}
	if err := m.open(writes); err != nil {
		m.close()
		if errors.Is(err, fs.ErrPermission) {
			err = fmt.Errorf("%w: run ep as root (sudo ep …)", err)
		}
		return nil, exitError{exitMachine, err}
	}
	return m, nil
}

func (m *machine) open(writes bool) error {
	err := tracefs.ErrNotFound
	if m.env.Tracefs != nil {
		m.fs, err = m.env.Tracefs()
	}
	if err != nil {
		if errors.Is(err, tracefs.ErrNotFound) {
			return m.noTracefs(err)
		}
		return err
	}
	if m.proc, err = fs.Sub(m.env.Root, "proc"); err != nil {
		return err
	}
	if m.self, err = journal.Self(m.proc); err != nil {
		return err
	}
	if m.boot, err = journal.Boot(m.proc); err != nil {
		return err
	}
	path, err := journal.DefaultPath(os.Geteuid(), m.env.Getenv)
	if err != nil {
		return err
	}
	if m.dir, err = journal.OpenDir(path, writes); err != nil {
		if errors.Is(err, fs.ErrNotExist) && !writes {
			return nil // ep has not been here
		}
		return err
	}
	return m.readJournals()
}

// noTracefs says why there is no tracefs to be seen. A kernel in lockdown for
// confidentiality shows an empty one (fs/tracefs/inode.c, tracefs_create_file).
func (m *machine) noTracefs(err error) error {
	text, _ := fs.ReadFile(m.env.Root, "sys/kernel/security/lockdown") // "" if it cannot be read
	if strings.Contains(string(text), "[confidentiality]") {
		return errors.New("this kernel is locked down (confidentiality), and lets nobody trace; it is mostly due to its command line or to Secure Boot")
	}
	mounts, _ := fs.ReadFile(m.env.Root, "proc/self/mountinfo") // likewise
	if strings.Contains(string(mounts), " - tracefs ") {
		return errors.New("tracefs is mounted, but empty: the kernel is locked down (confidentiality), or shows no events here, as in a container")
	}
	return fmt.Errorf("%w; try 'mount -t tracefs tracefs /sys/kernel/tracing'", err)
}

// readJournals reads the journals. One that cannot be read is told of and let
// be; those of an earlier boot are of a kernel that has forgotten.
func (m *machine) readJournals() error {
	m.journals = nil
	if m.dir == nil {
		return nil
	}
	list, err := m.dir.List()
	if err != nil {
		fmt.Fprintf(m.env.Stderr, "ep: %v\n", err)
	}
	for _, j := range list {
		if j.Boot == m.boot {
			m.journals = append(m.journals, j)
			continue
		}
		if err := m.dir.Remove(j.ID); err != nil {
			return err
		}
	}
	return nil
}

// lock keeps others of ep from changing the kernel until the returned function is
// called, waits for one that does, and reads the journals anew.
func (m *machine) lock() (unlock func(), err error) {
	unlock, err = m.dir.Lock(func() { fmt.Fprintln(m.env.Stderr, "ep: waiting for another ep, which is changing the kernel") })
	if err != nil {
		return nil, exitError{exitMachine, err}
	}
	if err = m.dir.Sweep(); err == nil {
		err = m.readJournals()
	}
	if err != nil {
		unlock()
		return nil, exitError{exitMachine, err}
	}
	return unlock, nil
}

func (m *machine) close() {
	if m.fs != nil {
		_ = m.fs.Close() // what was written stays
	}
	if m.dir != nil {
		_ = m.dir.Close()
	}
}

// stale returns the journals of runs that have ended without taking all back,
// and of installations that were not completed.
func (m *machine) stale() []*journal.Journal {
	var list []*journal.Journal
	for _, j := range m.journals {
		if !j.Complete && j.Owner != m.self && !m.alive(j) {
			list = append(list, j)
		}
	}
	return list
}

// alive reports whether the process of a journal runs: its lock says so in any PID
// namespace.
func (m *machine) alive(j *journal.Journal) bool {
	return j.Owner.Alive(m.proc) || m.dir.Held(j.ID)
}

// installed returns the journal of a script that is installed under a name, nil
// if there is none.
func (m *machine) installed(name string) *journal.Journal {
	for _, j := range m.journals {
		if j.Kind == journal.Install && j.Name == name {
			return j
		}
	}
	return nil
}

// who names what a journal is of: "'ep run openat.ep' (process 1234)".
func (m *machine) who(j *journal.Journal) string {
	if j.Kind == journal.Install {
		return fmt.Sprintf("'ep apply' as '%s'", j.Name)
	}
	ended := ""
	if !m.alive(j) {
		ended = ", which has ended"
	}
	return fmt.Sprintf("'ep run %s' (process %d%s)", j.Script, j.Owner.PID, ended)
}

// holder tells who holds an event or a trigger, as apply.Transaction wants it.
func (m *machine) holder(file, data string) string {
	for _, j := range m.journals {
		for i, s := range j.Steps {
			if j.Left(i) && (data != "" && s.File == file && s.Data == data || data == "" && file == eventDir(s)) {
				return m.who(j)
			}
		}
	}
	return ""
}

// eventDir returns the folder of the event that a step makes, "" if it makes
// none.
func eventDir(s journal.Step) string {
	name, ok := madeBy(s)
	if !ok {
		return ""
	}
	return "events/" + name.Group + "/" + name.Name
}

// madeBy returns the event that a step makes.
func madeBy(s journal.Step) (command.EventName, bool) {
	if s.File != "dynamic_events" || s.Undo == nil {
		return command.EventName{}, false
	}
	c, err := command.Parse(s.File, s.Undo.Data)
	d, ok := c.(*command.Delete)
	if err != nil || !ok {
		return command.EventName{}, false
	}
	return d.EventName, true
}

// transaction returns what applies plans here.
func (m *machine) transaction(w *journal.Writer) apply.Transaction {
	return apply.Transaction{FS: m.fs, Journal: w, Holder: m.holder, Root: m.env.Root}
}

// head returns the head of a journal of this process.
func (m *machine) head(kind journal.Kind, name, script string, p *plan.Plan) journal.Head {
	user := os.Getuid()
	if n, err := strconv.Atoi(m.env.Getenv("SUDO_UID")); err == nil {
		user = n
	}
	return journal.Head{Kind: kind, Name: name, Script: script, Instance: p.Instance, Tracefs: m.fs.Dir(),
		Owner: m.self, Boot: m.boot, Time: time.Now().UTC().Truncate(time.Second), User: user}
}

// compilation is a script to be compiled for this machine.
type compilation struct {
	src      *source.Source
	set      map[string]string
	instance string
	own      *journal.Journal // what is installed of it already; nil if nothing is
}

// parses prints what is wrong with a script by itself, if something is: that is
// told before the machine is looked at.
func (g *globals) parses(src *source.Source) error {
	if _, list := syntax.Parse(src); list.HasErrors() {
		return orScriptError(g.printText(list))
	}
	return nil
}

// compile compiles for this machine, as if what ep has made of the same script
// were not there: the names in a plan do not depend on it. The plan is nil if
// the list has an error.
func (m *machine) compile(c compilation, suffix string) (*plan.Plan, diag.List, error) {
	hidden := map[string]bool{}
	if c.own != nil {
		hide(hidden, c.own)
	}
	p, list, err := m.compileHiding(c, suffix, hidden)
	if err != nil || p != nil || !slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Code == diag.EventExists || d.Code == diag.NameTaken }) {
		return p, list, err
	}
	for _, j := range m.journals {
		hide(hidden, j)
	}
	// Whose a name is, and what is in its place, only applying can say.
	if text, err := m.fs.Read("dynamic_events"); err == nil {
		for line := range strings.Lines(string(text)) {
			first, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if _, name, ok := strings.Cut(first, ":"); ok {
				hidden["events/"+name] = true
			}
		}
	}
	alone, aloneList, err := m.compileHiding(c, suffix, hidden)
	if err != nil || alone != nil {
		return alone, aloneList, err
	}
	return p, list, nil
}

func (m *machine) compileHiding(c compilation, suffix string, hidden map[string]bool) (*plan.Plan, diag.List, error) {
	env := *m.env
	env.Root = hiding{env.Root, hidden}
	t, err := openLive(&env)
	if err != nil {
		return nil, nil, exitError{exitMachine, fmt.Errorf("target 'live': %w", err)}
	}
	p, list := compiler.Compile(c.src, t, compiler.Options{Set: c.set, Instance: c.instance, Suffix: suffix, Import: modulesOf(c.src.Name())})
	return p, list, nil
}

func hide(hidden map[string]bool, j *journal.Journal) {
	for i, s := range j.Steps {
		if dir := eventDir(s); dir != "" && j.Left(i) {
			hidden[dir] = true
		}
	}
}

// hiding is a root file system without some folders of events.
type hiding struct {
	fs.FS
	hidden map[string]bool // "events/GROUP/EVENT"
}

func (h hiding) hides(name string) bool {
	if len(h.hidden) == 0 {
		return false
	}
	i := strings.Index(name, "/events/")
	if i < 0 {
		return false
	}
	parts := strings.Split(name[i+1:], "/")
	return len(parts) >= 3 && h.hidden[strings.Join(parts[:3], "/")]
}

func (h hiding) Open(name string) (fs.File, error) {
	if h.hides(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return h.FS.Open(name)
}

func (h hiding) Stat(name string) (fs.FileInfo, error) {
	if h.hides(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return fs.Stat(h.FS, name)
}

func (h hiding) ReadFile(name string) ([]byte, error) {
	if h.hides(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return fs.ReadFile(h.FS, name)
}

func (h hiding) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(h.FS, name)
	return slices.DeleteFunc(list, func(e fs.DirEntry) bool { return h.hides(name + "/" + e.Name()) }), err
}

// failApply prints what became of a plan: what the kernel refused at the place
// of the script, other errors as they are.
func (g *globals) failApply(err error) error {
	if err == nil {
		return nil
	}
	var list diag.List
	var rest []error
	for _, e := range flat(err) {
		var refused *apply.Error
		if errors.As(e, &refused) && refused.Script != nil {
			list = append(list, refused.Diagnostic())
			continue
		}
		rest = append(rest, e)
	}
	if err := g.printText(list); err != nil {
		return err
	}
	if len(rest) == 0 {
		return exitError{code: exitMachine}
	}
	return exitError{exitMachine, errors.Join(rest...)}
}

// flat returns the errors that were joined, without nils.
func flat(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var list []error
	for _, e := range joined.Unwrap() {
		list = append(list, flat(e)...)
	}
	return list
}
