package command

import (
	"fmt"
	"strings"

	"github.com/eptrace/ep/lang/source"
)

// Setting sets a file that holds one value of the whole trace buffer: the top
// level's or an instance's.
type Setting struct {
	Name  SettingName
	Value string // "" clears
	Span  source.Span
}

// SettingName is the file of a Setting.
type SettingName string

// The settings.
const (
	// TraceClock is the clock of records. A hist with common_timestamp sets it
	// too, and leaves it (kernel/trace/trace_events_hist.c,
	// event_hist_trigger_parse).
	TraceClock SettingName = "trace_clock"
	// EventPID lists the threads whose events are recorded and trigger; none
	// means all (trace_events.c, trace_event_ignore_this_pid).
	EventPID SettingName = "set_event_pid"
	// BufferKB is the size of each CPU's buffer in KiB.
	BufferKB SettingName = "buffer_size_kb"
	// Overwrite is whether new records replace old ones in a full buffer.
	Overwrite SettingName = "options/overwrite"
	// TracingOn is whether the buffer takes records. Triggers run all the same.
	TracingOn SettingName = "tracing_on"
)

func (*Setting) command() {}

// File returns the setting's file.
func (c *Setting) File() string { return string(c.Name) }

// undoSetting goes back to what a fresh buffer has. Who knows what was set
// before should set that.
func undoSetting(c *Setting) Command {
	undo := &Setting{Name: c.Name}
	switch c.Name {
	case TraceClock:
		undo.Value = "local"
	case BufferKB:
		undo.Value = "1410" // kernel/trace/trace.c, TRACE_BUF_SIZE_DEFAULT
	case Overwrite, TracingOn:
		undo.Value = "1"
	}
	return undo
}

func spellSetting(c *Setting) error {
	ok := false
	switch c.Name {
	case TraceClock:
		ok = isToken(c.Value)
	case BufferKB, Overwrite, TracingOn:
		ok = c.Value != "" && all(c.Value, isDigit)
	case EventPID:
		ok = all(c.Value, func(b byte) bool { return isDigit(b) || b == ' ' })
	}
	if !ok {
		return fmt.Errorf("%s: cannot be %q", c.Name, c.Value)
	}
	return nil
}

// parseSetting reads what ep writes, or what the kernel shows: of the clocks,
// the one in brackets.
func parseSetting(name SettingName, line string) (Command, error) {
	value := trim(line)
	if name == TraceClock {
		if i := strings.IndexByte(value, '['); i >= 0 {
			if j := strings.IndexByte(value[i:], ']'); j > 0 {
				value = value[i+1 : i+j]
			}
		}
	}
	c := &Setting{Name: name, Value: value}
	if err := spellSetting(c); err != nil {
		return nil, errAt(0, "%v", err)
	}
	return c, nil
}
