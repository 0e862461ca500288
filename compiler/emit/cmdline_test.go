package emit_test

import (
	"strings"
	"testing"

	"github.com/hexops/autogold/v2"

	"github.com/eptrace/ep/compiler"
	"github.com/eptrace/ep/compiler/emit"
	"github.com/eptrace/ep/compiler/target"
	"github.com/eptrace/ep/lang/diag"
	"github.com/eptrace/ep/lang/source"
)

// TestCmdline keeps the parameters that a kernel would get, or why it gets none;
// runtime/bootproof boots kernels with some.
func TestCmdline(t *testing.T) {
	for _, c := range []struct{ name, target, text string }{
		{"events", "6.12-x86_64", "trace sched.sched_process_exec\ntrace sched.sched_switch { next_pid }\n"},
		{"instance", "6.12-x86_64", "option instance boot\ntrace sched.sched_process_exec\ntrace sched.sched_switch\n"},
		{"kprobes", "6.1-x86_64", "trace func vfs_read.enter { count }\ntrace func vfs_write.exit { $ret }\n"},
		{"triggers", "6.12-x86_64", "on sched.sched_switch where next_pid > 100 do stop\nhist sched.sched_process_fork by parent_pid\n"},
		{"filter", "6.12-x86_64", "trace sched.sched_switch where next_pid > 100\n"},
		{"join", "6.12-x86_64", "event lat from sched.sched_waking as w then sched.sched_switch as s by w.pid == s.next_pid { lat = s.$time - w.$time }\ntrace lat\n"},
		{"keys", "6.12-x86_64", "hist sched.sched_process_fork by parent_pid, child_pid\n"},
		{"untraced", "6.12-x86_64", "hist func vfs_read.enter by $tid\n"},
		{"old-triggers", "6.1-x86_64", "on sched.sched_switch where next_pid > 100 do stop\n"},
		{"old-instance", "6.1-x86_64", "option instance boot\ntrace sched.sched_switch\n"},
		{"settings", "6.12-x86_64", "option instance boot\noption buffer 4MiB\ntrace sched.sched_switch\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, err := source.New(c.name+".ep", c.text)
			if err != nil {
				t.Fatal(err)
			}
			to, err := target.Embedded(c.target)
			if err != nil {
				t.Fatal(err)
			}
			p, list := compiler.Compile(src, to.AtBoot(), compiler.Options{})
			var out strings.Builder
			if p != nil {
				if list, err = emit.Cmdline(&out, p, to); err != nil {
					t.Fatal(err)
				}
				if (len(list) > 0) == (out.Len() > 0) {
					t.Errorf("%d errors and %d bytes: expected either", len(list), out.Len())
				}
			}
			if err := diag.Text(&out, list, diag.TextOptions{}); err != nil {
				t.Fatal(err)
			}
			autogold.ExpectFile(t, autogold.Raw(out.String()))
		})
	}
}
