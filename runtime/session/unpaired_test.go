package session

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/eptrace/ep/compiler/plan"
	"github.com/eptrace/ep/runtime/tracefs"
)

// TestLossesOfJoinsAreCounted: what the tables of joins had no room for is, and
// what return probes missed; the script's own tables and others' probes are not.
func TestLossesOfJoinsAreCounted(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	part := func(line, dropped string) string {
		return "# event histogram\n#\n# trigger info: " + line + " [active]\n#\n\n\nTotals:\n    Hits: 9\n    Entries: 1\n    Dropped: " + dropped + "\n\n\n"
	}
	put("events/header_page", "")
	put("instances/mine/events/a/b/hist", part("hist:keys=pid:vals=hitcount:t=common_timestamp:sort=hitcount:size=2048:clock=global", "3")+
		part("hist:keys=pid:vals=hitcount:sort=hitcount:size=2048", "50"))
	put("kprobe_profile", "  entry  10  7\n  back  10  2\n  theirs  10  40\n")
	f, err := tracefs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := &run{Options: Options{FS: f}, plan: &plan.Plan{Instance: "mine", Writes: []plan.Write{
		{File: "dynamic_events", Data: "p:g/entry vfs_read"},
		{File: "dynamic_events", Data: "r:g/back vfs_read"},
		{File: "events/a/b/trigger", Data: "hist:keys=pid:t=common_timestamp"},
		{File: "events/a/b/trigger", Data: "hist:keys=pid"},
		{File: "events/gone/b/trigger", Data: "hist:keys=pid:u=common_timestamp"},
	}}}
	if full, missed := r.unpaired(); full != 3 || missed != 2 {
		t.Errorf("got %d and %d, want 3 and 2", full, missed)
	}
}
