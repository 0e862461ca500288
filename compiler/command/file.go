package command

func (*Eprobe) command()    {}
func (*Kprobe) command()    {}
func (*Fprobe) command()    {}
func (*Tprobe) command()    {}
func (*Uprobe) command()    {}
func (*Synthetic) command() {}
func (*Delete) command()    {}
func (*Hist) command()      {}
func (*Trigger) command()   {}
func (*Filter) command()    {}
func (*Enable) command()    {}

// dynamicEvents takes every kind of dynamic event (since v5.0). The files of one
// kind, such as kprobe_events, are older and take no more than that.
const dynamicEvents = "dynamic_events"

// File returns "dynamic_events".
func (*Eprobe) File() string { return dynamicEvents }

// File returns "dynamic_events".
func (*Kprobe) File() string { return dynamicEvents }

// File returns "dynamic_events".
func (*Fprobe) File() string { return dynamicEvents }

// File returns "dynamic_events".
func (*Tprobe) File() string { return dynamicEvents }

// File returns "dynamic_events".
func (*Uprobe) File() string { return dynamicEvents }

// File returns "dynamic_events".
func (*Synthetic) File() string { return dynamicEvents }

// File returns "dynamic_events".
func (*Delete) File() string { return dynamicEvents }

// File returns the event's trigger file.
func (c *Hist) File() string { return eventFile(c.Event, "trigger") }

// File returns the event's trigger file.
func (c *Trigger) File() string { return eventFile(c.Event, "trigger") }

// File returns the filter file of the event or group.
func (c *Filter) File() string { return eventFile(c.Event, "filter") }

// File returns the enable file of the event or group.
func (c *Enable) File() string { return eventFile(c.Event, "enable") }

// eventFile returns the path of a file of an event, of a group if n has no
// name, or of all events if it has no group either.
func eventFile(n EventName, file string) string {
	path := "events/"
	if n.Group != "" {
		path += n.Group + "/"
	}
	if n.Name != "" {
		path += n.Name + "/"
	}
	return path + file
}

// Truncates reports whether the file of c holds one value and is opened with
// O_TRUNC. All others must be appended to: truncating dynamic_events deletes
// every dynamic event, truncating a trigger file the event's hist triggers.
func Truncates(c Command) bool {
	switch c.(type) {
	case *Filter, *Enable, *Setting:
		return true
	}
	return false
}

// Undo returns what takes c back, without places of a script; nil if there is no
// such command: for a Delete, for a trigger or hist that is removed, for a filter
// that is cleared, and for a hist that is cleared. Removing a trigger is not
// undone by making it again: what is undone next is what made it.
//
// What a dynamic event is removed by is its name alone: other probes that were
// appended to the same event go with it. The undo of a hist or trigger repeats
// its text, for the kernel looks for the same keys, values, variables, filter
// and actions. A hist that starts paused is removed; one that goes on is paused.
func Undo(c Command) Command {
	if made, ok := Made(c); ok {
		return undoEvent(made)
	}
	switch c := c.(type) {
	case *Delete:
		return nil
	case *Hist:
		return undoHist(c)
	case *Trigger:
		if c.Remove {
			return nil
		}
		undo := *withoutSpans(c).(*Trigger)
		undo.Remove = true
		return &undo
	case *Filter:
		if c.If == nil {
			return nil
		}
		return &Filter{Event: noSpan(c.Event)}
	case *Enable:
		return &Enable{Event: noSpan(c.Event), On: !c.On}
	case *Setting:
		return undoSetting(c)
	}
	panic("internal error: no such command")
}

// synthetic is the one group of synthetic events.
const synthetic = "synthetic"

func undoEvent(n EventName) Command { return &Delete{EventName: noSpan(n)} }

func undoHist(c *Hist) Command {
	undo := *withoutSpans(c).(*Hist)
	switch {
	case c.State == "clear", c.Remove:
		return nil
	case c.State == "continue":
		undo.State = "pause"
	default:
		undo.State = ""
		undo.Remove = true
	}
	return &undo
}

func noSpan(n EventName) EventName { return EventName{Group: n.Group, Name: n.Name} }
