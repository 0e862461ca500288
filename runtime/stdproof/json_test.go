package stdproof

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"time"

	"github.com/eptrace/ep/runtime/vm"
)

// speakJSON holds what `ep run --format json` and `ep status --json` print of a
// module to be JSON with what docs/output.md and docs/json.md say.
func speakJSON(g *vm.G) {
	r := start(g, "--format", "json", "std/opens")
	failingOpen(g)
	time.Sleep(300 * time.Millisecond) // a record is shown within 0.2 s
	seen := map[string]int{}
	opened := false
	text := r.end(g)
	for line := range strings.Lines(text) {
		var l struct {
			Version int
			Event   string
			Fields  map[string]any
			Losses  []struct{ Read, Overrun, Dropped, Bad uint64 }
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			g.Fatalf("%v: %s", err, line)
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(line, `{"`), `"`)
		seen[first]++
		// -ENOENT is a number here.
		opened = opened || l.Event == "opens" && l.Fields["file"] == nowhere && l.Fields["ret"] == -2.0
	}
	if !opened || seen["version"] != 1 || seen["losses"] != 1 {
		g.Errorf("the open is shown: %v; lines by their first key: %v\n%s", opened, seen, text)
	}

	g.Cleanup(func() { _ = exec.Command(program, "remove", "opens").Run() }) // it is removed below, mostly
	if out := says(g, "apply", "std/opens"); !strings.Contains(out, "applied as 'opens'") {
		g.Errorf("apply says %s", out)
	}
	failingOpen(g)
	var state struct {
		Version int
		Scripts []struct {
			Name, Kind, State, Script, Instance string
			Commands                            int
			Records                             uint64
			Drift                               []struct{ What, File, Command string }
		}
	}
	if err := json.Unmarshal([]byte(says(g, "status", "--json")), &state); err != nil {
		g.Fatalf("status: %v", err)
	}
	if len(state.Scripts) != 1 || state.Version != 1 {
		g.Fatalf("status: %+v", state)
	}
	s := state.Scripts[0]
	if s.Name != "opens" || s.Kind != "install" || s.State != "installed" || s.Script != "std/opens" || s.Instance != "ep-opens" ||
		s.Commands == 0 || s.Records == 0 || s.Drift == nil || len(s.Drift) > 0 {
		g.Errorf("status: %+v", s)
	}
	says(g, "remove", "opens")
	nothingLeft(g)
}

// says runs ep and returns what it prints.
func says(g *vm.G, args ...string) string {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(g.Context(), program, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		g.Fatalf("ep %s: %v\n%s%s", strings.Join(args, " "), err, &out, &errs)
	}
	return out.String() + errs.String()
}
