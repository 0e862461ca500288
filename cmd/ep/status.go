package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/journal"
	"github.com/eptrace/ep/runtime/tracefs"
)

type statusCmd struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Help implements kong.HelpProvider.
func (*statusCmd) Help() string {
	return `What ep has in the kernel now: scripts that are installed, runs, and what runs that have ended left. With it is said what is not there any more as it was written, and how many records there were. The exit code is 3 if something is not as it was written.

Examples:

    sudo ep status
    sudo ep status --json | jq '.scripts[].drift'
`
}

// scriptStatus is what is told of one journal.
type scriptStatus struct {
	Name     string       `json:"name"`
	Kind     journal.Kind `json:"kind"`
	State    string       `json:"state"` // installed, running, left, incomplete
	Script   string       `json:"script"`
	Instance string       `json:"instance"`
	User     int          `json:"user"`
	PID      int          `json:"pid"`
	Since    time.Time    `json:"since"`
	Commands int          `json:"commands"`
	Records  uint64       `json:"records"` // written to the instance's buffers
	Lost     uint64       `json:"lost"`
	Missed   uint64       `json:"missed"` // returns that probes could not follow
	Drift    []driftLine  `json:"drift"`
}

type driftLine struct {
	What    string `json:"what"` // gone or changed
	File    string `json:"file"`
	Command string `json:"command"`
}

// Run carries out the command.
func (c *statusCmd) Run(env *Env) error {
	m, err := openMachine(env, false)
	if err != nil {
		return err
	}
	defer m.close()
	list := []scriptStatus{}
	drifted := false
	for _, j := range m.journals {
		s, err := m.status(j)
		if err != nil {
			return exitError{exitMachine, err}
		}
		drifted = drifted || len(s.Drift) > 0
		list = append(list, s)
	}
	var out bytes.Buffer
	if c.JSON {
		e := json.NewEncoder(&out)
		e.SetIndent("", "  ")
		if err := e.Encode(map[string]any{"version": 1, "scripts": list}); err != nil {
			return fmt.Errorf("print the status: %w", err)
		}
	} else if err := printStatus(&out, list); err != nil {
		return err
	}
	if err := writeOutput(env, "", out.Bytes()); err != nil {
		return err
	}
	if drifted {
		return exitError{code: exitFindings}
	}
	return nil
}

// status looks at what a journal tells of.
func (m *machine) status(j *journal.Journal) (scriptStatus, error) {
	s := scriptStatus{Name: j.Name, Kind: j.Kind, Script: j.Script, Instance: j.Instance, User: j.User, PID: j.Owner.PID, Since: j.Time, Drift: []driftLine{}}
	switch {
	case j.Complete:
		s.State = "installed"
	case !j.Owner.Alive(m.proc):
		s.State = "left"
	case j.Kind == journal.Install:
		s.State = "incomplete"
	default:
		s.State = "running"
	}
	for i := range j.Steps {
		if j.Left(i) {
			s.Commands++
		}
	}
	if s.State == "installed" {
		t := m.transaction(nil)
		drifts, err := t.Drifts(j)
		if err != nil {
			return s, err
		}
		for _, d := range drifts {
			s.Drift = append(s.Drift, newDrift(d))
		}
	}
	if j.Instance != "" {
		s.Records, s.Lost = m.bufferCounts(j.Instance)
	}
	s.Missed = m.missed(j)
	return s, nil
}

func newDrift(d apply.Drift) driftLine {
	what := "gone"
	if d.Is == apply.Changed {
		what = "changed"
	}
	if d.Is == apply.Absent && path.Base(d.Step.File) == "enable" {
		what = "off"
	}
	return driftLine{What: what, File: d.Step.File, Command: d.Step.Data}
}

// bufferCounts adds up what the buffers of an instance say of themselves: records
// that are there, were read, or were overwritten, and those that were lost.
func (m *machine) bufferCounts(instance string) (records, lost uint64) {
	dir := tracefs.In(instance, "per_cpu")
	entries, err := fs.ReadDir(m.fs.FS(), dir)
	if err != nil {
		return 0, 0 // it is gone; the drift says so
	}
	for _, e := range entries {
		text, err := m.fs.Read(path.Join(dir, e.Name(), "stats"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			n, err := strconv.ParseUint(value, 10, 64)
			if err != nil {
				continue
			}
			switch name {
			case "entries", "read events":
				records += n
			case "overrun":
				records, lost = records+n, lost+n
			case "commit overrun", "dropped events":
				lost += n
			}
		}
	}
	return records, lost
}

// missed adds up the calls that the journal's probes could not follow:
// kprobe_profile has lines of an event, its hits and its misses.
func (m *machine) missed(j *journal.Journal) uint64 {
	text, err := m.fs.Read("kprobe_profile")
	if err != nil {
		return 0 // the kernel has no kprobes
	}
	own := map[string]bool{}
	for i, s := range j.Steps {
		if name, ok := madeBy(s); ok && j.Left(i) {
			own[name.Name] = true
		}
	}
	var sum uint64
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 3 || !own[words[0]] {
			continue
		}
		if n, err := strconv.ParseUint(words[2], 10, 64); err == nil {
			sum += n
		}
	}
	return sum
}

func printStatus(w io.Writer, list []scriptStatus) error {
	if len(list) == 0 {
		_, err := io.WriteString(w, "nothing of ep's is in this kernel\n")
		return err
	}
	var table bytes.Buffer
	t := tabwriter.NewWriter(&table, 0, 8, 2, ' ', 0)
	fmt.Fprint(t, "NAME\tSTATE\tINSTANCE\tSINCE\tCOMMANDS\tRECORDS\tLOST\n")
	for _, s := range list {
		state := s.State
		if s.State != "installed" {
			state = fmt.Sprintf("%s (process %d)", s.State, s.PID)
		}
		if len(s.Drift) > 0 {
			state += ", changed"
		}
		instance, records := s.Instance, strconv.FormatUint(s.Records, 10)
		if instance == "" {
			instance, records = "(top level)", "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\t%d\n", s.Name, state, instance, s.Since.Local().Format("2006-01-02 15:04:05"), s.Commands, records, s.Lost+s.Missed)
	}
	err := t.Flush()
	for _, s := range list {
		for _, d := range s.Drift {
			fmt.Fprintf(&table, "%s: %s: %s: %s\n", s.Name, d.What, d.File, d.Command)
		}
		if s.State == "left" {
			fmt.Fprintf(&table, "%s: its run has ended and left this: 'ep clean' removes it\n", s.Name)
		}
	}
	_, writeErr := w.Write(trimLines(table.Bytes()))
	return errors.Join(err, writeErr)
}
