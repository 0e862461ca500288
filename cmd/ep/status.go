package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/user"
	"path"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/eptrace/ep/runtime/apply"
	"github.com/eptrace/ep/runtime/events"
	"github.com/eptrace/ep/runtime/journal"
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
	Missed   uint64       `json:"missed"`  // calls that probes could not follow
	Counted  uint64       `json:"counted"` // events that histograms counted, those of joins among them
	Dropped  uint64       `json:"dropped"` // events that these did not count: they are full
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
		if err := printJSON(&out, map[string]any{"version": 1, "scripts": list}); err != nil {
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
	case j.Kind == journal.Install:
		s.State = "incomplete"
	case !m.alive(j):
		s.State = "left"
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
	s.Counted, s.Dropped = m.counted(j)
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

// userName returns the name of a user, or the number where it has none.
func userName(uid int) string {
	number := strconv.Itoa(uid)
	if u, err := user.LookupId(number); err == nil {
		return u.Username
	}
	return number
}

func printStatus(w io.Writer, list []scriptStatus) error {
	if len(list) == 0 {
		_, err := io.WriteString(w, "nothing of ep's is in this kernel\n")
		return err
	}
	var table bytes.Buffer
	t := tabwriter.NewWriter(&table, 0, 8, 2, ' ', 0)
	fmt.Fprint(t, "NAME\tSTATE\tBY\tINSTANCE\tSINCE\tCOMMANDS\tRECORDS\tCOUNTED\tLOST\n")
	for _, s := range list {
		state := s.State
		if s.Kind == journal.Run {
			state = fmt.Sprintf("%s (process %d)", s.State, s.PID)
		}
		if len(s.Drift) > 0 {
			state += ", changed"
		}
		instance, records := s.Instance, strconv.FormatUint(s.Records, 10)
		if instance == "" {
			instance, records = "(top level)", "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%d\t%d\n", s.Name, state, userName(s.User), instance, s.Since.Local().Format("2006-01-02 15:04:05"), s.Commands, records, s.Counted, s.Lost+s.Missed+s.Dropped)
	}
	err := t.Flush()
	for _, s := range list {
		for _, d := range s.Drift {
			fmt.Fprintf(&table, "%s: %s: %s: %s\n", s.Name, d.What, d.File, d.Command)
		}
		switch s.State {
		case "left":
			fmt.Fprintf(&table, "%s: its run has ended and left this: 'ep clean' removes it\n", s.Name)
		case "incomplete":
			fmt.Fprintf(&table, "%s: not all of it is there: 'ep apply' completes it, 'ep clean' removes it\n", s.Name)
		}
	}
	_, writeErr := io.WriteString(w, events.PlainLines(string(trimLines(table.Bytes()))))
	return errors.Join(err, writeErr)
}
