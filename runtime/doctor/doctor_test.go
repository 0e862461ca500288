package doctor_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hexops/autogold/v2"

	"github.com/eptrace/ep/runtime/doctor"
	"github.com/eptrace/ep/runtime/journal"
)

// machine is a root file system with a tracefs; more replaces or, if empty,
// removes files.
func machine(more map[string]string) fs.FS {
	files := map[string]string{
		"proc/sys/kernel/osrelease": "6.12.117+deb13-cloud-amd64\n", "proc/sys/kernel/arch": "x86_64\n",
		"proc/filesystems": "nodev\tproc\nnodev\ttracefs\n", "proc/mounts": "tracefs /sys/kernel/tracing tracefs rw 0 0\n",
		"sys/kernel/security/lockdown":                         "[none] integrity confidentiality\n",
		"sys/kernel/btf/vmlinux":                               "x",
		"boot/config-6.12.117+deb13-cloud-amd64":               "CONFIG_KPROBE_EVENTS=y\nCONFIG_FPROBE_EVENTS=y\nCONFIG_UPROBE_EVENTS=y\nCONFIG_HIST_TRIGGERS=y\nCONFIG_SYNTH_EVENTS=y\nCONFIG_FTRACE_SYSCALLS=y\nCONFIG_DYNAMIC_FTRACE=y\nCONFIG_TRACER_SNAPSHOT=y\nCONFIG_BOOTTIME_TRACING=y\n",
		"sys/kernel/tracing/README":                            "tracing mini-HOWTO\n",
		"sys/kernel/tracing/available_filter_functions":        "vfs_read\n",
		"sys/kernel/tracing/dynamic_events":                    "",
		"sys/kernel/tracing/tracing_on":                        "1\n",
		"sys/kernel/tracing/current_tracer":                    "nop\n",
		"sys/kernel/tracing/events/sched/sched_switch/format":  "",
		"sys/kernel/tracing/events/sched/sched_switch/trigger": "# Available triggers:\n# traceon traceoff\n",
		"sys/kernel/tracing/events/sched/sched_switch/filter":  "none\n",
		"sys/kernel/tracing/instances/.keep":                   "",
	}
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, text := range more {
		delete(fsys, name)
		if text != "" {
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return fsys
}

// rendering is the findings and leftovers.
func rendering(r *doctor.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "works: %v\n", r.Works())
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s %s: %s\n", f.State, f.Check, f.Message)
		if f.Help != "" {
			fmt.Fprintf(&b, "    %s\n", f.Help)
		}
	}
	for _, l := range r.Leftovers {
		fmt.Fprintf(&b, "%s %s in %q ep=%v: %s\n", l.Kind, l.Name, l.In, l.Ep, l.Text)
	}
	return b.String()
}

func TestExamine(t *testing.T) {
	const tracefs = "sys/kernel/tracing/"
	for _, c := range []struct {
		name string
		more map[string]string
	}{
		{"well", nil},
		{"lockdown", map[string]string{"sys/kernel/security/lockdown": "none integrity [confidentiality]\n"}},
		{"unmounted", map[string]string{tracefs + "README": ""}},
		{"elsewhere", map[string]string{tracefs + "README": "", "proc/mounts": "tracefs /mnt/t tracefs rw 0 0\n"}},
		{"no tracefs", map[string]string{tracefs + "README": "", "proc/filesystems": "nodev\tproc\n", "proc/mounts": ""}},
		{"switches", map[string]string{
			tracefs + "tracing_on": "0\n", tracefs + "current_tracer": "function\n",
			"proc/sys/kernel/ftrace_enabled": "0\n", "sys/kernel/debug/kprobes/enabled": "0\n",
		}},
		{"small kernel", map[string]string{
			"sys/kernel/btf/vmlinux": "", tracefs + "available_filter_functions": "",
			"boot/config-6.12.117+deb13-cloud-amd64": "CONFIG_KPROBE_EVENTS=y\n# CONFIG_HIST_TRIGGERS is not set\n",
		}},
		{"no config", map[string]string{"boot/config-6.12.117+deb13-cloud-amd64": ""}},
		{"leftovers", map[string]string{
			tracefs + "dynamic_events":                                  "p:others/probe vfs_read\nr10:others/back vfs_read ret=$retval\np:uprobes/sh /bin/sh:0x1234\ne:ep_openat/openat sched.sched_switch a=$next_pid:u32\ns:synthetic/lat\tu64 lat\n",
			tracefs + "set_event":                                       "sched:sched_switch\nep_openat:openat\n",
			tracefs + "events/sched/sched_switch/trigger":               "hist:keys=next_pid:vals=hitcount:sort=hitcount:size=2048 [active]\n",
			tracefs + "events/sched/sched_switch/filter":                "prev_pid > 1\n",
			tracefs + "instances/mine/set_event":                        "sched:sched_switch\n",
			tracefs + "instances/mine/events/sched/sched_switch/filter": "next_pid > 1\n",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			autogold.ExpectFile(t, autogold.Raw(rendering(doctor.Examine(doctor.Machine{Root: machine(c.more)}))))
		})
	}
}

// TestJournalsTellWhoseItIs: what ep has in force is told from what others left.
func TestJournalsTellWhoseItIs(t *testing.T) {
	const tracefs = "sys/kernel/tracing/"
	root := machine(map[string]string{
		tracefs + "dynamic_events":                                   "s:synthetic/lat\tu64 lat\ns:synthetic/theirs\tu64 lat\ne:other/name sched.sched_switch\n",
		tracefs + "instances/mine/events/sched/sched_switch/trigger": "hist:keys=next_pid [active]\n",
		tracefs + "events/sched/sched_switch/trigger":                "traceoff:unlimited\n",
	})
	r := doctor.Examine(doctor.Machine{Root: root, Journals: []*journal.Journal{{
		Head: journal.Head{Name: "slow"},
		Steps: []journal.Step{
			{Kind: journal.Instance, File: "instances/mine"},
			{Kind: journal.Command, File: "dynamic_events", Data: "s:lat u64 lat"},
			{Kind: journal.Command, File: "dynamic_events", Data: "e:other/name sched.sched_switch"},
			{Kind: journal.Command, File: "instances/mine/events/sched/sched_switch/trigger", Data: "hist:keys=next_pid"},
			{Kind: journal.Command, File: "dynamic_events", Data: "s:theirs u64 lat"},
		},
		States: []journal.State{journal.Done, journal.Done, journal.Begun, journal.Done, journal.Undone},
	}}})
	got := ""
	for _, l := range r.Leftovers {
		got += fmt.Sprintf("%s %s %q %v\n", l.Kind, l.Name, l.Script, l.Ep)
	}
	const want = `synthetic event synthetic.lat "slow" true
synthetic event synthetic.theirs "" false
eprobe other.name "slow" true
trigger sched.sched_switch "" false
instance mine "slow" true
trigger sched.sched_switch "slow" true
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestWhoMayNotWriteIsTold(t *testing.T) {
	r := doctor.Examine(doctor.Machine{Root: machine(nil), Writable: func(name string) error {
		if name != "sys/kernel/tracing/dynamic_events" {
			return nil
		}
		return errors.New("permission denied")
	}})
	if r.Works() || !strings.Contains(rendering(r), "broken permission: this user may not write to dynamic_events") {
		t.Errorf("got %s", rendering(r))
	}
}
