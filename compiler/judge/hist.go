package judge

import "github.com/eptrace/ep/compiler/command"

// hist is a histogram of one event in one buffer.
type hist struct {
	event *event
	in    *traced
	cmd   *command.Hist
}

// trigger carries out a write to an event's trigger file.
func (j *Judge) trigger(f file, text string) (misleads []string, err error) {
	_, err = command.Parse("events/"+f.events[0].group+"/"+f.events[0].event+"/trigger", text)
	return nil, syntax(err)
}

// drop forgets a histogram that goes with its instance.
func (j *Judge) drop(h *hist) {}

// aim counts a trigger that starts or stops an event, or no more.
func (j *Judge) aim(t *command.Trigger, n int) {}

// removeHists removes the histograms of f's event, if no other needs one's
// variables.
func (j *Judge) removeHists(f file) {}
