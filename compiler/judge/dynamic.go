package judge

// dynamic carries out one line of dynamic_events or an older file of its kind.
func (j *Judge) dynamic(file, line string) (misleads []string, err error) { return nil, nil }

// removeAll is O_TRUNC of a file of dynamic events.
func (j *Judge) removeAll(file string) error { return nil }
