package stdproof

import (
	"encoding/json"
	"os/exec"
	"strings"
	"time"

	"github.com/eptrace/ep/runtime/vm"
)

// runIdle demands that ep hardly shows in what it measures on a machine that does
// nothing: it is woken at most a few times a second for a histogram, and its own
// threads make no records. A record is shown while the run goes on.
func runIdle(g *vm.G) {
	const seconds = 8
	out, err := exec.CommandContext(g.Context(), program, "run", "--for", "8s", "--format", "json", "-e", "hist sched.sched_waking by comm").Output()
	if err != nil {
		g.Fatalf("%v", err)
	}
	var table struct {
		Hits uint64
		Rows []struct {
			Keys  struct{ Comm string }
			Count uint64
		}
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, `{"table"`) {
			if err := json.Unmarshal([]byte(line), &table); err != nil {
				g.Fatalf("%v: %s", err, line)
			}
		}
	}
	own := uint64(0)
	for _, row := range table.Rows {
		if strings.HasPrefix(row.Keys.Comm, "ep-") {
			own += row.Count
		}
	}
	g.Logf("ep was woken %d times in %d s, of %d wake-ups", own, seconds, table.Hits)
	if own > 10*seconds || table.Hits == 0 {
		g.Errorf("ep was woken %d times in %d s, of %d wake-ups: expected at most 10 a second", own, seconds, table.Hits)
	}

	r := start(g, "std/opens")
	begun := time.Now()
	failingOpen(g)
	for !strings.Contains(r.shown(g), nowhere) && time.Since(begun) < 10*time.Second {
		time.Sleep(20 * time.Millisecond)
	}
	took := time.Since(begun)
	text := r.end(g)
	g.Logf("a record was shown after %v", took)
	// More than is documented: emulated machines are slow.
	if took > 1500*time.Millisecond {
		g.Errorf("a record was shown only after %v:\n%s", took, text)
	}
	nothingLeft(g)
}
