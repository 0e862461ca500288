package command

// Made returns the event that c makes, false if it makes none.
func Made(c Command) (EventName, bool) {
	switch c := c.(type) {
	case *Eprobe:
		return c.EventName, true
	case *Kprobe:
		return c.EventName, true
	case *Fprobe:
		return c.EventName, true
	case *Tprobe:
		return c.EventName, true
	case *Uprobe:
		return c.EventName, true
	case *Synthetic:
		return EventName{Group: synthetic, Name: c.Name}, true
	}
	return EventName{}, false
}

// Args returns what the probe that c makes fetches, nil if c makes none.
func Args(c Command) []Arg {
	switch c := c.(type) {
	case *Eprobe:
		return c.Args
	case *Kprobe:
		return c.Args
	case *Fprobe:
		return c.Args
	case *Tprobe:
		return c.Args
	case *Uprobe:
		return c.Args
	}
	return nil
}
