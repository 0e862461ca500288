package judge

import "github.com/eptrace/ep/compiler/command"

// makeSynthetic makes a synthetic event.
func (j *Judge) makeSynthetic(c *command.Synthetic, line string) (misleads []string, err error) {
	return nil, nil
}
