package judge

import "github.com/eptrace/ep/compiler/command"

// filter carries out a write to an event's or a group's filter file.
func (j *Judge) filter(f file, text string) (misleads []string, err error) { return nil, nil }

// cond checks a condition on e's fields, as a filter, a trigger or an eprobe has
// it. line is the text that it is part of.
func (j *Judge) cond(e *event, c command.Cond, line string) (misleads []string, err error) {
	return nil, nil
}
