package stdproof

import (
	"bytes"
	"os"
	"os/exec"
	"strings"

	"github.com/eptrace/ep/runtime/vm"
)

// guideFile is where docs/guide.md is in a guest.
const guideFile = "/docs/guide.md"

// runGuide runs each script of the guide for a moment: the kernel must take it,
// and nothing may be left.
func runGuide(g *vm.G) {
	page, err := os.ReadFile(guideFile)
	if err != nil {
		g.Fatalf("%v", err)
	}
	n := 0
	for _, part := range strings.Split(string(page), "\n```ep\n")[1:] {
		script, _, _ := strings.Cut(part, "\n```")
		cmd := exec.CommandContext(g.Context(), program, "run", "--for", "100ms", "-")
		cmd.Stdin = strings.NewReader(script + "\n")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Run(); err != nil {
			g.Errorf("%v\n%s\n%s", err, script, &errs)
		}
		nothingLeft(g)
		n++
	}
	if n < 10 {
		g.Errorf("the guide has %d scripts", n)
	}
}
