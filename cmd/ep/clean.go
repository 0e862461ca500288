package main

import (
	"errors"
	"fmt"

	"github.com/eptrace/ep/runtime/journal"
)

type cleanCmd struct{}

// Help implements kong.HelpProvider.
func (*cleanCmd) Help() string {
	return `A run that is killed cannot take back what it made in the kernel; its journal, in /run/ep, tells what that was. What runs that have ended left is taken back, and nothing else: each object is looked for in the kernel's own lists first. Scripts that are installed stay.

Examples:

    sudo ep clean
`
}

// Run carries out the command.
func (*cleanCmd) Run(env *Env) error {
	m, err := openMachine(env, false)
	if err != nil {
		return err
	}
	defer m.close()
	if m.dir == nil {
		return nil
	}
	unlock, err := m.lock()
	if err != nil {
		return err
	}
	defer unlock()
	var errs []error
	for _, j := range m.stale() {
		n, err := m.takeBack(j)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", m.who(j), err))
			continue
		}
		if _, err := fmt.Fprintf(env.Stdout, "%s: %s taken back\n", m.who(j), count(uint64(n), "command")); err != nil {
			return fmt.Errorf("write standard output: %w", err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return exitError{exitMachine, err}
	}
	return nil
}

// takeBack takes back all that a journal tells of, and removes it. It returns
// how many steps may have been there.
func (m *machine) takeBack(j *journal.Journal) (int, error) {
	w, err := m.dir.Append(j.ID)
	if err != nil {
		return 0, err
	}
	t := m.transaction(w)
	n := 0
	for i := range j.Steps {
		if j.Left(i) {
			n++
		}
	}
	// If not all goes, the rest is there in no way that was asked for.
	if err := w.Complete(false); err != nil {
		return 0, errors.Join(err, w.Close())
	}
	if err := t.Recover(j).Undo(); err != nil {
		return 0, errors.Join(err, w.Close())
	}
	return n, w.Remove()
}

type removeCmd struct {
	Name []string `arg:"" help:"The names of installed scripts, as 'ep status' shows them."`
}

// Help implements kong.HelpProvider.
func (*removeCmd) Help() string {
	return `What 'ep apply' made is taken back. What others have changed of it meanwhile, or set since, is theirs and stays.

Examples:

    sudo ep remove openat
`
}

// Run carries out the command.
func (c *removeCmd) Run(env *Env) error {
	m, err := openMachine(env, false)
	if err != nil {
		return err
	}
	defer m.close()
	if m.dir != nil {
		unlock, err := m.lock()
		if err != nil {
			return err
		}
		defer unlock()
	}
	var errs []error
	for _, name := range c.Name {
		j := m.installed(name)
		if j == nil {
			errs = append(errs, fmt.Errorf("no script is installed as '%s'; 'ep status' shows those that are", name))
			continue
		}
		if _, err := m.takeBack(j); err != nil {
			errs = append(errs, fmt.Errorf("remove '%s': %w", name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return exitError{exitMachine, err}
	}
	return nil
}
