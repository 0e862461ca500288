package command

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hexops/autogold/v2"
)

func TestParseErrorsPointAtTheByte(t *testing.T) {
	show := func(file, line string) string {
		_, err := ParseAll(file, line)
		var e *SyntaxError
		if err == nil || errors.As(err, &e) && (e.Offset < 0 || e.Offset > len(line)) {
			return fmt.Sprintf("WRONG: %v", err)
		}
		return err.Error()
	}
	const trigger = "instances/one/events/sched/sched_switch/trigger"
	autogold.Expect("byte 35: no such type").Equal(t, show("dynamic_events", "e:x sched.sched_switch a=$prev_pid:int"))
	autogold.Expect("byte 31: want a field").Equal(t, show("dynamic_events", "e:x sched.sched_switch a=+0(+8($a.b))"))
	autogold.Expect("byte 2: no name of a group").Equal(t, show("dynamic_events", "e:1g/x sched.sched_switch"))
	autogold.Expect("byte 27: want a value").Equal(t, show("dynamic_events", "p vfs_read\n\ne sched.x if a&&"))
	autogold.Expect("byte 10: no type of a synthetic event's field").Equal(t, show("dynamic_events", "s:x u64 a;short b"))
	autogold.Expect("byte 13: want 'ustring' or 'function'").Equal(t, show("events/a/b/filter", "(x == 1 && y.z == 2)"))
	autogold.Expect("byte 18: want a field, a variable or a number").Equal(t, show(trigger, "hist:keys=pid:lat=(a-b)"))
	autogold.Expect("byte 37: want a variable").Equal(t, show(trigger, "!hist:keys=pid:lat=a,b1=5+c:d=common-$"))
	autogold.Expect("byte 12: want a count").Equal(t, show(trigger, " stacktrace:x"))
	autogold.Expect(`no file of commands: "trace"`).Equal(t, show("trace", "1"))
}

func TestParseKeepsOctalAndHex(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "010": 8, "+1": 1, "0x1F": 31, "0X1f": 31, "18446744073709551615": 1<<64 - 1} {
		if got, err := parseUint(text); err != nil || got != want {
			t.Errorf("parseUint(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "08", "0b1", "0o7", "1_000", "-1", "0x", "18446744073709551616", "1e3"} {
		if got, err := parseUint(text); err == nil {
			t.Errorf("parseUint(%q) = %d, want an error", text, got)
		}
	}
}
